"""A sentence for the receipt on columns of which zero alone stands out, while a purchase gave them few other codes.

Most are rare flags, of which a few codes beside zero hold all. An amount that few rows have lies far beyond the bound,
counts as it, and noise hides that it does: then the mean of a copy says nothing, and no other sentence says so. Public:
it follows from noisy counts alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.marginals.unreliable import NumberColumn, first_few
from counterfoil.schema import Schema
from counterfoil.schema.integer import Integer
from counterfoil.schema.precautions import bounds_by_precaution

_FEWEST, _MOST = 2, 256
"""Upper bounds: lower ones are of truths, and higher ones were seen to have numbers far from zero."""


def zeros_alone(schema: Schema, columns: Sequence[NumberColumn]) -> list[str]:
    """What is said of columns of whole numbers of which zero alone stands out; nothing where none was bought.

    Args:
        schema: of the columns.
        columns: those of numbers.
    """
    found = []
    for one in columns:
        column = schema[one.marginal.clique[0]]
        if not isinstance(column, Integer) or column.lower != 0 or not _FEWEST <= column.upper < _MOST:
            continue
        zero = np.flatnonzero(one.runs.of_cell == one.runs.of_cell[0])
        alone = len(zero) == 1 and np.flatnonzero(one.runs.stands_out).tolist() == [one.runs.of_cell[0]]
        if alone and bounds_by_precaution(column, schema.bought)[1]:
            found.append(f"{column.name} (up to {column.upper})")
    if not found:
        return []
    return [
        f"Zero alone stands out of {first_few(found)}, whose upper bounds were bought. Larger numbers count as "
        "the bound: where few rows have amounts, means are lost. State bounds that the public knows, or buy with more "
        "epsilon."
    ]
