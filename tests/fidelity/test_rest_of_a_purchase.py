"""A schema bought with a share of a budget, and the one release that spends the rest: one guarantee for both."""

from __future__ import annotations

import math
import warnings
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from counterfoil import AIM, Receipt, RestUnspentWarning, RestWithoutLedgerWarning, Schema, buy_schema, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import ApproximateGaussianEvent, event_from_json
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.ledger.errors import BudgetExceeded, LedgerError
from counterfoil.ledger.ledger import Ledger
from counterfoil.noise.known import noise_from_json
from counterfoil.publishing.dossier import dossier_text
from counterfoil.publishing.registry import StewardFacts, registry_entry
from counterfoil.receipt.json_schema import receipt_schema
from counterfoil.receipt.schema_total import total_of
from counterfoil.schema.bought import Bought
from counterfoil.schema.errors import SchemaError

ROWS = 4000
EPSILON, DELTA = 2.0, 1e-9
BESIDE = pytest.mark.filterwarnings("ignore::counterfoil.RestUnspentWarning")
"""Of releases whose budget is beside that of the purchase."""


def write_people(path: Path) -> Path:
    rng = np.random.default_rng(5)
    town = rng.choice(["north", "south", "east"], ROWS, p=[0.5, 0.3, 0.2])
    table = pa.table({"age": rng.integers(18, 90, ROWS), "town": town, "works": rng.random(ROWS) < 0.6})
    csv.write_csv(table, path)
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_people(tmp_path / "people.csv")


@pytest.fixture
def ledger(people: Path, tmp_path: Path) -> Any:
    with Ledger.create(tmp_path / "people.ledger", source=people, total=Budget(3.0, 1e-8)) as made:
        yield made


def bought(people: Path, ledger: Ledger, **options: Any) -> tuple[Schema, Receipt]:
    return buy_schema(people, **{"epsilon": EPSILON, "share": 0.2, "ledger": ledger, **options})


def verified(receipt: Receipt, ledger: Ledger) -> bool:
    """Whether it holds, by its release's ledger too, which knows it."""
    ledger.record_receipt(len(ledger.releases()), receipt.digest)
    return receipt.verify(ledger=ledger).holds


def events_of(receipt: Receipt) -> list[Any]:
    return [event_from_json(charge["event"]) for charge in receipt.document["charges"]]


@pytest.mark.parametrize("method", ["aim", "mst", "independent", "direct", "reweighting"])
def test_both_receipts_together_stay_within_the_budget(people: Path, ledger: Ledger, method: str) -> None:
    schema, first = bought(people, ledger)
    release = synthesize(people, schema, epsilon=EPSILON, rest=True, ledger=ledger, method=method, rows=50)
    second = release.receipt
    assert ledger.spent().epsilon == EPSILON
    assert first.verify(ledger=ledger).holds
    assert verified(second, ledger)
    jsonschema.validate(second.to_json(), receipt_schema())
    plan = [noise_from_json(one).event() for one in first.document["composition"]["plan"]]
    thresholds = math.fsum(event.delta for event in plan if isinstance(event, ApproximateGaussianEvent))
    squares = math.fsum(event.noise_multiplier**-2 for event in plan)
    squares += math.fsum(event.mu**2 for event in events_of(second))
    rule = GaussianFilter()
    assert rule.epsilon_of(squares, DELTA - thresholds) <= EPSILON * (1 + 1e-6)
    assert rule.epsilon_of(squares, DELTA - thresholds) >= EPSILON * 0.8, "most of the rest is spent"


def test_the_guarantee_on_the_receipt_is_that_of_both(people: Path, ledger: Ledger) -> None:
    schema, first = bought(people, ledger)
    release = synthesize(people, schema, epsilon=EPSILON, rest=True, ledger=ledger, method="independent", rows=50)
    document = release.receipt.to_json()
    assert "schema_bought" not in document
    assert document["schema_share"]["of"]["epsilon"] == EPSILON
    assert document["schema_share"]["receipt"] == first.digest
    total = total_of(document)
    assert total == Budget(EPSILON, DELTA)
    words = " ".join(release.receipt.text().split())
    assert "A share of this budget bought the schema" in words
    assert "comes on top" not in words
    assert "The rest of this budget is kept for one release" in " ".join(first.text().split())
    assert "share of this budget" in release.receipt._repr_html_()
    assert "share of this budget" in str(registry_entry(document, StewardFacts("Nonprofit")))
    assert "share of this budget" in " ".join(dossier_text(document).split())


def test_what_was_planned_is_paid_whatever_was_asked(people: Path, ledger: Ledger) -> None:
    """The rule counts the plan of the purchase, whether or not all of it was asked."""
    schema, first = bought(people, ledger)
    release = synthesize(people, schema, epsilon=EPSILON, rest=True, ledger=ledger, method="independent", rows=50)
    rule = COMPOSITIONS[release.receipt.document["composition"]["rule"]]
    plan = [noise_from_json(one).event() for one in first.document["composition"]["plan"]]
    assert rule == RestOfBudget.after(plan)
    assert schema.bought is not None
    assert schema.bought.epsilon == pytest.approx(PrivacyLossPlan().epsilon(plan, DELTA), rel=1e-6)
    assert schema.bought.epsilon >= PrivacyLossPlan().epsilon(plan, DELTA) * (1 - 1e-9)


def test_a_rest_without_a_ledger_is_warned_of_each_time(people: Path) -> None:
    schema, _ = bought(people, None)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.warns(
            RestWithoutLedgerWarning, match="has the rest of epsilon 2: spend it once.* Python never does"
        ):
            synthesize(people, schema, epsilon=EPSILON, rest=True, method="independent", rows=50)


@BESIDE
def test_a_second_release_has_a_budget_of_its_own(people: Path, ledger: Ledger) -> None:
    schema, _ = bought(people, ledger)
    options: dict[str, Any] = {"ledger": ledger, "method": "independent", "rows": 50}
    synthesize(people, schema, epsilon=EPSILON, rest=True, **options)
    with pytest.raises(LedgerError, match="for one release"):
        synthesize(people, schema, epsilon=EPSILON, rest=True, **options)
    with pytest.raises(BudgetExceeded):
        synthesize(people, schema, epsilon=EPSILON, **options)
    other = synthesize(people, schema, epsilon=1.0, **options).receipt
    assert schema.bought is not None
    assert other.document["schema_bought"]["together"]["epsilon"] == pytest.approx(1 + schema.bought.epsilon)
    assert verified(other, ledger)
    assert ledger.left().epsilon == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 1.0}, "state the same"),
        ({"delta": 1e-8}, "state the same"),
        ({"relation": "replace_one"}, "protects as the purchase"),
        ({"privacy_unit": ("town", 5)}, "protects as the purchase"),
        ({"seed": 1}, "Found a seed"),
        ({"method": "measure-tree"}, "step by step"),
        ({"method": "evolution"}, "step by step"),
        ({"method": AIM(variant="published")}, "squares of mu"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_can_not_spend_it_is_refused_before_anything_is_charged(
    people: Path, ledger: Ledger, options: dict[str, Any], said: str
) -> None:
    schema, _ = bought(people, ledger)
    before = len(ledger.entries())
    asked = {"epsilon": EPSILON, "ledger": ledger, "method": "mst", "rows": 50, **options}
    with pytest.raises(ValueError, match=said):
        synthesize(people, schema, rest=True, **asked)
    assert len(ledger.entries()) == before


def test_the_rest_is_of_the_budget_that_was_stated_where_none_is(people: Path, ledger: Ledger) -> None:
    schema, _ = bought(people, ledger, delta=1e-10)
    release = synthesize(people, schema, rest=True, ledger=ledger, method="independent", rows=50)
    assert release.receipt.document["budget"] == {"epsilon": EPSILON, "delta": 1e-10}
    assert ledger.spent().epsilon == EPSILON


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_release_without_an_epsilon_is_refused(people: Path, ledger: Ledger) -> None:
    schema, _ = bought(people, ledger)
    with pytest.raises(TypeError, match="add it, such as epsilon=1"):
        synthesize(people, schema, ledger=ledger)
    alone, _ = bought(people, ledger, epsilon=0.5, share=1.0)
    with pytest.raises(TypeError, match="add it, such as epsilon=1"):
        synthesize(people, alone, rest=True, ledger=ledger)


def test_a_schema_with_a_budget_of_its_own_leaves_nothing(people: Path, ledger: Ledger) -> None:
    schema, _ = bought(people, ledger, epsilon=1.0, share=1.0)
    with pytest.raises(ValueError, match=r"in Python `buy_schema\(\.\.\., share=0\.1\)`.* with a budget of its own"):
        synthesize(people, schema, epsilon=1.0, rest=True, ledger=ledger)


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan"), True, "0.1"])
def test_a_share_is_a_part_of_the_budget(people: Path, ledger: Ledger, share: Any) -> None:
    with pytest.raises(ValueError, match="share for the schema"):
        bought(people, ledger, share=share)
    assert ledger.spent().epsilon == 0


@pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")
def test_without_a_ledger_each_release_is_within_the_budget_with_the_schema(people: Path) -> None:
    schema, first = buy_schema(people, epsilon=EPSILON, share=0.2)
    receipt = synthesize(people, schema, epsilon=EPSILON, rest=True, method="independent", rows=50).receipt
    assert first.verify().holds
    assert receipt.verify().holds
    assert receipt.document["schema_share"]["receipt"] == first.digest


@pytest.mark.filterwarnings("error::counterfoil.ledger.no_ledger.UncountedPurchaseWarning")
def test_a_ledger_that_did_not_count_the_purchase_reserves_the_budget_of_both(
    people: Path, ledger: Ledger, tmp_path: Path
) -> None:
    schema, _ = bought(people, ledger)
    with Ledger.create(tmp_path / "other.ledger", source=people, total=Budget(3.0, 1e-8)) as other:
        options: dict[str, Any] = {"ledger": other, "method": "independent", "rows": 50}
        synthesize(people, schema, epsilon=EPSILON, rest=True, **options)
        assert other.spent().epsilon == EPSILON
        with pytest.raises(BudgetExceeded):
            synthesize(people, schema, epsilon=EPSILON, rest=True, **options)


@pytest.mark.parametrize("key", ["mu_squared", "threshold_delta"])
def test_what_the_purchase_took_is_what_the_ledger_has(people: Path, ledger: Ledger, key: str) -> None:
    schema, _ = bought(people, ledger)
    assert schema.bought is not None
    assert schema.bought.of is not None
    of = replace(schema.bought.of, **{key: getattr(schema.bought.of, key) * 0.9999})
    consistent = replace(schema.bought, of=of, epsilon=of.rule.epsilon_of(0.0, DELTA))
    edited = replace(schema, bought=consistent)
    with pytest.raises(ValueError, match="is not what the ledger has"):
        synthesize(people, edited, epsilon=EPSILON, rest=True, ledger=ledger)


def test_a_run_that_was_killed_is_finished_with_its_answers(
    people: Path, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema, _ = bought(people, ledger)
    options: dict[str, Any] = {"epsilon": EPSILON, "ledger": ledger, "method": "mst", "keep": tmp_path / "answers"}

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the process was killed here")

    with monkeypatch.context() as patch:
        patch.setattr("counterfoil.methods.mst.ErrorBars", broken)
        with pytest.raises(RuntimeError):
            synthesize(people, schema, rest=True, **options)
    with pytest.raises(ValueError, match="finish"):
        synthesize(people, schema, rest=True, **options)
    release = synthesize(people, schema, rest=True, resume=True, **options)
    assert verified(release.receipt, ledger)
    assert [record.status for record in ledger.releases()] == ["closed", "closed"]


FORGERIES: dict[str, Any] = {
    "another rule": lambda d: d["composition"].update(rule="gaussian"),
    "a cheaper purchase": lambda d: d["composition"].update(rule=RestOfBudget(1e-9, 3e-10).name),
    "no section": lambda d: d.pop("schema_share"),
    "another budget": lambda d: d["budget"].update(epsilon=1.5),
    "another whole": lambda d: d["schema_share"]["of"].update(epsilon=3.0),
    "another share": lambda d: d["schema_share"]["of"].update(mu_squared=1e-9),
    "both sections": lambda d: d.update(schema_bought=d["schema_share"]),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Receipt, Ledger]:
    people = write_people(tmp_path_factory.mktemp("people") / "people.csv")
    ledger = Ledger.create(people.with_name("people.ledger"), source=people, total=Budget(3.0, 1e-8))
    schema, _ = bought(people, ledger)
    release = synthesize(people, schema, epsilon=EPSILON, rest=True, ledger=ledger, method="independent", rows=50)
    assert verified(release.receipt, ledger)
    return release.receipt, ledger


@pytest.mark.parametrize("rule", ["gaussian-after_1_0.0", "gaussian-after_1.0_1.0", "gaussian-after_1e999_0.0"])
def test_a_name_that_is_no_rule_is_no_receipt(honest: tuple[Receipt, Ledger], rule: str) -> None:
    document = honest[0].to_json()
    document["composition"]["rule"] = rule
    with pytest.raises(ValueError, match="names no rule"):
        Receipt(document)


@pytest.mark.parametrize("rule", ["gaussian-after_5.0_0.0", "gaussian-after_0.1_1e-09", "gaussian-after_0.1_0.5"])
def test_a_rule_that_promises_nothing_does_not_hold(honest: tuple[Receipt, Ledger], rule: str) -> None:
    document = honest[0].to_json()
    document["composition"]["rule"] = rule
    assert not Receipt(document).verify().holds


@BESIDE
def test_a_cheaper_schema_than_the_ledger_has_is_seen(people: Path, ledger: Ledger) -> None:
    """Of a release with a budget of its own, too, to which the schema adds."""
    schema, _ = bought(people, ledger)
    assert schema.bought is not None
    assert schema.bought.of is not None
    of = replace(schema.bought.of, mu_squared=1e-6)
    cheap = replace(schema.bought, of=of, epsilon=of.rule.epsilon_of(0.0, DELTA))
    receipt = synthesize(
        people, replace(schema, bought=cheap), epsilon=1.0, ledger=ledger, method="independent", rows=50
    ).receipt
    assert not verified(receipt, ledger)


@pytest.mark.parametrize("name", FORGERIES)
def test_no_word_of_it_can_be_changed(honest: tuple[Receipt, Ledger], name: str) -> None:
    receipt, ledger = honest
    document = deepcopy(receipt.to_json())
    FORGERIES[name](document)
    forged = Receipt(document)
    assert not forged.verify().holds
    assert not forged.verify(ledger=ledger).holds


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0.2},
        {"epsilon": 0.01},
        {"epsilon": -1.0},
        {"epsilon": "1"},
        {"mu_squared": 1e-9},
        {"mu_squared": 0.0},
        {"mu_squared": float("nan")},
        {"threshold_delta": 1e-9},
        {"threshold_delta": -1e-10},
        {"more": 1.0},
    ],
)
def test_a_line_that_contradicts_itself_is_refused(honest: tuple[Receipt, Ledger], change: dict[str, Any]) -> None:
    facts = honest[0].document["schema_share"]
    assert Bought.of_facts(facts).facts() == facts
    with pytest.raises(SchemaError, match="`bought`"):
        Bought.of_facts(facts | {"of": facts["of"] | change})


def test_a_budget_beside_the_rest_is_warned_of(people: Path, ledger: Ledger) -> None:
    schema, _ = bought(people, ledger)
    with pytest.warns(RestUnspentWarning, match=r"share of epsilon 2; this release adds to that. `rest=True` spends"):
        synthesize(people, schema, method="independent", epsilon=0.5, ledger=ledger)


def test_a_budget_beside_a_rest_that_is_spent_is_not_warned_of(people: Path, ledger: Ledger) -> None:
    schema, _ = bought(people, ledger)
    synthesize(people, schema, method="independent", epsilon=2, ledger=ledger, rest=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RestUnspentWarning)
        synthesize(people, schema, method="independent", epsilon=0.5, ledger=ledger)
