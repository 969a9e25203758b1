"""Values that a schema lists by precaution: what is believed of their counts, and whom they join."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import expon, norm

from counterfoil import Schema, synthesize
from counterfoil.graphical_model.doubtful_tails import without_doubtful_tails
from counterfoil.graphical_model.precautions import believed, join_hidden
from counterfoil.graphical_model.runs import runs_of
from counterfoil.graphical_model.smoothing import Smoothed, spread


@pytest.mark.parametrize("count", [-4.0, -1.0, 0.0, 0.7, 2.0, 3.0, 6.0, 20.0])
def test_what_is_believed_is_the_mean_of_the_two_beliefs(count: float) -> None:
    def with_records(t: float) -> float:
        return float(0.1 * expon.pdf(t, scale=2.0) * norm.pdf(count - t))

    points = [max(count, 0.0)]
    mass, first = (quad(f, 0, 40, points=points)[0] for f in (with_records, lambda t: t * with_records(t)))
    assert believed(count) == pytest.approx(first / (mass + 0.9 * norm.pdf(count)), rel=1e-6, abs=1e-9)


def test_noise_alone_leaves_a_fifth_of_what_a_bound_at_zero_does() -> None:
    left, _ = quad(lambda z: believed(z) * norm.pdf(z), -6, 6)
    assert left < 0.2 / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("count", [-1e200, -60.0, 60.0, 1e9])
def test_far_counts_are_finite(count: float) -> None:
    assert believed(count) == pytest.approx(max(count - 0.5, 0.0), abs=1e-3)


def test_a_missing_value_that_does_not_show_joins_the_most_frequent_one() -> None:
    codes, told = join_hidden(np.array([0, 1, 2]), np.array([700.0, 900.0, 12.0]), np.ones(3, dtype=bool), 10.0, 3.0)
    assert codes.tolist() == [0, 1, 1]
    assert np.isnan(told).tolist() == [True, True, False]
    assert told[2] == pytest.approx(10 * believed(1.2))


def test_what_shows_stays_by_itself() -> None:
    codes, told = join_hidden(np.array([0, 1, 2]), np.array([700.0, 900.0, 31.0]), np.ones(3, dtype=bool), 10.0, 3.0)
    assert codes.tolist() == [0, 1, 2]
    assert np.isnan(told).all()


def test_rare_values_are_judged_together() -> None:
    """Two of 25 are below 30 each, and above 30 sqrt(2) together."""
    for counts, expected in (([700.0, 25, 25, 900], [0, 2, 2, 1]), ([700.0, 20, 5, 900], [0, 1, 1, 1])):
        codes, told = join_hidden(np.array([0, 2, 2, 1]), np.array(counts), np.ones(4, dtype=bool), 10.0, 3.0)
        assert codes.tolist() == expected
        if max(expected) == 1:
            assert told[1] == told[2] == pytest.approx(10 * believed(2.5 / math.sqrt(2)) / math.sqrt(2))


def test_what_a_person_wrote_stays_apart_though_it_was_merged_as_rare_with_what_is_likely_empty() -> None:
    """The last two values are rare and were merged: the third is by hand, the fourth a place for missing cells."""
    counts = np.array([700.0, 900.0, 12.0, 5.0])
    listed = np.array([False, False, False, True])
    codes, told = join_hidden(np.array([0, 1, 2, 2]), counts, listed, 10.0, 3.0)
    assert codes.tolist() == [0, 1, 2, 1]
    assert np.isnan(told).tolist() == [True, True, True, False]
    codes, told = join_hidden(np.array([0, 1, 2, 2]), counts, np.zeros(4, dtype=bool), 10.0, 3.0)
    assert codes.tolist() == [0, 1, 2, 2], "as in a schema by hand"
    assert np.isnan(told).all()


def test_numbers_stay_and_one_code_may_be_left() -> None:
    codes, _ = join_hidden(np.array([0, 0, 1, 2]), np.array([5.0, 3.0, 900.0, -4.0]), np.arange(4) == 3, 10.0, 3.0)
    assert codes.tolist() == [0, 0, 1, 1], "the numbers 0 and 1 do not show, and are in order"
    codes, told = join_hidden(np.array([0, 1]), np.array([900.0, 4.0]), np.ones(2, dtype=bool), 10.0, 3.0)
    assert codes.tolist() == [0, 0]
    assert told[1] == pytest.approx(10 * believed(0.4))
    codes, _ = join_hidden(np.array([0, 1]), np.array([9.0, 4.0]), np.ones(2, dtype=bool), 10.0, 3.0)
    assert codes.tolist() == [0, 1], "nothing shows that the others could join"


def smoothed_of(counts: np.ndarray, scale: float = 20.0) -> Smoothed:
    return spread(runs_of(counts, scale), np.ones(len(counts)), np.arange(len(counts), dtype=float))


def cut(counts: np.ndarray, scale: float = 20.0, doubtful: tuple[bool, bool] = (True, True)) -> Smoothed:
    return without_doubtful_tails(smoothed_of(counts, scale), counts, scale, doubtful)


def test_a_tail_up_to_a_bound_that_a_person_stated_keeps_its_records() -> None:
    counts = np.array([900.0, 1800.0, *np.full(13, 9.0)])
    whole, none = smoothed_of(counts).counts, (False, False)
    assert np.array_equal(cut(counts, doubtful=none).counts, whole)
    assert np.array_equal(cut(counts, doubtful=(True, False)).counts, whole)
    assert cut(counts, doubtful=(False, True)).counts[2:].sum() < whole[2:].sum()
    mirrored = smoothed_of(counts[::-1]).counts
    assert np.array_equal(cut(counts[::-1], doubtful=(False, True)).counts, mirrored)
    assert cut(counts[::-1], doubtful=(True, False)).counts.sum() < mirrored.sum()


def test_a_tail_beyond_two_codes_holds_little_in_the_mean() -> None:
    rng, before, after = np.random.default_rng(0), [], []
    for _ in range(40):
        counts = np.round(np.append([0.0, 4000.0, 3000.0], np.zeros(13)) + rng.normal(0, 20.0, 16))
        before.append(smoothed_of(counts).counts[3:].sum())
        after.append(cut(counts).counts[3:].sum())
    assert np.mean(before) > 20
    assert np.mean(after) < np.mean(before) / 4


def test_what_the_number_of_records_leaves_is_counted_in_room_that_was_bought() -> None:
    """Ones that their own noisy count hides, beside noise of 25, where the number of records is known."""
    counts = np.array([1900.0, 30.0, *np.zeros(14)])
    found = []
    for records, error in ((0.0, math.inf), (2000.0, 5.0)):
        smoothed = spread(runs_of(counts, 25.0), np.ones(16), np.arange(16.0), records=records, records_error=error)
        found.append(float(without_doubtful_tails(smoothed, counts, 25.0, (False, True)).counts[1:].sum()))
    assert found[1] > 1.5 * found[0]


def test_a_tail_that_shows_keeps_its_records() -> None:
    falling = np.round(3000 * 0.7 ** np.arange(16))
    before, after = smoothed_of(falling).counts, cut(falling).counts
    assert after == pytest.approx(before, abs=25)
    assert (after <= before + 1e-9).all()


def test_where_nothing_stands_out_nothing_is_cut() -> None:
    noise = np.round(np.random.default_rng(1).normal(0, 20.0, 16))
    assert np.array_equal(cut(noise, 200.0).counts, smoothed_of(noise, 200.0).counts)


@pytest.mark.parametrize("method", ["aim", "mst"])
def test_missing_cells_stay_rare_where_nothing_of_a_column_shows(method: str) -> None:
    """A player's games, of which none is missing, were missing in 12% of the rows, and nothing said so."""
    bought = 'bought = { epsilon = 0.1, delta = 1e-09, relation = "add_or_remove_one", receipt = "%s", hides = 400, '
    toml = bought % ("0" * 64) + "rows = 1500 }\n"
    toml += "".join(
        f'[columns.x{i}]\nkind = "integer"\nlower = 0\nupper = 2000\nscale = "linear"\nmissing = true\n'
        for i in range(10)
    )
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{i}": rng.normal(700, 250, 1500).clip(0, 2000).astype(int) for i in range(10)})
    for seed in (1, 2):
        made = synthesize(table, Schema.from_toml(toml), epsilon=0.3, method=method, seed=seed)
        assert made.to_pandas().isna().mean().max() < 0.03
