"""Covariances and correlations against numpy on the real rows, and the coverage of their intervals."""

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.inference.covariances import _spread_of_correlation, correlation, covariance
from counterfoil.inference.finding import Unanswerable
from counterfoil.schema import Boolean, Categorical, Real, Schema
from noisy_moments import (
    bought_moments,
    evidence_of,
    least_binomial,
    noised,
    noiseless,
    noisy_evidence,
    noisy_releases,
    require_noise_told,
)

SCHEMA = Schema(
    (
        Real("height", 100.0, 220.0, bins=10),
        Categorical("sex", ("F", "M")),
        Real("weight", 0.0, 200.0, bins=10),
        Boolean("tall"),
        Categorical("race", ("a", "b", "c")),
    )
)
NAMES = ["height", "weight", "sex"]
SMALL = Schema(tuple(column for column in SCHEMA.synthesized if column.name in NAMES))


def people(rows, rng):
    male = rng.random(rows) < 0.4
    height = np.clip(rng.normal(165 + 12 * male, 7), 100, 220)
    weight = np.clip(70 + 0.9 * (height - 170) + rng.gamma(2.0, 6.0, rows), 0, 200)
    return {
        "height": height,
        "sex": np.where(male, "M", "F"),
        "weight": weight,
        "tall": height > 175,
        "race": np.array(["a", "b", "c"])[rng.integers(0, 3, rows)],
    }


def fewer(rows, rng):
    """The columns of SMALL alone, which are faster to sum."""
    return {name: values for name, values in people(rows, rng).items() if name in NAMES}


def numbers_of(columns, names):
    return np.array([columns[name] == "M" if name == "sex" else columns[name] for name in names], dtype=float)


@pytest.mark.parametrize("public", [True, False])
def test_without_noise_covariances_are_those_of_the_rows(public):
    columns, names = people(400, np.random.default_rng(0)), ["weight", "tall", "sex", "height"]
    evidence = noisy_evidence(SCHEMA, columns, 0.0, np.random.default_rng(1), public=public)
    expected = np.cov(numbers_of(columns, names), bias=True)
    found = covariance(evidence, names)
    assert [one.about for one in found[:3]] == [
        "variance of weight",
        "covariance of weight and tall",
        "covariance of weight and sex = M",
    ]
    # Numbers are rounded to 4096ths of half their range.
    np.testing.assert_allclose([one.estimate for one in found], expected[np.triu_indices(4)], rtol=2e-3, atol=2e-3)
    between = np.corrcoef(numbers_of(columns, names))[np.triu_indices(4, 1)]
    np.testing.assert_allclose([one.estimate for one in correlation(evidence, names)], between, atol=1e-3)
    for one in found + correlation(evidence, names):
        assert one.lower <= one.estimate <= one.upper
        assert one.charges == (1,)


def test_records_without_one_of_the_two_do_not_count():
    rng = np.random.default_rng(3)
    schema = Schema((Real("x", -1.0, 1.0, bins=4, missing=True), Real("y", 0.0, 4.0, bins=4, missing=True)))
    x, y = rng.uniform(-1, 1, 500), rng.uniform(0, 4, 500)
    y = np.clip(y + x, 0, 4)
    x[rng.random(500) < 0.3], y[rng.random(500) < 0.4] = np.nan, np.nan
    evidence = noisy_evidence(schema, {"x": x, "y": y}, 0.0, rng)
    both = ~np.isnan(x) & ~np.isnan(y)
    expected = [np.nanvar(x), np.cov(x[both], y[both], bias=True)[0, 1], np.nanvar(y)]
    np.testing.assert_allclose([one.estimate for one in covariance(evidence, ["x", "y"])], expected, atol=2e-3)
    with pytest.raises(Unanswerable, match="Column 'x' may be missing"):
        correlation(evidence, ["x", "y"])


@pytest.fixture(scope="module")
def population():
    """2 million rows, whose own sampling error is below a thirtieth of that of any table here."""
    return numbers_of(people(2_000_000, np.random.default_rng(99)), NAMES)


def require_held(found, true):
    """Of each of the intervals, at least 93% of 1500 hold what is true; 94% of the first 600 leave no doubt.

    Were it 95%, fewer of 1500 would have a probability below `least_binomial`'s 1e-7. A coverage of 92% in any of them
    passes with probability 4% after 600, and 9% after 1500.
    """
    inside, trials = np.zeros(len(true)), 0
    for more, least in ((600, 0.94), (900, 0.93)):
        for intervals in islice(found, more):
            inside += [one.lower <= value <= one.upper for one, value in zip(intervals, true, strict=True)]
        trials += more
        if (inside / trials).min() >= least:
            return
    assert least_binomial(trials, 0.95) < 0.93
    pytest.fail(f"shares of {trials} releases: {inside / trials}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "deviation", "noise", "public"),
    [
        (500, 1.0, "discrete_gaussian", True),
        (500, 15.0, "discrete_gaussian", True),
        (2000, 100.0, "discrete_gaussian", False),
        (2000, 40.0, "discrete_laplace", False),
    ],
)
def test_intervals_hold_the_populations_covariances(population, rows, deviation, noise, public):
    """As `require_held` has it."""
    made = noisy_releases(SMALL, people, rows, deviation, np.random.default_rng(7), noise=noise, public=public)
    require_held((covariance(evidence, NAMES) for evidence in made), np.cov(population, bias=True)[np.triu_indices(3)])


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "deviation", "public"), [(500, 0.2, True), (3000, 4.0, False)])
def test_intervals_hold_the_populations_correlations(population, rows, deviation, public):
    """As above."""
    made = noisy_releases(SMALL, people, rows, deviation, np.random.default_rng(8), public=public)
    require_held((correlation(evidence, NAMES) for evidence in made), np.corrcoef(population)[np.triu_indices(3, 1)])


@pytest.mark.parametrize("noise", ["discrete_gaussian", "discrete_laplace"])
@pytest.mark.parametrize("share", [1.0, 0.99])
def test_intervals_hold_correlations_near_one(share, noise):
    """Of 300 tables, whose noise moves the estimate beyond 1 in half of them where it is 1."""
    schema = Schema((Real("x", -3.0, 3.0, bins=10), Real("y", -3.0, 3.0, bins=10)))

    def alike(rows, rng):
        x, other = rng.normal(0, 0.7, (2, rows))
        return {"x": np.clip(x, -3, 3), "y": np.clip(share * x + math.sqrt(1 - share**2) * other, -3, 3)}

    made = islice(noisy_releases(schema, alike, 1500, 6.0, np.random.default_rng(11), noise=noise, public=True), 300)
    intervals = [correlation(evidence, ["x", "y"])[0] for evidence in made]
    assert np.mean([one.lower <= share <= one.upper for one in intervals]) >= 0.93
    assert np.median([one.upper - one.lower for one in intervals]) < 0.5


@pytest.mark.parametrize("noise", ["discrete_gaussian", "discrete_laplace"])
def test_the_noise_alone_is_told_for_the_table_itself(noise):
    """The half width `noise` around the estimate holds the table's own covariance in 95% of releases."""
    rng, trials = np.random.default_rng(9), 4000 if noise == "discrete_gaussian" else 1000
    columns = fewer(1000, rng)
    exact = noiseless(bought_moments(SMALL, pa.table(columns), 0.0, rng), 2.0, noise)
    true = np.cov(numbers_of(columns, NAMES), bias=True)[np.triu_indices(3)]

    def inside():
        while True:
            found = covariance(evidence_of(SMALL, [noised(exact, rng)], records=1000), NAMES)
            yield np.array([abs(one.estimate - value) <= one.noise for one, value in zip(found, true, strict=True)])

    require_noise_told(inside(), trials)


@given(seed=st.integers(0, 2**32 - 1), points=st.integers(2, 6))
def test_the_bound_on_the_spread_of_a_correlation_is_never_below_it(seed, points):
    """For any law on the box, the large-sample variance of r is that of X Y - r (X^2 + Y^2) / 2."""
    rng = np.random.default_rng(seed)
    values, weights = rng.uniform(-1, 1, (points, 2)), rng.dirichlet(np.ones(points))
    means = weights @ values
    deviations = np.sqrt(weights @ (values - means) ** 2)
    x, y = ((values - means) / deviations).T
    r = float(weights @ (x * y))
    influence = x * y - r / 2 * (x * x + y * y)
    exact = float(weights @ influence**2) - float(weights @ influence) ** 2
    bound = _spread_of_correlation(r, means, deviations)
    assert exact <= bound * (1 + 1e-9) + 1e-9


def test_the_bound_on_the_spread_of_a_correlation_is_attained():
    """By two independent fair signs."""
    assert _spread_of_correlation(0.0, np.zeros(2), np.ones(2)) == pytest.approx(1.0)


def test_a_variance_within_the_noise_is_refused():
    columns = people(500, np.random.default_rng(0))
    with pytest.raises(Unanswerable, match="variance of 'height' is within the noise"):
        correlation(noisy_evidence(SCHEMA, columns, 60.0, np.random.default_rng(1)), ["height", "weight"])


def test_a_table_lost_in_noise_is_refused():
    table = pa.table(people(3, np.random.default_rng(0)))
    bought = bought_moments(SCHEMA, table, 300.0, np.random.default_rng(0), counted=True)
    lost = replace(bought, sums=np.zeros_like(bought.sums))
    with pytest.raises(Unanswerable, match="fewer than two records"):
        covariance(evidence_of(SCHEMA, [lost], records=None), ["height"])


def test_a_variance_lies_where_a_variance_can():
    columns = people(300, np.random.default_rng(0))
    for seed in range(30):
        (one,) = covariance(noisy_evidence(SCHEMA, columns, 300.0, np.random.default_rng(seed)), "height")
        assert 0 <= one.lower <= one.estimate <= one.upper <= 60.0**2
        cut = any("lies beyond what is possible" in line for line in one.basis)
        assert cut == (one.estimate in (0, 60.0**2)), "exactly at a bound only where noise took it beyond"


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda one: covariance(one, ["heigth"]), r"Found 'heigth'\. Did you mean 'height'\?"),
        (lambda one: covariance(one, ["height", "race"]), "'race' has 3 categories: declare their order"),
        (lambda one: covariance(one, ["height"], level=1.0), "`level` must be a probability"),
        (lambda one: correlation(one, ["height"]), r"at least two columns\. Found 1"),
    ],
)
def test_what_is_asked_wrongly_is_told(ask, sentence):
    evidence = noisy_evidence(SCHEMA, people(50, np.random.default_rng(0)), 1.0, np.random.default_rng(0))
    with pytest.raises(ValueError, match=sentence):
        ask(evidence)


@pytest.mark.parametrize("noise", ["discrete_gaussian", "discrete_laplace"])
def test_a_number_of_records_that_is_noise_says_nothing_of_correlations(noise):
    """Eight of 300 releases had all correlations near 1 or -1, in intervals of .01 of which 1 of 36 held."""
    releases = islice(
        noisy_releases(SMALL, fewer, 200, 250.0, np.random.default_rng(5), noise=noise, public=False), 300
    )
    for evidence in releases:
        with pytest.raises(Unanswerable):
            correlation(evidence, NAMES)
    (close,) = islice(
        noisy_releases(SMALL, fewer, 20_000, 20.0, np.random.default_rng(5), noise=noise, public=False), 1
    )
    assert correlation(close, NAMES)[0].upper < 1
