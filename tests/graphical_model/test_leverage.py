"""Evidence by leverage: what moves the mean far needs more of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from counterfoil.graphical_model.leverage import demanding, with_densest
from counterfoil.graphical_model.runs import Runs

CENTERS = 10.0 ** np.linspace(1, 6, 26)


def runs_with(counts: dict[int, float], threshold: float = 4.0) -> Runs:
    totals = np.zeros(26)
    for place, count in counts.items():
        totals[place] = count
    return Runs(np.arange(26), totals, np.ones(26), threshold)


BODY = {8: 30.0, 9: 60.0, 10: 80.0, 11: 60.0, 12: 30.0}


@pytest.mark.parametrize(("place", "count", "kept"), [(25, 4.5, False), (25, 7.0, True), (13, 4.5, True)])
def test_far_out_more_deviations_are_needed(place: int, count: float, kept: bool):
    found = demanding(runs_with(BODY | {place: count}), CENTERS)
    assert found.stands_out[place] == kept
    assert found.stands_out[8:13].all()


def test_the_threshold_is_that_of_the_shared_chance():
    totals = np.array(list(BODY.values()))
    distance = np.abs(CENTERS[8:13] - CENTERS[10])
    leverage = (CENTERS[20] - CENTERS[10]) / (totals @ distance / totals.sum())
    needed = math.sqrt(16 + 2 * math.log(leverage))
    for count, kept in ((needed - 1e-6, False), (needed + 1e-6, True)):
        assert demanding(runs_with(BODY | {20: count}), CENTERS).stands_out[20] == kept
    chance = 0.5 * math.erfc(needed / math.sqrt(2))
    assert chance <= math.exp(-16 / 2) / (2 * leverage), "the guarantee: chance times leverage is bounded"


def test_with_laplace_noise_the_shared_chance_needs_more_deviations():
    totals = np.array(list(BODY.values()))
    distance = np.abs(CENTERS[8:13] - CENTERS[10])
    leverage = (CENTERS[20] - CENTERS[10]) / (totals @ distance / totals.sum())
    needed = 4.0 + math.log(leverage) / math.sqrt(2)
    for count, kept in ((needed - 1e-6, False), (needed + 1e-6, True)):
        runs = replace(runs_with(BODY | {20: count}), laplace=True)
        assert demanding(runs, CENTERS).stands_out[20] == kept
    chance = [0.5 * math.exp(-math.sqrt(2) * d) for d in (needed, 4.0)]
    assert chance[0] * leverage == pytest.approx(chance[1])


def test_a_tail_whose_parts_stand_out_only_together_is_kept():
    tail = {15: 4.5, 16: 3.9, 17: 3.9, 18: 3.9}
    assert demanding(runs_with(BODY | tail), CENTERS).stands_out[15]
    assert not demanding(runs_with(BODY | {18: 4.5}), CENTERS).stands_out[18]


def test_the_densest_part_is_what_brute_force_finds():
    rng = np.random.default_rng(7)
    for _ in range(30):
        totals, noise = rng.normal(0, 1, 12), rng.uniform(0.5, 2, 12)
        centers = np.arange(12) + 100.0  # so that leverage says next to nothing
        scores = {
            (i, j): totals[i:j].sum() / math.sqrt((noise[i:j] ** 2).sum()) for i in range(12) for j in range(i + 1, 13)
        }
        start, stop = max(scores, key=lambda one: scores[one])
        found = with_densest(Runs(np.arange(12), totals, noise, 9.0), centers)
        inside = np.flatnonzero(found.stands_out[found.of_cell])
        typical = np.median(centers)
        penalized = {
            one: score**2 - 2 * math.log(max(centers[slice(*one)].mean() / typical, 1.0))
            for one, score in scores.items()
            if score > 0
        }
        start, stop = max(penalized, key=lambda one: penalized[one])
        assert inside.tolist() == list(range(start, stop))
        assert found.totals.sum() == pytest.approx(totals.sum())


def test_of_two_equally_dense_parts_the_nearer_one_is_taken():
    found = with_densest(runs_with({9: 3.0, 25: 3.1}), CENTERS)
    assert np.flatnonzero(found.stands_out[found.of_cell]).tolist() == [9]


def test_nothing_but_negative_counts_stays_as_it_is():
    runs = runs_with(dict.fromkeys(range(26), -1.0))
    assert not with_densest(runs, CENTERS).stands_out.any()
