"""Random answers about a table that nobody has described, and what they cost."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from counterfoil.schema.bought import Bought
from counterfoil.schema.discovered import Discovered, DiscoveredColumn

BOUGHT = Bought(0.1, 1e-9, "add_or_remove_one", "ab" * 32)

HOSTILE = [
    "a",
    "<script>alert(1)</script>",
    'say "hi"',
    "it's",
    "pipe|pipe",
    "line\nbreak",
    "carriage\rreturn",
    "=cmd()",
    "[columns.x]",
    "# no comment",
    "\x1b[31mred",
    "back\\slash",
    "tab\tin",
    "del\x7f",
    "\u202eright",
    "c1\x9b",
    "sep\u2028",
    "x" * 5000,
    "01",
    "1",
    "1.0",
    "?",
    "",
    " padded ",
    "\ufffd0xff",
    "nul\x00",
    "other",
]
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXTS.filter(lambda text: bool(text.strip())) | st.sampled_from(["id", "income", "drug_*", "what?", "columns"])
KINDS = ["integer", "real", "date", "datetime", "boolean", "text"]
FORMATS = ["", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%y", "%Y%m%d", "%d %b %Y"]

# Edges of a sign-symmetric geometric grid, powers of two and ten, and what no care would expect.
ENDS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 5e-324, -5e-324, 1.7e308, -1.7e308, math.inf, -math.inf, 2.0**53, 1e-9]),
    st.integers(-1074, 1023).map(lambda power: 2.0**power),
    st.integers(-40, 40).map(lambda power: -(10.0**power)),
    st.floats(allow_nan=False, width=64),
    st.integers(-(10**6), 10**6).map(float),
)


def points_between(low: float, high: float, kind: str) -> st.SearchStrategy[set[float]]:
    """Some of the numbers between two bounds, and the bounds."""
    first, last = max(low, -1.7e308) + 0.0, min(high, 1.7e308) + 0.0  # none is -0.0, which is below 0.0 for hypothesis
    if first > last:
        return st.just(set())
    inside = st.sampled_from([first, last]) | st.floats(first, last)
    rounded = inside.map(lambda number: float(math.floor(number))) if kind == "integer" else inside.map(_to_tenths)
    return st.sets(rounded if kind == "integer" else inside | rounded, max_size=6)


def _to_tenths(number: float) -> float:
    return round(number, 1)


@st.composite
def discovered_columns(draw: st.DrawFn, name: str) -> DiscoveredColumn:
    kind = draw(st.sampled_from(KINDS))
    ranged = kind in ("integer", "real", "date", "datetime") and draw(st.integers(0, 9)) > 0
    low, high = sorted((draw(ENDS), draw(ENDS))) if ranged else (None, None)
    edges = tuple(sorted(draw(st.lists(ENDS, max_size=5, unique=True)))) if ranged and draw(st.booleans()) else ()
    texts = draw(st.lists(TEXTS, max_size=6, unique=True)) if kind == "text" else []
    whole = st.integers(-(2**53), 2**53) | st.integers(-20, 2000)
    codes = draw(st.just(()) | st.sets(whole, max_size=6)) if kind == "integer" and ranged else ()
    points = draw(points_between(low, high, kind)) if ranged and kind in ("integer", "real") else ()
    if kind == "boolean":
        texts = draw(st.sampled_from([[], ["yes", "no"], ["1", "0"], ["True", "False"], ["t"], ["y", "yes"]]))
    return DiscoveredColumn(
        name=name,
        kind=kind,
        votes=draw(st.just({}) | st.dictionaries(st.sampled_from(KINDS), st.integers(-300, 10**6), max_size=3)),
        lower=low,
        upper=high,
        tails=(draw(st.floats(-0.1, 1.1)), draw(st.floats(-0.1, 1.1))),
        categories=tuple((text, draw(st.integers(1, 10**5))) for text in texts),
        records=draw(st.integers(-500, 10**5)),
        missing=draw(st.none() | st.integers(-500, 10**4)),
        edges=edges,
        deviation=draw(st.floats(0, 500)),
        date_format=draw(st.sampled_from(FORMATS)) if kind == "date" else "",
        missing_words=tuple(draw(st.sets(st.sampled_from(["?", "NA", "n/a", "None"]), max_size=2)))
        if kind == "text"
        else (),
        decimals=draw(st.sampled_from([None, 0, 1, 2])) if kind == "real" else None,
        codes=tuple((code, draw(st.integers(1, 10**5))) for code in sorted(codes)),
        read=draw(st.none() | st.tuples(st.floats(0, 1), st.floats(0, 9))),
        points=tuple((point, draw(st.integers(1, 10**5))) for point in sorted(points)),
        points_deviation=draw(st.floats(0, 500)),
        others=draw(st.sampled_from([(), (("%d.%m.%Y", 300), ("texts", 20))])),
    )


@st.composite
def discoveries(draw: st.DrawFn) -> Discovered:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    columns = tuple(draw(discovered_columns(name)) for name in names)
    return Discovered(columns, 0.1, 1e-9, "add_or_remove_one", {"ranges": 1.0})
