"""No command writes over what is still needed: whatever the path is called, with --force too, before it reads."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import counterfoil
from command_line import Ended, Office
from counterfoil.accounting.budget import Budget
from counterfoil.curator import source_facts
from counterfoil.curator.sources import opening
from counterfoil.kept_files import kept_source, require_apart, same_place
from counterfoil.ledger.ledger import Ledger
from counterfoil.receipt.receipt import Receipt


def contents(folder: Path) -> dict[str, bytes | str]:
    """Every file below `folder`; of a link, where it leads."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def refused(office: Office, *arguments: str | Path, because: str) -> Ended:
    before = contents(office.path)
    ended = office.run(*arguments)
    assert ended.status == 2, (ended.out, ended.err)
    assert because in " ".join(ended.err.split())
    assert "bug" not in ended.err
    assert contents(office.path) == before
    assert office.releases() == []
    return ended


def synth(*more: str | Path, source: str = "people.csv", schema: str = "people.toml") -> tuple[str | Path, ...]:
    given = ("--schema", schema, "--epsilon", "1", "--method", "independent", "--ledger", "people.ledger")
    return ("synth", source, *given, *more)


def hard_link(path: Path) -> str:
    os.link(path, f"hard{path.suffix}")
    return f"hard{path.suffix}"


def soft_link(path: Path) -> str:
    Path(f"soft{path.suffix}").symlink_to(path.name)
    return f"soft{path.suffix}"


def link_to_a_link(path: Path) -> str:
    Path(f"chain{path.suffix}").symlink_to(soft_link(path))
    return f"chain{path.suffix}"


def through_a_folder(path: Path) -> str:
    Path("folder").mkdir()
    return f"folder/../{path.name}"


def through_a_linked_folder(path: Path) -> str:
    Path("here").symlink_to(path.parent, target_is_directory=True)
    return f"here/{path.name}"


TRICKS: dict[str, Callable[[Path], str | Path]] = {
    "its name": lambda path: path.name,
    "a dot": lambda path: f"./{path.name}",
    "the absolute path": lambda path: path.absolute(),
    "a folder and back": through_a_folder,
    "a linked folder": through_a_linked_folder,
    "a hard link": hard_link,
    "a symbolic link": soft_link,
    "a link to a link": link_to_a_link,
}
FORCE = [pytest.param((), id="unforced"), pytest.param(("--force",), id="forced")]


@pytest.mark.parametrize("force", FORCE)
@pytest.mark.parametrize("trick", TRICKS)
def test_synth_does_not_write_over_its_source(office: Office, trick: str, force: tuple[str, ...]) -> None:
    given = synth("--out", TRICKS[trick](Path("people.csv").absolute()), *force)
    ended = refused(office, *given, because="is the sensitive table: choose another name")
    assert "--force" not in ended.err, "that would not help"


@pytest.mark.parametrize("trick", ["a hard link", "a symbolic link", "a linked folder"])
def test_a_source_that_is_itself_a_link(office: Office, trick: str) -> None:
    source = str(TRICKS[trick](Path("people.csv").absolute()))
    refused(office, *synth("--out", "people.csv", "--force", source=source), because="is the sensitive table")
    refused(office, *synth("--out", source, "--force", source=source), because="is the sensitive table")


def test_rows_drawn_later_do_not_replace_a_table_of_the_name_that_the_receipt_has(office: Office) -> None:
    given = ("--schema", "people.toml", "--epsilon", "1", "--method", "mst", "--keep-model", "--out", "s.csv")
    assert office.run("synth", "people.csv", *given).status == 0
    before = contents(office.path)
    ended = office.run("sample", "s.csv", "--rows", "3", "--out", "people.csv", "--force")
    assert ended.status == 2
    assert "people.csv is named like the sensitive table that the release was made of" in " ".join(ended.err.split())
    assert contents(office.path) == before
    assert office.run("sample", "s.csv", "--rows", "3", "--out", "more.csv").status == 0
    Path("elsewhere").mkdir()
    assert office.run("sample", "s.csv", "--rows", "3", "--out", "elsewhere/people.csv").status == 0, "nothing is there"


def test_the_default_output_may_be_the_source(office: Office) -> None:
    """Named people.synthetic.parquet, a table would be replaced by its own copy."""
    parquet.write_table(csv.read_csv("people.csv"), "people.synthetic.parquet")
    refused(office, *synth("--force", source="people.synthetic.parquet"), because="is the sensitive table")


def test_nothing_was_read_before_the_refusal(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("the source was opened")

    monkeypatch.setattr(opening, "_open_path", opened)
    monkeypatch.setattr(source_facts, "open_source", opened)
    refused(office, *synth("--out", "people.csv", "--force"), because="is the sensitive table")
    refused(office, "schema", "people.csv", "--out", "people.csv", "--force", because="is the sensitive table")
    given = ("ledger", "create", "people.db-wal", "--source", "people.db::people", "--epsilon", "1", "--delta", "0")
    refused(office, *given, because="is a part of the database of the sensitive table")


@pytest.mark.parametrize("force", FORCE)
def test_synth_does_not_write_over_its_other_inputs(office: Office, force: tuple[str, ...]) -> None:
    shutil.copy("people.toml", "facts.csv")
    given = synth("--out", "facts.csv", *force, schema="facts.csv")
    refused(office, *given, because="facts.csv is the schema")
    Path("workload.csv").write_text('[[cliques]]\nattributes = ["sex", "age"]\n')
    given = synth("--workload", "workload.csv", "--out", "workload.csv", *force)
    refused(office, *given, because="workload.csv is the workload")
    os.symlink("people.ledger", "s.csv")
    refused(office, *synth("--out", "s.csv", *force), because="s.csv is the ledger")
    os.unlink("s.csv")
    os.link("people.ledger", "s.csv")  # such a ledger is not even read
    before = contents(office.path)
    assert office.run(*synth("--out", "s.csv", *force)).status == 2
    assert contents(office.path) == before
    os.unlink("s.csv")
    os.symlink("people.ledger", "s.receipt.json")
    refused(office, *synth("--out", "s.csv", *force), because="s.receipt.json is the ledger")
    os.unlink("s.receipt.json")
    os.symlink("people.csv", "s.receipt.json")
    refused(office, *synth("--out", "s.csv", *force), because="s.receipt.json is the sensitive table")


def test_the_table_is_not_its_own_receipt(office: Office) -> None:
    Path("s.csv").write_text("x\n1\n")
    os.link("s.csv", "s.receipt.json")
    refused(office, *synth("--out", "s.csv", "--force"), because="is another file of the same output, s.csv")
    Path("t.csv").symlink_to("t.receipt.json")
    refused(office, *synth("--out", "t.csv", "--force"), because="is another file of the same output, t.csv")


def people_database(name: str) -> str:
    with closing(sqlite3.connect(name)) as opened:
        opened.execute("CREATE TABLE people (sex TEXT, age INTEGER, income TEXT)")
        opened.execute("INSERT INTO people VALUES ('female', 30, 'low')")
        opened.commit()
    return f"{name}::people"


@pytest.mark.parametrize("force", FORCE)
@pytest.mark.parametrize("name", ["p.db", "p.db-wal", "p.db-journal", "./p.db-shm", "p.db.wal", "P.DB-WAL"])
def test_a_database_is_kept_with_what_is_beside_it(office: Office, name: str, force: tuple[str, ...]) -> None:
    source = people_database("p.db")
    given = ("schema", source, "--out", name, *force)
    refused(office, *given, because="the database of the sensitive table: choose another name")


def test_a_database_is_its_source_under_another_name(office: Office) -> None:
    source = people_database("people.db")
    os.link("people.db", "copy.parquet")
    given = synth("--out", "copy.parquet", "--force", source=source)
    refused(office, *given, because="copy.parquet is the database of the sensitive table")
    people_database("data.csv")  # what a file is called does not matter
    given = synth("--out", "data.csv", "--force", source="data.csv::people")
    refused(office, *given, because="data.csv is the database of the sensitive table")


@pytest.mark.parametrize("force", FORCE)
@pytest.mark.parametrize("trick", TRICKS)
def test_a_draft_does_not_replace_the_table(office: Office, trick: str, force: tuple[str, ...]) -> None:
    given = ("schema", "people.csv", "--out", TRICKS[trick](Path("people.csv").absolute()), *force)
    refused(office, *given, because="is the sensitive table")


@pytest.mark.parametrize("force", FORCE)
def test_a_draft_replaces_no_ledger_and_no_receipt(office: Office, force: tuple[str, ...]) -> None:
    given = ("schema", "people.csv", "--out")
    refused(office, *given, "people.ledger", *force, because="must not overwrite a ledger")
    os.symlink("people.ledger", "soft.toml")
    refused(office, *given, "soft.toml", *force, because="must not overwrite a ledger")
    assert office.synth("--out", "s.csv").status == 0
    refused(office, *given, "s.receipt.json", *force, because="the receipt of another release. Found that of s.csv")


@pytest.mark.parametrize("force", FORCE)
def test_another_release_keeps_its_receipt(office: Office, force: tuple[str, ...]) -> None:
    """s.csv and s.parquet would share s.receipt.json, and the first table would be left without its receipt."""
    assert office.synth("--out", "s.csv").status == 0
    refused(office, *synth("--out", "s.parquet", *force), because="Found that of s.csv in s.receipt.json")
    os.unlink("s.csv")  # handed over: the receipt is what is left of it
    refused(office, *synth("--out", "s.parquet", *force), because="Found that of s.csv in s.receipt.json")


def test_a_release_that_is_replaced_gets_a_new_receipt(office: Office) -> None:
    assert office.synth("--out", "s.csv").status == 0
    first = Receipt.load("s.receipt.json")
    Path("s.csv").write_text("changed since\n")
    for _ in range(2):
        assert office.synth("--out", "s.csv", "--force", epsilon="0.5").status == 0
    assert Receipt.load("s.receipt.json").verify(office.path).holds
    assert Receipt.load("s.receipt.json").document != first.document
    Path("s.receipt.json").write_text("{cut sho")
    assert office.synth("--out", "s.csv", "--force").status == 0
    assert Receipt.load("s.receipt.json").verify(office.path).holds


@pytest.mark.parametrize("name", ["people.csv", "./people.csv", "people.ledger"])
def test_a_ledger_is_not_created_over_anything(office: Office, name: str) -> None:
    given = ("ledger", "create", name, "--source", "people.csv", "--epsilon", "1", "--delta", "0")
    refused(office, *given, because="people")


@pytest.mark.parametrize("name", ["people.db-journal", "people.db-wal", "people"])
def test_a_ledger_is_no_part_of_the_database(office: Office, name: str) -> None:
    """A ledger at `people` is made in people.creating, after what was there is removed."""
    source = people_database("people.creating" if name == "people" else "people.db")
    given = ("ledger", "create", name, "--source", source, "--epsilon", "1", "--delta", "0")
    refused(office, *given, because="the database of the sensitive table")
    with pytest.raises(ValueError, match="the database of the sensitive table"):
        Ledger.create(name, source=source_facts.identity_of(source), total=Budget(1.0, 0.0))


def test_the_demonstration_spares_what_its_folder_links_to(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    from counterfoil.demo import Demo

    found = Demo.find()
    Path("fair.csv").write_bytes(found.source.read_bytes())
    monkeypatch.setattr(Demo, "find", classmethod(lambda cls: Demo(Path("fair.csv").absolute(), found.schema)))
    for name in ("affairs.synthetic.parquet", "affairs.synthetic.receipt.json", "affairs.schema.toml"):
        Path("out").mkdir()
        Path("out", name).symlink_to(Path("fair.csv").absolute())
        refused(office, "demo", "--out", "out", because=f"{name} is the sensitive table")
        shutil.rmtree("out")


def test_commands_that_only_read_leave_everything_as_it_was(office: Office) -> None:
    assert office.synth("--out", "s.csv").status == 0
    before = contents(office.path)
    for arguments in (
        ("receipt", "show", "s.receipt.json"),
        ("receipt", "verify", "s.receipt.json"),
        ("evaluate", "people.csv", "s.csv", "--schema", "people.toml"),
        ("certify", "s.csv", "--receipt", "s.receipt.json", "--target", "income"),
        ("ledger", "show", "people.ledger"),
        ("schema", "people.csv"),
    ):
        office.run(*arguments)
        assert contents(office.path) == before, arguments


def test_a_receipt_is_put_back_where_its_table_can_not_be_written(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert office.synth("--out", "s.csv").status == 0
    before = contents(office.path)
    replace = os.replace

    def fails_at_the_table(source: str | Path, target: str | Path) -> None:
        if Path(target).name == "s.csv" and Path(target).parent == Path():
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails_at_the_table)
    assert office.synth("--out", "s.csv", "--force").status == 2
    (office.path / "s.answers").unlink()
    assert contents(office.path) == before


# From Python


@pytest.mark.parametrize("trick", TRICKS)
def test_python_does_not_write_over_the_source(office: Office, trick: str) -> None:
    made = counterfoil.synthesize("people.csv", "people.toml", epsilon=1, method="independent", rows=5)
    target = TRICKS[trick](Path("people.csv").absolute())
    before = contents(office.path)
    for write in (made.write, made.receipt.save):
        with pytest.raises(ValueError, match="is the sensitive table: choose another name"):
            write(target)
    with pytest.raises(ValueError, match="saved to a new folder"):
        made.save("people.csv")
    assert contents(office.path) == before
    for _ in range(2):
        made.write("s.csv")
    assert csv.read_csv("s.csv").num_rows == 5


def test_python_does_not_write_points_over_the_source(office: Office) -> None:
    Path("ages.csv").write_text("\n".join(["age", *map(str, range(100))]) + "\n")
    Path("ages.toml").write_text('name = "ages"\n[columns.age]\nkind = "real"\nlower = 0.0\nupper = 99.0\nbins = 10\n')
    made = counterfoil.synthesize("ages.csv", "ages.toml", epsilon=1, method="measure-tree", rows=5)
    before = contents(office.path)
    for write in (made.write, made.write_points, made.receipt.save):
        with pytest.raises(ValueError, match="is the sensitive table: choose another name"):
            write("./ages.csv")
    assert contents(office.path) == before
    made.write_points("points.csv")


def test_python_does_not_write_over_the_ledger(office: Office) -> None:
    with Ledger.open("people.ledger", source=None) as ledger:
        made = counterfoil.synthesize("people.csv", "people.toml", epsilon=1, method="independent", ledger=ledger)
    os.link("people.ledger", "s.csv")
    with pytest.raises(ValueError, match="is the ledger"):
        made.write("s.csv")
    with pytest.raises(ValueError, match="a part of the ledger"):
        made.receipt.save("people.ledger-journal")


def test_a_table_in_memory_and_a_public_one_keep_no_file(office: Office) -> None:
    frame = csv.read_csv("people.csv")
    made = counterfoil.synthesize(frame, "people.toml", epsilon=1, method="independent")
    made.write("memory.csv")
    made.write("people.csv")  # not known to be where the frame came from
    assert office.run("evaluate", "people.csv", "memory.csv", "--schema", "people.toml").status == 0
    made.write("memory.csv")
    assert pa.compute.count(csv.read_csv("memory.csv")["age"]).as_py() == made.rows


def test_places_that_are_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to(tmp_path, target_is_directory=True)
    assert same_place(tmp_path / "new", tmp_path / "here" / "new")
    assert same_place(tmp_path / "New", tmp_path / "here" / "nEW")
    assert same_place(tmp_path / "caf\u00e9", tmp_path / "cafe\u0301")
    assert not same_place(tmp_path / "new", tmp_path / "old")
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    assert same_place(tmp_path / "dangling", tmp_path / "new")
    assert not same_place(tmp_path / "nowhere" / "new", tmp_path / "new")
    require_apart([tmp_path / "a", tmp_path / "b"], kept_source(str(tmp_path / "c")))


def test_a_path_may_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ValueError, match="is the sensitive table"):
        require_apart([tmp_path / "people.csv"], kept_source("~/people.csv"))
