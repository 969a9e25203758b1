"""Questions that were not asked of some: what `check` says of them, against brute force over the table."""

from __future__ import annotations

import types

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import Schema
from counterfoil.curator import raw_reading
from counterfoil.evaluation import skip_notes
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.rules import Rule

SCHEMA = """
name = "survey"
[columns.age]
kind = "integer"
lower = 0
upper = 99
[columns.work]
kind = "categorical"
values = ["1", "2", "3", "4"]
missing = true
[columns.seeking]
kind = "integer"
lower = -1
upper = 3
[columns.months]
kind = "integer"
lower = -1
upper = 48
[columns.hours]
kind = "integer"
lower = 0
upper = 80
missing = true
[columns.vote]
kind = "categorical"
values = ["-1", "a", "b", "c"]
"""


def survey(rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, work = rng.integers(0, 100, rows), rng.integers(1, 5, rows)
    return pd.DataFrame(
        {
            "age": age,
            "work": work.astype(str),
            "seeking": np.where(work == 2, rng.integers(0, 4, rows), -1),
            "months": np.where(work == 2, rng.integers(0, 49, rows), -1),
            "hours": pd.array(np.where(np.isin(work, [1, 4]), rng.integers(0, 81, rows), -9), "Int64"),
            "vote": np.where(age < 18, "-1", rng.choice(["a", "b", "c"], rows)),
        }
    ).replace({"hours": {-9: pd.NA}})


def skipped(table: pd.DataFrame, more: str = "") -> dict[str, str]:
    return skips(table, Schema.from_toml(SCHEMA + more))


def skips(table: pd.DataFrame, schema: Schema) -> dict[str, str]:
    report = check_without_privacy(table, schema)
    return {note.column: note.text for note in report.notes if note.kind == "skipped"}


def test_values_that_another_column_skips_by_are_said_with_the_rules_that_keep_them() -> None:
    found = skipped(survey())
    assert set(found) == {"seeking", "hours", "vote"}
    assert "\"-1\" in exactly the records with `work != '2'`; the like is true of months." in found["seeking"]
    assert 'if = "work != \'2\'", then = "seeking == -1"' in found["seeking"]
    assert 'if = "work == \'2\'", then = "seeking != -1"' in found["seeking"]
    assert "it is missing in exactly the records with `work in ('2', '3')`" in found["hours"]
    assert "with `age < 18`" in found["vote"]
    assert 'if = "age >= 18", then = "vote != \'-1\'"' in found["vote"]


def test_the_rules_that_are_advised_can_be_written_and_end_the_note() -> None:
    text = skipped(survey())["seeking"]
    rules = [one.split('"')[0] for one in text.split('if = "')[1:]]
    thens = [one.split('"')[0] for one in text.split('then = "')[1:]]
    assert len(rules) == len(thens) == 2
    more = "".join(f'[[rules]]\nif = "{one}"\nthen = "{then}"\n' for one, then in zip(rules, thens, strict=True))
    assert "seeking" not in skipped(survey(), more)


@pytest.mark.parametrize("place", [0, 999, 1000, 1999])
@pytest.mark.parametrize("way", ["asked", "not asked"])
def test_one_record_that_is_otherwise_is_enough(place: int, way: str) -> None:
    table = survey()
    table.loc[place, "work"] = "2" if way == "asked" else "3"
    table.loc[place, ["seeking", "months"]] = -1 if way == "asked" else 2
    assert "seeking" not in skipped(table)
    assert "vote" in skipped(table)


def test_few_records_say_nothing() -> None:
    assert skipped(survey(24)) == {}


def test_missing_cells_of_the_other_column_are_one_of_its_values() -> None:
    table = survey()
    table.loc[table["work"] == "3", "work"] = None
    found = skipped(table)
    assert "`work is missing or work != '2'`" in found["seeking"]
    assert "`work is missing or work == '2'`" in found["hours"]


def test_columns_that_follow_or_are_missing_together_are_said_elsewhere() -> None:
    table = survey()
    table["vote"] = np.where(table["age"] < 18, "-1", "a")  # follows from the age
    table.loc[table["hours"].isna(), "work"] = None
    assert not {"vote", "hours"} & set(skipped(table))


def test_batches_add_up(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    whole = skipped(survey())
    survey().to_csv(tmp_path / "survey.csv", index=False)
    monkeypatch.setattr(skip_notes, "_SCREENED", 7)
    report = check_without_privacy(tmp_path / "survey.csv", Schema.from_toml(SCHEMA))
    assert {note.column: note.text for note in report.notes if note.kind == "skipped"} == whole


@pytest.mark.parametrize("by", ["work", "age", "seeking", "hours"])
@pytest.mark.parametrize("rows", [300, 777, 5000])
def test_a_table_that_is_sorted_by_what_decides_has_the_same_notes(
    by: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_reading, "BATCH_ROWS", rows)
    assert skipped(survey().sort_values(by, kind="stable").reset_index(drop=True)) == skipped(survey())


TWO = """
name = "t"
[columns.gate]
kind = "categorical"
values = ["a", "b", "c", "d"]
[columns.asked]
kind = "categorical"
values = ["x", "y", "z"]
"""


@given(st.integers(0, 2**16), st.sampled_from([0.0, 0.0, 0.002]), st.integers(1, 3), st.booleans())
def test_what_is_said_is_true_and_all_that_is_true_is_said(seed: int, noise: float, skips: int, sort: bool) -> None:
    rng = np.random.default_rng(seed)
    gate = rng.integers(0, 4, 400)
    asked = np.where(gate < skips, 0, rng.integers(1, 3, 400))
    asked = np.where(rng.random(400) < noise, rng.integers(0, 3, 400), asked)
    table = pd.DataFrame({"gate": np.array(list("abcd"))[gate], "asked": np.array(list("xyz"))[asked]})
    table = table.sort_values("gate", ignore_index=True) if sort else table
    with_x = set(table["gate"][table["asked"] == "x"])
    exact = not with_x & set(table["gate"][table["asked"] != "x"])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(raw_reading, "BATCH_ROWS", 70 if sort else 400)
        report = check_without_privacy(table, Schema.from_toml(TWO))
    assert [note.column for note in report.notes if note.kind == "skipped"] == (["asked"] if exact else [])


@pytest.mark.parametrize("beyond", ["gate", "asked"])
def test_what_is_clamped_to_a_value_has_it_in_a_copy_and_ends_the_note(beyond: str) -> None:
    rng = np.random.default_rng(0)
    gate, asked = rng.integers(0, 11, 2000), rng.integers(1, 10, 2000)
    table = pd.DataFrame({"gate": gate, "asked": np.where(gate < 3, 0, asked)})
    bounds = [("gate", 10), ("asked", 9)]
    schema = "\n".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = {upper}' for name, upper in bounds)
    facts = Schema.from_toml(f'name = "t"\n{schema}')
    notes = check_without_privacy(table, facts).notes
    assert any(note.kind == "skipped" and "`gate < 3`" in note.text for note in notes)
    table.loc[np.flatnonzero(gate == 5)[0], beyond] = -7
    assert not [note for note in check_without_privacy(table, facts).notes if note.kind == "skipped"]


@pytest.mark.parametrize("mark", ['"', "\\", "`", "\n"])
@pytest.mark.parametrize("where", ["name", "label"])
def test_rules_that_no_schema_could_read_are_not_advised(mark: str, where: str) -> None:
    name, label = (f"g{mark}g", "a") if where == "name" else ("gate", f"a{mark}a")
    rng = np.random.default_rng(0)
    gate = rng.integers(0, 4, 2000)
    labels = np.array([label, "b", "c", "d"])
    table = pd.DataFrame({name: labels[gate], "asked": np.where(gate == 0, -1, rng.integers(0, 9, 2000))})
    facts = Schema((Categorical(name, tuple(labels.tolist())), Integer("asked", -1, 9)))
    notes = [note.text for note in check_without_privacy(table, facts).notes if note.kind == "skipped"]
    assert len(notes) == ((where, mark) == ("label", "`"))


@pytest.mark.parametrize("name", ["true", "my gate", "größe", "in"])
def test_names_are_written_as_rules_read_them(name: str) -> None:
    rng = np.random.default_rng(0)
    gate = rng.integers(0, 4, 2000)
    table = pd.DataFrame(
        {name: np.array(list("abcd"))[gate], "asked": np.where(gate == 0, -1, rng.integers(0, 9, 2000))}
    )
    columns = (Categorical(name, tuple("abcd")), Integer("asked", -1, 9))
    (text,) = [one.text for one in check_without_privacy(table, Schema(columns)).notes if one.kind == "skipped"]
    rules = [one.split('"')[0] for one in text.split('if = "')[1:]]
    thens = [one.split('"')[0] for one in text.split('then = "')[1:]]
    ruled = Schema(columns, rules=tuple(Rule(then, condition=one) for one, then in zip(rules, thens, strict=True)))
    assert not [one for one in check_without_privacy(table, ruled).notes if one.kind == "skipped"]


def test_questions_that_are_skipped_together_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    gate = rng.integers(0, 4, 2000)
    columns = {f"q{i}": np.where(gate == 0, -1, rng.integers(0, 9, 2000)) for i in range(12)}
    table = pd.DataFrame({"gate": np.array(list("abcd"))[gate], **columns})
    facts = Schema((Categorical("gate", tuple("abcd")), *(Integer(name, -1, 9) for name in columns)))
    made, bincount, own = [], np.bincount, types.SimpleNamespace(**vars(np))
    own.bincount = lambda *args, **more: made.append(1) or bincount(*args, **more)
    monkeypatch.setattr(skip_notes, "np", own)
    (note,) = [one for one in check_without_privacy(table, facts).notes if one.kind == "skipped"]
    assert note.count == 12
    assert len(made) < 13 * 12, "pairs of a value and a gate"


def test_numbers_that_are_written_as_words_or_with_zeros_are_numbers_in_rules() -> None:
    """`age >= 85+ years` is no rule: what was advised could not be pasted."""
    rng = np.random.default_rng(5)
    age, region = rng.integers(60, 90, 4000), rng.integers(1, 30, 4000)
    frame = pd.DataFrame(
        {
            "age": np.where(age >= 85, "85+ years", age.astype(str)),
            "pension": np.where(age >= 85, 0, rng.integers(1, 9, 4000)),
            "region": [f"{number:02}" for number in region],
            "ferry": np.where(region < 4, 0, rng.integers(1, 9, 4000)),
        }
    )
    columns = (
        Integer("age", 60, 85, words=(("85+ years", 85),)),
        Integer("pension", 0, 9),
        Integer("region", 1, 29, digits=2),
        Integer("ferry", 0, 9),
    )
    notes = skips(frame, Schema(columns))
    for name, rule, other in (
        ("pension", Rule("pension == 0", "age >= 85"), Rule("pension != 0", "age < 85")),
        ("ferry", Rule("ferry == 0", "region < 4"), Rule("ferry != 0", "region >= 4")),
    ):
        for one in (rule, other):
            assert f'if = "{one.condition}", then = "{one.then}"' in notes[name]
        assert name not in skips(frame, Schema(columns, rules=(rule, other)))
