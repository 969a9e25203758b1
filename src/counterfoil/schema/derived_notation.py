"""How the values of a derived column are written, where it states that: as those of other columns of its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.arithmetic import MOST_DECIMALS, round_to
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.integer import MOST_DIGITS
from counterfoil.schema.notation import directives, moment_of, text_of
from counterfoil.schema.plain_arrays import array_of, filled, numpy_of
from counterfoil.schema.zone import find_zone, zone_names

KINDS: Mapping[str, tuple[str, ...]] = {
    "boolean": ("true", "false"),
    "integer": ("digits", "decimal_char"),
    "real": ("decimals", "decimal_char"),
    "date": ("format", "zone"),
    "datetime": ("format", "zone"),
}
"""The keys that say it, by kind of result."""

_PROBES: Mapping[str, Sequence[date]] = {
    "date": [date(1935 + 7 * i, 1 + 5 * i % 12, 1 + 11 * i % 28) for i in range(20)],
    "datetime": [datetime(1935 + 7 * i, 1 + 5 * i % 12, 1 + 11 * i % 28, 7 * i % 24, 13 * i % 60) for i in range(20)],
}
"""What the formats of computed values are tried with: whole minutes, as seconds need not be written."""

Label = str | int


@dataclass(frozen=True)
class DerivedNotation:
    """The notation of a derived column; without any of its facts, values are written as Arrow does.

    Labels change the type of the values, as they do in a column of booleans. The rest concerns CSV files alone, but
    that reals are rounded to their decimals.

    Args:
        true, false: labels of a boolean.
        format: of a date or a datetime, as `strptime` reads it.
        zone: of a date or a datetime, by the name of the IANA base: a cell that states an offset is the day there.
        digits: how many a whole number has at least, leading zeros included.
        decimals: digits after the point of a real, zeros at the end included.
        decimal_char: the decimal sign of a number, as of columns.
    """

    _: KW_ONLY
    true: Label | None = None
    false: Label | None = None
    format: str = ""
    zone: str = ""
    digits: int = 0
    decimals: int | None = None
    decimal_char: str = ""

    def check(self, name: str, result: str, results: tuple[Any, ...]) -> None:
        """Refuses facts that contradict each other, or that can't be for such results.

        Args:
            name: of the column.
            result: its kind.
            results: of its lookup table, where it has one.

        Raises:
            SchemaError: with what is wrong, for the column to say; of labels with their column.
        """
        for kind, keys in KINDS.items():
            allowed = KINDS.get(result, ())
            if stated := [key for key in keys if key in self.facts and key not in allowed]:
                raise SchemaError(f'`{stated[0]}` goes with kind = "{kind}"')
        if self.true is not None or self.false is not None:
            Boolean(name, true=self.true, false=self.false)
        if not 0 <= self.digits <= MOST_DIGITS:
            raise SchemaError(f"`digits` must be from 1 to {MOST_DIGITS}; found {self.digits}")
        if self.digits and any(number < 0 for number in results):
            raise SchemaError("`digits` goes with numbers from 0 on; found one below in `lookup`")
        if self.decimals is not None and not 0 <= self.decimals <= MOST_DECIMALS:
            raise SchemaError(f"`decimals` must be from 0 to {MOST_DECIMALS}; found {self.decimals}")
        if self.decimal_char and self.decimal_char not in DECIMAL_CHARS:
            raise SchemaError(f"`decimal_char` must be a comma or a point; found {self.decimal_char!r}")
        if self.zone and find_zone(self.zone) is None:
            hint = did_you_mean(self.zone, zone_names())
            raise SchemaError(f'`zone` must be a name such as "Europe/Zurich" or "UTC"; found {self.zone!r}.{hint}')
        if self.format:
            self._check_format(results or _PROBES[result])

    def _check_format(self, results: Iterable[date]) -> None:
        offset = directives(self.format) & {"z", ":z", "Z"}
        if offset and not self.zone:
            raise SchemaError(f"`format` {self.format!r} must be one without an offset; found %{min(offset)}")
        for moment in results:
            try:
                again = self._read(self._moment(self._there(moment)))
            except ValueError:
                raise SchemaError(
                    f'`format` {self.format!r} must be one that can be read and written, such as "%d.%m.%Y"'
                ) from None
            if (again if isinstance(moment, datetime) else again.date()) != moment:
                raise SchemaError(f"`format` {self.format!r} must tell all values apart; it writes one as another")

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Those that are stated, as TOML keys and values."""
        labels = {"true": self.true, "false": self.false}
        said: dict[str, Any] = {key: label for key, label in labels.items() if label is not None}
        said |= {key: text for key, text in (("format", self.format), ("zone", self.zone)) if text}
        said |= {"digits": self.digits} if self.digits else {}
        said |= {} if self.decimals is None else {"decimals": self.decimals}
        return said | ({"decimal_char": self.decimal_char} if self.decimal_char else {})

    @property
    def labels(self) -> Boolean | None:
        """The column of booleans that has these labels; None without any."""
        return None if self.true is None else Boolean("", true=self.true, false=self.false)

    def stated(self, values: pa.Array) -> pa.Array:
        """The results [n] as a table holds them."""
        if self.labels is not None:
            absent = numpy_of(values.is_null())
            labels = self.labels.values_of(numpy_of(filled(values, False)))
            return labels.take(array_of(np.arange(len(values)), mask=absent))
        if self.decimals is None or not pa.types.is_floating(values.type):
            return values
        absent = numpy_of(values.is_null())
        return array_of(round_to(numpy_of(filled(values, 0.0)), self.decimals), mask=absent)

    @property
    def is_plain(self) -> bool:
        """Whether the text of each value is Arrow's."""
        return not (self.format or self.zone or self.digits or self.decimals or self.decimal_char == ",")

    def written(self, values: pa.Array) -> pa.Array:
        """string [n]: stated values as a CSV file holds them; null where a cell is empty."""
        texts = self._pointed(values)
        return pc.replace_substring(texts, ".", ",") if self.decimal_char == "," else texts

    def _pointed(self, values: pa.Array) -> pa.Array:
        if not (self.format or self.digits or self.decimals or self.zone):
            seconds = pa.types.is_timestamp(values.type)
            return (values.cast(pa.timestamp("s"), safe=False) if seconds else values).cast(pa.string())
        instants = self.format or self.zone
        write: Callable[[Any], str] = self._moment if instants else self._digits if self.digits else self._decimals
        distinct = values.dictionary_encode()
        plain = distinct.dictionary.cast(pa.string()).to_pylist()
        texts = [write(value) or text for value, text in zip(distinct.dictionary.to_pylist(), plain, strict=True)]
        return array_of(texts, pa.string()).take(distinct.indices)

    def _moment(self, moment: date) -> str:
        if isinstance(moment, datetime):
            return text_of(moment, self.format) if self.format else moment.isoformat(" ")
        at = datetime(moment.year, moment.month, moment.day, tzinfo=find_zone(self.zone) if self.zone else None)
        return text_of(at, self.format) if self.format else moment.isoformat()

    def _there(self, moment: date) -> date:
        """A moment on the clock of the zone, where there is one."""
        return moment.replace(tzinfo=find_zone(self.zone)) if self.zone and isinstance(moment, datetime) else moment

    def _read(self, text: str) -> datetime:
        """What a clock of the zone shows at the moment of a text; where there is no zone, what the text says."""
        zone = find_zone(self.zone) if self.zone else None
        moment = moment_of(text, self.format, zoned=zone is not None)
        return (moment if moment.tzinfo is None else moment.astimezone(zone)).replace(tzinfo=None)

    def _digits(self, number: int) -> str:
        return f"{number:0{self.digits}d}" if number >= 0 else ""

    def _decimals(self, number: float) -> str:
        """Empty for a number that has more."""
        text = f"{number:.{self.decimals}f}"
        return text if float(text) == number else ""
