"""Cells that come back as a word which stands for their number: 90 as 90+, and n.d. as <0.5 where both stand for 0.2.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

from collections import Counter

from counterfoil.evaluation.text_tally import TextTally
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real


class WordCounts:
    """What was seen of a column's texts so far.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer | Real):
        self._column = column
        self._otherwise = TextTally()

    def add(self, found: Counter[str]) -> Counter[str]:
        """Sees texts of cells that are as declared, with their counts, and returns those that come back as numbers."""
        if not self._column.words:
            return found
        others: Counter[str] = Counter()
        for (text, count), word in zip(found.items(), self._column.words_for([*found]), strict=True):
            if word is None:
                others[text] = count
            elif text != word:
                self._otherwise.add(text, count)
        return others

    @property
    def count(self) -> int:
        """Of cells that come back as a word that they are not."""
        return self._otherwise.count

    @property
    def values(self) -> tuple[tuple[str, int], ...]:
        """The most frequent of their texts."""
        return self._otherwise.top

    @property
    def said(self) -> str:
        """What is lost."""
        return (
            f"{self.count:,} of its cells hold a number of `words` in digits, or in another of its words, and "
            "come back as the first word for it: to keep them apart, give each word a number that no other cell has"
        )
