"""Whether a derived column that a table has too holds what the derivation says.

Each synthetic row gets the derived value, whatever the table had: where the two differ, the derivation rewrites it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from counterfoil.schema.arithmetic import near
from counterfoil.schema.boolean import WORDS, Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.decimal_char import plain_number
from counterfoil.schema.derived import RESULTS, Derived
from counterfoil.schema.derived_instants import FORMATS, INSTANT_RESULTS, instants_at, units_of
from counterfoil.schema.expression import names_column
from counterfoil.schema.integer import Integer
from counterfoil.schema.placement import PlacedCells, Placement, taken
from counterfoil.schema.plain_arrays import array_of, filled, numpy_of
from counterfoil.schema.real import Real
from counterfoil.schema.values import Values, instants_of, numbers_of, texts_of
from counterfoil.schema.zone import find_zone

_USUAL = 0.99
"""The share of cells that have no more decimals than a column is taken to be rounded to."""


def followed(derived: Derived, columns: Mapping[str, Column]) -> tuple[str, ...]:
    """The columns that a derived one follows from."""
    if derived.lookup:
        return derived.on
    return tuple(name for name in columns if names_column(derived.expression, name))


@dataclass(frozen=True, eq=False)
class Match:
    """A derived column that a table has beside what is derived.

    Args:
        differs: bool [n], which cells hold another value.
        otherwise: of the others, the texts that would be written in another way, each with what would be written, and
            their counts.
        alike: of dates and datetimes, the texts that would be written as they are, with their counts.
        numbers: float64, those of the others, where the column is one of reals.
    """

    differs: np.ndarray
    otherwise: Counter[tuple[str, str]]
    alike: Counter[str]
    numbers: np.ndarray


def matched(
    derived: Derived,
    columns: Mapping[str, Column],
    cells: Mapping[str, PlacedCells],
    values: Values,
    *,
    unsaid: np.ndarray | None = None,
) -> Match:
    """Which cells differ from what the others of their rows imply. Values are compared, in whatever notation they are.

    Rows are left out, as equal, where one of the columns that it follows from is neither as declared nor missing as
    declared. Reals may differ by 1e-9 of their size and by a rounding to as many decimals as nearly all cells have; a
    cell without a value of the kind counts as none, and differs where there is a value to derive.

    Args:
        derived: the column.
        columns: the columns that it follows from, by name.
        cells: their placed cells [n].
        values: its own cells [n].
        unsaid: bool [n], which of them hold none by what other columns declare, as a day that stands for none; none are
            where None.

    Raises:
        TypeError, pyarrow.ArrowException: for a type of `values` that holds no single values, texts or numbers.
    """
    known = np.ones(len(values), dtype=bool)
    for name, column in columns.items():
        ways = (Placement.DECLARED, Placement.MISSING) if column.missing else (Placement.DECLARED,)
        known &= np.isin(cells[name].placements, ways)
    if unsaid is not None:
        known &= ~unsaid
    kept = np.flatnonzero(known)
    if not len(kept):
        return Match(known, Counter(), Counter(), np.empty(0))
    table = pa.table({name: _values(column, cells[name], kept) for name, column in columns.items()})
    # Cells may have more digits than their columns declare, and then so has what follows from them.
    expected = derived.compute(table, columns, stated=False)
    found = taken(values, kept)
    known[kept], held = _differ(derived, expected, found)
    same = ~known[kept]
    numbers = held[same & ~np.isnan(held)] if derived.result == "real" else np.empty(0)
    written = _written(derived, found, held, same)
    otherwise = Counter({pair: count for pair, count in written.items() if pair[0] != pair[1]})
    is_instant = derived.result in INSTANT_RESULTS
    alike = Counter({text: count for (text, other), count in written.items() if is_instant and text == other})
    return Match(known, otherwise, alike, numbers)


def _values(column: Column, cells: PlacedCells, kept: np.ndarray) -> pa.Array:
    """The values that the schema reads in some cells, whole bins never taken for one."""
    if isinstance(column, Categorical | Boolean):
        return column.decode(cells.codes[kept], np.random.default_rng(0))  # each code is one value: nothing is drawn
    assert cells.numbers is not None, "all other columns lie on a line"
    numbers = cells.numbers[kept]
    absent = np.isnan(numbers)
    filled = np.where(absent, 0.0, numbers)
    if isinstance(column, Real):
        return array_of(filled, mask=absent)
    whole = filled.astype(np.int64)
    if isinstance(column, Integer):
        return array_of(whole, mask=absent)
    if column.kind == "date":
        return array_of(whole.astype(np.int32), mask=absent).cast(pa.date32())
    return array_of(whole * 1_000_000, mask=absent).cast(column.arrow_type)


def _differ(derived: Derived, expected: pa.Array, found: Values) -> tuple[np.ndarray, np.ndarray]:
    """bool [n], which cells differ, and float64 [n], the numbers that they hold; NaN where they hold none."""
    result = derived.result
    if result == "categorical":
        texts, positions = texts_of(found)
        held = np.array([*texts, ""], dtype=object)[positions]
        implied = np.array([text or "" for text in expected.to_pylist()], dtype=object)
        return np.asarray(held != implied, dtype=bool), np.full(len(found), np.nan)
    if result in INSTANT_RESULTS:
        return _instants_differ(derived, _floats(units_of(expected)), found)
    if result == "boolean":
        return _truths_differ(derived.notation.labels, _floats(expected.cast(pa.int8())), found)
    implied, numbers = _floats(expected), numbers_of(found, decimal_char=derived.decimal_char)
    differs = _unequal(implied, numbers)
    if result == "integer":
        return differs, numbers
    differs &= ~near(implied, numbers)
    if differs.any():
        differs &= ~near(implied, numbers, 0.5 * 10.0 ** -_usual_decimals(found, derived.decimal_char))
    return differs, numbers


def _instants_differ(derived: Derived, implied: np.ndarray, found: Values) -> tuple[np.ndarray, np.ndarray]:
    """As `_differ`. What the stated notation does not read is read in the one that agrees most often."""
    unit, formats = INSTANT_RESULTS[derived.result], FORMATS[derived.result]
    zone = find_zone(derived.zone) if derived.zone else None
    held = instants_of(found, unit, derived.format, zone)
    if not _unequal(implied, held).any():
        return np.zeros(len(held), dtype=bool), held
    others = [instants_of(found, unit, other, zone) for other in ("", *formats)]
    best = max(others, key=lambda days: int((days == implied).sum()))
    held = np.where(np.isnan(held), best, held)
    return _unequal(implied, held), held


def _truths_differ(labels: Boolean | None, implied: np.ndarray, found: Values) -> tuple[np.ndarray, np.ndarray]:
    """As `_differ`. Where no labels are stated, two texts that are no truths are read as the labels that agree."""
    held = numbers_of(found, WORDS) if labels is None else labels.parsed(found)
    _, positions = texts_of(found)
    unread = np.isnan(held) & (positions >= 0) & ~np.isnan(implied)
    pairs = {*zip(positions[unread].tolist(), implied[unread].tolist(), strict=True)}
    if labels is None and len(pairs) == 2 and all(len({*side}) == 2 for side in zip(*pairs, strict=True)):
        held[unread] = implied[unread]
    return _unequal(implied, held), held


def _written(derived: Derived, found: Values, held: np.ndarray, same: np.ndarray) -> Counter[tuple[str, str]]:
    """The texts of equal cells that hold numbers, each with the one that a release would write."""
    texts, positions = texts_of(found)
    seen = np.flatnonzero(same & (positions >= 0) & ~np.isnan(held))
    counts = np.bincount(positions[seen], minlength=len(texts))
    numbers = np.full(len(texts), np.nan)
    numbers[positions[seen]] = held[seen]
    which = np.flatnonzero(counts)
    kind = RESULTS[derived.result]
    if derived.result in INSTANT_RESULTS:
        values = instants_at(numbers[which], derived.result, derived.zone)
    else:
        whole = array_of(numbers[which]) if kind == pa.float64() else array_of(numbers[which].astype(np.int64))
        values = whole.cast(kind)
    written = derived.written(_stated(derived, values))
    return Counter({(texts[i], text): int(counts[i]) for i, text in zip(which, written.to_pylist(), strict=True)})


def _stated(derived: Derived, values: pa.Array) -> pa.Array:
    """With labels; numbers keep all their digits."""
    return values if derived.notation.labels is None else derived.notation.stated(values)


def _floats(values: pa.Array) -> np.ndarray:
    return np.asarray(numpy_of(filled(values.cast(pa.float64(), safe=False), np.nan)))


def _unequal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one != other) & ~(np.isnan(one) & np.isnan(other))


def _usual_decimals(values: Values, decimal_char: str) -> int:
    """As many digits after the point as nearly all cells have at most."""
    texts, positions = texts_of(values)
    plain = [plain_number(text, decimal_char) if decimal_char else text for text in texts]
    decimals = np.sort(np.array([_decimals(text) for text in plain], dtype=np.int64)[positions[positions >= 0]])
    return int(decimals[int(np.ceil(_USUAL * len(decimals))) - 1]) if len(decimals) else 0


def _decimals(text: str) -> int:
    try:
        exponent = Decimal(text).as_tuple().exponent
    except InvalidOperation:
        return 0
    return max(0, -exponent) if isinstance(exponent, int) else 0
