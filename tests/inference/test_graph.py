"""Edges of graphical models: partial correlations against the rows', false edges, and refusals."""

from itertools import islice

import numpy as np
import pytest
from scipy.stats import binom

from counterfoil.inference.edges import graph
from counterfoil.inference.finding import Unanswerable
from counterfoil.schema import Real, Schema
from noisy_moments import noisy_evidence, noisy_releases

NAMES = ("a", "b", "c", "d")
SCHEMA = Schema(tuple(Real(name, -1.0, 1.0, bins=4) for name in NAMES))
EDGES = {("a", "b"), ("b", "c")}


def chain(rows, rng):
    """a - b - c, and d alone."""
    a = rng.normal(0, 0.25, rows)
    b = 0.8 * a + rng.normal(0, 0.15, rows)
    c = -0.7 * b + rng.normal(0, 0.15, rows)
    return {name: np.clip(x, -1, 1) for name, x in zip(NAMES, (a, b, c, rng.normal(0, 0.25, rows)), strict=True)}


def names_of(about):
    pair, verdict = about.removeprefix("partial correlation of ").split(": ")
    return tuple(pair.split(" and ")), verdict


@pytest.mark.parametrize("public", [True, False])
def test_without_noise_partial_correlations_are_those_of_the_rows(public):
    columns = chain(3000, np.random.default_rng(0))
    precision = np.linalg.inv(np.cov(np.array(list(columns.values()))))
    deviations = np.sqrt(np.diag(precision))
    expected = -precision / np.outer(deviations, deviations)
    found = graph(noisy_evidence(SCHEMA, columns, 0.0, np.random.default_rng(1), public=public), NAMES)
    np.testing.assert_allclose([one.estimate for one in found], expected[np.triu_indices(4, 1)], atol=1e-3)
    assert {names_of(one.about)[0] for one in found if names_of(one.about)[1] == "an edge"} == EDGES
    z = np.arctanh(found[0].estimate) + 2.6382573 / np.sqrt(3000 - 5) * np.array([-1, 1])
    # Six intervals at 95% together: each at 1 - .05 / 6, whose normal quantile is 2.638.
    np.testing.assert_allclose([found[0].lower, found[0].upper], np.tanh(z), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "deviation", "noise"),
    [(500, 0.5, "discrete_gaussian"), (3000, 5.0, "discrete_gaussian"), (3000, 3.0, "discrete_laplace")],
)
def test_false_edges_are_found_in_at_most_5_percent(rows, deviation, noise):
    """Of 1000 releases: more than the bound have probability below 1e-7 where a release has one with 5%.

    The second noise is at the edge of what is answered. At most 13 false, 3 missed and 22 refused of the first 300
    leave no doubt: with 8%, 3.2% or 12.5% they have probability below 2%, as the limits for 1000 have.
    """
    trials, false, missed, refused = 1000, 0, 0, 0
    made = noisy_releases(SCHEMA, chain, rows, deviation, np.random.default_rng(3), noise=noise)
    for number, evidence in enumerate(islice(made, trials)):
        if number == 300 and false <= 13 and missed <= 3 and refused <= 22:
            return
        try:
            found = graph(evidence, NAMES)
        except Unanswerable:
            refused += 1
            continue
        edges = {names_of(one.about)[0] for one in found if names_of(one.about)[1] == "an edge"}
        false += bool(edges - EDGES)
        missed += bool(EDGES - edges)
    assert false <= min(binom.isf(1e-7, trials, 0.05), 0.06 * trials)
    assert missed <= 0.02 * trials
    assert refused <= 0.1 * trials


def test_covariances_that_noise_makes_singular_are_refused():
    columns = chain(500, np.random.default_rng(0))
    with pytest.raises(Unanswerable, match="too large for the graph of these columns"):
        graph(noisy_evidence(SCHEMA, columns, 10.0, np.random.default_rng(1)), NAMES)


def test_few_records_are_refused():
    columns = chain(6, np.random.default_rng(0))
    with pytest.raises(Unanswerable, match="6 records are too few for the graph of 4 columns"):
        graph(noisy_evidence(SCHEMA, columns, 0.0, np.random.default_rng(1)), NAMES)


def test_columns_that_cannot_be_told_apart_are_refused():
    columns = chain(500, np.random.default_rng(0))
    with pytest.raises(ValueError, match="distinct"):
        graph(noisy_evidence(SCHEMA, columns, 0.0, np.random.default_rng(1)), ["a", "b", "a"])
    columns["d"] = columns["a"]
    with pytest.raises(Unanswerable, match="linear function of the others"):
        graph(noisy_evidence(SCHEMA, columns, 0.0, np.random.default_rng(1)), NAMES)
