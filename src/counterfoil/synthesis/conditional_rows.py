"""Rows from a model that meet a condition as well as the schema's rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.rules import rows_that_hold
from counterfoil.synthesis.condition import Condition
from counterfoil.synthesis.row_parts import RowParts, draw_parts
from counterfoil.synthesis.row_sampling import MOST_TRIES, Rows, draw
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
    if condition.is_of_codes:
        return draw_by_codes(model, schema, n, condition, rng).table
    evidence = _evidence(condition)
    parts: list[pa.Table] = []
    missing, size, tried = n, n, 0
    for _ in range(MOST_TRIES):
        drawn = condition.settled(draw(model, schema, size, rng, where=evidence).table, rng)
        met = condition.holds(drawn) & condition.came(drawn)
        met &= _follows(schema, condition, drawn) & condition.thinned(drawn, rng)
        good = np.flatnonzero(met)[:missing]
        parts.append(drawn.take(array_of(good)))
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


def draw_by_codes(
    model: TableModel, schema: Schema, n: int, condition: Condition, rng: np.random.Generator
) -> Rows | RowParts:
    """The rows of `draw_where`, in parts where there are many, for a condition that codes decide.

    Raises:
        ValueError: for a condition of probability zero, or where hardly any row meets the schema's rules.
    """
    drawn = draw_parts(model, schema, n, rng, where=_evidence(condition))
    for sentence in shortfall(schema, drawn=drawn.count, requested=n):
        raise ValueError(sentence)
    return drawn


def _evidence(condition: Condition) -> dict[str, list[int]] | None:
    return {name: list(codes) for name, codes in condition.codes.items()} or None


def _follows(schema: Schema, condition: Condition, table: pa.Table) -> np.ndarray:
    """bool [rows]: whether rules hold still; drawn rows met them before their numbers were settled."""
    return rows_that_hold(schema.row_rules, table) if condition.numbers else np.ones(table.num_rows, dtype=bool)
