"""`counterfoil report`: a page from the release alone, whole or not at all."""

from __future__ import annotations

import pytest

from command_line import Office, make_office
from counterfoil.pictures import svg


@pytest.fixture
def office(tmp_path, capsys, monkeypatch) -> Office:
    office = make_office(tmp_path, capsys, monkeypatch)
    assert office.synth("--keep-model", "--out", "people.synthetic.csv", "--ledger", "people.ledger").status == 0
    return office


def test_it_reads_no_record_and_charges_nothing(office):
    before = office.run("ledger", "show", "people.ledger", "--json").document
    (office.path / "people.csv").unlink()
    (office.path / "people.toml").unlink()
    ended = office.run("report", "people.synthetic.csv", "--ledger", "people.ledger", "--out", "report.html")
    assert (ended.status, ended.err) == (0, "")
    assert "Wrote report.html" in ended.out
    page = (office.path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert all(f"<h3><bdi>{name}</bdi></h3>" in page for name in ("sex", "age", "income"))
    assert office.run("ledger", "show", "people.ledger", "--json").document == before


def test_a_folder_a_table_and_python_give_one_report(office):
    from counterfoil.report import report_of
    from counterfoil.synthesis.saved import load_folder

    assert office.run("report", "people.synthetic.release", "--out", "folder.html").status == 0
    assert office.run("report", "people.synthetic.csv", "--out", "table.html").status == 0
    folder, table = ((office.path / name).read_text() for name in ("folder.html", "table.html"))
    assert folder.replace("people.synthetic.release", "NAME") == table.replace("people.synthetic.csv", "NAME")
    kept = load_folder(office.path / "people.synthetic.release")
    assert report_of(kept).partition("<nav")[2] == folder.partition("<nav")[2]


def test_the_name_of_the_page_follows_from_the_release(office):
    ended = office.run("report", "people.synthetic.csv", "--json")
    assert ended.document == {
        "report": "people.synthetic.report.html",
        "release": "people.synthetic.csv",
        "private": True,
    }
    assert "people.synthetic.report.html" in office.files()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["people.csv"], "needs the receipt of its release"),
        (["nobody.csv"], "There is no release at nobody.csv"),
        (["people.synthetic.csv", "--out", "report.txt"], "written to an .html file"),
        (["people.synthetic.csv", "--out", "nowhere/report.html"], "There is no folder nowhere"),
        (["people.synthetic.csv", "--receipt", "people.toml"], "people.toml"),
        (["people.synthetic.csv", "--schema", "people.toml"], "`--schema` goes with `--compare REAL`"),
        (["people.synthetic.csv", "--target", "income"], "`--target` goes with `--compare REAL`"),
        (["people.synthetic.csv", "--compare", "people.csv"], "Found no `--out`"),
        (["people.synthetic.csv", "--compare", "people.csv", "--receipt", "r.json"], "reads no receipt"),
    ],
)
def test_bad_input_is_a_sentence_and_nothing_is_written(office, arguments, said):
    before = office.files()
    ended = office.run("report", *arguments)
    assert ended.status == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert office.files() == before


def test_nothing_is_overwritten_unless_it_is_meant(office):
    (office.path / "report.html").write_text("mine")
    ended = office.run("report", "people.synthetic.csv", "--out", "report.html")
    assert (ended.status, "--force" in ended.err) == (2, True)
    assert (office.path / "report.html").read_text() == "mine"
    assert office.run("report", "people.synthetic.csv", "--out", "report.html", "--force").status == 0
    assert "NOT REAL PEOPLE" in (office.path / "report.html").read_text()


def test_a_ledger_is_never_overwritten(office):
    (office.path / "people.ledger").rename(office.path / "ledger.html")
    kept = (office.path / "ledger.html").read_bytes()
    for given in ((), ("--ledger", "ledger.html")):
        ended = office.run("report", "people.synthetic.csv", *given, "--out", "ledger.html", "--force")
        assert (ended.status, "must not overwrite" in ended.err) == (2, True)
    assert (office.path / "ledger.html").read_bytes() == kept


def test_without_the_extra_it_says_what_to_install(office, monkeypatch):
    monkeypatch.setattr(svg, "find_spec", lambda name: None)
    before = office.files()
    ended = office.run("report", "people.synthetic.csv", "--out", "report.html")
    assert ended.status == 2
    assert "pip install 'counterfoil[report]'" in ended.err
    assert office.files() == before


def test_a_release_with_a_seed_is_called_what_it_is(office):
    assert office.synth("--seed", "3", "--not-private", "--out", "seeded.csv").status == 0
    ended = office.run("report", "seeded.csv", "--out", "seeded.html")
    assert "NOT PRIVATE" in ended.out
    assert "NOT PRIVATE" in (office.path / "seeded.html").read_text()
