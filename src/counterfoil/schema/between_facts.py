"""What a schema must say of columns `between` two others, so that rows of a copy agree with themselves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from counterfoil.schema.between import Between, End
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.derived_instants import INSTANT_RESULTS
from counterfoil.schema.errors import closest
from counterfoil.schema.expression import column_text, names_column
from counterfoil.schema.integer import Integer
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.real import Real
from counterfoil.schema.toml_text import toml_value

_TRIED = 20
"""Rows of made up numbers that a derivation is tried with."""
_ROUNDING = 1e-12
"""The share of reals by which floating point may have them differ."""


def between_of(columns: Mapping[str, Column | Derived]) -> dict[str, Between]:
    """The columns of a schema that are computed from two others, by name.

    Args:
        columns: all that have codes or are derived.

    Raises:
        SchemaError: which names the column, where the two can't be subtracted, and where neither is derived from the
            other one by what lies between them.
    """
    found: dict[str, Between] = {}
    for column in columns.values():
        if isinstance(column, Integer | Real) and column.between:
            first, last = (_end(column, name, columns) for name in column.between)
            _require_alike(column, first, last)
            if not (_follows(first, column) or _follows(last, column)):
                raise column.mistake(
                    "`between` must name a column that is derived again from the other one, or the two and what lies "
                    f"between them would not agree in a copy; found none.{_remedy(column, first, last)}"
                )
            _require_given_back(column, first, last, columns)
            _require_whole_minutes(column, first, last)
            found[column.name] = Between(column, first, last)
    return found


def _require_alike(column: Integer | Real, first: End, last: End) -> None:
    """Refuses what can't be subtracted, and fractions where whole numbers are declared."""
    if first.comparable != last.comparable:
        raise column.mistake(
            f"`between` must name two dates, two datetimes or two columns of numbers; found {first.name!r} "
            f"({first.comparable}) and {last.name!r} ({last.comparable})"
        )
    if isinstance(column, Integer) and not (first.is_whole and last.is_whole):
        raise column.mistake(
            f'numbers with fractions lie between {first.name!r} and {last.name!r}: declare it with kind = "real"'
        )


def _require_given_back(column: Integer | Real, first: End, last: End, columns: Mapping[str, Column | Derived]) -> None:
    """Refuses a derivation that gives other values than those between which it counts: tried with whole numbers."""
    known = {name: one for name, one in columns.items() if isinstance(one, Column)}
    rng = np.random.default_rng(0)
    numbers = {name: _within_bounds(one, rng) for name, one in known.items()}
    ends = [_tried(end, numbers, known) for end in (first, last)]
    apart = np.abs(ends[1] - ends[0] - numbers[column.name])
    allowed = _ROUNDING * np.maximum(np.abs(ends[0]), np.abs(ends[1])) if isinstance(column, Real) else 0.0
    if (apart > allowed).any() or np.isnan(apart).all():
        derived = last if _follows(last, column) else first
        raise column.mistake(
            f"`between` counts from the lesser one, {first.name!r}, to {last.name!r}, and what {derived.name!r} is "
            f"derived by, `{derived.expression}`, gives another value.{_remedy(column, first, last)}"
        )


def _within_bounds(column: Column, rng: np.random.Generator) -> np.ndarray:
    """float64 [n]: whole numbers between the bounds of a column, as far as there are such."""
    ends = np.concatenate(column.ranges)
    ends = ends[~np.isnan(ends)] if not np.isnan(ends).all() else np.zeros(1)
    return np.clip(np.rint(rng.uniform(ends.min(), ends.max(), _TRIED)), ends.min(), ends.max())


def _tried(end: End, numbers: Mapping[str, np.ndarray], columns: Mapping[str, Column]) -> np.ndarray:
    """float64 [n]: the values of an end; NaN where a lookup table gives them, which no difference follows."""
    if not isinstance(end.column, Derived):
        return numbers[end.name]
    return end.column.tried(numbers, columns) if end.expression else np.full(_TRIED, np.nan)


def _require_whole_minutes(column: Integer | Real, first: End, last: End) -> None:
    """Refuses seconds where both datetimes are written without them, so that rows of a copy would not agree."""
    if all(end.has_whole_minutes for end in (first, last)) and (column.lower % 60 or column.step % 60):
        raise column.mistake(
            f"{first.name!r} and {last.name!r} are written without seconds, so that what lies between them must be "
            "whole minutes: declare `step = 60`, with `lower` and `upper` on that grid"
        )


def _follows(end: End, column: Integer | Real) -> bool:
    return isinstance(end.column, Derived) and names_column(end.column.expression, column.name)


def _end(column: Integer | Real, name: str, columns: Mapping[str, Column | Derived]) -> End:
    if name not in columns:
        raise column.mistake(
            f"`between` must name two columns that the schema declares, the lesser one first; found {name!r}."
            + (closest(name, columns) or (_remedy(column) if name == column.between[1] else ""))
        )
    found = columns[name]
    known = isinstance(found, NumberColumn) and not isinstance(found, Boolean)
    if known or (isinstance(found, Derived) and found.result in ("integer", "real", *INSTANT_RESULTS)):
        return End(found)  # type: ignore[arg-type]
    kind = found.result if isinstance(found, Derived) else found.kind
    raise column.mistake(
        f"`between` must name two dates, two datetimes or two columns of numbers; {name!r} is declared as {kind!r}"
    )


def _remedy(column: Integer | Real, first: End | None = None, last: End | None = None) -> str:
    """How one of the two is derived, which people leave out; empty where that is not known.

    Args:
        column: what lies between the two.
        first, last: the two, where both are declared.
    """
    read, derived = column.between
    origin, sign, place = column_text(read), "+", ""
    if first is not None and last is not None:
        if _follows(first, column):
            if _follows(last, column):
                return ""
            read, derived, origin, sign = derived, read, last.expression or column_text(derived), "-"
        else:
            origin = first.expression or origin
        stated = (first, last)[derived == last.name]
        place = "" if isinstance(stated.column, Derived) else ", in place of its own table,"
    expression = toml_value(f"{origin} {sign} {column_text(column.name)}")
    return (
        f" Declare {derived!r}{place} as a `[[derived]]` column with the kind of {read!r} and expression = {expression}"
    )
