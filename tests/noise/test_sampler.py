"""The table sampler against high-precision arithmetic, entry by entry; its draws against the table."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from counterfoil.accounting.budget import DELTA_SLACK, Budget
from counterfoil.noise import randomness
from counterfoil.noise.sampler import (
    LARGEST_RADIUS,
    MOST_DRAWS,
    TableSampler,
    gaussian_sampler,
    laplace_sampler,
    pays_for_tables,
)

UNIT = 2**256


def gaussian_weight(scale: float):
    return lambda x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(scale) ** 2))


def laplace_weight(scale: float):
    return lambda x: mpmath.exp(-mpmath.mpf(abs(x)) / mpmath.mpf(scale))


def total_variation(sampler: TableSampler, weight) -> mpmath.mpf:
    """Between the law of a draw, read off the table, and the exact one, mass outside the table included."""
    table = [0, *sampler._cumulative, UNIT]
    radius = (len(table) - 2) // 2
    reach = 2 * radius + 20
    weights = {x: weight(x) for x in range(-reach, reach + 1)}
    norm = mpmath.fsum(weights.values())
    drawn = {x: mpmath.mpf(table[x + radius + 1] - table[x + radius]) / UNIT for x in range(-radius, radius + 1)}
    return mpmath.fsum(abs(w / norm - drawn.get(x, 0)) for x, w in weights.items()) / 2


@pytest.mark.parametrize("scale", [0.5, 1.5, 2.123456789, 3.0, 50.0])
@pytest.mark.parametrize(
    ("sampler", "weight"), [(gaussian_sampler, gaussian_weight), (laplace_sampler, laplace_weight)]
)
def test_the_table_is_as_close_as_is_proved(sampler, weight, scale):
    with mpmath.workdps(110):
        made = sampler(scale)
        assert total_variation(made, weight(scale)) <= mpmath.mpf(2) ** -199
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
    sampler = TableSampler(cumulative)
    # Each number shares its first word with some entry, so that its other words decide.
    numbers = sorted(
        {max(value + step, 0) for value in cumulative[:-1] for step in (-1, 0, 1) if value + step < 2**255 + 2}
    )
    firsts = {value >> 192 for value in cumulative[:-1]}
    numbers = [number for number in numbers if number >> 192 in firsts]
    drawn = sampler.draw(len(numbers), words_of(numbers))
    assert drawn.tolist() == [inverse(cumulative, number) for number in numbers]
    assert len(set(drawn.tolist())) == len(cumulative)


def test_ordinary_numbers_are_inverted_exactly():
    sampler = gaussian_sampler(2.5)
    cumulative = [*sampler._cumulative, UNIT]
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2**64, 500, dtype=np.uint64)
    drawn = sampler.draw(500, lambda size: first)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == [inverse(cumulative, int(word) << 192) for word in first]


@pytest.mark.parametrize(
    ("epsilon", "delta", "pays"),
    [
        *[(epsilon, delta, True) for epsilon in (1e-6, 1.0, 10.0) for delta in (0.5, 1e-6, 1e-9, 1e-15)],
        (18.0, 1e-9, True),
        (6.0, 1e-29, True),
        (19.0, 1e-9, False),
        (1.0, 1e-70, False),
        (1e-9, 1e-290, False),
        (1e9, 0.5, False),
        (1.0, 0.0, False),
    ],
)
def test_tables_are_used_where_the_budget_pays_for_them(epsilon, delta, pays):
    """At four times the epsilon, which a receipt may state for the other relation."""
    assert pays_for_tables(Budget(epsilon, delta)) is pays
    if pays:
        lost = (1 + mpmath.exp(4 * mpmath.mpf(epsilon))) * MOST_DRAWS * mpmath.mpf(2) ** -199
        assert lost <= mpmath.mpf(delta) * DELTA_SLACK / 2


@pytest.mark.parametrize("scale", [9.0, 3000.0])
def test_without_tables_all_noise_is_exact(monkeypatch, scale):
    def refuse(_: float) -> None:
        raise AssertionError("a table was asked for")

    monkeypatch.setattr(randomness, "gaussian_sampler", refuse)
    monkeypatch.setattr(randomness, "wide_gaussian_sampler", refuse)
    assert randomness.SystemRandomness(tables=False).discrete_gaussian(scale, 3000).shape == (3000,)
    with pytest.raises(AssertionError, match="a table"):
        randomness.SystemRandomness().discrete_gaussian(scale, 3000)
