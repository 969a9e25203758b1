"""How moments are written: Python's `strptime` directives, six more, and a Z at the end.

`%:z` is an offset with a colon, +01:00, which Python reads everywhere and writes from 3.12 on; `%3f` is milliseconds.
`%-d`, `%-m`, `%-H` and `%-I` are days, months and hours without leading zeros, 9 for 09, as `strftime` of many systems
writes them; `strptime` reads either under either directive.
A Z right after a time of day, at the end of a format, says that the time is UTC: where a zone is declared, such texts
are instants, converted from UTC and back.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from functools import cache
from itertools import combinations

_DIRECTIVE = re.compile(r"%(:z|3f|-[dmHI]|.)", re.DOTALL)
_UTC_AT_THE_END = re.compile(r"(?:%(?::z|3f|-[dmHI]|.)|[^%])*%(?:3f|-H|[fHMSX])Z", re.DOTALL)
_OF_CLOCKS = frozenset({"H", "I", "p", "M", "S", "f", "3f", "X", "z", ":z", "Z", "%"})
_WITH_A_YEAR = frozenset("YyGcx")
_TIMES_OF_DAY = frozenset("HIMScX")
DAY_OF_TIMES = datetime(1900, 1, 1)
"""The day that Python gives to texts that state none."""
_SHORTENED = "dmHI"
"""The directives that also are without leading zeros."""
_PYTHONS = {":z": "%z", "3f": "%f"} | {f"-{one}": f"%{one}" for one in _SHORTENED}
_COUNTED = re.compile(r"\d{9,}", re.ASCII)
_DIGIT, _SIGN = re.compile(r"\d", re.ASCII), re.compile(r"[+-](?=9)")
_ISO = re.compile(
    r"\d{4}(?P<dash>-?)\d\d(?P=dash)\d\d"
    r"(?:(?P<mark>[T ])\d\d(?P<colon>:?)\d\d(?P<seconds>(?P=colon)\d\d(?P<fraction>\.(?:\d{3}|\d{6}))?)?"
    r"(?P<space> ?)(?P<offset>Z|[+-]\d\d(?P<inside>:?)\d\d)?)?",
    re.ASCII,
)


def directives(text_format: str) -> set[str]:
    """The directives of a format, without their percent signs and whether leading zeros are written."""
    return {found.removeprefix("-") for found in _DIRECTIVE.findall(text_format)}


@cache
def _lacks_the_year(text_format: str) -> bool:
    """Whether texts of a format have a day of a month, and no year."""
    found = directives(text_format)
    return "d" in found and found.isdisjoint(_WITH_A_YEAR)


def dated(text_format: str) -> bool:
    """Whether a format has a directive of a date, so that texts are more than times of day."""
    return not directives(text_format) <= _OF_CLOCKS


def timed(text_format: str) -> bool:
    """Whether a format has a directive of a time of day."""
    return bool(directives(text_format) & _TIMES_OF_DAY)


def states_utc(text_format: str) -> bool:
    """Whether texts of a format end with a time of day and Z."""
    return _UTC_AT_THE_END.fullmatch(text_format) is not None


def of_python(text_format: str) -> str:
    """The format in directives that Python reads."""
    return _DIRECTIVE.sub(lambda found: _PYTHONS.get(found[1], found[0]), text_format)


def moment_of(text: str, text_format: str = "", *, zoned: bool = False) -> datetime:
    """The moment that a text states in a format, or in ISO 8601 where there is none.

    Args:
        text: stripped.
        text_format: of the text.
        zoned: whether there is a zone to convert to, so that a Z of the format means UTC.

    Raises:
        ValueError: where the text is none.
    """
    if not text_format:
        if _COUNTED.fullmatch(text):  # Python takes a digit for the sign between a day and an hour
            raise ValueError("a count, such as milliseconds since 1970")
        return datetime.fromisoformat(text)
    if _lacks_the_year(text_format):  # Python warns of such formats, and may come to refuse them
        text, text_format = f"{DAY_OF_TIMES.year} {text}", f"%Y {text_format}"
    moment = datetime.strptime(text, of_python(text_format))
    return moment.replace(tzinfo=UTC) if zoned and states_utc(text_format) else moment


def text_of(moment: datetime, text_format: str) -> str:
    """The moment in a format, years always in four digits, as `strptime` reads them."""
    if moment.tzinfo is not None and states_utc(text_format):
        moment = moment.astimezone(UTC)

    def written(found: re.Match[str]) -> str:
        if found[1] == "Y":
            return f"{moment.year:04d}"
        if found[1] == "3f":
            return f"{moment.microsecond // 1000:03d}"
        if found[1].startswith("-"):  # not every system can
            return moment.strftime(f"%{found[1][1:]}").removeprefix("0") or "0"
        if found[1] == ":z":
            offset = moment.strftime("%z")
            return ":".join((offset[:3], *(offset[i : i + 2] for i in range(3, len(offset), 2))))
        return found[0]

    return moment.strftime(_DIRECTIVE.sub(written, text_format))


@cache
def shortened(text_format: str) -> tuple[str, ...]:
    """The formats that are this one but that some of its days, months and hours have no leading zeros; all first."""
    full = [one for one in _SHORTENED if one in _DIRECTIVE.findall(text_format)]
    several = (some for n in range(len(full), 0, -1) for some in combinations(full, n))
    return tuple(_without_zeros(text_format, some) for some in several)


def _without_zeros(text_format: str, some: Collection[str]) -> str:
    return _DIRECTIVE.sub(lambda found: f"%-{found[1]}" if found[1] in some else found[0], text_format)


def shape_of(text: str) -> str:
    """What two texts of one notation share: digits are alike, and so are the signs of offsets."""
    return _SIGN.sub("+", _DIGIT.sub("9", text))


def format_of(text: str) -> str:
    """The format of a text in ISO 8601, or with a space before or in place of its parts; empty for another text."""
    if (found := _ISO.fullmatch(text)) is None:
        return ""
    dash, colon = found["dash"], found["colon"] or ""
    parts = [f"%Y{dash}%m{dash}%d"]
    if found["mark"]:
        parts += [found["mark"], f"%H{colon}%M"]
        parts += [f"{colon}%S"] if found["seconds"] else []
        parts += [{4: ".%3f", 7: ".%f"}[len(found["fraction"])]] if found["fraction"] else []
        offset = found["offset"] or ""
        parts += [found["space"], "Z" if offset == "Z" else f"%{found['inside']}z" if offset else ""]
    return "".join(parts)
