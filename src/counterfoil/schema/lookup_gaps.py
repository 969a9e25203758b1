"""Which values of its columns a lookup table of a derived column has no row for: public, as both are.

A row with such a value has an empty cell in the derived column, whatever the real table holds there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import isfinite, prod

import numpy as np

from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.lookup import declared_texts
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.real import Real
from counterfoil.schema.schema import Schema
from counterfoil.schema.spelling import spell
from counterfoil.schema.values import parse_instant, parse_number

_MOST_NAMED = 3
_MOST_CELLS = 1_000_000
"""Combinations of values that are compared with rules one by one."""


@dataclass(frozen=True)
class LookupGap:
    """A derived column that is empty for some of the declared values.

    Args:
        column: the derived one.
        text: a sentence, in which the values are those that the schema states.
        count: how many values, or combinations of values, have no row; 0 where they can't be counted.
    """

    column: str
    text: str
    count: int


def lookup_gaps(schema: Schema) -> list[LookupGap]:
    """The gaps of all lookup tables, in the order of the columns; none where each declared value has a row."""
    columns = {column.name: column for column in schema.synthesized}
    found = (_gap(derived, columns, schema) for derived in schema.derived if derived.lookup)
    return [gap for gap in found if gap is not None]


def require_lookups_met(schema: Schema) -> None:
    """Refuses lookup tables whose keys are drawn but by chance: of no bin has each value a row.

    Raises:
        SchemaError: which names both columns.
    """
    columns = {column.name: column for column in schema.synthesized}
    for derived in schema.derived:
        if derived.on and derived.table.means_one_twice([columns[name] for name in derived.on]):
            raise derived.mistake(
                f"`lookup` must have one row for each {', '.join(derived.on)}; found two that mean the same, such as "
                "yes and true"
            )
        for place, name in enumerate(derived.on):
            if _is_listable(columns[name]):
                continue
            values, met = _values_by_code(columns[name]), _met_by_code(derived, place, columns[name])
            if not (met >= values).any():
                raise derived.mistake(
                    f"`lookup` must have rows for the values that are drawn of {name!r}, which may be any between its "
                    f"bounds; found rows for {_share(met, values)}. {_AS_CODES.format(name)}"
                )


_AS_CODES = (
    'Where they are codes, declare {!r} with kind = "categorical" and its `values`, or `values_from` for the lookup\'s '
    "own file"
)


def _gap(derived: Derived, columns: Mapping[str, Column], schema: Schema) -> LookupGap | None:
    on = [columns[name] for name in derived.on]
    if all(map(_is_listable, on)):
        return _listed_gap(derived, on, schema)
    if len(on) > 1:
        return _ranged_gap(derived, on)
    values, met = _values_by_code(on[0]), _met_by_code(derived, 0, on[0])
    if (met >= values).all():
        return None
    left = values.sum() - met.sum()
    refused = "" if (met >= values).any() else " No release is made with it."
    return LookupGap(
        derived.name,
        f"Column {derived.name!r} is empty in rows whose {on[0].name!r} has no row in its lookup: any value between "
        f"the bounds is drawn, and {_share(met, values)} have one. {_AS_CODES.format(on[0].name)}.{refused}",
        int(left) if isfinite(left) else 0,
    )


def _ranged_gap(derived: Derived, on: Sequence[Column]) -> LookupGap | None:
    """Of several columns, of which one has numbers that are drawn from bins."""
    values = prod(float(_values_by_code(column).sum()) for column in on)
    if len(derived.lookup) >= values:
        return None
    ranged = next(column for column in on if not _is_listable(column))
    among = f" of {values:,.0f} combinations" if isfinite(values) else ""
    return LookupGap(
        derived.name,
        f"Column {derived.name!r} is empty in rows whose {_and(on)} have no row in its lookup, which has "
        f"{len(derived.lookup):,}{among}: any value between the bounds of {ranged.name!r} is drawn. "
        f"{_AS_CODES.format(ranged.name)}.",
        int(values) - len(derived.lookup) if isfinite(values) else 0,
    )


def _listed_gap(derived: Derived, on: Sequence[Column], schema: Schema) -> LookupGap | None:
    """Of columns each code of which is one value."""
    texts = [declared_texts(column) for column in on]
    total, met = prod(map(len, texts)), derived.table.met(texts, on)
    if total <= _MOST_CELLS:
        possible = _possible([column.n_bins for column in on], derived.on, schema)
        unmet = [key for key, here in zip(product(*texts), possible, strict=True) if here and key not in met]
        total, left, named = int(possible.sum()), len(unmet), unmet[: _MOST_NAMED + 1]
    else:
        left = total - len(met)
        named = list(islice((key for key in product(*texts) if key not in met), _MOST_NAMED + 1))
    if not left:
        return None
    what = "declared values" if len(on) == 1 else "combinations of declared values"
    has = f"{on[0].name!r} has" if len(on) == 1 else f"{_and(on)} have"
    return LookupGap(
        derived.name,
        f"Column {derived.name!r} is empty in rows whose {has} no row in its lookup: {left:,} of the {total:,} {what} "
        f"({', '.join(_named(named, left))}). Add them to the lookup, or leave them out of the column if they never "
        "occur.",
        left,
    )


def _named(keys: Sequence[tuple[str, ...]], left: int) -> Iterator[str]:
    for key in keys[:_MOST_NAMED]:
        yield " with ".join(map(repr, key))
    if left > _MOST_NAMED:
        yield "..."


def _and(on: Sequence[Column]) -> str:
    return " and ".join(repr(column.name) for column in on)


def _possible(sizes: Sequence[int], on: Sequence[str], schema: Schema) -> np.ndarray:
    """bool [combinations]: those that no rule and no list of zeros on one or two columns makes impossible."""
    possible = np.ones(sizes, dtype=bool)
    for clique, impossible in schema.structural_zeros.items():
        if not {*clique} <= {*on}:
            continue
        axes = [on.index(name) for name in clique]
        cut = impossible[tuple(slice(sizes[axis]) for axis in axes)]
        cut = cut if axes == sorted(axes) else cut.T
        possible &= ~cut.reshape([sizes[axis] if axis in axes else 1 for axis in range(len(sizes))])
    return possible.reshape(-1)


def _is_listable(column: Column) -> bool:
    """Whether each code stands for one value."""
    lows, highs = column.ranges
    return not column.is_ordered or not (lows != highs)[: column.n_bins].any()


def _values_by_code(column: Column) -> np.ndarray:
    """float64 [n_bins]: how many values each code stands for; infinite where they can't be counted."""
    lows, highs = (ends[: column.n_bins] for ends in column.ranges)
    if isinstance(column, Real) and column.grid is not None:
        return np.asarray(column.grid.whole._widths)
    if isinstance(column, Integer | Instant):
        return (column._stops - column._starts).astype(float)
    many = np.full(column.n_bins, np.inf)
    if isinstance(column, Real) and column.decimals is not None:
        least, greatest = column._places
        many = greatest - least + 1
    return np.where(lows == highs, 1.0, many)


def _met_by_code(derived: Derived, place: int, column: Column) -> np.ndarray:
    """float64 [n_bins]: for how many of the values of each code there are rows."""
    keys = derived.table.keys[place]
    numbers = np.array(sorted({_number(column, text) for text in keys} - {np.inf}), dtype=float)
    low, high = column.ranges[0][: column.n_bins].min(), column.ranges[1][: column.n_bins].max()
    numbers = numbers[(numbers >= low) & (numbers <= high)]
    codes = column._bin(numbers) if len(numbers) else np.empty(0, dtype=np.int64)  # type: ignore[attr-defined]
    return np.bincount(codes, minlength=column.n_bins).astype(float)


def _number(column: Column, text: str) -> float:
    """The number of a key that may be drawn; infinite for another."""
    if isinstance(column, Instant):
        number = parse_instant(text, column.unit, zone=column._zone)
        if not np.isfinite(number):
            return np.inf
        (spelled,) = spell(array_of([column._moment(int(number))], column.arrow_type)).to_pylist()
        return number if spelled == text else np.inf
    number = parse_number(text, {})
    if not np.isfinite(number):
        return np.inf
    if isinstance(column, Integer):
        return number if not (number - column.lower) % column.step else np.inf
    return np.inf if isinstance(column, Real) and column.strays(np.array([number]))[0] else number


def _share(met: np.ndarray, values: np.ndarray) -> str:
    total = values.sum()
    return f"{met.sum():,.0f} of {total:,.0f}" if isfinite(total) else "few"
