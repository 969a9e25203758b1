"""Simulated records that follow a schema's rules and lists of zeros."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from counterfoil.planning.public_table import PublicTable, World, rows_of
from counterfoil.planning.random_law import RandomLaw
from counterfoil.planning.two_worlds import RELATIONS, SKEWS
from counterfoil.schema import Schema
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.rules import rows_that_hold

MOST_TRIES = 50
"""Rounds of drawing again before records that meet the rules are repeated."""

_MOST_DRAWN = 200_000
"""Records in such a round, unless more are missing."""


def simulated(
    schema: Schema, rows: int, world: World, run: int, *, seed: int, target: str | None = None, test_rows: int = 0
) -> PublicTable:
    """A table of made-up records of a random law, which every run draws anew.

    The two worlds of a run start from the same random numbers, so that they differ less by chance.

    Args:
        schema: the public facts, of which no column is read from anywhere.
        rows: how many records are copied.
        world: weak or strong relations.
        run: the number of the rehearsal.
        seed: repeats the table.
        target: the column that models predict, if any.
        test_rows: how many further records of the same law models are tested on.

    Raises:
        SchemaError: when none of the records that are drawn meets the rules.
    """
    rng = np.random.default_rng([seed, run])
    law = RandomLaw.drawn(schema, rng, skew=SKEWS[world], relations=RELATIONS[world], target=target)
    codes = drawn_by_rules(law, schema, rows + test_rows, rng)
    copied, test = rows_of(codes, slice(rows)), rows_of(codes, slice(rows, None))
    return PublicTable(world, run, copied, copied, test)


def drawn_by_rules(law: RandomLaw, schema: Schema, rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Codes [rows] of records that meet the schema's rules: those that break one are drawn again.

    Where the law hardly ever meets the rules, records that do are repeated.

    Raises:
        SchemaError: when none does.
    """
    parts: list[dict[str, np.ndarray]] = []
    found, drawn = 0, 0
    for _ in range(MOST_TRIES):
        missing = rows - found
        size = rows if not drawn else max(2 * missing, min(64 + 2 * missing * drawn // max(found, 1), _MOST_DRAWN))
        codes = law.draw(size, rng)
        good = np.flatnonzero(meets_rules(schema, codes, rng))[:missing]
        parts.append(rows_of(codes, good))
        found, drawn = found + len(good), drawn + size
        if found == rows:
            break
    if not found:
        raise SchemaError(
            f"Simulated records must be able to meet the schema's rules. None of {drawn:,} did: give `like`, a public "
            "table whose records do."
        )
    joined = {name: np.concatenate([part[name] for part in parts]) for name in law.shares}
    return joined if found == rows else rows_of(joined, np.arange(rows) % found)


def meets_rules(schema: Schema, codes: Mapping[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """bool [rows]: whether records with these codes meet all rules, with values drawn within bins."""
    good = np.ones(len(next(iter(codes.values()))), dtype=bool)
    for clique, impossible in schema.structural_zeros.items():
        good &= ~impossible[tuple(codes[name] for name in clique)]
    if schema.row_rules:
        about = {name for rule in schema.row_rules for name in rule.columns}
        values = pa.table({name: schema[name].decode(codes[name], rng) for name in codes if name in about})
        good &= rows_that_hold(schema.row_rules, values)
    return good
