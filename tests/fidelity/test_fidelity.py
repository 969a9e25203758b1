"""Fidelity: what is bought for a share of the budget, how true it is, and that it never costs more."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtri

from counterfoil import Curator, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.evaluation.comparison import reveal
from counterfoil.evaluation.marginals import compare_marginals
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.methods.direct import Direct
from counterfoil.methods.independent import Independent
from counterfoil.receipt.noisy_measure import MEASURES, RANGES, NoisyMeasure
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.transport.wasserstein import distance

SCHEMA = Schema(
    (
        Categorical("job", ("cook", "nurse", "smith"), other=True),
        Integer("age", 18, 80, missing=True),
        Real("pay", 0.0, 1000.0, bins=20),
        Boolean("rich"),
    )
)


def people(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 4, rows)
    age = rng.integers(18, 81, rows)
    pay = np.clip(200 * job + 3 * age + rng.normal(0, 60, rows), 0, 1000)
    rich = pay + rng.normal(0, 100, rows) > 500
    return pa.table(
        {
            "job": np.array(["cook", "nurse", "smith", "clown"])[job],
            "age": pa.array(age, mask=rng.random(rows) < 0.05),
            "pay": pay,
            "rich": rich,
        }
    )


PEOPLE = people(4000)


def made(
    seed: int | None = 1, *, epsilon: float = 2.0, delta: float = 1e-6, share: float = 0.3, **options
) -> Synthesis:
    options = {"method": Independent(), "fidelity": Fidelity(share, "rich"), **options}
    return synthesize(PEOPLE, SCHEMA, epsilon=epsilon, delta=delta, seed=seed, **options)


def measures_of(synthesis: Synthesis) -> dict[tuple[str, str], NoisyMeasure]:
    found = [NoisyMeasure.from_json(record) for record in synthesis.receipt.document["fidelity"]]
    return {(noisy.measure, noisy.about): noisy for noisy in found}


def exact_measures(synthesis: Synthesis) -> dict[tuple[str, str], float]:
    """Each measure, computed another way from the real rows and the synthetic ones."""
    real, drawn = reveal(PEOPLE, SCHEMA, reason="a test")[0], synthesis.codes
    found = {}
    for order, about in ((1, "1 column"), (2, "2 columns")):
        errors = compare_marginals(real, drawn, SCHEMA.domain, order=order)
        found["mean_marginal_error", about] = errors.mean
        if order == 1:
            found["largest_marginal_error", about] = errors.largest
        else:
            found["label_marginal_error", about] = max(e for c, e in errors.errors.items() if "rich" in c)
            found["feature_marginal_error", about] = max(e for c, e in errors.errors.items() if "rich" not in c)
    for name in ("age", "pay", "rich"):
        column = SCHEMA[name]
        length = 1.0 if name == "rich" else column.bounds[1] - column.bounds[0]
        last = 1.0 if name == "rich" else column.bounds[1]
        one, other = (
            np.nan_to_num(column.numbers(table.column(name)), nan=last) for table in (PEOPLE, synthesis.to_arrow())
        )
        found["wasserstein", name] = distance(one, other) / length
    return found


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_what_is_told_is_true_up_to_its_standard_error(relation):
    synthesis = made(relation=relation)
    noisy, exact = measures_of(synthesis), exact_measures(synthesis)
    assert len(noisy) == 2 + 3 + 3 + 4
    for key, value in exact.items():
        # Snapping to 4097 points moves W_1 by less than 1/4096; the rest is noise.
        off = abs(noisy[key].estimate - value) - (1 / 4096 if key[0] == "wasserstein" else 0)
        assert off <= -ndtri(1e-6 / 2 / len(exact)) * noisy[key].standard_error, key
        assert 0 < noisy[key].standard_error < 0.02
    if relation == "replace_one":
        assert all(one.records == 4000 and one.records_error == 0 for one in noisy.values())


def test_without_noise_every_measure_is_exact():
    """An enormous epsilon leaves nothing but rounding."""
    synthesis = made(epsilon=1e5, delta=0.0, relation="replace_one")
    noisy, exact = measures_of(synthesis), exact_measures(synthesis)
    for key, value in exact.items():
        assert noisy[key].estimate == pytest.approx(value, abs=1e-3 if key[0] == "wasserstein" else 2e-4), key
    moments = {order: noisy[measure, "rich"] for order, measure in ((1, "label_moment_gap"), (2, "feature_moment_gap"))}
    assert 0 < moments[1].estimate < 0.6  # independent columns: what is lost is the dependence
    assert 0 < moments[2].estimate < 0.6


def test_the_model_scores_are_those_of_its_predictions():
    """On rows with the dependence kept, a linear model is nearly as good as one that knows the rule."""
    synthesis = made(epsilon=1e5, delta=0.0, method=Direct(2), relation="replace_one")
    noisy = measures_of(synthesis)
    pay = PEOPLE.column("pay").to_numpy()
    rule = np.mean((pay > 500) == PEOPLE.column("rich").to_numpy())
    assert rule - 0.02 < noisy["accuracy", "rich"].estimate < rule + 0.02
    assert 0.1 < noisy["log_loss", "rich"].estimate < 0.5


@pytest.mark.parametrize("method", ["aim", "mst", "direct", "independent"])
@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_every_method_leaves_the_share_and_the_receipt_holds(method, relation):
    synthesis = made(seed=None, method=method, relation=relation, share=0.2)
    document = synthesis.receipt.document
    checked = synthesis.receipt.verify()
    assert checked.holds, checked.problems
    assert checked.recomputed_epsilon <= 2.0
    assert checked.recomputed_epsilon > 1.9
    assert document["private"]
    assert len(document["fidelity"]) == 12
    assert {entry["basis"] for entry in document["certificates"]} == {"moments", "marginals", "error bars"}


def test_pure_privacy_stays_pure():
    synthesis = made(seed=None, delta=0.0)
    assert synthesis.receipt.verify().holds
    assert synthesis.receipt.document["spent"]["delta"] == 0
    assert {charge["noise"]["kind"] for charge in synthesis.receipt.document["charges"]} == {"discrete_laplace"}


def test_fidelity_noise_is_planned_before_anything_is_read():
    """Whatever the table and the method's own noise: the same questions with the same noise."""

    def noises(rows: pa.Table, seed: int) -> list:
        synthesis = synthesize(
            rows, SCHEMA, epsilon=1.0, delta=1e-6, method="aim", fidelity=Fidelity(0.1, "rich"), seed=seed
        )
        charges = synthesis.receipt.document["charges"]
        return [charge["noise"] | charge["parameters"] for charge in charges if charge["query"] in TOLD_QUERIES]

    first = noises(people(500, 1), 1)
    assert len(first) == 12
    assert first == noises(people(900, 2), 2)


TOLD_QUERIES = {
    *("total_marginal_error", "largest_marginal_error", "cumulative_area", "largest_moment_gap"),
    *("correct_predictions", "total_loss"),
}


def test_the_share_is_kept_from_the_synthesizer_and_spent_by_nobody_else():
    synthesis = made(seed=None, share=0.25)
    charges = synthesis.receipt.document["charges"]
    spent = {True: 0.0, False: 0.0}
    for charge in charges:
        spent[charge["query"] in TOLD_QUERIES] += charge["event"]["noise_multiplier"] ** -2
    assert spent[True] / sum(spent.values()) == pytest.approx(0.25, rel=1e-6)
    # Without fidelity, the synthesizer has all of it.
    whole = made(seed=None, fidelity=None).receipt.document["charges"]
    assert spent[False] == pytest.approx(0.75 * sum(c["event"]["noise_multiplier"] ** -2 for c in whole), rel=1e-6)


def test_a_privacy_unit_scales_the_noise():
    units = PEOPLE.append_column("who", pa.array([f"p{i // 2}" for i in range(len(PEOPLE))]))
    options = {"epsilon": 2.0, "delta": 1e-6, "method": Independent(), "fidelity": Fidelity(0.3, "rich"), "seed": 3}
    synthesis = synthesize(units, SCHEMA, privacy_unit=PrivacyUnit("who", 2), **options)
    one, two = measures_of(made()), measures_of(synthesis)
    assert synthesis.receipt.verify().holds
    for key, noisy in two.items():
        assert noisy.scale == pytest.approx(2 * one[key].scale, rel=0.02), key


def test_rows_of_any_number_are_compared():
    few = made(rows=777, relation="replace_one")
    noisy, exact = measures_of(few), exact_measures(few)
    for key, value in exact.items():
        bound = noisy[key].at_most(1e-7) / (noisy[key].unit * noisy[key].records)
        assert value <= bound + (1 / 4096 if key[0] == "wasserstein" else 0), key
        assert noisy[key].rounding > 0


def test_what_rounding_may_do_is_said_where_it_is_more_than_noise(monkeypatch):
    """Of 2,000 rows for 200 records the error of a pair was 1.26, standard error .06, in place of 1.62."""
    monkeypatch.setattr(f"{__name__}.PEOPLE", people(200, 3))
    many, few = (made(7, epsilon=5.0, rows=rows, relation="replace_one") for rows in (2000, None))
    key = "feature_marginal_error", "2 columns"
    noisy, exact = measures_of(many)[key], exact_measures(many)[key]
    off = noisy.rounding / (noisy.unit * noisy.records)
    assert off > abs(noisy.estimate - exact) > 4 * noisy.standard_error
    assert f"may move it by up to {off:.2f}." in noisy.sentence
    assert noisy.sentence in " ".join(many.receipt.text().split())
    assert "rounding" not in measures_of(few)[key].sentence


# A noisy measure


def test_bounds_on_what_was_told_fail_as_rarely_as_they_say():
    """`at_most` over the exact law of the discrete noise, Gaussian and Laplace."""
    for kind, scale in (("discrete_gaussian", 1.6), ("discrete_gaussian", 20.0), ("discrete_laplace", 7.0)):
        x = np.arange(-4000, 4001)
        weights = np.exp(-(x**2) / (2 * scale**2)) if kind == "discrete_gaussian" else np.exp(-np.abs(x) / scale)
        law = weights / weights.sum()
        for beta in (0.3, 0.05, 1e-3):
            bounds = np.array(
                [
                    NoisyMeasure("accuracy", "y", 10_000 + int(z), scale, kind, 1.0, 0.0, 1.0, 0.0).at_most(beta)
                    for z in x
                ]
            )
            assert law[bounds < 10_000].sum() <= beta
            assert law[bounds < 10_000].sum() >= beta / 100  # and not absurdly rarely


def test_a_told_number_comes_back_from_the_receipt():
    noisy = NoisyMeasure("wasserstein", "age", 41, 12.5, "discrete_gaussian", 62.0, 0.5, 4000.0, 3.0)
    assert NoisyMeasure.from_json(noisy.to_json()) == noisy
    assert noisy.to_json()["told"] == 41, "receipts keep the key of version 0.1.0"
    assert noisy.standard_error == pytest.approx(math.hypot(12.5 / 62, (1 + noisy.estimate) * 3) / 4000)


@pytest.mark.parametrize(
    "change", [{"measure": "charm"}, {"scale": 0.0}, {"told": "many"}, {"records": -1.0}, {"extra": 1}]
)
def test_a_told_number_of_another_shape_is_refused(change):
    noisy = NoisyMeasure("wasserstein", "age", 41, 12.5, "discrete_gaussian", 62.0, 0.5, 4000.0, 3.0)
    with pytest.raises(ValueError, match="A fidelity measure of the receipt"):
        NoisyMeasure.from_json(noisy.to_json() | change)


def test_every_measure_has_words_and_a_range():
    assert MEASURES.keys() == RANGES.keys()


# Requests that are refused before anything is charged


@pytest.mark.parametrize(
    ("fidelity", "message"),
    [
        (lambda: Fidelity(1.0), "share for fidelity"),
        (lambda: Fidelity(-0.1), "share for fidelity"),
        (lambda: Fidelity(float("nan")), "share for fidelity"),
        (lambda: Fidelity(0.0), "a share of the budget, a target, or both"),
    ],
)
def test_a_share_outside_its_range_is_refused(fidelity, message):
    with pytest.raises(ValueError, match=message):
        fidelity()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [((0.1, "ich"), "rich"), ((0.1, "job", "rich"), "compares predictions of a target of two values")],
)
def test_a_target_that_is_not_one_is_refused_and_nothing_is_charged(wanted, message):
    curator = Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6))
    with pytest.raises(ValueError, match=message):
        Fidelity(*wanted).prepare(curator)
    assert curator.charges() == []


def test_a_method_that_plans_its_whole_budget_is_refused():
    curator = Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6))
    curator.reserve(0.1)
    with pytest.raises(ValueError, match="plans its whole budget"):
        curator.plan([], None)


def test_the_reserve_can_not_be_spent_before_it_is_opened():

    with Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        curator.reserve(0.5)
        whole = GaussianFilter().capacity(curator.budget)
        account = curator.filter(GaussianFilter())
        assert account.capacity == whole / 2
        query = MarginalCounts(SCHEMA.domain, (("job",),))
        account.ask(query, account.noise(0.4 * whole))
        with pytest.raises(BudgetExceeded):
            account.ask(query, account.noise(0.2 * whole))
        assert account.open_reserve() == whole / 2 * (1 - 1e-9)
        account.ask(query, account.noise(0.5 * whole))
        with pytest.raises(ValueError, match="open already"):
            curator.reserve(0.1)
