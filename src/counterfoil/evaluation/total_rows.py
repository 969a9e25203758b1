"""Records that sum others, as reports and pivot tables have them among their rows: NOT PRIVATE.

Such a record changes with each of those that it sums, so that a person is in more than one. What `check` says of its
cells one by one, to list its name as a category and to raise bounds, would let it in with all of its weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.schema import Schema
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.placement import Placement

_WORDS = frozenset(
    (
        *("total", "totals", "subtotal", "subtotals", "sum", "summe", "zwischensumme", "gesamtsumme", "gesamt"),
        *("insgesamt", "gesamtergebnis", "teilergebnis", "totale", "totaux", "totales", "somme", "somma", "suma"),
        *("totaal", "subtotaal", "totalt", "summa", "yhteensä", "celkem", "razem", "ogółem", "összesen", "итого"),
        *("всего", "合計", "小計", "総計", "合计", "小计", "总计"),
    )
)
_MOST_WORDS = 4
"""In longer texts such a word says nothing of the record."""
_UNLISTED = (Placement.OTHER, Placement.UNREADABLE)
_BEYOND = (Placement.ABOVE, Placement.INFINITE)


def names_a_total(text: str) -> bool:
    """Whether a text begins or ends with a word for a sum, as Total Altstadt, Grand total and Summe: do."""
    words = re.findall(r"\w+", text.casefold())
    return bool(words) and len(words) <= _MOST_WORDS and not _WORDS.isdisjoint((words[0], words[-1]))


class TotalRows:
    """How many cells of each column name a total so far, batch by batch.

    Of a listed category, such as total among none, partial and total, only those beside a number that lies above its
    bound.
    """

    def __init__(self, schema: Schema):
        self._counts = {column.name: 0 for column in schema.synthesized if column.name not in schema.between}
        self._listed = {
            column.name
            for column in schema.synthesized
            if isinstance(column, Categorical) and any(names_a_total(str(value)) for value in column.values)
        }

    def add(self, batch: RawBatch) -> None:
        """Counts the cells of a batch; columns that can't be read say nothing."""
        beyond = np.zeros(batch.rows, dtype=bool)
        for cells in batch.cells.values():
            beyond |= np.isin(cells.placements, _BEYOND)
        for name in self._counts:
            if name in batch.cells and batch.holds_texts(name):
                placements = batch.cells[name].placements
                asked = np.isin(placements, _UNLISTED)
                if name in self._listed:
                    asked |= beyond & (placements == Placement.DECLARED)
                self._counts[name] += sum(map(names_a_total, batch.texts(name, np.flatnonzero(asked))))

    def notes(self) -> Iterator[ColumnNote]:
        """One for each column with such cells."""
        for name, count in self._counts.items():
            if count:
                one = count == 1
                these, them = ("it is one", "it") if one else ("they are some", "them")
                yield ColumnNote(
                    name,
                    "total_rows",
                    f"in {count:,} {'record' if one else 'records'} it has a word for sums, such as total or subtotal. "
                    "A record that sums others changes with each of them, so that what protects rows protects persons "
                    f"less: if {these} of these, delete {them} from the table, and neither list "
                    f"{'its name' if one else 'their names'} nor raise bounds for {them}.",
                    count,
                )
