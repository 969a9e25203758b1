"""Rows that a trained model is applied to, coded as the curator codes records. They are the caller's own."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.source_facts import columns_of
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.ledger.ledger import SourceIdentity
from counterfoil.ledger.protecting import ledger_over
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.derived_match import followed
from counterfoil.schema.errors import UnplacedValue
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.schema.schema import Schema
from counterfoil.training.changed_rows import warn_of_changed

_NO_INPUT = "a model has no input for such a value, unless its schema gave it a place before it was trained"


def coded_rows(
    rows: Any, features: TrainingFeatures, *, also: Sequence[str] = ()
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The codes [n] and the numbers [n] of the columns that `features` reads as inputs, and of those in `also`.

    What a model says of these rows is exact, and as private as they are. Values that it does not see as they are, such
    as those beyond a bound, are warned of (`ChangedRowsWarning`).

    Args:
        rows: a frame or a path; columns that are not needed may be missing, and others be there.
        features: whose inputs are wanted.
        also: further columns of the schema.

    Raises:
        UnplacedValue: for a value that the model has no input for.
        ValueError: for rows that do not follow the schema otherwise.
    """
    wanted = dict.fromkeys([*(column.name for column in features.columns), *also])
    source = rows.to_arrow() if hasattr(rows, "receipt") and hasattr(rows, "to_arrow") else rows
    present = columns_of(source, features.schema.declared, features.schema.encoding).types
    _require_computable(features.schema, wanted, present=present)
    schema = _only(features.schema, [*wanted], present=[*present])
    ordered = [column.name for column in schema.synthesized if column.is_ordered]
    # Nothing is asked of it, so that nothing is spent and no ledger counts it.
    with (
        advising(f"Correct the data or leave the row out: {_NO_INPUT}."),
        Curator(source, schema, budget=Budget(1.0)) as curator,
    ):
        attributes = schema.domain.attributes
        asked = {"numbers": ordered, "placements": attributes}
        table = curator.reveal_without_privacy("rows that a model is applied to", **asked)
    columns = iter([column.to_numpy() for column in table.columns])
    codes, numbers, placements = (
        dict(zip(names, islice(columns, len(names)), strict=True)) for names in (attributes, ordered, attributes)
    )
    warn_of_changed(schema, placements)
    return codes, numbers


@contextmanager
def advising(remedy: str) -> Iterator[None]:
    """Says what helps a model that has no input for a value: the schema of a trained one can't be changed."""
    try:
        yield
    except UnplacedValue as error:
        raise error.advising(remedy) from None


def require_other_rows(source: Any, public: Any) -> None:
    """Refuses the sensitive table as public rows, which is a mistake: a model would learn from them without noise.

    So is any other table that a ledger protects, where the ledger can be seen.

    Raises:
        ValueError: where both are the same object, or lead to the same table, or a ledger is for the public rows.
    """
    if source is public or _lead_to_one_table(source, public):
        raise ValueError(
            "`public` must be rows that need no protection. Found the sensitive table itself: give other rows, or "
            "synthetic ones."
        )
    if isinstance(public, (str, os.PathLike)) and (ledger := ledger_over(public)) is not None:
        raise ValueError(
            f"`public` must be rows that need no protection. Found the sensitive table that {ledger} protects: give "
            "other rows, or synthetic ones."
        )


def _lead_to_one_table(source: Any, public: Any) -> bool:
    """Whether two paths or addresses are of one table, by whatever links and spellings, as a ledger asks it."""
    if not all(isinstance(given, (str, os.PathLike)) for given in (source, public)):
        return False
    try:
        return SourceIdentity.of(source).is_the_same_as(SourceIdentity.of(public))
    except ValueError:  # of an address that is none, which whoever opens it says
        return False


def _require_computable(schema: Schema, names: Iterable[str], *, present: Collection[str]) -> None:
    """Refuses rows without a column that one of `names` is computed from, and without that one itself.

    Who knows the rows as their table has them may never have heard of a computed column.
    """
    for name in names:
        between = schema.between.get(name)
        absent = [one for one in between.inputs if one not in present] if between is not None else []
        if absent and name not in present:
            raise ValueError(
                f"The rows have no column {absent[0]!r}, from which {name!r} is computed. Add it, or {name!r} itself."
            )


def _only(schema: Schema, names: Sequence[str], *, present: Sequence[str]) -> Schema:
    """The schema of these columns alone, with what they are computed from; the others may be there, and are not read.

    What lies between two dates is read as it stands where the rows do not have both.
    """
    needed = _with_inputs(schema, names, present)
    kept = tuple(_readable(column, present) for column in schema.columns if column.name in needed)
    others = dict.fromkeys((*(column.name for column in schema.columns), *present, *schema.ignore))
    ignored = tuple(name for name in others if name not in needed)
    return replace(schema, columns=kept, rules=(), zeros=(), ignore=ignored)


def _with_inputs(schema: Schema, names: Sequence[str], present: Sequence[str]) -> set[str]:
    """The columns, and all that one of them is computed from when it is read, or that such a one is derived from."""
    columns = {column.name: column for column in schema.synthesized}
    needed, before = {*names}, set[str]()
    while needed != before:
        before = {*needed}
        for one in schema.between.values():
            if one.column.name in before and {*one.inputs} <= {*present}:
                needed.update(one.inputs)
        for column in schema.derived:
            if column.name in before:
                needed.update(followed(column, columns))
    return needed


def _readable(column: Column | Identifier | Derived, present: Sequence[str]) -> Column | Identifier | Derived:
    """The column as it is read from rows that may not have what it is computed from."""
    if isinstance(column, Integer | Real) and column.between and not {*column.between} <= {*present}:
        return replace(column, between=())
    return column
