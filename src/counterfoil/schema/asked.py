"""What users ask of a release by the names of columns, and the sentences where it can't be asked."""

from __future__ import annotations

from counterfoil.schema.derived_match import followed
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.expression import Expression, names_column, parse
from counterfoil.schema.schema import Schema


def require_synthesized(schema: Schema, name: str, otherwise: str) -> None:
    """Refuses the name of what is no synthesized column.

    Args:
        schema: the public facts.
        name: what a user named.
        otherwise: the sentence for a name that no derived column has either; the closest column is added to it.

    Raises:
        ValueError: which names the columns to ask about in place of a derived one.
    """
    known = schema.domain.attributes
    if name not in known:
        raise ValueError(_instead_of(schema, name) or f"{otherwise}{did_you_mean(str(name), known)}")


def condition_on(schema: Schema, text: str, place: str) -> Expression:
    """The condition on a row that a user wrote, in the language of rules.

    Args:
        schema: the public facts.
        text: the condition.
        place: what it is called where it can't be parsed, such as "`where`".

    Raises:
        SchemaError: for what is no condition on the synthesized columns.
    """
    try:
        parse(text, SchemaError)
    except SchemaError:
        raise SchemaError(
            f"{place} must be an expression such as \"sex == 'F' and age >= 60\", with == for equal, and, or, in and "
            f"`is missing` in small letters, and texts and dates (2020-01-31) between quotes. Found `{text}`."
        ) from None
    for column in schema.derived:
        if names_column(text, column.name):
            raise SchemaError(_instead_of(schema, column.name))
    return Expression(text, {column.name: column for column in schema.synthesized}, place="Condition")


def _instead_of(schema: Schema, name: str) -> str:
    """The sentence on a derived column; empty for the name of none."""
    columns = {column.name: column for column in schema.synthesized}
    for column in schema.derived:
        if column.name == name:
            others = ", ".join(followed(column, columns))
            return f"Column {name!r} is derived from others: name the columns that it follows from ({others})."
    return ""
