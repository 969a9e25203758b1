"""What to say of cells that were not placed as declared, and what to change in the schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import AS_CODES, EXACT, Integer
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.number_words import advised
from counterfoil.schema.placement import Placement
from counterfoil.schema.real import Real
from counterfoil.schema.toml_text import toml_value
from counterfoil.schema.unread_cells import UnreadCells

_VALUES = {
    "categorical": "none of the listed categories",
    "boolean": "neither true nor false",
    "integer": "no numbers",
    "real": "no numbers",
    "date": "no dates in the declared notation",
    "datetime": "no dates with a time in the declared notation",
}
"""What an unreadable cell is, by the kind of its column."""

_MOST_LIMITS = 3
"""That an advice lists."""


@dataclass(frozen=True)
class ColumnWords:
    """The public facts of a column that sentences about its cells need.

    Args:
        name: of the column.
        kind: of the column.
        lower, upper: its bounds as texts; empty for categories and booleans.
        format: how dates are written; empty for ISO 8601.
        missing: whether `missing` is declared.
        other: whether `other` is.
        decimal_char: the decimal sign of texts; empty where numbers are plain digits with an optional point.
        between: the two dates or numbers that it is computed from; empty for a column that is read itself.
    """

    name: str
    kind: str
    lower: str = ""
    upper: str = ""
    format: str = ""
    missing: bool = False
    other: bool = False
    decimal_char: str = ""
    between: tuple[str, ...] = ()

    @staticmethod
    def of(column: Column) -> ColumnWords:
        """The facts of `column`."""
        bounded = isinstance(column, NumberColumn) and hasattr(column, "lower") and hasattr(column, "upper")
        ends = (str(column.lower), str(column.upper)) if bounded else ("", "")  # type: ignore[attr-defined]
        written = column.format if isinstance(column, Instant) else ""
        other = isinstance(column, Categorical) and column.other
        sign = column.decimal_char if isinstance(column, Integer | Real) else ""
        between = column.between if isinstance(column, Integer | Real) else ()
        return ColumnWords(column.name, column.kind, *ends, written, column.missing, other, sign, between)

    def to_json(self) -> dict[str, Any]:
        """The facts as a receipt has them; what is empty is left out."""
        given: dict[str, Any] = {"lower": self.lower, "upper": self.upper, "format": self.format}
        given |= {"missing": self.missing, "other": self.other, "decimal_char": self.decimal_char}
        given |= {"between": list(self.between)}
        return {"column": self.name, "column_kind": self.kind} | {key: value for key, value in given.items() if value}

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> ColumnWords:
        """What `to_json` wrote.

        Raises:
            KeyError: for a record without a column or its kind.
        """
        lower, upper, written = (str(record.get(key, "")) for key in ("lower", "upper", "format"))
        missing, other = (bool(record.get(key)) for key in ("missing", "other"))
        name, kind, sign = str(record["column"]), str(record["column_kind"]), str(record.get("decimal_char", ""))
        between = tuple(map(str, record.get("between", ())))
        return ColumnWords(name, kind, lower, upper, written, missing, other, sign, between)

    def is_wrong(self, way: Placement) -> bool:
        """Whether cells that are placed like this speak against the schema: not those that are missing as declared."""
        return way is not Placement.DECLARED and not (way is Placement.MISSING and self.missing)

    def happened(self, way: Placement) -> str:
        """What happened to such cells, as the rest of a sentence about them."""
        goes = "count as missing" if self.missing else "count as `other`" if self.other else "have no place"
        return {
            Placement.DECLARED: "are as declared",
            Placement.BELOW: f"lie below {self.lower}, the lower bound, and count as that",
            Placement.ABOVE: f"lie above {self.upper}, the upper bound, and count as that",
            Placement.MOVED: "lie between the points of the grid and count as the nearest one",
            Placement.OTHER: f"are {_VALUES['categorical']} and count as `other`",
            Placement.MISSING: "are missing" if self.missing else f"are missing and {goes}",
            Placement.UNREADABLE: f"are {self._unread} and {goes}",
            Placement.INFINITE: "are infinite and count as a bound",
        }[way]

    @property
    def _unread(self) -> str:
        """What an unreadable cell is."""
        if self.between:
            return f"of records where {' or '.join(self.between)} can't be read in its notation,"
        return _VALUES.get(self.kind, "no values of the column")

    def remedy(self, way: Placement) -> str:
        """What to change, as an imperative; empty where nothing has to be."""
        if not self.is_wrong(way):
            return ""
        if way is Placement.UNREADABLE:
            return self._notation()
        if self.between and way is Placement.ABOVE:
            return f"raise `upper`, or, where a value such as 9999-12-31 stands for none, {self._listed('it')}"
        return {
            Placement.BELOW: AS_CODES if self._is_farthest(self.lower) else "lower `lower`",
            Placement.ABOVE: AS_CODES if self._is_farthest(self.upper) else "raise `upper`",
            Placement.MOVED: self._finer(),
            Placement.OTHER: "add categories to `values`",
            Placement.MISSING: "declare `missing = true`",
            Placement.INFINITE: self._infinite(),
        }[way]

    def _is_farthest(self, bound: str) -> bool:
        """Whether no bound of whole numbers can lie farther out: numbers beyond are not exact."""
        digits = bound.removeprefix("-")
        return self.kind == "integer" and digits.isdecimal() and int(digits) >= EXACT - 1

    def seen_remedy(self, of: int, seen: UnreadCells) -> str:
        """What to change about so many unreadable cells, where somebody has looked at them.

        Args:
            of: how many they are.
            seen: what they look like.
        """
        if self.between:
            return self._notation(seen=True)
        if seen.words and self.kind != "categorical":  # NA may be Namibia
            listed = f"{self._listed('theirs')}, as it is written"
            if seen.words == of:
                return f"they are words that many tables have for missing, such as NA: {listed}"
            known = f"{seen.words:,} of them are words that many tables have for missing, such as NA: {listed}"
            return f"{known}. Of the others: {self.seen_remedy(of - seen.words, replace(seen, words=0))}"
        numbers = self.kind in ("integer", "real")
        if seen.offsets:
            return self._offset_remedy(seen.offsets, of)
        if seen.impossible:
            return self._impossible_remedy(seen.impossible, of)
        if numbers and any(seen.notations.values()):
            return self._sign_remedy(seen.notations, of)
        if seen.codes and self.kind == "integer":
            return self._code_remedy(seen.codes, of)
        if numbers and seen.units:
            return self._unit_remedy(seen.units, seen.unit, of)
        if self.kind == "categorical" and any(seen.notations.values()):
            return self._listed_numbers_remedy(seen.notations, of)
        if self.kind == "categorical" and 2 * seen.measures >= of:
            return self._measures_remedy(seen.measures, of)
        if self.kind == "categorical" and seen.measures:  # so few of them may be what they are
            return self.remedy(Placement.OTHER) if self.other else self._notation(seen=True)
        if seen.limits and numbers:
            return self._limit_remedy(seen.limits, seen.unit, of)
        if seen.negatives and numbers:
            return self._negative_remedy(seen.negatives, of)
        return self._clock_remedy(seen.clocks, of) if seen.clocks else self._notation(seen=True)

    def _offset_remedy(self, count: int, of: int) -> str:
        zone = (
            'declare `zone`, such as zone = "Europe/Zurich" or zone = "UTC": without it nothing says on which day '
            "a text with an offset from UTC was"
        )
        if self.format:
            zone += ". Then leave `format` out where the texts are ISO 8601, or put %z (+0100) or %:z (+01:00) there"
        return (
            zone
            if count == of
            else f"{zone}. That is about {count:,} of them; for the others, {self._notation(seen=True)}"
        )

    def thousands_remedy(self) -> str:
        """What to change where all integers between the points of the grid are written as 1.234 is."""
        return f'give `decimal_char = ","` if their points part thousands. Else {self._finer()}'

    def _finer(self) -> str:
        if self.kind == "real":
            return "give more `decimals` or a finer `step`, or leave these out"
        return 'give a finer `step`, or declare `kind = "real"`'

    def _clock_remedy(self, count: int, of: int) -> str:
        clock = (
            'declare times of day as kind = "datetime" with format = "%H:%M:%S", or "%H:%M" where they have no '
            "seconds, lower = 1900-01-01T00:00:00, upper = 1900-01-01T23:59:59 and a resolution such as "
            '"15min"; write lengths of time as numbers of one unit'
        )
        if count == of:
            return f"they are times of day, or lengths of time: {clock}"
        others = self._notation(seen=True)
        return f"{count:,} of them are times of day, or lengths of time: {clock}. For the others, {others}"

    def _limit_remedy(self, limits: Counter[str], unit: str, of: int) -> str:
        count = limits.total()
        which = "they" if count == of else f"{count:,} of them"
        words = advised((text for text, _ in limits.most_common(_MOST_LIMITS)), self.decimal_char, unit)
        listed = f"`words = {toml_value(words)}`{self._wider(words.values())}"
        limit = (
            f"{which} are limits, as <5 and 90+ are. Without them the mean of the column is another one: state for "
            f"which number each stands, within the bounds, as in {listed}"
        )
        return limit if count == of else f"{limit}. For the others, {self._notation(seen=True)}"

    def _wider(self, numbers: Collection[float]) -> str:
        """Which bounds numbers that are advised need: words that stand for one beyond them are refused."""
        if not (self.lower and self.upper and numbers):
            return ""
        low, high = min(numbers), max(numbers)
        needed = [f"`lower = {toml_value(low)}`"] if low < float(self.lower) else []
        needed += [f"`upper = {toml_value(high)}`"] if high > float(self.upper) else []
        return f" with {' and '.join(needed)}" if needed else ""

    def _negative_remedy(self, count: int, of: int) -> str:
        which = "they are" if count == of else f"{count:,} of them are"
        said = (
            f"{which} negative numbers as ledgers and statistical offices write them, such as 12.50-, (12.50) and "
            "\u221212.50, and without them the mean of the column is another one: write each with a hyphen before its "
            "digits (-12.50)"
        )
        return said if count == of else f"{said}. For the others, {self._notation(seen=True)}"

    def _code_remedy(self, count: int, of: int) -> str:
        which = "they look" if count == of else f"{count:,} of them look"
        said = (
            f'{which} like codes, as 2A does: declare kind = "categorical" and list all codes as texts, those of '
            "digits with the zeros at their beginning (`values`, or `values_from` for a file)"
        )
        return said if count == of else f"{said}. For the others, {self._notation(seen=True)}"

    def _unit_remedy(self, units: Mapping[tuple[str, str], int], declared: str, of: int) -> str:
        (unit, sign), most = max(units.items(), key=lambda one: one[1])
        which = "they have" if most == of else f"{most:,} of them have"
        facts = f'`unit = "{unit}"`'
        if sign != self.decimal_char:
            facts += f' and `decimal_char = "{sign}"`' if sign else ", and leave `decimal_char` out"
        if declared:
            said = f'{which} "{unit}" beside the number, and not "{declared}": write all in one unit, or give {facts}'
            said += " where no cell has the other"
        else:
            said = f"{which} the sign of a unit beside the number: give {facts}"
        return said if most == of else f"{said}. For the others, {self._notation(seen=True)}"

    def _sign_remedy(self, notations: Mapping[str, int], of: int) -> str:
        most = max(notations.values())
        signs = [sign for sign, count in notations.items() if count == most]
        which = "they" if most == of else f"{most:,} of them"
        ways = {
            ",": 'have a decimal comma: give `decimal_char = ","`',
            ".": 'have separators of thousands: give `decimal_char = "."`',
            "": "have a decimal point: leave `decimal_char` out",
        }
        if {",", "."} <= {*signs}:
            said = (
                f'{which} have commas: give `decimal_char = ","` if these are decimal ones, "." if they part thousands'
            )
        else:
            said = f"{which} {ways[signs[0]]}"
        return said if most == of else f"{said}. For the others, {self._notation(seen=True)}"

    def _listed_numbers_remedy(self, notations: Mapping[str, int], of: int) -> str:
        sign, most = max(notations.items(), key=lambda one: one[1])
        written = '"1,5" or "1.000"' if sign == "," else '"1,000"'
        which = "they are" if most == of else f"{most:,} of them are"
        said = f"{which} listed numbers in another notation: list these as texts, as the table writes them ({written})"
        return said if most == of else f"{said}. For the others, {self._notation(seen=True)}"

    def _measures_remedy(self, count: int, of: int) -> str:
        which = "they look" if count == of else f"{count:,} of them look"
        return (
            f"{which} like numbers with a fraction or a unit, as 0,9 and 97 kg: where they are, declare kind = "
            '"integer" or "real" with bounds, and with `unit` or `decimal_char`. Where they are codes, add them to '
            "`values`"
        )

    def _impossible_remedy(self, count: int, of: int) -> str:
        words = "list them in `missing_values` as they are written"
        if not self.missing:
            words = f"declare `missing = true` and {words}"
        what = f"such a day or time does not exist (as 30 February): correct the cells, or {words}"
        if count == of:
            return f"they are written as declared, and {what}"
        others = self._notation(seen=True)
        return f"{count:,} of them are written as declared, and {what}. For the others, {others}"

    def _infinite(self) -> str:
        # The first word is the one that missing values are written with.
        listed = 'list them in `missing_values` after the word to write, such as ["", "inf", "-inf"]'
        return listed if self.missing else f"declare `missing = true`, and {listed}"

    def _listed(self, what: str) -> str:
        listed = f"list {what} in `missing_values`"
        return listed if self.missing else f"declare `missing = true` and {listed}"

    def _notation(self, *, seen: bool = False) -> str:
        """What to change about unreadable cells, whatever they are, or that have no offsets and no colons: `seen`."""
        words = self._listed("the words that mean missing")
        if self.between:
            first, last = self.between
            return f"state how {first} and {last} are written, such as by `format`, correct these cells, or {words}"
        if self.kind in ("date", "datetime"):
            example = "%d.%m.%Y" if self.kind == "date" else "%d.%m.%Y %H:%M"
            now = f", which is {self.format!r} now" if self.format else f', such as "{example}"'
            zone = "" if seen else " declare `zone` where they state an offset from UTC and none is declared,"
            return f"state the notation in `format`{now},{zone} or {words}"
        if self.kind == "categorical":
            return f"add them to `values`, declare `other = true`, or {words}"
        if self.kind == "boolean":
            return f"give the two words as the labels `true` and `false`, declare categories, or {words}"
        if seen:
            return f"{self._numbers(seen=True)}, or {words}"
        return f"{self._listed('the words that mean missing, such as NA,')}, or {self._numbers(seen=False)}"

    def _numbers(self, *, seen: bool) -> str:
        if self.decimal_char:
            sign = "comma" if self.decimal_char == "," else "point"
            digits = f"write numbers with a decimal {sign} at most, with no other sign than that of `unit`"
        elif seen:
            digits = "write numbers with a decimal point and with no other sign than that of `unit`"
        else:
            digits = (
                'give `decimal_char` (",", or "." with separators of thousands), `unit` where signs such as % stand '
                "beside numbers"
            )
        if self.kind == "integer":
            digits += ', declare codes such as 2A004 as kind = "categorical"'
        if seen:
            return digits
        return (
            f"{digits}, write times such as 20:05:00 as numbers of one unit, and state in `words` for which numbers "
            "limits such as <5 and 90+ stand"
        )


assert set(_VALUES) == {"categorical", "boolean", "integer", "real", "date", "datetime"}
assert Categorical.kind in _VALUES
