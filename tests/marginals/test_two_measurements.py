"""Columns of many numbers: measured in two steps for the cost of one, merged, and brought back with their tails."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from counterfoil import AIM, MST, Budget, Curator, Schema
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.answer_log import AnswerLog, LostAnswer
from counterfoil.graphical_model.merging import MOST_CODES
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.runs import Runs, find_runs
from counterfoil.marginals import one_way, repeated_measurement
from counterfoil.noise.gaussian import GaussianNoise

SCHEMA = Schema.from_toml("""
[columns.amount]
kind = "integer"
lower = 0
upper = 2000000
missing = true

[columns.group]
kind = "categorical"
values = ["a", "b", "c"]
""")
NOISE = GaussianNoise(6.0)


def people(n: int = 12_000, seed: int = 3) -> pd.DataFrame:
    """Amounts of which a tenth are 0 and a hundredth are missing, larger in one group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    amount = np.rint(np.exp(rng.normal(8 + 0.8 * group, 1.2, n)))
    amount = np.where(rng.random(n) < 0.1, 0, np.minimum(amount, 200_000))
    return pd.DataFrame(
        {
            "amount": pd.array(np.where(rng.random(n) < 0.01, np.nan, amount), dtype="Int64"),
            "group": ["abc"[g] for g in group],
        }
    )


def measured(seed: int = 1) -> tuple[one_way.OneWay, list]:
    with Curator(people(), SCHEMA, budget=Budget(20.0, 1e-6), seed=seed) as curator:
        found = one_way.measure_one_way(curator, curator.filter(GaussianFilter()), NOISE, entropy_weight=1.0)
        return found, curator.charges()


def test_two_queries_cost_what_one_does():
    _, charges = measured()
    assert [charge.query for charge in charges] == ["marginal_counts"] * 2
    precision = sum(charge.event.noise_multiplier**-2 for charge in charges)
    assert precision == pytest.approx(NOISE.noise_multiplier**-2, rel=1e-9)
    assert precision <= NOISE.noise_multiplier**-2, "never more than what the caller planned"


def test_both_measurements_are_averaged_by_precision(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(4)
    domain = SCHEMA.domain
    deviation = 5.0
    first = [NoisyMarginal((name,), rng.normal(40, 30, domain[name]), deviation) for name in domain.attributes]
    bins = SCHEMA["amount"].n_bins
    runs = {"amount": find_runs(Runs.single(first[0].counts[:bins], deviation, 3.0))}
    n_runs = len(runs["amount"].totals)
    again = [rng.normal(100, 50, n_runs + 1), rng.normal(40, 30, 3)]

    def answered(account, domain, cliques, noise, *, coarsening, weights):
        return [NoisyMarginal(clique, counts, deviation) for clique, counts in zip(cliques, again, strict=True)]

    monkeypatch.setattr(repeated_measurement, "measure", answered)
    account = SimpleNamespace(deviation=lambda query, noise: deviation)
    together, better = repeated_measurement.measured_again(account, domain, NOISE, first, runs, by_need=True)
    sums = np.zeros((n_runs + 1, bins + 1))
    sums[runs["amount"].of_cell, np.arange(bins)] = 1
    sums[n_runs, bins] = 1
    # Least squares on both answers, all of whose noise has one deviation.
    design = np.vstack([np.eye(bins + 1), sums])
    counts = np.linalg.lstsq(design, np.append(first[0].counts, again[0]), rcond=None)[0]
    assert together[0].counts == pytest.approx(counts)
    assert together[1].counts == pytest.approx((first[1].counts + again[1]) / 2)
    assert better["amount"].totals == pytest.approx((sums @ counts)[:n_runs])
    covariance = deviation**2 * sums @ np.linalg.inv(design.T @ design) @ sums.T
    assert better["amount"].noise == pytest.approx(np.sqrt(np.diag(covariance))[:n_runs])
    assert together[0].scale == pytest.approx(deviation / math.sqrt(2))


def test_coarse_codes_are_few_and_the_missing_stay_apart():
    found, _ = measured()
    codes = found.coarsening.codes["amount"]
    assert codes.max() < MOST_CODES + 1
    assert (codes[:-1] != codes[-1]).all()
    assert (codes == codes[0]).sum() == 1, "0, which many hold, stays alone"


def test_the_refined_model_keeps_the_coarse_counts():
    found, _ = measured()
    coarse = found.coarse_estimator().fit([])
    fine = found.refine(coarse)
    codes = found.coarsening.codes["amount"]
    assert np.bincount(codes, fine.marginal(("amount",))) == pytest.approx(coarse.marginal(("amount",)), rel=1e-6)
    exact = np.bincount(SCHEMA["amount"].encode(_arrow(people())), minlength=len(codes))
    beyond = exact[:-1].nonzero()[0].max() + 3
    assert fine.marginal(("amount",))[beyond:-1].sum() < 10, "nobody is where nobody was"


@pytest.mark.parametrize("method", [MST(), AIM()], ids=["mst", "aim"])
def test_moments_come_back_with_nothing_declared_but_bounds(method: AIM | MST):
    table = people(20_000)
    real = table["amount"].dropna().to_numpy(float)
    with Curator(table, SCHEMA, budget=Budget(3.0, 1e-9), seed=11) as curator:
        copy = method.synthesize(curator).to_pandas()["amount"].dropna().to_numpy(float)
    assert copy.mean() == pytest.approx(real.mean(), rel=0.03)
    assert copy.std() == pytest.approx(real.std(), rel=0.1)
    assert np.quantile(copy, 0.99) == pytest.approx(np.quantile(real, 0.99), rel=0.1)
    assert np.mean(copy == 0) == pytest.approx(np.mean(real == 0), abs=0.01)


def _arrow(table: pd.DataFrame):
    import pyarrow as pa

    return pa.array(table["amount"])


@pytest.mark.parametrize("method", [AIM(), MST()], ids=["aim", "mst"])
def test_a_lost_answer_about_columns_that_leaves_nothing_ends_in_a_sentence(tmp_path, monkeypatch, method):
    """Killed between the last charge for columns and its answer: paid again, it leaves nothing for relations."""
    table, budget = people(300), Budget(0.3, 1e-6)
    add, asked = GaussianNoise.add, []

    def killed(self, *given):
        asked.append(self)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return add(self, *given)

    def run(log):
        with Curator(table, SCHEMA, budget=budget) as curator:
            curator.keep_answers(log)
            try:
                method.synthesize(curator, rows=10)
            finally:
                log.close()

    monkeypatch.setattr(GaussianNoise, "add", killed)
    with pytest.raises(KeyboardInterrupt):
        run(AnswerLog.create(tmp_path / "answers", {}))
    monkeypatch.setattr(GaussianNoise, "add", add)
    with pytest.raises(LostAnswer, match="this release can't be finished"):
        run(AnswerLog.reopen(tmp_path / "answers", {}))
