"""Texts that are dates in the declared notation, but of days that no calendar has, such as 31/02/2019."""

from __future__ import annotations

import math
import re

import pyarrow as pa

from counterfoil.schema.instant import Instant

_GROUP = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
"""A day is written with one or two digits, and others beside it."""

_LAST = 28
"""The last day that every month has."""


def is_impossible(text: str, column: Instant) -> bool:
    """Whether an unreadable text would be read with another day, or with ones in place of zeros (00/00/0000).

    A text in another notation would not: 05/31/2019 has no month 31, and stays unreadable with the 28th in its place.
    """
    days = [group for group in _GROUP.finditer(text) if int(group[0]) > _LAST or not int(group[0])]
    tried = [f"{text[: group.start()]}{_LAST}{text[group.end() :]}" for group in days]
    tried.append(re.sub(r"(?<!\d)0+(?!\d)", lambda zeros: "1".zfill(len(zeros[0])), text))
    return any(not math.isnan(number) for number in column.parsed(pa.array(tried, pa.string())).tolist())
