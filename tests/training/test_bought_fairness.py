"""The fairness of trained classifiers, bought from the records: true up to its noise, charged, and exact by record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")

import torch

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.receipt.noisy_groups import RATIOS
from counterfoil.schema import Boolean, Categorical, Real, Schema
from counterfoil.training.bought_fairness import dense_layers, fairness_of, public_predictor
from counterfoil.training.classification import DPSGDClassifier
from counterfoil.training.fair_models import FairClassifier

SCHEMA = Schema(
    (
        Categorical("sex", ("F", "M")),
        Real("pay", 0.0, 10.0, bins=10),
        Categorical("job", ("cook", "nurse", "smith")),
        Boolean("rich"),
    )
)


def people(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    sex, job = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    pay = np.clip(2 * sex + 2 * job + rng.normal(2, 1, rows), 0, 10)
    rich = pay + rng.normal(0, 1, rows) > 5
    return pa.table(
        {"sex": np.array(["F", "M"])[sex], "pay": pay, "job": np.array(["cook", "nurse", "smith"])[job], "rich": rich}
    )


PEOPLE = people(3000)


@pytest.fixture(scope="module")
def classifier() -> FairClassifier:
    model = FairClassifier(epsilon=20.0, iterations=30, hidden=(8,), alpha=0.2, seed=1)
    return model.fit(PEOPLE, SCHEMA, target="rich", protected="sex")


def exact_counts(model: Any, table: pa.Table) -> np.ndarray:
    """By group, class and prediction, from what the model itself predicts of rows."""
    labels = model.classes_
    predicted = model.predict(table) == labels[1]
    sex = table.column("sex").to_numpy(zero_copy_only=False) == "M"
    rich = table.column("rich").to_numpy(zero_copy_only=False)
    return np.bincount(4 * sex + 2 * rich + predicted, minlength=8).reshape(2, 2, 2)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_bought_is_true_up_to_its_noise(classifier: FairClassifier, delta: float):
    bought = fairness_of(classifier, PEOPLE, SCHEMA, 2.0, delta, seed=5)
    exact = exact_counts(classifier, PEOPLE)
    # The largest of 8 noises: with probability 2e-8 (Laplace, 20 scales) and 1e-8 (Gaussian, 6.2 scales).
    assert np.abs(bought.groups.counts - exact).max() < (6.2 if delta else 20) * bought.groups.scale
    rates = exact.sum(axis=1)[:, 1] / exact.sum(axis=(1, 2))
    found = bought.groups.ratio("disparate_impact", level=1 - 1e-6)
    assert found.lower <= rates.min() / rates.max() <= found.upper
    assert found.smallest == "sex = F"
    assert bought.disparate_impact.estimate == found.estimate
    assert {bought.false_positive_ratio, bought.true_positive_ratio} == {bought.groups.ratio(n) for n in [*RATIOS][1:]}


def test_a_large_budget_buys_exact_counts(classifier: FairClassifier):
    bought = fairness_of(classifier, PEOPLE, SCHEMA, 1e5, seed=6)
    assert np.array_equal(bought.groups.counts, exact_counts(classifier, PEOPLE))


def test_the_receipt_holds_and_says_what_was_found(classifier: FairClassifier):
    receipt = fairness_of(classifier, PEOPLE, SCHEMA, 1.0, 1e-6).receipt
    checked = receipt.verify()
    assert checked.holds, checked.problems
    document = receipt.document
    assert [charge["query"] for charge in document["charges"]] == ["group_predictions"]
    assert document["public_groups"] == ["sex"]
    assert document["private"]
    page = " ".join(receipt.text().split())
    assert "of the trained fair-classifier for rich = true, by sex" in page


def test_one_ledger_counts_the_training_and_the_measures(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    model = FairClassifier(epsilon=1.0, delta=1e-6, iterations=5, seed=1)
    ledger = Ledger.in_memory(source=SourceIdentity("people.parquet", str(path)), total=Budget(1.5, 2e-6))
    model.fit(path, SCHEMA, target="rich", protected="sex", ledger=ledger)
    fairness_of(model, path, SCHEMA, 0.4, 5e-7, ledger=ledger, seed=1)
    with pytest.raises(BudgetExceeded):
        fairness_of(model, path, SCHEMA, 0.4, 5e-7, ledger=ledger, seed=1)


def test_groups_of_a_model_without_a_penalty_are_those_it_left_out_of_its_inputs():
    model = DPSGDClassifier(epsilon=20.0, iterations=5, seed=1).fit(PEOPLE, SCHEMA, target="rich", protected="sex")
    assert fairness_of(model, PEOPLE, SCHEMA, 1.0, seed=1).groups.protected == ("sex",)
    by_job = fairness_of(model, PEOPLE, SCHEMA, 1.0, protected=("sex", "job"), seed=1)
    assert by_job.groups.groups[1] == "sex = F, job = nurse"


def test_a_model_of_several_classes_is_compared_by_its_second():
    model = DPSGDClassifier(epsilon=20.0, iterations=20, seed=1).fit(PEOPLE, SCHEMA, target="job", protected="sex")
    bought = fairness_of(model, PEOPLE, SCHEMA, 1e5, seed=1)
    assert bought.groups.target == "job = nurse"
    assert bought.groups.counts[:, :, 1].sum() == (model.predict(PEOPLE) == "nurse").sum()


def test_a_module_of_a_users_own_is_read_layer_by_layer():
    for made in (torch.nn.Tanh, torch.nn.Sigmoid, torch.nn.ReLU):
        network = torch.nn.Sequential(
            torch.nn.Sequential(torch.nn.Linear(4, 5, bias=False), made()), torch.nn.Linear(5, 1)
        )
        model = DPSGDClassifier(epsilon=20.0, iterations=3, network=network, seed=1)
        model.fit(PEOPLE, SCHEMA, target="rich", protected="sex")
        rows = np.random.default_rng(0).uniform(-1, 1, (40, 4))
        found = public_predictor(model).outputs(rows)
        assert np.allclose(found, model.network_.outputs(rows).numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("layers", "named"),
    [
        (lambda: [torch.nn.Linear(4, 5), torch.nn.GELU(), torch.nn.Linear(5, 1)], "GELU"),
        (lambda: [torch.nn.LayerNorm(4), torch.nn.Linear(4, 1)], "LayerNorm"),
        (lambda: [torch.nn.ReLU(), torch.nn.Linear(4, 1)], "ReLU"),
        (lambda: [torch.nn.Linear(4, 1), torch.nn.Tanh(), torch.nn.Sigmoid()], "Sigmoid"),
    ],
)
def test_layers_whose_values_are_not_known_to_be_exact_are_refused(layers: Any, named: str):
    from counterfoil.networks.network import Network

    network = Network.wrap(torch.nn.Sequential(*layers()), inputs=4)
    with pytest.raises(ValueError, match=f"linear layers.*Found {named}"):
        dense_layers(network)


def test_a_class_of_the_same_name_is_not_taken_for_pytorchs():
    from counterfoil.networks.network import Network

    class Tanh(torch.nn.Module):
        def forward(self, rows: Any) -> Any:
            return rows * 2

    network = Network.wrap(torch.nn.Sequential(torch.nn.Linear(4, 1), Tanh()), inputs=4)
    with pytest.raises(ValueError, match="Found Tanh"):
        dense_layers(network)


def test_requests_that_can_not_be_answered_are_refused(classifier: FairClassifier):
    with pytest.raises(ValueError, match="must be a trained classifier"):
        fairness_of(FairClassifier(), PEOPLE, SCHEMA, 1.0)
    with pytest.raises(ValueError, match="another column than the target"):
        fairness_of(classifier, PEOPLE, SCHEMA, 1.0, protected="rich")
    other = Schema((*SCHEMA.columns[:3], Categorical("rich", ("no", "yes"))))
    with pytest.raises(ValueError, match="the schema that it was made for"):
        fairness_of(classifier, PEOPLE, other, 1.0)
