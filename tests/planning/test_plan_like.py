"""Public tables that a plan is like: how they are drawn from, and those that a ledger shows to be sensitive."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from command_line import Office
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.planning import plan
from counterfoil.planning.like import like, read_like
from counterfoil.schema import Schema

CODES = {"a": np.arange(100), "b": np.arange(100) % 7}


def test_a_table_of_the_same_size_is_copied_as_it_is() -> None:
    for run in (0, 1):
        table = like(CODES, 100, run, seed=0, tested=True)
        assert all(np.array_equal(table.codes[name], CODES[name]) for name in CODES)
        assert (len(table.test["a"]), len(table.training["a"])) == (20, 80)
        assert sorted([*table.test["a"], *table.training["a"]]) == list(range(100))


def test_fewer_records_are_drawn_without_replacement_and_more_with() -> None:
    fewer, other = (like(CODES, 60, run, seed=0, tested=False) for run in (0, 1))
    assert len(set(fewer.codes["a"])) == 60
    assert set(fewer.codes["a"]) != set(other.codes["a"])
    more = like(CODES, 300, 0, seed=0, tested=False)
    assert more.rows == 300
    assert 70 < len(set(more.codes["a"])) <= 100  # expected are 95; below 70 with probability under 1e-6
    for table in (fewer, more):
        assert np.array_equal(table.codes["b"], table.codes["a"] % 7), "records stay whole"
        assert len(table.test["a"]) == 0


def test_a_public_table_is_read_by_its_schema(office: Office) -> None:
    shutil.move("people.csv", "public.csv")
    codes = read_like("public.csv", Schema.from_toml("people.toml"))
    assert set(codes) == {"sex", "age", "income"}
    assert len(codes["age"]) == 300
    assert (codes["income"] == (codes["age"] >= 5)).mean() > 0.9
    Path("public.csv").write_text("sex,age,income\nfemale,nobody,low\n")
    with pytest.raises(ValueError, match="Column 'age'"):
        read_like("public.csv", Schema.from_toml("people.toml"))
    Path("public.csv").write_text("sex,age,income\n")
    with pytest.raises(ValueError, match=r"with rows\. Found none"):
        read_like("public.csv", Schema.from_toml("people.toml"))


def test_the_source_of_a_ledger_is_refused_under_each_of_its_names(office: Office) -> None:
    Path("link.csv").symlink_to("people.csv")
    Path("elsewhere").mkdir()
    shutil.copy("people.csv", "elsewhere/people.csv")
    schema = Schema.from_toml("people.toml")
    for name in ("people.csv", "link.csv", "elsewhere/people.csv", "./elsewhere/../people.csv"):
        with pytest.raises(ValueError, match=r"^`like` must be a public table\. Found .*people\.ledger protects"):
            read_like(name, schema)
        ended = office.run("plan", "--schema", "people.toml", "--rows", "50", "--like", name, "--jobs", "1")
        assert ended.status == 2
        assert "people.ledger" in ended.err
    with pytest.raises(ValueError, match=r"people\.ledger"):
        plan("people.toml", rows=50, epsilons=[1.0], like="people.csv", runs=1)
    shutil.copy("people.csv", "public.csv")
    assert len(read_like("public.csv", schema)["age"]) == 300


def test_a_ledger_is_seen_beside_the_table_too(office: Office, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    monkeypatch.chdir(away)
    with pytest.raises(ValueError, match=r"people\.ledger"):
        read_like(tmp_path / "people.csv", Schema.from_toml(tmp_path / "people.toml"))


def test_a_file_is_a_ledger_by_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x\n0\n1\n")
    schema = Schema.from_toml("[columns.x]\nkind = 'boolean'")
    Path("a.ledger").write_text("no ledger")
    Path("b.ledger").write_bytes(b"SQLite format 3\0" + bytes(100))
    assert len(read_like("t.csv", schema)["x"]) == 2
    Ledger.create("odd name.txt", source=SourceIdentity("t.csv", "/gone/t.csv"), total=1.0).close()
    with pytest.raises(ValueError, match=r"odd name\.txt protects"):
        read_like("t.csv", schema)


def test_a_plan_charges_no_ledger_and_leaves_no_file(office: Office) -> None:
    shutil.copy("people.csv", "public.csv")
    ledger, before = Path("people.ledger").read_bytes(), office.files()
    given = ("--schema", "people.toml", "--rows", "100", "--epsilon", "1", "--runs", "1", "--jobs", "1")
    for options in (("--like", "public.csv"), ()):
        assert office.run("plan", *given, *options, "--method", "independent").status == 0
    assert Path("people.ledger").read_bytes() == ledger
    assert office.files() == before
