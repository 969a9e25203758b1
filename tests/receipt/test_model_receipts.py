"""Receipts of models: they verify, say whom they protect, and fail where anything on them was changed."""

from __future__ import annotations

import copy
import functools
import json
import math
from typing import Any

import pytest

pytest.importorskip("torch", reason="training needs torch")

from counterfoil.accounting.event import SubsampledGaussianEvent
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.queries.loss_gradient import LossGradient
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.networks.architectures import linear
from counterfoil.networks.penalized_gradient import LossTerm
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.terms import Terms
from counterfoil.training import DPSGDClassifier, FairClassifier, FairEncoder, FairRegressor
from training_tables import SCHEMA, curator_of, ledger_at, people

SHORT = {"iterations": 6, "batch_share": 0.5, "seed": 3}
PARITY = {"target": "outcome", "protected": "sex"}


@functools.cache
def receipt_of(kind: str) -> Receipt:
    if kind == "parity":
        return FairClassifier(alpha=0.5, jacobian_norm=1.0, **SHORT).fit(people(), SCHEMA, **PARITY).receipt
    if kind == "odds":
        return FairClassifier(penalty="equality_of_odds", **SHORT).fit(people(), SCHEMA, **PARITY).receipt
    if kind == "encoder":
        return FairEncoder(hidden=(4,), **SHORT).fit(people(), SCHEMA, protected=("sex", "city")).receipt
    if kind == "regressor":
        return FairRegressor(**SHORT).fit(people(), SCHEMA, target="score", protected="sex").receipt
    return DPSGDClassifier(**SHORT).fit(people(), SCHEMA, target="outcome").receipt


KINDS = ["dp-sgd", "parity", "odds", "regressor", "encoder"]


@pytest.mark.parametrize("kind", KINDS)
def test_receipts_of_models_hold(kind):
    receipt = receipt_of(kind)
    found = receipt.verify()
    assert found.holds, found.problems
    document = receipt.to_json()
    (charge,) = document["charges"]
    event = SubsampledGaussianEvent(**{name: value for name, value in charge["event"].items() if name != "kind"})
    assert found.recomputed_epsilon == PrivacyLossPlan().epsilon([event], 1e-6)
    assert document["released"] == "model"
    assert document["neighboring_relation"] == "replace_one"
    assert document["other_relation"]["holds"] is False
    assert Receipt(json.loads(json.dumps(document))).verify().holds


@pytest.mark.parametrize(
    ("kind", "groups"),
    [("parity", ["sex"]), ("odds", ["outcome", "sex"]), ("encoder", ["sex", "city"]), ("dp-sgd", None)],
)
def test_they_say_which_groups_are_public(kind, groups):
    receipt = receipt_of(kind)
    assert receipt.document.get("public_groups") == groups
    assert list(Terms.of_receipt(receipt.document).neighbors.groups) == (groups or [])
    text = " ".join(receipt.text().split())
    if groups:
        assert f"which group of equal {' and '.join(groups)} it is in is NOT hidden" in text
        assert "which of two given rows of the same group is in the table" in text
    else:
        assert "Hidden is what a row says; the number of rows may show (replace_one)." in text
        assert "NOT hidden" not in text


def test_the_page_says_what_was_read_and_made():
    text = " ".join(receipt_of("parity").text().split())
    assert "A model trained on memory, method fair-classifier." in text
    assert "6 steps, each on a fresh random batch of at most 0.5" in text
    assert "None: what was released is a model." in text
    assert "NOT PRIVATE" in text
    assert "synthetic rows" not in text


def test_a_run_in_parts_is_one_line_of_the_page(tmp_path):
    facts = SHORT | {"iterations": 25}
    with ledger_at(tmp_path / "people.ledger") as ledger:
        model = FairClassifier(**facts)
        model.fit(people(), SCHEMA, ledger=ledger, checkpoint=tmp_path / "state", **PARITY)
    assert model.receipt.verify().holds
    assert "25 steps, charged in 20 parts, each on a fresh" in " ".join(model.receipt.text().split())


# Changed


def changed(document: dict, path: tuple, value: Any) -> dict:
    """A copy with another value at the end of the path, or without it where the value is `REMOVED`."""
    found = copy.deepcopy(document)
    part = found
    for key in path[:-1]:
        part = part[key]
    if value is REMOVED:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return found


REMOVED = object()
CHARGE = ("charges", 0)
ASKED = (*CHARGE, "parameters")
TAMPERED = {
    "fewer steps": [((*CHARGE, "event", "steps"), 5)],
    "fewer steps everywhere": [
        ((*CHARGE, place, "steps"), 5) for place in ("event", "noise", "event_under_other_relation")
    ],
    "smaller probability": [((*CHARGE, "event", "sampling_probability"), 0.1)],
    "smaller probability everywhere": [
        ((*CHARGE, place, "sampling_probability"), 0.1) for place in ("event", "noise", "event_under_other_relation")
    ],
    "more noise": [((*CHARGE, place, "noise_multiplier"), 99.0) for place in ("event", "noise")],
    "another scale": [((*CHARGE, "noise", "scale"), 12.0)],
    "another sensitivity": [((*CHARGE, "sensitivity"), 1.0)],
    "larger batches": [((*ASKED, "batch_sizes"), [100, 100])],
    "smaller batches": [((*ASKED, "batch_sizes"), [2, 2])],
    "batches of nobody": [((*ASKED, "batch_sizes"), [0, 0])],
    "smaller groups": [((*ASKED, "group_sizes"), [60, 60])],
    "an empty group with a batch": [((*ASKED, "group_sizes"), [240, 0])],
    "weights that cancel": [((*ASKED, "transport", "pairs"), [[0, 1, 1.0], [0, 1, -0.999]])],
    "a negative norm": [((*ASKED, "loss", "clip_norm"), -1)],
    "another epsilon of the model": [(("method", "parameters", "epsilon"), 0.01)],
    "other iterations of the model": [(("method", "parameters", "iterations"), 3)],
    "groups of nobody": [((*ASKED, "group_sizes"), [0, 0])],
    "fewer groups": [((*ASKED, "group_sizes"), [240])],
    "another bound": [((*ASKED, "transport", "bound"), 0.1)],
    "a bound beyond floats": [((*ASKED, "transport", "bound"), 1e308)],
    "no pairs": [((*ASKED, "transport", "pairs"), [])],
    "pairs of nobody": [((*ASKED, "transport", "pairs"), [[0, 7, 1.0]])],
    "another penalty": [((*ASKED, "alpha"), 0.0)],
    "no loss": [((*ASKED, "loss"), REMOVED)],
    "a loss of text": [((*ASKED, "loss"), "logistic")],
    "no public groups": [(("public_groups",), REMOVED)],
    "other public groups": [(("public_groups",), ["city"])],
    "other groups of the query": [((*ASKED, "groups"), ["city"])],
    "no groups of the query": [((*ASKED, "groups"), REMOVED)],
    "another relation": [(("neighboring_relation",), "add_or_remove_one"), (("public_groups",), REMOVED)],
    "a privacy unit": [
        (("privacy_unit",), {"column": "id", "max_rows": 1, "rows_without_id": "each_alone"}),
        (("public_groups",), REMOVED),
    ],
    "another query": [((*CHARGE, "query"), "loss_gradient")],
    "a query of counts": [((*CHARGE, "query"), "marginal_counts")],
    "noise for counts": [
        ((*CHARGE, "noise"), {"kind": "discrete_gaussian", "noise_multiplier": 5.0, "scale": 1.0}),
        ((*CHARGE, "event"), {"kind": "gaussian", "noise_multiplier": 5.0}),
    ],
    "another plan": [(("composition", "plan", 0, "steps"), 7)],
    "no plan": [(("composition", "plan"), REMOVED)],
    "adaptive": [(("composition", "adaptive"), True)],
    "a smaller epsilon": [(("spent", "epsilon"), 0.5)],
    "a smaller budget": [(("budget", "epsilon"), 0.5)],
    "private": [(("private",), True)],
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_receipt_that_was_changed_fails(what):
    document = receipt_of("parity").to_json()
    for path, value in TAMPERED[what]:
        document = changed(document, path, value)
    found = Receipt(document).verify()
    assert not found.holds
    assert found.problems
    Receipt(document).text()  # whatever it says, it can be shown


def test_the_problem_is_named():
    document = changed(receipt_of("parity").to_json(), ("public_groups",), REMOVED)
    assert any("how many rows each of its groups has" in problem for problem in Receipt(document).verify().problems)
    sizes = receipt_of("parity").document["charges"][0]["parameters"]["batch_sizes"]
    document = changed(receipt_of("parity").to_json(), (*ASKED, "group_sizes"), [size + 1 for size in sizes])
    assert any("the noise counts on 0.5" in problem for problem in Receipt(document).verify().problems)


FEATURES = TrainingFeatures(SCHEMA, ("outcome",), ("sex",), ("sex",))


@functools.cache
def mixed_receipt() -> Receipt:
    """Of a filter: counts with noise for counts, and a run with noise for batches, of the same multiplier."""
    with curator_of() as curator:
        account = curator.filter(GaussianFilter())
        account.ask(MarginalCounts(SCHEMA.domain, (("sex",), ("city",))), GaussianNoise(30.0))
        sizes = curator.group_sizes(FEATURES)
        network = linear(len(FEATURES.input_names), 1, seed=0)
        query = LossGradient(network, FEATURES, sizes, (20, 20), LossTerm("logistic", (0, 1), 1.0, 3.0))
        account.train(query, SubsampledGaussianNoise(30.0, 0.5, 1))
        return Receipt.from_curator(curator, method="both", parameters={}, rows=0, released="model")


def test_runs_and_counts_can_share_a_receipt():
    found = mixed_receipt().verify()
    assert found.holds, found.problems
    # Under a filter sampling is no gain: the mu of one step without it.
    mu = math.sqrt(2) / 30
    assert found.recomputed_epsilon == pytest.approx(GaussianFilter().epsilon([GaussianNoise(1 / mu).event()], 1e-5))


def test_exchanged_noises_fail():
    """Noise that counts on batches, on counts that read all records, would understate their cost."""
    document = mixed_receipt().to_json()
    for key in ("noise", "event", "event_under_other_relation"):
        one, other = (document["charges"][place][key] for place in (0, 1))
        document["charges"][0][key], document["charges"][1][key] = other, one
    problems = Receipt(document).verify().problems
    assert sum("belongs to the queries that read them, and to no other" in problem for problem in problems) == 2
