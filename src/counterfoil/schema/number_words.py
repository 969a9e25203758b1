"""Words that stand for a number in a column of numbers.

Ages that a statistical office cuts off are written 90+, and concentrations below what a laboratory can detect <0.5.
Each such word is a spelling of one number, which has a code of its own: it is read as the number, and files of texts
hold the word again. The column's facts say which number, and the number is what computations see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.limit import limit_of
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.unit import bare, unit_of

NumberWords = tuple[tuple[str, float], ...]
"""Each word with its number. Of several words for one number the first is written."""

_WRITTEN = re.compile(r"[+-]?[.,'\u2019\s]*\d[\d.,'\u2019\s]*([eE][+-]?\d+)?")


def is_written_number(text: str) -> bool:
    """Whether a text is a number with any decimal sign, separators and unit that columns of numbers may have."""
    if _WRITTEN.fullmatch(text):
        return True
    return bool(unit := unit_of(text)) and _WRITTEN.fullmatch(bare(text, unit)) is not None


def advised(limits: Iterable[str], decimal_char: str = "", unit: str = "") -> dict[str, float]:
    """Limits with the number that may stand for each (`Limit.stand_in`): 90 for 90+, and 0.2 for <0.5."""
    found = {text: limit_of(text, decimal_char, unit) for text in limits}
    return {text: limit.stand_in() for text, limit in found.items() if limit is not None}


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
