"""Identifiers of persons that do not tell them apart, or take one for two: NOT PRIVATE.

A release protects all rows of one identifier together, and keeps a few of each. So rows in which a word such as NA
stands for no identifier count as one person, of whom few rows are kept, while empty cells would each be kept. And a
person whose identifier is written in two ways counts as two, each of whom is protected by itself alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.schema.raw_cell import is_missing_word

MOST_IDS = 1 << 20
"""Identifiers whose spelling is remembered; of more, the first ones are."""
_WHOLE = re.compile(r"0*(\d+)(?:\.0*)?", re.ASCII)


class IdCounts:
    """How the identifiers of privacy units are written, batch by batch.

    Args:
        unit: the column of the identifiers.
    """

    def __init__(self, unit: str):
        self._unit = unit
        self._absent = 0
        self._written: dict[int, int] = {}
        self._twice: set[int] = set()

    def add(self, batch: RawBatch) -> None:
        """Looks at the identifiers of a batch."""
        texts, places = batch.ids
        counts = np.bincount(places[places >= 0], minlength=len(texts)).tolist()
        for text, count in zip(texts, counts, strict=True):
            if count and is_missing_word(text):
                self._absent += count
            elif count:
                self._look(hash(text), hash(plain_id(text)))

    def _look(self, spelling: int, plain: int) -> None:
        if len(self._written) < MOST_IDS:
            self._written.setdefault(plain, spelling)
        if self._written.get(plain, spelling) != spelling:
            self._twice.add(plain)

    def notes(self) -> Iterator[ColumnNote]:
        """One on words in place of identifiers, and one on identifiers that are written in several ways."""
        if self._absent > 1:
            yield ColumnNote(self._unit, "no_id", self._on_words, self._absent, source=self._unit)
        if self._twice:
            yield ColumnNote(self._unit, "spellings", self._on_spellings, len(self._twice), source=self._unit)

    @property
    def _on_words(self) -> str:
        return (
            f"{self._absent:,} rows have a word that tables write for a missing value, such as NA. All with one word "
            f"count as one {self._unit}, of which `--max-rows` are kept. Where they are of several, leave these cells "
            "empty: rows without an identifier are all kept, each protected by itself."
        )

    @property
    def _on_spellings(self) -> str:
        count, several = len(self._twice), len(self._twice) > 1
        are, each, them = ("are", "each", "them") if several else ("is", "it", "it")
        looked = f" of the first {MOST_IDS:,}" if len(self._written) == MOST_IDS else ""
        return (
            f"{count:,} identifier{'s' * several}{looked} {are} written in several ways, which differ in capitals, in "
            f"leading zeros, in .0 behind a whole number or in how letters are coded. Where {each} is of one "
            f"{self._unit}, write {them} alike: a release takes the spellings for several, whom it protects each by "
            "itself."
        )


def plain_id(text: str) -> str:
    """What spellings of one identifier most often have in common."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Folding may part what one form had together.
    folded = "".join(one for one in unicodedata.normalize("NFKC", folded) if unicodedata.category(one) != "Cf")
    whole = _WHOLE.fullmatch(folded)
    return whole[1] if whole else folded
