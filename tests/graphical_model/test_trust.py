"""Interactions that are hardly larger than their noise are believed less: against the formulas, and against truth."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.estimation import estimate
from counterfoil.graphical_model.interactions import Interactions
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.trust import FEWEST_DIRECTIONS, trust

TOTAL, WEIGHT = 20_000.0, 70.0
DOMAIN = Domain(("a", "b", "c"), (12, 15, 2))
PAIR = ("a", "b")


def margins_of(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {name: rng.dirichlet(np.full(size, 3.0)) for name, size in zip(DOMAIN.attributes, DOMAIN.sizes, strict=True)}


def trust_of(table: np.ndarray, margins: dict[str, np.ndarray], deviation: float, clique: tuple[str, ...]) -> float:
    """That of the interaction of a measured pair; the precisions are those of its own measurement alone."""
    interactions = Interactions(DOMAIN, [clique])
    observed = np.zeros(interactions.starts[-1])
    for i, inner in interactions.of_table(clique, table / TOTAL).items():
        interactions.table(observed, i)[...] = inner
    precisions = np.full(len(interactions.subsets), deviation**-2)
    found = trust(interactions, observed, precisions, margins, TOTAL, WEIGHT, {})
    assert not found.smooth
    factors = found.factors
    assert (factors[: len(clique)] == 1).all()  # single columns
    return float(factors[interactions.index[clique]])


@pytest.mark.parametrize("spread", [0.0, 0.5, 2.0, 8.0, 40.0])
def test_the_factor_is_that_of_the_variance_beyond_the_noise(spread):
    """Cells that lie off independence by normal numbers with the variance `spread` times what is expected of each.

    The mean of the factors of 300 tables is compared with v w / N; single factors have standard deviations of up to a
    fifth of it where the noise is as large, so that .08 is more than five standard errors.
    """
    rng, deviation, factors = np.random.default_rng(5), 12.0, []
    for _ in range(300):
        margins = margins_of(rng)
        expected = TOTAL * np.outer(margins["a"], margins["b"])
        table = expected + rng.normal(0, np.sqrt(spread * expected)) + rng.normal(0, deviation, expected.shape)
        factors.append(trust_of(table, margins, deviation, PAIR))
    wanted = spread * WEIGHT / TOTAL
    if spread == 0:
        assert np.mean(factors) < 2 * WEIGHT / TOTAL
    else:
        assert np.mean(factors) == pytest.approx(min(wanted, 1), rel=0.08)


def test_strong_interactions_are_believed_as_measured():
    rng = np.random.default_rng(2)
    margins = margins_of(rng)
    table = TOTAL * np.pad(np.eye(12), ((0, 0), (0, 3))) / 12
    assert trust_of(table, margins, 10.0, PAIR) == 1


def test_interactions_with_few_directions_are_believed_as_measured():
    margins = margins_of(np.random.default_rng(1))
    clique = ("a", "c")
    assert FEWEST_DIRECTIONS > (12 - 1) * (2 - 1)
    assert trust_of(TOTAL * np.outer(margins["a"], margins["c"]), margins, 50.0, clique) == 1


def measured(rng: np.random.Generator, shares: np.ndarray, deviation: float) -> list[NoisyMarginal]:
    """Both columns, and the pair with more noise."""
    table = TOTAL * shares
    columns = [(("a",), table.sum(axis=1)), (("b",), table.sum(axis=0))]
    return [
        *(NoisyMarginal(clique, counts + rng.normal(0, 5, counts.shape), 5.0) for clique, counts in columns),
        NoisyMarginal(PAIR, table + rng.normal(0, deviation, table.shape), deviation),
    ]


@pytest.mark.parametrize(("related", "better"), [(False, 0.35), (True, 1.05)])
def test_a_fit_follows_the_noise_less_and_the_records_no_less(related, better):
    """Errors of fitted pairs, over those of fits that believe all noise: ten tables each."""
    rng, ratios = np.random.default_rng(8), []
    for _ in range(10):
        margins = margins_of(rng)
        shares = np.outer(margins["a"], margins["b"])
        if related:
            shares = rng.dirichlet(np.full(180, 0.2)).reshape(12, 15)
        noisy = measured(rng, shares, 30.0)
        errors = [
            np.abs(
                estimate(DOMAIN, noisy, total=TOTAL, entropy_weight=WEIGHT, shrinks=shrinks).model.marginal(PAIR)
                / TOTAL
                - shares
            ).sum()
            for shrinks in (True, False)
        ]
        ratios.append(errors[0] / errors[1])
    assert np.mean(ratios) < better


def related_by_rank(strength: float) -> np.ndarray:
    """Shares of two columns of 20 codes, the first of which a third of the records have, that grow together."""
    margin = np.concatenate([[1 / 3], np.full(19, 2 / 57)])
    wave = np.cos(np.pi * (np.cumsum(margin) - margin / 2))
    shares = np.outer(margin, margin) * (1 + strength * np.outer(wave, wave))
    return shares / shares.sum()


@pytest.mark.parametrize(
    ("strength", "ordered", "believes", "better"), [(0.5, False, True, 0.6), (0.0, True, False, 0.2)]
)
def test_smooth_relations_are_found_where_noise_hides_single_cells(strength, ordered, believes, better):
    """Errors of fitted pairs, over those of other fits: of related columns of fits that know no order, and of columns
    that are independent of fits that believe all noise. Twenty tables, in each of which a cell has 50 records and noise
    of 50: single ratios differ by less than a half.
    """
    rng, domain, ratios = np.random.default_rng(6), Domain(("a", "b"), (20, 20)), []
    shares = related_by_rank(strength)
    for _ in range(20):
        noisy = measured(rng, shares, 50.0)
        errors = []
        for known, shrinks in ((True, True), (ordered, believes)):
            arguments = {"total": TOTAL, "entropy_weight": WEIGHT, "shrinks": shrinks}
            model = estimate(domain, noisy, ordered={"a": 20, "b": 20} if known else {}, **arguments).model
            errors.append(np.abs(model.marginal(PAIR) / TOTAL - shares).sum())
        ratios.append(errors[0] / errors[1])
    assert np.mean(ratios) < better
