"""From the noisy places of a column's cells to its kind and its coarse range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from counterfoil.curator.discovery_support import best_score, mass, support
from counterfoil.schema.discovered import Kind
from counterfoil.schema.raw_cell import CLASSES, CODES, DATE_FORMATS
from counterfoil.schema.value_grid import CELLS, WHOLE_PLACES

_ISO = DATE_FORMATS[0]
_TEXTS = 0.1
"""A share of texts among the cells that are not missing, from which on the column is one of texts: categories may be
numbers as well, but texts among numbers would be lost."""

_REALS = 0.02
"""A share of numbers that are not whole, from which on a column is one of reals, where they surely are no noise."""

_SURELY = 5.0
"""Deviations of noise; a column of whole numbers that was taken for one of reals would lose what they are."""

NUMBERS = (CODES["integer"], CODES["real"])


@dataclass(frozen=True, eq=False)
class Votes:
    """The noisy places of one column's cells.

    Args:
        counts: int64 [PLACES], as `ColumnPlaces` orders them.
        deviation: of the noise of each.
    """

    counts: np.ndarray
    deviation: float

    @property
    def missing(self) -> int:
        """The noisy number of missing cells."""
        return self._of("missing")

    @property
    def total(self) -> int:
        """The noisy number of records."""
        return int(self.counts.sum())

    def kind(self) -> Kind:
        """What most cells are; the best guess where nothing shows above the noise."""
        masses = self.masses()
        total = sum(masses.values())
        if total == 0:
            return max(self._scores().items(), key=lambda one: one[1])[0]
        if masses["text"] >= _TEXTS * total:
            return "text"
        numbers = masses["integer"] + masses["real"]
        others: tuple[Kind, ...] = ("boolean", "date", "datetime")
        best = max(others, key=lambda kind: masses[kind])
        if masses[best] > numbers:
            return best
        return self.number_kind()

    def number_kind(self) -> Kind:
        """Whether the numbers of a column are whole."""
        whole, broken = (mass(self.grid(kind), self.deviation) for kind in ("integer", "real"))
        return "real" if broken > max(_REALS * (whole + broken), _SURELY * self.deviation) or not whole else "integer"

    def masses(self) -> dict[Kind, float]:
        """By kind, about how many cells there are; 0 where none show."""
        kinds: tuple[Kind, ...] = get_args(Kind)
        return {kind: mass(self._counts_for(kind), self.deviation) for kind in kinds}

    def date_format(self) -> str:
        """How most dates are written, as `strftime`; empty for ISO 8601. Days come first where that can't be told."""
        best = max(DATE_FORMATS, key=self._written)
        return "" if best == _ISO else best

    def coarse_range(self, kind: Kind) -> tuple[int, int] | None:
        """From which place of the grid to which numbers show; None where none do."""
        if kind == "integer":
            found = support(self.grid("integer"), self.deviation)
            return None if found is None else (int(WHOLE_PLACES[found[0]]), int(WHOLE_PLACES[found[1]]))
        counts, whole = self.grid("real").copy(), self.grid("integer")
        both = mass(whole, self.deviation) > 0
        if both:  # whole numbers among reals
            counts[WHOLE_PLACES] += whole
        return support(counts, self.deviation * (2**0.5 if both else 1.0))

    def grid(self, kind: str) -> np.ndarray:
        """int64 [n]: the counts along the line, of reals at all places, of integers at those that hold any."""
        start = len(CLASSES) + (CELLS if kind == "real" else 0)
        counts = self.counts[start : start + CELLS]
        return counts if kind == "real" else counts[WHOLE_PLACES]

    def _of(self, name: str) -> int:
        return int(self.counts[CODES[name]])

    def _counts_for(self, kind: Kind) -> np.ndarray:
        """int64 [n]: the counts that speak for a kind."""
        if kind == "integer" or kind == "real":
            return self.grid(kind)
        if kind != "date":
            return np.array([self._of(kind)])
        return self.counts[[code for name, code in CODES.items() if "%" in name or name.startswith("ambiguous")]]

    def _written(self, date_format: str) -> float:
        mark = date_format[2]
        sure, either = self._of(date_format), 0 if date_format.startswith("%Y") else self._of(f"ambiguous{mark}")
        return sure + max(either, 0) + (0.5 if date_format.startswith("%d") else 0.0)

    def _scores(self) -> dict[Kind, float]:
        kinds: tuple[Kind, ...] = get_args(Kind)
        return {kind: best_score(self._counts_for(kind), self.deviation) for kind in kinds}


def codes_counted(kind: Kind, date_format: str) -> tuple[int, ...]:
    """The classes of cells that are numbers or days of a column of this kind, written so."""
    if kind == "date":
        written = date_format or _ISO
        either = () if written.startswith("%Y") else (CODES[f"ambiguous{written[2]}"],)
        return (CODES[written], *either)
    return (CODES["datetime"],) if kind == "datetime" else NUMBERS
