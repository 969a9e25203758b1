"""Random public facts, and an independent reading of a cell against them, one cell at a time."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from hypothesis import strategies as st

from counterfoil.schema import Boolean, Categorical, Date, Datetime, Integer, Real
from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError

WORDS = st.sampled_from(["a", "b", "39", "1e3", "NaN", "é ü", 'say "hi"', "x,y", "line\nbreak", "other", "01", "?"])
MISSING = st.fixed_dictionaries(
    {"missing": st.just(True)},
    optional={"missing_values": st.sampled_from([("?",), ("N", "-9999"), ("9999",), ("", "?")])},
) | st.just({})

ZONES = st.sampled_from(["", "UTC", "Europe/Zurich", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"])


@st.composite
def categoricals(draw: st.DrawFn) -> Categorical:
    values = tuple(draw(st.lists(WORDS, min_size=1, max_size=5, unique=True)))
    facts = draw(MISSING)
    if set(values) & set(facts.get("missing_values", ())):
        facts = {"missing": True}
    order = draw(st.sampled_from([{}, {"other": True}, {"ordered": True}]))
    return Categorical("c", values, **order, **facts)


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    step = draw(st.sampled_from([1, 1, 2, 5]))
    lower = draw(st.integers(-20, 20))
    n_points = draw(st.integers(1, 30))
    upper = lower + step * (n_points - 1)
    groups = draw(st.sampled_from(["none", "bins", "edges"]))
    facts = dict(draw(MISSING))
    if groups == "bins":
        facts["bins"] = draw(st.integers(1, n_points))
    elif groups == "edges":
        starts = draw(st.sets(st.integers(1, n_points - 1), max_size=4)) if n_points > 1 else set()
        facts["edges"] = (lower, *(lower + step * start for start in sorted(starts)))
    if draw(st.booleans()):
        places = draw(st.sets(st.integers(0, n_points - 1), max_size=3))
        facts["points"] = tuple(lower + step * place for place in places)
    if lower >= 0:
        facts["digits"] = draw(st.sampled_from([0, 0, 1, 4]))
    return Integer("c", lower, upper, step, **facts)


@st.composite
def reals(draw: st.DrawFn) -> Real:
    lower = draw(st.integers(-30, 30)) / 4
    width = draw(st.integers(1, 40)) / 4
    facts = dict(draw(MISSING))
    if draw(st.booleans()):
        facts["points"] = tuple(draw(st.sets(st.sampled_from([lower, lower + width, lower + width / 2]), max_size=2)))
    groups = draw(st.sampled_from(["bins", "resolution", "edges"]))
    if groups == "bins":
        facts["bins"] = draw(st.integers(1, 12))
    elif groups == "resolution":
        facts["resolution"] = draw(st.sampled_from([0.1, 0.25, 0.3, 7.0]))
    else:
        inner = draw(st.sets(st.integers(1, 9), max_size=4))
        facts["edges"] = (lower, *(lower + width * tenth / 10 for tenth in sorted(inner)), lower + width)
    try:
        return Real("c", lower, lower + width, **facts, step=draw(st.sampled_from([0.0, 0.25])))
    except SchemaError:  # a point or a bin that is not on the grid
        return Real("c", lower, lower + width, **facts)


@st.composite
def dates(draw: st.DrawFn) -> Date:
    lower = draw(st.dates(date(1890, 1, 1), date(2030, 1, 1)))
    upper = lower + timedelta(days=draw(st.integers(0, 800)))
    resolution = draw(st.sampled_from(["", "1d", "7d", "1mo", "3mo", "1y"]))
    notation = draw(st.sampled_from(["", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y"]))
    return Date("c", lower, upper, resolution, format=notation, zone=draw(ZONES), **draw(MISSING))


@st.composite
def datetimes(draw: st.DrawFn) -> Datetime:
    lower = draw(st.datetimes(datetime(1960, 1, 1), datetime(2030, 1, 1))).replace(microsecond=0)
    upper = lower + timedelta(seconds=draw(st.integers(0, 3 * 86_400)))
    resolution = draw(st.sampled_from(["10min", "1h", "1d", "1mo"]))
    zone = draw(ZONES)
    notation = draw(st.sampled_from(["", "%d.%m.%Y %H:%M:%S%z" if zone else "%d.%m.%Y %H:%M:%S"]))
    return Datetime("c", lower, upper, resolution, format=notation, zone=zone, **draw(MISSING))


booleans = st.builds(
    lambda words, labels: Boolean("c", *labels, missing=bool(words), missing_values=words),
    st.sampled_from([(), ("?", "9"), ("", "?")]),
    st.sampled_from([(), ("Yes", "No"), ("T", "F"), (1, 0), (1, 2), ("7", "on"), ("1", "a")]),
)
columns = st.one_of(categoricals(), integers(), reals(), dates(), datetimes(), booleans)

CELLS = st.one_of(
    st.none(),
    WORDS,
    st.integers(-60, 60).map(str),
    st.integers(-300, 300).map(lambda quarter: repr(quarter / 4)),
    st.sampled_from(
        [
            " 39",
            "39 ",
            "\t7\n",
            "1e1",
            "+3",
            "-0",
            ".5",
            "5.",
            "1_000",
            "1,5",
            "inf",
            "-Infinity",
            "nan",
            "",
            "  ",
            "99999999999999999999999",
            "-1e400",
            "0x10",
            "１２",
            "١",
            "TRUE",
            "No",
            "y",
            "N",
            "-9999",
            "9999.0",
            "9",
            "zebra",
            "\u00a0b",
        ]
    ),
)


def number(text: str) -> Fraction | float | None:
    """The number in a stripped text, read with `decimal`; None where there is none."""
    if text.casefold() in ("true", "false"):
        return Fraction(int(text.casefold() == "true"))
    if not text.isascii() or "_" in text or text.strip() != text:
        return None
    try:
        read = Decimal(text)
    except InvalidOperation:
        return None
    if read.is_nan():
        return None
    return float(read) if read.is_infinite() or abs(read) > 10**300 else Fraction(read)


def code_of(column: Column, cell: str | None) -> int | None:
    """The code of one cell by the documented rules; None where it has no place."""
    text = (cell or "").strip()
    if text in column.missing_values:
        text = ""
    nowhere = column.missing_code
    if isinstance(column, Categorical):
        elsewhere = len(column.values) if column.other else nowhere
        if not text:
            return nowhere if column.missing else elsewhere
        if text in column.values:
            return column.values.index(text)
        read = None if text.casefold() in ("true", "false") else number(text)
        if read is None or isinstance(read, float):
            return elsewhere
        same = [i for i, value in enumerate([*column.values, *column.missing_values]) if plain(value) == read]
        if len(same) != 1:
            return elsewhere
        return same[0] if same[0] < len(column.values) else (nowhere if column.missing else elsewhere)
    if isinstance(column, Boolean):
        words = {"t": 1, "yes": 1, "y": 1, "f": 0, "no": 0, "n": 0}
        labels = {} if column.true is None else {str(column.true): 1, str(column.false): 0}
        words |= {label.casefold(): code for label, code in labels.items()}
        words |= {number(label): code for label, code in labels.items() if number(label) is not None}
        read = words.get(text.casefold(), words.get(number(text), number(text)))
        missing = [words.get(value.casefold(), number(value)) for value in column.missing_values]
        return int(read) if read in (0, 1) and read not in missing else nowhere
    read = number(text)
    if read is None or read in [number(value) for value in column.missing_values]:
        return nowhere
    clamped = min(max(read, Fraction(column.lower)), Fraction(column.upper))
    assert isinstance(clamped, Fraction)
    if isinstance(column, Integer):
        points = range(column.lower, column.upper + 1, column.step)
        position = min(range(len(points)), key=lambda i: (abs(points[i] - clamped), -points[i]))
        bins = column.bins or len(points)
        starts = {points[(i * len(points)) // bins] for i in range(bins)} if not column.edges else {*column.edges}
        starts |= {point + after for point in column.points for after in (0, column.step)} - {
            column.upper + column.step
        }
        return sum(start <= points[position] for start in starts) - 1
    assert isinstance(column, Real)
    if column.step:
        step = Fraction(str(column.step))
        clamped = column.lower + step * ((clamped - Fraction(column.lower)) / step + Fraction(1, 2)).__floor__()
    # Decoded values lie between the ends of their code, so the ends tell where any other number belongs.
    lows, highs = column.ranges
    inside = [i for i in range(column.n_bins) if lows[i] <= float(clamped) <= highs[i]]
    return min(inside, key=lambda i: highs[i] - lows[i])


def plain(value: str) -> Fraction | None:
    read = None if value.casefold() in ("true", "false") else number(value)
    return read if isinstance(read, Fraction) else None
