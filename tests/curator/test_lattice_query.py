"""The lattice kernel density: its sensitivities against all pairs of records, its constants, and its receipts."""

from __future__ import annotations

import copy
import json
import math
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.curator import Curator
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.lattice import LatticeKernelDensity
from counterfoil.curator.trial import require_sound
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.lattice import KernelLattice
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.noise import Norm
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.verification import verify_receipt
from counterfoil.schema import Real, Schema

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
NAMES = ("a", "b", "c")


def query(steps: tuple[int, ...], bandwidth: float, positions: int = 4097) -> LatticeKernelDensity:
    p = len(steps)
    return LatticeKernelDensity(KernelLattice(Box(NAMES[:p], (0.0,) * p, (1.0,) * p), steps, bandwidth, positions))


def every_contribution(asked: LatticeKernelDensity) -> np.ndarray:
    """[records, lattice points]: what a record adds, for each that there is."""
    axis = np.linspace(0, 1, asked.lattice.positions)
    points = np.array(list(product(axis, repeat=len(asked.lattice.steps))))
    return np.array([asked.lattice.sums(point[None]) for point in points])


def moved(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    gap = np.abs(one - other).astype(float)
    return float(gap.sum(axis=-1).max()), float(np.sqrt((gap**2).sum(axis=-1)).max())


@pytest.mark.parametrize(
    ("steps", "bandwidth", "positions"),
    [((1,), 0.3, 28), ((3,), 0.2, 41), ((4,), 0.03, 268), ((1, 2), 0.5, 17), ((2, 1), 0.3, 28)],
)
def test_no_record_of_all_moves_the_answer_further(steps, bandwidth, positions):
    asked = query(steps, bandwidth, positions)
    added = every_contribution(asked)
    assert moved(added, np.zeros_like(added)) == pytest.approx(
        (asked.l1_sensitivity(ADD), asked.l2_sensitivity(ADD)), rel=1e-14
    )
    most = np.max([moved(added, one) for one in added], axis=0)
    claims = asked.l1_sensitivity(REPLACE), asked.l2_sensitivity(REPLACE)
    assert (most <= np.array(claims) * (1 + 1e-14)).all()
    assert claims == pytest.approx((2 * asked.l1_sensitivity(ADD), math.sqrt(2) * asked.l2_sensitivity(ADD)))
    if bandwidth == 0.03:  # kernels of neighbors in the lattice do not overlap: nothing is lost
        assert most == pytest.approx(claims, rel=1e-14)


@pytest.mark.parametrize("bandwidth", [0.02, 0.05, 0.1])
def test_two_records_of_the_inside_attain_what_is_claimed(bandwidth):
    """On the diagonal, about three bandwidths from opposite corners, as search finds; at the corners it is less."""
    asked = query((30, 30), bandwidth)
    axis = np.linspace(0, 0.5, 26)
    found = [moved(*(asked.lattice.sums(np.full((1, 2), at)) for at in (x, 1 - x))) for x in axis]
    best = np.max(found, axis=0)
    claims = np.array([asked.l1_sensitivity(REPLACE), asked.l2_sensitivity(REPLACE)])
    assert (best <= claims).all()
    assert (best >= 0.99 * claims).all()
    assert found[0][0] < 0.7 * claims[0]


@pytest.mark.parametrize("p", [1, 2, 3])
def test_a_replaced_record_moves_the_density_by_the_number_of_cells_whatever_the_bandwidth(p):
    """2 k**p in units of 1 / n: a single lattice value moves by less where the bandwidth grows, but more of them do."""
    for bandwidth in (0.1, 0.14, 0.16):
        asked = query((24,) * p, bandwidth)
        per_record = (asked.lattice.unit * bandwidth * math.sqrt(2 * math.pi)) ** p
        assert asked.l1_sensitivity(REPLACE) / per_record == pytest.approx(2 * 24**p, rel=0.01)


@pytest.mark.parametrize(("bandwidth", "above"), [(0.05, 0.912), (0.1, 3.648), (0.2, 14.31)])
def test_the_published_scale_is_not_the_sensitivity(bandwidth, above):
    """Algorithm 3 prints S(F) (k + 1) for (k + 1)**p lattice points, S(F) = unit**p. The joint bound is below both."""
    asked = query((30, 30), bandwidth)
    one_value = asked.lattice.unit**2
    assert asked.l1_sensitivity(REPLACE) / (one_value * 31) == pytest.approx(above, rel=1e-3)
    assert asked.l1_sensitivity(REPLACE) < one_value * 31**2


def test_answers_do_not_depend_on_how_records_are_divided():
    asked = query((5, 4), 0.2)
    points = np.random.default_rng(1).random((500, 2))

    def summed(*cuts: int) -> np.ndarray:
        parts = np.split(points, cuts)
        blocks = (Block(len(part), {}, {"a": part[:, 0], "b": part[:, 1]}) for part in parts)
        return sum(asked._sums(block) for block in blocks)

    whole = summed()
    assert whole.dtype == np.int64
    for cuts in ([0], [1, 2, 3], list(range(0, 500, 7)), [499]):
        assert np.array_equal(summed(*cuts), whole)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_it_passes_the_trial_of_queries_that_users_bring(p):
    sides = [(-5.0, 1.0), (2.0, 1e6), (0.0, 1.0)][:p]
    schema = Schema(tuple(Real(name, low, high, bins=16) for name, (low, high) in zip(NAMES[:p], sides, strict=True)))
    asked = LatticeKernelDensity(KernelLattice(Box.of(schema), (6, 5, 4)[:p], 0.15))
    assert require_sound(asked, schema) == asked.lattice.size


# Receipts


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple), st.floats(0.03, 5.0))
def test_receipts_restate_both_sensitivities_under_both_relations(steps, bandwidth):
    asked = query(steps, bandwidth, positions=301)
    described = json.loads(json.dumps(asked.describe()))
    for relation, records in ((ADD, 1.0), (REPLACE, 2.0)):
        assert asked.restated_sensitivity(described, records, Norm.L1) == asked.l1_sensitivity(relation)
        assert asked.restated_sensitivity(described, records, Norm.L2) == asked.l2_sensitivity(relation)


@pytest.mark.parametrize(
    "changed", [{"steps": [2**24]}, {"steps": [0]}, {"bandwidth": 0.0}, {"positions": 1}, {"unit": 0}, {"steps": None}]
)
def test_a_receipt_with_parameters_of_no_lattice_is_refused_at_once(changed):
    described = query((3,), 0.2).describe()
    with pytest.raises((TypeError, ValueError)):
        LatticeKernelDensity.restated_sensitivity({**described, **changed}, 2.0, Norm.L1)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("pure", [True, False])
def test_a_receipt_of_a_release_verifies_and_one_with_a_larger_bandwidth_does_not(relation, pure):
    schema = Schema((Real("x", 0.0, 1.0, bins=4), Real("y", -1.0, 1.0, bins=4)))
    table = pa.table({name: np.linspace(0, 1, 50) for name in ("x", "y")})
    asked = LatticeKernelDensity(KernelLattice(Box.of(schema), (8, 9), 0.1))
    rule, noise = (PureFilter(), LaplaceNoise(1.0)) if pure else (GaussianFilter(), GaussianNoise(8.0))
    budget = Budget(1.0 + 1e-6) if pure else Budget(1.0, 1e-5)
    with Curator(table, schema, budget=budget, relation=relation.value, seed=1) as curator:
        answer = curator.filter(rule, replacement_factor=2.0).ask(asked, noise)
        document = Receipt.from_curator(curator, method="densities", parameters={}, rows=0).document
    assert answer.values.shape == (90,)
    assert verify_receipt(document).problems == ()
    forged = copy.deepcopy(dict(document))
    forged["charges"][0]["parameters"]["bandwidth"] = 0.11
    assert "the sensitivity must be" in "".join(verify_receipt(forged).problems)
