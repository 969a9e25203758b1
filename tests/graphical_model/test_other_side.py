"""Numbers on both sides of 0, of which those on one side stand out nowhere: what their sum says is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

from counterfoil.graphical_model.merging import merge_runs
from counterfoil.graphical_model.other_side import _cut_at_zero
from counterfoil.graphical_model.runs import runs_of
from counterfoil.graphical_model.smoothing import Smoothed, spread

CELLS = 96
EDGES = np.linspace(-7.6, 9.9, CELLS + 1)
"""Of cells on the scale asinh(x / 10), for numbers from -10,000 to 100,000."""
CENTERS = 10 * np.sinh((EDGES[1:] + EDGES[:-1]) / 2)
BELOW = CENTERS < 0
NOISE = 16.0
POSITIVE = 1800.0


def shape(size: float) -> np.ndarray:
    """Shares of the cells above 0, of numbers around `size`."""
    middle = math.asinh(size / 10)
    density = np.exp(-(((EDGES[1:] + EDGES[:-1]) / 2 - middle) ** 2) / 2 / 1.2**2) * ~BELOW
    return np.asarray(density / density.sum())


def exact(negative: float, size: float = 2000.0) -> np.ndarray:
    mirrored = np.interp(-(EDGES[1:] + EDGES[:-1]) / 2, (EDGES[1:] + EDGES[:-1]) / 2, shape(size)) * BELOW
    return POSITIVE * shape(2000.0) + negative * mirrored / mirrored.sum()


def smoothed(negative: float, seed: int, *, noise: float = NOISE, size: float = 2000.0, flip: bool = False) -> Smoothed:
    counts = exact(negative, size)
    noisy = counts + np.random.default_rng(seed).normal(0, noise, CELLS)
    records = {"records": float(counts.sum()), "records_error": noise}
    if flip:
        return spread(runs_of(noisy[::-1], noise), np.ones(CELLS), -CENTERS[::-1], **records)
    return spread(runs_of(noisy, noise), np.ones(CELLS), CENTERS, **records)


@pytest.mark.parametrize(("size", "least"), [(2000.0, 160.0), (200.0, 110.0)])
@pytest.mark.parametrize("flip", [False, True])
def test_a_minority_on_the_other_side_keeps_its_share(flip, size, least):
    """200 of 2,000 are negative, in cells whose noise is 16: none of 20 to 40 cells stands out, nor any run of them.

    Near 0 more of them may as well be the tail of what lies above.
    """
    kept = []
    for seed in range(20):
        made = smoothed(200.0, seed, flip=flip, size=size)
        kept.append(made.counts[BELOW[::-1] if flip else BELOW].sum())
    assert least < np.mean(kept) < 230
    assert min(kept) > 3


def test_where_there_is_none_next_to_none_is_made_up():
    made_up = [smoothed(0.0, seed).counts[BELOW].sum() for seed in range(40)]
    assert np.median(made_up) < 0.005 * POSITIVE
    assert np.mean(made_up) < 0.01 * POSITIVE


def test_what_lies_above_stays_where_it_was():
    """The records beyond 0 are not taken from the body: its noisy counts, which stand out, say what it has."""
    with_some, without = (smoothed(negative, 3) for negative in (200.0, 0.0))
    assert with_some.counts[~BELOW].sum() == pytest.approx(without.counts[~BELOW].sum(), rel=0.03)


def test_they_are_measured_apart_from_numbers_near_zero():
    """Else one count of both would be divided as the first measurement says, and have one relation to other columns."""
    made = smoothed(200.0, 1)
    (side,) = made.other_sides
    assert side.is_likely
    assert side.words == "below"
    codes = merge_runs(made)
    assert not set(codes[BELOW]) & set(codes[~BELOW])
    assert not smoothed(0.0, 1).other_sides[0].is_likely


def test_what_may_be_true_holds_what_is():
    for seed in range(10):
        made = smoothed(200.0, seed)
        (side,) = made.other_sides
        assert side.believed.chances.sum() == pytest.approx(1.0)
        assert side.believed.counts.sum() == pytest.approx(side.believed.chances @ side.believed.cases.sum(1), rel=0.25)
        assert side.most > 150
        for run, believed in made.hidden.items():
            inside = made.runs.of_cell == run
            assert believed.chances.sum() == pytest.approx(1.0)
            assert believed.cases.shape[1] == inside.sum()


def test_more_noise_leaves_more_that_may_be_lost():
    most = [np.mean([smoothed(0.0, seed, noise=n).other_sides[0].most for seed in range(5)]) for n in (8.0, 16.0, 32.0)]
    assert most[0] < most[1] < most[2]
    assert most[1] > math.sqrt(20) * 16.0 / 2  # half a deviation of the sum of 20 cells


def test_numbers_on_one_side_alone_have_no_other_side():
    made = spread(runs_of(exact(0.0)[~BELOW], 16.0), np.ones((~BELOW).sum()), CENTERS[~BELOW])
    assert made.other_sides == ()
    beyond_doubt = smoothed(2000.0, 1)
    assert beyond_doubt.other_sides == ()


@pytest.mark.parametrize("place", [-40.0, -6.0, -0.5, 0.0, 0.7, 5.0, 20.0])
def test_the_cut_normal_distribution_is_that_of_numerical_integration(place):
    reach = max(place, 0.0) + 12.0

    def density(x: float) -> float:
        return math.exp(-((x - place) ** 2) / 2 + place**2 / 2 - max(place, 0.0) ** 2 / 2)

    points = [max(place, 0.0), min(1.0, reach)]
    whole = integrate.quad(density, 0, reach, points=points)[0]
    mean = integrate.quad(lambda x: x * density(x), 0, reach, points=points)[0] / whole
    log, found = _cut_at_zero(np.array([place]))
    assert log[0] == pytest.approx(math.log(whole) + max(place, 0.0) ** 2 / 2, rel=1e-6, abs=1e-6)
    assert found[0] == pytest.approx(mean, rel=1e-6)


def test_the_cut_normal_distribution_is_finite_far_out():
    for place in (-1e12, -1e4, 1e4):
        log, mean = _cut_at_zero(np.array([place]))
        assert np.isfinite(log[0])
        assert mean[0] >= 0
