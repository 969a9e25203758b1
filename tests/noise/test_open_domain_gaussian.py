"""Gaussian noise on cells that may not be listed: what one unit alone has is told as rarely as charged, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from counterfoil.accounting.event import ApproximateGaussianEvent
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.known import noise_from_json
from counterfoil.noise.open_domain_gaussian import PARTS, OpenDomainGaussianNoise, parts_of_a_cell
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise


def survival(parts: int, scale: float, threshold: int) -> float:
    """P(parts + Z >= threshold), summed over the whole law of the discrete Gaussian."""
    reach = math.ceil(40 * scale)
    odds = np.exp(-0.5 * (np.arange(-reach, reach + 1) / scale) ** 2)
    return float(odds[max(threshold - parts + reach, 0) :].sum() / odds.sum())


def worst_of_a_row(columns: int, scale: float, threshold: int, kept: float = 1.0) -> float:
    """The exact probability that any new text of a row is told, at worst over how many of its texts are new."""
    return max(
        1 - (1 - survival(round(parts_of_a_cell(k, columns) * kept), scale, threshold)) ** k
        for k in range(1, columns + 1)
    )


@pytest.mark.parametrize("columns", [1, 2, 7, 40])
@pytest.mark.parametrize(("multiplier", "delta"), [(0.8, 1e-2), (3.0, 1e-3), (12.0, 1e-6), (80.0, 1e-10)])
def test_what_a_row_alone_has_is_told_no_more_often_than_charged_and_nearly_as_often(columns, multiplier, delta):
    noise, sensitivity = OpenDomainGaussianNoise(multiplier, delta), PARTS * math.sqrt(columns)
    scale, threshold = noise.scale(sensitivity), noise.threshold(sensitivity)
    told = worst_of_a_row(columns, scale, threshold)
    assert told <= delta
    if multiplier >= 3:
        assert worst_of_a_row(columns, scale, math.floor(threshold * 0.99)) > delta, "lower by a hundredth, too often"


@pytest.mark.parametrize("rows", [2, 3])
def test_units_of_several_rows_are_counted_with_all_of_them(rows):
    """All rows of a unit hold one new text, or each another one."""
    noise, sensitivity = OpenDomainGaussianNoise(3.0, 1e-4), PARTS * math.sqrt(2) * rows
    scale, threshold = noise.scale(sensitivity), noise.threshold(sensitivity)
    alone = parts_of_a_cell(1, 2)
    assert survival(alone * rows, scale, threshold) <= 1e-4
    assert 1 - (1 - survival(alone, scale, threshold)) ** rows <= 1e-4
    assert 1 - (1 - survival(PARTS * rows, scale, threshold)) ** 2 <= 1e-4
    of_one_row = OpenDomainGaussianNoise(3.0, 1e-4).threshold(PARTS * math.sqrt(2))
    assert survival(alone * rows, noise.scale(sensitivity), of_one_row) > 1e-4, "a twin with the threshold of one row"


def test_the_threshold_is_lower_than_without_the_least_part():
    """Where parts might come one by one, a unit could bring 90,000 of them to as many texts."""
    sensitivity = 3.0 * PARTS
    ours = OpenDomainGaussianNoise(60.0, 1e-10).threshold(sensitivity)
    general = ThresholdedGaussianNoise(60.0, 1e-10).threshold(sensitivity)
    scale = ThresholdedGaussianNoise(60.0, 1e-10).scale(sensitivity)
    assert ours == pytest.approx(scale * norm.isf(1e-10 / 9) + PARTS, rel=1e-3)
    assert ours < 0.9 * general


def test_listed_cells_have_the_noise_of_a_gaussian_mechanism():
    noise, exact = OpenDomainGaussianNoise(5.0, 1e-6), np.array([[0, 3], [-2, 10**6]])
    plain = GaussianNoise(5.0).add(exact, 2.0, SeededRandomness(1))
    assert (noise.add(exact, 2.0, SeededRandomness(1)) == plain).all(), "cells that nobody is in have noise, too"
    assert noise.scale(2.0) == GaussianNoise(5.0).scale(2.0)
    assert noise.event() == ApproximateGaussianEvent(5.0, 1e-6)
    assert noise_from_json(noise.to_json()) == noise


def test_of_unlisted_cells_only_positive_ones_exist_and_rare_ones_become_zero():
    noise = OpenDomainGaussianNoise(3.0, 1e-6)
    exact = np.array([0, 0, 100, 5000, 40_000] * 200).reshape(5, -1)
    answer = noise.add_to_unlisted(exact, PARTS, SeededRandomness(2))
    assert answer.shape == exact.shape
    assert answer.dtype == np.int64
    assert not answer[exact == 0].any()
    assert not answer[exact == 100].any()
    assert answer[answer > 0].min() >= noise.threshold(PARTS)
    assert np.abs(answer[exact == 40_000] - 40_000).max() < 6 * noise.scale(PARTS)


def test_counts_of_cells_have_no_threshold_for_parts():
    """With a sensitivity below `PARTS` a new text could bring less than is taken for granted."""
    noise = OpenDomainGaussianNoise(3.0, 1e-6)
    with pytest.raises(ValueError, match="change by at least 100 for a record"):
        noise.threshold(3.0)
    with pytest.raises(ValueError, match="change by at least 100 for a record"):
        noise.add_to_unlisted(np.array([5]), 3.0, SeededRandomness(3))


def test_under_the_other_relation_the_delta_follows_the_threshold():
    noise = OpenDomainGaussianNoise(10.0, 1e-6)
    here, there = PARTS * math.sqrt(7), PARTS * math.sqrt(14)
    other = noise.event_under(here, there)
    assert other.noise_multiplier == pytest.approx(10.0 / math.sqrt(2))
    exact = 1 - (1 - survival(PARTS, noise.scale(here), noise.threshold(here))) ** 14
    assert exact <= other.delta <= 2.2e-6
    assert noise.event_under(there, here).delta <= noise.delta
    assert noise.event_under(2.0, 2.0 * math.sqrt(2)).delta == noise.delta, "of listed cells nothing is told rarely"
    assert noise.event_within(1.0) == noise.event()
    assert noise.event_within(1.5).delta > 0.999, "nothing is promised of sums beyond the threshold's margin"
