"""`counterfoil evaluate` of a release in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Office
from counterfoil import evaluate_without_privacy

SCHEMA = ("--schema", "people.toml")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_stands_for_its_table(office: Office, form: str) -> None:
    assert office.synth("--out", "release/", "--format", form).status == 0
    table = f"release/synthetic.{form}"
    found = [office.run("evaluate", "people.csv", given, *SCHEMA, "--json") for given in ("release", table)]
    assert found[0].status == 0, found[0].err
    assert found[0].document == found[1].document
    assert found[0].document["rows"]["real"] == 300


def test_the_public_facts_of_a_folder_are_used_where_none_are_given(office: Office) -> None:
    assert office.synth("--out", "release/").status == 0
    found = [office.run("evaluate", "people.csv", "release", *given, "--json") for given in ((), SCHEMA)]
    assert found[0].status == 0, found[0].err
    assert found[0].document == found[1].document
    assert office.run("report", "release", "--compare", "people.csv", "--out", "inside.html").status == 0
    refused = office.run("evaluate", "people.csv", "release/synthetic.parquet")
    assert refused.status == 2
    assert "Found no `--schema`, nor a release's folder" in " ".join(refused.err.split())


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


def test_a_folder_whose_table_was_changed_is_not_told_of(office: Office) -> None:
    """Neither by `infer` nor by `report`, which refused a changed table that lies beside its receipt alone."""
    assert office.synth("--out", "release/", "--format", "csv").status == 0
    table = Path("release/synthetic.csv")
    whole = table.read_text()
    for asked in (("infer", "release", "mean", "age"), ("report", "release", "--out", "page.html")):
        table.write_text(whole.replace("female", "male", 1))
        refused = office.run(*asked)
        assert refused.status == 2
        assert "synthetic.csv is not the file that the receipt was made for" in " ".join(refused.err.split())
        table.write_text(whole)
        assert office.run(*asked).status == 0


def test_another_folder_is_no_release(office: Office) -> None:
    Path("empty").mkdir()
    refused = office.run("evaluate", "people.csv", "empty", *SCHEMA)
    assert refused.status == 2
    assert "empty is a directory" in " ".join(refused.err.split())


def test_distances_of_moments_are_in_units_of_time_that_people_read(office: Office) -> None:
    schema = """
[columns.day]
kind = "date"
lower = 2020-01-01
upper = 2020-12-31

[columns.seen]
kind = "datetime"
lower = 2020-01-01T00:00:00
upper = 2020-12-31T00:00:00
resolution = "1d"

[columns.rang]
kind = "datetime"
lower = 2020-01-01T00:00:00
upper = 2020-01-02T00:00:00
resolution = "1h"
"""
    Path("moments.toml").write_text(schema)
    rows = [(f"2020-0{month}-01", f"2020-0{month}-01 00:00:00", f"2020-01-01 0{month}:00:00") for month in range(1, 10)]
    Path("real.csv").write_text("day,seen,rang\n" + "".join(",".join(row) + "\n" for row in rows))
    late = [(day, seen.replace("-01 ", "-03 "), rang.replace(":00:", ":30:")) for day, seen, rang in rows]
    Path("late.csv").write_text("day,seen,rang\n" + "".join(",".join(row) + "\n" for row in late))
    ended = office.run("evaluate", "real.csv", "late.csv", "--schema", "moments.toml")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    assert "deviation 78.623 days 78.623 days" in said  # of the days
    assert "deviation 78.62 days 78.62 days" in said  # of the moments of a year
    assert "W_1 2 days" in said
    assert "deviation 2.582 hours 2.582 hours" in said  # of those of one day
    assert "W_1 30 minutes" in said


def test_the_folder_of_a_release_is_no_real_table(office: Office) -> None:
    assert office.synth("--out", "release/").status == 0
    refused = office.run("evaluate", "release", "people.csv")
    assert refused.status == 2
    assert "takes the real table first, then the synthetic one" in " ".join(refused.err.split())


def test_rows_that_a_release_left_out_are_named(office: Office) -> None:
    """A mean of all visits beside that of at most one of each person seemed to be off by noise."""
    names, *rows = Path("people.csv").read_text().splitlines()
    lines = [f"{names},person", *(f"{row},{place // 3}" for place, row in enumerate(rows))]
    Path("people.csv").write_text("\n".join(lines) + "\n")
    Path("people.toml").write_text('ignore = ["person"]\n' + Path("people.toml").read_text())
    unit = ("--privacy-unit", "person", "--max-rows", "1")
    assert office.synth("--out", "persons/", *unit).status == 0
    assert office.synth("--out", "rows/").status == 0
    for given, said in (("persons", True), ("persons/synthetic.parquet", True), ("rows", False)):
        shown = " ".join(office.run("evaluate", "people.csv", given, *SCHEMA).out.split())
        assert (
            "used at most 1 row of each 'person', chosen at random, and the real rows here are all" in shown
        ) == said
        document = office.run("evaluate", "people.csv", given, *SCHEMA, "--json").document
        assert ("rows_used" in document) == said
    found = evaluate_without_privacy("people.csv", "persons")
    assert "used at most 1 row of each 'person'" in " ".join(str(found).split())
