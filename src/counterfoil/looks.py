"""Looks at the real records for their steward, in one call: NOT PRIVATE, as their names say.

What a schema does to a table is `counterfoil.evaluation.schema_report.check_without_privacy`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterfoil.curator.given import schema_given
from counterfoil.evaluation.comparison import Comparison, compare
from counterfoil.ledger.ledger import Ledger
from counterfoil.publishing.release_rows import rows_of, said_of_used
from counterfoil.receipt.rows_used import rows_beside_used
from counterfoil.schema import Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis


def evaluate_without_privacy(
    real: Any,
    synthetic: Any,
    schema: Schema | str | Path | None = None,
    *,
    target: str | None = None,
    protected: str | None = None,
    ignore: Sequence[str] = (),
    ledger: Ledger | str | Path | None = None,
) -> Comparison:
    """Compares a synthetic table with the real one: exact statistics of the records, so NOT PRIVATE.

    It is for the table's steward alone. Nothing is charged. `ledger` records the look for good; without one a
    `NoLedgerWarning` says that nothing does.

    Args:
        real: the sensitive table: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        synthetic: a release, the path of its table or of its folder, or a table like `real`.
        schema: the public facts about both, or the path of the TOML file that states them; those of the release, or in
            its folder, when None.
        target: a column that models are trained to predict, on each table; none is trained when None.
        protected: a column whose groups should be treated alike by them.
        ignore: columns that models don't see, such as one that says the target in other words.
        ledger: of the sensitive table: a `Ledger`, or its path.

    Raises:
        ValueError: for a table that does not follow the schema or has no rows, an unknown target, or no schema.
        TypeError: for a schema or a ledger of another type.
        LedgerError: where there is no sound ledger at the path.
        ModuleNotFoundError: with a target, without scikit-learn.
    """
    rows, used = synthetic, ""
    if isinstance(synthetic, (Synthesis, PointSynthesis)):
        used = rows_beside_used(synthetic.receipt.document)
        rows, schema = synthetic.to_arrow(), synthetic.schema if schema is None else schema
    elif isinstance(synthetic, (str, os.PathLike)):
        used = said_of_used(Path(synthetic))
        rows, kept = rows_of(Path(synthetic)), Path(synthetic) / "schema.toml"
        schema = kept if schema is None and kept.is_file() else schema
    if schema is None:
        raise ValueError(
            "A comparison needs the public facts about both tables. Found no `schema`, and a table that has none with "
            "it: give one."
        )
    facts = schema_given(schema, source=real)
    found = compare(real, rows, facts, target=target, protected=protected, ignore=ignore, ledger=ledger)
    return replace(found, used=used)
