"""`counterfoil evaluate` of a release in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Office, make_office

SCHEMA = ("--schema", "people.toml")


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    return make_office(tmp_path, capsys, monkeypatch)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_stands_for_its_table(office: Office, form: str) -> None:
    assert office.synth("--out", "release/", "--format", form).status == 0
    table = f"release/synthetic.{form}"
    found = [office.run("evaluate", "people.csv", given, *SCHEMA, "--json") for given in ("release", table)]
    assert found[0].status == 0, found[0].err
    assert found[0].document == found[1].document
    assert found[0].document["rows"]["real"] == 300


def test_a_saved_model_stands_for_its_rows(office: Office) -> None:
    assert office.synth("--out", "s.parquet", "--keep-model").status == 0
    found = [office.run("evaluate", "people.csv", given, *SCHEMA, "--json") for given in ("s.release", "s.parquet")]
    assert found[0].status == 0, found[0].err
    assert found[0].document == found[1].document


def test_a_folder_whose_table_was_changed_is_refused_before_a_look(office: Office) -> None:
    assert office.synth("--out", "release/", "--format", "csv").status == 0
    table = Path("release/synthetic.csv")
    table.write_text(table.read_text().replace("female", "male", 1))
    refused = office.run("evaluate", "people.csv", "release", *SCHEMA, "--ledger", "people.ledger")
    assert refused.status == 2
    assert "is not the table that its receipt was made for" in " ".join(refused.err.split())
    assert office.run("ledger", "show", "people.ledger", "--json").document["revealed"] == []


def test_another_folder_is_no_release(office: Office) -> None:
    Path("empty").mkdir()
    refused = office.run("evaluate", "people.csv", "empty", *SCHEMA)
    assert refused.status == 2
    assert "empty is a directory" in " ".join(refused.err.split())
