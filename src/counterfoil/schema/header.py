"""Names of columns that may be the values of a record, as where a file has no line of names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from counterfoil.schema.errors import did_you_mean

_VALUE = re.compile(r"[-+]?[0-9]+(?:[.,:/-][0-9]+)*(?: [0-9:.]+)?")


def named_by_values(names: Iterable[str]) -> tuple[int, int]:
    """How many names are numbers or dates, of how many."""
    found = list(names)
    return sum(_VALUE.fullmatch(name.strip()) is not None for name in found), len(found)


def are_values(names: Iterable[str]) -> bool:
    """Whether most names are numbers or dates, so that the first record may have been taken for a line of names."""
    values, count = named_by_values(names)
    return 2 * values > count


def hint_of_names(name: str, names: Iterable[str]) -> str:
    """What to append to a sentence that misses the column `name`: those that are there, unless they may be a record."""
    found = list(names)
    if are_values(found):
        return (
            " Most of its columns are named by numbers or dates, which may be a record's and are not shown: where the "
            "file has no line of names, add it."
        )
    return did_you_mean(name, found)
