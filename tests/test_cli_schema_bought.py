"""`counterfoil schema INPUT --epsilon E`: from a table that nobody has described to a release, without an edit."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import sqlite3
import warnings
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyarrow import parquet

import counterfoil
from command_line import Ended, Office, make_office
from counterfoil.cli.schema_bought import default_receipt
from counterfoil.curator.noisy_answers import NoisyAnswers
from counterfoil.fidelity.bought_schema import BoughtSchema
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.files import moved
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Categorical, Identifier, Integer, Real, Schema
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.unit_advice import RowProtectionWarning

ROWS = 3000
HOSTILE = ["<script>alert(1)</script>", "=1+1|x", "\x1b[31mred", 'say "hi"']


def write_town(path: Path) -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(HOSTILE, ROWS)
    lines = ['age,kind of "x",id,born,notes']
    for i in range(ROWS):
        quoted = words[i].replace('"', '""')
        born = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.{rng.integers(1940, 2005)}"
        lines.append(f'{rng.integers(18, 90)},"{quoted}",{i},{born},note {i} {rng.integers(10**9)}')
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    write_town(tmp_path / "town.csv")
    arguments = ("ledger", "create", "town.ledger", "--source", "town.csv", "--epsilon", "20", "--delta", "1e-6")
    assert made.run(*arguments).status == 0
    return made


def bought(office: Office, *arguments: str, epsilon: str = "10") -> Path:
    out = Path("town.schema.toml")
    ended = office.run("schema", "town.csv", "--epsilon", epsilon, "--out", str(out), *arguments)
    assert ended.status == 0, ended.err
    return out


def test_two_commands_within_one_budget(office: Office) -> None:
    out = bought(office, "--ledger", "town.ledger", "--share", "0.3")
    assert Schema.from_toml(out).bought.whole.epsilon == 10
    said = office.run(
        "synth", "town.csv", "--schema", str(out), "--rest", "--ledger", "town.ledger", "--out", "rows.csv"
    )
    assert said.status == 0, said.err
    assert "epsilon 10, delta 1e-09" in said.out
    page = office.run("ledger", "show", "town.ledger").out
    assert "spent       10  1e-09" in page
    assert re.search(r"^ +2 +of 1 ", page, re.MULTILINE)
    receipts = ("town.schema.receipt.json", "rows.receipt.json")
    assert all(office.run("receipt", "verify", one, "--ledger", "town.ledger").status == 0 for one in receipts)
    again = office.run(
        "synth", "town.csv", "--schema", str(out), "--rest", "--ledger", "town.ledger", "--out", "more.csv"
    )
    assert again.status == 2
    assert "is for one release. Found release 2, which has it already" in " ".join(again.err.split())


def rest_of(office: Office, out: str, *arguments: str) -> Ended:
    schema = ("--schema", "town.schema.toml", "--rest", "--method", "independent")
    return office.run("synth", "town.csv", *schema, "--out", out, *arguments)


def test_a_rest_without_a_ledger_is_said_and_not_spent_again_beside_its_receipt(office: Office) -> None:
    bought(office, "--share", "0.3")
    first = rest_of(office, "rows.csv")
    assert first.status == 0, first.err
    assert "No ledger will remember that this release has the rest of epsilon 10" in " ".join(first.err.split())
    page = " ".join(office.run("receipt", "show", "rows.receipt.json").out.split())
    assert "No ledger remembers that this release had the rest of its budget" in page
    for out in ("rows.csv", "more.csv", "folder/"):
        again = rest_of(office, out, "--force")
        assert again.status == 2
        assert "is for one release. Found the receipt of one that has it already" in " ".join(again.err.split())
        assert "rows.receipt.json" in again.err
    assert not Path("more.csv").exists()
    assert not list(Path().glob("*.answers")), "nothing was begun"
    Path("elsewhere").mkdir()
    assert rest_of(office, "elsewhere/rows.csv").status == 2, "the receipt lies beside the schema"
    Path("rows.receipt.json").unlink()
    assert rest_of(office, "folder/").status == 0, "nothing can be remembered for sure"
    assert rest_of(office, "more.csv").status == 2, "a saved release is found too"


def test_a_ledger_does_not_lend_a_rest_that_a_release_without_it_has(office: Office) -> None:
    bought(office, "--ledger", "town.ledger", "--share", "0.3")
    assert rest_of(office, "rows.csv").status == 0
    again = rest_of(office, "more.csv", "--ledger", "town.ledger")
    assert again.status == 2
    assert "rows.receipt.json" in again.err
    assert "Looks" not in (page := office.run("ledger", "show", "town.ledger").out)
    assert "of 1 " not in page, "the ledger lent nothing"


def test_a_run_is_finished_though_its_receipt_was_written(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers of a release outlive its files for a moment, in which a run may be killed."""
    bought(office, "--share", "0.3")
    monkeypatch.setattr("counterfoil.cli.synth_run.remove", lambda log, _: log.close())
    assert rest_of(office, "rows.csv").status == 0
    assert rest_of(office, "rows.csv", "--resume", "--force").status == 0


def test_the_printed_table_says_that_codes_may_be_noise(office: Office) -> None:
    """Of a thousand integers that nobody has up to three pass, on average; of texts none does.

    About one purchase in ninety (3 of 264) takes the codes for numbers, all of four with probability below 1e-6.
    """
    rng = np.random.default_rng(2)
    lines = [f"{rng.choice([1, 5, 111, 600, 888])},{rng.choice(['x', 'y'])}" for _ in range(ROWS)]
    Path("codes.csv").write_text("\n".join(["sector,town", *lines]) + "\n")
    for _ in range(4):
        said = office.run("schema", "codes.csv", "--epsilon", "20", "--out", "codes.toml", "--force")
        assert said.status == 0, said.err
        if listed := re.search(r"^sector +categorical ", said.out, re.MULTILINE):
            break
    assert listed
    assert re.search(r"some\s+may\s+be\s+noise", said.out[said.out.index("sector") : said.out.index("town ")])
    assert "some" not in said.out[said.out.index("town ") :].split("\n")[0]


def test_the_rest_is_said_to_need_a_share(office: Office) -> None:
    out = bought(office)
    ended = office.run("synth", "town.csv", "--schema", str(out), "--rest")
    assert ended.status == 2
    assert "`--epsilon` says the most" in ended.err
    ended = office.run("synth", "town.csv", "--schema", str(out), "--rest", "--epsilon", "1")
    assert ended.status == 2
    assert "with a budget of its own: leave `rest` out" in " ".join(ended.err.split())


def test_two_commands_and_no_edit(office: Office) -> None:
    out = bought(office, "--ledger", "town.ledger")
    schema = Schema.from_toml(out)
    age = schema["age"]
    assert isinstance(age, Integer)
    assert age.lower <= 20
    assert 80 <= age.upper <= 130
    kinds = schema['kind of "x"']
    assert isinstance(kinds, Categorical)
    assert set(kinds.values) == set(HOSTILE)
    assert schema["born"].kind == "date"
    assert "notes" in schema.ignore
    receipt = Receipt.load("town.schema.receipt.json")
    assert schema.bought is not None
    assert schema.bought.receipt == receipt.digest
    assert (schema.bought.epsilon, schema.bought.delta) == (10.0, 1e-9)
    assert receipt.verify().holds
    assert office.run("receipt", "verify", "town.schema.receipt.json", "--ledger", "town.ledger").status == 0
    arguments = ("synth", "town.csv", "--schema", out, "--epsilon", "5", "--method", "independent")
    made = office.run(*arguments, "--ledger", "town.ledger", "--out", "s.csv")
    assert made.status == 0, made.err
    assert "Both together, if they are of the same records, cost epsilon 15 at delta" in " ".join(made.out.split())
    assert receipt.text().splitlines()[1] == "A schema made from town.csv, method schema."
    assert "None: what was released is a schema." in receipt.text()
    document = Receipt.load("s.receipt.json").document
    assert document["schema_bought"]["receipt"] == receipt.digest
    assert document["schema_bought"]["together"]["epsilon"] == pytest.approx(15.0)
    assert [release["epsilon"] for release in office.releases("town.ledger")] == [10, 5]
    assert office.run("receipt", "verify", "s.receipt.json", "--ledger", "town.ledger").status == 0


def test_what_was_found_is_shown_in_80_columns_and_nothing_in_it_is_obeyed(office: Office) -> None:
    ended = office.run("schema", "town.csv", "--epsilon", "10", "--out", "t.toml")
    assert ended.status == 0, ended.err
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "\x1b[31m" not in ended.out
    assert "\x1b" not in Path("t.toml").read_text()
    assert re.search(r"\(\S+\s+to\s+\S+%\)", ended.out), "shares are intervals"
    words = ("age", "integer", "left out", "95% intervals", "t.schema.receipt.json")
    for word in (*words, "Next: counterfoil synth town.csv"):
        assert word in ended.out, word
    assert "adds its own cost" in ended.out
    assert "No ledger" in ended.err
    assert "epsilon 10" in ended.out


def test_what_is_stated_costs_nothing_and_is_kept_word_for_word(office: Office) -> None:
    words = (
        '[columns.age]\nkind = "integer"  # by the form\nlower = 0\nupper = 120\n\n[columns.id]\nkind = "identifier"\n'
    )
    Path("known.toml").write_text(words)
    out = bought(office, "--stated", "known.toml")
    assert words.split("\n\n")[0] in out.read_text()
    schema = Schema.from_toml(out)
    assert schema["age"] == Integer("age", 0, 120)
    assert Identifier("id") in schema.columns
    charges = Receipt.load("town.schema.receipt.json").document["charges"]
    asked = [set(charge["parameters"].get("columns", ())) for charge in charges]
    assert asked
    assert not any({"age", "id"} & columns for columns in asked)


def test_rows_of_a_person_are_protected_together(office: Office) -> None:
    ended = office.run("schema", "town.csv", "--epsilon", "10", "--out", "t.toml", "--privacy-unit", "id",
                       "--max-rows", "2", "--relation", "replace_one")  # fmt: skip
    assert ended.status == 0, ended.err
    schema = Schema.from_toml("t.toml")
    assert schema.bought is not None
    assert schema.bought.neighbors.describe() == "replace_one of id with at most 2 rows"
    assert Identifier("id", "sequence") in schema.columns
    assert "--privacy-unit id --max-rows 2" in ended.out
    comments = " ".join((office.path / "t.toml").read_text().replace("#", " ").split())
    assert "Rows and cells are those that were used, at most 2 of each 'id'" in comments
    assert Receipt.load("t.schema.receipt.json").verify().holds
    made = office.run("synth", "town.csv", "--schema", "t.toml", "--epsilon", "5", "--method", "independent", "--out",
                      "s.csv", "--privacy-unit", "id", "--max-rows", "2", "--relation", "replace_one")  # fmt: skip
    assert made.status == 0, made.err
    assert Receipt.load("s.receipt.json").document["schema_bought"]["together"]["epsilon"] == pytest.approx(15)


def test_a_storage_with_types_says_the_kinds(office: Office) -> None:
    rng = np.random.default_rng(1)
    columns = {
        "n": pa.array(rng.integers(0, 50, ROWS)),
        "flag": pa.array(rng.integers(0, 2, ROWS).astype(bool)),
        "tags": pa.array([[1]] * ROWS),
        "cents": pa.array(np.round(rng.random(ROWS) * 100, 2)).cast(pa.decimal128(9, 2), safe=False),
    }
    parquet.write_table(pa.table(columns), "t.parquet")
    ended = office.run("schema", "t.parquet", "--epsilon", "10", "--out", "t.toml")
    assert ended.status == 0, ended.err
    schema = Schema.from_toml("t.toml")
    assert [column.kind for column in schema.columns] == ["integer", "boolean", "real"]
    assert schema.ignore == ("tags",)
    assert schema["cents"].decimals == 2  # type: ignore[union-attr]
    assert (
        office.run("synth", "t.parquet", "--schema", "t.toml", "--epsilon", "5", "--method", "independent").status == 0
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--epsilon", "1"), "Found no `--out`"),
        (("--epsilon", "0", "--out", "t.toml"), "`epsilon` must be positive"),
        (("--epsilon", "1", "--delta", "0", "--out", "t.toml"), "`delta` must be positive"),
        (("--epsilon", "1", "--delta", "0.2", "--out", "t.toml"), "0.2"),
        (("--epsilon", "1", "--out", "t.csv"), ".toml"),
        (("--epsilon", "1", "--out", "t.toml", "--receipt", "town.csv"), "sensitive table"),
        (("--epsilon", "1", "--out", "t.toml", "--receipt", "t.toml"), "t.toml"),
        (("--epsilon", "1", "--out", "people.toml"), "is there already"),
        (("--epsilon", "1", "--out", "none/t.toml"), "no folder"),
        (("--epsilon", "1", "--out", "t.toml", "--relation", "add"), "`--relation` must be"),
        (("--epsilon", "1", "--out", "t.toml", "--max-rows", "2"), "go together"),
        (("--epsilon", "1", "--out", "t.toml", "--privacy-unit", "ids", "--max-rows", "2"), "Did you mean 'id'"),
        (("--epsilon", "1", "--out", "t.toml", "--stated", "people.toml"), "no column 'sex'"),
        (("--epsilon", "1", "--out", "t.toml", "--stated", "town.csv"), "must be public"),
        (("--epsilon", "30", "--out", "t.toml"), "left"),
        (("--epsilon", "1", "--confirm", "--out", "t.toml"), "Found both"),
        (("--delta", "1e-9"), "goes with `--epsilon`"),
        (("--stated", "people.toml"), "goes with `--epsilon`"),
        (("--piped",), "goes with `--confirm`"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written_or_charged(
    office: Office, arguments: tuple[str, ...], said: str
) -> None:
    before = office.files()
    ledger = ("--ledger", "town.ledger") if "--epsilon" in arguments else ()
    ended = office.run("schema", "town.csv", *arguments, *ledger)
    assert ended.status == 2, ended.err
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert office.files() == before
    assert office.releases("town.ledger") == []


def test_an_empty_table_is_refused_before_anything_is_charged(office: Office) -> None:
    Path("empty.csv").write_text("a,b\n")
    assert (
        office.run("ledger", "create", "e.ledger", "--source", "empty.csv", "--epsilon", "2", "--delta", "1e-6").status
        == 0
    )
    before = office.files()
    ended = office.run("schema", "empty.csv", "--epsilon", "1", "--ledger", "e.ledger", "--out", "t.toml")
    assert ended.status == 2
    assert "must have rows" in ended.err
    assert office.files() - {"e.ledger-journal"} == before
    assert not any(release["charges"] for release in office.releases("e.ledger"))


def test_of_too_few_rows_it_is_said_what_would_show_them_and_no_release_is_proposed(office: Office) -> None:
    Path("few.csv").write_text("a,b\n" + "1,x\n" * 100)
    for _ in range(5):  # noise says now and then that there are many rows
        ended = office.run("schema", "few.csv", "--epsilon", "0.01", "--out", "t.toml", "--force")
        assert ended.status == 0, ended.err
        if "would show what a fifth" in (said := " ".join((ended.out + ended.err).split())):
            break
    else:
        pytest.fail("of five purchases none says what would show the rows")
    assert "Too little can be distinguished" in said
    assert "Next:" not in ended.out
    assert [one.column for one in Schema.from_toml("t.toml").confirm] == ["a", "b"]


def test_of_few_rows_the_table_says_of_no_column_what_it_is(office: Office) -> None:
    Path("few.csv").write_text("a,b\n" + "1,x\n" * 100)
    for _ in range(5):  # noise shows something now and then
        ended = office.run("schema", "few.csv", "--epsilon", "0.01", "--out", "t.toml", "--force")
        lines = [line.split() for line in ended.out.splitlines() if line.startswith(("a ", "b "))]
        if lines == [[name, "?", "to", "be", "stated"] for name in ("a", "b")]:
            break
    else:
        pytest.fail("of five purchases none leaves both columns to be stated")


def test_a_public_number_of_rows_says_what_is_too_little_before_anything_is_charged(office: Office) -> None:
    arguments = ("schema", "town.csv", "--ledger", "town.ledger", "--out", "t.toml")
    refused = office.run(*arguments, "--epsilon", "0.01", "--rows", "3000")
    assert refused.status == 2
    assert "Found 0.01, and the noise will hide what fewer than" in refused.err
    assert "would show what a fifth of them share" in refused.err
    assert office.run(*arguments, "--epsilon", "0.01", "--rows", "0").status == 2
    assert office.releases("town.ledger") == []
    warned = office.run(*arguments, "--epsilon", "0.1", "--rows", "3_000")
    assert warned.status == 0, warned.err
    assert "WARNING: of 3,000 rows the noise will hide" in " ".join((warned.out + warned.err).split())
    quiet = office.run(*arguments, "--epsilon", "5", "--rows", "3000", "--force")
    assert "WARNING: of" not in quiet.out + quiet.err


def test_whom_it_protects_is_said_before_anything_is_charged(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = office.run("schema", "town.csv", "--epsilon", "1", "--out", "t.toml", "--json")
    said = " ".join(alone.err.split())
    assert "protects each row by itself. Where a person may have several rows, --privacy-unit COLUMN" in said
    document = json.loads(alone.out)
    assert (document["privacy_unit"], document["max_rows"]) == (None, None)
    assert document["protects"] == "each row by itself"
    unit = ("--privacy-unit", "id", "--max-rows", "2")
    person = office.run("schema", "town.csv", "--epsilon", "1", "--out", "u.toml", "--json", *unit)
    assert json.loads(person.out)["protects"] == "all rows with one id, of which at most 2 are used"
    assert "Where a person may have" not in person.err

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("counterfoil.cli.terminal.Terminal.note", stopped)
    ended = office.run("schema", "town.csv", "--epsilon", "1", "--ledger", "town.ledger", "--out", "v.toml")
    assert "Nothing was charged" in ended.err
    assert not any(release["charges"] for release in office.releases("town.ledger"))


def test_a_column_of_which_zero_alone_shows_has_room_for_small_numbers_and_that_is_said(office: Office) -> None:
    """Amounts that few have lie far above: the purchase says so, and so does the release, which sees more."""
    rng = np.random.default_rng(0)
    bonus = np.where(rng.random(ROWS) < 0.9, 0, rng.integers(500, 10**6, ROWS))
    text = "\n".join(["bonus,job", *(f"{amount},{'ab'[i % 2]}" for i, amount in enumerate(bonus))])
    Path("bonus.csv").write_text(text + "\n")
    for number in range(8):
        ended = office.run("schema", "bonus.csv", "--epsilon", "0.1", "--out", f"b{number}.toml")
        assert ended.status == 0, ended.err
        said = " ".join((ended.out + ended.err).split())
        schema = Schema.from_toml(f"b{number}.toml")
        if "0 alone shows of bonus." in said:
            assert not schema.confirm
            assert schema["bonus"].upper == 15
            assert "bonus integer 0 alone; codes up to 15" in said
            assert (
                f"larger ones count as 15, and fractions are rounded. State kind and bounds in b{number}.toml" in said
            )
            made = office.run("synth", "bonus.csv", "--schema", f"b{number}.toml", "--epsilon", "5", "--out", "c.csv")
            assert "of bonus lie above 15, the upper bound, and count as that" in " ".join(made.out.split())
            return
    pytest.fail("zero alone shows in none of eight purchases")


@pytest.mark.parametrize("epsilon", ["2", "0.01"])
def test_a_stated_kind_of_which_nothing_shows_is_to_be_stated_in_full_and_what_was_paid_for_is_written(
    office: Office, epsilon: str
) -> None:
    rng = np.random.default_rng(0)
    prices = enumerate(rng.random(ROWS))
    lines = ["price,job,day,rooms,town", *(f"{price:.2f} crowns,{'ab'[i % 2]},x,{i % 9},y" for i, price in prices)]
    Path("shop.csv").write_text("\n".join(lines) + "\n")
    kinds = {"price": "real", "job": "categorical", "day": "date"}
    Path("known.toml").write_text("".join(f'[columns.{name}]\nkind = "{kind}"\n' for name, kind in kinds.items()))
    hidden = ["price", "day"] if epsilon == "2" else ["price", "job", "day", "rooms", "town"]
    for _ in range(3):  # noise alone shows a range in one purchase of a hundred
        ended = office.run(
            "schema", "shop.csv", "--epsilon", epsilon, "--stated", "known.toml", "--out", "shop.schema.toml", "--force"
        )
        assert ended.status == 0, ended.err
        schema, said = Schema.from_toml("shop.schema.toml"), " ".join((ended.out + ended.err).split())
        assert Receipt.load("shop.schema.receipt.json").digest == schema.bought.receipt
        if [one.column for one in schema.confirm] == hidden:
            break
    else:
        pytest.fail("other columns are to be stated")
    why = "To be stated in shop.schema.toml first, for nothing of the stated kind shows above the noise: price, day."
    assert (why if epsilon == "2" else "Too little can be distinguished from the noise") in said
    ended = office.run("synth", "shop.csv", "--schema", "shop.schema.toml", "--epsilon", "1", "--out", "copy.csv")
    assert ended.status == 2
    assert "'price': `lower` must be a number" in ended.err


def test_a_failure_after_the_charge_says_so_and_leaves_no_file(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(draft: Path, target: Path) -> None:
        if target.suffix == ".toml":
            raise OSError(28, os.strerror(28), str(target))
        moved(draft, target)

    monkeypatch.setattr("counterfoil.files.moved", full)
    before = office.files()
    ended = office.run("schema", "town.csv", "--epsilon", "1", "--ledger", "town.ledger", "--out", "t.toml")
    assert ended.status == 2
    assert "The disk is full" in ended.err
    assert "charges were made: the ledger town.ledger counts epsilon 1 and delta 1e-09 as spent" in ended.err
    assert office.files() - {"town.ledger-journal"} == before | {"t.schema.answers"}


def test_files_that_are_replaced_are_there_again_when_it_fails(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    bought(office)
    before = {name: Path(name).read_bytes() for name in ("town.schema.toml", "town.schema.receipt.json")}

    def full(draft: Path, target: Path) -> None:
        if target.suffix == ".toml":
            raise OSError(28, os.strerror(28), str(target))
        moved(draft, target)

    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.files.moved", full)
        ended = office.run("schema", "town.csv", "--epsilon", "10", "--out", "town.schema.toml", "--force",
                           "--receipt", "other.json")  # fmt: skip
        assert ended.status == 2
    assert {name: Path(name).read_bytes() for name in before} == before
    assert not Path("other.json").exists()


def test_a_schema_and_its_own_receipt_are_replaced_together_with_force_alone(office: Office) -> None:
    out, receipt = bought(office), Path("town.schema.receipt.json")
    before = receipt.read_bytes()
    # At another epsilon: of two in one second, nothing else need tell the receipts apart.
    again = ("schema", "town.csv", "--epsilon", "11", "--out", str(out))
    ended = office.run(*again)
    assert ended.status == 2
    assert "overwrite it with --force" in ended.err
    assert receipt.read_bytes() == before
    assert office.run(*again, "--force").status == 0
    schema = Schema.from_toml(out)
    assert receipt.read_bytes() != before
    assert schema.bought is not None
    assert schema.bought.receipt == Receipt.load(receipt).digest


@pytest.mark.parametrize("schema", ["another", "broken", "none"])
def test_the_receipt_of_another_schema_is_not_replaced(office: Office, schema: str) -> None:
    out, receipt = bought(office), Path("town.schema.receipt.json")
    before = receipt.read_bytes()
    if schema == "another":
        text = out.read_text(encoding="utf-8")
        out.write_text(text.replace(Receipt.load(receipt).digest, "0" * 64), encoding="utf-8")
    elif schema == "broken":
        out.write_bytes(b"\xff")
    else:
        out.unlink()
    ended = office.run("schema", "town.csv", "--epsilon", "10", "--out", str(out), "--force")
    assert ended.status == 2
    assert "the receipt of another release" in " ".join(ended.err.split())
    assert receipt.read_bytes() == before


@pytest.mark.parametrize("ledger", [True, False])
def test_an_interrupt_ends_with_130_and_says_what_was_charged(
    office: Office, monkeypatch: pytest.MonkeyPatch, ledger: bool
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("counterfoil.cli.schema_bought._write", interrupted)
    arguments = ("--ledger", "town.ledger") if ledger else ()
    before = office.files()
    ended = office.run("schema", "town.csv", "--epsilon", "1", "--out", "t.toml", *arguments)
    assert ended.status == 130
    assert "charges were made" in ended.err
    assert "No file was written. Their answers are kept in t.schema.answers" in ended.err
    assert office.files() == before | {"t.schema.answers"}
    monkeypatch.setattr("counterfoil.fidelity.bought_schema.discover", interrupted)
    ended = office.run("schema", "town.csv", "--epsilon", "1", "--out", "u.toml", *arguments)
    assert ended.status == 130
    assert "Nothing was charged, and no file was written." in ended.err
    assert office.files() == before | {"t.schema.answers"}


@pytest.mark.parametrize("ledger", [True, False])
@pytest.mark.parametrize("ended_by", ["a full disk", "several interrupts"])
def test_a_purchase_that_ended_early_is_finished_without_paying_again(
    office: Office, monkeypatch: pytest.MonkeyPatch, ledger: bool, ended_by: str
) -> None:
    """The schema is the one that was paid for, though no record is asked again."""
    drafts: list[str] = []

    def fails(made: BoughtSchema, *_: Path) -> None:
        drafts.append(made.text)
        raise OSError(28, "No space left on device") if ended_by == "a full disk" else KeyboardInterrupt

    given = ["schema", "town.csv", "--epsilon", "10", "--out", "town.schema.toml"]
    given += ["--ledger", "town.ledger"] if ledger else []
    before = office.files()
    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.cli.schema_bought._write", fails)
        ended = office.run(*given)
    assert "Their answers are kept in town.schema.answers; finish the release" in ended.err
    waiting = office.run(*given)
    assert "holds answers that were paid for" in waiting.err
    paid = [release["charges"] for release in office.releases("town.ledger")]
    for name in ("numbers", "texts", "choice"):
        monkeypatch.delattr(NoisyAnswers, name)
    command = shlex.split(ended.err.strip().rpartition(": ")[2])
    assert command[-1] == "--resume"
    done = office.run(*command[1:])
    assert done.status == 0, done.err
    assert office.files() == before | {"town.schema.toml", "town.schema.receipt.json"}
    written = Path("town.schema.toml").read_text()
    without = [[line for line in text.splitlines() if "receipt" not in line] for text in (written, drafts[0])]
    assert without[0] == without[1]
    assert [release["charges"] for release in office.releases("town.ledger")] == paid
    assert Receipt.load("town.schema.receipt.json").verify().holds
    if ledger:
        assert office.run("receipt", "verify", "town.schema.receipt.json", "--ledger", "town.ledger").status == 0


def test_an_answer_that_a_purchase_lost_is_told_at_once(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its noise is planned: no question can be asked twice, and nothing more is charged."""
    given = ["schema", "town.csv", "--epsilon", "10", "--out", "town.schema.toml", "--ledger", "town.ledger"]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(NoisyAnswers, "texts", interrupted)
        assert office.run(*given).status == 130
    (before,) = office.releases("town.ledger")
    ended = office.run(*given, "--resume")
    assert ended.status == 2
    assert "this release can't be finished" in " ".join(ended.err.split())
    (after,) = office.releases("town.ledger")
    assert after["charges"] == before["charges"]
    assert office.run(*given, "--discard-answers").status == 0
    assert "town.schema.answers" not in office.files()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--epsilon", "9"), "epsilon 10.0, where 9.0"),
        (("--relation", "replace_one"), 'relation "add_or_remove_one"'),
        (("--stated", "known.toml"), "other stated facts"),
    ],
)
def test_a_purchase_is_finished_with_the_options_that_it_was_begun_with(
    office: Office, monkeypatch: pytest.MonkeyPatch, changed: tuple[str, ...], said: str
) -> None:
    Path("known.toml").write_text('[columns.age]\nkind = "integer"\nlower = 0\nupper = 120\n')
    given = ["schema", "town.csv", "--out", "t.toml"]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("counterfoil.cli.schema_bought._write", interrupted)
        assert office.run(*given, "--epsilon", "10").status == 130
    refused = office.run(*given, "--epsilon", "10", *changed, "--resume")
    assert refused.status == 2
    assert said in " ".join(refused.err.split())


@pytest.mark.parametrize("option", [("--keep", "k"), ("--resume",), ("--discard-answers",)])
def test_a_draft_keeps_no_answers(office: Office, option: tuple[str, ...]) -> None:
    refused = office.run("schema", "town.csv", *option)
    assert refused.status == 2
    assert f"`{option[0]}` goes with `--epsilon`" in " ".join(refused.err.split()), refused.err


@pytest.mark.parametrize("ledger", [True, False])
def test_whoever_stops_it_after_it_was_written_is_told_where_it_is(
    office: Office, monkeypatch: pytest.MonkeyPatch, ledger: bool
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("counterfoil.cli.synth_run.close", interrupted)
    arguments = ("--ledger", "town.ledger") if ledger else ()
    ended = office.run("schema", "town.csv", "--epsilon", "1", "--out", "t.toml", *arguments)
    assert ended.status == 130
    said = " ".join(ended.err.split())
    assert "o file was written" not in said
    assert "nothing was released" not in said
    counted = ", and the ledger town.ledger counts what it cost" if ledger else ""
    assert f"The schema was bought{counted}: t.toml and its receipt t.schema.receipt.json are whole." in said
    assert Receipt.load("t.schema.receipt.json").verify().holds


def test_from_python(office: Office) -> None:
    schema, receipt = counterfoil.buy_schema("town.csv", epsilon=10.0, ledger="town.ledger", name="town")
    assert schema.bought is not None
    assert schema.bought.receipt == receipt.digest
    assert schema.name == "town"
    assert "# bought, rounded outwards: up to " in schema.bought.document
    again = Schema.from_toml(schema.bought.document)
    assert (again, again.bought) == (schema, schema.bought)
    assert receipt.verify().holds
    assert [release["epsilon"] for release in office.releases("town.ledger")] == [10]
    made = counterfoil.synthesize("town.csv", schema, epsilon=1, method="independent", ledger="town.ledger")
    assert made.receipt.document["schema_bought"]["receipt"] == receipt.digest
    with pytest.raises(SchemaError, match="no column 'b'"):
        counterfoil.buy_schema("town.csv", epsilon=1.0, stated='[columns.b]\nkind = "boolean"\n')
    with pytest.raises(ValueError, match="delta"):
        counterfoil.buy_schema("town.csv", epsilon=1.0, delta=0.3)


def test_python_says_which_columns_no_release_will_have() -> None:
    """A frame's dates that are Python objects, and lists, were left out without a word."""
    days = [date(1950, 1, 1) + timedelta(days=17 * row) for row in range(1000)]
    ages = [row % 50 for row in range(1000)]
    frame = pd.DataFrame({"born": pd.Series(days, dtype=object), "age": ages})
    schema, said = bought_with_warnings(frame, epsilon=10.0)
    assert schema.ignore == ("born",)
    assert said[0].startswith("No release will have born, whose cells are Python objects: ")
    stated = said[0].split("stated='")[1].removesuffix("'.").replace("\\n", "\n")
    for source, options in [(frame, {"stated": stated}), (frame.astype({"born": pd.ArrowDtype(pa.date32())}), {})]:
        schema, silent = bought_with_warnings(source, epsilon=10.0, **options)
        assert (schema["born"].kind, len(said), silent) == ("date", 1, [])
    lists = pa.table({"age": ages, "visits": [[1]] * 1000, "note": [f"n{row}" for row in range(1000)]})
    _, said = bought_with_warnings(lists, epsilon=10.0)
    assert said[0].startswith("No release will have visits, stored as lists, of which nothing can be synthesized.")
    assert [one.split(":")[0] for one in said[1:]] == ["No release will have note"]
    assert "Numbers with signs such as % or € are read where `unit` names the sign." in said[1]
    waits = pd.DataFrame({"age": ages, "wait": pd.to_timedelta(ages, unit="min")})
    _, said = bought_with_warnings(waits, epsilon=10.0)
    assert said[0].startswith("No release will have wait, stored as lengths of time, of which nothing can be")
    bins = pd.DataFrame({"age": ages, "group": pd.cut(ages, 3)})
    assert bought_with_warnings(bins, epsilon=10.0)[0].ignore == ("group",)
    with pytest.raises(ValueError, match="group, stored as values of a library's own type, of which nothing can be"):
        counterfoil.buy_schema(bins[["group"]], epsilon=10.0)
    tries = (bought_with_warnings(pa.table({"age": ages[:100]}), epsilon=0.1)[1][0] for _ in range(9))
    assert any(said.startswith("The noise hides what fewer than ") for said in tries), "noise hides it once in 15"


def test_a_purchase_says_of_which_moments_copies_make_up_the_times_of_day() -> None:
    """Of instants a purchase does not know in which zone a day begins: births came back at 13:47:05."""
    days = pd.Timestamp("1950-01-01") + pd.to_timedelta([17 * row for row in range(1000)], unit="D")
    calls = pd.Timestamp("2020-01-01") + pd.to_timedelta([60 * row for row in range(1000)], unit="s")
    frame = pd.DataFrame({"born": days.tz_localize("UTC"), "called": calls})
    stated = '[columns.called]\nkind = "datetime"\nlower = 2020-01-01T00:00:00\nupper = 2020-01-01T23:59:59\n'
    _, said = bought_with_warnings(frame, epsilon=10.0, stated=f'{stated}resolution = "1h"\n')
    (even,) = (one for one in said if "make up the times of day" in one)
    assert even.startswith("Cells of born are of a day or more, and copies make up the times of day. ")
    assert 'days alone, all at midnight, write kind = "date" and days as bounds in the schema' in even
    assert bought_with_warnings(pd.DataFrame({"born": days}), epsilon=10.0)[1] == []


def test_python_foresees_what_the_noise_will_hide(office: Office) -> None:
    few = pa.table({"age": [row % 50 for row in range(200)]})
    with pytest.raises(ValueError, match=r"`epsilon` must be large enough .* of 200 rows\. Found 0\.05, .* `stated`\."):
        counterfoil.buy_schema(few, epsilon=0.05, rows=200, ledger="town.ledger")
    with pytest.raises(ValueError, match=r"`rows` must be the number of rows of the table, at least 1\. Found 0\."):
        counterfoil.buy_schema(few, epsilon=0.05, rows=0)
    assert office.releases("town.ledger") == []
    _, said = bought_with_warnings(few, epsilon=1.0, rows=200)
    assert said[0].startswith("Of 200 rows the noise will hide what fewer than ")
    assert not any(one.startswith("Of 200 rows") for one in bought_with_warnings(few, epsilon=50.0, rows=200)[1])


def test_python_says_whom_a_purchase_protects_where_a_column_names_persons() -> None:
    stays = pa.table({"age": [row % 50 for row in range(300)], "patient": [row // 3 for row in range(300)]})
    with pytest.warns(RowProtectionWarning, match=r"privacy_unit=\('patient', K\) says whose they are") as said:
        counterfoil.buy_schema(stays, epsilon=20.0)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowProtectionWarning)
        counterfoil.buy_schema(stays, epsilon=50.0, privacy_unit=("patient", 3))
        counterfoil.buy_schema(stays.select(["age"]), epsilon=20.0)
        members = pa.table({"age": [row % 50 for row in range(300)], "member": [row % 2 > 0 for row in range(300)]})
        counterfoil.buy_schema(members, epsilon=20.0)  # whether somebody is a member names nobody


def bought_with_warnings(source: object, **options: Any) -> tuple[Schema, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SchemaWarning)
        schema, _ = counterfoil.buy_schema(source, **options)
    chosen = [one for one in caught if one.category is SchemaWarning]
    assert {one.filename for one in chosen} <= {__file__}
    return schema, [str(one.message) for one in chosen]


def test_a_purchase_names_numbers_of_which_noise_may_hide_many_beyond_a_bound() -> None:
    """The comments alone said it: of a bank's amounts all credits came back as 0, and the balance was spent."""
    rng = np.random.default_rng(1)
    debits = -np.exp(rng.normal(3.7, 1.2, 3000))
    amounts = np.where(rng.random(3000) < 0.06, rng.gamma(4, 1300, 3000), debits).round(2)
    table = pa.table({"amount": amounts, "arm": rng.integers(0, 2, 3000).astype(str)})
    words = "Noise may hide many numbers of amount beyond a bound that was bought, as which they count: up to "
    for epsilon in (*[0.2] * 5, 20.0):
        schema, said = bought_with_warnings(table, epsilon=epsilon)
        assert schema.bought is not None
        shares = re.findall(r"up to [\d,]+ rows \((\d+)%\) may lie", schema.bought.document)
        most = max(map(int, shares), default=0)
        assert most == 25 or any(words in one for one in said) == (most > 25)


def test_receipts_lie_beside_schemas() -> None:
    assert default_receipt(Path("a/people.schema.toml")) == Path("a/people.schema.receipt.json")
    assert default_receipt(Path("people.toml")) == Path("people.schema.receipt.json")


def test_a_ledger_knows_what_the_schema_cost(office: Office) -> None:
    """Whoever edits the line `bought` does not get it vouched for."""
    out = bought(office, "--ledger", "town.ledger")
    honest = ("--schema", str(out), "--epsilon", "1", "--method", "independent", "--ledger", "town.ledger")
    made = office.run("synth", "town.csv", *honest, "--out", "honest.csv")
    assert made.status == 0
    assert "which this ledger has not counted" not in made.err
    assert office.run("receipt", "verify", "honest.receipt.json", "--ledger", "town.ledger").status == 0
    Path("lie.toml").write_text(out.read_text().replace("epsilon = 10.0,", "epsilon = 0.5,"))
    assert Path("lie.toml").read_text() != out.read_text()
    arguments = ("--schema", "lie.toml", "--epsilon", "1", "--method", "independent", "--ledger", "town.ledger")
    assert office.run("synth", "town.csv", *arguments, "--out", "lie.csv").status == 0
    ended = office.run("receipt", "verify", "lie.receipt.json", "--ledger", "town.ledger")
    assert ended.status == 1
    assert "The schema was bought for" in " ".join((ended.out + ended.err).split())


def test_a_ledger_says_where_it_does_not_know_what_the_schema_cost(office: Office) -> None:
    out = bought(office)
    arguments = ("--schema", str(out), "--epsilon", "1", "--method", "independent", "--ledger", "town.ledger")
    made = office.run("synth", "town.csv", *arguments, "--out", "other.csv")
    assert made.status == 0
    said = " ".join(made.err.split())
    assert "The schema was bought for epsilon 10 at delta 1e-09, which this ledger has not counted" in said
    with pytest.warns(counterfoil.UncountedPurchaseWarning, match="adds to what the ledger says"):
        counterfoil.synthesize("town.csv", out, epsilon=1, method="independent", ledger="town.ledger")
    ended = office.run("receipt", "verify", "other.receipt.json", "--ledger", "town.ledger")
    assert ended.status == 0
    assert "this ledger has no such purchase" in " ".join((ended.out + ended.err).split())


def test_the_folder_does_not_say_that_nothing_read_what_the_schema_was_bought_of(office: Office) -> None:
    out = bought(office)
    arguments = ("--schema", str(out), "--epsilon", "1", "--method", "independent", "--out", "town_release/")
    assert office.run("synth", "town.csv", *arguments).status == 0
    page = Path("town_release/README.md").read_text()
    assert "read for nothing but the schema" in page
    assert "never read" not in page


def test_categories_with_decimal_commas_are_named_on_the_terminal(office: Office) -> None:
    rng = np.random.default_rng(0)
    lines = [f'"{rng.integers(0, 9)},5",{rng.choice(["a", "b"])}' for _ in range(3000)]
    Path("labor.csv").write_text("\n".join(["kreatinin,arm", *lines]) + "\n")
    ended = office.run("schema", "labor.csv", "--epsilon", "5", "--out", "labor.schema.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "The categories of kreatinin look like numbers with decimal commas" in said
    assert "state kind, bounds and `decimal_char` in labor.schema.toml; those with a unit such as %, € or g/dL" in said


def test_decimal_commas_are_read_where_no_commas_part_the_cells_or_where_they_are_stated(office: Office) -> None:
    rng = np.random.default_rng(0)
    cells = [(f"{rng.integers(0, 9)},5", rng.choice(["a", "b"])) for _ in range(3000)]
    Path("labor.csv").write_text("\n".join(["kreatinin;arm", *(f"{one};{arm}" for one, arm in cells)]) + "\n")
    Path("quoted.csv").write_text("\n".join(["kreatinin,arm", *(f'"{one}",{arm}' for one, arm in cells)]) + "\n")
    for name, more in (("labor.csv", ()), ("quoted.csv", ("--decimal-char", ","))):
        out = f"{name}.toml"
        ended = office.run("schema", name, "--epsilon", "5", "--out", out, *more)
        assert ended.status == 0, ended.err
        column = Schema.from_toml(Path(out)).columns[0]
        assert isinstance(column, Real)
        assert column.decimal_char == ","
        assert "look like numbers" not in ended.out
        made = office.run("synth", name, "--schema", out, "--epsilon", "5", "--out", f"{name}.made.csv")
        assert made.status == 0, made.err
        assert ("separated by" in made.err) == (name == "quoted.csv")
        header, *drawn = Path(f"{name}.made.csv").read_text().splitlines()
        assert header == "kreatinin;arm"
        halves = [line for line in drawn if line.split(";")[0].endswith(",5")]
        assert len(halves) > 0.9 * len(drawn)
        folder = office.run("synth", name, "--schema", out, "--epsilon", "5", "--out", f"{name}.d/", "--format", "csv")
        assert folder.status == 0, folder.err
        assert office.run("receipt", "verify", f"{name}.d").status == 0
        assert office.run("evaluate", name, f"{name}.d").status == 0
        assert office.run("evaluate", name, f"{name}.made.csv", "--schema", out).status == 0


def test_a_decimal_sign_goes_with_drafts_too(office: Office) -> None:
    ended = office.run("schema", "town.csv", "--decimal-char", ",", "--out", "draft.toml")
    assert ended.status == 0, ended.err
    assert '\ndecimal_char = ","\n' in Path("draft.toml").read_text()
    refused = office.run("schema", "town.csv", "--decimal-char", ";", "--out", "other.toml")
    assert (refused.status, "The decimal sign must be a comma or a point. Found ';'." in refused.err) == (2, True)


def test_texts_that_are_left_out_are_named_with_what_they_may_be(office: Office) -> None:
    rng = np.random.default_rng(0)
    lines = [f'"{rng.normal(3000, 800):.2f}"'.replace(".", ",") + f",{rng.choice(['a', 'b'])}" for _ in range(3000)]
    Path("incomes.csv").write_text("\n".join(["income,arm", *lines]) + "\n")
    ended = office.run("schema", "incomes.csv", "--epsilon", "5", "--out", "incomes.schema.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "No release will have income: texts of which none is frequent." in said
    assert "Numbers in another notation than plain digits, or than that of --decimal-char, count as texts" in said
    assert "Numbers with signs such as % or € are read where `unit` names the sign." in said
    assert "arm:" not in said


def test_codes_that_are_bought_as_numbers_are_named_where_they_have_leading_zeros(office: Office) -> None:
    """Wards 007 to 105 were numbers from 0 to 260 without a word: a copy had wards that the hospital has not."""
    rng = np.random.default_rng(0)
    codes = rng.choice(100_000, 3000, replace=False)
    pairs = zip(rng.choice(codes, 6000), rng.integers(0, 90, 6000), strict=True)
    lines = [f"{code:05d},{number}" for code, number in pairs]
    Path("wards.csv").write_text("\n".join(["ward,age", *lines]) + "\n")
    ended = office.run("schema", "wards.csv", "--epsilon", "5", "--out", "wards.schema.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "Numbers of ward are written with leading zeros, as codes are, and were bought as numbers" in said
    assert 'as texts ("00123"), in wards.schema.toml.' in said


def test_dates_that_sqlite_keeps_as_texts_are_bought_as_the_command_says(office: Office) -> None:
    """It has no type for them. All of a bank's dates were left out as numbers or moments in another notation."""
    days = [str(date(1950, 1, 1) + timedelta(days=17 * row)) for row in range(ROWS)]
    with contextlib.closing(sqlite3.connect("bank.sqlite")) as bank:
        table = {"arm": [row % 2 for row in range(ROWS)], "born": days, "called": [f"{day} 10:30" for day in days]}
        pd.DataFrame(table).to_sql("t", bank, index=False)
    given = ["schema", "bank.sqlite::t", "--epsilon", "10"]
    ended = office.run(*given, "--out", "texts.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "born, called: texts of which none is frequent. Dates, moments and numbers that the storage keeps as" in said
    assert 'as SQLite keeps dates, count as texts: buy with --decimal-char "." (codes' in said
    Path("kinds.toml").write_text('[columns.born]\nkind = "date"\n\n[columns.called]\nkind = "datetime"\n')
    for name, options in (("sign", ["--decimal-char", "."]), ("kinds", ["--stated", "kinds.toml"])):
        ended = office.run(*given, *options, "--out", f"{name}.schema.toml")
        assert ended.status == 0, ended.err
        found = Schema.from_toml(f"{name}.schema.toml")
        assert [column.kind for column in found.columns[1:]] == ["date", "datetime"]


def test_texts_among_the_numbers_of_sqlite_are_said(office: Office) -> None:
    """Its types bind nobody. A third of a bank's amounts were texts, 12,50, and few or none were said to be missing."""
    with contextlib.closing(sqlite3.connect("bank.sqlite")) as bank, bank:
        bank.execute("CREATE TABLE t (amount NUMERIC, fee REAL)")
        rows = [("12,50" if row % 3 == 0 else row % 100, row % 50) for row in range(ROWS)]
        bank.executemany("INSERT INTO t VALUES (?, ?)", rows)
    ended = office.run("schema", "bank.sqlite::t", "--epsilon", "10", "--out", "t.toml")
    assert ended.status == 0, ended.err
    amount, fee = Path("t.toml").read_text().split("[columns.amount]")[1].split("[columns.fee]")
    assert re.search(r"Others are about [\d,]+ texts?, and are read as missing: write all alike in the table", amount)
    assert re.search(r"missing = true  # bought: for about [\d,]+ texts?, which read otherwise; few or none", amount)
    assert 'kind = "integer"  # bought: the type in storage is of reals, and that some have digits after' in fee
    assert "Others are" not in fee


def test_times_of_day_that_a_storage_has_are_no_texts_that_are_too_various(office: Office) -> None:
    """A hospital's were, on the terminal: to be bought with --decimal-char, where the file beside it said how."""
    moments = pd.Series([time(8 + row % 9, row % 60, row // 60 % 60) for row in range(ROWS)])
    codes = [f"code {row}" for row in range(ROWS)]
    pd.DataFrame({"seen": moments, "code": codes, "arm": [row % 2 for row in range(ROWS)]}).to_parquet("t.parquet")
    ended = office.run("schema", "t.parquet", "--epsilon", "10", "--out", "t.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "seen datetime times of day" in said
    bounds = "lower = 1900-01-01T00:00:00 # public: every day begins then upper = 1900-01-01T23:59:59"
    assert bounds in " ".join(Path("t.toml").read_text().split())
    assert "No release will have code: texts of which none is frequent." in said


def test_what_is_left_out_beside_a_stated_ignore_is_not_said_to_have_the_name_of_an_identifier(office: Office) -> None:
    """Times and codes were identifiers by their names: such tables leave out what the stated `ignore` lacks."""
    frame = pd.DataFrame({"seen": [f"code {row}" for row in range(ROWS)], "arm": [row % 2 for row in range(ROWS)]})
    frame["phone"] = frame["note"] = frame["seen"]
    frame.to_parquet("t.parquet")
    Path("stated.toml").write_text('ignore = ["note"]\n')
    ended = office.run("schema", "t.parquet", "--epsilon", "10", "--stated", "stated.toml", "--out", "t.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "No release will have phone, which is an identifier by its name: where it is none, state its kind" in said
    assert "No release will have seen, of which nothing could be made, as a comment in the table of each says" in said


@pytest.mark.parametrize("name", ["cards.csv", "cards.parquet"])
def test_what_is_left_out_is_named_as_what_it_is(office: Office, name: str) -> None:
    """A column that is empty was one of texts, months of which nine were listed were too, and phones were not named."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"reserved": pd.array([None] * ROWS, dtype="string"), "arm": rng.choice(["a", "b"], ROWS)})
    often = rng.choice(["06/24", "12/26"], ROWS)
    frame["expiry"] = np.where(rng.random(ROWS) < 0.16, often, [f"x{row}" for row in range(ROWS)])
    frame["phone"] = frame["iban"] = [f"+49 {row}" for row in range(ROWS)]
    frame.to_csv(name, index=False) if name.endswith("csv") else frame.to_parquet(name)
    ended = office.run("schema", name, "--epsilon", "5", "--out", "cards.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "No release will have reserved, of which nothing but missing cells shows. Where what noise hides" in said
    assert "No release will have expiry: texts of which none is frequent, or too few are. " in said
    named = "No release will have phone, iban, which are identifiers by their names: where they are none, state kinds"
    assert f"{named} in cards.toml." in said
    assert '# "reserved": nothing but missing cells shows.' in Path("cards.toml").read_text()
    assert Schema.from_toml("cards.toml").ignore == ("reserved", "expiry")


def test_numbers_that_storage_keeps_as_texts_are_named(office: Office) -> None:
    """Of a laboratory's values in Parquet 45% came back as `other`, and nothing said why."""
    rng = np.random.default_rng(0)
    values = [f"{number:.1f}" if number >= 0.6 else "<0.6" for number in rng.lognormal(0.5, 0.6, ROWS)]
    pd.DataFrame({"crp": values, "arm": rng.choice(["a", "b"], ROWS)}).to_parquet("lab.parquet")
    ended = office.run("schema", "lab.parquet", "--epsilon", "5", "--out", "lab.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "The categories of crp look like numbers that are stored as texts." in said
    ended = office.run("schema", "lab.parquet", "--epsilon", "5", "--decimal-char", ".", "--out", "numbers.toml")
    assert Schema.from_toml("numbers.toml")["crp"].kind == "real", "as the sentence advises"
    assert "stored as texts" not in ended.out
    prices = rng.choice([0.99, 1.49, 4.99, 9.99], ROWS)
    pd.DataFrame({"price": prices, "arm": rng.choice(["a", "b"], ROWS)}).to_csv("shop.csv", index=False)
    ended = office.run("schema", "shop.csv", "--epsilon", "5", "--out", "shop.toml")
    assert Schema.from_toml("shop.toml")["price"].values == (0.99, 1.49, 4.99, 9.99), "numbers, of a file without types"
    assert "stored as texts" not in " ".join(ended.out.split())


def test_days_that_storage_keeps_as_texts_are_named(office: Office) -> None:
    """SQLite has no dates: 84 days were categories, and the rarer ones of another column came back as `other`."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 20, ROWS), unit="D")
    pd.DataFrame({"seen": days.strftime("%Y-%m-%d"), "arm": rng.choice(["a", "b"], ROWS)}).to_parquet("visits.parquet")
    ended = office.run("schema", "visits.parquet", "--epsilon", "5", "--out", "visits.toml")
    assert ended.status == 0, ended.err
    assert "The categories of seen look like days that are stored as texts." in " ".join(ended.out.split())
    ended = office.run("schema", "visits.parquet", "--epsilon", "5", "--decimal-char", ".", "--out", "days.toml")
    assert Schema.from_toml("days.toml")["seen"].kind == "date", "as the sentence advises"
    assert "stored as texts" not in ended.out


def test_moments_with_an_offset_are_found_in_what_sqlite_calls_a_timestamp(office: Office) -> None:
    with contextlib.closing(sqlite3.connect("events.db")) as opened, opened:
        opened.execute("CREATE TABLE events (seen timestamp, arm text)")
        seen = [f"2024-01-{1 + row % 28:02}T{row % 24:02}:00:00+02:00" for row in range(ROWS)]
        opened.executemany("INSERT INTO events VALUES (?, ?)", [(one, "ab"[row % 2]) for row, one in enumerate(seen)])
    ended = office.run("schema", "events.db::events", "--epsilon", "20", "--out", "events.toml")
    assert ended.status == 0, ended.err
    column = Schema.from_toml("events.toml")["seen"]
    assert (column.kind, column.zone) == ("datetime", "UTC")
    made = office.run("synth", "events.db::events", "--schema", "events.toml", "--epsilon", "20", "--out", "copy.csv")
    assert made.status == 0, made.err
    assert pd.read_csv("copy.csv")["seen"].str.endswith("+00:00").all()


def test_numbers_among_moments_are_named_that_no_budget_shows(office: Office) -> None:
    """In a column that SQLite calls a timestamp: whoever was sent to a larger budget paid it for nothing."""
    with contextlib.closing(sqlite3.connect("events.db")) as opened, opened:
        opened.execute("CREATE TABLE events (seen timestamp, arm text)")
        opened.executemany(
            "INSERT INTO events VALUES (?, ?)", [(1_700_000_000 + row, "ab"[row % 2]) for row in range(ROWS)]
        )
    why = "No budget helps where the cells of seen are numbers, such as seconds since 1970"
    ended = office.run("schema", "events.db::events", "--epsilon", "20", "--out", "events.toml")
    assert ended.status == 0, ended.err
    assert why in " ".join(ended.out.split())
    Path("stated.toml").write_text('[columns.seen]\nkind = "datetime"\nzone = "UTC"\n')
    options = ["--epsilon", "20", "--stated", "stated.toml", "--out", "stated_too.toml"]
    ended = office.run("schema", "events.db::events", *options)
    assert ended.status == 0, ended.err
    assert why in " ".join((ended.out + ended.err).split())


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_dates_of_which_many_lie_beyond_their_bounds_are_named(office: Office, share: float) -> None:
    """Leases that end at no time came back as if they all ended in the last quarter of the others."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2000-01-01") + rng.integers(0, 8000, ROWS)
    days[rng.random(ROWS) < share] = np.datetime64("9999-12-31")
    table = pa.table({"until": pa.array(days), "arm": pa.array(rng.choice(["a", "b"], ROWS))})
    pyarrow.parquet.write_table(table, "leases.parquet")
    ended = office.run("schema", "leases.parquet", "--epsilon", "10", "--out", "leases.toml")
    assert ended.status == 0, ended.err
    assert ("may lie beyond the bounds of until" in " ".join(ended.out.split())) == (share > 0)


def test_dates_whose_range_the_noise_hides_are_named_beneath_the_table(office: Office) -> None:
    """The table said "left out: mostly dates" and nothing else said why, or what to do."""
    days = np.random.default_rng(0).integers(0, 30000, ROWS)
    lines = [f"{date(1930, 1, 1) + timedelta(days=int(day))},{'ab'[row % 2]}" for row, day in enumerate(days)]
    Path("births.csv").write_text("\n".join(["born,arm", *lines]) + "\n")
    for number in range(8):
        ended = office.run("schema", "births.csv", "--epsilon", "0.1", "--out", f"b{number}.toml")
        assert ended.status == 0, ended.err
        said = " ".join((ended.out + ended.err).split())
        if "left out: mostly dates" in said:
            named = "No release will have born, of which no range or list of values shows above the noise. "
            assert f"{named}State kind and bounds in b{number}.toml" in said
            return
    pytest.fail("in eight purchases the noise hid the range in none")


def said_at(office: Office, epsilon: str, sentence: str) -> str:
    """What a purchase says that has a sentence: noise leaves it out of one of 14, and out of six of six in 1e-7."""
    for _ in range(6):
        ended = office.run("schema", "labor.csv", "--epsilon", epsilon, "--out", "labor.schema.toml", "--force")
        assert ended.status == 0, ended.err
        if sentence in (said := " ".join(ended.out.split())):
            break
    return said


def test_numbers_beside_a_word_are_not_called_texts_of_which_none_is_frequent(office: Office) -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(["unbekannt", "ausstehend", "unlesbar"], 3000)
    lines = [word if rng.random() < 0.2 else f"{rng.normal(5, 1):.2f}" for word in words]
    Path("labor.csv").write_text("\n".join(["hba1c;arm", *(f"{one};a" for one in lines)]) + "\n")
    mixed = "No release will have hba1c: numbers, dates or moments, and too many texts beside them."
    said = said_at(office, "1", mixed)
    assert mixed in said
    assert "state kind and bounds in labor.schema.toml with missing = true" in said
    assert "none is frequent" not in said
    listed = "Most cells of hba1c are numbers, dates or moments beside texts, and were bought as categories"
    assert listed in said_at(office, "5", listed)


def test_a_purchase_says_that_a_title_makes_a_single_column(office: Office) -> None:
    Path("titled.csv").write_text("\ufeffStatistik 2020\nAlter;Kinder\n" + "40;2\n" * 500, encoding="utf-8")
    ended = office.run("schema", "titled.csv", "--epsilon", "5", "--out", "titled.schema.toml")
    said = " ".join((ended.out + ended.err).split())
    assert "by its first line titled.csv has a single column. Where that line is a title, remove it" in said
    ended = office.run("schema", "town.csv", "--epsilon", "5", "--out", "town.schema.toml")
    assert "single column" not in ended.out + ended.err


def test_a_purchase_says_how_points_were_read_where_no_decimal_sign_shows(office: Office) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{one:.2f};{one:.2f}".replace(".", ",", 1) for one in rng.uniform(0, 9, 3000)]
    Path("communes.csv").write_text("\n".join(["rate;people", *lines]) + "\n")
    ended = office.run("schema", "communes.csv", "--epsilon", "5", "--out", "communes.schema.toml")
    said = " ".join(ended.out.split())
    assert "the numbers of people were read with a decimal point, 1.234 as a little more than 1" in said
    ended = office.run("schema", "communes.csv", "--epsilon", "5", "--decimal-char", ".", "--out", "stated.schema.toml")
    assert ended.status == 0, ended.err
    assert "were read with a decimal point" not in ended.out


@pytest.mark.parametrize(
    "amounts", [np.arange(1, 900_000, 37), np.array([1250, 2500, 5750, 12300]), np.array([1000, 2000, 5000, 12000])]
)
def test_points_that_may_part_thousands_are_to_be_confirmed(office: Office, amounts: np.ndarray) -> None:
    people = np.random.default_rng(0).choice(amounts, 4000)
    lines = [f"{one:,};{'ab'[i % 2]}".replace(",", ".") for i, one in enumerate(people)]
    Path("people.csv").write_text("\n".join(["people;place", *lines]) + "\n")
    ended = office.run("schema", "people.csv", "--epsilon", "9", "--out", "p.toml")
    assert ended.status == 0, ended.err
    said = " ".join((ended.out + ended.err).split())
    assert "To be confirmed in p.toml first, where points may part thousands, as in 1.234: people." in said
    assert "alone" not in said
    assert [one.column for one in Schema.from_toml("p.toml").confirm] == ["people"]
    ended = office.run("schema", "people.csv", "--epsilon", "2", "--out", "q.toml", "--decimal-char", ",")
    assert ended.status == 0, ended.err
    assert not Schema.from_toml("q.toml").confirm


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ({"code": ["NA", "K", "CREA", "HB"], "sex": ["F", "M", "F", "M"]}, True),  # results of a laboratory
        ({"code": ["NA", "K", "CREA", "HB"], "arm": ["NA", "a", "b", "a"]}, False),  # a word of the whole table
        ({"code": ["x", "y", "x", "y"], "sex": ["F", "M", "NA", "M"]}, False),
    ],
)
def test_a_word_for_missing_that_may_be_a_code_is_named(columns: dict[str, list[str]], asked: bool) -> None:
    _, said = bought_with_warnings(pd.DataFrame(columns).loc[[0, 1, 2, 3] * 1000], epsilon=10)
    named = [one for one in said if one.startswith("NA is read as missing in code, where other texts are short")]
    assert bool(named) == asked
