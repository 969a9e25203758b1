"""Random shares of a column's values: skewed as those of real tables, and none for impossible values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.planning.public_table import World
from counterfoil.planning.random_shares import chosen_ones, random_shares
from counterfoil.planning.two_worlds import SKEWS
from counterfoil.schema import Schema

SCHEMA = Schema.from_toml(
    """
[columns.visits]
kind = "integer"
lower = 0
upper = 20

[columns.cost]
kind = "real"
lower = 0
upper = 100
bins = 10
missing = true

[columns.age]
kind = "integer"
lower = 18
upper = 90

[columns.sick]
kind = "integer"
lower = 0
upper = 1

[columns.ward]
kind = "categorical"
values = ["a", "b", "c"]

[[zeros]]
columns = ["ward"]
values = [["b"]]
"""
)


@pytest.mark.parametrize("world", [World.WEAK, World.STRONG])
def test_shares_sum_to_one_without_what_is_impossible(world: World) -> None:
    for seed in range(20):
        shares = random_shares(SCHEMA, np.random.default_rng(seed), SKEWS[world])
        assert {name: len(own) for name, own in shares.items()} == {c.name: c.size for c in SCHEMA.synthesized}
        for own in shares.values():
            assert own.min() >= 0
            assert own.sum() == pytest.approx(1.0)
        assert shares["ward"][1] == 0


def test_counts_mostly_fall_from_zero_and_ages_do_not() -> None:
    """Of 100 laws, most have more than half of the records at 0 visits, as nine in ten columns fall."""
    laws = [random_shares(SCHEMA, np.random.default_rng(seed), SKEWS[World.WEAK]) for seed in range(100)]
    assert sum(law["visits"].argmax() == 0 and law["visits"][0] > 0.5 for law in laws) > 60
    assert sum(law["cost"].argmax() == 0 for law in laws) > 60
    assert sum(law["age"].argmax() == 0 for law in laws) < 20


def test_amounts_fall_over_their_whole_range_in_the_second_world_alone() -> None:
    """The last of 21 counts beside the first, where all columns fall and none is rough.

    The least is (1 + 20 / 21**.7)**-2 = .087 where the range is filled; the most is 21**-2 where it is not.
    """
    for seed in range(50):
        for world in (World.WEAK, World.STRONG):
            smooth = replace(SKEWS[world], falling=1.0, rough=0.0)
            own = random_shares(SCHEMA, np.random.default_rng(seed), smooth)["visits"]
            assert (np.diff(own) < 0).all()
            assert own[-1] > 0.087 * own[0] if world is World.STRONG else own[-1] <= 21**-2 * own[0] * (1 + 1e-9)


@pytest.mark.parametrize(("world", "most"), [(World.WEAK, 0.6), (World.STRONG, 0.81)])
def test_what_models_predict_has_no_spike(world: World, most: float) -> None:
    """At a power of .5 the larger of two has 1 / (1 + 2**-.5) = .59 of the records, at 2 it has .8."""
    for seed in range(50):
        own = random_shares(SCHEMA, np.random.default_rng(seed), SKEWS[world], target="sick")["sick"]
        assert own.max() < most


def test_columns_are_more_even_in_the_second_world() -> None:
    """The number of values that a column has in effect, the square of the sum of roots of its shares, of its size."""

    def effective(world: World) -> float:
        laws = [random_shares(SCHEMA, np.random.default_rng(seed), SKEWS[world]) for seed in range(50)]
        return float(np.mean([np.log(np.sqrt(p).sum() ** 2) / np.log(len(p)) for law in laws for p in law.values()]))

    assert effective(World.STRONG) > effective(World.WEAK) + 0.1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_as_many_are_chosen_as_chances_say(chances: list[float], seed: int) -> None:
    chosen = chosen_ones(np.array(chances), np.random.default_rng(seed))
    assert abs(chosen.sum() - sum(chances)) <= 1 + 1e-9
    assert not chosen[np.array(chances) == 0].any()


def test_each_is_chosen_by_its_chance() -> None:
    """By Hoeffding for three of 4,000 draws: a false alarm with probability below 1e-6."""
    rng, chances = np.random.default_rng(3), np.array([0.9, 0.3, 0.1])
    found = np.mean([chosen_ones(chances, rng) for _ in range(4000)], axis=0)
    assert np.abs(found - chances).max() < 0.045
