"""The first schema of a table, in one call: one that is drafted, or one that is bought."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.sanity import require_moderate_delta
from counterfoil.callers import outside_the_package
from counterfoil.curator.given import ledger_given
from counterfoil.curator.source_facts import columns_stated
from counterfoil.fidelity.bought_advice import warn_of_purchase
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.ledger.ledger import Ledger
from counterfoil.methods.method import DEFAULT_DELTA
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.drafting import draft
from counterfoil.schema.encoding import UTF_8, encoding_named
from counterfoil.schema.header import require_names
from counterfoil.schema.unit_advice import warn_of_bought_rows


def draft_schema(source: Any, *, name: str = "", decimal_char: str | None = None, encoding: str | None = None) -> str:
    """TOML text that names the columns of a table, each with what is still to be said of it: no record is read.

    State the facts, delete each `confirm = true`, and read it with `Schema.from_toml`.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        name: what the schema is to be called.
        decimal_char: the decimal sign of the numbers in its texts, "," or ".".
        encoding: of a CSV file whose first bytes do not say it, such as "windows-1252"; UTF-8 where None.

    Raises:
        ValueError: in one sentence, where there is no such table, or its names may be the values of a record.
    """
    if decimal_char is not None and decimal_char not in DECIMAL_CHARS:
        raise ValueError(f"The decimal sign must be a comma or a point. Found {decimal_char!r}.")
    encoded = UTF_8 if encoding is None else encoding_named(encoding)
    columns = columns_stated(source, encoded)
    require_names(columns.types)
    return draft(
        columns.types,
        name=name,
        typed=columns.typed,
        decimal_char=decimal_char,
        encoding=encoded,
        untyped=columns.objects,
    )


def buy_schema(
    source: Any,
    *,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    relation: NeighboringRelation | str = NeighboringRelation.ADD_OR_REMOVE_ONE,
    privacy_unit: PrivacyUnit | tuple[str, int] | None = None,
    ledger: Ledger | str | Path | None = None,
    stated: str | Path | None = None,
    name: str = "",
    confirm_delta: float | None = None,
    share: float = 1.0,
    decimal_char: str | None = None,
    encoding: str | None = None,
    rows: int | None = None,
) -> tuple[Schema, Receipt]:
    """A schema made of noisy answers about a table, (epsilon, delta)-differentially private, with its receipt.

    `Schema.bought` has what it cost, which adds to the cost of every release of the same records, and in `document` the
    TOML with a comment on where each fact is from, such as how many rows may lie beyond a bound. What is to be looked
    at is warned of (`SchemaWarning`): columns that no release will have, what the noise hides, and what numbers may be.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        epsilon: of the guarantee; positive.
        delta: of the guarantee; above 0 and below 1.
        relation: which tables are neighbors.
        privacy_unit: whose records are protected together; a single row when None.
        ledger: where it is charged, or the path of such a ledger.
        stated: facts that are known already, as the path of a TOML file or as TOML text: they cost nothing.
        name: what the schema is to be called.
        confirm_delta: the same as `delta`, which one of .1 or more needs, because it promises next to nothing.
        share: of the budget, such as .1, for the schema. The rest is for one release, `synthesize(..., rest=True)`: one
            guarantee for both, for which the ledger reserves the whole budget now. A schema with a budget of its own
            adds to what the release costs.
        decimal_char: the decimal sign of the numbers in its texts, "," or "."; with it, separators of thousands are
            read too. Plain digits with an optional point where None.
        encoding: of a CSV file whose first bytes do not say it, such as "windows-1252"; UTF-8 where None.
        rows: about how many rows the table has, where that is public: a purchase of which nothing could show is refused
            before anything is charged, and one that shows little is warned of. None says nothing.

    Raises:
        ValueError: in one sentence, before anything is charged.
        TypeError: for a ledger or privacy unit of another type.
        LedgerError: when the ledger refuses.
    """
    budget, unit, related = Budget(epsilon, delta), PrivacyUnit.of(privacy_unit), NeighboringRelation(relation)
    require_moderate_delta(budget.delta, confirm_delta)
    purchase = SchemaPurchase.of(
        source,
        budget,
        related.value,
        unit,
        stated=stated,
        name=name,
        share=share,
        decimal_char=decimal_char,
        encoding=encoding,
    )
    warn_of_bought_rows(purchase.names, unit, purchase.types)
    if rows is not None and (few := purchase.require_enough(rows)):
        warnings.warn(few[0].upper() + few[1:], SchemaWarning, stacklevel=outside_the_package())
    with ExitStack() as opened:
        counting = ledger_given(ledger, opened)
        if counting is not None:
            counting.require_room(budget, Neighbors(related, unit).describe())
        made, curator = purchase.make(counting)
        with curator:
            curator.record_receipt(made.receipt.digest)
    warn_of_purchase(made, purchase)
    return made.schema, made.receipt
