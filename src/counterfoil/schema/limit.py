"""Texts that stand for all numbers beyond one: 90+, 65 years and over, <0.5 mg/dL, more than $250,000."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from counterfoil.schema.decimal_char import plain_number
from counterfoil.schema.unit import KNOWN, MONEY

_LONGEST = 60
"""Characters of a limit: longer texts are sentences."""

_LARGEST = 1e15
"""Limits end below it, where not every whole number is a floating-point number."""

_DIGITS = r"\d(?:[\d.,'\u2019\u00a0\u2009\u202f ]*\d)?"
_MONEY = rf"(?P<money>{'|'.join(map(re.escape, MONEY))})\s*"
_UNITS = "|".join(map(re.escape, sorted(KNOWN, key=len, reverse=True)))
_APART = r"(?<=\s)[^\W\d_][^\s\d+<>]{0,19}(?:\sof\sage|\sold)?"
"""Any other unit, apart from its number: years, hours, mg/L. It needs no list, since a limit says that it is one."""

_TIMES = {
    *("k", "m", "b", "bn", "mn", "th", "thousand", "hundred", "dozen", "million", "billion", "lakh", "crore"),
    *("tsd", "tausend", "hundert", "mio", "mia", "mrd", "millionen", "milliarden"),
    *("mille", "cent", "cents", "milliers", "millions", "md", "milliards"),
}
"""In small letters, what multiplies a number rather than being its unit. Single letters may be either, and are the unit
where it is the column's."""

_AFTER_TIMES = ".€$£¥"
"""What may follow it: k€, Mio."""

_OF_AGES = re.compile(r"\sof\sage$|\sold$|\.$")
_PLURALS = ("s", "e", "n", "en", "es", "er")

_BELOW = r"[<≤]=?|(?:under|below|less\sthan|fewer\sthan|up\sto|at\smost|unter|weniger\sals|moins\sde)\s"
_STRICT = r">(?!=)|(?:over|above|more\sthan|über|mehr\sals|plus\sde)\s"
_ABOVE = r">=|≥=?|(?:at\sleast|mindestens|au\smoins)\s"
_OR_LESS = r"(?:or|and|&)\s(?:less|fewer|under|below|younger)|(?:und|oder)\s(?:weniger|jünger)|(?:et|ou)\smoins"
_OR_MORE = r"(?:or|and|&)\s(?:more|over|above|older|up)|(?:und|oder)\s(?:mehr|älter)|(?:et|ou)\s(?:plus|\+)"

_SIGN_FIRST = re.compile(
    rf"(?:(?P<below>{_BELOW})|(?P<strict>{_STRICT})|(?P<above>{_ABOVE}))\s*"
    rf"(?:{_MONEY})?(?P<number>-?{_DIGITS})\s*(?P<unit>{_UNITS}|{_APART})?",
    re.IGNORECASE,
)
_SIGN_LAST = re.compile(
    rf"(?:{_MONEY})?(?P<number>{_DIGITS})\s*(?:(?P<unit>{_UNITS}|{_APART})\s*)?"
    rf"(?:(?P<above>\+|(?<=\s)(?:{_OR_MORE}))|(?P<below>(?<=\s)(?:{_OR_LESS})))\s*(?P<last>{_UNITS}|{_APART})?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Limit:
    """A text that stands for all numbers beyond one.

    Args:
        number: beyond which they lie.
        decimals: with how many digits after the point it is written.
        below: whether they lie below, as those of <0.5 do.
        signed: whether a sign or a word before the number says so, such as < and over: 2+ may be a mark as well.
        strict: whether a limit above leaves out the number itself, as >200 does.
        unit: that stands beside the number, in small letters; empty where none does.
    """

    number: float
    decimals: int
    below: bool
    signed: bool
    strict: bool = False
    unit: str = field(default="", compare=False)

    def stand_in(self, decimals: int | None = None) -> float:
        """A number for all of them: the limit itself, and below one above 0 half of it, rounded down.

        Args:
            decimals: digits after the point that the number may have; as many as the limit where None.
        """
        units = 10 ** (self.decimals if decimals is None else decimals)
        number = math.floor(self.number * units / (2 if self.below and self.number > 0 else 1) + 1e-9) / units
        return int(number) if number.is_integer() else number


def limit_of(text: str, decimal_char: str = "", unit: str = "") -> Limit | None:
    """What a text such as 90+, 100 or more, over 65 years, >200 mg or <0.5 says; None for others.

    Args:
        text: of a cell.
        decimal_char: of the column; without it a comma before three digits parts thousands, as in >1,000.
        unit: of the column. A limit with another one is none of this column's numbers: 200 g are no 200 kg. Where the
            numbers of the column stand alone, limits may have any, but for one that multiplies: 1 million is no 1.
    """
    if len(text) > _LONGEST or (found := _SIGN_FIRST.fullmatch(text) or _SIGN_LAST.fullmatch(text)) is None:
        return None
    parts = found.groupdict()
    units = {part.casefold() for name in ("money", "unit", "last") if (part := parts.get(name))}
    if unit:
        others = [one for one in units if not same_unit(one, unit)]
    else:
        others = [one for one in units if one.rstrip(_AFTER_TIMES) in _TIMES]
    if len(units) > 1 or others:
        return None
    number = _plain(parts["number"].removeprefix("-"), decimal_char)
    if not number or float(number) >= _LARGEST:
        return None
    signed = found.re is _SIGN_FIRST
    value = -float(number) if parts["number"].startswith("-") else float(number)
    decimals = len(number.partition(".")[2])
    return Limit(value, decimals, parts["below"] is not None, signed, bool(parts.get("strict")), "".join(units))


def same_unit(one: str, other: str) -> bool:
    """Whether two texts are one unit in any case, in singular or plural: year, years, years of age."""
    short, long = sorted((_OF_AGES.sub("", text.casefold()) for text in (one, other)), key=len)
    return short == long or (len(short) > 1 and long.startswith(short) and long[len(short) :] in _PLURALS)


def _plain(digits: str, decimal_char: str) -> str:
    """The same number in digits with an optional point; empty where it is none in any notation.

    A sign before three digits parts thousands, but for the decimal sign of the column, a point without one.
    """
    sign = decimal_char or "."
    return plain_number(digits, sign) or plain_number(digits, "," if sign == "." else ".")
