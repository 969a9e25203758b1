"""`sample`, `marginal`, `error-bar` and `describe`: a release is asked again, and nothing is charged."""

from __future__ import annotations

import csv
import json
import re
import shutil
import signal
from pathlib import Path

import pyarrow as pa
import pytest

from command_line import Office, make_office
from counterfoil import synthesize
from counterfoil.cli.app import run as run_command
from counterfoil.schema import Categorical, Schema
from counterfoil.synthesis import saved
from counterfoil.synthesis.description import described
from saved_releases import agree

KEPT = "people.synthetic.release"


@pytest.fixture
def office(tmp_path, capsys, monkeypatch) -> Office:
    office = make_office(tmp_path, capsys, monkeypatch)
    made = synthesize(str(office.path / "people.csv"), "people.toml", epsilon=3.0, method="direct", seed=1)
    made.save(office.path / KEPT)
    return office


def test_rows_are_drawn_under_a_condition(office):
    (office.path / "people.csv").unlink()
    drawn = office.run("sample", KEPT, "--where", "sex == 'female' and age >= 60", "--rows", "50", "--out", "old.csv")
    assert drawn.status == 0, drawn.err
    assert "Drew 50 rows where sex == 'female' and age >= 60" in drawn.out
    assert "NOT PRIVATE" in drawn.out
    with (office.path / "old.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 50
    assert all(row["sex"] == "female" and int(row["age"]) >= 60 for row in rows)


def test_counts_of_people_are_about_the_rows_that_were_used(office):
    lines = (office.path / "people.csv").read_text().splitlines()
    named = [f"{line},{place // 3 if place else 'person'}" for place, line in enumerate(lines)]
    (office.path / "people.csv").write_text("\n".join(named) + "\n")
    with (office.path / "people.toml").open("a") as schema:
        schema.write('\n[columns.person]\nkind = "identifier"\n')
    unit = ("--privacy-unit", "person", "--max-rows", "2", "--out", "u.csv", "--keep-model")
    assert office.synth(*unit, epsilon="2").status == 0
    for command in (("error-bar", "u.csv", "sex"), ("marginal", "u.csv", "sex"), ("describe", "u.csv")):
        said = " ".join(office.run(*command).out.split())
        assert "Real rows are those that were used, at most 2 of each 'person'" in said, command
    inferred = office.run("infer", "u.csv", "proportion", "sex == 'female'")
    assert "WARNING: Real rows are those that were used, at most 2 of each 'person'" in inferred.out + inferred.err
    assert "those that were used" not in office.run("error-bar", KEPT, "sex").out


def test_a_report_of_rows_under_a_condition_does_not_hold_them_against_all_records(office):
    """Beside 100% of women stood "50.7% to 51.8%", the share among all records, as the real one."""
    pages = []
    for where in ((), ("--where", "age >= 60")):
        assert office.run("sample", KEPT, *where, "--rows", "80", "--out", "s.csv", "--force").status == 0
        assert office.run("report", "s.csv", "--out", "s.html", "--force").status == 0
        pages.append((office.path / "s.html").read_text())
    plain, conditional = pages
    assert "real share by noisy counts" in plain
    assert "real share by noisy counts" not in conditional
    assert "All rows meet a condition, age &gt;= 60: they resemble the records that meet it" in conditional
    assert "All rows meet a condition" not in plain


@pytest.mark.parametrize("rows", ["0", "-4"])
def test_too_few_rows_are_refused_in_a_sentence(office, rows):
    drawn = office.run("sample", KEPT, "--rows", rows, "--out", "none.csv")
    assert drawn.status == 2
    assert f"`rows` must be a whole number of at least 1. Found {rows}." in " ".join(drawn.err.split())
    assert not (office.path / "none.csv").exists()


def test_rows_that_were_drawn_later_are_certified_by_nothing(office):
    """They were sent to make the release again, with a target that it had."""
    assert office.run("sample", KEPT, "--rows", "9", "--out", "later.csv").status == 0
    refused = office.run("certify", "later.csv", "--target", "income")
    assert refused.status == 2
    assert "drawn later from a release's model" in refused.err
    assert "--target" not in refused.err


def test_drawn_rows_have_a_receipt_that_names_them(office):
    assert office.run("sample", KEPT, "--rows", "9", "--out", "nine.parquet").status == 0
    document = json.loads((office.path / "nine.receipt.json").read_text())
    assert document["rows"] == {"drawn": 9, "how": "asked for by the user"}
    assert [output["file"] for output in document["outputs"]] == ["nine.parquet"]
    assert any("drawn later from the release's model" in sentence for sentence in document["warnings"])
    assert office.run("receipt", "verify", "nine.receipt.json").status == 0


def test_rows_of_a_release_with_measures_have_a_receipt_that_holds(office):
    """The measures are of the rows that were released: on the receipt of others they are missing, and it says so."""
    given = ("--schema", "people.toml", "--epsilon", "9", "--method", "mst", "--fidelity", "0.1", "--keep-model")
    assert office.run("synth", "people.csv", *given, "--out", "m.csv").status == 0
    assert office.run("sample", "m.csv", "--rows", "9", "--out", "nine.csv").status == 0
    told = office.run("receipt", "verify", "nine.receipt.json", "--json")
    assert told.status == 0, told.out
    assert "fidelity: that what was measured was of other rows" in told.document["unvouched"]
    released = json.loads((office.path / "m.receipt.json").read_text())
    released.pop("fidelity")
    released.pop("certificates", None)
    (office.path / "m.receipt.json").write_text(json.dumps(released))
    assert office.run("receipt", "verify", "m.receipt.json").status == 1, "that of the release has to have them"


def test_counts_come_with_labels_in_the_order_asked_for_and_an_error_bar(office):
    shown = office.run("marginal", KEPT, "income", "sex")
    assert shown.status == 0, shown.err
    assert shown.out.index("income") < shown.out.index("sex")
    assert "With probability 0.95, the real shares of sex, income differ from these by at most" in " ".join(
        shown.out.split()
    )
    found = office.run("marginal", KEPT, "income", "sex", "--json", "--out", "counts.csv").document
    assert [cell["income"] for cell in found["cells"]] == ["low", "low", "high", "high"]
    assert found["columns"] == ["income", "sex"]
    assert 0 < found["error_bar"]["fraction"] < 2
    assert (office.path / "counts.csv").read_text().startswith("income,sex,count")


def test_a_triple_is_bounded_by_its_pairs(office):
    told = office.run("error-bar", KEPT, "sex", "age", "income", "--json").document
    assert told["fraction"] < 2
    assert "what they leave possible" in told["source"]


def test_a_rare_flag_is_not_described_as_none() -> None:
    """ "0 100%, 1 0%" was said of fraud."""
    rows = pa.table({"fraud": [0] * 997 + [1] * 3})
    made = synthesize(rows, Schema((Categorical("fraud", (0, 1)),)), epsilon=50, rows=1000, seed=1)
    (one,) = described(made)
    assert re.fullmatch(r"0 99\.\d+%, 1 0\.\d+%", one.values), one.values


def test_columns_that_follow_from_others_are_described() -> None:
    schema = Schema.from_toml(
        '[columns.age]\nkind = "integer"\nlower = 18\nupper = 80\nmissing = true\n'
        '[[derived]]\nname = "born"\nkind = "integer"\nexpression = "2020 - age"\n'
        '[[derived]]\nname = "old"\nkind = "boolean"\nexpression = "age >= 65"\ntrue = "old"\nfalse = "young"\n'
        '[[derived]]\nname = "since"\nkind = "date"\nexpression = "\'2020-01-31\' + age"\nformat = "%d.%m.%Y"\n'
    )
    rows = pa.table({"age": [20] * 600 + [70] * 200 + [None] * 200})
    made = synthesize(rows, schema, epsilon=1e4, rows=1000, seed=1)
    columns = {one.name: one for one in described(made)}
    assert list(columns) == ["age", "born", "old", "since"]
    assert columns["born"].values.endswith("median 2000, 5% to 95%: 1950 to 2000")
    assert re.fullmatch(r"young 7\d%, old 2\d%", columns["old"].values)
    assert columns["since"].values == "median 2020-02-20, 5% to 95%: 2020-02-20 to 2020-04-10"
    assert columns["since"].kind == "date"
    assert all(one.missing == pytest.approx(0.2, abs=0.01) for one in columns.values())
    assert [one.derived for one in columns.values()] == [False, True, True, True]
    assert "derived" in made._repr_html_()


def test_a_release_describes_itself(office):
    shown = office.run("describe", KEPT)
    assert shown.status == 0, shown.err
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    columns = {one["name"]: one for one in office.run("describe", KEPT, "--json").document["columns"]}
    assert columns.keys() == {"sex", "age", "income"}
    assert "median" in columns["age"]["values"]
    assert "female" in columns["sex"]["values"]
    assert 0 < columns["sex"]["off_by"] < 1


@pytest.mark.parametrize("missing", [False, True])
def test_shares_of_values_are_not_taken_for_shares_of_records(office, missing):
    """Of payers of whom half are missing `describe` said 44% where the report had 23%."""
    schema = Schema.from_toml(
        f'[columns.sex]\nkind = "categorical"\nvalues = ["female", "male"]\nmissing = {str(missing).lower()}\n'
    )
    cells = ["female"] * 300 + ["male"] * 300 + ([None] * 600 if missing else [])
    synthesize(pa.table({"sex": cells}), schema, epsilon=1e4, seed=1).save("half")
    shown = " ".join(office.run("describe", "half").out.split())
    assert "50%" in shown
    assert ("are of the values that are not missing" in shown) is missing


def test_what_bounds_no_mean_is_not_shown_as_if_it_did(office):
    shown = " ".join(office.run("describe", KEPT).out.split())
    assert "It bounds no mean" in shown
    assert "in other codes" in shown


def test_a_terminated_command_ends_like_an_interrupted_one(office, monkeypatch):
    """SIGTERM and SIGHUP reach whatever waits for an interrupt; the handlers that were there come back."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        before = signal.signal(number, signal.SIG_DFL)  # under nohup, SIGHUP is ignored, and stays so
        monkeypatch.setattr(saved, "load_kept", lambda _, number=number: signal.raise_signal(number))
        try:
            assert office.run("describe", KEPT).status == 130
            assert signal.getsignal(number) is signal.SIG_DFL
        finally:
            signal.signal(number, before)


def test_a_background_command_that_ignores_interrupts_can_still_be_terminated(office, monkeypatch):
    """Shells start the background commands of scripts with SIGINT ignored."""
    monkeypatch.setattr(saved, "load_kept", lambda _: signal.raise_signal(signal.SIGTERM))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert office.run("describe", KEPT).status == 130
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_points_are_asked_again_too(office):
    made = synthesize(str(office.path / "people.csv"), "people.toml", epsilon=3.0, method="evolution", seed=1)
    made.save(office.path / "points")
    assert office.run("sample", "points", "--rows", "7", "--where", "age < 50", "--out", "p.csv").status == 0
    assert office.run("describe", "points").status == 0
    assert "bounds no counts" in office.run("marginal", "points", "sex").out
    refused = office.run("error-bar", "points", "sex")
    assert refused.status == 2
    assert "bounds no counts" in refused.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sample", KEPT, "--rows", "0"), "`rows` must be a whole number of at least 1"),
        (("sample", KEPT, "--rows", "5", "--where", "job == 'cook'"), "there is no synthesized column 'job'"),
        (("sample", KEPT, "--rows", "5", "--where", "age > 120"), "no value of column 'age' can meet"),
        (("sample", KEPT, "--rows", "5", "--where", "sex == 'astronaut'"), "'astronaut'"),
        (("sample", "people.csv", "--rows", "5"), "was not kept"),
        (("sample", "nowhere", "--rows", "5"), "There is no release at nowhere"),
        (("sample", KEPT, "--rows", "5", "--out", "people.ledger"), "people.ledger"),
        (("marginal", KEPT, "sxe"), "no counts of a column 'sxe'. Did you mean 'sex'?"),
        (("sample", KEPT, "--rows", "9000000000000000"), "GB of memory"),
        (("sample", KEPT, "--rows", "5", "--where", "age = 30"), "with == for equal"),
        (("marginal", KEPT, "sex", "sex"), "each once"),
        (("error-bar", KEPT, "sex", "--beta", "2"), "`beta` must lie strictly between"),
        (("describe", "."), "Found none in"),
    ],
)
def test_what_can_not_be_answered_is_refused_in_a_sentence(office, arguments, message):
    before = office.files()
    ended = office.run(*arguments)
    assert ended.status == 2
    assert message in ended.err
    assert office.files() == before


def test_a_folder_of_another_release_is_not_taken_for_the_tables(office):
    assert office.synth("--seed", "3", "--not-private").status == 0
    refused = office.run("describe", "people.synthetic.parquet")
    assert refused.status == 2
    assert "is of another release" in refused.err


def test_help_needs_no_release():
    assert all(run_command([name, "--help"]) == 0 for name in ("sample", "marginal", "error-bar", "describe"))


DERIVED = '\n[[derived]]\nname = "old"\nkind = "boolean"\nexpression = "age > 65"\n'
INSTEAD = "Column 'old' is derived from others: name the columns that it follows from (age)."


@pytest.mark.parametrize(
    "arguments",
    [
        ("sample", "--rows", "5", "--where", "old and sex == 'male'"),
        ("error-bar", "old"),
        ("marginal", "sex", "old"),
        ("infer", "proportion", "old"),
        ("infer", "mean", "old"),
        ("infer", "mean", "age", "--by", "old"),
        ("infer", "chi2", "sex", "old"),
        ("infer", "ols", "age", "old"),
    ],
    ids=" ".join,
)
def test_a_derived_column_names_those_to_ask_about(office, arguments):
    (office.path / "people.toml").write_text((office.path / "people.toml").read_text() + DERIVED)
    synthesize(str(office.path / "people.csv"), "people.toml", epsilon=3.0, method="direct", seed=1).save("derived")
    ended = office.run(arguments[0], "derived", *arguments[1:])
    assert (ended.status, ended.err.strip()) == (2, f"counterfoil: {INSTEAD}")


@pytest.mark.parametrize(
    ("where", "syntax"), [("sex == 'mal'", False), ("sxe == 'male'", False), ("sex > 'male'", False), ("sex =", True)]
)
def test_only_what_can_not_be_parsed_is_answered_with_the_syntax(office, where, syntax):
    ended = office.run("sample", KEPT, "--rows", "5", "--where", where)
    assert ended.status == 2
    assert ("must be an expression such as" in ended.err) == syntax


def test_rows_under_a_condition_say_nothing_of_other_records(office):
    """Nor do they move an estimate: it is the middle of what the bins leave open."""
    assert office.run("sample", KEPT, "--rows", "50", "--where", "age >= 90", "--out", "old.csv").status == 0
    (found,) = office.run("infer", "old.csv", "mean", "age", "--json").document["found"]
    assert any("the estimate is their middle" in sentence for sentence in found["basis"])


@pytest.mark.parametrize("command", [("describe",), ("marginal", "sex"), ("error-bar", "sex")])
def test_rows_that_were_drawn_later_name_the_release_rather_than_an_option_of_synth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    office = make_office(tmp_path, capsys, monkeypatch)
    assert office.synth("--out", "s.csv", "--keep-model").status == 0
    assert office.run("sample", "s.csv", "--rows", "5", "--out", "s1.csv").status == 0
    ended = office.run(command[0], "s1.csv", *command[1:])
    assert ended.status == 2
    assert "s1.csv holds rows that were drawn from a release whose model was kept" in ended.err
    assert "Name that release" in ended.err


def other_bars(kept: Path) -> None:
    """Error bars of a tenth, in a folder whose index agrees."""
    document = json.loads((kept / "error_bars.json").read_text())
    for bound in document["bounds"]:
        bound["scale"] = bound["scale"] / 10
    (kept / "error_bars.json").write_text(json.dumps(document))
    agree(kept, "error_bars.json")


def test_other_error_bars_beside_a_table_are_noticed_wherever_they_are_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    office = make_office(tmp_path, capsys, monkeypatch)
    assert office.synth("--out", "s.csv", "--keep-model", method="direct").status == 0
    assert office.run("receipt", "verify", "s.receipt.json").status == 0
    other_bars(office.path / "s.release")
    for command in (["error-bar", "s.csv", "sex"], ["marginal", "s.csv", "sex"], ["sample", "s.csv", "--rows", "9"]):
        ended = office.run(*command)
        assert ended.status == 2
        assert "its receipt was made with other error bars" in ended.err
    verified = office.run("receipt", "verify", "s.receipt.json")
    assert verified.status == 1
    assert "DOES NOT HOLD" in verified.out
    assert "its receipt was made with other error bars" in verified.out


def test_a_model_of_another_run_beside_a_table_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same questions, answered anew: charges agree, and within a second times do too."""
    office = make_office(tmp_path, capsys, monkeypatch)
    for name in ("s", "t"):
        assert office.synth("--out", f"{name}.csv", "--keep-model", method="direct").status == 0
    shutil.rmtree(office.path / "s.release")
    (office.path / "t.release").rename(office.path / "s.release")
    for at in (office.path / "s.release" / "receipt.json", office.path / "s.receipt.json"):
        document = json.loads(at.read_text())
        at.write_text(json.dumps(document | {"created": "2026-01-01T00:00:00+00:00"}))
    agree(office.path / "s.release", "receipt.json")
    ended = office.run("marginal", "s.csv", "sex")
    assert ended.status == 2
    assert "is of another release than s.csv: their receipts have other models" in ended.err
    verified = office.run("receipt", "verify", "s.receipt.json")
    assert verified.status == 1
    assert "s.release is of another release: its receipt has other models" in verified.out


@pytest.mark.parametrize("out", ["r.csv", "r.parquet", "r/"])
def test_a_table_that_was_changed_beside_its_model_is_said(office, out):
    assert office.synth("--out", out, "--keep-model", "--json").status == 0
    table = Path("r/synthetic.parquet") if out == "r/" else Path(out)
    asked = [("sample", "--rows", "3", "--out", "s.csv", "--force"), ("describe",), ("marginal", "sex")]
    asked.append(("error-bar", "sex"))
    for changed in (False, True):
        if changed:
            table.write_bytes(table.read_bytes() + b"\n")
        for command, *rest in asked:
            for named in {table, Path(out)}:
                ended = office.run(command, str(named), *rest)
                assert ended.status == 0, ended.err
                said = " ".join(ended.out.split())
                assert (f"{table} is not the table that its receipt was made for" in said) is changed
                assert said.count("knows nothing of the change") == changed
    warned = office.run("describe", out, "--json")
    assert "is not the table" in warned.err
    assert warned.document["columns"]


def test_a_release_that_was_renamed_is_not_called_changed(office):
    assert office.synth("--out", "r.csv", "--keep-model").status == 0
    for end in (".csv", ".receipt.json", ".release"):
        Path(f"r{end}").rename(f"q{end}")
    assert "is not the table" not in office.run("describe", "q.csv").out
