"""What the columns with a numeric axis share: parse, clamp, and cut into bins."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from counterfoil.domain.log_linear import mean_places, tilts
from counterfoil.schema.column import Column
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.errors import SchemaError, closest
from counterfoil.schema.number_words import (
    NumberWords,
    are_number_words,
    labelled,
    readings,
    spelled,
    with_two_numbers,
    written_words,
)
from counterfoil.schema.plain_arrays import array_of, filled, numpy_of
from counterfoil.schema.scale import SCALES
from counterfoil.schema.unit import is_unit
from counterfoil.schema.values import TRUTHS, Values, numbers_of, parse_number


@dataclass(frozen=True)
class NumberColumn(Column):
    """A column whose values lie on a line; a value outside the bounds is clamped to the nearest one."""

    def _check_missing_values(self) -> None:
        """What stands for missing can't be a value too: it would be read as missing once it is written."""
        self._check_texts("missing_values", tuple(filter(None, self.missing_values)))
        low, high = self.bounds
        for text in self.missing_values:
            if low <= self._parse_text(text) <= high:
                raise self.mistake(
                    f"{text!r} is in `missing_values` and also within the bounds: it can't be both. Take it out of "
                    "`missing_values` if it is a value, or give bounds that leave it out if it stands for none"
                )

    @property
    def is_tilted(self) -> bool:
        return self._widths is not None and bool((self._widths > self._single).any())

    def _tilts(self, counts: np.ndarray) -> np.ndarray | None:
        return tilts(self._widths, counts) if self._widths is not None and self.is_tilted else None

    def drawn_means(self, counts: np.ndarray) -> np.ndarray:
        tilt = self._tilts(np.asarray(counts, dtype=float)[: self.n_bins])
        if tilt is None:
            return super().drawn_means(counts)
        lows, highs = self._ranges()
        # The numbers of a grid are drawn as the left ends of pieces that are as wide as its step.
        drawn = lows + mean_places(tilt) * (highs - lows + self._step) - self._step / 2
        return np.clip(drawn, lows, highs)

    @property
    def _step(self) -> float:
        """Between two numbers of a grid; 0 where there is none."""
        return 0.0

    @property
    def _widths(self) -> np.ndarray | None:
        """float64 [n_bins]: the width of each bin in the column's unit; None where bins are drawn from evenly."""
        return None

    @property
    def _single(self) -> float:
        """The width of a bin that holds one number."""
        return 0.0

    def _check_scale(self) -> None:
        """The scale is a known word, and goes with nothing that says already where bins are."""
        scale: str = getattr(self, "scale", "")
        if not scale:
            return
        if scale not in SCALES:
            raise self.mistake(f"`scale` must be one of {', '.join(SCALES)}; found {scale!r}.{closest(scale, SCALES)}")
        taken = [key for key in ("edges", "resolution") if getattr(self, key, None)]
        if taken:
            raise self.mistake(f"`{taken[0]}` says where bins are: leave `scale` out, or give it with `bins` or alone")

    @abstractmethod
    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        """int64 [n]: the bin of each finite number within the bounds."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest number, in the column's own unit."""

    @property
    def _decimal_sign(self) -> str:
        """`decimal_char`; empty where numbers are plain digits with an optional point."""
        return getattr(self, "decimal_char", "")

    @property
    def _unit_sign(self) -> str:
        """`unit`, which may stand beside the numbers of texts; empty where none does."""
        unit = getattr(self, "unit", "")
        return unit if isinstance(unit, str) else ""  # that of dates is a length in seconds

    def _check_texts_of_numbers(self) -> None:
        if self._unit_sign and not is_unit(self._unit_sign):
            raise self.mistake(
                f'`unit` must be a sign or a word that stands beside numbers, such as "%"; found {self._unit_sign!r}'
            )
        if self._decimal_sign and self._decimal_sign not in DECIMAL_CHARS:
            raise self.mistake(f"`decimal_char` must be a comma or a point; found {self._decimal_sign!r}")

    @property
    def computed_from(self) -> tuple[str, ...]:
        """The two columns of the table whose difference it is; none of a column that is read as it stands."""
        return getattr(self, "between", ())

    def _check_between(self) -> None:
        names = self.computed_from
        if names and len({*names}) != 2:
            raise self.mistake(f"`between` must name two columns, the lesser one first; found {', '.join(names)}")

    @property
    def number_words(self) -> NumberWords:
        """`words`, each with the number that it stands for; none of dates."""
        return getattr(self, "words", ())

    @cached_property
    def _readings(self) -> dict[str, float]:
        """The number of each word, by its text in lower case: `words`, and true and false."""
        return {**TRUTHS, **readings(self.number_words)}

    @cached_property
    def _written(self) -> dict[int, str]:
        """By code, the word that is written for its number."""
        return written_words(
            self._bin(np.array([float(number) for _, number in self.number_words])).tolist(), self.number_words
        )

    def words_for(self, texts: Sequence[str]) -> list[str | None]:
        """The word as which each text of a cell comes back; None where it comes back as a number, or as missing."""
        codes = self.codes_of(self.parsed(array_of([*texts], pa.string())))
        return [self._written.get(code) for code in codes.tolist()]

    def _check_words(self) -> None:
        """Words are none that mean something else, and their numbers are some that the column can hold."""
        if not self.number_words:
            return
        if not are_number_words(self.number_words):
            raise self.mistake(
                '`words` must be pairs of a text and its number, such as (("90+", 90),); a dict gives them as '
                "tuple(words.items())"
            )
        if self.computed_from:
            raise self.mistake("`words` goes with numbers of the table, not with `between`")
        self._check_texts("words", tuple(word for word, _ in self.number_words))
        low, high = self.bounds
        for word, number in self.number_words:
            if not np.isnan(parse_number(word, TRUTHS, self._decimal_sign, self._unit_sign)):
                raise self.mistake(f"`words` must be texts that are no numbers; found {word!r}")
            if word in self.missing_values:
                raise self.mistake(f"{word!r} is in `words` and in `missing_values`: it can't be both")
            if not low <= number <= high:
                raise self.mistake(f"`words` must stand for numbers within the bounds; found {number} for {word!r}")
        if twice := with_two_numbers(self.number_words):
            raise self.mistake(
                f"{' and '.join(map(repr, twice))} are one text to whatever reads `words`, and stand for two numbers: "
                "capitals and small letters are alike"
            )

    def _spelled_as_words(self, values: pa.Array, texts: pa.Array) -> pa.Array:
        """string [n]: `texts` of numbers, with words where the numbers have one."""
        if not self.number_words:
            return texts
        return spelled(texts, self.codes_of(numpy_of(filled(values.cast(pa.float64()), np.nan))), self._written)

    def _labelled_as_words(self, labels: list[str]) -> list[str]:
        return labelled(labels, self._written) if self.number_words else labels

    def _parse(self, values: Values) -> np.ndarray:
        return numbers_of(values, self._readings, decimal_char=self._decimal_sign, unit=self._unit_sign)

    def _parse_text(self, text: str) -> float:
        return parse_number(text, self._readings, decimal_char=self._decimal_sign, unit=self._unit_sign)

    @cached_property
    def _missing_numbers(self) -> np.ndarray:
        """Only the missing values that parse need a look: what doesn't parse is missing anyway."""
        parsed = np.array([self._parse_text(text) for text in self.missing_values], dtype=float)
        return parsed[~np.isnan(parsed)]

    def parsed(self, values: Values) -> np.ndarray:
        """float64 [n]: the number that each cell holds, as it stands; NaN where it holds none."""
        return self._parse(values)

    def means_missing(self, parsed: np.ndarray) -> np.ndarray:
        """bool [n]: which parsed numbers are declared to mean that a value is missing."""
        return np.isin(parsed, self._missing_numbers)

    def is_missing_word(self, value: object) -> bool:
        if not self.missing or super().is_missing_word(value):
            return self.missing
        try:
            return bool(self.means_missing(np.array([self.constant(value)]))[0])
        except SchemaError:
            return False

    def clamped(self, parsed: np.ndarray) -> np.ndarray:
        """float64 [n]: parsed numbers, moved into the bounds; NaN where they mean missing."""
        if len(self._missing_numbers):
            parsed = np.where(self.means_missing(parsed), np.nan, parsed)
        return np.clip(parsed, *self.bounds)

    def _clamped(self, values: Values) -> np.ndarray:
        return self.clamped(self.parsed(values))

    def numbers(self, values: Values) -> np.ndarray:
        numbers = self._clamped(values)
        if not self.missing and np.isnan(numbers).any():
            raise self.unplaced(int(np.argmax(np.isnan(numbers))))
        return numbers

    def _codes(self, values: Values) -> np.ndarray:
        return self.codes_of(self.parsed(values))

    def encode_with_numbers(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        parsed = self.parsed(values)
        return self._as_codes(self.codes_of(parsed)), self.clamped(parsed)  # a cell without a number has no code either

    def codes_of(self, parsed: np.ndarray) -> np.ndarray:
        """int64 [n]: the codes of parsed numbers, -1 where there is none."""
        numbers = self.clamped(parsed)
        absent = np.isnan(numbers)
        if not absent.any():
            return self._bin(numbers)
        return np.where(absent, -1, self._bin(np.where(absent, self.bounds[0], numbers)))

    def constant(self, value: object) -> float:
        if isinstance(value, str) and (named := readings(self.number_words).get(value.strip().casefold())) is not None:
            return named
        if isinstance(value, bool) or not isinstance(value, int | float):
            remedy = self._unquoted(value.strip()) if isinstance(value, str) else ""
            raise self.mistake(f"it is compared with {value!r}; expected a number{remedy}")
        try:
            return float(value)
        except OverflowError:
            raise self.mistake("it is compared with an integer of too many digits") from None

    def _unquoted(self, text: str) -> str:
        """How a text of the table is written in a comparison: in plain digits."""
        number = self._parse_text(text)
        if np.isnan(number):
            return ""
        plain = not (self._decimal_sign or self._unit_sign)
        return f", without quotes: {text if plain else f'{number:.15g}'}"

    @property
    def comparable(self) -> str:
        return "number"

    @property
    def expected(self) -> str:
        return f"what lies between {' and '.join(self.computed_from)}" if self.computed_from else "a number"

    @property
    def notation(self) -> str:
        if self.comparable != "number" or self.computed_from:
            return ""
        if self._decimal_sign == ",":
            return " (digits with an optional decimal comma; points, spaces or apostrophes separate thousands)"
        if self._decimal_sign:
            return " (digits with an optional point; commas, spaces or apostrophes separate thousands)"
        return (
            " (digits with an optional point; `decimal_char` lets decimal commas and separators of thousands be read, "
            "`unit` signs such as %)"
        )
