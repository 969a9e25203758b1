"""A purchase of numbers with words among them: 90+, <0.5, refused."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.bought_words import numbers_of_words, stretched
from counterfoil.discovery.discover import discover
from counterfoil.discovery.limits import limits_among
from counterfoil.schema.discovered import DiscoveredColumn
from counterfoil.schema.stated import Stated

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 8000
EPSILON = 8.0
"""At which noise hides nothing here: what shows there is in 300 rows and more."""


def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    age, crp = rng.triangular(0, 40, 100, ROWS).astype(int), rng.gamma(0.7, 3.0, ROWS).round(1)
    children, score = rng.poisson(1.5, ROWS), rng.integers(0, 101, ROWS)
    return pd.DataFrame(
        {
            "age": np.where(age < 85, age.astype(str), "85+"),
            "crp": np.where(crp >= 0.5, crp.astype(str), "<0.5"),
            "children": np.where(children < 3, children.astype(str), "3+"),
            "score": np.where(rng.random(ROWS) < 0.06, "refused", score.astype(str)),
            "hba1c": np.where(rng.random(ROWS) < 0.2, "pending", rng.normal(5, 1, ROWS).round(2).astype(str)),
            "dose": rng.choice(["0.5", "1.5", "low"], ROWS),
            "mark": rng.choice(["1", "2", "2+", "3", "4"], ROWS),
            "plain": rng.integers(0, 50, ROWS).astype(str),
        }
    )


@cache
def found() -> dict[str, DiscoveredColumn]:
    """Of a file, whose texts may be numbers; those of a frame are texts."""
    with tempfile.TemporaryDirectory() as folder:
        table().to_csv(path := Path(folder) / "people.csv", index=False)
        discovered, curator = discover(path, budget=Budget(EPSILON, 1e-9), seed=3)
        curator.close()
    return {column.name: column for column in discovered.columns}


@pytest.mark.parametrize(
    ("name", "kind", "words", "upper"),
    [("age", "integer", {"85+": 85}, 85), ("crp", "real", {"<0.5": 0.2}, None), ("children", "integer", {"3+": 3}, 3)],
)
def test_limits_among_numbers_are_words(name: str, kind: str, words: dict[str, float], upper: float | None) -> None:
    """85+ is in a twentieth of the cells, <0.5 in three in ten, of a column that would be one of texts else."""
    column, cells = found()[name], table()[name]
    facts = {key: fact for key, (fact, _) in bought_column(column).facts.items()}
    assert (facts["kind"], facts["words"]) == (kind, words)
    assert upper is None or facts["upper"] == upper
    for word, count in column.words:
        assert abs(count - (cells == word).sum()) < 60
    assert "read as missing" not in str(bought_column(column).facts)


def test_a_word_that_is_no_limit_stands_for_missing() -> None:
    facts = bought_column(found()["score"]).facts
    assert facts["missing_values"][0] == ["refused"]
    assert "words" not in facts
    assert "texts, and are read as missing" in facts["kind"][1]


def test_one_word_beside_reals_of_many_values_stands_for_missing() -> None:
    """A fifth of the cells: the column was one of texts, of which none is frequent, and in no release."""
    facts = bought_column(found()["hba1c"]).facts
    assert (facts["kind"][0], facts["missing_values"][0]) == ("real", ["pending"])
    assert "frequent ones are in `missing_values`" in facts["kind"][1]
    assert set(bought_column(found()["dose"]).facts["values"][0]) == {"0.5", "1.5", "low"}


def test_marks_with_a_plus_stay_categories() -> None:
    assert set(bought_column(found()["mark"]).facts["values"][0]) == {"1", "2", "2+", "3", "4"}


def test_numbers_without_words_are_what_they_were() -> None:
    assert found()["plain"].words == ()
    assert "words" not in bought_column(found()["plain"]).facts


def test_stated_bounds_stand() -> None:
    facts = bought_column(found()["age"], stated={"upper": 80}).facts
    assert "words" not in facts, "85 lies beyond"
    assert "texts, and are read as missing" in facts["kind"][1]
    assert bought_column(found()["age"], stated={"upper": 120}).facts["words"][0] == {"85+": 85}


def test_a_number_of_a_word_has_the_digits_of_its_column() -> None:
    words = (("<0.05", 400), (">200", 300))
    crp = replace(found()["crp"], words=words, upper=150.0, last_shown=None)
    for decimals, numbers in ((1, {"<0.05": 0.0, ">200": 200.0}), (3, {"<0.05": 0.025, ">200": 200.0})):
        facts = bought_column(replace(crp, decimals=decimals)).facts
        assert facts["words"][0] == numbers
        assert (facts["lower"][0], facts["upper"][0]) == (0.0, 200.0)


@pytest.mark.parametrize(
    ("texts", "end", "limits"),
    [
        ({"90+": 9, "refused": 5}, 89, {"90+"}),
        ({"90+": 9}, 95, {"90+"}),
        ({"90+": 9}, 140, set()),
        ({"2+": 9}, 4, set()),
        ({"2+": 9, "3+": 9}, 3, set()),
        ({"<5": 9, "<0.5": 9, ">1000": 3}, 5000, {"<5", "<0.5", ">1000"}),
    ],
)
def test_marks_are_told_from_limits(texts: dict[str, int], end: float, limits: set[str]) -> None:
    assert set(limits_among(texts.items(), end)) == limits


def ages(folder: Path) -> DiscoveredColumn:
    """Tenths of years up to 2, whole ones above: those up to 40 are in nine cells of ten."""
    rng = np.random.default_rng(0)
    above = np.minimum(rng.exponential(14, ROWS).astype(int) + 2, 95)
    age = np.where(rng.random(ROWS) < 0.4, rng.integers(1, 21, ROWS) / 10, above)
    letters = {name: rng.choice(list("abc"), ROWS) for name in "xyz"}
    pd.DataFrame({"age": age} | letters).to_csv(path := folder / "children.csv", index=False)
    discovered, curator = discover(path, budget=Budget(3.0, 1e-9), seed=0)
    curator.close()
    return next(column for column in discovered.columns if column.name == "age")


def test_numbers_beyond_those_that_are_frequent_have_bounds(tmp_path: Path) -> None:
    """Listed, 40 of them were all that the column had, and older people's cells were read as missing."""
    column = ages(tmp_path)
    numbers = sorted(float(text) for text, _ in column.categories)
    assert len(numbers) > 20, "the question about texts found them"
    assert numbers[-1] + 5 < (column.upper or 0)
    facts = bought_column(column).facts
    assert (facts["kind"][0], facts["upper"][0] > 60, "values" in facts) == ("real", True, False)
    listed = bought_column(replace(column, upper=numbers[-1])).facts
    assert (listed["kind"][0], len(listed["values"][0])) == ("categorical", len(numbers))


def test_a_number_that_cells_hold_is_no_limit_of_others() -> None:
    """Grades 1 to 5, and 5+: read as the number, 5+ was what each 5 came back as."""
    assert not limits_among({"5+": 9}.items(), 5, held={5.0})
    marks = replace(found()["children"], words=(("5+", 400),), upper=5.0, last_shown=5.0)
    assert "words" not in bought_column(marks).facts
    assert bought_column(replace(marks, upper=4.0, last_shown=4.0)).facts["words"][0] == {"5+": 5}
    tens = replace(marks, words=(("10+", 400),), upper=10.0, last_shown=10.0, codes=())
    assert bought_column(tens).facts["words"][0] == {"10+": 10}
    assert "words" not in bought_column(replace(tens, points=((10, 900),))).facts


def few(folder: Path, seed: int) -> dict[str, DiscoveredColumn]:
    """300 records, whose texts a purchase finds, and hardly where their numbers lie."""
    rng = np.random.default_rng(5)
    columns = {
        "visits": rng.choice(["1", "2", "3", "4", "5+"], 300),
        "ward": rng.choice(list("abc"), 300),
        "late": rng.choice(["0", "30", "60", "90", "120+"], 300),
        "mark": rng.choice(["1", "1+", "2", "3", "4"], 300),
    }
    pd.DataFrame(columns).to_csv(path := folder / f"{seed}.csv", index=False)
    discovered, curator = discover(path, budget=Budget(4.0, 1e-9), seed=seed)
    curator.close()
    return {column.name: column for column in discovered.columns}


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_limits_among_few_records_are_lost_by_no_doubtful_bounds(tmp_path: Path, seed: int) -> None:
    """Taken for numbers, of which no bounds showed, or bounds far beyond the limit, columns or their limits were lost.

    The mark 1+ is no limit, even where it alone shows at first.
    """
    columns = few(tmp_path, seed)
    facts = bought_column(columns["visits"]).facts
    assert "words" in facts or len(facts["values"][0]) == 5
    assert len(bought_column(columns["mark"]).facts["values"][0]) == 5


def test_few_numbers_far_apart_stay_categories_beside_a_limit(tmp_path: Path) -> None:
    """Days overdue: as numbers with a word they were all whole numbers between 0 and 120."""
    late = np.random.default_rng(5).choice(["0", "30", "60", "90", "120+"], 2000)
    pd.DataFrame({"late": late, "plain": "a"}).to_csv(path := tmp_path / "loans.csv", index=False)
    discovered, curator = discover(path, budget=Budget(EPSILON, 1e-9), seed=1)
    curator.close()
    assert set(bought_column(discovered.columns[0]).facts["values"][0]) == set(late)


@pytest.mark.parametrize("seed", range(3))
def test_whole_numbers_of_which_none_shows_are_no_categories_beside_a_frequent_limit(tmp_path: Path, seed: int) -> None:
    """Ages with 75+ in a fifth of the cells were left out, and kidney values with >= 90 in most were `other`."""
    rng = np.random.default_rng(seed)
    rows = 8000
    age = rng.triangular(0, 60, 105, rows).astype(int)
    table = {
        "age": np.where(age < 75, age.astype(str), "75+"),
        "egfr": np.where(rng.random(rows) < 0.6, ">= 90", rng.integers(20, 90, rows).astype(str)),
        "step": rng.choice(["0", "30", "60", "90", "120+"], rows),
    }
    pd.DataFrame(table).to_csv(path := tmp_path / "t.csv", index=False)
    discovered, curator = discover(path, budget=Budget(0.2, 1e-9), seed=seed)
    curator.close()
    facts = {column.name: bought_column(column).facts for column in discovered.columns}
    assert {name: one["words"][0] for name, one in facts.items() if "words" in one} == {
        "age": {"75+": 75},
        "egfr": {">= 90": 90},
    }
    assert set(facts["step"]["values"][0]) == set(table["step"])


@pytest.mark.parametrize(
    ("name", "facts", "word", "given"),
    [
        ("plain", {"digits": 3}, "<-5", {}),
        ("plain", {}, "40+", {"lower": 0, "step": 7}),
        ("crp", {"decimals": 1}, ">934492230572773", {}),
        ("crp", {"decimals": 1}, "<0.5", {"lower": 0, "step": 0.5}),
    ],
)
def test_a_number_that_its_column_cannot_have_stands_for_no_word(
    name: str, facts: dict[str, Any], word: str, given: dict[str, Any]
) -> None:
    """The purchase was charged, and its schema did not load."""
    column = replace(found()[name], words=((word, 500),), last_shown=40.0, **facts)
    assert numbers_of_words(column, {}) or not given
    assert not numbers_of_words(column, given)
    assert "words" not in bought_column(column, stated=given).facts


def test_numbers_with_a_stated_unit_are_no_words(tmp_path: Path) -> None:
    """Beside one limit the 20 most frequent numbers were read as missing."""
    cells = [f"{number} Stk" if number else "> 20 Stk" for number in range(21) for _ in range(200)]
    pd.DataFrame({"pieces": cells}).to_csv(path := tmp_path / "pieces.csv", index=False)
    stated = {"pieces": Stated(unit="Stk")}
    discovered, curator = discover(path, stated=stated, budget=Budget(EPSILON, 1e-9), seed=3)
    curator.close()
    assert [text for text, _ in discovered.columns[0].words] == ["> 20 Stk"]


def test_a_word_at_the_only_number_of_reals_leaves_room_between_bounds() -> None:
    assert stretched((92.0, 93.0), 92.0, {">=92": 92.0}, {}) == (92.0, 93.0)
    assert stretched((0.0, 93.0), 92.0, {">=92": 92.0}, {}) == (0.0, 92.0)
