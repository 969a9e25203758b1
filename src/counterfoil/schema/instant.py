"""Columns of dates and of datetimes: whole days or whole seconds, in bins of equal or of calendar length."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.column import MAX_SIZE
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.values import EPOCH, SECONDS_PER_DAY, Values, instants_of, parse_instant, seconds_since_epoch

RESOLUTION = re.compile(r"([1-9]\d{0,8})(s|min|h|d|mo|y)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": SECONDS_PER_DAY}
_MONTHS = {"mo": 1, "y": 12}


@dataclass(frozen=True)
class Instant(NumberColumn):
    """What dates and datetimes share: whole units since 1970-01-01, cut into bins."""

    unit: ClassVar[int]
    default_resolution: ClassVar[str]

    lower: date
    upper: date
    resolution: str = ""
    bins: int = 0
    edges: tuple[date, ...] = ()
    format: str = ""

    @abstractmethod
    def _moment(self, number: int) -> date:
        """The declared type of value that stands `number` units after 1970-01-01."""

    def _check(self) -> None:
        if not self.lower <= self.upper:
            raise self.mistake(f"`lower` must not come after `upper`; found {self.lower} and {self.upper}")
        if sum(map(bool, (self.bins, self.resolution, self.edges))) > 1:
            raise self.mistake("give only one of `bins`, `resolution` or `edges`")
        if not (self.bins or self.resolution or self.edges or self.default_resolution):
            raise self.mistake('give `bins`, `edges`, or a `resolution` such as "1h" or "1d"')
        if not 0 <= self.bins <= self._n_points:
            raise self.mistake(f"`bins` must be between 1 and {self._n_points}; found {self.bins}")
        if self.edges and (self.edges[0] != self.lower or self.edges[-1] > self.upper):
            raise self.mistake("the first of `edges` must be `lower`, and none may come after `upper`")
        if self.edges and (np.diff(self._starts) <= 0).any():
            raise self.mistake("`edges` must increase")
        self._check_resolution()
        self._check_missing_values()

    def _check_resolution(self) -> None:
        """Count the bins before any array of them is made."""
        if self.bins or self.edges:
            return
        length, name = self._resolution
        if name in _SECONDS and (_SECONDS[name] * length) % self.unit:
            raise self.mistake(f"`resolution` must be whole days for dates; found {self.resolution!r}")
        seconds = length * _SECONDS.get(name, 28 * SECONDS_PER_DAY * _MONTHS.get(name, 0))
        if self._n_points * self.unit // seconds > MAX_SIZE:
            raise self.mistake(f"`resolution` {self.resolution!r} makes more than {MAX_SIZE:,} bins")

    @property
    def _resolution(self) -> tuple[int, str]:
        matched = RESOLUTION.fullmatch(self.resolution or self.default_resolution)
        if matched is None:
            raise self.mistake(
                f'`resolution` must be a count and one of s, min, h, d, mo, y, such as "7d" or "1mo";'
                f" found {self.resolution!r}"
            )
        return int(matched[1]), matched[2]

    def _number(self, moment: date) -> int:
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        return seconds_since_epoch(moment) // self.unit

    @property
    def _n_points(self) -> int:
        return self._number(self.upper) - self._number(self.lower) + 1

    @cached_property
    def _starts(self) -> np.ndarray:
        """int64 [n_bins]: the first unit of each bin, counted from 1970-01-01."""
        low, high = self._number(self.lower), self._number(self.upper)
        if self.edges:
            return np.array([self._number(edge) for edge in self.edges])
        if self.bins:
            return low + np.array([(i * self._n_points) // self.bins for i in range(self.bins)])
        length, name = self._resolution
        if name in _SECONDS:
            return np.arange(low, high + 1, length * _SECONDS[name] // self.unit)
        return np.array(self._month_starts(length * _MONTHS[name], low, high))

    def _month_starts(self, months: int, low: int, high: int) -> list[int]:
        """Bins begin on the first of a month, every `months` from `lower`'s; the first may be cut short."""
        starts = [low]
        month = self.lower.year * 12 + self.lower.month - 1 + months
        while month // 12 <= self.upper.year:
            start = self._number(date(month // 12, month % 12 + 1, 1))
            if start > high:
                break
            starts.append(start)
            month += months
        return starts

    @cached_property
    def _stops(self) -> np.ndarray:
        return np.append(self._starts[1:], self._number(self.upper) + 1)

    @property
    def n_bins(self) -> int:
        return len(self._starts)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self._number(self.lower)), float(self._number(self.upper))

    def _parse(self, values: Values) -> np.ndarray:
        return instants_of(values, self.unit, self.format)

    def _parse_text(self, text: str) -> float:
        return parse_instant(text, self.unit, self.format)

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._starts, numbers, side="right") - 1

    def _drawn(self, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(self._starts[codes], self._stops[codes])

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        return self._starts.astype(float), (self._stops - 1).astype(float)

    def _labels(self) -> list[str]:
        pairs: Sequence[tuple[int, int]] = list(zip(self._starts.tolist(), self._stops.tolist(), strict=True))
        ends = [(self._moment(start).isoformat(), self._moment(stop - 1).isoformat()) for start, stop in pairs]
        return [first if first == last else f"{first}..{last}" for first, last in ends]

    def constant(self, value: object) -> float:
        number = parse_instant(value, self.unit) if isinstance(value, str) else np.nan
        if np.isnan(number):
            raise self.mistake(f'a rule compares it with {value!r}; expected a text such as "{self.lower}"')
        return number

    @property
    def comparable(self) -> str:
        return self.kind

    def facts(self) -> dict[str, Any]:
        extras = {"resolution": self.resolution, "bins": self.bins, "edges": self.edges, "format": self.format}
        return {"lower": self.lower, "upper": self.upper} | {key: fact for key, fact in extras.items() if fact}


@dataclass(frozen=True)
class Date(Instant):
    """Days from `lower` to `upper`, both included.

    One code per day, unless `resolution` ("7d", "1mo", "1y"), `bins` or `edges` (the first day of each
    bin) groups them; months and years are the calendar's. Text is ISO 8601, or in the `strptime` format `format`.
    """

    kind: ClassVar[str] = "date"
    unit: ClassVar[int] = SECONDS_PER_DAY
    default_resolution: ClassVar[str] = "1d"

    def _check(self) -> None:
        if any(isinstance(moment, datetime) for moment in (self.lower, self.upper, *self.edges)):
            raise self.mistake("bounds and edges must be dates without a time")
        super()._check()

    def _moment(self, number: int) -> date:
        return EPOCH.date() + timedelta(days=number)

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.date32()

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return pa.array(self._drawn(codes, rng).astype(np.int32)).cast(pa.date32())

    @property
    def expected(self) -> str:
        return "a date"


@dataclass(frozen=True)
class Datetime(Instant):
    """Whole seconds from `lower` to `upper`, both included, in UTC or in the table's own local time.

    One of `resolution` ("1s", "15min", "1h", "1d", "1mo", "1y"), `bins` or `edges` says where the bins are.
    Text is ISO 8601, or in the `strptime` format `format`; an instant with a zone is converted to UTC.
    """

    kind: ClassVar[str] = "datetime"
    unit: ClassVar[int] = 1
    default_resolution: ClassVar[str] = ""

    def _check(self) -> None:
        moments = (self.lower, self.upper, *self.edges)
        if any(not isinstance(moment, datetime) or moment.tzinfo or moment.microsecond for moment in moments):
            raise self.mistake("bounds and edges must be datetimes in whole seconds, without a zone")
        super()._check()

    def _moment(self, number: int) -> datetime:
        return datetime.fromtimestamp(number, UTC).replace(tzinfo=None)

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.timestamp("us")

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return pa.array(self._drawn(codes, rng) * 1_000_000).cast(pa.timestamp("us"))

    @property
    def expected(self) -> str:
        return "a date with a time"
