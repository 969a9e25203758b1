"""Texts that are dates in the declared notation, but of days that no calendar has, such as 31/02/2019."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from counterfoil.schema.instant import Instant
from counterfoil.schema.plain_arrays import array_of

_GROUP = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
"""A day is written with one or two digits, and others beside it."""

_NUMBER = re.compile(r"\d+")
_ZEROS = re.compile(r"(?<!\d)0+(?!\d)")
_DIGITS_OF_A_YEAR = 4

_LAST = 28
"""The last day that every month has."""


def impossible(texts: Sequence[str], column: Instant) -> np.ndarray:
    """bool [n]: which unreadable texts would be read with another day, or with ones in place of zeros (00/00/0000).

    A text in another notation would not: 05/31/2019 has no month 31, and stays unreadable with the 28th in its place.
    Texts whose punctuation alone the notation does not have are left out first: a whole table may have such ones.
    """
    shapes = [_NUMBER.sub(_plain, text) for text in texts]
    known = dict.fromkeys(shapes)
    readable = dict(zip(known, _are_read(list(known), column), strict=True))
    tried = [(place, other) for place, text in enumerate(texts) if readable[shapes[place]] for other in _others(text)]
    found = np.zeros(len(texts), dtype=bool)
    read = _are_read([other for _, other in tried], column)
    found[[place for (place, _), is_read in zip(tried, read, strict=True) if is_read]] = True
    return found


def _plain(number: re.Match[str]) -> str:
    """A number of as many digits that every notation has a day, a month, an hour and a year for."""
    return "1".zfill(len(number[0])) if len(number[0]) != _DIGITS_OF_A_YEAR else "2001"


def _others(text: str) -> Iterator[str]:
    """The text with the last day that every month has in place of each number beyond it, and with ones for zeros."""
    for group in _GROUP.finditer(text):
        if int(group[0]) > _LAST or not int(group[0]):
            yield f"{text[: group.start()]}{_LAST}{text[group.end() :]}"
    if _ZEROS.search(text):
        yield _ZEROS.sub(lambda zeros: "1".zfill(len(zeros[0])), text)


def _are_read(texts: Sequence[str], column: Instant) -> np.ndarray:
    return ~np.isnan(column.parsed(array_of(texts, pa.string())))
