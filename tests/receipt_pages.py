"""What pages of receipts name, however their lines are wrapped."""

from __future__ import annotations

import re

_EPSILON = re.compile(r"epsilon(?: of| is| at most)? (\d[\d.]*(?:e[-+]?\d+)?)")


def epsilons(text: str) -> list[float]:
    """Every epsilon that a text names with a number."""
    return [float(number.rstrip(".")) for number in _EPSILON.findall(" ".join(text.split()))]
