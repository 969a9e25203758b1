"""Rows from a model that meet a condition as well as the schema's rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.rules import rows_that_hold
from counterfoil.synthesis.condition import Condition
from counterfoil.synthesis.row_parts import draw_parts
from counterfoil.synthesis.row_sampling import MOST_TRIES, draw
from counterfoil.synthesis.shortfall import shortfall
from counterfoil.synthesis.table import with_identifiers

_MOST_DRAWN = 200_000
"""Rows in a round of drawing again, unless more are missing."""


def draw_where(model: TableModel, schema: Schema, n: int, condition: Condition, rng: np.random.Generator) -> pa.Table:
    """`n` rows that meet `condition` and the schema's rules, identifiers made anew.

    Codes come from the model's exact conditional distribution; what codes do not decide is met by drawing again.

    Raises:
        ValueError: for a condition of probability zero, or one that hardly any row meets.
    """
    evidence = {name: list(codes) for name, codes in condition.codes.items()} or None
    if condition.expression is None and not condition.numbers:
        table = draw_parts(model, schema, n, rng, where=evidence).table
        for sentence in shortfall(schema, drawn=table.num_rows, requested=n):
            raise ValueError(sentence)
        return table
    parts: list[pa.Table] = []
    missing, size, tried = n, n, 0
    for _ in range(MOST_TRIES):
        drawn = condition.settled(draw(model, schema, size, rng, where=evidence).table, rng)
        good = np.flatnonzero(condition.holds(drawn) & _follows(schema, condition, drawn))[:missing]
        parts.append(drawn.take(pa.array(good)))
        missing, tried = missing - len(good), tried + size
        if missing == 0:
            return with_identifiers(schema, pa.concat_tables(parts), rng)
        size = max(2 * missing, min(64 + 2 * missing * tried // max(n - missing, 1), _MOST_DRAWN))
    if condition.expression is not None:
        raise ValueError(
            f"`where` must be met by some of the rows that are drawn: of {tried:,}, {n - missing:,} met "
            f"{condition.expression.text!r}, and {n:,} were asked for. Ask for fewer rows, or for less."
        )
    (sentence,) = shortfall(schema, drawn=n - missing, requested=n)
    raise ValueError(sentence)


def _follows(schema: Schema, condition: Condition, table: pa.Table) -> np.ndarray:
    """bool [rows]: whether rules hold still; drawn rows met them before their numbers were settled."""
    return rows_that_hold(schema.row_rules, table) if condition.numbers else np.ones(table.num_rows, dtype=bool)
