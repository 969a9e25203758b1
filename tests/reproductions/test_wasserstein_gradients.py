"""Experiments of the paper on private Wasserstein gradients: their data, noise and measures, and small runs of each."""

from __future__ import annotations

import csv
import math
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

from reproductions.private_evolution.findings import Finding  # noqa: E402
from reproductions.wasserstein_gradients import (  # noqa: E402
    classification,
    findings,
    generation,
    noisy_descent,
    real_tables,
    regression,
    representation,
    simulation,
)
from reproductions.wasserstein_gradients.noisy_descent import NONE, OURS, PAPERS, Plan, Trained, trained  # noqa: E402

HAS_COMPAS = (real_tables.DATA / "compas.csv").is_file()
needs_compas = pytest.mark.skipif(not HAS_COMPAS, reason="the tables are not in the repository")
SMALL = 1000


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_records_follow_appendix_b():
    """Each check fails by chance with probability below 1e-6."""
    n = 20_000
    records = simulation.sample(n, np.random.default_rng(0))
    assert records.inputs.shape == (n, 16)
    np.testing.assert_array_equal(records.label, records.response[:, 1] > 1 - records.response[:, 0])
    agreeing = int((records.group == records.label).sum())
    assert binom.ppf(2e-7, n, 0.7) <= agreeing <= binom.isf(2e-7, n, 0.7)
    core = records.inputs[:, :8] - np.tile(records.response, 4)
    spurious = records.inputs[:, 8:] - records.group[:, None]
    for residuals, variance in ((core, 1 / 5), (spurious, 2 / 5)):
        # Means of 8 n normal numbers; the variance of their square is 2 v^2.
        assert abs(residuals.mean()) < 5.2 * math.sqrt(variance / residuals.size)
        assert abs((residuals**2).mean() - variance) < 5.2 * variance * math.sqrt(2 / residuals.size)


def test_sensitivities_are_of_batches():
    made = classification.problem("statistical_parity", SMALL)
    sizes = made.batch_sizes
    assert [round(0.2 * size) for size in np.diff(made.starts)] == list(sizes)
    ordinary, smallest = 2 * 5 / sum(sizes), min(sizes)
    assert made.sensitivity(0.25, PAPERS) == pytest.approx(0.75 * ordinary + 0.25 * 16 / smallest)
    assert made.sensitivity(0.25, OURS) == pytest.approx(0.75 * ordinary + 0.25 * 8 / smallest)
    odds = classification.problem("equality_of_odds", SMALL)
    assert odds.sensitivity(1.0, OURS) == pytest.approx(8 / 2 / min(odds.batch_sizes))
    assert regression.problem(SMALL).sensitivity(1.0, PAPERS) == pytest.approx(16 / min(sizes))


def test_objective_by_quantiles():
    """Cross entropy, and W_2^2 as the mean squared difference of quantile functions."""
    made = classification.problem("equality_of_odds", SMALL)
    network = made.network()
    loss, penalty = noisy_descent.objective_terms(made, network)
    own = classification.scores(network.parameters_vector(), made.inputs)
    expected = -np.log(np.where(made.targets == 1, own, 1 - own)).mean()
    assert loss == pytest.approx(expected, rel=1e-10)
    by_class = []
    for first in (0, 2):
        low, high = (np.sort(own[made.starts[g] : made.starts[g + 1]]) for g in (first, first + 1))
        ends = np.unique(np.concatenate([np.arange(len(v) + 1) / len(v) for v in (low, high)]).round(12))
        middles = (ends[1:] + ends[:-1]) / 2
        quantiles = (v[(middles * len(v)).astype(int)] for v in (low, high))
        by_class.append(float((np.square(np.subtract(*quantiles)) * np.diff(ends)).sum()))
    assert penalty == pytest.approx(np.mean(by_class), rel=1e-6)


def test_gradients_of_a_run_descend_the_objective():
    """One step with whole groups as batches is one of exact descent: by central differences, nothing being clipped."""
    made = classification.problem("statistical_parity", SMALL)
    whole = noisy_descent.Problem(
        made.network, made.inputs, made.targets, made.starts, classification.LossTerm("logistic", (0, 1), 50.0, 3.0),
        classification.TransportTerm(((0, 1, 1.0),), (0, 1), "sigmoid", 0.0, 1.0, 50.0, "spectral"),
    )  # fmt: skip
    whole.__dict__["batch_sizes"] = tuple(np.diff(made.starts).tolist())
    one = trained(whole, Plan(0.6, math.inf, NONE, 1, 0.05))
    start, network = made.network().parameters_vector(), made.network()

    def objective(parameters):
        network.load_vector(parameters)
        loss, penalty = noisy_descent.objective_terms(whole, network)
        return 0.4 * loss + 0.6 * penalty

    steps = 1e-5 * np.eye(len(start))
    slopes = np.array([(objective(start + h) - objective(start - h)) / 2e-5 for h in steps])
    np.testing.assert_allclose((start - one.parameters) / 0.05, slopes, rtol=1e-4, atol=1e-6)


def test_noise_has_the_stated_deviation():
    """Two runs of one step with the same batch, with and without noise: false alarm below 1e-6."""
    made = representation.problem(SMALL)
    plan = Plan(0.5, 1.0, OURS, 1, 0.01)
    noisy, exact = trained(made, plan), trained(made, Plan(0.5, math.inf, NONE, 1, 0.01))
    assert noisy.deviation == pytest.approx(noisy_descent.noise_multiplier(made, plan) * made.sensitivity(0.5, OURS))
    drawn = (exact.parameters - noisy.parameters) / 0.01 / noisy.deviation
    assert abs((drawn**2).mean() - 1) < 5.2 * math.sqrt(2 / len(drawn))
    assert abs(drawn.mean()) < 5.2 / math.sqrt(len(drawn))


def test_accounting_names_its_approximations():
    made = classification.problem("statistical_parity", SMALL)
    text = noisy_descent.accounting_text(made, (math.inf, 2.0), 20)
    assert len(text.splitlines()) == 1
    assert "no bounds" in text
    ours = noisy_descent.noise_multiplier(made, Plan(0.0, 2.0, OURS, 20, 0.1))
    assert f"noise multiplier {ours:.3f}" in text
    assert noisy_descent._by_limit(2.0, made.delta, made.probability, 20) < ours


def test_measures_by_hand():
    test = simulation.Sample(
        np.zeros((6, 16)), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 1, 0, 1, 1]), np.zeros((6, 2))
    )
    found = classification.measured(np.array([0.6, 0.7, 0.2, 0.8, 0.9, 0.51]), test)
    assert found.accuracy == pytest.approx(3 / 6)
    assert found.disparate_impact == pytest.approx(2 / 3)
    assert (found.odds_0, found.odds_1) == pytest.approx((1.0, 0.5))
    told = regression.measured(np.array([[1, 1], [0, 0], [0.3, 0.8], [0, 0.1], [0.4, 0.4], [0.9, 0.9]]), test)
    assert (told.over_0, told.over_1) == pytest.approx((2 / 3, 1 / 3))
    assert told.accuracy == pytest.approx(3 / 6)
    score = real_tables.score(np.array([1, 1, 0, 1, 0, 0]), test.label, test.group, 1)
    assert (score.accuracy, score.impact, score.odds) == pytest.approx((1 / 6, 0.5, 0.5))


def outcome(alpha, noise, penalty, curve=(1.0, 0.5), epsilon=1.0):
    plan = Plan(alpha, math.inf if noise == NONE else epsilon, noise, 1, 0.1)
    return Trained(plan, 0.0, np.zeros(1), list(enumerate(curve)), 0.5, penalty)


def test_findings_can_fail():
    good = [outcome(0.0, NONE, 0.04), outcome(0.75, NONE, 0.009), outcome(0.0, OURS, 0.04), outcome(0.75, OURS, 0.009)]
    assert [finding.holds for finding in findings.penalty_findings(good)] == [True, True]
    assert [finding.holds for finding in findings.curve_findings(good)] == [True]
    flat = [*good[:3], outcome(0.75, OURS, 0.05, curve=(1.0, 0.56))]
    assert [finding.holds for finding in findings.penalty_findings(flat)] == [False, False]
    assert [finding.holds for finding in findings.curve_findings(flat)] == [False]
    assert findings.moved_by_least_epsilon(good, (0.9, 0.7, 0.88, 0.75)) == (pytest.approx(0.05), 1.0)


def test_without_a_penalty_both_noises_are_one_run(tmp_path):
    chosen = findings.parsed(["--alphas", "0", "0.5", "--epsilons", "inf", "2", "--out", str(tmp_path)], "Small.")
    made = partial(classification.problem, "statistical_parity", SMALL)
    found = findings.all_runs(made, chosen, steps=3, learning_rate=0.05)
    by_key = {(one.plan.alpha, one.plan.noise): one for one in found}
    assert len(found) == len(by_key) == 6
    assert by_key[0.0, OURS].parameters is by_key[0.0, PAPERS].parameters
    assert by_key[0.0, OURS].deviation > 0
    assert by_key[0.5, PAPERS].deviation > 1.2 * by_key[0.5, OURS].deviation
    assert findings.named(by_key[0.5, OURS]) == "epsilon 2, our noise"
    assert [findings.named(row[0]) for row in findings.rows_of(found)] == [
        "no noise", "epsilon 2, paper's noise", "epsilon 2, our noise",
    ]  # fmt: skip


def test_classification_quickly(tmp_path, monkeypatch):
    """Seeds are fixed: what holds holds in every run."""
    monkeypatch.setattr(classification, "package_findings", lambda n: [])
    found = classification.main(["--quick", "--out", str(tmp_path)], n=4000, steps=150)
    assert len(found) == 16
    assert [finding.holds for finding in found[:3]] == [True] * 3
    table = rows_of(tmp_path / "wasserstein_statistical_parity.csv")
    assert [(float(row["alpha"]), row["noise"]) for row in table] == [
        (alpha, noise) for noise in (NONE, PAPERS, OURS) for alpha in (0.0, 0.75)
    ]
    assert float(table[3]["deviation"]) > 1.5 * float(table[5]["deviation"])
    for name in ("statistical_parity_figure_1", "statistical_parity_figure_6", "equality_of_odds_figure_2"):
        assert (tmp_path / f"wasserstein_{name}.png").stat().st_size > 10_000
    assert not (tmp_path / "wasserstein_statistical_parity_figure_5.png").exists()
    curves = rows_of(tmp_path / "wasserstein_equality_of_odds_curves.csv")
    assert len(curves) == 6 * 51


def test_the_packages_own_classifier_agrees():
    (finding,) = classification.package_findings(4000, epsilon=8.0)
    assert finding.holds


@pytest.mark.parametrize(
    ("script", "stem", "figures"), [(regression, "regression", (9, 10)), (representation, "representation", (3, 12))]
)
def test_regression_and_representation_quickly(script, stem, figures, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "package_findings", lambda n: [Finding("own", True, "")])
    found = script.main(["--quick", "--out", str(tmp_path)], n=SMALL, steps=10)
    assert all(isinstance(finding, Finding) for finding in found)
    assert len(rows_of(tmp_path / f"wasserstein_{stem}.csv")) == 6
    for number in figures:
        assert (tmp_path / f"wasserstein_{stem}_figure_{number}.png").stat().st_size > 10_000
    assert capsys.readouterr().out.count("epsilon 1, delta 0.0001") == 1


def test_restored_codes_are_the_networks():
    made = representation.problem(SMALL)
    one = trained(made, Plan(0.5, math.inf, NONE, 2, 0.01))
    inputs = made.inputs[:20]
    codes, restored = representation.codes_and_restored(made, one, inputs)
    network, parts = made.network(), one.parameters
    network.load_vector(parts)
    shapes, at, layers = [(16, 62), (62, 2), (2, 62), (62, 16)], 0, []
    for entering, leaving in shapes:
        weights = parts[at : at + entering * leaving].reshape(leaving, entering)
        at += entering * leaving
        layers.append((weights, parts[at : at + leaving]))
        at += leaving
    through = np.maximum(inputs @ layers[0][0].T + layers[0][1], 0) @ layers[1][0].T + layers[1][1]
    np.testing.assert_allclose(codes, through, atol=1e-12)
    again = np.maximum(through @ layers[2][0].T + layers[2][1], 0) @ layers[3][0].T + layers[3][1]
    np.testing.assert_allclose(restored, again, atol=1e-12)


def test_both_budgets_of_a_generator():
    setting = generation.Setting(4.0, OURS, 2000, 400, 20)
    moved, fixed = setting.changes()
    assert (moved, fixed) == pytest.approx((8 * 2 * 2**0.5 / 400, 4 * 2 * 2**0.5 / 400))
    assert generation.Setting(4.0, PAPERS, 2000, 400, 20).changes() == pytest.approx((1.5 * moved, fixed))
    assert setting.epsilons(20)[0] == pytest.approx(4.0, rel=1e-3)
    assert setting.epsilons(20)[1] < 2.5
    assert setting.epsilons(10)[0] < setting.epsilons(20)[0]
    assert setting.epsilons(0) == (0.0, 0.0)


def test_a_generators_gradient_by_differences():
    """Inside the ball, and with long Jacobians allowed, it is the derivative of SW_2^2."""
    rng = np.random.default_rng(5)
    normal, circle = rng.standard_normal((40, 2)), 0.5 * rng.standard_normal((60, 2)).clip(-1, 1)
    network = generation.mlp(2, 2, hidden=(5,), activation="tanh", seed=1)
    directions = generation.random_directions(rng, 7, 2)
    at = 0.3 * network.parameters_vector()

    def value(parameters):
        network.load_vector(parameters)
        return generation.sliced_gradient(network.outputs(normal).numpy(), circle, directions).value

    steps = 1e-6 * np.eye(len(at))
    slopes = np.array([(value(at + h) - value(at - h)) / 2e-6 for h in steps])
    network.load_vector(at)
    np.testing.assert_allclose(generation.step_gradient(network, normal, circle, directions), slopes, atol=1e-5)


def test_generation_quickly(tmp_path):
    size = {"n": 2000, "batch": 400, "steps": 12}
    found = generation.main(["--quick", "--out", str(tmp_path)], quick_size=size)
    table = rows_of(tmp_path / "wasserstein_generation.csv")
    assert len(found) == 6
    assert len(table) == 3 * 4
    assert float(table[3]["squared_distance"]) < float(table[0]["squared_distance"])
    assert (tmp_path / "wasserstein_generation_figure_13.png").stat().st_size > 10_000


def test_accuracy_at_an_impact():
    def at(accuracy, impact, way="penalty", epsilon=1.0):
        return real_tables.Mean("adult", way, epsilon, 0.5, (accuracy, impact, 0.1), (0.0, 0.0, 0.0))

    line = [at(0.85, 0.3), at(0.83, 0.7), at(0.80, 0.9)]
    assert real_tables.accuracy_at(line, 0.8) == pytest.approx(0.815)
    assert real_tables.accuracy_at(line, 0.9) == pytest.approx(0.80)
    assert math.isnan(real_tables.accuracy_at(line, 0.95))
    free = [at(0.84, 0.9, "reduction", math.inf)]
    first, second = real_tables.table_findings([*line, *free, at(0.82, 0.85, "copy")])
    assert not first.holds
    assert not second.holds
    first, second = real_tables.table_findings([*line, at(0.83, 0.9, "reduction", math.inf), at(0.81, 0.85, "copy")])
    assert first.holds
    assert second.holds


def test_means_and_their_errors():
    cells = [real_tables.Cell("adult", "copy", 1.0, math.inf, seed, 0.8 + seed / 100, 0.5, 0.1) for seed in range(3)]
    (found,) = real_tables.means(cells)
    assert found.accuracy == pytest.approx(0.81)
    assert found.errors == pytest.approx((0.01 / math.sqrt(3), 0.0, 0.0))
    assert "copy" in real_tables.table_text([found])


@needs_compas
def test_compas_quickly(tmp_path, capsys):
    pytest.importorskip("fairlearn")
    found = real_tables.main(["--quick", "--alphas", "0", "--out", str(tmp_path)])
    assert {one.way for one in found} == set(real_tables.WAYS)
    assert len(rows_of(tmp_path / "wasserstein_real_tables.csv")) == len(found) == 7
    assert (tmp_path / "wasserstein_real_tables.png").stat().st_size > 10_000
    by_key = {(one.way, one.knob): one for one in found}
    assert by_key["reduction", 0.03].impact > by_key["reduction", math.inf].impact
    assert by_key["penalty", 0.0].accuracy > 0.6
    assert "compas, epsilon 1, impact 0.8" in capsys.readouterr().out


@needs_compas
def test_tables_are_split_and_read():
    source = real_tables.table("compas")
    train, test = source.split(1)
    assert train.num_rows + test.num_rows == source.rows.num_rows
    inputs, labels, groups = source.read(test)
    race = test["race"].to_numpy(zero_copy_only=False)
    np.testing.assert_array_equal(groups, race == "Caucasian")
    np.testing.assert_array_equal(labels, test["two_year_recid"].to_numpy())
    age = source.features.input_names.index("age")
    np.testing.assert_allclose(inputs[:, age], 2 * (test["age"].to_numpy() - 18) / (100 - 18) - 1, atol=2.0**-12)
    assert isinstance(train, pa.Table)


def test_without_the_tables_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(real_tables, "DATA", tmp_path)
    real_tables.table.cache_clear()
    with pytest.raises(SystemExit, match=r"needs the table .*compas\.csv"):
        real_tables.main(["--quick", "--out", str(tmp_path)])
    real_tables.table.cache_clear()
