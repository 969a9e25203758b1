"""Blocks of ranks: counts and errors in them, against counting by hand; and that a choice sees smooth relations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Domain
from counterfoil.marginals.rank_blocks import BLOCKS, RankBlocks, rank_blocks, single_codes
from counterfoil.marginals.scores import error_in_blocks, in_blocks, scores_of
from counterfoil.noise.scores import LARGEST_PENALTY
from sensitive_tables import records_of

counts_of_a_column = st.lists(st.floats(0, 1e6), min_size=2, max_size=60)


def of_one(counts: list[float], leading: int, most: int) -> np.ndarray:
    domain = Domain(("x",), (len(counts),))
    return rank_blocks(identity(domain), {"x": np.array(counts)}, {"x": leading}, most).coarsening.codes["x"]


@given(counts_of_a_column, st.data())
def test_blocks_are_neighbors_of_about_equally_many_records(counts, data):
    leading, most = data.draw(st.integers(1, len(counts))), data.draw(st.integers(1, 12))
    codes = of_one(counts, leading, most)
    assert (np.diff(codes) >= 0).all()
    assert (np.diff(codes[leading - 1 :]) == 1).all()
    if leading <= most:
        assert codes.tolist() == list(range(len(counts)))
        return
    assert codes[leading - 1] < most
    total, held = sum(counts[:leading]), np.bincount(codes[:leading], counts[:leading])
    for block, records in enumerate(held):
        inside = np.array(counts[:leading])[codes[:leading] == block]
        # Of its first and its last code at most half lies beyond the block's share of all ranks.
        assert records <= total / most + (inside[0] + inside[-1]) / 2 + 1e-6 * total + 1e-9


def test_a_column_without_records_has_blocks_of_equally_many_codes():
    assert of_one([0.0] * 6, 6, 3).tolist() == [0, 0, 1, 1, 2, 2]


def small() -> tuple[Domain, Coarsening, RankBlocks]:
    """Six codes of x of which two are merged, in two blocks, and a missing one; three codes without order of y."""
    fine = Domain(("x", "y"), (7, 3))
    coarsening = Coarsening(fine, {"x": np.array([0, 1, 2, 3, 3, 4, 5]), "y": np.arange(3)})
    counts = {"x": np.array([10.0, 10.0, 10.0, 10.0, 20.0, 3.0]), "y": np.ones(3)}
    return fine, coarsening, rank_blocks(coarsening, counts, {"x": 5, "y": 0}, most=2)


def test_counts_in_blocks_are_sums_and_their_noise_is_that_of_their_cells():
    _, coarsening, blocks = small()
    assert blocks.coarsening.codes["x"].tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert blocks.coarsening.codes["y"].tolist() == [0, 1, 2]
    table = np.random.default_rng(0).integers(0, 50, coarsening.domain.shape(("x", "y")))
    by_hand = np.array([table[:3].sum(axis=0), table[3:5].sum(axis=0), table[5]])
    np.testing.assert_array_equal(blocks.counts(("x", "y"), table), by_hand)
    root = np.broadcast_to(blocks.root_cells(("x", "y")), (3, 3))
    np.testing.assert_allclose(root**2, [[3] * 3, [2] * 3, [1] * 3])
    expected = np.minimum(by_hand, math.sqrt(2 / math.pi) * 4.0 * root).sum()
    assert error_in_blocks(("x", "y"), by_hand, 4.0, blocks) == pytest.approx(expected)


def test_errors_behind_the_wall_are_those_of_blocks():
    fine, coarsening, blocks = small()
    rng = np.random.default_rng(1)
    rows = [(int(rng.integers(7)), int(rng.integers(3))) for _ in range(200)]
    estimates = {("x", "y"): rng.uniform(0, 20, coarsening.domain.shape(("x", "y")))}
    query = scores_of(estimates, {("x", "y"): 1.0}, 2.0, blocks).among(np.array([0]))
    counts = np.zeros((3, 3))
    for x, y in rows:
        counts[blocks.coarsening.codes["x"][x], y] += 1
    (table,) = in_blocks(estimates, list(estimates), blocks).values()
    error = np.abs(counts - np.rint(table)).sum() - error_in_blocks(("x", "y"), table, 2.0, blocks)
    assert query.exact(records_of(fine, rows)).tolist() == pytest.approx([error])


def test_a_smooth_relation_outdoes_scatter():
    """A monotone relation of two numbers is about as far off in single cells as its noise; in blocks it stands out."""
    codes, rows = 32, 4000
    domain = Domain(("x", "y"), (codes, codes))
    rng = np.random.default_rng(2)
    x = rng.random(rows)
    y = (x + rng.uniform(-0.3, 0.3, rows)) % 1.0
    records = records_of(domain, [(int(codes * a), int(codes * b)) for a, b in zip(x, y, strict=True)])
    estimates = {("x", "y"): np.full((codes, codes), rows / codes**2)}
    even = {name: np.ones(codes) for name in "xy"}
    scores = [
        scores_of(estimates, {("x", "y"): 1.0}, 6.0, blocks).among(np.array([0])).exact(records)[0]
        for blocks in (single_codes(identity(domain)), rank_blocks(identity(domain), even, {"x": codes, "y": codes}))
    ]
    assert scores[0] < 0 < scores[1] < LARGEST_PENALTY
    assert codes > BLOCKS
