"""Warnings from noisy numbers: means that noise hides, and tables too small for their budget."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from counterfoil import AIM, MST, Budget, Curator, Schema
from counterfoil.graphical_model.hidden_mass import Believed
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.other_side import OtherSide
from counterfoil.graphical_model.runs import Runs, deviations_to_stand_out, find_runs, runs_of
from counterfoil.graphical_model.smoothing import spread
from counterfoil.marginals.crowded_cells import crowded_cells
from counterfoil.marginals.hidden_categories import hidden_categories
from counterfoil.marginals.unreliable import NumberColumn, hidden_sides, near_noise, unreliable_means
from counterfoil.methods.independent import Independent

EXACT = np.array([400.0, 900, 1200, 700, 300])
CENTERS = np.array([10.0, 20, 30, 40, 50])


def column(name: str, noisy: np.ndarray, scale: float, centers: np.ndarray = CENTERS) -> NumberColumn:
    runs = find_runs(Runs.single(noisy, scale, 3.0))
    return NumberColumn(NoisyMarginal((name,), noisy, scale), runs, spread(runs, np.ones(len(noisy)), centers), centers)


def test_the_error_of_the_mean_is_that_of_simulated_noise():
    scale = 20.0
    found = column("age", EXACT, scale)
    mean = EXACT @ CENTERS / EXACT.sum()
    rng = np.random.default_rng(2)
    noisy = EXACT + rng.normal(0, scale, (20_000, 5))
    simulated = (noisy @ CENTERS / noisy.sum(axis=1)).std() / mean
    # The deviation of 20,000 normal draws is off by 0.5% of itself: 5% are 10 of its standard errors, below 1e-6.
    assert found.mean_error == pytest.approx(simulated, rel=0.05)


def test_the_error_of_the_deviation_is_that_of_simulated_noise():
    scale = 20.0
    found = column("age", EXACT, scale)
    noisy = EXACT + np.random.default_rng(2).normal(0, scale, (20_000, 5))
    shares = noisy / noisy.sum(axis=1, keepdims=True)
    deviations = np.sqrt(shares @ CENTERS**2 - (shares @ CENTERS) ** 2)
    # As above: 5% are 10 standard errors, below 1e-6.
    assert found.deviation_error == pytest.approx(deviations.std() / deviations.mean(), rel=0.05)


def test_noise_beyond_the_records_counts_as_what_was_left_there():
    centers = 10.0 ** np.arange(1, 8)
    counts = np.array([3000.0, 5000, 2000, 0, 0, 0, 0])
    found = column("amount", counts, 30.0, centers)
    assert found.mean_error < 0.5, "30 records at 10,000,000 would make a hundred times the mean"


def test_one_sentence_names_the_columns_and_how_many_cells_stand_out():
    noisy = EXACT.copy()
    doubtful = [column(f"c{i}", noisy, 600.0) for i in range(22)]
    assert unreliable_means([column("fine", EXACT, 5.0)], 3500.0) == []
    (one,) = unreliable_means([column("fine", EXACT, 5.0), doubtful[0]], 3500.0)
    assert "c0 (0 of its 5 cells)" in one
    assert "deviation 600 of about 3,500 rows" in one
    assert "its mean and tail are unreliable" in one
    assert "says where 100% of the rows of c0 lie" in one
    assert "its mean and quantiles are unreliable" in one
    assert "fine" not in one
    (many,) = unreliable_means(doubtful, 3500.0)
    assert "c19" in many
    assert "c20" not in many
    assert "and 2 more" in many


def test_records_of_which_only_the_whole_range_stands_out_are_called_guessed():
    """1,858 patients came back with a median of 312 days, which is 1,855: one run from 82 to 3,337 days stood out."""
    noise, centers = 136.0, np.geomspace(1, 3650, 98)
    totals = np.array([0.0, 0, 100, 200, 300, 300, 150, 800, 0])
    runs = Runs(np.arange(98) // 12, totals, np.full(9, noise), deviations_to_stand_out(98))
    assert runs.stands_out.sum() == 1, "and it holds few of the rows, so that more are joined with it"
    smoothed = spread(runs, np.ones(98), centers, records=1800.0, records_error=54.0)
    assert np.bincount(smoothed.runs.of_cell)[smoothed.runs.stands_out].tolist() == [60]
    found = NumberColumn(NoisyMarginal(("time",), np.repeat(totals / 12, 12)[:98], noise), runs, smoothed, centers)
    assert found.hidden_share == pytest.approx(1.0)
    (said,) = unreliable_means([found], 1800.0)
    assert "says where 100% of the rows of time lie" in said


def test_noise_hides_no_more_rows_than_there_are():
    """A receipt of 300 rows said that up to 174% of them may lie above 0, and 363 of them at one number."""
    tail = replace(column("x", np.full(5, 60.0), 5.0), marginal=NoisyMarginal(("x",), np.full(5, 60.0), 900.0))
    (said,) = unreliable_means([tail], 300.0)
    assert "noise hides up to 300 of them at one number" in said
    cases = np.array([[522.0], [522.0]])
    side = OtherSide(np.arange(5) < 1, Believed(cases[0], cases, np.array([0.5, 0.5])), 0.5)
    (said,) = hidden_sides([replace(tail, smoothed=replace(tail.smoothed, other_sides=(side,)))], 300.0)
    assert "x below 0 (up to 100%)" in said


COLUMN = Schema.from_toml('[columns.x]\nkind = "integer"\nlower = 0\nupper = 100000\n')["x"]


def judged(zeros: float, noise: float, seed: int) -> tuple[float, bool]:
    """How many times the mean of 1,000 skewed numbers is off, and whether the receipt warns of it."""
    rng = np.random.default_rng(5)
    numbers = np.where(rng.random(1000) < zeros, 0, np.clip(np.rint(np.exp(rng.normal(5, 1.2, 1000))), 0, 100_000))
    exact = np.bincount(COLUMN._bin(numbers), minlength=COLUMN.n_bins).astype(np.float64)
    rng, centers = np.random.default_rng(seed), COLUMN.centers[: COLUMN.n_bins]
    noisy = exact + rng.normal(0, noise, len(exact))
    runs, records = runs_of(noisy, noise), 1000 + rng.normal(0, noise)
    assert COLUMN.spans is not None
    smoothed = spread(runs, COLUMN.spans, centers, records=records, records_error=noise)
    found = NumberColumn(NoisyMarginal(("x",), noisy, noise), runs, smoothed, centers)
    ratio = (smoothed.counts @ centers / smoothed.counts.sum()) / (exact @ centers / 1000)
    return max(ratio, 1 / ratio), any("its mean and" in said for said in unreliable_means([found], records))


def test_a_mean_that_is_far_off_is_warned_of():
    """Counts can't tell all columns apart: of means that are off by a factor of 2, a tenth may pass. Fixed seeds."""
    found = [judged(zeros, noise, seed) for zeros in (0.0, 0.3) for noise in (12.0, 18.0, 25.0) for seed in range(30)]
    warned = [warns for off, warns in found if off > 2]
    assert len(warned) > 20
    assert np.mean(warned) > 0.9


def test_a_mean_that_is_near_is_seldom_warned_of():
    """Fixed seeds."""
    found = [judged(zeros, 3.0, seed) for zeros in (0.0, 0.3) for seed in range(30)]
    assert max(off for off, _ in found) < 1.4
    assert np.mean([warns for _, warns in found]) < 0.1


def spread_of(exact: np.ndarray, centers: np.ndarray, noise: float, seed: int) -> tuple[float, bool]:
    """How many times the deviation is off, and whether the receipt warns of the mean or of the tail."""
    noisy = exact + np.random.default_rng(seed).normal(0, noise, len(exact))
    runs = runs_of(noisy, noise)
    smoothed = spread(runs, np.ones(len(exact)), centers, records=float(exact.sum()), records_error=noise)
    found = NumberColumn(NoisyMarginal(("x",), noisy, noise), runs, smoothed, centers)
    ratio = deviation(smoothed.counts, centers) / deviation(exact, centers)
    return max(ratio, 1 / ratio), bool(unreliable_means([found], float(exact.sum())))


def deviation(counts: np.ndarray, centers: np.ndarray) -> float:
    mean = counts @ centers / counts.sum()
    return math.sqrt(counts @ (centers - mean) ** 2 / counts.sum())


def test_a_deviation_that_is_far_off_is_warned_of():
    """A narrow column between wide bounds: few rows that noise adds far away widen it many times. Fixed seeds."""
    centers = np.linspace(-180, 180, 361)
    exact = np.rint(2000 * np.exp(-((centers + 120) ** 2) / 8) / math.sqrt(8 * math.pi))
    found = [spread_of(exact, centers, noise, seed) for noise in (5.0, 15.0, 30.0) for seed in range(20)]
    off = [warns for ratio, warns in found if ratio > 1.5]
    assert len(off) > 20
    assert np.mean(off) > 0.95


def test_a_group_at_the_end_of_the_range_that_noise_would_hide_is_warned_of():
    """Sixty rows of 3,000 at 99,999 make up most of the mean, and no smooth tail foretells them."""
    centers = np.linspace(0, 99_999, 500)
    exact = np.append(np.append(2940.0, np.zeros(498)), 60.0)
    ratio, warns = spread_of(exact, centers, 30.0, 0)
    assert ratio > 1.5
    assert warns
    near = np.append(np.append(2940.0, np.zeros(498)), 60.0)
    assert not spread_of(1000 * near, centers, 30.0, 0)[1], "noise hides nothing of sixty thousand"


def test_the_sentence_on_tails_names_the_columns_and_how_far_their_means_are_known():
    centers = np.append(np.arange(100.0), 100 * 1.1 ** np.arange(70))
    found = column("gain", np.where(centers < 100, 100.0, 0.0), 20.0, centers)
    assert found.mean_error < 0.25
    (one,) = unreliable_means([found], 10_000.0)
    assert "the tail of gain, and noise hides" in one
    assert f"up to {found.rows_unseen:,.0f} of them at one number" in one
    assert "Its deviation and outer quantiles" in one
    assert "Their deviations" in unreliable_means([found, found], 10_000.0)[0]


def test_many_categories_that_noise_hides_are_named():
    rng = np.random.default_rng(4)
    many = NoisyMarginal(("code",), rng.normal(0.1, 10, 10_000), 10.0)
    common = np.append([500.0, 300.0, 150.0], rng.normal(1, 10, 50))
    seen = NoisyMarginal(("town",), common, 10.0)
    (one,) = hidden_categories([many, seen], 1000.0)
    assert "100% of the rows of code (10,000 values)" in one
    assert "town" not in one
    assert f"fewer than about {deviations_to_stand_out(10_000) * 10:,.0f} rows" in one
    assert hidden_categories([seen], 1000.0) == []
    (one,) = hidden_categories([many], 1000.0, {"code"})
    assert "of code (10,000 values in groups)" in one
    assert "spread over all of their group" in one
    assert "`groups`" not in one, "what was done already is no advice"
    few = NoisyMarginal(("answer",), np.full(4, 25.0), 10.0)
    assert hidden_categories([few], 100.0) == [], "rows that are spread over four categories are near all of them"


def test_shares_of_few_categories_that_noise_hides_are_said():
    """A set of three columns, one of many values, leaves nothing of the sex within it: 27% were neither M nor F."""
    sex = NoisyMarginal(("sex",), np.array([2219.0, 1838.0, -1682.0]), 1875.0)
    ward = NoisyMarginal(("ward",), np.array([3000.0, 2000.0, 784.0]), 200.0)
    (one,) = hidden_categories([sex, ward], 5784.0)
    assert "how the rows of sex are divided: a count is off by up to 3,972, of about 5,784 rows" in one
    assert hidden_categories([ward], 5784.0) == []
    many = NoisyMarginal(("code",), np.random.default_rng(4).normal(0.1, 10, 10_000), 10.0)
    assert len(hidden_categories([many, sex], 5784.0)) == 2


def test_numbers_that_nearly_all_share_a_cell_are_named():
    schema = Schema.from_toml(
        '[columns.tiny]\nkind = "real"\nlower = 0\nupper = 1\n[columns.sex]\nkind = "boolean"\n'
        '[columns.paid]\nkind = "real"\nlower = 0\nupper = 1\n'
    )

    def counted(name: str, number: float) -> NoisyMarginal:
        column = schema[name]
        counts = np.random.default_rng(6).normal(0, 1, column.size)
        counts[column.codes_of(np.array([number]))[0]] += 1000
        return NoisyMarginal((name,), counts, 1.0)

    sexes = NoisyMarginal(("sex",), np.array([990.0, 10.0]), 1.0)
    (one,) = crowded_cells(schema, [counted("tiny", 0.004), sexes, counted("paid", 0.0)])
    assert re.search(r": (99|100)% of the numbers of tiny lie from 0 to 0\.01\d*\. Nothing was measured", one)
    assert "such as a limit, list it in `points`" in one
    assert crowded_cells(schema, [sexes, counted("paid", 0.0)]) == [], "0 is a cell of its own"


def test_the_share_of_a_crowded_cell_counts_no_noise_as_numbers():
    """With negative counts left out, noise of 10 in a hundred cells would be 400 numbers beside 1,000."""
    schema = Schema.from_toml('[columns.tiny]\nkind = "real"\nlower = 0\nupper = 1\n')
    column, shares = schema["tiny"], []
    for seed in range(20):
        counts = np.random.default_rng(seed).normal(0, 10, column.size)
        counts[column.codes_of(np.array([0.004]))[0]] += 1000
        (one,) = crowded_cells(schema, [NoisyMarginal(("tiny",), counts, 10.0)])
        shares.append(int(re.search(r": (\d+)% of", one)[1]))
    assert np.mean(shares) > 94, "the share is 100%, and what is off is the noise of the sum, of which half is cut off"


def test_no_cell_is_called_crowded_that_noise_alone_fills():
    """Where the sum of the counts is small, the fullest of them looks like all of the rows."""
    schema = Schema.from_toml(
        '[columns.day]\nkind = "date"\nlower = 2021-01-01\nupper = 2023-12-31\nresolution = "1mo"\n'
    )
    counts = np.random.default_rng(3).normal(0, 10, schema["day"].size)
    assert counts.max() > 0.8 * max(counts.sum(), counts.max())
    assert crowded_cells(schema, [NoisyMarginal(("day",), counts, 10.0)]) == []
    counts[7] += 1000
    assert "of the dates of day lie in 2021-08" in crowded_cells(schema, [NoisyMarginal(("day",), counts, 10.0)])[0]


@pytest.mark.parametrize("method", [MST(), AIM()])
def test_cells_that_were_counted_again_together_are_not_called_full(method: AIM | MST):
    """Receipts of 400 rows said that 100% of the cholesterols lie from 1,295 to 1,333, of which 309 is the median."""
    toml = "".join(f'[columns.n{i}]\nkind = "integer"\nlower = 100\nupper = 2000\n' for i in range(10))
    toml += "".join(f'[columns.b{i}]\nkind = "boolean"\n' for i in range(8))
    rng = np.random.default_rng(1)
    numbers = {f"n{i}": np.rint(np.exp(rng.normal(5.8, 0.45, 400)).clip(100, 2000)).astype(int) for i in range(9)}
    table = pd.DataFrame(numbers | {"n9": np.full(400, 1300)} | {f"b{i}": rng.random(400) < 0.5 for i in range(8)})
    for seed in (0, 2):  # others miss n9 for the noise of all other cells
        with Curator(table, Schema.from_toml(toml), budget=Budget(epsilon=1.0, delta=1e-9), seed=seed) as curator:
            said = " ".join(method.synthesize(curator).receipt.document["warnings"])
        assert re.search(r"cut into: \d+% of the numbers of n9 lie from 1295 to 1333\. Nothing", said)
        assert not re.search(r"n[0-8] \([1-9]\d* of its \d+ cells\)", said), "no cell of these has a tenth of the rows"


def test_a_table_is_near_noise_by_the_expected_distance():
    scale, cells, total = 30.0, 10, 400.0
    marginals = [NoisyMarginal((name,), np.full(cells, total / cells), scale) for name in ("a", "b")]
    rng = np.random.default_rng(3)
    simulated = np.abs(rng.normal(0, scale, (20_000, cells))).sum(axis=1).mean() / total
    assert cells * scale * math.sqrt(2 / math.pi) / total == pytest.approx(simulated, rel=0.02)
    (one,) = near_noise(marginals, {}, total)
    assert f"{simulated / 2:.0%} of the rows" in one
    assert "About 400 records are too few" in one
    assert near_noise(marginals, {}, 2 * total) == []


def test_runs_count_instead_of_the_cells_that_they_join():
    noisy = np.random.default_rng(1).normal(4, 30, 100)
    marginal = NoisyMarginal(("amount",), noisy, 30.0)
    runs = find_runs(Runs.single(noisy, 30.0, 4.0))
    total = 100 * 30 * math.sqrt(2 / math.pi) / 0.5
    assert near_noise([marginal], {}, total)
    assert not near_noise([marginal], {"amount": runs}, total)


SCHEMA = Schema.from_toml("""
[columns.amount]
kind = "integer"
lower = 0
upper = 2000000

[columns.group]
kind = "categorical"
values = ["a", "b", "c", "d", "e", "f", "g", "h"]
""")


def people(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(6)
    amount = np.rint(np.exp(rng.normal(8, 1.2, n))).astype(int)
    return pd.DataFrame({"amount": amount, "group": rng.choice(list("abcdefgh"), n)})


@pytest.mark.parametrize("method", [AIM(), MST(), Independent()], ids=["aim", "mst", "independent"])
def test_methods_say_it_on_the_receipt(method: AIM | MST | Independent):
    found = {}
    for n, epsilon in ((100, 1.0), (8000, 5.0)):
        with Curator(people(n), SCHEMA, budget=Budget(epsilon, 1e-9), seed=3) as curator:
            found[n] = method.synthesize(curator, rows=n).receipt.document["warnings"]
    assert any("records are too few for this budget" in line for line in found[100])
    assert not any("too few" in line or "unreliable" in line for line in found[8000])


BALANCES = Schema.from_toml(
    """
    [columns.balance]
    kind = "integer"
    lower = -10000
    upper = 100000
    """
    + "".join(f'[columns.c{i}]\nkind = "integer"\nlower = 0\nupper = 3\n' for i in range(4))
)


def balances(rows: int, seed: int, negative: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(rows) < negative, -1, 1)
    balance = np.rint(sign * np.exp(rng.normal(math.log(2000), 1.2, rows))).clip(-10_000, 100_000)
    return pd.DataFrame({"balance": balance.astype(int)} | {f"c{i}": rng.integers(0, 4, rows) for i in range(4)})


def released(table: pd.DataFrame, method: object, epsilon: float, seed: int) -> tuple[float, list[str]]:
    """The share of negative balances in a copy, and what its receipt says of them."""
    with Curator(table, BALANCES, budget=Budget(epsilon, 1e-9), seed=seed) as curator:
        made = method.synthesize(curator)  # type: ignore[attr-defined]
    said = [one for one in made.receipt.document["warnings"] if "balance below 0" in one]
    return float((made.to_pandas().balance < 0).mean()), said


@pytest.mark.parametrize("method", [AIM(), MST(), Independent()], ids=lambda method: type(method).__name__)
def test_a_tenth_of_the_records_below_zero_come_back(method):
    """Without a hump beyond 0, less than one in a hundred did, and nothing said so."""
    shares, epsilon = [], 1.5 if isinstance(method, Independent) else 1.0
    for seed in range(5):
        share, said = released(balances(2000, seed, 0.1), method, epsilon, seed)
        assert share > 0.05 or said
        shares.append(share)
    assert 0.06 < np.mean(shares) < 0.13


@pytest.mark.parametrize("method", [AIM(), MST(), Independent()], ids=lambda method: type(method).__name__)
def test_what_noise_may_hide_below_zero_is_named(method):
    share, said = released(balances(2000, 1, 0.05), method, 0.4, 1)
    assert len(said) == 1
    assert re.search(r"numbers of balance below 0 \(up to \d+%\)", said[0])
    assert released(balances(20_000, 1, 0.1), method, 1.0, 1)[1] == []
    share, said = released(balances(20_000, 1, 0.0), method, 3.0, 1)
    assert said == []
    assert share < 0.002


def test_a_code_below_zero_that_stands_out_is_not_among_what_noise_hides_there():
    """Of hours, -1 for 963 of 2,500 who were not asked: "numbers below 0 (up to 4%)" was said."""
    rng = np.random.default_rng(4)
    centers = np.arange(-5.0, 66.0)
    counts = 1537 * np.exp(-((centers - 38) ** 2) / 162) / (9 * np.sqrt(2 * np.pi))
    counts[centers == -1] = 963
    noisy = counts + rng.normal(0, 30, len(counts))
    runs = runs_of(noisy, 30.0)
    smoothed = spread(runs, np.ones(len(counts)), centers, records=2500.0, records_error=60.0)
    assert smoothed.other_sides, "noise hides numbers such as -5"
    marginal = NoisyMarginal(("hours",), noisy, 30.0)
    (said,) = hidden_sides([NumberColumn(marginal, runs, smoothed, centers)], 2500.0)
    assert "hours below 0 beside those that stand out (up to" in said
