"""Wide discrete Gaussians made of narrow ones, against the exact law of one.

False alarms: all draws come from seeds, so that every outcome is the same each time. For fresh seeds each test would
fail by chance with probability 1e-7, and there are fewer than ten.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2

from counterfoil.noise.randomness import _WIDE_FROM, SeededRandomness, SystemRandomness
from counterfoil.noise.wide_gaussian import _LEAST, _MOST_LEVELS, WideGaussian, wide_gaussian_sampler
from statistics_tools import chi_square_p_value

FALSE_ALARM = 1e-7
DRAWS = 200_000
SCALES = [2058.0, 6150.3, 131_071.9, 131_073.0, 131_646.0, 131_647.0, 3.3e6, 1.5e7]


def drawn(scale: float, size: int = DRAWS, seed: int = 20261122) -> np.ndarray:
    sampler = wide_gaussian_sampler(scale)
    assert sampler is not None
    draws = sampler.draw(size, SeededRandomness(seed).words)
    assert draws.dtype == np.int64
    assert draws.shape == (size,)
    return draws


def cell_probabilities(scale: float, ends: np.ndarray) -> np.ndarray:
    """Of integers z with ends[i] <= z < ends[i + 1].

    The discrete law is a density's value at each integer, up to exp(-2 pi**2 scale**2) in its constant; a sum over
    integers from a to b - 1 is the integral from a - 1/2 to b - 1/2 up to the second derivative: 1e-8 at this scale.
    """
    return np.diff(ndtr((ends - 0.5) / scale))


@pytest.mark.parametrize("scale", SCALES)
def test_draws_have_the_exact_law_in_cells(scale):
    draws = drawn(scale)
    ends = np.concatenate([[-np.inf], np.round(np.linspace(-4, 4, 201) * scale), [np.inf]])
    counts = np.histogram(draws, np.clip(ends, -1e18, 1e18))[0]
    assert chi_square_p_value(counts, cell_probabilities(scale, ends)) > FALSE_ALARM


def test_draws_of_a_narrow_one_have_the_exact_law_number_by_number():
    """Scale 2058, around 0: each of 129 integers, and the rest."""
    scale, reach = 2058.0, 64
    draws = drawn(scale, 1_000_000, seed=3)
    x = np.arange(-reach, reach + 1)
    exact = np.exp(-(x**2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))
    near = draws[np.abs(draws) <= reach]
    counts = np.append(np.bincount(near + reach, minlength=2 * reach + 1), len(draws) - len(near))
    assert chi_square_p_value(counts, np.append(exact, 1 - exact.sum())) > FALSE_ALARM


@pytest.mark.parametrize("scale", SCALES)
def test_the_second_moment_is_the_square_of_the_scale(scale):
    """The sum of squares over scale**2 is chi-square distributed but for the lattice, 1e-7 of a deviation."""
    total = float(((drawn(scale, seed=5) / scale) ** 2).sum())
    tail = min(chi2.cdf(total, DRAWS), chi2.sf(total, DRAWS))
    assert 2 * tail > FALSE_ALARM


@pytest.mark.parametrize("modulus", [2, 3, 64, 64 * 3])
@pytest.mark.parametrize("scale", [2058.0, 131_647.0])
def test_no_lattice_shows(scale, modulus):
    """Residues are uniform up to exp(-2 pi**2 (scale / modulus)**2), which is 2**-3000 for the widest lattice here."""
    residues = np.bincount(drawn(scale, seed=7) % modulus, minlength=modulus)
    assert chi_square_p_value(residues, np.full(modulus, 1 / modulus)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [2058.0, 131_647.0])
def test_a_lattice_would_be_seen(scale):
    """The power of the test above: without its finest level a draw is a multiple of 64."""
    whole = wide_gaussian_sampler(scale)
    coarse = 64 * WideGaussian(whole.levels[1:]).draw(DRAWS, SeededRandomness(7).words)
    assert chi_square_p_value(np.bincount(coarse % 64, minlength=64), np.full(64, 1 / 64)) < FALSE_ALARM


@pytest.mark.parametrize("scale", SCALES)
def test_parts_of_a_draw_are_not_correlated_with_its_size(scale):
    """The residue modulo 64 tells nothing of which half of the law a draw is in."""
    draws = drawn(scale, seed=11)
    table = np.zeros((2, 64), dtype=np.int64)
    np.add.at(table, ((draws >= 0).astype(int), draws % 64), 1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(draws)
    assert chi2.sf(((table - expected) ** 2 / expected).sum(), 63) > FALSE_ALARM


# How levels are chosen


def scale_of(sampler: WideGaussian) -> mpmath.mpf:
    """The scale of the sum, from the table of each level: its variance, in exact arithmetic."""
    total = mpmath.mpf(0)
    for place, level in enumerate(sampler.levels):
        table = [0, *level._cumulative, 2**256]
        radius = level._radius
        squares = (((x - radius) ** 2) * (table[x + 1] - table[x]) for x in range(len(table) - 1))
        total += mpmath.mpf(sum(squares)) / 2**256 * mpmath.mpf(64) ** (2 * place)
    return mpmath.sqrt(total)


@pytest.mark.parametrize("scale", [2058.0, 6150.3, 131_646.0, 3.3e6, 2.0**40 / 3])
def test_the_scale_is_never_smaller_and_hardly_larger(scale):
    with mpmath.workdps(60):
        found = scale_of(wide_gaussian_sampler(scale))
        assert 1 <= found / mpmath.mpf(scale) <= 1 + mpmath.mpf(2) ** -46


def test_narrow_ones_are_left_to_others():
    for scale in (0.5, 100.0, 2000.0, 2056.9):
        assert wide_gaussian_sampler(scale) is None
    for scale in (2.0**54, 2.0**60, 1e300, math.inf):
        assert wide_gaussian_sampler(scale) is None


def test_no_scale_between_the_narrowest_and_the_widest_is_left_out():
    """Where one level more begins, no gap is left: around 2048 * 64**k above all."""
    edges = [2048.0 * 64**k * factor for k in (1, 2, 3, 6) for factor in (0.999, 1.0001, 1.002, 1.0043, 1.005)]
    for scale in [*np.geomspace(2057.5, 2.0**52, 12).tolist(), *edges]:
        sampler = wide_gaussian_sampler(float(scale))
        assert sampler is not None, scale
        assert 2 <= len(sampler.levels) <= _MOST_LEVELS
        # s >= 32, on which the proof rests; the deviation of the last level, from its radius.
        assert sampler.levels[-1]._radius >= math.ceil(16.7 * _LEAST)


def test_what_the_proof_sums_is_as_close_as_it_says():
    """The sum over a lattice of a Gaussian of deviation w, wherever its center is: 1 +- h of its integral."""
    with mpmath.workdps(120):
        w = 3 * mpmath.mpf(32) / mpmath.sqrt(9 + 32**2)
        h = mpmath.mpf("2.1") * mpmath.exp(-2 * mpmath.pi**2 * w**2)
        assert h < mpmath.mpf(2) ** -250
        for center in (0, mpmath.mpf(1) / 3, mpmath.mpf(1) / 2):
            whole = mpmath.fsum(mpmath.exp(-((y - center) ** 2) / (2 * w**2)) for y in range(-120, 121))
            assert abs(whole / (w * mpmath.sqrt(2 * mpmath.pi)) - 1) <= h


def test_a_sum_of_two_levels_is_a_discrete_gaussian():
    """Number by number in high precision, with the smallest deviations that the proof admits: r = 3 B, s = 32 (B = 2).

    A base of 2 stands for 64, so that all terms can be added up; nothing in the proof depends on it.
    """
    base, r, s = 2, mpmath.mpf(6), mpmath.mpf(32)
    with mpmath.workdps(120):
        t = mpmath.sqrt(r**2 + (base * s) ** 2)
        w = r * s / t
        h = mpmath.mpf("2.1") * mpmath.exp(-2 * mpmath.pi**2 * w**2)

        def part(z: int) -> mpmath.mpf:
            terms = range(z // base - 80, z // base + 81)
            return mpmath.fsum(
                mpmath.exp(-((z - base * y) ** 2) / (2 * r**2) - y**2 / (2 * s**2)) for y in terms
            ) * mpmath.exp(z**2 / (2 * t**2))

        parts = [part(z) for z in range(-3, 60, 7)]
        assert max(parts) / min(parts) <= (1 + h) / (1 - h)
        assert all(abs(found / (w * mpmath.sqrt(2 * mpmath.pi)) - 1) <= h for found in parts)


# Who draws them


def test_the_system_draws_them_where_many_are_wanted(monkeypatch):
    randomness = SystemRandomness()
    draws = randomness.discrete_gaussian(3.3e6, _WIDE_FROM)
    assert draws.shape == (_WIDE_FROM,)
    # Each of 128 numbers beyond 10 deviations, or a sum of squares of a tenth: less than 1e-20.
    assert np.abs(draws).max() < 10 * 3.3e6
    assert ((draws / 3.3e6) ** 2).mean() > 0.1
