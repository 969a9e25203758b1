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

from counterfoil.schema.plain_arrays import array_of

NumberWords = tuple[tuple[str, float], ...]
"""Each word with its number. Of several words for one number the first is written."""

_NUMBER = r"(\d+)([.,]\d+)?"
_BELOW = re.compile(rf"[<≤]=?\s*{_NUMBER}")
_ABOVE = re.compile(rf"[>≥]=?\s*{_NUMBER}")
_AND_MORE = re.compile(
    rf"{_NUMBER}\s*(\+|(or|and)\s(more|over|above|older)|(und|oder)\s(mehr|älter)|(et|ou)\s(plus|\+))"
)


def is_limit(text: str) -> bool:
    """Whether a text is a number with a sign or a word for all beyond it, such as 90+ and <0.5."""
    return any(pattern.fullmatch(text) for pattern in (_BELOW, _ABOVE, _AND_MORE))


def advised(limits: Iterable[str]) -> dict[str, float]:
    """Limits with a number that each may stand for: 90 for 90+, and below <0.5 half of it, with no more digits, 0.2.

    Args:
        limits: texts that are some (`is_limit`).
    """
    return {text: _number_of(text) for text in limits}


def _number_of(limit: str) -> float:
    below = _BELOW.fullmatch(limit)
    found = below or _ABOVE.fullmatch(limit) or _AND_MORE.fullmatch(limit)
    assert found is not None, "it is a limit"
    decimals = (found[2] or "")[1:]
    units = 10 ** len(decimals)
    number = int(found[1] + decimals) // 2 / units if below else int(found[1] + decimals) / units
    return int(number) if number.is_integer() else number


def readings(words: NumberWords) -> dict[str, float]:
    """The number of each word, by the word as texts are compared: in lower case."""
    return {word.casefold(): float(number) for word, number in words}


def with_numbers(points: tuple[float, ...], words: NumberWords) -> tuple[float, ...]:
    """The numbers with a code of their own: `points`, and those of words."""
    return (*points, *dict.fromkeys(number for _, number in words if number not in points))


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
