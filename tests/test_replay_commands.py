"""All that a command leaves follows from the answers that were paid for, and from public facts.

Every command that reads a sensitive table privately is run on one, its answers are recorded, and it is run again on
tables that share no row with the first, with the recorded answers in place of their own: tables with values out of
bounds, of other categories and of none, with nothing in any cell, and with a single row. Everything must be the same,
to the last byte: the exit status, what is printed, each file, and the ledger. The clock is stopped.

Left out is what `docs/ledger.md` says that a refusal reveals: all tables have rows, and a place for every value. How
long a command takes is not compared either: it may depend on the records.
"""

from __future__ import annotations

import csv
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from counterfoil.cli.model_kinds import KINDS
from counterfoil.curator.account import Account
from counterfoil.methods.registry import method_names
from differences import differences
from leaks import LEAKS, leak_a_status, leak_to_the_ledger
from replayed_commands import Rehearsal, Writer

NAMES = ("person", "age", "town", "came", "left", "income")
SCHEMA = """\
name = "people"

[columns.person]
kind = "identifier"
replace = "sequence"

[columns.age]
kind = "integer"
lower = 0
upper = 99
bins = 5
missing = true

[columns.town]
kind = "categorical"
values = ["A", "B", "C"]
other = true

[columns.came]
kind = "date"
lower = 2020-01-01
upper = 2021-12-31
resolution = "3mo"
missing = true

[columns.stay]
kind = "integer"
between = ["came", "left"]
lower = 0
upper = 60
bins = 4
missing = true

[columns.income]
kind = "integer"
lower = 0
upper = 6000
bins = 6
missing = true

[[derived]]
name = "left"
kind = "date"
expression = "came + stay"
after = "came"

[[rules]]
if = "town == 'A'"
then = "age >= 20"
"""
POINTS = """\
name = "people"
ignore = ["person", "town", "came", "left"]

[columns.age]
kind = "integer"
lower = 0
upper = 99

[columns.income]
kind = "integer"
lower = 0
upper = 6000
"""
TRAINING = """\
name = "people"
ignore = ["person", "came", "left"]

[columns.age]
kind = "integer"
lower = 0
upper = 99
missing = true

[columns.town]
kind = "categorical"
values = ["A", "B", "C"]

[columns.income]
kind = "integer"
lower = 0
upper = 6000
missing = true
"""
CRITERIA = """\
share = 0.2

[[bound]]
measure = "pairs"
at_most = {most}
"""


Rows = Callable[[], Iterator[tuple[str, ...]]]
"""The rows of a table, as texts."""


def plain() -> Iterator[tuple[str, ...]]:
    rng = np.random.default_rng(0)
    for i in range(400):
        came = np.datetime64("2020-01-01") + rng.integers(0, 700)
        numbers = rng.integers(18, 90), rng.choice(["A", "B", "C"]), came, came + rng.integers(0, 40)
        yield (f"p{i // 2}", *map(str, numbers), str(rng.integers(0, 5000)))


def strange() -> Iterator[tuple[str, ...]]:
    """Values out of bounds, of no kind and of no category, and units of many rows."""
    cells = (
        ("", "nan", "1e400", "-7", "200", "x", "0x1f", "\ufffd"),
        ("Z", "", "a", " A", "A,B", "=1+1", '"'),
        ("2022-13-01", "", "1800-01-01", "9999-12-31", "today"),
        ("2019-01-01", "2020-02-30", "", "2020-01-01 12:00:00", "-1"),
        ("", "-5", "99999", "17.3", "1_000", "1e3", "inf"),
    )
    for i in range(211):
        yield (f"q{i // 40}", *(each[i % len(each)] for each in cells))


def other_categories() -> Iterator[tuple[str, ...]]:
    """As a table of another place might be, and longer."""
    for i in range(997):
        yield f"r{i}", str(5 + i % 3), ("North", "South")[i % 2], "2021-12-31", "2021-12-31", str(5999 - i)


def empty() -> Iterator[tuple[str, ...]]:
    yield from [("",) * len(NAMES)] * 30


def one_row() -> Iterator[tuple[str, ...]]:
    yield "s", "99", "C", "2021-01-01", "2021-03-01", "6000"


def out_of_bounds() -> Iterator[tuple[str, ...]]:
    """Numbers alone, which is what methods for points read."""
    for i in range(200):
        yield f"t{i}", ("-7", "1e9", "200")[i % 3], "Z", "1700-01-01", "1700-01-01", ("-0.5", "99999")[i % 2]


def poor_groups() -> Iterator[tuple[str, ...]]:
    """As many rows as `rich_groups` has, and as many of each town: training takes these numbers for public."""
    for i in range(200):
        yield f"u{i}", ("", "nan", "-7", "200", "45")[i % 5], "AB"[i % 2], "", "", ("", "-5", "99999", "0")[i % 4]


def rich_groups() -> Iterator[tuple[str, ...]]:
    rng = np.random.default_rng(1)
    for i in range(200):
        yield f"v{i}", str(rng.integers(18, 90)), "BA"[i % 2], "", "", str(rng.integers(1000, 5000))


OTHERS = strange, other_categories, empty, one_row
NUMBERS = other_categories, one_row, out_of_bounds


def as_csv(rows: Rows) -> Writer:
    def write(folder: Path) -> None:
        with (folder / "people.csv").open("w", newline="") as file:
            csv.writer(file).writerows([NAMES, *rows()])

    return write


def as_parquet(rows: Rows) -> Writer:
    def write(folder: Path) -> None:
        columns = list(zip(*rows(), strict=True)) or [()] * len(NAMES)
        table = {name: pa.array(column, pa.string()) for name, column in zip(NAMES, columns, strict=True)}
        parquet.write_table(pa.table(table), folder / "people.parquet", row_group_size=1 + len(columns[0]) // 3)

    return write


def as_sqlite(rows: Rows) -> Writer:
    def write(folder: Path) -> None:
        connection = sqlite3.connect(folder / "people.db")
        connection.execute("CREATE TABLE people (person, age INTEGER, town TEXT, came TEXT, left TEXT, income REAL)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows())
        connection.commit()
        connection.close()

    return write


def public(folder: Path) -> None:
    for name, text in {
        "people.toml": SCHEMA,
        "points.toml": POINTS,
        "training.toml": TRAINING,
        "reached.toml": CRITERIA.format(most=1.99),
        "missed.toml": CRITERIA.format(most=0.0001),
    }.items():
        (folder / name).write_text(text)
    with (folder / "public.csv").open("w", newline="") as file:
        csv.writer(file).writerows([NAMES, *itertools.islice(rich_groups(), 60)])


@dataclass(frozen=True)
class Case:
    """Commands, one of which ends with `status` and all others with 0, and the tables that they are run on."""

    commands: tuple[str, ...]
    write: Callable[[Rows], Writer] = as_csv
    status: int = 0
    first: Rows = plain
    others: tuple[Rows, ...] = OTHERS


UNIT = "--privacy-unit person --max-rows 3"
LEDGER = "--ledger people.ledger"
SYNTH = "synth people.csv --schema people.toml --epsilon 2"


def created(source: str = "people.csv") -> str:
    return f"ledger create people.ledger --source {source} --epsilon 90 --delta 1e-5"


SHOWN = "ledger show people.ledger --json"
CASES = {
    "aim into a folder, with a focus": Case(
        (created(), f"{SYNTH} {LEDGER} --focus town --fidelity 0.1 --check-schema 0.05 --out made/", SHOWN),
        others=(strange, one_row),
    ),
    "aim of units": Case(
        (f"{SYNTH} {UNIT} --unit-sizes 0.1 --target town --out made.csv --keep-model", "describe made.release")
    ),
    "mst, replacing a unit": Case((f"{SYNTH} --method mst {UNIT} --relation replace_one --json --out made.parquet",)),
    "direct": Case((f"{SYNTH} --method direct --workload 2 --rows 50 --out made.csv",)),
    "independent and pure, of SQLite": Case(
        ("synth people.db::people --schema people.toml --epsilon 2 --delta 0 --method independent --out made.csv",),
        as_sqlite,
    ),
    "reweighting": Case((f"{SYNTH} --method reweighting --target town --fidelity 0.2 --out made.csv",)),
    "evolution": Case((f"{SYNTH} --method evolution --iterations 2 --population 20 --out made.csv",)),
    **{
        name: Case(
            (f"synth people.csv --schema points.toml --epsilon 2 --method {name} --out made.csv",), others=NUMBERS
        )
        for name in ("signed-measure", "measure-tree")
    },
    "accepted": Case((created(), f"{SYNTH} {LEDGER} --accept reached.toml --attempts 2 --out made/", SHOWN)),
    "withheld": Case((created(), f"{SYNTH} {LEDGER} --accept missed.toml --out made/", SHOWN), status=3),
    "a bought schema": Case(
        (
            created(),
            f"schema people.csv --epsilon 40 --share 0.5 {UNIT} {LEDGER} --out bought.toml",
            f"synth people.csv --schema bought.toml --rest {UNIT} {LEDGER} --method independent --out made/",
            SHOWN,
        )
    ),
    "a schema bought of Parquet": Case(
        (created("people.parquet"), f"schema people.parquet --epsilon 20 {LEDGER} --out bought.toml --json"), as_parquet
    ),
    "a check": Case((created(), f"check people.csv --schema people.toml --epsilon 0.5 {LEDGER}", SHOWN)),
}


def training(kind: str, options: str, *others: Rows, schema: str = "training.toml") -> Case:
    train = f"train {kind} people.csv --schema {schema} --epsilon 1 {LEDGER} --out model {options}"
    return Case((created(), train, "receipt show model/receipt.json", SHOWN), first=rich_groups, others=others)


TRAININGS = {
    "dp-sgd": training("dp-sgd", "--target town --iterations 8 --batch-share 0.5", poor_groups),
    "a fair classifier": training("fair-classifier", "--target age --protected town --iterations 8", poor_groups),
    "a fair regressor": training("fair-regressor", "--target income --protected town --iterations 8", poor_groups),
    "a fair encoder": training("fair-encoder", "--protected town --iterations 8", poor_groups),
    "teachers": training("pate", "--target town --public public.csv --teachers 20", poor_groups, one_row),
    "a generator": training(
        "sliced-wasserstein-generator",
        "--public public.csv --protects Z --hidden 4 --iterations 8 --batch-share 0.5",
        out_of_bounds,
        schema="points.toml",
    ),
    "a generator of rows": Case(
        ("synth people.csv --schema points.toml --epsilon 2 --method wasserstein-generator --out made.csv",),
        first=rich_groups,
        others=(out_of_bounds,),
    ),
}


def rehearsal(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Rehearsal:
    secret = frozenset({"people.csv", "people.parquet", "people.db"})
    return Rehearsal(tmp_path / "office", secret, case.commands, public, monkeypatch, capsys)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", [*CASES, *TRAININGS])
def test_all_that_commands_leave_follows_from_their_answers(name, tmp_path, monkeypatch, capsys):
    case = (CASES | TRAININGS)[name]
    if name in TRAININGS:
        pytest.importorskip("torch", reason="training needs torch")
    commands = rehearsal(case, tmp_path, monkeypatch, capsys)
    left, recording = commands.record(case.write(case.first))
    assert case.status in {ended.status for ended in left.ended} <= {0, case.status}, left.ended[-2:]
    assert recording.asked
    for table in case.others:
        assert not list(differences(left, commands.replay(case.write(table), recording), table.__name__))


LEAKY = Case((created(), f"{SYNTH} {LEDGER} --method independent --out made/"))


@pytest.mark.parametrize("leak", [*LEAKS, leak_a_status, leak_to_the_ledger])
def test_leaks_are_found(leak, tmp_path, monkeypatch, capsys):
    leak(monkeypatch)
    commands = rehearsal(LEAKY, tmp_path, monkeypatch, capsys)
    left, recording = commands.record(as_csv(plain))
    assert {ended.status for ended in left.ended} == {0}
    assert list(differences(left, commands.replay(as_csv(other_categories), recording)))


def test_another_table_leaves_something_else(tmp_path, monkeypatch, capsys):
    """With answers of its own: nothing above is the same merely because it never says anything."""
    commands = rehearsal(LEAKY, tmp_path, monkeypatch, capsys)
    left, again = (commands.record(as_csv(rows))[0] for rows in (plain, plain))
    assert not list(differences(left, again))
    other, _ = commands.record(as_csv(other_categories))
    where = " ".join(differences(left, other))
    assert all(named in where for named in (".ended[1].out", "made/receipt.json", "made/README.md", ".parquet"))


def test_every_method_is_replayed():
    said = " ".join(command for case in (CASES | TRAININGS).values() for command in case.commands)
    assert all(f"--method {name} " in said for name in method_names() if name != "aim")
    assert all(f"train {kind} " in said for kind in KINDS)


@pytest.mark.parametrize("resumed", [False, True])
def test_an_interrupted_run_leaves_its_answers_alone(resumed, tmp_path, monkeypatch, capsys):
    """What is kept for another run, and what that run makes of it."""
    keep = Account._keep

    def interrupted(self, *given):
        keep(self, *given)
        if self.charged == 3 and not self._log.resumed:
            raise KeyboardInterrupt

    monkeypatch.setattr(Account, "_keep", interrupted)
    monkeypatch.setattr(os, "urandom", bytes)  # the seed of public draws, which is kept
    synth = f"{SYNTH} {LEDGER} --focus town --keep kept.answers --out made.csv"
    case = Case((created(), synth, *([f"{synth} --resume"] if resumed else []), SHOWN))
    commands = rehearsal(case, tmp_path, monkeypatch, capsys)
    left, recording = commands.record(as_csv(plain))
    assert [ended.status for ended in left.ended] == ([0, 130, 0, 0] if resumed else [0, 130, 0])
    assert ("kept.answers" in left.files, "made.csv" in left.files) == (not resumed, resumed)
    for table in OTHERS:
        assert not list(differences(left, commands.replay(as_csv(table), recording), table.__name__))


def test_a_table_of_a_server_is_replayed(postgres, tmp_path, monkeypatch, capsys):
    def stored(rows: Rows) -> Writer:
        def write(_: Path) -> None:
            columns = list(zip(*rows(), strict=True))
            postgres.run("DROP TABLE IF EXISTS replayed CASCADE")
            postgres.store("replayed", pa.table(dict(zip(NAMES, map(pa.array, columns), strict=True))))
            postgres.run('CREATE VIEW replayed_view AS SELECT * FROM replayed WHERE "person" IS NOT NULL')

        return write

    table, view = postgres.url("replayed"), postgres.url("replayed_view")
    synth = "--schema people.toml --epsilon 2 --method independent"
    case = Case(
        (
            f"ledger create people.ledger --source {table} --epsilon 90 --delta 1e-5",
            f"synth {table} {synth} {UNIT} {LEDGER} --out made/",
            f"schema {table} --epsilon 20 {UNIT} {LEDGER} --out bought.toml",
            f"synth {view} {synth} --out seen.csv",
            SHOWN,
        ),
        stored,
    )
    commands = rehearsal(case, tmp_path, monkeypatch, capsys)
    left, recording = commands.record(stored(plain))
    assert not [ended.err for ended in left.ended if ended.status]
    for rows in OTHERS:
        assert not list(differences(left, commands.replay(stored(rows), recording), rows.__name__))
