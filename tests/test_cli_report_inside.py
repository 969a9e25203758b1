"""`counterfoil report --compare`: recorded, marked, and kept apart from what is shared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Office, make_office
from counterfoil.cli.report_inside import ALARM

RELEASE = "people.synthetic.parquet"
COMPARED = ("report", RELEASE, "--compare", "people.csv", "--schema", "people.toml")


@pytest.fixture
def office(tmp_path, capsys, monkeypatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    assert made.synth().status == 0
    return made


def looks(office: Office) -> list[str]:
    return office.run("ledger", "show", "people.ledger", "--json").document["revealed"]


def test_a_look_is_recorded_written_and_marked(office: Office) -> None:
    made = office.run(*COMPARED, "--target", "income", "--ledger", "people.ledger", "--out", "inside.html")
    assert made.status == 0, made.err
    assert ALARM in " ".join(made.out.split())
    assert looks(office) == ["comparison of a synthetic table with the real one"]
    page = Path("inside.html").read_text()
    assert "NOT PRIVATE" in page
    assert "Models trained on either table" in page
    told = office.run(*COMPARED, "--out", "inside2.html", "--json")
    assert told.document == {"written": "inside2.html", "private": False}
    assert ALARM in " ".join(told.err.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--out", "report.html"), "`inside` or `not-private` must be in its name. Found 'report.html'"),
        (("--out", "inside.pdf"), "written to a .html file. Found 'inside.pdf'"),
        (("--out", "nowhere/inside.html"), "There is no folder nowhere"),
        (("--out", "inside.html", "--target", "incme"), "Did you mean 'income'?"),
        (("--out", "shared/inside.html"), "must not lie in the folder of a release. Found receipt.json"),
    ],
)
def test_what_could_be_taken_for_a_report_is_refused_before_a_look(office: Office, arguments, said: str) -> None:
    Path("shared").mkdir()
    Path("shared/receipt.json").write_text("{}")
    before = office.files()
    refused = office.run(*COMPARED, "--ledger", "people.ledger", *arguments)
    assert refused.status == 2
    assert said in " ".join(refused.err.split())
    assert office.files() == before
    assert [path.name for path in Path("shared").iterdir()] == ["receipt.json"]
    assert looks(office) == []


def test_it_needs_a_schema_and_a_name(office: Office) -> None:
    refused = office.run("report", RELEASE, "--compare", "people.csv", "--out", "inside.html")
    assert refused.status == 2
    assert "Found no `--schema`" in " ".join(refused.err.split())
    assert office.run(*COMPARED).status == 2


def test_nothing_that_is_needed_is_overwritten(office: Office) -> None:
    Path("inside.html").write_text("mine")
    refused = office.run(*COMPARED, "--out", "inside.html")
    assert refused.status == 2
    assert "is there already" in refused.err
    assert Path("inside.html").read_text() == "mine"
    assert office.run(*COMPARED, "--out", "inside.html", "--force").status == 0
    Path("inside_table.html").symlink_to("people.csv")
    kept = Path("people.csv").read_text()
    refused = office.run(*COMPARED, "--out", "inside_table.html", "--force")
    assert refused.status == 2
    assert "is the sensitive table" in " ".join(refused.err.split())
    assert Path("people.csv").read_text() == kept


def test_without_the_extra_no_record_is_looked_at(office: Office, monkeypatch) -> None:
    import counterfoil.pictures.svg as svg

    monkeypatch.setattr(svg, "find_spec", lambda name: None)
    refused = office.run(*COMPARED, "--ledger", "people.ledger", "--out", "inside.html")
    assert refused.status == 2
    assert "pip install 'counterfoil[report]'" in " ".join(refused.err.split())
    assert looks(office) == []


def test_a_folder_is_compared_too(office: Office) -> None:
    assert office.synth("--keep-model", "--out", "kept.parquet").status == 0
    made = office.run("report", "kept.release", *COMPARED[2:], "--out", "inside.html")
    assert made.status == 0, made.err
    assert "Inside view of kept.release" in Path("inside.html").read_text()


def test_a_report_to_share_is_the_same_whoever_looked(office: Office) -> None:
    """Exact numbers go into no report but the inside view's."""
    assert office.run("report", RELEASE, "--out", "one.html").status == 0
    assert office.run(*COMPARED, "--out", "inside.html", "--target", "income").status == 0
    assert office.run("report", RELEASE, "--out", "two.html").status == 0
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()
    document = json.loads(Path("people.synthetic.receipt.json").read_text())
    assert "inside" not in json.dumps(document)
