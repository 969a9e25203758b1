"""Columns of dates and of datetimes: whole days or whole seconds, in bins of equal or of calendar length."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from counterfoil.schema.bin_lengths import BinLength, bin_length, day_starts, midnight_of, month_starts
from counterfoil.schema.calendar_bins import CALENDAR, bins_at_most, calendar_resolution, calendar_starts
from counterfoil.schema.column import MAX_SIZE
from counterfoil.schema.errors import UnreadableType, did_you_mean
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.notation import dated, directives, moment_of, text_of
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.scale import MANY_NUMBERS
from counterfoil.schema.values import Values, instants_of, parse_instant, seconds_since_epoch
from counterfoil.schema.zone import (
    EPOCH,
    SECONDS_PER_DAY,
    find_zone,
    moment_in,
    wall_seconds,
    zone_names,
)

_DAYS, _MINUTES, SECONDS_OF_A_MINUTE = frozenset("djcxUWGV"), frozenset("McX"), frozenset("ScX")
"""Directives that a notation must have one of to tell days, minutes and seconds apart."""
_PROBES = 200
"""Bins in which a `format` is tried."""


@dataclass(frozen=True)
class Instant(NumberColumn):
    """What dates and datetimes share: whole units since 1970-01-01, cut into bins.

    `format` (`schema.notation`) is how texts are read and CSV files written. With a `zone`, a name of the IANA base,
    cells that state an offset or are stored with a zone are converted to it, and others are what a clock there shows
    (`schema.zone` has what repeated and skipped hours mean). Without one, texts that state an offset are not
    understood, and a storage whose type has a zone is refused: nothing says which day it was.
    """

    unit: ClassVar[int]
    default_resolution: ClassVar[str]

    lower: date
    upper: date
    resolution: str = ""
    bins: int = 0
    edges: tuple[date, ...] = ()
    format: str = ""
    zone: str = ""

    @abstractmethod
    def _moment(self, number: int) -> date:
        """The declared type of value that stands `number` units after 1970-01-01."""

    @abstractmethod
    def _text(self, number: int) -> str:
        """How the value is written to a CSV file."""

    @property
    def _in_units(self) -> bool:
        """Whether units are elapsed time, which no clock of a zone cuts."""
        return self.unit != SECONDS_PER_DAY

    def _check(self) -> None:
        if self.zone and self._zone is None:
            hint = did_you_mean(self.zone, zone_names())
            raise self.mistake(f'`zone` must be a name such as "Europe/Zurich" or "UTC"; found {self.zone!r}.{hint}')
        if not self.lower <= self.upper or self._n_points < 1:
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
        if self.format:
            self._check_format()

    def _check_resolution(self) -> None:
        """Count the bins before any array of them is made."""
        if self.bins or self.edges:
            return
        length = self._length
        if not length.months and length.seconds % self.unit:
            raise self.mistake(f"`resolution` must be whole days for dates; found {self.resolution!r}")
        if self._n_points * self.unit // length.least_seconds > MAX_SIZE:
            raise self.mistake(f"`resolution` {self.resolution!r} makes more than {MAX_SIZE:,} bins")

    def _check_format(self) -> None:
        """What is written is read back: tried at the ends, and in bins that are chosen evenly at random."""
        if not self.zone and (offset := directives(self.format) & {"z", ":z"}):
            raise self.mistake(
                f"`format` {self.format!r} has an offset (%{min(offset)}), so `zone` must say where the days are"
            )
        rng = np.random.default_rng(0)
        codes = np.unique([0, self.n_bins - 1, *rng.integers(0, self.n_bins, _PROBES)])
        firsts, stops = self._starts[codes], self._stops[codes]
        for numbers in (firsts, stops - 1, rng.integers(firsts, stops)):
            for number, code in zip(numbers.tolist(), codes.tolist(), strict=True):
                self._check_written(number, code)

    def _check_written(self, number: int, code: int) -> None:
        moment = self._moment(number)
        if isinstance(moment, datetime) and moment.fold:
            return  # in an hour that a clock shows twice, which a notation without an offset can't tell apart
        text = self._written_as(number)
        again = np.clip(self._parse_text(text), *self.bounds)
        if np.isnan(again):
            raise self.mistake(
                f"`format` {self.format!r} must be one that can be read and written, such as "
                '"%d.%m.%Y"; see the directives of Python\'s `strptime`'
            )
        if self._bin(np.array([again]))[0] != code:
            raise self.mistake(
                f"`format` {self.format!r} must tell all values apart: {moment.isoformat()} is written as {text!r}, "
                f"which is read as {self._moment(int(again)).isoformat()}"
            )

    def _written_as(self, number: int) -> str:
        try:
            return self._text(number)
        except ValueError:
            raise self.mistake(f"`format` {self.format!r} can't be written") from None

    @cached_property
    def _zone(self) -> ZoneInfo | None:
        return find_zone(self.zone) if self.zone else None

    @property
    def _length(self) -> BinLength:
        length = bin_length(self.resolution or self.default_resolution)
        if length is None:
            raise self.mistake(
                f'`resolution` must be a count and one of s, min, h, d, mo, y, such as "7d" or "1mo";'
                f" found {self.resolution!r}"
            )
        return length

    def _number(self, moment: date) -> int:
        return seconds_since_epoch(midnight_of(moment), self.unit, self._zone) // self.unit

    @property
    def _n_points(self) -> int:
        return self._number(self.upper) - self._number(self.lower) + 1

    @cached_property
    def _starts(self) -> np.ndarray:
        """int64 [n_bins]: the first unit of each bin, counted from 1970-01-01."""
        return self._declared_starts()

    def _declared_starts(self) -> np.ndarray:
        low, high = self._number(self.lower), self._number(self.upper)
        if self.edges:
            return np.array([self._number(edge) for edge in self.edges])
        if self.bins:
            return low + np.array([(i * self._n_points) // self.bins for i in range(self.bins)])
        length = self._length
        if length.months:
            firsts = month_starts(length.months, self.lower, self.upper)
            starts = np.array([low, *map(self._number, firsts)])
            return np.unique(starts[starts <= high])
        if length.days and self._in_units and self._zone is not None:
            starts = day_starts(length.days, midnight_of(self.lower), midnight_of(self.upper), self._zone)
            return starts[starts <= high]
        return np.arange(low, high + 1, length.seconds // self.unit)

    @cached_property
    def _stops(self) -> np.ndarray:
        return np.append(self._starts[1:], self._number(self.upper) + 1)

    @property
    def n_bins(self) -> int:
        return len(self._starts)

    @cached_property
    def spans(self) -> np.ndarray:
        return (self._stops - self._starts).astype(np.float64)

    @property
    def has_zero(self) -> bool:
        return False

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self._number(self.lower)), float(self._number(self.upper))

    def _parse(self, values: Values) -> np.ndarray:
        self._require_readable(values)
        return instants_of(values, self.unit, self.format, self._zone)

    def _require_readable(self, values: Values) -> None:
        """Refuses a storage of instants with a zone where none is declared: by its type, so for any values."""
        if isinstance(values, MixedCells):
            return
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        if pa.types.is_timestamp(kind) and kind.tz is not None and not self.zone:
            raise UnreadableType(
                f"Column {self.name!r} ({self.kind}): the table holds instants with a zone ({kind}), so the schema "
                f'must say where the days begin. Declare `zone`, such as zone = "Europe/Zurich" or zone = "UTC".'
            )

    def _parse_text(self, text: str) -> float:
        return parse_instant(text, self.unit, self.format, self._zone)

    def day_of(self, number: float) -> int:
        """The day since 1970-01-01, on the clock of the zone where there is one, of a number of units."""
        if not self._in_units:
            return int(number)
        seconds = np.array([int(number)], dtype=np.int64)
        return int((seconds if self._zone is None else wall_seconds(seconds, self._zone))[0] // SECONDS_PER_DAY)

    def rewritten(self, text: str) -> str:
        """How a CSV file of drawn rows holds the moment that a text states; empty where it states none."""
        number = self._parse_text(text)
        return "" if np.isnan(number) else self._text(int(number))

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._starts, numbers, side="right") - 1

    def _drawn(self, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._as_written(rng.integers(self._starts[codes], self._stops[codes]), codes)

    def _as_written(self, numbers: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """What `format` leaves of numbers in these bins, so that no storage states more than the notation can."""
        stated = directives(self.format)
        if not self.format or stated & (SECONDS_OF_A_MINUTE if self._in_units else _DAYS):
            return numbers
        if self._in_units:
            shown = numbers if self._zone is None else wall_seconds(numbers, self._zone)
            numbers = numbers - shown % (60 if stated & _MINUTES else 3600)
        if not (self._in_units and stated & _MINUTES):
            distinct, places = np.unique(numbers, return_inverse=True)
            numbers = np.array([self._parse_text(self._text(one)) for one in distinct.tolist()], np.int64)[places]
        # An hour that a clock shows twice is read as the first of them, and a bound may lie between two texts.
        return np.clip(numbers, self._starts[codes], self._stops[codes] - 1)

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        return self._starts.astype(float), (self._stops - 1).astype(float)

    @property
    def is_clock(self) -> bool:
        """Whether its texts are times of day, of which no text says a day."""
        return bool(self.format) and not dated(self.format)

    def _labels(self) -> list[str]:
        return self._spans_in_words(times=self.is_clock)

    def _spans_in_words(self, *, times: bool) -> list[str]:
        pairs: Sequence[tuple[int, int]] = list(zip(self._starts.tolist(), self._stops.tolist(), strict=True))
        ends = [[self._moment(one).isoformat() for one in (start, stop - 1)] for start, stop in pairs]
        if times:
            ends = [[one.partition("T")[2] or one for one in pair] for pair in ends]
        return [first if first == last else f"{first}..{last}" for first, last in ends]

    @property
    def former_labels(self) -> tuple[str, ...]:
        return (*self._spans_in_words(times=False), *(["missing"] if self.missing else []))

    def constant(self, value: object) -> float:
        number = parse_instant(value, self.unit, zone=self._zone) if isinstance(value, str) else np.nan
        if np.isnan(number) and self.format and isinstance(value, str):
            number = self._parse_text(value.strip())
        if np.isnan(number):
            own = f', or as `format` has it, "{self._text(int(self.bounds[0]))}"' if self.format else ""
            raise self.mistake(f'it is compared with {value!r}; expected a text such as "{self.lower}"{own}')
        return number

    def _spelled(self, values: pa.Array) -> pa.Array:
        distinct = values.dictionary_encode()
        numbers = instants_of(distinct.dictionary, self.unit, zone=self._zone)
        texts = array_of([self._text(int(number)) for number in numbers], pa.string())
        return texts.take(distinct.indices)

    @property
    def is_zoned(self) -> bool:
        """Whether its numbers are instants, which clocks show differently in each zone."""
        return bool(self.zone) and self._in_units

    def on_the_clock(self, seconds: np.ndarray) -> np.ndarray:
        """float64 [n]: what a clock shows at these seconds since 1970-01-01; NaN, and what lies beyond time, stay."""
        shown = seconds.astype(np.float64)
        known = np.isfinite(shown)
        if self._zone is not None and self._in_units:
            shown[known] = wall_seconds(shown[known].astype(np.int64), self._zone)
        return shown

    @property
    def comparable(self) -> str:
        return f"{self.kind} with a zone" if self.is_zoned else self.kind

    @property
    def remedy(self) -> str:
        how = '`format` where dates are written in another way than 2020-01-31 (such as "%d.%m.%Y"),'
        if self.format:
            how = f"another `format` where dates are not written as {self.format!r} says,"
        return f"{how} {'' if self.zone else '`zone` where they state an offset, '}or `missing = true`,"

    def facts(self) -> dict[str, Any]:
        extras = {"resolution": self.resolution, "bins": self.bins, "edges": self.edges}
        extras |= {"format": self.format, "zone": self.zone}
        return {"lower": self.lower, "upper": self.upper} | {key: fact for key, fact in extras.items() if fact}


@dataclass(frozen=True)
class Date(Instant):
    """Days from `lower` to `upper`, both included.

    `resolution` ("1d", "7d", "1mo", "1y"), `bins` or `edges` (the first day of each bin) group them; months and years
    are the calendar's. Without any of these, up to 1,000 days have a code each: the noise of more counts would hide in
    which part of the range days are. More are cut into about a hundred bins of the calendar (`calendar_bins`), such as
    "calendar 3mo", which are quarters that begin in January, while "3mo" counts from the month of `lower`. `lower` and
    `upper`, where clamped values lie, then are bins of their own. So are `points` wherever bins are.

    Text is ISO 8601, or in the `strptime` format `format`. With a `zone`, an instant counts for the day on which it was
    there.

    `by_the_day` is for what versions before 0.13 released: there each day had a code where nothing was said.
    """

    kind: ClassVar[str] = "date"
    unit: ClassVar[int] = SECONDS_PER_DAY
    default_resolution: ClassVar[str] = "1d"

    points: tuple[date, ...] = ()
    by_the_day: bool = field(default=False, repr=False)

    def _check(self) -> None:
        if any(isinstance(moment, datetime) for moment in (self.lower, self.upper, *self.edges, *self.points)):
            raise self.mistake("bounds, edges and points must be dates without a time")
        if not all(self.lower <= day <= self.upper for day in self.points):
            raise self.mistake("`points` must lie between `lower` and `upper`")
        if len({*self.points}) != len(self.points):
            raise self.mistake("`points` must differ from each other")
        if self.is_undivided and not calendar_resolution(self.lower, self.upper):
            raise self.mistake(
                f"from {self.lower} to {self.upper} there are too many years for bins of ten. Give closer bounds; a "
                "day that says there is none, such as 9999-12-31, belongs in `missing_values`. Or give a "
                '`resolution`, such as "1y", or `bins` or `edges`'
            )
        super()._check()

    @property
    def is_undivided(self) -> bool:
        """Whether it has more days than have a code each, and no key says where bins are."""
        said = self.by_the_day or self.bins or self.resolution or self.edges
        return not said and (self.upper - self.lower).days >= MANY_NUMBERS

    def in_full(self, days: Iterable[float] = ()) -> Date:
        """The same column with keys that say where its bins are, whatever later versions take where nothing is said.

        Args:
            days: those that are to be bins of their own where no key says where bins are, counted from 1970-01-01;
                beyond the bounds there are none.
        """
        if not self.is_undivided:
            return self
        low, high = self.bounds
        within = {self._moment(int(day)) for day in days if low <= day <= high}
        points = tuple(sorted({self.lower, self.upper, *self.points, *within}))
        return replace(self, resolution=calendar_resolution(self.lower, self.upper), points=points)

    def _declared_starts(self) -> np.ndarray:
        if self.is_undivided:
            return self.in_full()._starts
        aligned = CALENDAR.fullmatch(self.resolution)
        starts = calendar_starts(self.resolution, self.lower, self.upper) if aligned else super()._declared_starts()
        cuts = {self._number(day) + after for day in self.points for after in (0, 1)}
        return np.union1d(starts, [cut for cut in sorted(cuts) if cut <= self.bounds[1]]).astype(np.int64)

    def _check_resolution(self) -> None:
        if self.is_undivided:
            return
        if not CALENDAR.fullmatch(self.resolution):
            super()._check_resolution()
        elif bins_at_most(self.resolution, self.lower, self.upper) > MAX_SIZE:
            raise self.mistake(f"`resolution` {self.resolution!r} makes more than {MAX_SIZE:,} bins")

    def facts(self) -> dict[str, Any]:
        facts = super().facts()
        return facts | ({"points": self.points} if self.points else {})

    def day_at(self, number: int) -> date:
        """The day that stands `number` days after 1970-01-01."""
        return self._moment(number)

    def _moment(self, number: int) -> date:
        return EPOCH.date() + timedelta(days=number)

    def _text(self, number: int) -> str:
        day = self._moment(number)
        if not self.format:
            return day.isoformat()
        return text_of(datetime(day.year, day.month, day.day, tzinfo=self._zone), self.format)

    def constant(self, value: object) -> float:
        number = super().constant(value)
        try:
            moment = moment_of(str(value))
        except ValueError:
            moment = moment_of(str(value).strip(), self.format)
        # A moment with an offset counts for the day that it was in the zone, as a cell does.
        if moment.tzinfo is None and moment.time() != time():
            raise self.mistake(
                f"it is compared with {value!r}, and dates have no time of day. Write {moment.date().isoformat()!r}, "
                f'or declare it with `kind = "datetime"`, `resolution = "1d"` and `format = '
                f'"{self.format or "%Y-%m-%d"}"` for dates that count as their midnight'
            )
        return number

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.date32()

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return array_of(self._drawn(codes, rng).astype(np.int32)).cast(pa.date32())

    @property
    def expected(self) -> str:
        return "a date"


@dataclass(frozen=True)
class Datetime(Instant):
    """Whole seconds from `lower` to `upper`, both included, in the table's own local time or in a `zone`.

    One of `resolution` ("1s", "15min", "1h", "1d", "1mo", "1y"), `bins` or `edges` says where the bins are.
    Text is ISO 8601, or in the `strptime` format `format`. With a `zone`, values are instants: the bounds and edges
    are what its clock shows, days, months and years are its own, and shorter bins are elapsed time.
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
        if self._zone is not None:
            return moment_in(number, self._zone)
        return datetime.fromtimestamp(number, UTC).replace(tzinfo=None)

    def _text(self, number: int) -> str:
        moment = self._moment(number)
        return text_of(moment, self.format) if self.format else moment.isoformat(" ")

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.timestamp("us", self.zone or None)

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return array_of(self._drawn(codes, rng) * 1_000_000).cast(self.arrow_type)

    @property
    def expected(self) -> str:
        return "a date with a time"
