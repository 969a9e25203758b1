"""Texts that are numbers in a notation that is not read: decimal commas, separators of thousands, signs of units."""

from __future__ import annotations

import re
from collections.abc import Sequence

from counterfoil.schema.values import NUMBER

_FEWEST = 3
"""Of fewer texts, such as 1,2 for the answers 1 and 2, nothing is said."""
_MOST = 0.9
"""Of the texts; a word for what is unknown may stand beside them."""
_WRITTEN = re.compile(r"[<>≤≥]?=?\s*[+-]?\d{1,3}([.' \u00a0\u2019]?\d{3})*(,\d+|\.\d+)?\s?(%|‰|€|\$|£)?")


def are_written_numbers(texts: Sequence[str]) -> bool:
    """Whether nearly all of some texts are such numbers. 1.50 is read as it stands, and is none."""
    found = sum(_WRITTEN.fullmatch(text) is not None and not NUMBER.fullmatch(text) for text in texts)
    return found >= max(_FEWEST, _MOST * len(texts))
