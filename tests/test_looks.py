"""`check_without_privacy` and `evaluate_without_privacy`: what the commands `check` and `evaluate` say, in Python."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pandas as pd
import pytest

import counterfoil as cf
from command_line import SCHEMA, Office
from counterfoil.ledger.errors import LedgerError
from counterfoil.ledger.no_ledger import NoLedgerWarning

NARROW = SCHEMA.replace("upper = 99", "upper = 40")


def test_a_check_says_what_the_command_prints(office: Office) -> None:
    (office.path / "narrow.toml").write_text(NARROW)
    report = cf.check_without_privacy("people.csv", "narrow.toml")
    printed = office.run("check", "people.csv", "--schema", "narrow.toml")
    assert not report.holds
    assert f"{report}\n" == printed.out
    assert "lie above 40" in str(report)
    assert report.to_json() == office.run("check", "people.csv", "--schema", "narrow.toml", "--json").document


@pytest.mark.parametrize("made", [pd.read_csv, pd.read_parquet])
def test_a_check_takes_frames_and_schemas_as_objects(office: Office, made) -> None:
    frame = pd.read_csv("people.csv")
    frame.to_parquet("people.parquet")
    table = made("people.csv" if made is pd.read_csv else "people.parquet")
    report = cf.check_without_privacy(table, cf.Schema.from_toml(SCHEMA))
    assert report.holds
    assert report.rows == len(frame)


def test_of_a_draft_what_is_stated_is_checked(office: Office) -> None:
    draft = NARROW.replace('kind = "categorical"\nvalues = ["low", "high"]', 'kind = "?"\nconfirm = true')
    report = cf.check_without_privacy("people.csv", draft)
    assert not report.holds
    assert "The schema is a draft" in str(report)
    assert [one["column"] for one in report.to_json()["not_checked"]] == ["income"]
    (office.path / "draft.toml").write_text(draft)
    printed = office.run("check", "people.csv", "--schema", "draft.toml")
    assert printed.status == 1
    assert printed.out == f"{report}\n"


def test_a_comparison_says_what_the_command_prints(office: Office) -> None:
    assert office.synth("--out", "people.synthetic.csv").status == 0
    with pytest.warns(NoLedgerWarning):
        found = cf.evaluate_without_privacy("people.csv", "people.synthetic.csv", "people.toml", target="income")
    given = ("evaluate", "people.csv", "people.synthetic.csv", "--schema", "people.toml", "--target", "income")
    assert office.run(*given).out == f"{found}\n"
    assert office.run(*given, "--json").document == json.loads(json.dumps(found.to_json()))


def test_a_release_brings_its_schema(office: Office) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = cf.synthesize("people.csv", "people.toml", epsilon=1, method="independent")
        by_object = cf.evaluate_without_privacy("people.csv", made)
        made.save("kept")
        by_table = cf.evaluate_without_privacy("people.csv", made.to_pandas(), made.schema)
    assert by_object.to_json() == by_table.to_json()
    assert by_object.synthetic_rows == made.rows


def test_a_folder_brings_its_schema(office: Office) -> None:
    assert office.synth("--out", "release/").status == 0
    with pytest.warns(NoLedgerWarning):
        found = cf.evaluate_without_privacy("people.csv", Path("release"))
    assert office.run("evaluate", "people.csv", "release").out == f"{found}\n"


def test_a_table_without_public_facts_is_refused(office: Office) -> None:
    with pytest.raises(ValueError, match=r"Found no `schema`"):
        cf.evaluate_without_privacy("people.csv", pd.read_csv("people.csv"))
    with pytest.raises(ValueError, match=r"Found no `schema`"):
        cf.evaluate_without_privacy("people.csv", "people.csv")


def test_looks_are_recorded_in_the_ledger_at_a_path(office: Office) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cf.check_without_privacy("people.csv", "people.toml", ledger="people.ledger")
        cf.evaluate_without_privacy("people.csv", "people.csv", "people.toml", ledger="people.ledger")
    looks = office.run("ledger", "show", "people.ledger", "--json").document["reveals"]
    assert len(looks) == 2
    with pytest.raises(LedgerError):
        cf.check_without_privacy("people.csv", "people.toml", ledger="none.ledger")


def test_figures_are_shown_where_they_are_asked_for_alone(office: Office) -> None:
    """A `repr` ends in logs and in messages of errors."""
    report = cf.check_without_privacy("people.csv", "people.toml")
    with pytest.warns(NoLedgerWarning):
        found = cf.evaluate_without_privacy("people.csv", "people.csv", "people.toml")
    assert repr(report) == "SchemaReport('people.csv', 3 columns, NOT PRIVATE)"
    assert repr(found) == "Comparison(3 columns, NOT PRIVATE)"
    for one in (report, found):
        assert str(one).startswith("NOT PRIVATE")
        assert str(one).splitlines()[-1].startswith("NOT PRIVATE")


def test_notebooks_show_names_as_text(office: Office) -> None:
    frame = pd.read_csv("people.csv").rename(columns={"sex": "<script>\x1b[2J"})
    text = SCHEMA.replace("[columns.sex]", '[columns."<script>\\u001b[2J"]').replace('"male"]', '"men"]')
    shown = cf.check_without_privacy(frame, text)._repr_html_()
    assert shown.startswith("<pre>NOT PRIVATE")
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert "&lt;script&gt;" in shown


def test_a_long_name_of_a_column_stands_above_its_statistics(office: Office) -> None:
    """It was folded into a head of 14 characters, four lines of parts of words."""
    name = "income_after_taxes_of_the_household"
    frame = pd.DataFrame({name: range(100), "age": range(100)})
    schema = "\n".join(f'[columns.{one}]\nkind = "integer"\nlower = 0\nupper = 99' for one in frame)
    lines = str(cf.evaluate_without_privacy(frame, frame.iloc[::-1], schema)).splitlines()
    assert lines[lines.index(name) + 1].split() == ["real", "synthetic", "real", "synthetic"]
    (head,) = [line for line in lines if line.startswith("age ") and line.endswith("synthetic")]
    assert head.split() == ["age", "real", "synthetic", "real", "synthetic"]
