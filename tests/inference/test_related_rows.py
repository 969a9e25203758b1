"""Several rows of one privacy unit: what is concluded of the population where the rows of a unit are alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import binom

from counterfoil import synthesize
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.inference import Evidence, chi2, correlation, covariance, graph, mean, ols, pca, proportion, risk
from counterfoil.inference.centered_moments import bernstein_norm, bernstein_of_units
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.related_rows import with_unrelated
from counterfoil.methods.reweighting import Reweighting
from counterfoil.receipt.answers import ErrorBarEntry
from counterfoil.schema import Boolean, Categorical, Identifier, Integer, Real, Schema
from counterfoil.synthesis.table import decode
from noisy_moments import bought_moments, noised, noiseless
from noisy_tables import GAUSSIAN, evidence_of, noisy_marginal, require_held

SCHEMA = Schema((Categorical("a", ("x", "y")), Categorical("b", ("p", "q")), Integer("age", 0, 9)))
CELLS = np.outer([0.3, 0.7], [0.4, 0.6])
UNITS, EACH, TRIALS = 600, 9, 1000
UNIT = PrivacyUnit("person", EACH)


def release_of(rng: np.random.Generator, unit: PrivacyUnit | None = UNIT) -> Evidence:
    """Counts of people who have nine rows each, in all of which `a`, `b` and `age` are the same."""
    counts = EACH * rng.multinomial(UNITS, CELLS.ravel()).reshape(2, 2)
    ages = EACH * rng.multinomial(UNITS, np.full(10, 0.1))
    marginals = [
        noisy_marginal(rng, ("a", "b"), counts, GAUSSIAN, 3.0, 1),
        noisy_marginal(rng, ("age",), ages, GAUSSIAN, 3.0, 2),
    ]
    return evidence_of(SCHEMA, marginals, unit=unit)


def held(truth: float, ask: Callable) -> Iterator[bool]:
    rng = np.random.default_rng(7)
    while True:
        found = ask(release_of(rng))[0]
        yield found.lower <= truth <= found.upper


@pytest.mark.parametrize(
    ("truth", "ask"),
    [
        (0.3, lambda release: proportion(release, "a == 'x'")),
        (0.3, lambda release: proportion(release, "a == 'x'", by="b")),
        (4.5, lambda release: mean(release, "age")),
    ],
)
def test_intervals_hold_where_all_rows_of_a_person_are_the_same(truth, ask):
    """Coverage from 94.5% to 98%; of intervals for independent records it is 46%. False alarms: 1e-6 each."""
    require_held(held(truth, ask), TRIALS)


@pytest.mark.parametrize("most", [1, 9])
def test_what_is_found_is_about_the_records_that_were_used(most):
    """One of each 40 rows was used, and the share of them was said to be that of all records, for the noise alone."""
    found = proportion(release_of(np.random.default_rng(9), PrivacyUnit("person", most)), "a == 'x'")[0]
    said = found.basis[-1]
    assert "of each 'person'" in said or "Up to 9 of each were used" in said
    assert "the noise alone speaks of the table itself" not in said
    alone = proportion(release_of(np.random.default_rng(9), None), "a == 'x'")[0]
    assert alone.basis[-1].endswith("the noise alone speaks of the table itself.")


def test_rows_of_one_person_do_not_make_columns_dependent():
    """At most 6% at the level 5%; a false alarm has probability 1e-6."""
    rng, rejected = np.random.default_rng(8), 0
    for trial in range(300):
        rejected += chi2(release_of(rng), "a", "b", seed=trial, simulations=99).p_value <= 0.05
    assert rejected <= binom.isf(1e-6, 300, 0.06)


def test_what_is_assumed_is_said():
    release = release_of(np.random.default_rng(9))
    (found,) = mean(release, "age")
    assert "values of 'person' are independent draws" in found.basis[-1]
    assert "Up to 9 of each were used" in found.basis[-1]
    assert "3 times as wide" in found.basis[-1]
    assert any("Values of age below 0 count as 0" in sentence for sentence in found.basis[:-1])
    assert any("may be all alike" in sentence for sentence in chi2(release, "a", "b", simulations=99).basis)


@pytest.mark.parametrize("unit", [None, PrivacyUnit("person", 1)])
def test_single_rows_are_independent_draws_as_ever(unit):
    several, single = (release_of(np.random.default_rng(9), one) for one in (UNIT, unit))
    (wide,), (narrow,) = (proportion(release, "a == 'x'") for release in (several, single))
    assert "are independent draws from the population; the noise alone speaks of" in narrow.basis[-1]
    assert narrow.noise == wide.noise
    assert wide.sampling == pytest.approx(3 * narrow.sampling, rel=0.01)


def test_error_bars_leave_room_for_related_rows():
    """Half the width of sampling alone is that of Wilson's interval for a ninth of the records."""
    bar = ErrorBarEntry(("a", "age"), 0.05, 0.01, "its noisy distance from the model")
    codes = {name: np.arange(200) // 3 % SCHEMA[name].size for name in ("a", "b", "age")}
    rows = decode(SCHEMA, codes, np.random.default_rng(0))
    halves = []
    for unit in (UNIT, None):
        counted = release_of(np.random.default_rng(9), unit)
        release = evidence_of(SCHEMA, counted.answers.marginals, error_bars=[bar], rows=rows, unit=unit)
        halves.append(mean(release, "age", by="a")[0].sampling)
    assert halves[0] == pytest.approx(3 * halves[1], rel=0.03)


NUMBERS = Schema((Real("u", -5.0, 5.0, bins=4), Real("v", -5.0, 5.0, bins=4), Real("w", -5.0, 5.0, bins=4)))
NAMES = ("u", "v", "w")


def normal_units(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """One row for each unit: v follows u, and w is by itself."""
    u, w = rng.normal(size=UNITS), rng.normal(size=UNITS)
    return {"u": u, "v": 0.6 * u + 0.8 * rng.normal(size=UNITS), "w": w}


def moments_release(rng: np.random.Generator, unit: PrivacyUnit | None = UNIT) -> Evidence:
    """Moments of people who have nine equal rows each."""
    bought = bought_moments(NUMBERS, pa.table(normal_units(rng)), 0.0, rng)
    nine = noised(replace(noiseless(bought, 3.0), sums=EACH * bought.sums), rng)
    return evidence_of(NUMBERS, averages=[nine], records=EACH * UNITS, unit=unit)


def moments_held(truth: float, ask: Callable, place: int) -> Iterator[bool]:
    rng = np.random.default_rng(11)
    while True:
        found = ask(moments_release(rng))[place]
        yield found.lower <= truth <= found.upper


@pytest.mark.parametrize(
    ("truth", "ask", "place"),
    [
        (0.6, lambda release: ols(release, "v", ["u", "w"]), 1),
        (0.0, lambda release: ols(release, "v", ["u", "w"]), 2),
        (0.0, lambda release: graph(release, ["u", "w"]), 0),
    ],
)
def test_coefficients_and_edges_hold_where_all_rows_of_a_person_are_the_same(truth, ask, place):
    """From 94.5% to 98%; as of independent records it is 65% to 71%. False alarms: 1e-6 each."""
    require_held(moments_held(truth, ask, place), TRIALS)


FLAGS = Schema((Boolean("f"), Boolean("g")))


def flags_release(rng: np.random.Generator, unit: PrivacyUnit | None = UNIT) -> Evidence:
    """Moments of two fair coins of people who have nine equal rows each: here bounds without fourth moments are met."""
    bought = bought_moments(FLAGS, pa.table({name: rng.random(UNITS) < 0.5 for name in ("f", "g")}), 0.0, rng)
    nine = noised(replace(noiseless(bought, 3.0), sums=EACH * bought.sums), rng)
    return evidence_of(FLAGS, averages=[nine], records=EACH * UNITS, unit=unit)


@pytest.mark.parametrize("ask", [covariance, correlation])
def test_covariances_hold_where_all_rows_of_a_person_are_the_same(ask):
    """From 94.5%; as of independent records it is about half of that. False alarms: 1e-6 each."""
    rng = np.random.default_rng(16)

    def held() -> Iterator[bool]:
        while True:
            found = next(one for one in ask(flags_release(rng), ["f", "g"]) if " and " in one.about)
            yield found.lower <= 0 <= found.upper

    require_held(held(), TRIALS)


def related_rows(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """From one to nine rows each, of which those of people with many are larger, and partly alike."""
    sizes = rng.integers(1, EACH + 1, UNITS)
    people = np.repeat(np.arange(UNITS), sizes)
    own, shared = rng.normal(size=(2, len(people))), rng.normal(size=(2, UNITS))
    u = np.clip(0.2 * sizes[people] - 1 + 0.9 * shared[0][people] + 0.4 * own[0], -5, 5)
    v = np.clip(0.6 * u + 0.9 * shared[1][people] + 0.4 * own[1], -5, 5)
    return {"u": u, "v": v, "w": rng.normal(size=len(people)).clip(-5, 5)}


def test_least_squares_hold_whatever_relates_the_rows():
    """People with many rows have larger numbers. From 94.5%; a false alarm has probability 1e-6."""
    rng = np.random.default_rng(12)

    def held() -> Iterator[bool]:
        while True:
            rows = related_rows(rng)
            bought = noised(noiseless(bought_moments(NUMBERS, pa.table(rows), 0.0, rng), 3.0), rng)
            release = evidence_of(NUMBERS, averages=[bought], records=len(rows["u"]), unit=UNIT)
            found = ols(release, "v", ["u"])[1]
            yield found.lower <= 0.6 <= found.upper

    require_held(held(), 400, at_most=1.0)


def test_bounds_on_components_hold_where_rows_are_the_same():
    """All together, with probability .95 or more, of two coins; a false alarm has probability 1e-6."""
    rng, unit, failed = np.random.default_rng(13), PrivacyUnit("person", 50), 0
    for _ in range(200):
        bought = bought_moments(FLAGS, pa.table({name: rng.random(100) < 0.5 for name in ("f", "g")}), 0.0, rng)
        fifty = noised(replace(noiseless(bought, 3.0), sums=50 * bought.sums), rng)
        found = pca(evidence_of(FLAGS, averages=[fifty], records=5000, unit=unit), ["f", "g"])[::2]
        failed += not all(one.lower <= 1 <= one.upper for one in found)
    assert failed <= binom.isf(1e-6, 200, 0.05)


def test_sums_over_people_are_bounded_as_they_vary():
    """Two-valued numbers, nine of each person the same: the bound fails with probability .05, and all are within."""
    rng, failure = np.random.default_rng(14), 0.05
    means = np.abs(rng.choice([-1.0, 1.0], (2000, UNITS)).mean(axis=1))
    bound = bernstein_of_units(1.0, 1.0, 2, EACH * UNITS, failure, EACH)
    alone = bernstein_of_units(1.0, 1.0, 2, EACH * UNITS, failure, 1)
    assert (means > bound).sum() <= binom.isf(1e-6, 2000, failure)
    assert (means > alone).sum() > binom.isf(1e-6, 2000, failure), "independent records would be nearer"
    assert alone == pytest.approx(bernstein_norm(1.0, 1.0, 1, EACH * UNITS, failure), rel=0.2)


@pytest.mark.parametrize("unit", [None, PrivacyUnit("person", 1)])
def test_single_rows_leave_all_kinds_as_they_were(unit):
    wide, narrow = (moments_release(np.random.default_rng(15), one) for one in (UNIT, unit))
    for ask in (
        lambda release: covariance(release, ["u", "v"]),
        lambda release: ols(release, "v", ["u"]),
        lambda release: graph(release, NAMES),
    ):
        for several, single in zip(ask(wide), ask(narrow), strict=True):
            assert several.noise == single.noise
            assert several.sampling == pytest.approx(3 * single.sampling, rel=0.06)
            assert "of one 'person' being all alike" in several.basis[-1]
            assert not any("alike" in sentence for sentence in single.basis)
    with pytest.raises(Unanswerable, match="where up to 5,000 may be alike"):
        graph(moments_release(np.random.default_rng(15), PrivacyUnit("person", 5000)), NAMES)


def test_all_kinds_say_what_is_assumed_of_related_rows_and_receipts_say_whose_rows_they_are():
    frame = pd.DataFrame({"person": np.arange(4000) // 2, "a": ["x", "y"] * 2000, "b": "p", "age": [3, 7, 8, 1] * 1000})
    schema = Schema((*SCHEMA.columns, Identifier("person", "drop")))
    made = {"method": Reweighting(queries="moments:2"), "epsilon": 5, "delta": 1e-6, "relation": "add_or_remove_one"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = synthesize(frame, schema, **made, privacy_unit=("person", 2), seed=1)
    evidence = Evidence.of(release)
    alone = replace(evidence, answers=replace(evidence.answers, unit=None))
    for several, single in zip(risk(evidence, "a"), risk(alone, "a"), strict=True):
        assert several.noise == single.noise
        assert several.sampling > 1.1 * single.sampling or "distance" in several.about, "no curvature is certified"
        assert several.lower <= single.lower
        assert several.upper >= single.upper
    (found,) = covariance(release, ["age"])
    assert "up to 2 records of one 'person' being all alike" in found.basis[-1]
    found = with_unrelated([found], PrivacyUnit("person", 2))[0]
    assert "those of one 'person' may not be: where all of up to 2 are alike" in found.basis[-1]
    assert "values of 'person' are independent draws" in mean(release, "age")[0].basis[-1]
