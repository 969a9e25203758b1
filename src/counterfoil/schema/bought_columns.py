"""The facts of a column as bought answers show it: what goes into its table of the TOML, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from counterfoil.schema.boolean import WORDS
from counterfoil.schema.discovered import DiscoveredColumn, Kind, count_range, percent, share_range
from counterfoil.schema.integer import Integer
from counterfoil.schema.leading_zeros import may_be_code
from counterfoil.schema.outwards import days, integers, moments, reals, resolution_of
from counterfoil.schema.precautions import place_of_bound, place_of_value
from counterfoil.schema.public_lists import public_list_of
from counterfoil.schema.real import Real
from counterfoil.schema.spelling import BYTES, strip
from counterfoil.schema.values import parse_number
from counterfoil.schema.zone import EPOCH

LEAST_COVERAGE = 0.25
"""Of the cells of a text, in selected categories: below it the text is too various to be a column of categories."""

STANDARD_ERRORS = 3.0
"""What the rest of a column's cells must exceed to be told from its noise."""

_ROOM = 0.05
"""A share of the cells: where so many may hold another number than the only one that shows, somebody has to say so."""

_NOISE = 0.5
"""A standard error beside which a share of the cells says nothing."""

_AS_MANY = (0.8, 1.5)
"""Whole numbers between the bounds over records: as many as a column has that numbers the rows, bounds rounded."""

_TRUTHS: Mapping[str, float] = {**WORDS, "1": 1.0, "0": 0.0}

NOT_ASKED = "by precaution: it was not asked about, and each cell has a place"
CAUTION = "by precaution: few or none are seen, and each cell has a place"
_MICROSECONDS = 1_000_000

Facts = dict[str, tuple[Any, str]]
"""By key of the TOML, the value and a comment on it."""


@dataclass(frozen=True)
class BoughtColumn:
    """What goes into the schema about one column.

    Args:
        name: of the column.
        facts: by key, each with a comment; empty where no column can be made of it.
        seen: what was seen, in words for a comment where it is left out.
    """

    name: str
    facts: Facts
    seen: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether it is left out for the noise alone, which hides what it is or where its values lie."""
        return not self.facts and self.seen in (_NO_KIND, _NO_RANGE)


def bought_column(
    column: DiscoveredColumn, *, stated: Mapping[str, Any] | None = None, storage: pa.DataType | None = None
) -> BoughtColumn:
    """The facts that answers about a column lead to, without those that were stated by hand.

    Args:
        column: the answers.
        stated: facts by key that stand already, of an incomplete table.
        storage: the type of the column in its storage, where that has types.
    """
    given = dict(stated or {})
    if column.unknown:
        return BoughtColumn(column.name, {}, _NO_KIND)
    make = _MAKERS[column.kind]
    made = make(column, given, storage)
    if not made.facts:
        return made
    name = "categorical" if "values" in made.facts else column.kind
    why = (
        _why_this_kind(column, name, given, storage) + _about_zeros(column, name, given, storage) + _about_lumps(column)
    )
    kind = {"kind": (name, why)}
    return BoughtColumn(column.name, {key: fact for key, fact in (kind | made.facts).items() if key not in given})


def precautions_of(column: DiscoveredColumn, made: BoughtColumn) -> list[str]:
    """The places of a column that were bought and that nothing shows to hold records (`schema.precautions`).

    Those of integers that are codes are among them, for some may be noise, and both truths of a boolean, of which one
    may never occur. Texts are not, for each passed a threshold.
    """
    facts = made.facts
    found: list[str] = [key for key in ("other", "missing") if key in facts and facts[key][1] == CAUTION]
    listed = facts.get("values", ((), ""))[0]
    doubtful = {code for code, _ in column.codes} | set(public_names(column)[1] if column.kind == "text" else ())
    found += [place_of_value(value) for value in listed if value in doubtful]
    if column.kind == "boolean" and "kind" in facts:
        found += ["false", "true"]
    if column.kind == "integer":
        found += [place_of_bound(key, facts[key][0]) for key in ("lower", "upper") if key in facts]
    return found


def _why_this_kind(column: DiscoveredColumn, kind: str, given: Mapping[str, Any], storage: pa.DataType | None) -> str:
    if column.read is not None:
        share, error = column.read
        wordless = column.kind == "boolean" and boolean_words(column) in (None, PLAIN_WORDS)
        written = "; they come back as true and false" if wordless else ""
        read = f"about {percent(share)} ({share_range(share, error)}) of the cells that are not missing read so"
        if error > _NOISE:
            read = "most cells that can be told from noise read so"
        return f"bought: {read}{written}{_others(column, kind)}"
    return "stated" if "kind" in given or storage is None else "the type in storage"


def _about_zeros(column: DiscoveredColumn, kind: str, given: Mapping[str, Any], storage: pa.DataType | None) -> str:
    """What keeps zeros at the beginning of numbers that may be codes: whether they have some was not asked."""
    if column.kind != "integer" or storage is not None or "digits" in given or not may_be_code(column.name):
        return ""
    if kind == "integer":
        return "; add digits, such as 5, where it is written with leading zeros (00123)"
    return '; list its values as texts where they are written with leading zeros ("00123")'


def _about_lumps(column: DiscoveredColumn) -> str:
    """What keeps codes of many digits, which are too far apart for the purchase to find each."""
    if not column.lumps:
        return ""
    return (
        f"; nearly all lie at {column.lumps} places, far apart: where they are codes, list them as the `values` of a "
        "categorical column, for any number near them is drawn"
    )


def _others(column: DiscoveredColumn, kind: str) -> str:
    """How its other cells read, what becomes of them, and what to do about it."""
    missing = misread(column, kind)
    rounded = [one for one in column.others if one not in missing]
    said = f". Others are {counted(rounded)}, and are rounded: state that it is real, to keep them" if rounded else ""
    if missing:
        remedy = "write all alike in the table, or state another kind, or their words in `missing_values`"
        said += f". Others are {counted(missing)}, and are read as missing: {remedy}"
    return said


def misread(column: DiscoveredColumn, kind: str) -> list[tuple[str, int]]:
    """How its cells read that surely show and come back as missing, with their noisy number.

    Args:
        column: the answers.
        kind: that the schema gives it.
    """
    return [one for one in column.others if kind != "integer" or not one[0].startswith(_NUMBERS)]


def counted(others: Sequence[tuple[str, int]]) -> str:
    """Other cells in words."""
    return ", ".join(f"about {count:,} {words}" for words, count in others)


_NUMBERS = "numbers with"
"""How words for cells begin that are numbers, and not whole."""


def _text(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    words = set(given.get("missing_values", ()))
    pairs = [(text, count) for text, count in column.categories if _can_be_listed(text) and text not in words]
    listed = dict(pairs)
    covered, error = coverage(column, sum(listed.values()), len(listed))
    share = f"{percent(covered)} ({share_range(covered, error)})"
    if not listed or covered < LEAST_COVERAGE:
        frequent = "one frequent text covers" if len(listed) == 1 else f"{len(listed):,} frequent texts cover"
        seen = f"its {frequent} about {share} of the cells" if listed else _NO_TEXT
        return BoughtColumn(column.name, {}, seen + _mixed(column))
    rest = 1 - covered > STANDARD_ERRORS * error
    why = f"bought: their noisy counts passed the threshold; they cover about {share}"
    public, others = public_names(column) if rest else ("", [])
    if others := [name for name in others if name not in words]:
        why += f". The other {len(others)} are of a public list ({public}); no record was read for them"
    facts: Facts = {
        "values": ([*listed, *others], why),
        "other": (True, "bought: the rest of the cells" if rest else CAUTION),
    }
    absent = [text for text in column.missing_words if _can_be_listed(text) and text not in listed]
    if absent and given.get("missing", True) and "missing_values" not in given:
        facts["missing"] = (True, _missing_words(column))
        facts["missing_values"] = (absent, _SAYS_SO)
    elif column.shows_missing:
        facts["missing"] = (True, _missing_words(column))
    return BoughtColumn(column.name, facts)


def mostly(column: DiscoveredColumn) -> str:
    """What most cells of a column of texts are, where these are no texts; empty where most are."""
    votes = Counter[str]()
    for kind, name in _PLURALS.items():
        votes[name] += column.votes.get(kind, 0)
    best = max(votes, key=lambda name: votes[name])
    return best if 2 * votes[best] > max(column.records, 1) else ""


_PLURALS = {"integer": "numbers", "real": "numbers", "date": "dates", "datetime": "moments"}


def _mixed(column: DiscoveredColumn) -> str:
    """What becomes of a column most of whose cells are no texts; empty where most are."""
    if not (most := mostly(column)):
        return ""
    return (
        f", while most of its cells are {most} beside about {column.votes.get('text', 0):,} texts: write all alike in "
        "the table, or state that kind, with `missing = true` for the texts"
    )


def public_names(column: DiscoveredColumn) -> tuple[str, list[str]]:
    """The name of the public list that its categories are of, and the other names of that list; nothing where none is.

    Post-processing of what was bought: who knows the categories knows the list.
    """
    found = [text for text, _ in column.categories if _can_be_listed(text)]
    public = public_list_of(found)
    return ("", []) if public is None else (public.name, public.others([*found, *column.missing_words]))


_NO_TEXT = "none of its texts is frequent enough to be told from noise"
_NO_RANGE = "no range of its values can be told from noise"
_NO_KIND = "what its cells are can't be told from noise"


def coverage(column: DiscoveredColumn, listed: int, categories: int) -> tuple[float, float]:
    """The share of a column's cells that are in selected categories, from 0 to 1, and its standard error.

    Args:
        column: the answers.
        listed: the sum of the noisy counts of the categories.
        categories: how many there are.
    """
    records = max(column.records, 1)
    share = min(max(listed / records, 0.0), 1.0)
    error = math.hypot(math.sqrt(categories) * column.deviation, share * column.records_error)
    return share, min(error / records, 1.0)


def _can_be_listed(text: str) -> bool:
    """Whether a category may be written as it is; other texts count as `other`."""
    return bool(text) and not text.startswith(BYTES) and strip(pa.array([text]))[0].as_py() == text


def _boolean(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    facts: Facts = {}
    if (words := boolean_words(column)) not in (None, PLAIN_WORDS):
        assert words is not None
        frequent = {text for text, count in column.categories if count}
        shown = [_SHOWN if not frequent or str(word) in frequent else _OPPOSITE for word in words]
        facts = {"true": (words[0], shown[0]), "false": (words[1], shown[1])}
    return BoughtColumn(column.name, facts | _missing(column, given))


_SHOWN = "bought: a frequent one of its words; more words for the same, such as N beside no, count as it"
_OPPOSITE = (
    "proposed: the opposite of its one frequent word, and nothing shows that it occurs; where another text stands in "
    "its place it is read as missing: list both as the `values` of a categorical column"
)


def boolean_words(column: DiscoveredColumn) -> tuple[str | int, str | int] | None:
    """The words of a column for true and false: of those that are frequent, and of one alone with its opposite.

    Returns:
        None where no word is frequent; `PLAIN_WORDS` for these in any case, which need no labels.
    """
    seen: dict[float, str] = {}
    for text, _ in column.categories:
        if (truth := _TRUTHS.get(text.casefold())) is not None:
            seen.setdefault(truth, text)
    if not seen:
        return None
    truth, first = next(iter(seen.items()))
    other = seen.get(1 - truth, _cased(_OPPOSITES[first.casefold()], first))
    true, false = (first, other) if truth else (other, first)
    if (true, false) == ("1", "0"):
        return 1, 0
    return PLAIN_WORDS if true.casefold() == "true" else (true, false)


PLAIN_WORDS = ("true", "false")
_PAIRS = {"true": "false", "t": "f", "yes": "no", "y": "n", "1": "0"}
_OPPOSITES: Mapping[str, str] = {**_PAIRS, **{false: true for true, false in _PAIRS.items()}}


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word


def _number(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    ends = _ends(column, given)
    if ends is None:
        return BoughtColumn(column.name, {}, _NO_RANGE)
    if not _OF_NUMBERS & set(given) and given.get("missing", True):
        if column.codes:
            return _codes(column, given)
        if column.kind == "real" and (few := _few_numbers(column, given)):
            return BoughtColumn(column.name, few)
    whole = column.kind == "integer"
    facts: Facts = {}
    decimals = given.get("decimals")
    if not whole and decimals is None and (decimals := _decimals(storage)) is not None:
        facts["decimals"] = (decimals, "the type in storage")
    if not whole and decimals is None and column.decimals and max(map(abs, ends)) <= _SPACED:
        decimals = column.decimals
        facts["decimals"] = (decimals, "bought: nearly all of its numbers have no more")
    low, high = integers(*ends) if whole else reals(*ends, decimals)
    bounds = _kept(given, low, high, least=0 if whole else max(abs(high) * 1e-6, 10.0 ** -(decimals or 0)))
    facts |= (_alone(column) if not {"lower", "upper"} & set(given) else {}) | _bounds(column, *bounds)
    if "lower" not in given and bounds[0] >= 0 and not (storage is not None and pa.types.is_unsigned_integer(storage)):
        facts["lower"] = (bounds[0], facts["lower"][1] + _negatives(column))
    inner = [edge for edge in column.edges if bounds[0] < edge < bounds[1]]
    inside = sorted({math.ceil(edge) if whole else float(edge) for edge in inner})
    if inside and decimals is None and "scale" not in given:
        edges = [bounds[0], *inside, *([] if whole else [bounds[1]])]
        facts["edges"] = (edges, "bought: as fine as the noise lets")
    elif not _CUT & set(given):
        scale = str(given.get("scale", ""))
        undivided = Integer("", *bounds, scale=scale) if whole else Real("", *bounds, scale=scale, decimals=decimals)
        facts |= _points(column, given, undivided)
    if whole and may_number_rows(column):
        upper, why = facts["upper"]
        facts["upper"] = (
            upper,
            f'{why}; where this column numbers the rows, write kind = "identifier" in place of its facts',
        )
    return BoughtColumn(column.name, facts | _missing(column, given))


def _points(column: DiscoveredColumn, given: Mapping[str, Any], undivided: Integer | Real) -> Facts:
    """The single numbers that stand out and would share a code with others."""
    absent = {parse_number(str(text), {}) for text in given.get("missing_values", ())}
    counts = {number: count for number, count in column.points if number not in absent}
    own = sorted(undivided.in_full(counts).points)
    if not own:
        return {}
    records = max(column.records, 1)
    share = min(max(sum(counts[number] for number in own) / records, 0.0), 1.0)
    error = math.hypot(math.sqrt(len(own)) * column.points_deviation, share * column.records_error) / records
    held = f"about {percent(share)} ({share_range(share, min(error, 1.0))})"
    return {"points": (own, f"bought: numbers that stand out; {held} of the cells hold {'one' if own[1:] else 'it'}")}


def may_number_rows(column: DiscoveredColumn) -> bool:
    """Whether a column of integers, none of which shows by itself, spans about as many of them as there are records."""
    if column.kind != "integer" or column.codes or column.lumps or column.lower is None or column.upper is None:
        return False
    least, most = _AS_MANY
    return column.records > 0 and least <= (column.upper - column.lower + 1) / column.records <= most


def _alone(column: DiscoveredColumn) -> Facts:
    """A question to whoever knows, where one number alone shows, and the noise may hide that cells hold others."""
    if column.elsewhere is None:
        return {}
    others, error = column.elsewhere
    most = min(max(others, 0.0) + STANDARD_ERRORS * error, column.records)
    if most <= _ROOM * column.records:
        return {}
    why = f"{column.lower:g} alone shows, and the noise may hide {most:,.0f} cells with other numbers"
    return {"confirm": (True, f"bought: {why}; correct the bounds, then delete this line")}


_CUT = {"points", "step", "bins", "edges", "resolution"}
"""Facts that say which numbers have codes."""

_OF_NUMBERS = {"kind", "lower", "upper", "step", "bins", "edges", "scale", "digits"}
"""Facts that a list of codes does not go with: who states one of them means numbers."""


def _codes(column: DiscoveredColumn, given: Mapping[str, Any]) -> BoughtColumn:
    """Integers of which few hold nearly all cells; what is no code is read as missing, so that codes stay integers."""
    absent = {parse_number(str(text), {}) for text in given.get("missing_values", ())}
    listed = {code: count for code, count in column.codes if code not in absent}
    if not listed:
        return BoughtColumn(column.name, {}, _NO_RANGE)
    share, error = coverage(column, sum(listed.values()), len(listed))
    rest = f"they cover about {percent(share)} ({share_range(share, error)}), and the rest is read as missing"
    facts: Facts = {"values": (list(listed), f"bought: integers that seem frequent, some of them by noise; {rest}")}
    return BoughtColumn(column.name, facts | _missing(column, given))


def _few_numbers(column: DiscoveredColumn, given: Mapping[str, Any]) -> Facts:
    """Reals of which few were found as texts and hold nearly all cells; nothing for others."""
    absent = {parse_number(str(text), {}) for text in given.get("missing_values", ())}
    counts: dict[float, int] = {}
    for text, count in column.categories:
        number = parse_number(text, {})
        if math.isfinite(number) and number not in absent:
            counts[number] = counts.get(number, 0) + count
    numbers = sum(column.votes.get(kind, 0) for kind in ("integer", "real"))  # with less noise than all records
    if len(counts) < 2 or sum(counts.values()) < _NEARLY_ALL * numbers - _BY_CHANCE * column.missing_error:
        return {}
    share, error = coverage(column, sum(counts.values()), len(counts))
    rest = f"they cover about {percent(share)} ({share_range(share, error)}), and the rest is read as missing"
    return {"values": (sorted(counts), f"bought: frequent numbers; {rest}")} | _missing(column, given)


_BY_CHANCE = 2.0
"""Deviations of the noise of a class of cells by which fewer may be found, as there may seem to be more."""

_NEARLY_ALL = 0.9
"""A share of the numbers that show in a column of reals, from which on those that hold them are all that it has."""


_SPACED = 2.0**36
"""Numbers up to here have hundredths that floating point tells apart (`raw_cell`)."""


def _decimals(storage: pa.DataType | None) -> int | None:
    if storage is None or not pa.types.is_decimal(storage) or not 0 <= storage.scale <= 12:
        return None
    return storage.scale if storage.precision <= 15 else None


def _date(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    return _instant(column, given, storage, lambda lower, upper, short: days(lower, upper, short_years=short), 1.0)


def _datetime(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    def bounds(lower: float, upper: float, short: bool) -> tuple[date, date]:
        return moments(lower, upper, short_years=short)

    return _instant(column, given, storage, bounds, float(_MICROSECONDS))


def _instant(
    column: DiscoveredColumn,
    given: Mapping[str, Any],
    storage: pa.DataType | None,
    round_: Callable[[float, float, bool], tuple[date, date]],
    unit: float,
) -> BoughtColumn:
    if column.lower is None or column.upper is None:
        return BoughtColumn(column.name, {}, _NO_RANGE)
    facts: Facts = {}
    notation = str(given.get("format", column.date_format))
    if column.date_format:
        facts["format"] = (column.date_format, "bought: how most of its dates read")
    if storage is not None and pa.types.is_timestamp(storage) and storage.tz is not None:
        facts["zone"] = ("UTC", "the storage has instants; say another zone if its days are to begin there")
    first, last = sorted((column.lower / unit, column.upper / unit))
    low, high = round_(first, last, "%y" in notation)
    bounds = _kept(given, low, high, least=timedelta(0))
    facts |= _bounds(column, *bounds)
    inner = sorted({edge for edge in (_instant_of(one / unit, bounds[0]) for one in column.edges) if edge is not None})
    inside = [edge for edge in inner if bounds[0] < edge <= bounds[1]]
    if inside and "resolution" not in given:
        facts["edges"] = ([bounds[0], *inside], "bought: as fine as the noise lets")
    elif "resolution" not in given:
        facts["resolution"] = (resolution_of(*bounds), "by the bounds: about a hundred codes at most")
    return BoughtColumn(column.name, facts | _missing(column, given))


def _instant_of(number: float, like: date) -> date | None:
    """What stands `number` days, or seconds, after 1970-01-01; None beyond the calendar."""
    from datetime import datetime

    try:
        if isinstance(like, datetime):
            return EPOCH + timedelta(seconds=math.ceil(number))
        return EPOCH.date() + timedelta(days=math.ceil(number))
    except (OverflowError, ValueError):
        return None


def _ends(column: DiscoveredColumn, given: Mapping[str, Any]) -> tuple[float, float] | None:
    if column.lower is None or column.upper is None or math.isnan(column.lower) or math.isnan(column.upper):
        return None
    low, high = sorted((column.lower, column.upper))
    return low, high


def _kept(given: Mapping[str, Any], low: Any, high: Any, *, least: Any) -> tuple[Any, Any]:
    """Bounds of which a stated one stays, and the other gives way where they would be out of order."""
    if "lower" in given:
        low = given["lower"]
        high = max(high, low + least)
    elif "upper" in given:
        high = given["upper"]
        low = min(low, high - least)
    return low, high


def _bounds(column: DiscoveredColumn, low: Any, high: Any) -> Facts:
    if column.beyond is not None:
        most = max(min(column.beyond, column.records), 1)
        why = f"bought, rounded outwards: up to {most:,.0f} rows may lie beyond the two bounds and count as them"
        return {"lower": (low, why), "upper": (high, why)}
    below, above = (_tail(share) for share in column.tails)
    return {
        "lower": (low, f"bought, rounded outwards: {below} below and count as it"),
        "upper": (high, f"bought, rounded outwards: {above} above and count as it"),
    }


def _tail(share: float) -> str:
    """How many lie beyond a bound, in words: nobody knows of those that the noise hides."""
    return f"about {percent(min(share, 1.0))} lie" if share > 0 else "fewer than the noise hides lie"


NEGATIVES = "negative ones"
_FEW = 0.001
"""A share of the cells: where noise hides fewer negative numbers nothing is said of them."""


def _negatives(column: DiscoveredColumn) -> str:
    """How many negative numbers, such as refunds among amounts, nobody would have seen."""
    if column.negatives is None or column.negatives <= _FEW * column.records:
        return ""
    most = min(column.negatives, max(column.records, 1))
    share = percent(most / max(column.records, 1))
    return f"; up to {most:,.0f} {NEGATIVES} ({share}) would not have shown"


def _missing(column: DiscoveredColumn, given: Mapping[str, Any]) -> Facts:
    """A place for missing cells, and how they are written where no column of texts says it."""
    facts: Facts = {"missing": (True, _missing_words(column))}
    seen = _SAYS_SO if column.kind == "boolean" else _NOT_APPLICABLE
    for words, why in ((column.missing_words, seen), (column.shared_words, _SHARED)):
        listed = [text for text in words if not text or _means_missing(text, column)]
        if any(listed) and given.get("missing", True):
            return facts | {"missing_values": (listed, why)}
    return facts


def _means_missing(text: str, column: DiscoveredColumn) -> bool:
    """Whether a word can stand for a missing cell of a column of numbers, days or truths."""
    return _is_no_number(text) and not (column.kind == "boolean" and text.casefold() in _TRUTHS)


def _is_no_number(text: str) -> bool:
    return _can_be_listed(text) and math.isnan(parse_number(text, {}))


_SAYS_SO = "bought: frequent, and words that say so; delete those that are values"
_SHARED = "by precaution: so other columns of this table write it; delete what does not occur"
_NOT_APPLICABLE = "bought: frequent beside the numbers and days of this table"


def _missing_words(column: DiscoveredColumn) -> str:
    if column.missing is None or not column.shows_missing:
        # `others` of columns of integers may be rounded: those that are not are read as missing.
        others = misread(column, column.kind)
        return f"bought: for {counted(others)}, which read otherwise; few or none are empty" if others else CAUTION
    return f"bought: about {column.missing:,.0f} cells ({count_range(column.missing, column.missing_error)})"


_MAKERS: Mapping[Kind, Callable[[DiscoveredColumn, Mapping[str, Any], pa.DataType | None], BoughtColumn]] = {
    "text": _text,
    "boolean": _boolean,
    "integer": _number,
    "real": _number,
    "date": _date,
    "datetime": _datetime,
}
