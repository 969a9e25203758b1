"""Words that stand for a number: 90+ in ages that are cut off, <0.5 below what a laboratory can detect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import csv

from counterfoil import Schema, synthesize
from counterfoil.curator.sources.opening import open_source
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.integer import Integer
from counterfoil.schema.number_words import is_written_number
from counterfoil.schema.real import Real
from sensitive_tables import ENGINES

AGE = Integer("age", 0, 90, words=(("90+", 90),))
CRP = Real("crp", 0.0, 50.0, decimals=1, words=(("<0.5", 0.2), ("n.n.", 0.2)), missing=True)


def test_a_word_is_read_as_its_number_and_written_again() -> None:
    cells = pa.array(["90+", "89", " 90+ ", "90"])
    assert AGE.numbers(cells).tolist() == [90, 89, 90, 90]
    codes = AGE.encode(cells)
    values = AGE.decode(codes, np.random.default_rng(0))
    assert values.to_pylist() == [90, 89, 90, 90]
    assert AGE.written(values).to_pylist() == ["90+", "89", "90+", "90+"]
    assert [AGE.labels[code] for code in codes] == ["90+", "89", "90+", "90+"]


def test_of_several_words_for_a_number_the_first_is_written() -> None:
    codes = CRP.encode(pa.array(["<0.5", "N.N.", "0.2", "0.5", None, "?"]))
    assert len({*codes[:3].tolist()}) == 1
    written = CRP.written(CRP.decode(codes, np.random.default_rng(0))).to_pylist()
    assert written[:3] == ["<0.5"] * 3
    assert written[3] not in ("<0.5", None)
    assert written[4:] == [None, None]


def test_numbers_beyond_the_bounds_are_cut_off_to_the_word() -> None:
    assert AGE.written(AGE.decode(AGE.encode(pa.array([104, 3])), np.random.default_rng(0))).to_pylist() == ["90+", "3"]


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    lower, step, places = draw(st.integers(-50, 50)), draw(st.integers(1, 3)), draw(st.integers(1, 3000))
    upper = lower + step * places
    numbers = draw(st.lists(st.integers(0, places), min_size=1, max_size=4))
    facts = draw(st.sampled_from([{}, {"bins": min(7, places)}, {"scale": "log"}]))
    points = tuple(lower + step * one for one in draw(st.sets(st.integers(0, places), max_size=2)))
    words = tuple((f"w{place}", lower + step * one) for place, one in enumerate(numbers))
    return Integer("a", lower, upper, step=step, points=points, words=words, missing=draw(st.booleans()), **facts)


@st.composite
def reals(draw: st.DrawFn) -> Real:
    decimals = draw(st.sampled_from([None, 0, 1, 2]))
    lower, width = float(draw(st.integers(-9, 9))), float(draw(st.integers(1, 2000)))
    facts = draw(st.sampled_from([{}, {"bins": 9}, {"scale": "log"}, {"step": 0.5}]))
    if "step" in facts:
        decimals = None
    units = 2 if "step" in facts else 10 ** (1 if decimals is None else decimals)
    numbers = [
        round(lower + place / units, 2)
        for place in draw(st.lists(st.integers(0, int(width * units)), min_size=1, max_size=4))
    ]
    words = tuple((f"w{place}", number) for place, number in enumerate(numbers))
    try:
        return Real("a", lower, lower + width, decimals=decimals, words=words, **facts)
    except SchemaError as error:  # bins that hold no number of so many decimals are refused without words too
        assume("every bin must hold" not in str(error))
        raise


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.one_of(integers(), reals()), st.integers(0, 2**32 - 1))
def test_what_is_written_is_read_back(column: Integer | Real, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, column.size, 200)
    values = column.decode(codes, rng)
    written = column.written(values)
    assert column.encode(values).tolist() == codes.tolist()
    assert column.encode(written).tolist() == codes.tolist()
    lows, highs = column.ranges
    first = {number: word for word, number in reversed(column.words)}
    for word, number in column.words:
        (code,) = column.encode(pa.array([word])).tolist()
        assert lows[code] == highs[code] == number == column.numbers(pa.array([word]))[0]
        assert column.labels[code] == first[number]
        assert {text for text, of in zip(written.to_pylist(), codes.tolist(), strict=True) if of == code} <= {
            first[number]
        }
    assert len({*column.labels}) == column.size
    assert type(column)(**{"name": "a", "missing": column.missing, **_frozen(column.facts())}) == column


def _frozen(facts: dict) -> dict:
    words = tuple(facts["words"].items())
    return {key: tuple(fact) if isinstance(fact, list) else fact for key, fact in facts.items()} | {"words": words}


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"words": (("90", 90),)}, "must be texts that are no numbers"),
        ({"words": (("true", 1),)}, "must be texts that are no numbers"),
        ({"words": (("9 %", 9),), "unit": "%"}, "must be texts that are no numbers"),
        ({"words": (("90+", 91),)}, "within the bounds; found 91"),
        ({"words": (("90+", float("nan")),)}, "within the bounds"),
        ({"words": (("90+", 10**400),)}, "within the bounds; found 1000"),
        ({"words": (("N.N.", 1), ("n.n.", 2))}, "'N.N.' and 'n.n.' are one text"),
        ({"words": (("STRASSE", 1), ("straße", 2))}, "are one text"),
        ({"words": {"90+": 90}}, r"pairs of a text and its number.*tuple\(words\.items\(\)\)"),
        ({"words": (("90+", True),)}, "pairs of a text and its number"),
        ({"words": (("90+", 90, 91),)}, "pairs of a text and its number"),
        ({"words": (("90+", 89.5),)}, "whole numbers on the grid"),
        ({"words": (("90+", 89),), "step": 2}, "whole numbers on the grid"),
        ({"words": (("", 90),)}, "not empty"),
        ({"words": (("90+", 90),), "missing": True, "missing_values": ("90+",)}, "can't be both"),
        ({"words": (("90+", 90),), "between": ("a", "b")}, "not with `between`"),
    ],
)
def test_words_that_mean_something_else_are_refused(facts: dict, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        Integer("age", 0, 90, **facts)


def test_a_word_stands_for_a_number_of_so_many_decimals() -> None:
    with pytest.raises(SchemaError, match=r"numbers of `step` or `decimals`; '<0\.5' does not"):
        Real("crp", 0.0, 50.0, decimals=1, words=(("<0.5", 0.25),))
    with pytest.raises(SchemaError, match="numbers of `step`"):
        Real("crp", 0.0, 50.0, step=0.2, words=(("<0.5", 0.5),))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"step": float("inf")}, "`step` must be positive and finite"),
        ({"bins": 10**9, "decimals": 1}, "1,000,000 codes"),
    ],
)
def test_what_is_wrong_beside_words_is_said_as_without_them(facts: dict, said: str) -> None:
    """A thousand million bins are refused before their edges are listed, which would take all memory."""
    with pytest.raises(SchemaError, match=said):
        Real("crp", 0.0, 50.0, words=(("<2", 1),), **facts)


def test_a_word_in_capitals_and_small_letters_is_one_word_twice() -> None:
    assert Integer("a", 0, 9, words=(("N.N.", 1), ("n.n.", 1))).labels[1] == "N.N."


TOML = """
[columns.age]
kind = "integer"
lower = 0
upper = 90
words = { "90+" = 90 }

[columns.crp]
kind = "real"
lower = 0.0
upper = 50.0
decimals = 1
words = { "<0.5" = 0.2 }

[[rules]]
if = "age == '90+'"
then = "crp <= 50"
"""


def test_the_schema_keeps_words_and_rules_may_name_them() -> None:
    schema = Schema.from_toml(TOML)
    again = Schema.from_toml(schema.to_toml())
    assert (again, again["age"].words, again["crp"].words) == (schema, (("90+", 90),), (("<0.5", 0.2),))


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_engine_reads_them(engine: str) -> None:
    table = pa.table({"age": ["90+", "7", "90", "8"], "crp": ["<0.5", "0.2", "3.1", "n"]})
    schema = Schema((AGE, CRP))
    made = ENGINES[engine](open_source(table), schema)
    made.prepare(("age", "crp"))
    counts = np.zeros(schema["age"].size)
    for block in made.blocks(("age",)):
        counts += np.bincount(block.codes["age"], minlength=len(counts))
    assert (counts[90], counts[7], counts[8]) == (2, 1, 1)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_release_holds_them_as_often_as_the_table(tmp_path: Path) -> None:
    """300 of 3,000 ages are cut off; a noisy count is off by less than 100 at epsilon 20."""
    rng = np.random.default_rng(0)
    age, crp = rng.integers(0, 100, 3000), rng.integers(0, 40, 3000) / 10
    table = pa.table({
        "age": [f"{one}" if one < 90 else "90+" for one in age.tolist()],
        "crp": [f"{one}" if one >= 0.5 else "<0.5" for one in crp.tolist()],
    })  # fmt: skip
    csv.write_csv(table, path := tmp_path / "people.csv")
    made = synthesize(path, Schema.from_toml(TOML), epsilon=20, delta=1e-9)
    made.write(out := tmp_path / "copy.csv")
    cells = out.read_text().splitlines()[1:]
    for place, word in ((0, "90+"), (1, "<0.5")):
        held = sum(line.split(",")[place] == word for line in cells)
        assert abs(held - table.column(place).to_pylist().count(word)) < 100


def test_numbers_in_any_notation_are_no_words() -> None:
    numbers = ["7", "-7", "+7", "1.5", "1,5", "1'234,50", "1 234", "007", ".5", "5.", "1e3", "-4.1E+03"]
    numbers += ["12 %", "9.5 mg", "€ 5"]
    assert [text for text in numbers if not is_written_number(text)] == []
    words = ["90+", "<0.5", ">5", "n.d.", "refused", "", "-", ".", "2A", "1-2", "e3", "+"]
    assert not any(map(is_written_number, words))
