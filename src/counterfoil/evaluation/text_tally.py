"""How many cells hold some texts, and the most frequent of these, in memory that does not grow with the table."""

from __future__ import annotations

from collections import Counter

_KEPT = 1000
"""Texts that are counted one by one: those seen first."""
_TOP = 5


class TextTally:
    """Counts of texts."""

    def __init__(self) -> None:
        self.count = 0
        """Of cells."""
        self._texts: Counter[str] = Counter()

    def add(self, text: str, count: int) -> None:
        """Sees a text in so many cells."""
        self.count += count
        if text in self._texts or len(self._texts) < _KEPT:
            self._texts[text] += count

    @property
    def top(self) -> tuple[tuple[str, int], ...]:
        """The most frequent texts with their counts."""
        return tuple(self._texts.most_common(_TOP))
