"""Whom a release protects where rows have an identifier and nobody says whose they are: public, as the schema is."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from counterfoil.callers import outside_the_package
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.drafting import may_name_somebody
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.integer import Integer

if TYPE_CHECKING:
    from counterfoil.accounting.neighbors import PrivacyUnit
    from counterfoil.schema.schema import Schema

ANY_COLUMN = "COLUMN"
"""What stands for a column where several could be meant."""
_PERSON = re.compile(
    r"(^|[_\W])("
    r"person|patient|customer|client|subject|participant|respondent|member|employee|student|pupil|kunde"
    r"|patientin|kundin|proband(in)?|pseudonym"
    r"|(person|patient|customer|client|subject|us?ubj|subj|pat|p)_?id"
    r")$",
    re.I,
)
_A_NAME = re.compile(r"(name|address|phone|e-?mail)$", re.I)
_FEWEST_PERSONS = 20
"""Codes: fewer may be kinds of them."""

Asking = Callable[[str, str], str]
"""How a privacy unit is asked for, given its column and the most rows of each."""


class RowProtectionWarning(UserWarning):
    """Each row is protected by itself, and the schema has an identifier, or copies or ignores what is called like one.

    A person whose rows are many is then protected less than the epsilon of the release says. Pass `privacy_unit`, or
    ignore this category where each row is of another person.
    """


def unit_advice_in(asking: Asking, schema: Schema, unit: PrivacyUnit | None) -> str | None:
    """What to consider where rows have an identifier and each is protected by itself; None where nothing is.

    A column that is left out of the copy by `ignore` says as well whose rows are whose, and can be the unit.
    """
    if unit is not None:
        return None
    named = [column.name for column in schema.columns if isinstance(column, Identifier)]
    if ignored := [name for name in schema.ignore if _may_be_a_person(name)]:
        named += sorted((*ignored, *([] if named else _copied(schema))), key=_is_a_name)
    if not named:
        return _copied_advice(asking, schema)
    if schema.bought is not None and (bought := schema.bought.unit) is not None:
        return (
            f"Each row is protected by itself, while the schema was bought for all rows with one {bought.column}: "
            f"{asking(bought.column, str(bought.max_rows))} protects these."
        )
    named = _likely_units(schema) or named
    column, which = (named[0], "") if len(named) == 1 else (ANY_COLUMN, f", where COLUMN is {' or '.join(named)}")
    return (
        "Each row is protected by itself. If several rows of a table may be of one person, protect all of them: "
        f"{asking(column, 'K')}{which}."
    )


def warn_of_row_protection(schema: Schema, unit: PrivacyUnit | None) -> None:
    """Gives the same as a warning, each time that a release is begun in Python."""
    if (advice := unit_advice_in(_as_argument, schema, unit)) is not None:
        warnings.warn(advice, RowProtectionWarning, stacklevel=outside_the_package())


def warn_of_bought_rows(names: Iterable[str], unit: PrivacyUnit | None, types: Mapping[str, pa.DataType]) -> None:
    """Gives the warning, each time that a schema is bought by rows of a table whose names are those of persons.

    Args:
        names: of the table's columns.
        unit: whose rows the purchase protects together.
        types: of columns in storage: one of truths, such as whether somebody is a member, names nobody.
    """
    named = [name for name in names if _may_be_a_person(name) and types.get(name) != pa.bool_()]
    if unit is None and named:
        warnings.warn(
            "What is bought protects each row by itself. Where a person may have several rows, "
            f"{_as_argument(named[0], 'K')} says whose they are: what is bought without it adds up with no later "
            "release that protects persons.",
            RowProtectionWarning,
            stacklevel=outside_the_package(),
        )


def warn_of_rows_alone(schema: Schema) -> None:
    """Gives the warning, each time that a model is trained which can protect each row by itself and no more."""
    if unit_advice_in(_as_argument, schema, None) is not None:
        warnings.warn(
            "Each row is protected by itself. If several rows of the table may be of one person, this kind of model "
            "can't protect all of them: train it on a synthetic table made with `privacy_unit`, or use PATE.",
            RowProtectionWarning,
            stacklevel=outside_the_package(),
        )


def _likely_units(schema: Schema) -> list[str]:
    """Columns that are called as persons are, where a purchase left out others as identifiers too; names come last.

    Beside an `ignore` that was stated it has no other word for what nothing could be made of, such as notes. Nor is a
    column that was stated to be ignored less of a person's for it, or one of whole numbers, which is copied. Several
    persons may have one name.
    """
    if schema.bought is None:
        return []
    identifiers = (column.name for column in schema.columns if isinstance(column, Identifier))
    found = [name for name in (*identifiers, *schema.ignore, *_numbers_of_many(schema)) if _may_be_a_person(name)]
    return sorted(found, key=_is_a_name)


def _is_a_name(column: str) -> bool:
    return _A_NAME.search(column) is not None


def _may_be_a_person(name: str) -> bool:
    return may_name_somebody(name) or _PERSON.search(name) is not None


def _as_argument(column: str, most: str) -> str:
    return f"privacy_unit=({column if column == ANY_COLUMN else repr(column)}, {most})"


def _copied_advice(asking: Asking, schema: Schema) -> str | None:
    """The same where a column is copied whose name is that of identifiers or persons, as the `id` of repeated
    measures."""
    named = _copied(schema)
    if not named:
        return None
    return (
        f"Each row is protected by itself, and {named[0]} is copied as any other column. If its values are persons, of "
        "whom several rows may be, protect all of them: "
        f'{asking(named[0], "K")}, with kind = "identifier" in its table.'
    )


def _copied(schema: Schema) -> list[str]:
    """Copied columns that are called as identifiers or persons are."""
    named = [one.name for one in schema.synthesized if isinstance(one, Categorical | Integer)]
    many = _numbers_of_many(schema)
    return [name for name in named if may_name_somebody(name) or (name in many and _PERSON.search(name))]


def _numbers_of_many(schema: Schema) -> list[str]:
    """Copied columns of more whole numbers than there are kinds of persons."""
    return [one.name for one in schema.synthesized if isinstance(one, Integer) and one.size > _FEWEST_PERSONS]
