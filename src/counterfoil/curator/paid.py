"""What is known of a query once it is paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Paid:
    """A query that is paid for.

    Args:
        sensitivity: in the norm that its noise needs.
        record: the charge, as JSON.
        asked: the `fingerprint` of the query, where answers are kept; else empty.
        kept: the answer, where an earlier run of the release kept it.
        texts: what it counts, where it is of frequent texts.
    """

    sensitivity: float
    record: Mapping[str, Any]
    asked: str = ""
    kept: np.ndarray | None = None
    texts: tuple[tuple[str, str], ...] = ()

    @property
    def vouched_for(self) -> Sequence[str]:
        """The types of a user's own in it."""
        named: Sequence[str] = self.record["parameters"].get("vouched_for", ())
        return named
