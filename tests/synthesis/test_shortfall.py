"""Rules that the model hardly ever meets: too few rows bring a warning, and none an early refusal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from command_line import Office, make_office
from counterfoil.api import synthesize
from counterfoil.marginals.weak_relations import unrelated
from counterfoil.methods.independent import Independent
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Integer, Rule, Schema, SchemaError
from counterfoil.synthesis import point_rows
from counterfoil.synthesis import row_sampling as drawing
from counterfoil.synthesis.shortfall import shortfall

RULE = "a + b + c == 27"
SCHEMA = Schema(tuple(Integer(name, 0, 9) for name in "abc"), rules=(Rule(RULE),), name="dice")
UNIFORM = {name: np.random.default_rng(i).integers(0, 10, 500) for i, name in enumerate("abc")}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """About 25,000 rows are drawn, of which one in a thousand meets the rule: none does for 1e-11 of all seeds."""
    monkeypatch.setattr(drawing, "_MOST_DRAWN", 500)
    monkeypatch.setattr(point_rows, "_MOST_DRAWN", 500)


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    office = make_office(tmp_path, capsys, monkeypatch)
    Path("people.csv").write_text(
        "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(*UNIFORM.values(), strict=True))
    )
    state_rules(RULE)
    return office


def state_rules(*rules: str, names: str = "abc", upper: int = 9) -> None:
    schema = Schema(tuple(Integer(name, 0, upper) for name in names), rules=tuple(map(Rule, rules)), name="dice")
    Path("people.toml").write_text(schema.to_toml())


@pytest.mark.parametrize("method", [Independent(), SignedMeasure(cells=64)])
def test_fewer_rows_are_released_with_a_warning(method):
    made = synthesize(pa.table(UNIFORM), SCHEMA, epsilon=1.0, delta=0.0, method=method, rows=400, seed=1)
    document = made.receipt.document
    assert 0 < made.rows == made.to_arrow().num_rows == document["rows"]["drawn"] < 400
    assert document["rows"]["how"] == "all that met the schema's rules, fewer than were wanted"
    assert [line for line in document["warnings"] if line != unrelated(SCHEMA)] == shortfall(
        SCHEMA, drawn=made.rows, requested=400
    )
    assert f"Only {made.rows} of 400 rows could be drawn" in document["warnings"][0]
    assert RULE in document["warnings"][0]
    assert made.receipt.verify().holds
    assert all(sum(row.values()) == 27 for row in made.to_arrow().to_pylist())


@pytest.mark.parametrize("method", [Independent(), SignedMeasure(cells=64)])
def test_nothing_is_said_where_there_are_enough(method):
    eased = Schema(SCHEMA.columns, rules=(Rule("a + b + c < 20"),), name="dice")
    made = synthesize(pa.table(UNIFORM), eased, epsilon=1.0, delta=0.0, method=method, rows=400, seed=1)
    assert made.rows == 400
    others = [line for line in made.receipt.document["warnings"] if "were drawn again" not in line]
    assert set(others) <= {unrelated(eased)}
    assert made.receipt.document["rows"]["how"] == "asked for by the user"


def test_later_rows_are_as_many_as_asked_for_or_refused():
    made = synthesize(pa.table(UNIFORM), SCHEMA, epsilon=1.0, delta=0.0, method=Independent(), rows=5, seed=1)
    assert made.sample(2, seed=1).num_rows == 2
    with pytest.raises(ValueError, match=r"Only \d+ of 400 rows could be drawn: .*Leave out a column"):
        made.sample(400, seed=1)


def test_the_command_line_tells_what_is_missing(office: Office) -> None:
    ended = office.synth("--rows", "400", "--out", "s.csv", "--ledger", "people.ledger", "--delta", "1e-7")
    assert ended.status == 0, ended.err
    receipt = Receipt.load("s.receipt.json")
    rows = len(Path("s.csv").read_text().splitlines()) - 1
    assert rows == receipt.document["rows"]["drawn"] == receipt.document["outputs"][0]["rows"] < 400
    assert receipt.verify(office.path).holds
    assert f"WARNING: Only {rows} of 400 rows could be drawn" in " ".join(ended.out.split())
    assert f"Made {rows} synthetic rows" in ended.out
    as_json = office.synth("--rows", "400", "--out", "t.csv", "--json")
    assert "could be drawn" in as_json.document["warnings"][0]
    assert "WARNING" in as_json.err


@pytest.mark.parametrize("method", ["independent", "signed-measure"])
def test_a_release_without_a_single_row_was_foretold_and_stays_charged(office: Office, method: str) -> None:
    """One uniform record in four hundred million meets both rules."""
    state_rules("a + b == c", "d + e == f", names="abcdef", upper=9999)
    rows = np.random.default_rng(5).integers(0, 10_000, (500, 6))
    Path("people.csv").write_text("a,b,c,d,e,f\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    ended = office.synth(
        "--rows", "400", "--out", "s.csv", "--ledger", "people.ledger", "--seed", "3", "--not-private", method=method
    )
    said = " ".join(ended.err.split())
    assert ended.status != 0
    assert "WARNING: None of 100,000 records drawn evenly from the declared values meets all rules" in said
    assert "None of the rows that were drawn met the rules (a + b == c; d + e == f)" in said
    assert "counts epsilon 1" in said
    assert office.run("ledger", "show", "people.ledger", "--json").document["spent"]["epsilon"] == 1.0
    assert not Path("s.csv").exists()


def test_rules_that_no_record_meets_cost_nothing(office: Office) -> None:
    state_rules("a + b < c", "a + b > c")
    before = office.files()
    ended = office.synth("--out", "s.csv", "--ledger", "people.ledger")
    assert ended.status == 2
    assert "Some record must meet all rules of the schema" in " ".join(ended.err.split())
    assert office.releases() == []
    assert office.files() == before
    with pytest.raises(SchemaError, match="a \\+ b < c; a \\+ b > c"):
        synthesize("people.csv", "people.toml", epsilon=1.0)
