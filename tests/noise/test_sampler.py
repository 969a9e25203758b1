"""The table sampler against high-precision arithmetic, entry by entry; its draws against the table."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from counterfoil.accounting.budget import DELTA_SLACK, Budget
from counterfoil.noise import randomness
from counterfoil.noise.sampler import (
    FINER,
    LARGEST_RADIUS,
    MOST_DRAWS,
    USUAL,
    Precision,
    TableSampler,
    gaussian_sampler,
    laplace_sampler,
    precision_for,
)

UNIT = 2**256


def gaussian_weight(scale: float):
    return lambda x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(scale) ** 2))


def laplace_weight(scale: float):
    return lambda x: mpmath.exp(-mpmath.mpf(abs(x)) / mpmath.mpf(scale))


def total_variation(sampler: TableSampler, weight) -> mpmath.mpf:
    """Between the law of a draw, read off the table, and the exact one, mass outside the table included."""
    unit = 2**sampler._bits
    table = [0, *sampler._cumulative, unit]
    radius = (len(table) - 2) // 2
    reach = 2 * radius + 20
    half = [weight(x) for x in range(reach + 1)]  # both laws are symmetric
    weights = {x: half[abs(x)] for x in range(-reach, reach + 1)}
    norm = mpmath.fsum(weights.values())
    drawn = {x: mpmath.mpf(table[x + radius + 1] - table[x + radius]) / unit for x in range(-radius, radius + 1)}
    return mpmath.fsum(abs(w / norm - drawn.get(x, 0)) for x, w in weights.items()) / 2


@pytest.mark.parametrize("precision", [USUAL, FINER])
def test_tables_end_as_far_out_as_is_proved(precision: Precision):
    assert precision.bits % 64 == 0
    with mpmath.workdps(50):
        beyond = (precision.bits - 55) * mpmath.log(2)
        assert mpmath.mpf(precision.deviations) ** 2 / 2 > beyond
        assert precision.scales > beyond
        # The products of ratios are off by a few units of their last digit for each two of up to 2**17 factors.
        off = 4 * LARGEST_RADIUS**2 * mpmath.mpf(10) ** (1 - precision.digits)
        assert off < mpmath.mpf(2) ** -(precision.bits + 10)
        assert precision.log_distance == pytest.approx(float(-(precision.bits - 57) * mpmath.log(2)))


@pytest.mark.parametrize("precision", [USUAL, FINER])
@pytest.mark.parametrize(
    ("sampler", "weight", "scale"),
    [
        *[(gaussian_sampler, gaussian_weight, scale) for scale in (0.5, 1.5, 2.123456789, 3.0, 50.0)],
        *[(laplace_sampler, laplace_weight, scale) for scale in (0.5, 1.5, 2.123456789, 3.0, 12.0)],
    ],
)
def test_the_table_is_as_close_as_is_proved(sampler, weight, scale, precision):
    with mpmath.workdps(precision.digits + 10):
        made = sampler(scale, precision)
        assert total_variation(made, weight(scale)) <= mpmath.mpf(2) ** -(precision.bits - 57)
        assert made._cumulative == sorted(made._cumulative)


@pytest.mark.parametrize(("sampler", "largest"), [(gaussian_sampler, 7800.0), (laplace_sampler, 930.0)])
def test_laws_too_wide_for_a_table_are_left_to_others(sampler, largest):
    made = sampler(largest)
    assert made is not None
    assert len(made._cumulative) <= 2 * LARGEST_RADIUS
    assert sampler(largest * 1.02) is None


def inverse(cumulative: list[int], uniform: int) -> int:
    """The definition: how many entries a uniform number has reached."""
    return sum(value <= uniform for value in cumulative[:-1]) - len(cumulative) // 2


def words_of(uniforms: list[int]):
    """First the first words of all, then the rest of each that asks for it, in order."""
    queue = [[number >> 192 for number in uniforms]]
    tied = list(uniforms)

    def words(size: int) -> np.ndarray:
        if queue:
            return np.array(queue.pop(), dtype=np.uint64)
        number = tied.pop(0)
        return np.array([(number >> shift) % 2**64 for shift in (128, 64, 0)][:size], dtype=np.uint64)

    return words


def test_numbers_next_to_every_entry_are_inverted_exactly():
    cumulative = [1, 2, 2**192 + 5, 3 * 2**192, 3 * 2**192 + 1, 2**255, UNIT]
    sampler = TableSampler(cumulative, 256)
    # Each number shares its first word with some entry, so that its other words decide.
    numbers = sorted(
        {max(value + step, 0) for value in cumulative[:-1] for step in (-1, 0, 1) if value + step < 2**255 + 2}
    )
    firsts = {value >> 192 for value in cumulative[:-1]}
    numbers = [number for number in numbers if number >> 192 in firsts]
    drawn = sampler.draw(len(numbers), words_of(numbers))
    assert drawn.tolist() == [inverse(cumulative, number) for number in numbers]
    assert len(set(drawn.tolist())) == len(cumulative)


@pytest.mark.parametrize("precision", [USUAL, FINER])
def test_ordinary_numbers_are_inverted_exactly(precision: Precision):
    sampler = gaussian_sampler(2.5, precision)
    cumulative = [*sampler._cumulative, 2**precision.bits]
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2**64, 500, dtype=np.uint64)
    drawn = sampler.draw(500, lambda size: first)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == [inverse(cumulative, int(word) << (precision.bits - 64)) for word in first]


@pytest.mark.parametrize(
    ("epsilon", "delta", "precision"),
    [
        *[(epsilon, delta, USUAL) for epsilon in (1e-6, 1.0, 10.0) for delta in (0.5, 1e-6, 1e-9, 1e-15)],
        (18.0, 1e-9, USUAL),
        (6.0, 1e-29, USUAL),
        (19.0, 1e-9, FINER),
        (100.0, 1e-12, FINER),
        (1.0, 1e-70, FINER),
        (110.0, 1e-12, None),
        (1e-9, 1e-290, None),
        (1e9, 0.5, None),
        (1.0, 0.0, None),
    ],
)
def test_tables_are_used_where_the_budget_pays_for_them(epsilon, delta, precision):
    """At four times the epsilon, which a receipt may state for the other relation."""
    assert precision_for(Budget(epsilon, delta)) is precision

    def lost(one: Precision) -> mpmath.mpf:
        return (1 + mpmath.exp(4 * mpmath.mpf(epsilon))) * MOST_DRAWS * mpmath.mpf(2) ** -(one.bits - 57)

    held_back = mpmath.mpf(delta) * DELTA_SLACK / 2
    assert precision is None or lost(precision) <= held_back
    assert precision is USUAL or lost(USUAL) > held_back


@pytest.mark.parametrize("scale", [9.0, 3000.0])
def test_without_tables_all_noise_is_exact(monkeypatch, scale):
    def refuse(*_: object) -> None:
        raise AssertionError("a table was asked for")

    monkeypatch.setattr(randomness, "gaussian_sampler", refuse)
    monkeypatch.setattr(randomness, "wide_gaussian_sampler", refuse)
    assert randomness.SystemRandomness(tables=None).discrete_gaussian(scale, 3000).shape == (3000,)
    with pytest.raises(AssertionError, match="a table"):
        randomness.SystemRandomness().discrete_gaussian(scale, 3000)
