"""Which places of a schema its purchase listed by precaution, so that what a person writes is told from them.

A purchase gives each cell a place: a code for missing cells, `other`, the names of a public list that were not seen,
integers among codes that may be noise, bounds of whole numbers that may be too wide. Its line `bought` has a short
digest of each. A place that a person adds, or a bound that one corrects, has none there.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import numpy as np

from counterfoil.schema.boolean import Boolean
from counterfoil.schema.bought import Bought
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column

DIGITS = 4
"""Hexadecimal digits of a digest: of a hundred places, one in 650 that a person adds is taken for one of them, and its
count for that of a place which is likely empty."""


def digests(column: str, places: Iterable[str]) -> str:
    """Of some places of a column, one after the other.

    Args:
        column: its name.
        places: "missing", "other", "true", "false", or what `place_of_value` and `place_of_bound` say.
    """
    return "".join(_digest(column, place) for place in places)


def place_of_value(value: Any) -> str:
    """A category, however it is written."""
    return f"value {value}"


def place_of_bound(key: str, value: Any) -> str:
    """Where whole numbers end: "lower" or "upper", and there."""
    return f"{key} {value}"


def by_precaution(column: Column, bought: Bought | None) -> np.ndarray:
    """bool [size]: which codes were listed by precaution; none of a schema that was not bought.

    All are where the schema does not say which, as those of earlier versions do not.
    """
    if bought is None or bought.places is None:
        return np.full(column.size, bought is not None)
    if isinstance(column, Categorical):
        places = [*map(place_of_value, column.values), *(["other"] if column.other else [])]
    elif isinstance(column, Boolean):
        places = ["false", "true"]
    else:
        places = [""] * column.n_bins
    return np.array([_is_among(bought, column.name, place) for place in [*places, *["missing"] * column.missing]])


def bounds_by_precaution(column: Column, bought: Bought | None) -> tuple[bool, bool]:
    """Whether the lower and the upper bound of a column are those that were bought for it."""
    if bought is None or bought.places is None:
        return bought is not None, bought is not None
    lower, upper = (
        _is_among(bought, column.name, place_of_bound(key, getattr(column, key, None))) for key in ("lower", "upper")
    )
    return lower, upper


def _is_among(bought: Bought, column: str, place: str) -> bool:
    return bool(place) and _digest(column, place) in bought.place_digests


def _digest(column: str, place: str) -> str:
    return sha256(f"{column}\0{place}".encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
