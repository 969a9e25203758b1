"""Bought columns of dates and moments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from zoneinfo import available_timezones

import pyarrow as pa

from counterfoil.discovery.bought_bounds import bounds_facts, kept_bounds
from counterfoil.discovery.bought_facts import NO_RANGE, BoughtColumn, Facts
from counterfoil.discovery.bought_missing import missing_facts
from counterfoil.discovery.outwards import days, moments, resolution_of
from counterfoil.schema import compact_dates, midnight
from counterfoil.schema.clock import clock_format
from counterfoil.schema.discovered import DiscoveredColumn, percent, share_range
from counterfoil.schema.notation import DAY_OF_TIMES, directives
from counterfoil.schema.zone import EPOCH, SECONDS_PER_DAY
from counterfoil.schema.zoned_moments import ZONED, ZONED_DAYS

_MICROSECONDS = 1_000_000
_EITHER_WAY = "whether day or month comes first does not show: exchange %d and %m if it is the other one"


def date_facts(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    """The bounds of a column of dates, in whole days."""
    return _instant(column, given, storage, lambda lower, upper, short: days(lower, upper, short_years=short), 1.0)


def datetime_facts(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    """The bounds of a column of moments, with its resolution."""

    def bounds(lower: float, upper: float, short: bool) -> tuple[date, date]:
        return moments(lower, upper, short_years=short)

    return _instant(column, given, storage, bounds, float(_MICROSECONDS))


def clock_facts(column: DiscoveredColumn, clock: str, given: Mapping[str, Any], *, typed: bool = False) -> BoughtColumn:
    """Of a column of texts that are times of day, which all lie within one day: no bounds had to be bought.

    Args:
        column: the answers.
        clock: how they are written.
        given: facts that stand already.
        typed: whether the storage has a type for them: each cell is one then, also with a fraction of a second.
    """
    share, error = (0.0, 0.0) if typed else column.clock_read
    read = f"about {percent(share)} ({share_range(share, error)}) of the cells that are not missing are times of day"
    others = tuple((text, count) for text, count in column.categories if not (typed or clock_format(text)))
    facts: Facts = {
        "kind": ("datetime", f"bought: {read}; others are read as missing" if share else "the type in storage"),
        "format": (
            clock,
            f"bought: how most of them read; {_without_zeros(clock)}" if column.clock else "the type in storage",
        ),
        "lower": (DAY_OF_TIMES, "public: every day begins then"),
        "upper": (DAY_OF_TIMES + timedelta(days=1, seconds=-1), "public: every day ends then"),
        "resolution": ("15min", "proposed: times within a quarter of an hour are made up"),
    }
    return BoughtColumn(column.name, facts | missing_facts(replace(column, kind="datetime", words=others), given))


def _instant(
    column: DiscoveredColumn,
    given: Mapping[str, Any],
    storage: pa.DataType | None,
    round_: Callable[[float, float, bool], tuple[date, date]],
    unit: float,
) -> BoughtColumn:
    if column.lower is None or column.upper is None:
        return BoughtColumn(column.name, {}, NO_RANGE)
    facts: Facts = {}
    notation = str(given.get("format", column.date_format))
    with_offsets = column.date_format in (ZONED, ZONED_DAYS)
    if column.date_format not in ("", midnight.FORMAT) and not with_offsets:
        compact = column.date_format == compact_dates.FORMAT
        beside = (
            "in Parquet files and frames they come back as dates" if compact else _without_zeros(column.date_format)
        )
        what = "moments" if column.kind == "datetime" else "dates"
        order = f"; {_EITHER_WAY}" if column.order_hides else ""
        facts["format"] = (column.date_format, f"bought: how most of its {what} read; {beside}{order}")
    if storage is not None and pa.types.is_timestamp(storage) and storage.tz is not None:
        facts["zone"] = ("UTC", _zone_of(storage.tz))
    elif with_offsets:
        facts["zone"] = ("UTC", _OF_DAYS if column.kind == "date" else _OF_OFFSETS)
    first, last = sorted((column.lower / unit, column.upper / unit))
    if "zone" in facts and given.get("zone", "UTC") != "UTC":  # whose clock is less than a day from that of UTC
        day = 1.0 if unit == 1.0 else float(SECONDS_PER_DAY)
        first, last = first - day, last + day
    low, high = round_(first, last, "%y" in notation)
    bounds = kept_bounds(given, low, high, least=timedelta(0))
    facts |= bounds_facts(column, *bounds)
    inner = sorted({edge for edge in (_instant_of(one / unit, bounds[0]) for one in column.edges) if edge is not None})
    inside = [edge for edge in inner if bounds[0] < edge <= bounds[1]]
    if inside and "resolution" not in given:
        facts["edges"] = ([bounds[0], *inside], "bought: as fine as the noise lets")
    elif "resolution" not in given:
        facts["resolution"] = (resolution_of(*bounds), "by the bounds: about a hundred codes at most")
    return BoughtColumn(column.name, facts | missing_facts(column, given))


def _without_zeros(text_format: str) -> str:
    """What writes its days, months and hours without leading zeros."""
    shorter = sorted(directives(text_format) & {"d", "m", "H", "I"}, key=text_format.index)
    return f"{', '.join(f'%-{name}' for name in shorter)} {'write' if len(shorter) > 1 else 'writes'} 1 for 01"


_OF_OFFSETS = (
    "bought: most cells state an offset from UTC, and come back in UTC, as 2020-01-31 14:35:00+00:00 where no `format` "
    "is stated; for the clocks of another place write its zone, and a lower and an upper bound that are a day farther "
    "out"
)

_OF_DAYS = (
    "bought: most cells state an offset from UTC, and are read as days there; for the days of another place write its "
    "zone, and a lower and an upper bound that are a day farther out"
)


def _zone_of(stored: str) -> str:
    """Why the zone is UTC: bounds were bought in it, also where the storage names the zone of its clocks."""
    if stored in available_timezones() and stored != "UTC":
        return (
            f'the storage has instants, which come back in UTC; for the clocks of the storage write zone = "{stored}", '
            "and a lower and an upper bound that are a day farther out"
        )
    return "the storage has instants; say another zone if its days are to begin there"


def _instant_of(number: float, like: date) -> date | None:
    """What stands `number` days, or seconds, after 1970-01-01; None beyond the calendar."""
    from datetime import datetime

    try:
        if isinstance(like, datetime):
            return EPOCH + timedelta(seconds=math.ceil(number))
        return EPOCH.date() + timedelta(days=math.ceil(number))
    except (OverflowError, ValueError):
        return None
