"""What a release says of rows that belonged together: those of one privacy unit."""

from __future__ import annotations

from counterfoil.accounting.neighbors import Neighbors, PrivacyUnit
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.schema import Schema


def unrelated_rows(neighbors: Neighbors, schema: Schema, *, sizes_bought: bool = False) -> list[str]:
    """The warning of a release of single rows from a table in which a privacy unit may have several.

    Without a privacy unit, identifiers that are made anew may have had several rows each. It depends on public facts
    alone: the unit's column, its most rows, and the schema.

    Args:
        neighbors: whose rows belong together.
        schema: of the table.
        sizes_bought: whether the synthetic units have as many rows as a noisy histogram says.
    """
    unit = neighbors.unit
    if unit is None:
        return _one_row_each([column.name for column in _made_anew(schema)])
    if unit.max_rows == 1:
        return []
    if sizes_bought:
        return [
            f"Rows with the same {unit.column!r} are unrelated: how many rows a unit has follows a noisy histogram of "
            f"the real units (up to {unit.max_rows:,} rows of each were counted), but each row was drawn by itself, "
            "and rows were put together at random. Nothing else about several rows of one unit can be read off this "
            f"table. {_left_out(unit)}"
        ]
    words = (
        f"Rows are unrelated: in the real table, rows with the same {unit.column!r} belong together (up to "
        f"{unit.max_rows:,} of them were counted), while each synthetic row was drawn by itself. Nothing about several "
        f"rows of one unit can be read off this table. {_left_out(unit)}"
    )
    if any(column.name == unit.column for column in _made_anew(schema)):
        words += f" Each row has a {unit.column!r} of its own, so that there are more units than in the real table."
    return [words]


def _left_out(unit: PrivacyUnit) -> str:
    """What follows where a unit has more rows than were used: how many do is not known."""
    return (
        f"Where one has more than {unit.max_rows:,} rows, the others are in no count: sums and numbers of rows fall "
        "short of the table's, and units with many rows weigh less in means."
    )


def _made_anew(schema: Schema) -> list[Identifier]:
    """The identifiers that a release has."""
    return [column for column in schema.columns if isinstance(column, Identifier) and column.replace != "drop"]


def _one_row_each(names: list[str]) -> list[str]:
    """The warning where nobody said that rows belong together, and rows have identifiers made anew."""
    if not names:
        return []
    own = " and ".join(f"{name!r} of its own" for name in names)
    return [
        f"Rows are unrelated: each was drawn by itself and has a {own}. Where the real table has several rows of one "
        f"{' or '.join(map(repr, names))}, that is not kept; a privacy unit (`--privacy-unit COLUMN --max-rows K`) "
        "with `--unit-sizes 0.02` keeps how many rows each has."
    ]
