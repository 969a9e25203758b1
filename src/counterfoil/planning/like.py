"""Rehearsals on a public table that its user declares to be like the sensitive one."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from counterfoil.evaluation.whole_table import read_whole
from counterfoil.planning.ledgers_beside import require_no_source
from counterfoil.planning.public_table import Codes, PublicTable, World, rows_of
from counterfoil.schema import Schema

TEST_SHARE = 0.2


def read_like(source: Any, schema: Schema) -> dict[str, np.ndarray]:
    """The codes [records] of each attribute of a public table.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table. It must be public:
            nothing is charged for what a plan says of it.
        schema: the public facts that it follows too.

    Raises:
        ValueError: for a table that does not follow the schema or has no rows, or that a ledger beside it protects.
    """
    if isinstance(source, (str, os.PathLike)):
        require_no_source(source)
    table = read_whole(source, schema, reason="a public table, for a plan")
    if not table.rows:
        raise ValueError("`like` must be a public table with rows. Found none: give another, or leave it out.")
    return dict(table.codes)


def like(codes: Codes, rows: int, run: int, *, seed: int, tested: bool) -> PublicTable:
    """A table of `rows` records: all of them, fewer drawn without replacement, or more drawn with replacement.

    Args:
        codes: of the public table, integers [records] by attribute.
        rows: how many records are copied.
        run: the number of the rehearsal.
        seed: repeats the choice.
        tested: whether models are trained. They are then tested on a fifth of the records that are copied, as
            `evaluate` does, and the reference is trained on the others.
    """
    rng = np.random.default_rng([seed, list(World).index(World.PUBLIC), run])
    known = len(next(iter(codes.values())))
    chosen = np.arange(rows) if known == rows else rng.choice(known, rows, replace=known < rows)
    copied = rows_of(codes, chosen)
    order = rng.permutation(rows) if tested else np.arange(0)
    cut = max(int(TEST_SHARE * len(order)), 1)
    return PublicTable(World.PUBLIC, run, copied, rows_of(copied, order[cut:]), rows_of(copied, order[:cut]))
