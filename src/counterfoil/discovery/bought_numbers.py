"""Bought columns of numbers: bounds and bins, or the few numbers that hold nearly all cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pyarrow as pa

from counterfoil.discovery.bought_bounds import about_negatives, bounds_facts, kept_bounds
from counterfoil.discovery.bought_categories import text_facts
from counterfoil.discovery.bought_facts import NO_RANGE, STANDARD_ERRORS, BoughtColumn, Facts, coverage, coverage_range
from counterfoil.discovery.bought_missing import missing_facts
from counterfoil.discovery.bought_words import end_of, numbers_of_words, stretched, words_facts
from counterfoil.discovery.outwards import integers, reals
from counterfoil.schema.discovered import DiscoveredColumn, percent, share_range
from counterfoil.schema.drafting import may_name_somebody
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.schema.scale import MANY_NUMBERS
from counterfoil.schema.values import has_two_readings, parse_number

_ROOM = 0.05
"""A share of the cells: where so many may hold another number than the only one that shows, somebody has to say so."""

_AS_MANY = (0.8, 1.5)
"""Whole numbers between the bounds over records: as many as a column has that numbers the rows, bounds rounded."""


def number_facts(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    """The bounds of a column of numbers with its decimals, points and bins; or its numbers as categories."""
    ends = _ends(column, given)
    if ends is None:
        return BoughtColumn(column.name, {}, NO_RANGE)
    words = numbers_of_words(column, given)
    if not words and not _OF_NUMBERS & set(given) and given.get("missing", True):
        if column.codes and not column.unit and _are_read_plainly(column):
            return _codes(column, given)
        if (column.kind == "real" or column.lumps) and (few := _few_numbers(column, given)):
            return text_facts(column, given, storage) if _has_leading_zeros(column) else BoughtColumn(column.name, few)
    whole, rare = column.kind == "integer", may_be_rare(column)
    ends = (0.0, max(ends[1], ROOM_BESIDE_ZERO)) if rare else ends
    facts: Facts = _digits(column, given) | _unit(column, ends)
    decimals = given.get("decimals")
    if not whole and decimals is None and (decimals := _decimals(storage)) is not None:
        facts["decimals"] = (decimals, "the type in storage")
    if not whole and decimals is None and column.decimals and max(map(abs, ends)) <= _SPACED:
        decimals = column.decimals
        facts["decimals"] = (decimals, "bought: nearly all of its numbers have no more")
    low, high = integers(*ends) if whole else reals(*ends, decimals)
    high = _with_digits(high, ends[1], facts)
    low, high = stretched((low, high), end_of(column), words, given)
    bounds = kept_bounds(given, low, high, least=0 if whole else max(abs(high) * 1e-6, 10.0 ** -(decimals or 0)))
    asks = not rare and not {"lower", "upper"} & set(given)
    facts |= (_alone(column) if asks else {}) | bounds_facts(column, *bounds)
    if rare and not {"lower", "upper"} & set(given):
        why = f"0 alone shows, and the noise may hide {may_hide(column):,.0f} cells with other numbers"
        facts["upper"] = (bounds[1], f"by precaution: {why}; those above count as it")
    if "lower" not in given and bounds[0] >= 0 and not (storage is not None and pa.types.is_unsigned_integer(storage)):
        facts["lower"] = (bounds[0], facts["lower"][1] + about_negatives(column))
    facts |= words_facts(words)
    inner = [edge for edge in column.edges if bounds[0] < edge < bounds[1]]
    inside = sorted({math.ceil(edge) if whole else float(edge) for edge in inner})
    if inside and decimals is None and "scale" not in given:
        edges = [bounds[0], *inside, *([] if whole else [bounds[1]])]
        facts["edges"] = (edges, "bought: as fine as the noise lets")
    elif not _CUT & set(given) and (step := _step(bounds, facts.get("decimals", (decimals, ""))[0], given)):
        facts["step"] = (step, "each number between the bounds has a code of its own")
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
    return BoughtColumn(column.name, facts | missing_facts(column, given, words))


def _digits(column: DiscoveredColumn, given: Mapping[str, Any]) -> Facts:
    """How many digits its numbers have where they are written with leading zeros; a negative one has none."""
    if not column.digits or column.kind != "integer" or may_be_negative(column, given):
        return {}
    why = f"bought: numbers are written with leading zeros, as {code_text(1, column.digits)} is"
    return {"digits": (column.digits, why + ("; some are not, and come back with them" if column.unpadded else ""))}


def may_be_negative(column: DiscoveredColumn, given: Mapping[str, Any]) -> bool:
    """Whether the lower bound of a column of numbers is negative, as stated or as found, or as the stated upper one."""
    return bool(given.get("lower", min(column.lower or 0, given.get("upper", 0))) < 0)


def _with_digits(bound: float, found: float, facts: Facts) -> float:
    """An upper bound, rounded outwards, where numbers have so many digits: 99999 in place of 100000 for five."""
    greatest = 10 ** facts["digits"][0] - 1 if "digits" in facts else bound
    return greatest if found <= greatest < bound else bound


def _unit(column: DiscoveredColumn, ends: tuple[float, float]) -> Facts:
    """What stands beside its numbers; with separators of thousands where some may be so large, beyond bounds too."""
    if not column.unit:
        return {}
    facts: Facts = {"unit": (column.unit, "bought: it stands beside the numbers that show; those without it are read")}
    if column.separators and max(map(abs, ends)) >= _LEAST_SEPARATED / _BEYOND:
        facts["decimal_char"] = (".", "by precaution: separators of thousands, as in 1,234, are read as well")
    return facts


def _step(bounds: tuple[float, float], decimals: int | None, given: Mapping[str, Any]) -> float | None:
    """Of reals with so many digits after the point, where no more lie between the bounds than have codes of their own.

    In bins they would come back as their neighbors in the bin: prices of .89 as .88 and .90.
    """
    if decimals is None or "scale" in given or round((bounds[1] - bounds[0]) * 10**decimals) >= MANY_NUMBERS:
        return None
    step = float(f"1e-{decimals}")
    try:
        Real("", *bounds, step=step, decimals=decimals)
    except SchemaError:  # a bound that was stated is not on the grid
        return None
    return step


def _points(column: DiscoveredColumn, given: Mapping[str, Any], undivided: Integer | Real) -> Facts:
    """The single numbers that stand out and would share a code with others."""
    absent = _absent(column, given)
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
    """Whether a column of integers, none of which shows by itself, spans about as many of them as there are records,
    or more where its name is an identifier's: few bounds are close to numbers that begin far from zero.

    A number of rows is missing nowhere.
    """
    if column.kind != "integer" or column.codes or column.lumps or column.shows_missing:
        return False
    if column.lower is None or column.upper is None:
        return False
    least, most = _AS_MANY
    most = math.inf if may_name_somebody(column.name) else most
    return column.records > 0 and least <= (column.upper - column.lower + 1) / column.records <= most


ROOM_BESIDE_ZERO = 15.0
"""Up to here whole numbers beside zero have codes where zero alone shows: such columns are mostly rare flags, and rare
counts, of which none was seen."""

_NONE = 0.001
"""A share of the cells: where noise hides fewer other numbers than these, there is no room for them."""


def may_hide(column: DiscoveredColumn) -> float:
    """How many cells may hold other numbers than the only one that shows, the upper end of a 95% interval."""
    others, error = column.elsewhere or (0.0, 0.0)
    return min(max(others, 0.0) + STANDARD_ERRORS * error, column.records)


def may_be_rare(column: DiscoveredColumn) -> bool:
    """Whether zero alone shows of whole numbers, as of a rare flag, and noise may hide others.

    Where many cells surely hold others, or read otherwise, it is something else than a rare flag.
    """
    ends = (column.lower, column.upper)
    alone = column.kind == "integer" and column.elsewhere is not None and ends in ((0, 0), (0, ROOM_BESIDE_ZERO))
    others, error = column.elsewhere or (0.0, 0.0)
    many = bool(column.others) or others - STANDARD_ERRORS * error > _ROOM * column.records
    return alone and not many and may_hide(column) > _NONE * column.records


def _alone(column: DiscoveredColumn) -> Facts:
    """A question to whoever knows, where one number alone shows, and the noise may hide that cells hold others."""
    if column.elsewhere is None:
        return {}
    most = may_hide(column)
    if most <= _ROOM * column.records:
        return {}
    why = f"{column.lower:g} alone shows, and the noise may hide {most:,.0f} cells with other numbers"
    return {"confirm": (True, f"bought: {why}; correct the bounds, then delete this line")}


def _absent(column: DiscoveredColumn, given: Mapping[str, Any]) -> set[float]:
    """The numbers that stand for what is missing."""
    signs = column.decimal_char, str(given.get("unit", ""))
    return {parse_number(str(text), {}, *signs) for text in given.get("missing_values", ())}


_CUT = {"points", "step", "bins", "edges", "resolution"}
"""Facts that say which numbers have codes."""

_OF_NUMBERS = {"kind", "lower", "upper", "step", "bins", "edges", "scale", "digits"}
"""Facts that a list of codes does not go with: who states one of them means numbers."""


def _codes(column: DiscoveredColumn, given: Mapping[str, Any]) -> BoughtColumn:
    """Integers of which few hold nearly all cells; what is no code is read as missing, so that codes stay integers."""
    absent = _absent(column, given)
    listed = {code: count for code, count in column.codes if code not in absent}
    if not listed:
        return BoughtColumn(column.name, {}, NO_RANGE)
    share, error = coverage(column, sum(listed.values()), len(listed))
    rest = f"they cover about {percent(share)} ({share_range(share, error)}), and the rest is read as missing"
    both = ", with and without zeros, for numbers are written in either way" if column.unpadded else ""
    codes = [one for code in listed for one in spellings(code, column)]
    facts: Facts = {"values": (codes, f"bought: integers that seem frequent{both}, some of them by noise; {rest}")}
    return BoughtColumn(column.name, facts | missing_facts(column, given))


def code_text(code: int, digits: int) -> str:
    """A code as a table writes it whose codes have so many digits; a negative one, such as -9, has no zeros."""
    return f"{code:0{digits}d}" if code >= 0 else str(code)


def spellings(code: int, column: DiscoveredColumn) -> list[int | str]:
    """What is listed for a code. Texts mean one spelling each: where both 7 and 07 may occur, both are listed."""
    if not column.digits:
        return [code]
    padded, plain = code_text(code, column.digits), str(code)
    return [padded, plain] if column.unpadded and plain != padded else [padded]


def _are_read_plainly(column: DiscoveredColumn) -> bool:
    """Whether integers are found as categories, which know no decimal sign: 1.000 would be 1 there, and 1,00 none."""
    if not column.decimal_char:
        return True
    if column.decimal_char == "." and all(abs(code) < _LEAST_SEPARATED for code, _ in column.codes):
        return True
    shown = {parse_number(text, {}) for text, _ in column.categories if not has_two_readings(text, column.decimal_char)}
    return shown.issuperset(code for code, _ in column.codes)


_LEAST_SEPARATED = 1000
"""Smaller numbers have no separators of thousands."""

_BEYOND = 8
"""Times as large as a bound numbers beyond it may be, which are read as well and count as the bound."""


def _few_numbers(column: DiscoveredColumn, given: Mapping[str, Any]) -> Facts:
    """Numbers of which few were found as texts and hold nearly all cells; nothing for others."""
    absent = _absent(column, given)
    if given.get("unit") or any(has_two_readings(text, column.decimal_char) for text, _ in column.categories):
        return {}
    counts: dict[float, int] = {}
    for text, count in column.categories:
        number = parse_number(text, {}, column.decimal_char)
        if math.isfinite(number) and number not in absent:
            counts[number] = counts.get(number, 0) + count
    numbers = sum(column.votes.get(kind, 0) for kind in ("integer", "real"))  # with less noise than all records
    held, most, chance = sum(counts.values()), max(counts.values(), default=0), _BY_CHANCE * column.missing_error
    if len(counts) < 2 or held < _NEARLY_ALL * numbers - chance or held - most < _MOST * (numbers - most + chance):
        return {}
    if column.kind == "real" and _may_have_tails(sorted(counts), column.decimals or 0, held / numbers):
        return {}
    if held < _ALL * numbers - chance and _reach_further(column, sorted(counts)):
        return {}
    share, error = coverage(column, sum(counts.values()), len(counts))
    rest = (
        f"they cover about {percent(share)} ({coverage_range(column, share, error)}), and the rest is read as missing"
    )
    listed = [int(one) for one in sorted(counts)] if column.kind == "integer" else sorted(counts)
    return {"values": (listed, f"bought: frequent numbers; {rest}")} | missing_facts(column, given)


def _has_leading_zeros(column: DiscoveredColumn) -> bool:
    """Whether integers were found that begin with 0, such as 01110, which are texts: as numbers they would lose it."""
    return column.kind == "integer" and any(len(text) > 1 and text.startswith("0") for text, _ in column.categories)


def _may_have_tails(numbers: list[float], decimals: int, held: float) -> bool:
    """Whether reals follow one another as a measure's do that was rounded, whose rarer numbers would be lost.

    As numbers with so many decimals each keeps a code of its own, and the rarer ones lie between bounds. Those that
    follow by larger steps, such as halves, are categories where nearly all cells hold one.

    Args:
        numbers: that were found, ascending.
        decimals: that nearly all numbers of the column have at most.
        held: about which share of the numbers they hold.
    """
    step = min(later - earlier for earlier, later in pairwise(numbers))
    if len(numbers) < _FOLLOWING or len(numbers) < _FILLED * (round((numbers[-1] - numbers[0]) / step) + 1):
        return False
    return step < 1.5 * 10.0**-decimals or held < _ALL


def _reach_further(column: DiscoveredColumn, numbers: list[float]) -> bool:
    """Whether the bounds say that numbers lie further out than from each found one to the next.

    Ages of 0.1 to 2 years and whole ones above are found up to 40; listed, those of all older people would be lost.
    """
    if column.lower is None or column.upper is None:
        return False
    widest = max(later - earlier for earlier, later in pairwise(numbers))
    return column.upper > numbers[-1] + widest or column.lower < numbers[0] - widest


_FOLLOWING = 5
"""Numbers, from which on they may be the middle of a measure."""

_FILLED = 0.75
"""A share of the places between the least and the greatest."""

_ALL = 0.98
"""A share of the numbers, from which on those that hold none of the listed ones are too few to matter."""

_BY_CHANCE = 2.0
"""Deviations of the noise of a class of cells by which fewer may be found, as there may seem to be more."""

_NEARLY_ALL = 0.9
"""A share of the numbers that show in a column of reals, from which on those that hold them are all that it has."""

_MOST = 0.75
"""The same of those beside the most frequent number, of as many as there may be: amounts of few people are no
categories beside the zeros of many."""

_SPACED = 2.0**36
"""Numbers up to here have hundredths that floating point tells apart (`raw_cell`)."""


def _decimals(storage: pa.DataType | None) -> int | None:
    if storage is None or not pa.types.is_decimal(storage) or not 0 <= storage.scale <= 12:
        return None
    return storage.scale if storage.precision <= 15 else None


def _ends(column: DiscoveredColumn, given: Mapping[str, Any]) -> tuple[float, float] | None:
    if column.lower is None or column.upper is None or math.isnan(column.lower) or math.isnan(column.upper):
        return None
    low, high = sorted((column.lower, column.upper))
    return low, high
