"""A sentence for the receipt where many rows broke a rule that the model can't hold, and were drawn again.

Post-processing: rows are drawn from the model, and no record is read.
"""

from __future__ import annotations

import numpy as np

from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.rules import rows_that_hold
from counterfoil.synthesis.row_sampling import RowMaker

_TRIED = 4096
_MANY = 0.1
"""A larger share of rows that are drawn again is said: they move the counts by up to twice as much."""


def redrawn_rows(model: TableModel, schema: Schema) -> list[str]:
    """The sentence; nothing where rules on three columns and more, or on values within bins, break few rows.

    Args:
        model: from which rows are drawn.
        schema: with the rules.
    """
    if not schema.row_rules:
        return []
    rng = np.random.default_rng(0)  # rows of its own, so that those of the release stay what they are
    maker = RowMaker.of(model, schema)
    values = maker.values(maker.sample(_TRIED, rng), rng)
    share = 1 - float(rows_that_hold(schema.row_rules, values).mean())
    if share <= _MANY:
        return []
    broken = [rule for rule in schema.row_rules if not rows_that_hold([rule], values).all()]
    names = ", ".join(dict.fromkeys(name for rule in broken for name in rule.columns))
    return [
        f"About {share:.0%} of the rows that the model draws break a rule about {names} that a model of marginals "
        "can't hold, and were drawn again: counts and means of these columns are moved by that. A `[[derived]]` "
        "column, or rules on two columns in place of three, move them less."
    ]
