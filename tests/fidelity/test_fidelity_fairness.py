"""Fidelity with a protected column: what is bought about the linear model, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtri

from counterfoil import Curator, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.evaluation.comparison import reveal
from counterfoil.evaluation.fairness import group_fairness
from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.linear_model import LinearModel
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.fidelity.synthetic_counts import numbers_of
from counterfoil.methods.direct import Direct
from counterfoil.receipt.noisy_groups import RATIOS, NoisyGroups
from counterfoil.receipt.text import good_for
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from counterfoil.synthesis.synthesis import Synthesis

SCHEMA = Schema(
    (
        Categorical("sex", ("F", "M"), other=True),
        Integer("age", 18, 80),
        Real("pay", 0.0, 1000.0, bins=20),
        Boolean("rich"),
    )
)


def people(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(0, 2, rows), rng.integers(18, 81, rows)
    pay = np.clip(150 * sex + 6 * age + rng.normal(0, 80, rows), 0, 1000)
    rich = pay + rng.normal(0, 80, rows) > 420
    return pa.table({"sex": np.array(["F", "M"])[sex], "age": age, "pay": pay, "rich": rich})


PEOPLE = people(4000)
BOUGHT = Fidelity(0.3, "rich", "sex")


def made(
    fidelity: Fidelity, *, epsilon: float = 2.0, delta: float = 1e-6, seed: int | None = 1, **options
) -> Synthesis:
    options = {"method": Direct(2), **options}
    return synthesize(PEOPLE, SCHEMA, epsilon=epsilon, delta=delta, fidelity=fidelity, seed=seed, **options)


def groups_of(synthesis: Synthesis) -> NoisyGroups:
    (record,) = [one for one in synthesis.receipt.document["fidelity"] if one["measure"] == "group_predictions"]
    return NoisyGroups.from_json(record)


def exact_counts(synthesis: Synthesis) -> np.ndarray:
    """By group, class and prediction: the model is trained again, and applied to the real rows."""
    features = FeatureMap.binary(SCHEMA, "rich")
    model = LinearModel.fit(features, synthesis.codes, numbers_of(SCHEMA, synthesis.to_arrow()))
    codes = reveal(PEOPLE, SCHEMA, reason="a test")[0]
    numbers = {"age": PEOPLE.column("age").to_numpy().astype(float), "pay": PEOPLE.column("pay").to_numpy()}
    scores = features.features(codes, numbers).astype(np.int64) @ model.weights
    cells = 4 * codes["sex"].astype(int) + 2 * codes["rich"] + (scores > 0)
    return np.bincount(cells, minlength=12).reshape(3, 2, 2)


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_bought_is_true_up_to_its_noise(relation: str, delta: float):
    synthesis = made(BOUGHT, epsilon=20.0, relation=relation, delta=delta)
    noisy, exact = groups_of(synthesis), exact_counts(synthesis)
    assert noisy.groups == ("sex = F", "sex = M", "sex = other")
    assert noisy.target == "rich = true"
    # The largest of 12 noises: a Gaussian one with probability 1e-6, a Laplace one with less than 1e-7.
    bound = (-ndtri(1e-6 / 24) if delta else 20) * noisy.scale
    assert np.abs(noisy.counts - exact).max() < bound
    found = noisy.ratio("disparate_impact")
    assert found.left_out == ("sex = other",)
    rows = np.repeat(np.arange(12), exact.ravel())
    truth = group_fairness(rows % 2, rows // 2 % 2, rows // 4)
    for name in RATIOS:
        ratio = noisy.ratio(name, level=1 - 1e-6 / 3)
        assert ratio.lower <= getattr(truth, name) <= ratio.upper
        assert noisy.ratio(name).upper - noisy.ratio(name).lower < 0.5
        assert 0 < ratio.standard_error < 0.06
    assert found.smallest == "sex = F"


def test_without_noise_the_counts_are_exact():
    synthesis = made(BOUGHT, epsilon=1e5, delta=0.0, relation="replace_one")
    assert np.array_equal(groups_of(synthesis).counts, exact_counts(synthesis))


def test_the_receipt_holds_and_says_it_in_a_sentence():
    synthesis = made(BOUGHT, seed=None)
    checked = synthesis.receipt.verify()
    assert checked.holds, checked.problems
    sentences = [one for one in good_for(synthesis.receipt.document) if "disparate impact" in one]
    assert len(sentences) == 1
    assert "linear model trained on these rows for rich = true, by sex" in sentences[0]
    page = " ".join(synthesis.receipt.text().split())
    assert "disparate impact (smallest over largest share predicted positive)" in page
    assert "ratio of true positive rates (EO_1)" in page
    assert "how many rows of each group and class a model predicts as positive" in page


def test_it_is_one_more_question_of_the_same_share():
    """The share is divided by one more, and nothing else changes; without a protected column nothing does."""
    plain, more = (made(fidelity, seed=3).receipt.document for fidelity in (Fidelity(0.3, "rich"), BOUGHT))
    counts = [len(document["fidelity"]) for document in (plain, more)]
    assert counts[1] == counts[0] + 1
    names = [[charge["query"] for charge in document["charges"]] for document in (plain, more)]
    assert names[1] == [*names[0], "group_predictions"]
    last = [document["charges"][-1]["event"]["noise_multiplier"] for document in (plain, more)]
    assert last[1] / last[0] == pytest.approx((counts[1] / counts[0]) ** 0.5, rel=1e-9)
    assert {entry["basis"] for entry in more["certificates"]} == {"moments", "marginals", "error bars"}


def test_a_privacy_unit_scales_the_noise():
    units = PEOPLE.append_column("who", pa.array([f"p{i // 2}" for i in range(len(PEOPLE))]))
    options = {"epsilon": 2.0, "delta": 1e-6, "method": Direct(1), "fidelity": BOUGHT, "seed": 3}
    synthesis = synthesize(units, SCHEMA, privacy_unit=PrivacyUnit("who", 2), **options)
    assert synthesis.receipt.verify().holds
    assert groups_of(synthesis).scale == pytest.approx(2 * groups_of(made(BOUGHT)).scale, rel=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fidelity(0.1, None, "sex"), "'sex' without a target"),
        (lambda: Fidelity(0.0, "rich", "sex"), "'sex' without a share"),
    ],
)
def test_a_protected_column_needs_a_target_and_a_share(make, message: str):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("protected", "message"), [("sx", "Did you mean 'sex'"), ("rich", "another column")])
def test_a_protected_column_that_is_none_is_refused_and_nothing_is_charged(protected: str, message: str):
    curator = Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6))
    with pytest.raises(ValueError, match=message):
        Fidelity(0.1, "rich", protected).prepare(curator)
    assert curator.charges() == []
