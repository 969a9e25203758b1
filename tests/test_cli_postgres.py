"""The command line with a table of a PostgreSQL server: the same release as of a file, and no password anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pytest

import counterfoil
from command_line import Office
from counterfoil import Ledger
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.postgres_source import PostgresSource
from counterfoil.curator.view_warning import warn_of_view
from counterfoil.schema.schema import Schema
from counterfoil.table_url import TableURL
from postgres_server import ADMINISTRATOR, READER, Server


@pytest.fixture
def address(postgres: Server, office: Office) -> str:
    """The people of the office, in a table of the server that only one role may read."""
    postgres.store("people", pyarrow.csv.read_csv(office.path / "people.csv"))
    postgres.run(f"GRANT SELECT ON people TO {READER}")
    return postgres.url("people", role=READER)


def counts(source: str, schema: Path) -> list[int]:
    facts = Schema.from_toml(schema.read_text())
    engine = DuckDBEngine(open_source(source), facts)
    marginal: dict[tuple[int, ...], int] = {}
    for block in engine.blocks(facts.domain.attributes):
        for cell in zip(*(block.codes[name].tolist() for name in facts.domain.attributes), strict=True):
            marginal[cell] = marginal.get(cell, 0) + 1
    return sorted(marginal.items())


def test_a_release_is_made_and_holds_nothing_of_the_login(postgres: Server, office: Office, address: str) -> None:
    """What is counted is what is counted in the file; what is written and printed names no password and no user."""
    assert counts(address, office.path / "people.toml") == counts("people.csv", office.path / "people.toml")
    before = office.files()
    made = office.run("ledger", "create", "db.ledger", "--source", address, "--epsilon", "5", "--delta", "1e-6")
    assert made.status == 0, made.err
    options = ["--epsilon", "1", "--method", "independent", "--ledger", "db.ledger", "--keep", "answers"]
    synth = office.run("synth", address, "--schema", "people.toml", *options)
    assert synth.status == 0, synth.err
    assert "people.synthetic.parquet" in office.files() - before
    shown = office.run("ledger", "show", "db.ledger", "--json")
    assert shown.document["location"] == f"postgresql://127.0.0.1:{postgres.port}/postgres::public.people"
    told = [ended.out + ended.err for ended in (made, synth, shown)]
    told += [Path(name).read_bytes().decode("latin-1") for name in office.files() - before]
    for text in told:
        assert postgres.password not in text
        assert READER not in text
    receipt = (office.path / "people.synthetic.receipt.json").read_text()
    assert '"postgres::public.people"' in receipt
    assert "127.0.0.1" not in receipt
    with Ledger.open("db.ledger", source=postgres.url('"public"."people"')) as ledger:
        assert len(ledger.releases()) == 1
    other = office.run(
        "synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--ledger", "db.ledger", "--out", "o.csv"
    )
    assert other.status == 2
    assert "is for 'postgres::public.people'" in other.err


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
def test_a_release_from_a_view_says_that_its_rows_are_what_is_protected(
    postgres: Server, office: Office, address: str, kind: str
) -> None:
    postgres.run(f"CREATE {kind} some_of_them AS SELECT * FROM people LIMIT 100")
    options = ["--schema", "people.toml", "--epsilon", "1", "--method", "independent"]
    said = "is a view, or may be computed as one is: what is protected is its rows"
    of_view = office.run("synth", postgres.url("some_of_them"), *options, "--out", "view.csv")
    assert of_view.status == 0, of_view.err
    assert " ".join(of_view.err.split()).count(said) == 1
    (office.path / "ask.toml").write_text('[[bound]]\nmeasure = "pairs"\nat_most = 1.9\n')
    judged = office.run("synth", postgres.url("some_of_them"), *options, "--accept", "ask.toml", "--out", "judged.csv")
    assert " ".join(judged.err.split()).count(said) == 1, judged.err
    of_table = office.run("synth", address, *options, "--out", "table.csv")
    assert of_table.status == 0, of_table.err
    assert said not in " ".join(of_table.err.split())
    postgres.run(f"DROP {kind} some_of_them")
    with pytest.warns(counterfoil.ViewWarning, match=said):
        warn_of_view("v")


def test_a_foreign_table_may_be_a_view_where_it_leads(postgres: Server, address: str) -> None:
    postgres.run(
        "CREATE EXTENSION file_fdw",
        "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
        "CREATE FOREIGN TABLE elsewhere (age int) SERVER files OPTIONS (program 'echo 40')",
        f"GRANT SELECT ON elsewhere TO {READER}",
    )
    try:
        assert PostgresSource(TableURL.of(postgres.url("elsewhere"))).is_view
        assert not PostgresSource(TableURL.of(address)).is_view
    finally:
        postgres.run("DROP EXTENSION file_fdw CASCADE")


def test_a_release_says_that_row_security_hides_rows_from_its_role(postgres: Server, office: Office) -> None:
    """A third of a register was released as if it were the whole, and nothing said so."""
    postgres.store("guarded", pyarrow.csv.read_csv(office.path / "people.csv"))
    postgres.run("ALTER TABLE guarded ENABLE ROW LEVEL SECURITY", f"GRANT SELECT ON guarded TO {READER}")
    postgres.run(f"CREATE POLICY young ON guarded FOR SELECT TO {READER} USING (age < 60)")
    options = ["--schema", "people.toml", "--epsilon", "1", "--method", "independent", "--out"]
    said = "has row security: only the rows that it shows to this role are read"
    of_reader = office.run("synth", postgres.url("guarded", role=READER), *options, "some.csv")
    assert of_reader.status == 0, of_reader.err
    assert " ".join(of_reader.err.split()).count(said) == 1
    of_owner = office.run("synth", postgres.url("guarded"), *options, "all.csv")
    assert of_owner.status == 0, of_owner.err
    assert said not in " ".join(of_owner.err.split())
    postgres.run("DROP TABLE guarded")


def test_every_command_that_reads_a_table_reads_one_of_a_server(office: Office, address: str) -> None:
    files = office.path / "people.toml", office.path / "s.csv"
    assert office.synth("--out", "s.csv").status == 0
    drafted = office.run("schema", address, "--out", "draft.toml")
    assert drafted.status == 0, drafted.err
    assert 'name = "people"' in (office.path / "draft.toml").read_text()
    for arguments in (
        ("evaluate", address, files[1], "--schema", files[0]),
        ("check", address, "--schema", files[0]),
        ("check", address, "--schema", files[0], "--epsilon", "1"),
        ("plan", "--schema", files[0], "--like", address, "--epsilon", "1", "--rows", "200"),
    ):
        ended = office.run(*arguments)
        assert ended.status == 0, (arguments, ended.err)
    assert (office.path / "people.check.receipt.json").exists()


@pytest.mark.parametrize("command", ["synth", "schema", "check", "train", "evaluate", "ledger", "plan"])
def test_a_password_in_an_address_is_refused_everywhere(office: Office, command: str) -> None:
    address, schema = "postgresql://me:hunter2@h/d::people", ("--schema", "people.toml")
    budget = ("--epsilon", "1", "--delta", "1e-6")
    arguments = {
        "synth": ("synth", address, *schema, *budget),
        "schema": ("schema", address, "--out", "draft.toml"),
        "check": ("check", address, *schema, *budget),
        "train": ("train", "fair-classifier", address, *schema, *budget, "--target", "income", "--protected", "sex"),
        "evaluate": ("evaluate", address, "people.csv", *schema),
        "ledger": ("ledger", "create", "new.ledger", "--source", address, *budget),
        "plan": ("plan", *schema, "--like", address, *budget, "--rows", "200"),
    }[command]
    before = office.files()
    ended = office.run(*arguments)
    assert ended.status == 2
    assert "PGPASSWORD" in ended.err
    assert "hunter2" not in ended.out + ended.err
    assert office.files() == before


def test_a_refusal_of_the_server_is_one_sentence(postgres: Server, office: Office, monkeypatch) -> None:
    postgres.run("CREATE TABLE closed (sex text, age int, income text)")
    url = postgres.url("closed", role=READER)
    before = office.files()
    ended = office.run("synth", url, "--schema", "people.toml", "--epsilon", "1")
    assert ended.status == 2
    assert "may not read" in ended.err
    assert READER not in ended.err
    assert office.files() == before


def test_no_process_shows_the_password(postgres: Server, office: Office, address: str) -> None:
    """Neither the command's own arguments, nor what the server says of its connections."""
    program = (
        "import sys; from counterfoil.curator.sources.opening import open_source;"
        "s = open_source(sys.argv[1]); next(s.batches(['age'])); print('read', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reading:
        assert reading.stdout is not None
        assert reading.stdout.readline() == "read\n"
        lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (reading.pid, *_backends(postgres))]
        reading.communicate()
    assert reading.returncode == 0
    assert len(lines) >= 2
    assert not [line for line in lines if postgres.password.encode() in line]
    told = postgres.rows("SELECT query, application_name FROM pg_stat_activity")
    assert postgres.password not in str(told)


def _backends(postgres: Server) -> list[int]:
    ours = f"SELECT pid FROM pg_stat_activity WHERE usename = '{READER}' OR usename = '{ADMINISTRATOR}'"
    return [pid for (pid,) in postgres.rows(ours) if os.path.exists(f"/proc/{pid}/cmdline")]
