"""The command line's contract: what it prints, what it leaves, and its exit status."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jsonschema
import pyarrow.csv
import pyarrow.parquet
import pytest

from command_line import SCHEMA, Office
from counterfoil import Ledger
from counterfoil.receipt.json_schema import receipt_schema
from counterfoil.receipt.receipt import Receipt
from receipt_pages import epsilons


def test_a_table_in_a_table_and_its_receipt_out(office: Office) -> None:
    before = office.files()
    ended = office.synth("--out", "synthetic.parquet", method="aim")
    assert ended.status == 0, ended.err
    assert office.files() - before == {"synthetic.parquet", "synthetic.receipt.json"}
    for said in (
        "synthetic rows with aim",
        "epsilon 1, delta 1e-09 (the default), add_or_remove_one",
        "synthetic.parquet",
    ):
        assert said in ended.out
    assert "No ledger" in ended.err
    table = pyarrow.parquet.read_table("synthetic.parquet")
    receipt = Receipt.load("synthetic.receipt.json")
    assert table.column_names == ["sex", "age", "income"]
    assert receipt.document["outputs"][0]["rows"] == table.num_rows == receipt.document["rows"]["drawn"]
    assert receipt.verify(office.path).holds
    assert receipt.private
    assert str(office.path) not in Path("synthetic.receipt.json").read_text()


@pytest.mark.parametrize("method", ["aim", "mst", "direct", "independent"])
def test_nothing_that_is_printed_claims_less_than_the_budget(office: Office, method: str) -> None:
    """These methods charge filters: what a run left over is no smaller guarantee, wherever it is quoted from."""
    made = office.synth("--out", "s.csv", "--target", "income", "--fidelity", "0.2", method=method)
    receipt = office.run("receipt", "show", "s.receipt.json")
    checked = office.run("receipt", "verify", "s.receipt.json")
    certified = office.run("certify", "s.csv", "--receipt", "s.receipt.json", "--target", "income")
    for ended in (made, receipt, checked, certified):
        assert ended.status == 0, ended.err
        assert min(epsilons(ended.out + ended.err), default=1.0) >= 1.0
    for ended in (made, receipt, checked):
        assert 1.0 in epsilons(ended.out)
    document = office.run("receipt", "verify", "s.receipt.json", "--json").document
    assert document["recomputed_epsilon"] == document["stated_epsilon"] < 1, "it is checked all the same"


@pytest.mark.parametrize("method", ["aim", "mst", "direct", "independent"])
def test_every_method_writes_a_receipt_that_verifies(office: Office, method: str) -> None:
    ended = office.synth("--out", "s.csv", "--rows", "50", "--relation", "replace_one", "--json", method=method)
    assert ended.status == 0, ended.err
    assert ended.document["rows"] == 50
    assert ended.document["epsilon"] == 1
    assert ended.document["spent"]["epsilon"] <= 1
    assert pyarrow.csv.read_csv("s.csv").num_rows == 50
    jsonschema.validate(json.loads(Path("s.receipt.json").read_text()), receipt_schema())
    checked = office.run("receipt", "verify", "s.receipt.json")
    assert checked.status == 0, checked.out
    assert "The receipt holds" in checked.out
    assert office.run("receipt", "verify", "s.receipt.json", "--json").document["holds"] is True


def test_pure_privacy_where_delta_is_zero(office: Office) -> None:
    ended = office.synth("--delta", "0", "--out", "s.csv")
    assert ended.status == 0, ended.err
    assert "delta 0," in ended.out
    receipt = Receipt.load("s.receipt.json")
    assert receipt.document["composition"]["rule"] == "pure"
    assert receipt.document["spent"]["delta"] == 0
    assert receipt.verify().holds


def test_the_default_output_is_named_after_the_input(office: Office) -> None:
    assert office.synth().status == 0
    assert {"people.synthetic.parquet", "people.synthetic.receipt.json"} <= office.files()


def test_quiet_says_nothing_but_warnings(office: Office) -> None:
    ended = office.synth("--quiet", "--out", "s.csv")
    assert (ended.status, ended.out) == (0, "")
    warnings = Receipt.load("s.receipt.json").document["warnings"]
    assert " ".join(ended.err.split()) == " ".join(f"WARNING: {sentence}" for sentence in warnings)


def test_nothing_is_overwritten_unasked(office: Office) -> None:
    assert office.synth("--out", "s.csv").status == 0
    first = Path("s.csv").read_bytes()
    refused = office.synth("--out", "s.csv", "--ledger", "people.ledger")
    assert refused.status == 2
    assert "s.csv is there already" in refused.err
    assert Path("s.csv").read_bytes() == first
    assert office.releases() == []
    assert office.synth("--out", "s.csv", "--force").status == 0
    assert Receipt.load("s.receipt.json").verify(office.path).holds


def test_a_ledger_counts_releases_and_shows_them(office: Office) -> None:
    for number in (1, 2):
        assert office.synth("--ledger", "people.ledger", "--out", f"s{number}.csv").status == 0
    shown = office.run("ledger", "show", "people.ledger")
    assert shown.status == 0
    assert max(map(len, shown.out.splitlines()[2:])) <= 80, "the second line is a path"
    for said in ("people.csv", "1 marginal_counts", "closed"):
        assert said in shown.out
    document = office.run("ledger", "show", "people.ledger", "--json").document
    assert document["total"] == {"epsilon": 3.0, "delta": 1e-6}
    assert document["spent"] == {"epsilon": 2.0, "delta": 2e-9}
    assert document["left"]["epsilon"] == 1.0
    assert [release["epsilon"] for release in document["releases"]] == [1.0, 1.0]
    refused = office.synth("--ledger", "people.ledger", "--out", "s3.csv", epsilon="1.5")
    assert refused.status == 2
    assert "asked for: epsilon 1.5" in refused.err
    assert "s3.csv" not in office.files()


def test_a_seeded_release_is_repeatable_and_not_private(office: Office) -> None:
    for name in ("a.csv", "b.csv"):
        ended = office.synth("--seed", "7", "--not-private", "--out", name)
        assert ended.status == 0
        assert "NOT PRIVATE" in ended.out
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    page = office.run("receipt", "show", "a.receipt.json").out
    assert "NOT PRIVATE" in page
    document = office.synth("--seed", "7", "--not-private", "--out", "c.csv", "--json")
    assert document.document["private"] is False
    assert "NOT PRIVATE" in document.err


def test_privacy_units_are_told(office: Office) -> None:
    people = Path("people.csv").read_text().splitlines()
    rows = [f"{line},{'person' if i == 0 else i // 3}" for i, line in enumerate(people)]
    Path("visits.csv").write_text("\n".join(rows) + "\n")
    arguments = ("visits.csv", "--schema", "people.toml", "--epsilon", "1", "--method", "independent", "--out", "s.csv")
    ended = office.run("synth", *arguments, "--privacy-unit", "person", "--max-rows", "2")
    assert ended.status == 0, ended.err
    receipt = Receipt.load("s.receipt.json")
    assert receipt.document["privacy_unit"] == {"column": "person", "max_rows": 2, "rows_without_id": "each_alone"}
    assert receipt.verify().holds


def test_a_workload_of_named_cliques(office: Office) -> None:
    Path("w.toml").write_text('[[cliques]]\nattributes = ["sex", "income"]\nweight = 2.0\n')
    ended = office.synth("--workload", "w.toml", "--out", "s.csv", method="direct")
    assert ended.status == 0, ended.err
    cliques = Receipt.load("s.receipt.json").document["charges"][0]["parameters"]["cliques"]
    assert ["sex", "income"] in cliques
    assert ["sex", "age"] not in cliques


def test_a_draft_is_made_of_names_and_refused_until_confirmed(office: Office) -> None:
    printed = office.run("schema", "people.csv")
    assert printed.status == 0
    assert "confirm = true" in printed.out
    assert "female" not in printed.out, "no value is read"
    assert office.run("schema", "people.csv", "--out", "draft.toml").status == 0
    assert Path("draft.toml").read_text() == printed.out
    assert office.run("schema", "people.csv", "--out", "draft.toml").status == 2
    refused = office.run("synth", "people.csv", "--schema", "draft.toml", "--epsilon", "1", "--out", "s.csv")
    assert refused.status == 2
    assert "is a draft" in refused.err
    assert "s.csv" not in office.files()


def test_a_ledger_shows_looks_and_refusals_apart_from_what_was_spent(office: Office) -> None:
    for name in ("good", "s"):
        assert office.synth("--ledger", "people.ledger", "--out", f"{name}.csv").status == 0
    good = Path("people.csv").read_text()
    Path("people.csv").write_text(good + "secret,3,low\n")
    for count in (1, 2, 3):
        refused = office.synth("--ledger", "people.ledger", "--out", "refused.csv", "--show-values")
        assert refused.status == 2
        assert "'secret'" in refused.err
        assert office.run("ledger", "show", "people.ledger", "--json").document["refused"] == count
    Path("people.csv").write_text(good)
    with Ledger.open("people.ledger", source=None) as ledger:
        ledger.record_reveal("to compare " * 20 + "\nepsilon 0")
    shown = office.run("ledger", "show", "people.ledger")
    lines = shown.out.splitlines()
    assert max(map(len, lines[2:])) <= 80, "the second line is a path"
    sums, apart = shown.out.split("LOOKS WITHOUT PRIVACY\n")
    assert re.search(r"spent +2 +2e-09", sums)
    assert re.search(r"left +1 ", sums)
    for word in ("NOT PRIVATE", "refused", "inf"):
        assert word not in sums
    assert re.match(r"  2\d{3}-\d\d-\d\d  NOT PRIVATE: the records were looked at: to compare to compare", apart)
    looks, refused = apart.split("\nOutside the budget, and in none of the sums above:\n")
    assert all(line.startswith("  ") for line in [*looks.splitlines(), *refused.splitlines()])
    assert "No budget bounds what a look shows, and none of the sums above counts it." in " ".join(looks.split())
    said = " ".join(apart.split())
    assert re.search(r"3 requests were refused because of what the records hold \(last on 2\d{3}-\d\d-\d\d\)\.", said)
    for part in ("secret", "sex", "line"):
        assert part not in said
    document = office.run("ledger", "show", "people.ledger", "--json").document
    assert document["reserved"] == {"epsilon": 2.0, "delta": 2e-9}
    assert document["spent"] == {"epsilon": 2.0, "delta": 2e-9}
    assert (
        [look["reason"] for look in document["reveals"]] == document["revealed"] == ["to compare " * 20 + "\nepsilon 0"]
    )
    assert re.match(r"2\d{3}-\d\d-\d\dT", document["reveals"][0]["time"])


def test_a_ledger_without_looks_and_refusals_says_nothing_of_them(office: Office) -> None:
    assert "Outside" not in office.run("ledger", "show", "people.ledger").out
    with Ledger.open("people.ledger", source=None) as ledger:
        ledger.record_refusal()
    shown = " ".join(office.run("ledger", "show", "people.ledger").out.split())
    assert "1 request was refused because of what the records hold" in shown
    assert "NOT PRIVATE" not in shown


def test_evaluate_says_not_private_first_and_last(office: Office) -> None:
    assert office.synth("--out", "s.parquet").status == 0
    arguments = ("evaluate", "people.csv", "s.parquet", "--schema", "people.toml", "--target", "income")
    ended = office.run(*arguments, "--ledger", "people.ledger")
    assert ended.status == 0, ended.err
    lines = [line for line in ended.out.splitlines() if line.strip()]
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("NOT PRIVATE")
    assert lines[-1].startswith("NOT PRIVATE")
    assert "300 real rows" in ended.out
    shown = office.run("ledger", "show", "people.ledger")
    assert "NOT PRIVATE: the records were looked at" in " ".join(shown.out.split())
    document = office.run(*arguments, "--json").document
    assert document["private"] is False
    assert [part["order"] for part in document["marginals"]] == [1, 2, 3]
    assert document["marginals"][1]["compared"] == 3
    # Income follows from age, which independent columns lose.
    assert document["marginals"][1]["largest_error"] > 0.5
    for model in document["train_on_synthetic"]["models"].values():
        assert model["real"]["accuracy"] > 0.9 > model["synthetic"]["accuracy"]
        assert "odds_gap" not in model["real"]
    assert set(document["numbers"]["wasserstein_1"]) == {"age"}
    fair = office.run(*arguments, "--protected", "sex", "--json").document["train_on_synthetic"]
    assert fair["models"]["decision tree"]["real"]["odds_gap"] is None  # of 60 test rows too few are in a group
    assert 0 <= fair["parity_gap"]["real"] <= 1
    assert office.run(*arguments, "--protected", "shoe size").status == 2


def test_a_copy_of_the_real_table_has_no_error(office: Office) -> None:
    Path("copy.csv").write_bytes(Path("people.csv").read_bytes())
    document = office.run("evaluate", "people.csv", "copy.csv", "--schema", "people.toml", "--json").document
    assert [part["largest_error"] for part in document["marginals"]] == [0, 0, 0]
    assert document["train_on_synthetic"] is None


def test_a_tampered_receipt_ends_with_status_one(office: Office) -> None:
    assert office.synth("--out", "s.csv").status == 0
    receipt = Path("s.receipt.json")
    receipt.write_text(receipt.read_text().replace('"epsilon": 1.0,\n    "delta"', '"epsilon": 0.1,\n    "delta"', 1))
    checked = office.run("receipt", "verify", receipt)
    assert checked.status == 1
    assert "DOES NOT HOLD" in checked.out
    assert office.run("receipt", "verify", receipt, "--json").document["holds"] is False


def test_line_ends_that_git_changed_are_said_to_be_that(office: Office) -> None:
    """A recipient on Windows takes a checkout of the release for a forgery."""
    assert office.synth("--out", "s.csv").status == 0
    table = Path("s.csv").read_bytes()
    said = "by line ends alone"
    for written, expected in ((table.replace(b"\n", b"\r\n"), True), (table.replace(b"\n", b"\r\n") + b"\r", False)):
        Path("s.csv").write_bytes(written)
        checked = office.run("receipt", "verify", "s.receipt.json")
        assert checked.status == 1
        assert (said in " ".join(checked.out.split())) is expected
        assert (said in office.run("infer", "s.csv", "mean", "age").err) is expected


def test_a_changed_table_is_noticed_beside_its_receipt(office: Office) -> None:
    assert office.synth("--out", "s.csv").status == 0
    Path("s.csv").write_text(Path("s.csv").read_text() + '"male",1,"low"\n')
    checked = office.run("receipt", "verify", "s.receipt.json")
    assert checked.status == 1
    assert "SHA-256 differs" in checked.out
    Path("s.csv").unlink()
    checked = office.run("receipt", "verify", "s.receipt.json")
    assert checked.status == 0
    assert "not compared: s.csv" in checked.out


def test_version_and_help(office: Office) -> None:
    assert office.run("--version").out == f"counterfoil {version('counterfoil')}\n"
    for command in ((), ("synth",), ("schema",), ("ledger", "create"), ("receipt", "verify"), ("evaluate",), ("demo",)):
        ended = office.run(*command, "--help")
        assert ended.status == 0
        assert "Usage: counterfoil" in ended.out
        assert max(map(len, ended.out.splitlines())) <= 80
    assert office.run().status == 0
    assert office.run("ledger").status == 2


@pytest.mark.parametrize("command", ["plan", "check", "schema", "predict"])
def test_help_fills_its_lines(office: Office, command: str) -> None:
    """A line ends only where the next word would not fit, but for the last one of a paragraph."""
    said = office.run(command, "--help").out.split("\u256d")[0]
    paragraphs = [part.split("\n") for part in re.sub(r" +$", "", said, flags=re.M).split("\n\n")]
    for lines in paragraphs:
        for line, following in itertools.pairwise(lines):
            assert not (line and following) or len(line) + 1 + len(following.split()[0]) >= 79, line


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from counterfoil.cli.app import run; run(['synth', '--help']);"
        "heavy = {'numpy', 'pyarrow', 'duckdb', 'scipy', 'numba', 'opendp', 'pandas', 'sklearn'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "counterfoil"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"counterfoil {version('counterfoil')}\n"), done.stderr
    wrong = subprocess.run([*command, "synht"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("counterfoil: ")
    assert "Usage: counterfoil " in subprocess.run([*command, "--help"], capture_output=True, text=True).stdout


def test_output_cut_off_by_a_reader_is_no_error() -> None:
    script = "from counterfoil.cli.app import run; import sys; sys.exit(run(['--help']))"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode in (0, 1)
    assert "Traceback" not in errors


def test_the_schema_of_these_tests_is_confirmed() -> None:
    assert "confirm" not in SCHEMA


def test_a_draft_does_not_replace_another_table(office: Office) -> None:
    """`--force` is for an older draft."""
    Path("others.csv").write_text("a\n1\n")
    refused = office.run("schema", "people.csv", "--out", "others.csv", "--force")
    assert (refused.status, Path("others.csv").read_text()) == (2, "a\n1\n")
    assert "written to a .toml file" in refused.err
