"""Principal components against those of the rows, and how often all of their bounds hold together."""

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.inference.centered_moments import CovarianceMatrix, bernstein_norm
from counterfoil.inference.principal_components import pca
from counterfoil.schema import Boolean, Real, Schema
from noisy_moments import bought_moments, evidence_of, least_binomial, noised, noiseless, noisy_evidence

NAMES = ("a", "b", "c", "flag")
SCHEMA = Schema(
    (Real("a", -2.0, 2.0, bins=4), Real("b", 0.0, 4.0, bins=4), Real("c", -1.0, 1.0, bins=4), Boolean("flag"))
)


def rows_of(rows, rng):
    common = rng.uniform(-1, 1, rows)
    return {
        "a": np.clip(1.6 * common + rng.normal(0, 0.2, rows), -2, 2),
        "b": np.clip(2 + 1.2 * common + rng.normal(0, 0.3, rows), 0, 4),
        "c": np.clip(rng.normal(0, 0.35, rows), -1, 1),
        "flag": rng.random(rows) < 0.02,
    }


def scaled(columns):
    return np.array([columns["a"] / 2, columns["b"] / 2 - 1, columns["c"], 2.0 * columns["flag"] - 1])


def falling(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1], vectors[:, ::-1]


def test_without_noise_components_are_those_of_the_rows():
    columns = rows_of(2000, np.random.default_rng(0))
    values, vectors = falling(np.cov(scaled(columns), bias=True))
    found = pca(noisy_evidence(SCHEMA, columns, 0.0, np.random.default_rng(1)), NAMES)
    np.testing.assert_allclose([one.estimate for one in found[::2]], values, atol=1e-3)
    first = vectors[:, 0] * np.sign(vectors[0, 0])
    assert found[0].about == f"variance of component 1, along {first[0]:+.2f} a {first[1]:+.2f} b"
    assert found[1].about == "sine of the angle of component 1 to the population's"
    assert all(one.noise < 1e-3 for one in found)


@pytest.fixture(scope="module")
def population():
    return falling(np.cov(scaled(rows_of(2_000_000, np.random.default_rng(9)))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "deviation", "public"), [(2000, 1.0, True), (20_000, 150.0, True), (5000, 60.0, False)]
)
def test_all_bounds_hold_together(population, rows, deviation, public):
    """In 95% of 300 releases; fewer than `least_binomial` where each has that chance: probability 1e-7.

    98 of the first 100 leave no doubt: where 92.5% hold, they have probability 2%, and 285 of 300 have 6%.
    """
    values, vectors = population
    rng, trials, held, narrow = np.random.default_rng(2), 300, 0, 0
    for number in range(trials):
        if number == 100 and held >= 98:
            trials = 100
            break
        evidence = noisy_evidence(SCHEMA, rows_of(rows, rng), deviation, rng, public=public)
        found = pca(evidence, NAMES)
        measured = falling(CovarianceMatrix.of(evidence, NAMES, "A principal component analysis").values)[1]
        sines = np.sqrt(np.clip(1 - np.sum(measured * vectors, axis=0) ** 2, 0, 1))
        truth = np.column_stack([values, sines]).ravel()
        held += all(one.lower <= value <= one.upper for one, value in zip(found, truth, strict=True))
        narrow += found[1].upper < 1
    assert held / trials >= max(least_binomial(trials, 0.95), 0.95)
    assert rows < 20_000 or narrow > trials * 0.9


def test_the_bound_on_noise_alone_is_not_far_above_the_noise():
    """The table's own eigenvalues, in 95% of releases, and not by a bound that is many times too wide.

    95 of the first 100 leave no doubt: where 86% hold, they have probability .4%, and the least of 400 has 8%.
    """
    columns, rng = rows_of(3000, np.random.default_rng(3)), np.random.default_rng(4)
    own = falling(np.cov(scaled(columns), bias=True))[0]
    exact = noiseless(bought_moments(SCHEMA, pa.table(columns), 0.0, rng), 40.0)
    trials, held, used = 400, 0, []
    for number in range(trials):
        if number == 100 and held >= 95:
            trials = 100
            break
        found = pca(evidence_of(SCHEMA, [noised(exact, rng)], records=3000), NAMES)
        errors = [abs(one.estimate - value) for one, value in zip(found[::2], own, strict=True)]
        held += max(errors) <= found[0].noise
        used.append(max(errors) / found[0].noise)
    assert held / trials >= least_binomial(trials, 0.95)
    assert np.median(used) > 0.2


def test_a_direction_that_noise_can_turn_is_unknown():
    rng = np.random.default_rng(5)
    columns = {name: rng.uniform(-1, 1, 1000) for name in "xyz"}
    schema = Schema(tuple(Real(name, -1.0, 1.0, bins=4) for name in "xyz"))
    found = pca(noisy_evidence(schema, columns, 10.0, rng), list("xyz"))
    assert [one.upper for one in found[1::2]] == [1.0, 1.0, 1.0]
    for number, one in enumerate(found[1::2], 1):
        assert np.isnan(one.estimate)
        assert one.basis[-1].startswith(f"component {number}: the direction is unknown")


def test_the_bound_on_the_mean_of_random_matrices_is_kept():
    """Means of 50 matrices x x', against the level: 200 failures in 2000 have probability below 1e-7 at 10%."""
    rng = np.random.default_rng(6)
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 0.3]])
    chances = np.array([0.3, 0.1, 0.6])
    expected = (corners.T * chances) @ corners
    bound = bernstein_norm(2.0, float(np.linalg.eigvalsh(expected)[-1]), 2, 50.0, 0.1)
    shares = rng.multinomial(50, chances, size=2000) / 50
    means = np.einsum("tk,ki,kj->tij", shares, corners, corners)
    failures = int((np.abs(np.linalg.eigvalsh(means - expected)).max(axis=1) > bound).sum())
    assert failures <= 200
    # Not by being vacuous: twice the largest deviation seen is beyond it.
    assert bound < 4 * np.abs(np.linalg.eigvalsh(means - expected)).max()


def test_one_column_has_no_components():
    evidence = noisy_evidence(SCHEMA, rows_of(100, np.random.default_rng(0)), 1.0, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"A principal component analysis needs at least two columns\. Found 1"):
        pca(evidence, ["a"])
