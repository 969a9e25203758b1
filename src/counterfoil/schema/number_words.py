"""Words that stand for a number in a column of numbers.

Ages that a statistical office cuts off are written 90+, and concentrations below what a laboratory can detect <0.5.
Each such word is a spelling of one number, which has a code of its own: it is read as the number, and files of texts
hold the word again. The column's facts say which number, and the number is what computations see.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.unit import bare, unit_of

NumberWords = tuple[tuple[str, float], ...]
"""Each word with its number. Of several words for one number the first is written."""

_NUMBER = r"([0-9]{1,15})([.,][0-9]{1,12})?"
_SIGNED = _NUMBER.replace("(", "(-?", 1)
_BELOW = re.compile(rf"[<≤]=?\s*{_SIGNED}")
_ABOVE = re.compile(rf"[>≥]=?\s*{_SIGNED}")
_AND_MORE = re.compile(
    rf"{_NUMBER}\s*(\+|(or|and)\s(more|over|above|older)|(und|oder)\s(mehr|älter)|(et|ou)\s(plus|\+))"
)
_WRITTEN = re.compile(r"[+-]?[.,'\u2019\s]*\d[\d.,'\u2019\s]*([eE][+-]?\d+)?")


def is_written_number(text: str) -> bool:
    """Whether a text is a number with any decimal sign, separators and unit that columns of numbers may have."""
    if _WRITTEN.fullmatch(text):
        return True
    return bool(unit := unit_of(text)) and _WRITTEN.fullmatch(bare(text, unit)) is not None


@dataclass(frozen=True)
class Limit:
    """A text that stands for all numbers beyond one.

    Args:
        number: beyond which they lie.
        decimals: with how many digits after the point it is written.
        below: whether they lie below, as those of <0.5 do.
        signed: whether a sign such as < or > says so: 2+ may be a mark as well.
    """

    number: float
    decimals: int
    below: bool
    signed: bool

    def stand_in(self, decimals: int | None = None) -> float:
        """A number for all of them: the limit itself, and below one above 0 half of it, rounded down.

        Args:
            decimals: digits after the point that the number may have; as many as the limit where None.
        """
        units = 10 ** (self.decimals if decimals is None else decimals)
        number = math.floor(self.number * units / (2 if self.below and self.number > 0 else 1) + 1e-9) / units
        return int(number) if number.is_integer() else number


def limit_of(text: str, decimal_char: str = "") -> Limit | None:
    """What a text such as 90+, 100 or more, >200 or <0.5 says; None for others.

    Args:
        text: of a cell.
        decimal_char: of the column; without it a comma before three digits parts thousands, as in >1,000.
    """
    below = _BELOW.fullmatch(text)
    signed = below or _ABOVE.fullmatch(text)
    if (found := signed or _AND_MORE.fullmatch(text)) is None:
        return None
    whole, sign, decimals = found[1], (found[2] or "")[:1], (found[2] or "")[1:]
    may_part = len(decimals) == 3 and len(whole) <= 3 and whole[0] != "0"
    if may_part and sign == {"": ",", ".": ",", ",": "."}[decimal_char]:
        whole, decimals = whole + decimals, ""
    return Limit(float(f"{whole}.{decimals}"), len(decimals), below is not None, signed is not None)


def advised(limits: Iterable[str], decimals: int | None = None, decimal_char: str = "") -> dict[str, float]:
    """Limits with the number that may stand for each (`Limit.stand_in`): 90 for 90+, and 0.2 for <0.5."""
    found = {text: limit_of(text, decimal_char) for text in limits}
    return {text: limit.stand_in(decimals) for text, limit in found.items() if limit is not None}


def are_number_words(words: object) -> bool:
    """Whether it is what a column has as its `words`: pairs of a text and a number."""
    return isinstance(words, tuple) and all(isinstance(pair, tuple) and _is_pair(*pair) for pair in words)


def _is_pair(word: object = None, number: object = None, *others: object) -> bool:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return isinstance(word, str) and is_number and not others


def with_two_numbers(words: NumberWords) -> tuple[str, ...]:
    """Two words that are the same text in lower case, and stand for different numbers; empty where there are none."""
    first: dict[str, tuple[str, float]] = {}
    for word, number in words:
        other, found = first.setdefault(word.casefold(), (word, number))
        if found != number:
            return other, word
    return ()


def apart(limits: Iterable[str], decimals: int | None = None, decimal_char: str = "") -> dict[str, float]:
    """As `advised`, with another number for each limit below: half of 0.4 and half of 0.5 are both 0.2 with one digit.

    None of them is a limit itself: where some cells have <0.5 and others <1, numbers from 0.5 on are cells too. Those
    between which there is no room are left out.

    Args:
        limits, decimals, decimal_char: as for `advised`.
    """
    found = {text: limit for text in limits if (limit := limit_of(text, decimal_char)) is not None}
    digits = max((limit.decimals for limit in found.values()), default=0) if decimals is None else decimals
    units, last, taken = 10**digits, None, {round(limit.number * 10**digits, 6) for limit in found.values()}
    below: dict[float, float] = {}
    for limit in sorted((one for one in found.values() if one.below), key=lambda one: one.number):
        if limit.number in below:
            continue
        own, half = round(limit.number * units, 6), round(limit.stand_in(digits) * units)
        least = last if last is not None else min(half, 0) - 1
        places = chain(range(half, least, -1), range(half + 1, math.ceil(own)))
        if (place := next((one for one in places if one > least and one not in taken - {own}), None)) is not None:
            last, below[limit.number] = place, place / units
    numbers = {
        text: below.get(limit.number) if limit.below else limit.stand_in(decimals) for text, limit in found.items()
    }
    return {text: number for text, number in numbers.items() if number is not None}


def readings(words: NumberWords) -> dict[str, float]:
    """The number of each word, by the word as texts are compared: in lower case."""
    return {word.casefold(): float(number) for word, number in words}


def with_numbers(points: tuple[float, ...], words: NumberWords) -> tuple[float, ...]:
    """The numbers with a code of their own: `points`, and those of words."""
    return (*points, *dict.fromkeys(number for _, number in words if number not in points))


def first_words(words: NumberWords) -> NumberWords:
    """Those that are written: the first of each number."""
    written = {number: word for word, number in reversed(words)}
    return tuple((word, number) for word, number in words if written[number] == word)


def written_words(codes: Iterable[int], words: NumberWords) -> dict[int, str]:
    """By code, the word that is written for it.

    Args:
        codes: of the number of each word, in their order.
        words: of the column.
    """
    result: dict[int, str] = {}
    for code, (word, _) in zip(codes, words, strict=True):
        result.setdefault(code, word)
    return result


def spelled(texts: pa.Array, codes: np.ndarray, written: Mapping[int, str]) -> pa.Array:
    """string [n]: the same texts, with words in place of numbers that have one.

    Args:
        texts: string [n], numbers as they are written; null stays null.
        codes: int [n], the code of each.
        written: the word of each code that has one.
    """
    for code, word in written.items():
        texts = pc.if_else(array_of(codes == code), word, texts)
    return texts


def labelled(labels: Sequence[str], written: Mapping[int, str]) -> list[str]:
    """The same labels of codes, with words in place of numbers; in brackets where another code's label is the same."""
    result = list(labels)
    for code, word in written.items():
        while word in (*result[:code], *result[code + 1 :]):
            word = f"({word})"
        result[code] = word
    return result
