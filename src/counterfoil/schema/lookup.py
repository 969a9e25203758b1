"""A public table from values of some columns to a result: which of its rows a row of values has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import product

import numpy as np
import pyarrow as pa

from counterfoil.schema.boolean import Boolean
from counterfoil.schema.column import Column
from counterfoil.schema.plain_arrays import array_of, numpy_of
from counterfoil.schema.spelling import spell
from counterfoil.schema.values import parse_number

Entry = str | int | float | bool | date
Texts = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lookup:
    """Rows of keys and a result.

    Keys match as categories do, texts with the same text and else equal numbers. A boolean matches each key that its
    column reads as the same, such as "yes" and true. A missing value matches the first of the column's words for
    missing that is a key, or else an empty key; where none is, it has no row.

    Args:
        rows: each with a key for every column, and the result.
    """

    rows: tuple[tuple[Entry, ...], ...]

    @cached_property
    def by_text(self) -> dict[Texts, int]:
        """The rows by their keys, in the spelling of values."""
        return {key_texts(row[:-1]): i for i, row in enumerate(self.rows)}

    @cached_property
    def _by_number(self) -> dict[tuple[str | float, ...], int]:
        """Rows by keys in which texts that are numbers count as these; those that equal another row's left out."""
        counts = Counter(map(numbers_in, self.by_text))
        return {key: i for texts, i in self.by_text.items() if counts[key := numbers_in(texts)] == 1}

    @cached_property
    def keys(self) -> tuple[Texts, ...]:
        """The distinct keys of each column."""
        return tuple(tuple(dict.fromkeys(texts)) for texts in zip(*self.by_text, strict=True))

    def results(self, cells: Sequence[pa.ChunkedArray], on: Sequence[Column], kind: pa.DataType) -> pa.Array:
        """The result [n] for each row of values, null where there is none.

        Args:
            cells: by column, its decoded values [n].
            on: the columns.
            kind: of results.
        """
        spelled = [spelled_cells(column) for column in cells]
        codes = np.stack([positions for _, positions in spelled])
        distinct, inverse = np.unique(codes, axis=1, return_inverse=True)
        found = [self.row_of([texts[i] for (texts, _), i in zip(spelled, key, strict=True)], on) for key in distinct.T]
        results = array_of([None if i is None else self.rows[i][-1] for i in found], kind)
        return results.take(array_of(inverse.reshape(-1)))

    def row_of(self, texts: Sequence[str], on: Sequence[Column]) -> int | None:
        """The number of the row that values have, "" for a missing one; None where they have none."""
        for key in product(*map(self._spellings, range(len(on)), texts, on)):
            row = self.by_text.get(key, self._by_number.get(numbers_in(key)))
            if row is not None:
                return row
        return None

    def _spellings(self, place: int, text: str, column: Column) -> Texts:
        """The keys that a value may have, the first one first."""
        if not text:
            return (*column.missing_values, "")
        if isinstance(column, Boolean):
            truth = truth_of(column, text)
            return (text, *(key for key in self.keys[place] if truth_of(column, key) == truth))
        return (text,)

    def met(self, declared: Sequence[Texts], on: Sequence[Column]) -> set[Texts]:
        """Which combinations of declared values have a row.

        Args:
            declared: by column, the texts of its values.
            on: the columns.
        """
        alike: list[dict[str | float, list[str]]] = []
        for texts, column in zip(declared, on, strict=True):
            alike.append({})
            for text in texts:
                alike[-1].setdefault(_meaning(column, text), []).append(text)
        found: set[Texts] = set()
        for key in self.by_text:
            meant = (_meaning(column, text) for text, column in zip(key, on, strict=True))
            found.update(product(*(texts.get(one, []) for texts, one in zip(alike, meant, strict=True))))
        return {key for key in found if self.row_of(key, on) is not None}

    def means_one_twice(self, on: Sequence[Column]) -> bool:
        """Whether two rows have keys that the columns read as the same truths."""
        truths = [isinstance(column, Boolean) for column in on]
        meant = Counter(
            tuple(
                _meaning(column, text) if truth else text for text, column, truth in zip(key, on, truths, strict=True)
            )
            for key in self.by_text
        )
        return any(count > 1 for count in meant.values())


def truth_of(column: Boolean, text: str) -> float:
    """What a boolean column reads in a text; NaN where it is none."""
    return float(column._parse_text(text))


def _meaning(column: Column, text: str) -> str | float:
    meant = truth_of(column, text) if isinstance(column, Boolean) else parse_number(text, {})
    return meant if math.isfinite(meant) else text


def declared_texts(column: Column) -> Texts:
    """The text of the value of each code, of a column whose codes are single values."""
    values = column.decode(np.arange(column.n_bins), np.random.default_rng(0))  # each is one value: nothing is drawn
    return tuple(spell(values).to_pylist())


def spelled_cells(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """Canonical texts, "" for a missing value, and which of them each cell has."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    encoded = plain.combine_chunks().dictionary_encode(null_encoding="encode")
    texts = [text or "" for text in spell(encoded.dictionary).to_pylist()]
    return texts, numpy_of(encoded.indices).astype(np.int64)


def key_texts(entries: Iterable[Entry]) -> Texts:
    """Keys of a lookup table in the spelling of values."""
    return tuple(
        entry.strip() if isinstance(entry, str) else str(spell(array_of([entry])).to_pylist()[0]) for entry in entries
    )


def numbers_in(texts: Texts) -> tuple[str | float, ...]:
    """The same with a number in place of each text that is one."""
    numbers = ((text, parse_number(text, {})) for text in texts)
    return tuple(number if math.isfinite(number) else text for text, number in numbers)
