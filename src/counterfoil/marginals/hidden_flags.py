"""A sentence for the receipt on columns of two values, of which noise hides whether any record has the rarer one.

Public: it follows from noisy counts alone. No record is read.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.runs import deviations_to_stand_out
from counterfoil.marginals.unreliable import first_few
from counterfoil.schema import Boolean, Categorical, Schema

_FLAG = 2
"""Values beside the places for other and missing cells."""
_STANDARD_ERRORS = 1.96
"""Of a normal distribution, which holds 95% within."""
_LEAST, _MOST = 0.001, 0.25
"""Of the rows: fewer may be hidden without a word, and where more may be, nothing is known of how they are divided."""


def hidden_flags(schema: Schema, marginals: Sequence[NoisyMarginal], total: float) -> list[str]:
    """What is said of flags that are rarer than noise shows, such as a fraud of .2%: copies have too many of them.

    Args:
        schema: of the columns.
        marginals: of single columns.
        total: the number of records, as noise leaves it.
    """
    found = []
    for one in marginals:
        column = schema[one.clique[0]]
        if not isinstance(column, Boolean | Categorical) or column.n_bins < _FLAG or not _has_two(column):
            continue
        counts = one.counts.ravel()[:_FLAG]
        least = deviations_to_stand_out(one.counts.size, laplace=one.laplace) * one.scale
        rarer = int(np.argmin(counts))
        most = (max(float(counts[rarer]), 0.0) + _STANDARD_ERRORS * one.scale) / max(total, 1.0)
        if counts[rarer] < least <= counts[1 - rarer] and _LEAST <= most <= _MOST:
            found.append((most, f"{column.name} ({column.labels[rarer]}: up to {min(100 * most, 100):.2g}%)"))
    if not found:
        return []
    found.sort(key=lambda flag: -flag[0])
    return [
        f"Noise hides how many rows have the rarer value of {first_few([text for _, text in found])}: the table may "
        "have none, and the copy many times as many as the table. More epsilon helps."
    ]


def _has_two(column: Boolean | Categorical) -> bool:
    return isinstance(column, Boolean) or len(column.values) == _FLAG
