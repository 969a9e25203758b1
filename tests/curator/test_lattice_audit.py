"""Black-box audits of the lattice kernel density: it keeps its claim; half the noise, or the published scale, does not.

Neighbors are the worst that the query admits, or within 1% of it: records several bandwidths apart and from the faces.
False alarms: an audit of a sound mechanism fails by chance with probability at most 1e-6, and the same way every time,
as all noise but one is seeded; that from the system fails with that probability in each run. That the sizes let no twin
escape but with probability 1e-6 is what `test_sizes_are_large_enough` of `test_audit.py` computes, for these numbers of
runs and for cells with these losses.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit_tools import LessNoise, epsilon_lower_bound
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.lattice import LatticeKernelDensity
from counterfoil.domain.domain import Domain
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.lattice import KernelLattice
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import Randomness, SeededRandomness, SystemRandomness
from sensitive_tables import records_of

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
CODES = Domain(("a", "b"), (9, 9))
OTHERS = [(0, 0), (3, 8), (4, 4)] * 500
NARROW, WIDE = 0.02, 0.1
DELTA = 0.05


def neighbors_of(
    relation: NeighboringRelation, bandwidth: float
) -> tuple[LatticeKernelDensity, np.ndarray, np.ndarray]:
    """A query, and its exact answers on two tables of 1500 records that stay and one that comes, or moves."""
    asked = LatticeKernelDensity(KernelLattice(Box(("a", "b"), (0.0, 0.0), (8.0, 8.0)), (8, 8), bandwidth))
    before = [] if relation is ADD else [(2, 2)]
    one, other = (asked.exact(records_of(CODES, [*OTHERS, *rows])) for rows in (before, [(6, 6)]))
    return asked, one, other


def audit_laplace(bandwidth: float, relation: NeighboringRelation, epsilon: float, randomness: Randomness) -> float:
    """A lower bound on epsilon, by events of the likelihood ratios of 12,000 answers on each table."""
    asked, one, other = neighbors_of(relation, bandwidth)
    differs = np.flatnonzero(one != other)
    one, other = one[differs], other[differs]
    told = [
        LaplaceNoise(epsilon).add(np.tile(exact, (12_000, 1)), asked.l1_sensitivity(relation), randomness)
        for exact in (one, other)
    ]
    unit = asked.lattice.unit**2
    return epsilon_lower_bound(*((np.abs(t - one) - np.abs(t - other)).sum(axis=1) / unit for t in told), 0.0)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_laplace_noise_keeps_its_claim_and_half_of_it_does_not(epsilon, relation):
    seeded = SeededRandomness(20261122)
    assert audit_laplace(NARROW, relation, epsilon, seeded) <= epsilon
    assert audit_laplace(NARROW, relation, epsilon, LessNoise(seeded)) > epsilon
    assert audit_laplace(WIDE, relation, epsilon, seeded) <= epsilon


def test_laplace_noise_of_the_system_keeps_its_claim_at_scales_of_this_query():
    """Beyond 2**30, where samplers of whole numbers could run out of them."""
    assert audit_laplace(NARROW, ADD, 1.0, SystemRandomness()) <= 1
    assert audit_laplace(NARROW, ADD, 1.0, LessNoise(SystemRandomness())) > 1


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("bandwidth", [NARROW, WIDE])
def test_gaussian_noise_keeps_its_claim_and_half_of_it_does_not(bandwidth, epsilon, relation):
    asked, one, other = neighbors_of(relation, bandwidth)
    differs = np.flatnonzero(one != other)
    one, other = one[differs], other[differs]
    noise = GaussianNoise(1 / math.sqrt(GaussianFilter().capacity(Budget(epsilon, DELTA))) * (1 + 1e-12))
    direction = (other - one) / np.linalg.norm(other - one)

    def audit(randomness: Randomness) -> float:
        told = [
            noise.add(np.tile(exact, (30_000, 1)), asked.l2_sensitivity(relation), randomness) for exact in (one, other)
        ]
        return epsilon_lower_bound(*((answer - one) @ direction for answer in told), DELTA)

    seeded = SeededRandomness(20261122)
    assert audit(seeded) <= epsilon
    assert audit(LessNoise(seeded)) > epsilon


# The published scale


def published_loss(bandwidth: float) -> tuple[LatticeKernelDensity, np.ndarray, np.ndarray, float]:
    """Two tables, and the epsilon that Algorithm 3 spends on them over the one that it claims, p = 2 and k = 30.

    Its noise has the scale S(F) (k + 1) / epsilon, where S(F), the most that a record moves one lattice value, is the
    kernel's largest value. The loss of Laplace noise is the l1 distance over its scale, and attained. The records are
    on the diagonal, where search over all pairs finds the worst.
    """
    asked = LatticeKernelDensity(KernelLattice(Box(("a", "b"), (0.0, 0.0), (1.0, 1.0)), (30, 30), bandwidth))
    ends = {0.05: (0.32, 0.68), 0.1: (0.28, 0.72), 0.2: (0.25, 0.735)}[bandwidth]
    one, other = (asked.lattice.sums(np.full((1, 2), end)) for end in ends)
    return asked, one, other, float(np.abs(one - other).sum()) / (asked.lattice.unit**2 * 31)


@pytest.mark.parametrize(("bandwidth", "loss"), [(0.05, 0.91), (0.1, 3.63), (0.2, 10.96)])
def test_the_published_scale_spends_more_than_it_claims_where_kernels_are_wide(bandwidth, loss):
    """It happens not to at h = 0.05; our claim is above what is spent in all three cases."""
    asked, _, _, found = published_loss(bandwidth)
    claim = asked.l1_sensitivity(REPLACE) / (asked.lattice.unit**2 * 31)
    assert found == pytest.approx(loss, abs=0.01)
    assert found <= claim


def largest_ratio(bandwidth: float, epsilon: float, runs: int, *, published: bool) -> float:
    """The largest log-likelihood ratio of outcomes, which is at most epsilon, always, where the claim holds."""
    asked, one, other, _ = published_loss(bandwidth)
    noise = LaplaceNoise(epsilon)
    sensitivity = asked.lattice.unit**2 * 31.0 if published else asked.l1_sensitivity(REPLACE)
    told = noise.add(np.tile(one, (runs, 1)), sensitivity, SeededRandomness(3))
    return float(((np.abs(told - other) - np.abs(told - one)) / noise.scale(sensitivity)).sum(axis=1).max())


@pytest.mark.parametrize(("bandwidth", "epsilon"), [(0.1, 24.0), (0.2, 1.0), (0.2, 4.0)])
def test_outcomes_of_the_published_scale_give_it_away(bandwidth, epsilon):
    """One outcome with a larger ratio proves it.

    At least 2% of 8000 others (another seed) have one in each case: 2000 show none with probability below 1e-15. With
    our scale none ever has, which is no matter of chance.
    """
    assert largest_ratio(bandwidth, epsilon, 2000, published=True) > epsilon
    assert largest_ratio(bandwidth, epsilon, 2000, published=False) <= epsilon


def test_the_published_scale_happens_to_be_enough_for_narrow_kernels():
    assert largest_ratio(0.05, 16.0, 500, published=True) <= 16
