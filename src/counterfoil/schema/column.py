"""A column as a public fact: which values it can hold, and the code of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.errors import SchemaError, UnplacedValue
from counterfoil.schema.plain_arrays import array_of, filled
from counterfoil.schema.spelling import BYTES, spell
from counterfoil.schema.values import Values

MAX_SIZE = 1_000_000


@dataclass(frozen=True)
class Column(ABC):
    """One column that is synthesized. Every field is public; no record is ever kept.

    Codes run from 0 to `size - 1`. When `missing` is declared, the last code stands for a missing value:
    a null, a NaN, an empty text, one of `missing_values`, or a value that can't be placed elsewhere. It is written
    as the first of `missing_values`, which may be the empty text; as an empty cell where there is none.

    Raises SchemaError when the facts contradict each other.
    """

    kind: ClassVar[str]

    name: str
    _: KW_ONLY
    missing: bool = False
    missing_values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.missing_values and not self.missing:
            raise self.mistake("`missing_values` is given, so `missing = true` must be too")
        self._check()
        if not 1 <= self.size <= MAX_SIZE:
            raise self.mistake(
                f"a column must have between 1 and {MAX_SIZE:,} codes; found {self.size:,}. {self._fewer_codes}"
            )

    @property
    @abstractmethod
    def n_bins(self) -> int:
        """Number of codes that stand for values, the one for missing values not counted."""

    @property
    @abstractmethod
    def arrow_type(self) -> pa.DataType:
        """The natural type of decoded values."""

    @property
    @abstractmethod
    def comparable(self) -> str:
        """What the column's values may be compared with in a rule: only the same word."""

    @abstractmethod
    def _check(self) -> None:
        """Raise SchemaError where the facts of this kind contradict each other."""

    @abstractmethod
    def _codes(self, values: Values) -> np.ndarray:
        """int64 [n]: the code of each cell, -1 where there is none."""

    @abstractmethod
    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        """Values for codes below `n_bins`."""

    @abstractmethod
    def _labels(self) -> list[str]:
        """Text for each code below `n_bins`."""

    @abstractmethod
    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest number that each code below `n_bins` can stand for."""

    @abstractmethod
    def numbers(self, values: Values) -> np.ndarray:
        """float64 [n]: each cell as a number, clamped into the declared bounds; NaN where missing.

        Numbers as they are; dates as days and datetimes as seconds since 1970-01-01; booleans as 0 and 1;
        ordered categories as their rank in the declared list, or as the numbers they are.

        Raises UnplacedValue where a cell has no number and `missing` is not declared.
        """

    @abstractmethod
    def constant(self, value: object) -> float:
        """The number that stands for a constant in a rule; raises SchemaError when it can't occur."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """The facts of this kind, as TOML keys and values (`kind` and the missing ones left out)."""

    def is_missing_word(self, value: object) -> bool:
        """Whether a constant is what a table shows for a missing value: the empty text, or one of `missing_values`."""
        return self.missing and not isinstance(value, bool) and str(value).strip() in ("", *self.missing_values)

    def positions(self, values: Values) -> np.ndarray:
        """float64 [n]: the number by which rules compare each cell; NaN where missing."""
        return self.numbers(values)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the values means something."""
        return True

    @property
    def size(self) -> int:
        """Number of codes."""
        return self.n_bins + self.missing

    @property
    def missing_code(self) -> int | None:
        """The code of a missing value, None where missing values are not declared."""
        return self.n_bins if self.missing else None

    @property
    def dtype(self) -> np.dtype:
        """The smallest unsigned integers that hold every code."""
        return np.min_scalar_type(self.size - 1)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Text for each code, for reports; no two are alike, also where a category is called missing."""
        listed, missing = self._labels(), "missing"
        while missing in listed:
            missing = f"({missing})"
        return (*listed, *([missing] if self.missing else []))

    @property
    def former_labels(self) -> tuple[str, ...]:
        """The texts that versions before 0.13 had for the same codes."""
        return (*self.labels[: self.n_bins], *(["missing"] if self.missing else []))

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """float64 [size] twice: the least and greatest number that each code stands for; NaN for missing."""
        lows, highs = self._ranges()
        tail = [np.nan] if self.missing else []
        return np.append(lows, tail), np.append(highs, tail)

    @cached_property
    def centers(self) -> np.ndarray:
        """float64 [size]: the middle of what each code stands for; NaN for missing, and for plain categories."""
        lows, highs = self.ranges
        return (lows + highs) / 2 if self.is_ordered else np.full(self.size, np.nan)

    def encode(self, values: Values) -> np.ndarray:
        """Codes [n] of the cells, in the smallest unsigned dtype.

        Formal guarantee: equal to encoding cell by cell, so that no cell changes the code of another.

        Raises UnplacedValue for the first cell that the facts give no place.
        """
        return self._as_codes(self._codes(values))

    def encode_with_numbers(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """`encode` and `numbers` of the same cells, where they can be read once for both."""
        return self.encode(values), self.numbers(values)

    def _as_codes(self, codes: np.ndarray) -> np.ndarray:
        """Codes [n] in the smallest unsigned dtype, of which -1 are for missing values; else refused."""
        if self.missing:
            codes = np.where(codes < 0, self.n_bins, codes)
        elif len(codes) and codes.min() < 0:
            raise self.unplaced(int(np.argmax(codes < 0)))
        return codes.astype(self.dtype)

    def decode(self, codes: np.ndarray, rng: np.random.Generator, counts: np.ndarray | None = None) -> pa.Array:
        """Values [n] in the natural type, drawn within each code's bin; null where missing.

        Encoding the result gives the codes back.

        Args:
            codes: int [n].
            rng: public randomness.
            counts: float64 [size], how many records a model has in each code. Where they are given, a number is drawn
                from a density within its bin that the counts of the neighbors suggest (`log_linear.tilts`), and evenly
                where they are not.
        """
        codes = np.asarray(codes)
        self._require_codes(codes)
        absent = codes == self.n_bins
        present = np.where(absent, 0, codes).astype(np.int64)
        tilt = None if counts is None else self._tilts(np.asarray(counts, dtype=float)[: self.n_bins])
        drawn = self._draw(present, rng) if tilt is None else self._draw_tilted(present, rng, tilt)
        if not absent.any():
            return drawn
        return drawn.take(array_of(np.arange(len(codes)), mask=absent))

    def _require_codes(self, codes: np.ndarray) -> None:
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < self.size:
            raise ValueError(f"Codes of column {self.name!r} must lie in 0 to {self.size - 1}.")

    @cached_property
    def texts(self) -> pa.Array | None:
        """string [size]: the text that a table holds for each code, null for an empty cell.

        None where a code stands for several values, or for one that is no text.
        """
        return None

    def coded(self, codes: np.ndarray) -> pa.Array | None:
        """The values that `stated` makes of decoded codes [n], as a dictionary; None where `texts` is None.

        Raises:
            ValueError: for a code that the column has not.
        """
        if self.texts is None:
            return None
        self._require_codes(codes)
        empty = codes == self.n_bins if self.missing and not self.missing_word else None
        indices = array_of(codes.astype(np.int32), mask=empty)
        return pa.DictionaryArray.from_arrays(indices, self.texts.drop_null())

    @property
    def is_tilted(self) -> bool:
        """Whether the counts of codes make a difference to `decode`."""
        return False

    @property
    def spans(self) -> np.ndarray | None:
        """float64 [n_bins]: the width of each bin on the scale on which counts vary smoothly; 0 for a single point.

        None where there is no such scale.
        """
        return None

    @property
    def has_zero(self) -> bool:
        """Whether 0 is none of what its numbers count or measure, so that they have a size; dates have none."""
        return True

    def drawn_means(self, counts: np.ndarray) -> np.ndarray:
        """float64 [n_bins]: the mean of the numbers that `decode` draws in each bin, but for their rounding.

        Args:
            counts: float64 [size], how many records a model has in each code.
        """
        return self.centers[: self.n_bins]

    def _tilts(self, counts: np.ndarray) -> np.ndarray | None:
        """float64 [n_bins]: see `log_linear.tilts`; None where values are drawn evenly."""
        return None

    def _draw_tilted(self, codes: np.ndarray, rng: np.random.Generator, tilt: np.ndarray) -> pa.Array:
        """Values for codes below `n_bins`, from log-linear densities within their bins."""
        raise NotImplementedError

    def stated(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Decoded values [n] as tables hold them: in a column of texts, missing ones are the missing word."""
        plain = _joined(values)
        return filled(plain, self.missing_word) if self.missing_word and pa.types.is_string(plain.type) else plain

    def written(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """string [n]: decoded or stated values as a CSV file holds them; null where a cell is empty."""
        texts = self._spelled(_joined(values))
        return filled(texts, self.missing_word) if self.missing_word else texts

    @property
    def is_spelled_plainly(self) -> bool:
        """Whether the text of each value is Arrow's."""
        return type(self)._spelled is Column._spelled

    def _spelled(self, values: pa.Array) -> pa.Array:
        """string [n]: the text of each value, null for null."""
        return values.cast(pa.string())

    @property
    def missing_word(self) -> str:
        """How a missing value is written; the empty text where nothing is."""
        return self.missing_values[0] if self.missing_values else ""

    @property
    def _fewer_codes(self) -> str:
        """What helps where there are too many codes."""
        return "Give wider bins"

    def unplaced(self, row: int) -> UnplacedValue:
        """The error for a cell that has no place."""
        return UnplacedValue(
            self.name,
            row,
            f"is missing or not {self.expected}{self.notation}, and the schema gives it no other place",
            f"Declare {self.remedy} for the column, or correct the data.",
        )

    @property
    def notation(self) -> str:
        """How a value must be written, in brackets, where people write it in several ways."""
        return ""

    @property
    def remedy(self) -> str:
        """The facts that would give every value a place."""
        return "`missing = true`"

    @property
    @abstractmethod
    def expected(self) -> str:
        """What a value must be, for error messages."""

    def mistake(self, problem: str) -> SchemaError:
        """An error about the facts themselves."""
        end = "" if problem.endswith((".", "?")) else "."
        return SchemaError(f"Column {self.name!r} ({self.kind}): {problem}{end}")

    def _check_texts(self, key: str, texts: tuple[str, ...]) -> None:
        if not texts:
            return
        spelled = spell(array_of(texts, pa.string())).to_pylist()
        if any(text.startswith(BYTES) for text in texts):
            raise self.mistake(
                f"`{key}` must be texts, and bytes that are no text can't be listed. Store them as hexadecimal digits,"
                " or leave them to `other = true` or `missing = true`"
            )
        if any(not text or text != bare for text, bare in zip(texts, spelled, strict=True)):
            raise self.mistake(
                f"`{key}` must be texts without surrounding white space, and not empty"
                " (an empty cell always counts as missing)"
            )


def _joined(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The values in one array: what is one chunk is not copied."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
