"""Ratios between groups from noisy counts: exact without noise, honest with it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, chi2

from counterfoil.evaluation import fairness
from counterfoil.evaluation.fairness import group_fairness
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.receipt import noisy_groups
from counterfoil.receipt.noisy_groups import RATIOS, NoisyGroups
from counterfoil.receipt.noisy_measure import measure_sentences

FALSE_ALARM = 1e-6
GAUSSIAN, LAPLACE = "discrete_gaussian", "discrete_laplace"
SCALE = {GAUSSIAN: 25.0, LAPLACE: 18.0}
TRUE = np.array([[[900, 300], [150, 450]], [[1000, 600], [100, 700]]])
"""By group, class and prediction: disparate impact 125/300 over 13/24."""


def of(counts: np.ndarray, *, noise: str = GAUSSIAN, scale: float = 1e-9) -> NoisyGroups:
    names = tuple(f"sex = {code}" for code in range(len(counts)))
    return NoisyGroups("model", "rich = yes", ("sex",), names, counts.astype(np.int64), noise, scale)


def drawn(noise: str, runs: int, rng: np.random.Generator, true: np.ndarray = TRUE) -> np.ndarray:
    """Noisy counts [runs, groups, 2, 2], with continuous noise rounded."""
    shape = (runs, *true.shape)
    law = rng.normal(0, SCALE[noise], shape) if noise == GAUSSIAN else rng.laplace(0, SCALE[noise], shape)
    return np.rint(true + law).astype(np.int64)


def true_ratio(counts: np.ndarray, name: str) -> float:
    cells = counts[:, list(RATIOS[name])].sum(axis=1)
    rates = cells[:, 1] / cells.sum(axis=1)
    return float(rates.min() / rates.max())


def test_the_smallest_group_is_the_same_here_and_in_exact_measures():
    assert noisy_groups.SMALLEST_GROUP == fairness.SMALLEST_GROUP


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 500))
def test_without_noise_it_is_the_exact_measure(seed: int, groups: int, rows: int):
    rng = np.random.default_rng(seed)
    truth, predicted, group = rng.integers(0, 2, rows), rng.integers(0, 2, rows), rng.integers(0, groups, rows)
    counts = np.bincount(4 * group + 2 * truth + predicted, minlength=4 * groups).reshape(groups, 2, 2)
    exact = group_fairness(predicted.astype(float), truth, group)
    for name in RATIOS:
        found, expected = of(counts).ratio(name), getattr(exact, name)
        assert (found.estimate is None) == math.isnan(expected)
        if found.estimate is not None:
            assert found.estimate == pytest.approx(expected)
            assert found.lower == pytest.approx(expected, abs=1e-6)
            assert found.upper == pytest.approx(expected, abs=1e-6)
            assert found.standard_error == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("name", RATIOS)
def test_standard_errors_are_those_of_the_noise(noise: str, name: str):
    """The mean of ((estimate - ratio) / error)**2 is 1: by its fourth moment, at 1e-6; 5% for the second order."""
    runs = 4000
    ratios = [of(c, noise=noise, scale=SCALE[noise]).ratio(name) for c in drawn(noise, runs, np.random.default_rng(8))]
    assert all(one.estimate is not None and one.standard_error for one in ratios)
    scores = np.array([(one.estimate - true_ratio(TRUE, name)) / one.standard_error for one in ratios])
    squares = scores**2
    slack = -float(np.array(ndtri(FALSE_ALARM / 2))) * squares.std() / math.sqrt(runs)
    assert abs(squares.mean() - 1) < slack + 0.05
    assert slack < 0.25, "else the test would say little"
    if noise == GAUSSIAN:
        assert abs(np.mean(squares * runs) / runs - 1) < chi2.isf(FALSE_ALARM / 2, runs) / runs - 1 + 0.05


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("name", RATIOS)
@pytest.mark.parametrize("shrunk", [1, 8, 40])
def test_intervals_hold_the_ratio_of_the_groups_that_they_are_about(noise: str, name: str, shrunk: int):
    """In at least 95% of all runs, but with probability 1e-6 by chance; large groups, small ones, and hopeless ones."""
    true, runs = TRUE // shrunk, 1500
    held = 0
    for counts in drawn(noise, runs, np.random.default_rng(9), true):
        found = of(counts, noise=noise, scale=SCALE[noise]).ratio(name)
        assert found.lower <= (found.estimate if found.estimate is not None else found.lower) <= found.upper
        held += found.says_nothing or found.lower <= true_ratio(true, name) <= found.upper
    assert held >= binom.ppf(FALSE_ALARM, runs, 0.95)


def test_intervals_with_sampling_hold_the_ratio_of_a_population():
    runs, held, without = 1200, 0, 0
    rng = np.random.default_rng(10)
    chances = TRUE / TRUE.sum()
    for _ in range(runs):
        true = rng.multinomial(600, chances.ravel()).reshape(TRUE.shape)
        counts = np.rint(true + rng.normal(0, 2.0, true.shape)).astype(np.int64)
        groups = of(counts, scale=2.0)
        found, noise_alone = (groups.ratio("disparate_impact", sampling=sampling) for sampling in (True, False))
        held += found.lower <= true_ratio(TRUE, "disparate_impact") <= found.upper
        without += noise_alone.lower <= true_ratio(TRUE, "disparate_impact") <= noise_alone.upper
        assert found.lower <= noise_alone.lower <= noise_alone.upper <= found.upper
    assert held >= binom.ppf(FALSE_ALARM, runs, 0.95)
    assert without < binom.isf(FALSE_ALARM, runs, 0.95) * 0.7, "records are what moves here"


def test_sampling_errors_are_those_of_resampled_records():
    rng = np.random.default_rng(11)
    chances, size, runs = TRUE / TRUE.sum(), 40_000, 2000
    samples = rng.multinomial(size, chances.ravel(), runs).reshape(runs, *TRUE.shape)
    estimates = [true_ratio(counts, "disparate_impact") for counts in samples]
    expected = of(np.rint(chances * size)).ratio("disparate_impact").sampling_error
    ratio = np.var(estimates) / expected**2
    assert chi2.ppf(FALSE_ALARM / 2, runs - 1) / (runs - 1) - 0.02 < ratio
    assert ratio < chi2.isf(FALSE_ALARM / 2, runs - 1) / (runs - 1) + 0.02


@pytest.mark.parametrize("level", [0.95, 0.975, 0.99, 0.9995])
@pytest.mark.parametrize("classes", [1, 2])
def test_critical_values_of_laplace_noise_are_no_less_than_the_exact_ones(level: float, classes: int):
    critical = of(TRUE, noise=LAPLACE, scale=1.0)._critical(level, classes)
    for rate in np.linspace(0, 1, 21):
        law = NoiseLaw(0.0, np.array([1 - rate, rate]), np.full(2, float(classes)))
        exact = law.quantile(level) / law.deviation
        assert exact <= critical * (1 + 1e-6)
        assert rate not in (0, 1) or exact == pytest.approx(critical, rel=1e-5)


def test_groups_that_are_too_small_are_named_and_left_out():
    counts = np.concatenate([TRUE, [[[8, 9], [7, 5]]], [[[60, 40], [40, 60]]]])
    found = of(counts, scale=20.0).ratio("disparate_impact")
    assert found.left_out == ("sex = 2",), "29 records; 200 are 5 standard errors above 0"
    assert {found.smallest, found.largest} == {"sex = 0", "sex = 1"}
    wide = of(counts, scale=60.0).ratio("disparate_impact")
    assert wide.left_out == ("sex = 2", "sex = 3")


def test_noise_that_drowns_all_groups_says_nothing():
    groups = of(TRUE, scale=1e5)
    for name in RATIOS:
        found = groups.ratio(name)
        assert found.says_nothing
        assert (found.estimate, found.standard_error, found.sampling_error) == (None, None, None)
        assert len(found.left_out) == 2
    assert all("say nothing" in sentence and "sex = 0, sex = 1" in sentence for sentence in groups.sentences())


def test_where_nobody_is_predicted_positive_there_is_no_estimate():
    counts = TRUE.copy()
    counts[:, :, 1] = 0
    found = of(counts).ratio("disparate_impact")
    assert found.estimate is None
    assert found.says_nothing


def test_a_receipt_keeps_the_counts_and_says_what_follows():
    groups = of(TRUE, noise=LAPLACE, scale=3.0)
    document = json.loads(json.dumps(groups.to_json(), allow_nan=False))
    again = NoisyGroups.from_json(document)
    assert np.array_equal(again.counts, TRUE)
    assert again.to_json() == groups.to_json()
    assert again.deviation == 3.0 * math.sqrt(2)
    sentences = measure_sentences(document)
    assert sentences == groups.sentences()
    first = groups.ratio("disparate_impact")
    assert f"{first.estimate:.3f} on the real rows, standard error {first.standard_error:.3f}" in sentences[0]
    assert "smallest for sex = 0, largest for sex = 1" in sentences[0]
    assert len(sentences) == 3


@pytest.mark.parametrize(
    "change",
    [{"told": [[1, 2], [3, 4]]}, {"told": "many"}, {"scale": 0.0}, {"groups": ["one"]}, {"told": TRUE.tolist()[:1]}],
)
def test_counts_of_another_shape_are_refused(change: dict):
    with pytest.raises(ValueError, match="counts of predictions on the receipt"):
        measure_sentences(of(TRUE).to_json() | change)


def test_unknown_measures_and_levels_are_refused():
    with pytest.raises(ValueError, match="must be one of disparate_impact"):
        of(TRUE).ratio("charm")
    for level in (0.5, 1.0, math.nan):
        with pytest.raises(ValueError, match="must be at least"):
            of(TRUE).ratio("disparate_impact", level=level)
