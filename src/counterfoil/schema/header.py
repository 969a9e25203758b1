"""Names of columns that may be the values of a record, as where a file has no line of names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from counterfoil.schema.errors import SchemaError, did_you_mean

_VALUE = re.compile(r"[-+]?[0-9]+(?:[.,:/-][0-9]+)*(?: [0-9:.]+)?")


def named_by_values(names: Iterable[str]) -> tuple[int, int]:
    """How many names are numbers or dates, of how many."""
    found = list(names)
    return sum(_VALUE.fullmatch(name.strip()) is not None for name in found), len(found)


def are_values(names: Iterable[str]) -> bool:
    """Whether most names are numbers or dates, so that the first record may have been taken for a line of names."""
    values, count = named_by_values(names)
    return 2 * values > count


def may_be_a_record(names: Iterable[str]) -> bool:
    """Whether names are likely those of a first record: many numbers and dates in no order.

    Names that are numbers or dates are in order where they are meant, as years or days are, or places from 0 on.
    """
    found = [name.strip() for name in names]
    values = [name for name in found if _VALUE.fullmatch(name)]
    if 2 * len(values) > len(found):
        return not _is_series(values)
    return len(values) >= _SEVERAL and 4 * len(values) >= len(found) and not _is_ordered(list(map(_parts, values)))


def require_names(names: Iterable[str], declared: Collection[str] = ()) -> None:
    """Refuses names that may be a record's, which would be printed and written as public; but not those of a schema.

    Args:
        names: of the table's columns.
        declared: the names that a schema has in full, no pattern, or that are stated by hand.

    Raises:
        SchemaError: showing none of them.
    """
    found = list(names)
    if not set(found) <= set(declared) and may_be_a_record(found):
        values, count = named_by_values(found)
        raise SchemaError(
            f"A table must have a line of names, which are public. Found {values} of {count} columns named by numbers "
            "or dates in no order, which may be the values of a record and are not shown: add the line. Where they are "
            "names, declare each of them in full in a schema by hand, which `counterfoil schema --confirm` asks for; "
            "columns of a frame can be renamed."
        )


_RANGE = re.compile(r"[0-9]+-[0-9]+")
_SEVERAL = 3
"""Numbers and dates of which fewer are in some order by chance."""

_MANY = 5
"""Numbers of which so many are hardly ever in order by chance, whatever their steps."""

_LIKE_YEARS = range(1800, 2200)


def _is_series(values: Sequence[str]) -> bool:
    """Whether numbers rise or fall by equal steps; or years, several dates, or many numbers, by any; decimals rise."""
    if all(re.fullmatch(r"[-+]?[0-9]+[.][0-9]+", value) for value in values):
        return len(values) >= _SEVERAL and all(float(one) < float(later) for one, later in pairwise(values))
    numbers = [_parts(value) for value in values]
    if len({len(one) for one in numbers}) > 1 or not _is_ordered(numbers):
        return False
    if all(len(one) == 1 and one[0] in _LIKE_YEARS for one in numbers) or all(map(_RANGE.fullmatch, values)):
        return True
    equal = len({later[0] - earlier[0] for earlier, later in pairwise(numbers)}) == 1
    return len(values) >= (_SEVERAL if equal or len(numbers[0]) > 1 else _MANY)


def _is_ordered(numbers: Sequence[tuple[int, ...]]) -> bool:
    """Whether they rise or fall, read from the left or from the right, as days may be written either way."""
    return any(
        all(earlier < later for earlier, later in pairwise(one))
        for both in (list(numbers), [number[::-1] for number in numbers], [_month_first(one) for one in numbers])
        for one in (both, both[::-1])
    )


def _month_first(number: tuple[int, ...]) -> tuple[int, ...]:
    """1/22/20 with its year in front."""
    return (*number[2:3], *number[:2], *number[3:])


def _parts(value: str) -> tuple[int, ...]:
    """The whole numbers that a value is written with; the first with its sign."""
    first, *others = re.findall(r"[0-9]+", value)
    return (int(first) * (-1 if value.startswith("-") else 1), *map(int, others))


def hint_of_names(name: str, names: Iterable[str]) -> str:
    """What to append to a sentence that misses the column `name`: those that are there, unless they may be a record."""
    found = list(names)
    if are_values(found) or may_be_a_record(found):
        return (
            " Many of its columns are named by numbers or dates, which may be a record's and are not shown: where the "
            "file has no line of names, add it."
        )
    return did_you_mean(name, found)
