"""Draws from the family that a fit extends to, and the weights that make them a sample of the reference again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Domain
from counterfoil.reweighting.refinement import ColumnFamily
from counterfoil.reweighting.support import balanced, support_of_codes, with_draws
from counterfoil.schema import Boolean, Integer, Rule, Schema

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
CLIQUES = (("a",), ("a", "b"), ("b", "c"), ("a", "b", "c"))
CELLS = np.array(list(itertools.product(*(range(size) for size in DOMAIN.sizes))))


MERGED = Coarsening(DOMAIN, {"a": np.array([0, 1]), "b": np.array([1, 0, 1]), "c": np.array([0, 1, 1, 0])})


def family_of(rng, coarsening=None):
    columns = tuple(rng.dirichlet(np.full(size, 2.0)) for size in DOMAIN.sizes)
    coarse = DOMAIN if coarsening is None else coarsening.domain
    potentials = rng.normal(0, 0.7, sum(map(coarse.size, CLIQUES)))
    return ColumnFamily(DOMAIN, columns, CLIQUES, coarsening), potentials


def density_of(family, potentials):
    """[24]: the law by enumeration."""
    reference = np.prod([family.columns[axis][CELLS[:, axis]] for axis in range(3)], axis=0)
    weights = reference * np.exp(family.exponents(CELLS, potentials))
    return reference, weights / weights.sum()


@pytest.mark.parametrize("coarsening", [None, MERGED], ids=["each value", "merged values"])
def test_exponents_are_sums_over_cells(coarsening):
    family, potentials = family_of(np.random.default_rng(0), coarsening)
    merged = coarsening or identity(DOMAIN)
    tables = np.split(potentials, np.cumsum([merged.domain.size(clique) for clique in CLIQUES])[:-1])
    for row, found in zip(CELLS, family.exponents(CELLS, potentials), strict=True):
        groups = dict(
            zip("abc", (merged.codes[name][code] for name, code in zip("abc", row, strict=True)), strict=True)
        )
        expected = sum(
            table.reshape(merged.domain.shape(clique))[tuple(groups[name] for name in clique)]
            for clique, table in zip(CLIQUES, tables, strict=True)
        )
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("coarsening", [None, MERGED], ids=["each value", "merged values"])
@pytest.mark.parametrize("start", ["exact", "elsewhere"])
def test_moves_keep_the_law_and_lead_to_it(start, coarsening):
    """Pearson's statistic over 24 cells: its false-alarm probability is 1e-6. From elsewhere, after 40 sweeps."""
    rng = np.random.default_rng(3)
    family, potentials = family_of(rng, coarsening)
    _, law = density_of(family, potentials)
    n = 20_000
    codes = CELLS[rng.choice(24, n, p=law)] if start == "exact" else np.zeros((n, 3), dtype=int)
    for _ in range(1 if start == "exact" else 20):
        codes = family.moved(codes, potentials, rng)
    counts = np.bincount(np.ravel_multi_index(codes.T, DOMAIN.sizes), minlength=24)
    assert ((counts - n * law) ** 2 / (n * law)).sum() < chi2.isf(1e-6, 23)


def test_other_potentials_are_noticed():
    """The test above would fail: with the sign of the potentials turned."""
    rng = np.random.default_rng(3)
    family, potentials = family_of(rng)
    _, law = density_of(family, potentials)
    codes = family.moved(CELLS[rng.choice(24, 20_000, p=law)], -potentials, rng)
    counts = np.bincount(np.ravel_multi_index(codes.T, DOMAIN.sizes), minlength=24)
    assert ((counts - 20_000 * law) ** 2 / (20_000 * law)).sum() > 10 * chi2.isf(1e-6, 23)


def test_balanced_draws_of_two_densities_are_a_sample_of_the_first():
    """Deviations in 24 cells within 6 of their standard errors; unbalanced, they would be far beyond."""
    rng = np.random.default_rng(5)
    family, potentials = family_of(rng)
    reference, law = density_of(family, potentials)
    n, m = 4000, 12_000
    counts = np.bincount(rng.choice(24, n, p=reference), minlength=24)
    counts = counts + np.bincount(rng.choice(24, m, p=law), minlength=24)
    exponents = np.stack([np.zeros(24), family.exponents(CELLS, potentials)])
    found = balanced(counts.astype(float), exponents, np.array([n, m], dtype=float))
    away = np.abs(found - reference) / np.sqrt(reference / n)
    assert away.max() < 6
    assert (np.abs(counts / counts.sum() - reference) / np.sqrt(reference / n)).max() > 10


def test_barred_records_do_not_come_back():
    schema = Schema(
        (Integer("a", 0, 3), Boolean("b"), Integer("c", 0, 3)), (Rule("not b", "a <= 1"), Rule("a + c <= 5"))
    )
    domain, rng = schema.domain, np.random.default_rng(0)
    columns = tuple(np.full(size, 1 / size) for size in domain.sizes)
    first = support_of_codes(
        schema, lambda m, rng: np.column_stack([rng.integers(0, size, m) for size in domain.sizes]), 500, rng
    )
    family = ColumnFamily(domain, columns, (("a", "b"),))
    potentials = rng.normal(0, 1, domain.size(("a", "b")))
    support = with_draws(first, family, [(family.moved(first.codes, potentials, rng), potentials)], 500)
    a, b, c = support.codes.T
    assert not ((a <= 1) & (b == 1)).any()
    assert (a + c <= 5).all()
    assert support.prior.sum() == pytest.approx(1)
