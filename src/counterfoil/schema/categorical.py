"""Columns of named categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.column import Column
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.groups import Groups, group_of_each, mistake_in
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.spelling import time_in
from counterfoil.schema.values import Values, distinct_texts, of_each_type, parse_number


@dataclass(frozen=True)
class Categorical(Column):
    """One of `values`: texts or numbers, coded in the declared order.

    A cell matches a category when its text is the same; else when both are numbers and equal, so that 1, 1.0
    and "01" are one category unless the list tells them apart. Any other value goes to `other` where that is
    declared, else to missing. With `other`, a missing value goes there too unless `missing` is declared.
    `ordered` says that the list goes from least to greatest. An ordered list of numbers is a scale: its
    categories count as those numbers, in rules and as points of a metric space; others count as their rank.
    `groups` says which categories belong together (chapters of a code book): methods that merge rare categories
    merge them within their groups first. They change no code.

    A category comes back as it is listed: "01" is a text and 1 a number, which makes a column of numbers where all are.
    Members of an enumeration are the texts or numbers that they hold.
    """

    kind: ClassVar[str] = "categorical"

    values: tuple[str | int | float, ...]
    other: bool = False
    ordered: bool = False
    groups: Groups = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(_plain, self.values)))
        super().__post_init__()

    def _check(self) -> None:
        if not self.values:
            raise self.mistake("`values` must list at least one category")
        if self.ordered and self.other:
            raise self.mistake("`other` has no rank in an ordered list; declare `missing` instead")
        if self.groups and self.ordered:
            raise self.mistake("`groups` are for categories without order; ordered ones are merged with neighbors")
        if any(isinstance(value, bool) or value != value for value in self.values):
            raise self.mistake('`values` must be texts or numbers; for true and false use kind = "boolean"')
        self._check_texts("values", self._texts)
        self._check_texts("missing_values", tuple(filter(None, self.missing_values)))
        repeated = [text for text, count in Counter(self._texts).items() if count > 1]
        if repeated:
            raise self.mistake(f"`values` lists {repeated[0]!r} twice")
        if self.groups and (problem := mistake_in(self.groups, self._texts)):
            raise self.mistake(problem)
        if self._is_scale and (np.diff(self._scale) <= 0).any():
            raise self.mistake("`values` that are numbers must increase where they are `ordered`")
        both = [text for text in self.missing_values if text in self._texts]
        if both:
            raise self.mistake(f"{both[0]!r} is both in `values` and in `missing_values`")

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(str(value) for value in self.values)

    @cached_property
    def _by_text(self) -> Mapping[str, int]:
        return dict.fromkeys(self.missing_values, -1) | {text: i for i, text in enumerate(self._texts)}

    @cached_property
    def _by_number(self) -> Mapping[float, int]:
        """Categories that are finite numbers, those that equal another one's number left out."""
        numbers = {text: parse_number(text, {}) for text in self._by_text}
        counts = Counter(numbers.values())
        return {
            number: self._by_text[text]
            for text, number in numbers.items()
            if np.isfinite(number) and counts[number] == 1
        }

    @cached_property
    def _by_time(self) -> Mapping[str, int]:
        """Categories that are times of day, as they are spelled now; those that equal another one's time left out."""
        times = {text: time_in(text) for text in self._by_text}
        counts = Counter(times.values())
        return {time: self._by_text[text] for text, time in times.items() if time is not None and counts[time] == 1}

    def _declared(self, text: str) -> int | None:
        """The code of the category, -1 for a text that means missing; None for a text that is not declared."""
        code = self._by_text.get(text)
        if code is None:
            code = self._by_number.get(parse_number(text, {}))
        if code is None and self._by_time:
            code = self._by_time.get(time_in(text) or "")
        return code

    def _lookup(self, text: str) -> int:
        code = self._declared(text)
        return self._elsewhere if code is None else code

    def signs_of(self, text: str) -> tuple[str, ...]:
        """With which decimal signs a text that is no category would be one that is listed as a number."""
        if self._declared(text) is not None:
            return ()
        return tuple(sign for sign in DECIMAL_CHARS if self._by_number.get(parse_number(text, {}, sign), -1) >= 0)

    def codes_of(self, values: Values) -> np.ndarray:
        """int64 [n]: the code of each cell, -1 where it is missing or has no place."""
        return self._codes(values)

    def means_missing(self, text: str) -> bool:
        """Whether a text is declared to mean that a value is missing."""
        return self._declared(text) == -1

    @property
    def _elsewhere(self) -> int:
        return len(self.values) if self.other else -1

    @property
    def n_bins(self) -> int:
        return len(self.values) + self.other

    @property
    def arrow_type(self) -> pa.DataType:
        if self.other or any(isinstance(value, str) for value in self.values):
            return pa.string()
        return pa.float64() if any(isinstance(value, float) for value in self.values) else pa.int64()

    @property
    def group_codes(self) -> np.ndarray:
        """int64 [size]: the group of each code, -1 for one that is in none."""
        return group_of_each(self.groups, self._texts, self.size)

    @property
    def other_label(self) -> str:
        """The text that stands for a category outside the list, itself never in the list."""
        label = "other"
        while self._lookup(label) != self._elsewhere:
            label = f"({label})"
        return label

    def _codes(self, values: Values) -> np.ndarray:
        return of_each_type(values, self._codes_of_type, stranger=self._elsewhere, dtype=np.int64)

    def _codes_of_type(self, array: pa.Array) -> np.ndarray:
        texts, positions = distinct_texts(array)
        if pa.types.is_boolean(array.type):
            # A list of "True" and "False" is how tools that print booleans in their own way spell them.
            folded = {text.casefold(): i for text, i in self._by_text.items()}
            codes = [folded.get(text, self._elsewhere) for text in texts]
        else:
            codes = [self._lookup(text) for text in texts]
        codes.append(-1 if self.missing else self._elsewhere)
        return np.array(codes, dtype=np.int64)[positions]

    @cached_property
    def texts(self) -> pa.Array | None:
        if type(self) is not Categorical or self.arrow_type != pa.string():  # another one may draw in its own way
            return None
        return self.stated(self.decode(np.arange(self.size), np.random.default_rng(0)))

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        listed: list[Any] = [*self.values, *([self.other_label] if self.other else [])]
        texts = self.arrow_type == pa.string()
        choices = array_of([str(value) for value in listed] if texts else listed, self.arrow_type)
        return choices.take(array_of(codes))

    def _spelled(self, values: pa.Array) -> pa.Array:
        if pa.types.is_string(values.type):
            return values
        codes = self._codes(values)
        return array_of([*self._labels(), None], pa.string()).take(array_of(np.where(codes < 0, self.n_bins, codes)))

    @property
    def _fewer_codes(self) -> str:
        return (
            "List the common categories and declare `other = true` for the rest, list groups of them, or declare the"
            " column an identifier"
        )

    def _labels(self) -> list[str]:
        return [*self._texts, *([self.other_label] if self.other else [])]

    @property
    def _is_scale(self) -> bool:
        return self.ordered and not any(isinstance(value, str) for value in self.values)

    @cached_property
    def _scale(self) -> np.ndarray:
        """float64 [n_bins]: the number that each category counts as."""
        return np.array(self.values, dtype=float) if self._is_scale else np.arange(self.n_bins, dtype=float)

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        return self._scale, self._scale

    def numbers(self, values: Values) -> np.ndarray:
        if not self.ordered:
            raise ValueError(f"Column {self.name!r} has no numbers: its categories are not `ordered`.")
        return self.positions(values)

    def positions(self, values: Values) -> np.ndarray:
        return np.append(self._scale, np.nan)[self.encode(values)]

    def constant(self, value: object) -> float:
        if self._is_scale and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        code = -1 if isinstance(value, bool) else self._lookup(str(value))
        if not 0 <= code < len(self.values):
            raise self.mistake(
                f"it is compared with {value!r}, which is not among its values." + did_you_mean(str(value), self._texts)
            )
        return float(self._scale[code])

    @property
    def is_ordered(self) -> bool:
        return self.ordered

    @property
    def comparable(self) -> str:
        return "number" if self._is_scale else f"one of {self._labels()}"

    @property
    def expected(self) -> str:
        return "one of the declared categories"

    @property
    def remedy(self) -> str:
        places = "`missing = true`" if self.ordered else "`other = true` or `missing = true`"
        if any(isinstance(value, float) and not value.is_integer() for value in self.values):
            return f'numbers as the table writes them, such as "1,5", {places}'
        return places

    def facts(self) -> dict[str, Any]:
        flags = {"other": self.other, "ordered": self.ordered}
        groups = {"groups": dict(self.groups)} if self.groups else {}
        return {"values": self.values} | {key: True for key, flag in flags.items() if flag} | groups


def _plain(value: Any) -> Any:
    """A text or a number of Python's own type; anything else as it stands."""
    if isinstance(value, str):
        return str.__str__(value)  # `str` of an enumeration's member may be its name
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(str(value))  # as it is written: a narrow one has fewer digits
    return float(value) if isinstance(value, float) else value
