"""`counterfoil schema --json`: what was drafted or bought, as one document; and which other commands have `--json`."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer
from pyarrow import parquet

from command_line import Office
from counterfoil.cli.app import app
from counterfoil.cli.schema_file import facts_of
from counterfoil.receipt.receipt import Receipt

WITHOUT_FACTS = {"counterfoil demo"}
"""A tour in words, for people: what it shows is made by other commands, which have `--json`."""


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The commands that do something, by all of their words."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for word, one in inner.items():
        yield from commands(one, f"{name} {word}")


def test_every_command_that_prints_facts_prints_them_as_json() -> None:
    found = dict(commands(typer.main.get_command(app), "counterfoil"))
    assert len(found) > 20
    lacking = {name for name, one in found.items() if all("--json" not in option.opts for option in one.params)}
    assert lacking == WITHOUT_FACTS


def test_a_draft_is_one_document_with_the_same_facts_as_its_file(office: Office) -> None:
    table = pa.table({"age": [1], "name\x1b[31m": ["a"], "born": [datetime.date(2000, 1, 1)]})
    parquet.write_table(table, "t.parquet")
    printed = office.run("schema", "t.parquet", "--json")
    assert (printed.status, printed.err) == (0, "")
    document = printed.document
    assert document["schema"] == tomllib.loads(office.run("schema", "t.parquet").out)
    assert (document["out"], document["to_confirm"]) == (None, table.column_names)
    assert "\x1b" not in printed.out
    written = office.run("schema", "t.parquet", "--json", "--out", "t.toml")
    assert written.document == {**document, "out": "t.toml"}
    assert tomllib.loads(Path("t.toml").read_text()) == document["schema"]


def test_a_schema_that_is_bought_is_one_document_beside_its_files(office: Office) -> None:
    ended = office.run(
        "schema", "people.csv", "--epsilon", "2.5", "--out", "t.toml", "--json", "--ledger", "people.ledger"
    )
    assert ended.status == 0, ended.err
    assert ended.err.startswith("What is bought protects each row by itself.")  # said before the charge
    document, receipt = ended.document, Receipt.load("t.schema.receipt.json")
    assert (document["protects"], document["privacy_unit"], document["max_rows"]) == ("each row by itself", None, None)
    assert document["schema"] == tomllib.loads(Path("t.toml").read_text())
    assert document["schema"]["bought"]["receipt"] == receipt.digest
    said = {name: document[name] for name in ("out", "receipt", "epsilon", "delta", "neighboring_relation", "ledger")}
    assert said == {
        "out": "t.toml",
        "receipt": "t.schema.receipt.json",
        "epsilon": 2.5,
        "delta": 1e-9,
        "neighboring_relation": "add_or_remove_one",
        "ledger": "people.ledger",
    }
    assert document["warnings"] == receipt.document["warnings"]
    assert document["hidden"].startswith("The noise hides what fewer than")


def test_a_refusal_is_a_document_too_and_nothing_is_asked(office: Office) -> None:
    ended = office.run("schema", "people.csv", "--json", "--confirm", "--piped", "--out", "t.toml")
    assert ended.status == 2
    assert ended.document["status"] == 2
    assert "`--confirm` asks on the terminal" in ended.document["error"]
    assert not Path("t.toml").exists()


def test_what_json_has_no_value_for_is_written_as_toml_has_it() -> None:
    values = "lower = 2020-01-31\nupper = 2020-01-31T10:00:00\nfactor = [inf, 1.5, nan]\nconfirm = true\n"
    text = f"[columns.a]\n{values}[columns.b]\n"
    assert facts_of(text, Path("s.toml")) == {
        "schema": {
            "columns": {
                "a": {
                    "lower": "2020-01-31",
                    "upper": "2020-01-31T10:00:00",
                    "factor": ["inf", 1.5, "nan"],
                    "confirm": True,
                },
                "b": {},
            }
        },
        "out": "s.toml",
        "to_confirm": ["a"],
    }
