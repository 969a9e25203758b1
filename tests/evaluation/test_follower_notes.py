"""Columns that follow from another one: what `check` says of them, against brute force over the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import Schema
from counterfoil.evaluation import follower_notes
from counterfoil.evaluation.follower_notes import RECORDS_OF_EACH
from counterfoil.evaluation.schema_report import check_without_privacy

CODES = ("a", "b", "c", "d")


def schema(names: list[str], more: str = "") -> Schema:
    columns = "".join(
        f'[columns.{name}]\nkind = "categorical"\nvalues = {list(CODES)}\nmissing = true\n' for name in names
    )
    return Schema.from_toml(f'name = "t"\n{columns}{more}')


def followers(table: pd.DataFrame, more: str = "") -> dict[str, str]:
    """By column that follows, what is said of it."""
    report = check_without_privacy(table, schema(list(table), more))
    return {note.column: note.text for note in report.notes if note.kind == "follows"}


def labelled(rows: int, seed: int = 0) -> pd.DataFrame:
    code = np.random.default_rng(seed).integers(0, 4, rows)
    other = np.random.default_rng(seed + 1).integers(0, 4, rows)
    letters = np.array(CODES)
    return pd.DataFrame({"code": letters[code], "area": letters[[0, 0, 1, 2]][code], "free": letters[other]})


def test_a_coarser_column_follows_and_the_finer_one_does_not() -> None:
    found = followers(labelled(1000))
    assert list(found) == ["area"]
    assert "each of the 4 values of code" in found["area"]


def test_of_two_that_say_each_other_the_later_one_follows() -> None:
    table = labelled(1000)
    table["label"] = table["code"].map(dict(zip(CODES, "dcba", strict=True)))
    found = followers(table)
    assert list(found) == ["area", "label"]
    assert "values of code" in found["label"]


def test_the_closest_source_is_named() -> None:
    table = labelled(1000)
    table["zone"] = np.where(table["area"] == "a", "a", "b")
    assert "each of the 3 values of area" in followers(table)["zone"]


@pytest.mark.parametrize("place", [0, 500, 999])
def test_one_record_that_says_otherwise_is_enough(place: int) -> None:
    table = labelled(1000)
    table.loc[place, "area"] = "d"
    assert not followers(table)


def test_missing_cells_are_a_value() -> None:
    table = labelled(1000)
    table.loc[table["code"] == "a", "area"] = None
    assert list(followers(table)) == ["area"]
    table.loc[table.index[table["code"] == "b"][0], "area"] = None
    assert not followers(table)


def test_few_records_say_nothing() -> None:
    assert not followers(labelled(4 * RECORDS_OF_EACH - 1))
    rare = pd.DataFrame({"code": ["a"] * 990 + ["b"] * 9 + ["c"], "flag": ["a"] * 999 + ["b"]})
    assert not followers(rare), "one record that has the flag says nothing of a code"


def test_what_rules_and_zeros_say_is_not_said_again() -> None:
    rule = "[[rules]]\nif = \"code == 'a'\"\nthen = \"area == 'a'\"\n"
    zeros = '[[zeros]]\ncolumns = ["area", "code"]\nvalues = [["d", "a"]]\n'
    assert followers(labelled(1000))
    assert not followers(labelled(1000), rule)
    assert not followers(labelled(1000), zeros)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.integers(0, 4),
)
def test_as_brute_force_says(seed: int, columns: int, noise: int) -> None:
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 4, 400)
    table = {"c": code}
    for name in "xyz"[:columns]:
        table[name] = rng.integers(0, 4, 4)[code]
        table[name][rng.integers(0, 400, noise if rng.random() < 0.5 else 0)] = 3
    frame = pd.DataFrame({name: np.array(CODES)[codes] for name, codes in table.items()})
    assert set(followers(frame)) == _expected(frame)


def _expected(frame: pd.DataFrame) -> set[str]:
    order = {name: place for place, name in enumerate(frame)}

    def says(one: str, other: str) -> bool:
        groups = frame.groupby(one)[other]
        common = (
            frame[other].mode().min()
            if frame[other].mode().size == 1
            else frame[other].value_counts().sort_index().idxmax()
        )
        sizes, firsts = groups.size(), groups.first()
        rare = sizes[firsts != common]
        enough = all(part.sum() >= RECORDS_OF_EACH * len(part) for part in (sizes, rare))
        return bool((groups.nunique() == 1).all() and len(rare) and enough)

    return {
        other
        for other in frame
        for one in frame
        if one != other and says(one, other) and (not says(other, one) or order[one] < order[other])
    }


def test_wide_tables_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_notes, "MOST_COLUMNS", 2)
    assert not followers(labelled(1000))
    assert followers(labelled(1000)[["code", "area"]])


def test_batches_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterfoil.curator.raw_reading.BATCH_ROWS", 64)
    monkeypatch.setattr(follower_notes, "_SCREENED", 10)
    table = labelled(1000)
    assert list(followers(table)) == ["area"]
    table.loc[999, "area"] = "d"
    assert not followers(table)


def test_numbers_beyond_a_bound_are_not_one_value() -> None:
    """Costs of a dialysis, of which the purchase saw none, counted as 15, and seemed to follow from who has one."""
    treated = np.arange(2000) % 50 == 0
    table = pd.DataFrame({"dialysis": treated.astype(int), "cost": np.where(treated, 2000 + np.arange(2000), 0)})
    for upper in (15, 9999):
        facts = "".join(
            f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = {most}\n'
            for name, most in (("dialysis", 15), ("cost", upper))
        )
        report = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{facts}'))
        found = [note.column for note in report.notes if note.kind == "follows"]
        assert "cost" not in found, upper
