"""The noise of training runs: what it charges, and that its law is that of one answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from counterfoil.accounting.event import SubsampledGaussianEvent
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.known import noise_from_json, noise_of, require_known
from counterfoil.noise.noise import LARGEST_ANSWER, CountNoise
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise
from statistics_tools import chi_square_p_value

NOISE = SubsampledGaussianNoise(1.5, 0.25, 40)


def test_its_event_says_what_it_is_added_to():
    assert NOISE.event() == SubsampledGaussianEvent(1.5, 0.25, 40)
    assert NOISE.event_under(2.0, 6.0) == SubsampledGaussianEvent(0.5, 0.25, 40)
    assert NOISE.event_within(2.0) == SubsampledGaussianEvent(0.75, 0.25, 40)


def test_its_scale_is_that_of_one_answer_with_gaussian_noise():
    for sensitivity in (1.0, 3e6):
        assert NOISE.scale(sensitivity) == GaussianNoise(1.5).scale(sensitivity)
        assert NOISE.scale(sensitivity) > 1.5 * sensitivity


def test_it_is_no_noise_for_counts():
    """An answer that reads all records has no batch to hide in."""
    assert not isinstance(NOISE, CountNoise)
    with pytest.raises(ValueError, match="Noise on counts"):
        noise_of(NOISE.event())


def test_it_goes_through_json():
    assert noise_from_json(NOISE.to_json()) == NOISE
    require_known(NOISE)
    for wrong in ({"steps": 1.5}, {"steps": 0}, {"sampling_probability": 1.1}, {"noise_multiplier": 0.0}):
        with pytest.raises(ValueError, match="must be"):
            noise_from_json(NOISE.to_json() | wrong)
    with pytest.raises(ValueError, match="wrong parameters"):
        noise_from_json({"kind": NOISE.kind, "noise_multiplier": 1.0})


@pytest.mark.parametrize("sensitivity", [40.0, 2.0e6])
def test_noise_has_its_law_around_the_answer(sensitivity):
    """From a seed; for a fresh one the false-alarm probability would be 1e-7."""
    exact = np.full(100_000, -(10**9))
    noisy = NOISE.add(exact, sensitivity, SeededRandomness(4))
    scale = NOISE.scale(sensitivity)
    ends = np.concatenate([[-1e18], np.round(np.linspace(-3.5, 3.5, 36) * scale), [1e18]])
    counts = np.histogram(noisy - exact, ends)[0]
    # In cells 12 numbers wide and more the discrete law differs from the integral by less than 1e-4 of a cell.
    assert chi_square_p_value(counts, np.diff(ndtr((ends - 0.5) / scale))) > 1e-7


def test_answers_at_the_ends_do_not_wrap_around():
    exact = np.array([LARGEST_ANSWER, -LARGEST_ANSWER, 2**63 - 1, -(2**63)])
    noisy = NOISE.add(exact, 1e6, SeededRandomness(1))
    assert (np.sign(noisy) == np.sign(exact)).all()
    assert np.abs(noisy).max() <= LARGEST_ANSWER
    assert math.isclose(float(np.abs(noisy).min()), LARGEST_ANSWER, rel_tol=1e-9)
