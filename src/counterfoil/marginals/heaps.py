"""A sentence for the receipt on columns of which many rows share one cell, far more densely than what lies beside it.

They may hold one number, such as 1825 days for "never came back", or a placeholder for no date. Nothing was counted
within the cell, so that the rows are spread over it. Public: it follows from noisy counts and the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from counterfoil.marginals.crowded_cells import MOST_IN_ONE_CELL, lies_in
from counterfoil.marginals.unreliable import NumberColumn, first_few
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Datetime

_MANY = 0.05
"""Of a column's numbers: cells that hold a smaller share are not named."""
_DENSER = 3.0
"""How often denser a cell is than those on either side of it: a peak of a smooth density hardly is."""
_DENSER_AT_AN_END = 10.0
"""The same where it has others on one side alone, towards which densities often fall."""
_DEVIATIONS = 4.0
"""So many deviations of its noise a cell must hold beyond what would be as dense as that."""
_BESIDE = 3


def heaps(schema: Schema, columns: Sequence[NumberColumn]) -> list[str]:
    """What is said of columns with such a cell; nothing where there are none, or `crowded_cells` names them.

    Args:
        schema: of the columns.
        columns: those of numbers and of dates.
    """
    heaped = [
        (column, cell, f"{share:.0%} {lies_in(column, cell)}")
        for one in columns
        for column in [schema[one.marginal.clique[0]]]
        for share, cell in _heaps(one, column)
    ]
    if not heaped:
        return []
    found = [said for _, _, said in heaped]
    ends = [*dict.fromkeys(column.name for column, cell, _ in heaped if cell in (0, column.n_bins - 1))]
    moments = [*dict.fromkeys(column.name for column, _, _ in heaped if isinstance(column, Datetime))]
    apart = (
        f" Moments, as of {first_few(moments)}, have no `points`: `edges` at such a moment and a second later, beside "
        "those of all other cells, give it one of its own."
    )
    at = f" Cells at a bound, as of {first_few(ends)}, also count what lies beyond it: wider bounds keep that apart."
    return [
        f"Many rows share one cell of a column, far more densely than beside it: {first_few(found)}. Nothing was "
        "measured of where they lie within it, over which they are spread. Where they hold one value that the public "
        "knows, such as a limit or a code, list it in `points`, or in `missing_values` if it stands for none."
        f"{apart if moments else ''}{at if ends else ''}"
    ]


def _heaps(one: NumberColumn, column: Column) -> Iterator[tuple[float, int]]:
    """The share and the number of each such cell."""
    spans, runs, smoothed = column.spans, one.runs, one.smoothed.counts
    records = float(smoothed.sum())
    if spans is None or records <= 0:
        return
    lows, highs = column.ranges
    alone = np.bincount(runs.of_cell)[runs.of_cell] == 1
    for cell in np.flatnonzero(alone & runs.stands_out[runs.of_cell] & (spans > 0)).tolist():
        rows, noise = float(runs.totals[runs.of_cell[cell]]), float(runs.noise[runs.of_cell[cell]])
        share = rows / records
        if not _MANY <= share <= MOST_IN_ONE_CELL or lows[cell] >= highs[cell]:
            continue
        if rows - _DEVIATIONS * noise >= _most_expected(cell, spans, smoothed):
            yield share, cell


def _most_expected(cell: int, spans: np.ndarray, smoothed: np.ndarray) -> float:
    """How many rows a cell holds at most that is no heap, by the densities on either side of it."""
    wide = np.flatnonzero(spans > 0)
    sides = [wide[wide < cell][-_BESIDE:], wide[wide > cell][:_BESIDE]]
    densities = [float(smoothed[side].sum() / spans[side].sum()) for side in sides if len(side)]
    if not densities:
        return np.inf
    times = _DENSER if len(densities) > 1 else _DENSER_AT_AN_END
    return times * max(densities) * float(spans[cell])
