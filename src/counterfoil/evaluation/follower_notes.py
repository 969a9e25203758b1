"""Columns whose value another column says in every record, such as a code and its label: NOT PRIVATE.

A copy draws both from a model of noisy counts, and some of its rows have a label that no record has with that code.
Where the public knows which belong together, a derived column keeps to it, and costs nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.code_conditions import is_exact
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.ruled_pairs import ruled_pairs
from counterfoil.schema import Schema
from counterfoil.schema.placement import Placement

MOST_VALUES = 2000
"""Codes of a column; one with more hardly has a table that people know."""
MOST_COLUMNS = 300
"""Wider tables are not asked: each column is compared with each."""
RECORDS_OF_EACH = 10
"""Records of each value, in the mean, from which on it is no chance that all of them say the same."""
_BEYOND = (Placement.BELOW, Placement.ABOVE)
_SCREENED = 1000
"""Records of a batch that are compared before all of them are: most pairs of columns fail there."""


class FollowerCounts:
    """Which columns said another one so far, batch by batch.

    A cell's code is what is compared, of missing cells too: values of one bin count as the same. Numbers beyond a bound
    have its code and are not the same, so that a column with some follows from none.
    """

    def __init__(self, schema: Schema):
        ruled = ruled_pairs(schema)
        kept = kept_columns(schema)
        few = [column for column in schema.synthesized if column.size <= MOST_VALUES]
        few = few if len(few) <= MOST_COLUMNS else []
        self._columns = {column.name: column for column in few}
        # One code more than there are, the last, is for cells that have no place.
        self._counts = {column.name: np.zeros(column.size + 1, dtype=np.int64) for column in few}
        self._said: dict[tuple[str, str], np.ndarray | None] = {
            (one.name, other.name): None
            for one, other in itertools.permutations(few, 2)
            if other.name not in kept and frozenset((one.name, other.name)) not in ruled
        }

    def add(self, batch: RawBatch) -> None:
        """Compares the records of a batch."""
        codes = {
            name: np.where(batch.cells[name].codes < 0, len(counts) - 1, batch.cells[name].codes)
            for name, counts in self._counts.items()
            if name in batch.cells
        }
        beyond = {name for name in codes if np.isin(batch.cells[name].placements, _BEYOND).any()}
        self._said = {pair: said for pair, said in self._said.items() if pair[1] not in beyond}
        for most in (_SCREENED, batch.rows):
            parts = {name: own[:most] for name, own in codes.items()}
            compared = {pair: self._compared(pair, said, parts) for pair, said in self._said.items()}
            self._said = {pair: said for pair, said in compared.items() if said is not None}
        for name, own in codes.items():
            self._counts[name] += np.bincount(own, minlength=len(self._counts[name]))

    def _compared(
        self, pair: tuple[str, str], said: np.ndarray | None, codes: Mapping[str, np.ndarray]
    ) -> np.ndarray | None:
        """int64 [codes]: with which code of the second column each one of the first goes, -1 for none yet; None where
        one goes with two, or where a column can't be read."""
        if any(name not in codes for name in pair):
            return None
        one, other = (codes[name] for name in pair)
        first = np.full(len(self._counts[pair[0]]), -1, dtype=np.int64)
        first[one[::-1]] = other[::-1]
        said = first if said is None else np.where(said < 0, first, said)
        return said if np.array_equal(said[one], other) else None

    def notes(self) -> Iterator[ColumnNote]:
        """One for each column that follows from an earlier one, or from one that does not follow from it."""
        order = {name: place for place, name in enumerate(self._counts)}
        followed = {pair for pair in self._said if self._is_no_chance(pair)}
        for name in order:
            sources = [
                one
                for one, other in followed
                if other == name and ((name, one) not in followed or order[one] < order[name])
            ]
            sources = [one for one in sources if not self._is_by_missing(one, name)]
            if sources:
                closest = min(sources, key=lambda one: (self._values(one), order[one]))
                values = self._values(closest)
                yield ColumnNote(name, "follows", _text(closest, values), values, source=closest)

    def _is_no_chance(self, pair: tuple[str, str]) -> bool:
        """Whether records are so many that it is no chance: also of those that have not the most frequent value."""
        counts, said = self._counts[pair[0]], self._said[pair]
        if said is None:  # no record was read
            return False
        seen = counts > 0
        held = np.bincount(said[seen], weights=counts[seen])
        rare = seen & (said != int(np.argmax(held)))
        return bool(rare.any()) and all(
            int(counts[some].sum()) >= RECORDS_OF_EACH * int(some.sum()) for some in (seen, rare)
        )

    def _is_by_missing(self, source: str, name: str) -> bool:
        """Whether a column says nothing but by whether it is missing, of two values of another one: rules on the two
        keep to it, which `SkipCounts` says, and no table of dates of death and of who died would."""
        missing, said = self._columns[source].missing_code, self._said[source, name]
        seen = self._counts[source] > 0
        if missing is None or said is None or not seen[missing] or not is_exact(self._columns[name]):
            return False
        seen[missing] = False
        return int(seen.sum()) > 1 and len(np.unique(said[seen])) == 1

    def _values(self, name: str) -> int:
        return int((self._counts[name] > 0).sum())


def _text(source: str, values: int) -> str:
    return (
        f"in all records each of the {values:,} values of {source} goes with one value, or bin, of this column, and "
        "rows of a copy will not all keep to it. Where the public knows which go together, make it a derived column "
        "with a `lookup`, or state rules."
    )
