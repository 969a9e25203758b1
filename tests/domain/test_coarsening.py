"""Merging rare values: what is merged, what is kept, and how they come back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.merging import merge_column, merge_rare, refine
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from sensitive_tables import records_of

counts = st.lists(st.integers(-30, 300).map(float), min_size=1, max_size=15)


def merged(told: list[float], *, ordered: int = 0, scale: float = 10.0, deviations: float = 3.0) -> np.ndarray:
    domain = Domain(("a",), (len(told),))
    noisy = [NoisyMarginal(("a",), np.array(told), scale)]
    return merge_rare(domain, noisy, ordered={"a": ordered}, deviations=deviations).codes["a"]


@st.composite
def columns(draw):
    told = draw(counts)
    return told, draw(st.integers(0, len(told)))


@given(columns())
def test_every_coarse_code_is_used(column):
    codes = merged(column[0], ordered=column[1])
    assert codes.shape == (len(column[0]),)
    assert set(codes) == set(range(codes.max() + 1))


@given(columns())
def test_ordered_values_are_merged_with_neighbors_alone(column):
    told, ordered = column
    codes = merged(told, ordered=ordered)
    first = codes[:ordered]
    assert np.isin(np.diff(first), (0, 1)).all(), "each coarse code is an interval"
    assert not set(first) & set(codes[ordered:]), "missing values stay apart"


@given(columns())
def test_frequent_values_stay_alone(column):
    told, ordered = column
    codes = merged(told, ordered=ordered)
    for code, count in zip(codes, told, strict=True):
        if count >= 30:
            assert (codes == code).sum() == 1


@given(columns())
def test_rare_ones_without_order_become_one(column):
    told, ordered = column
    assume(max(told) >= 30)  # else the threshold may be halved
    codes, rare = merged(told, ordered=ordered)[ordered:], np.array(told[ordered:]) < 30
    assert len(set(codes[rare])) <= 1
    assert len(set(codes)) == (~rare).sum() + rare.any()


@given(counts)
def test_runs_are_cut_no_later_than_where_they_stand_out(told):
    """A piece of a run of rare values stands out, or its run has no piece that does; without its last member it does
    not, unless that joined it as a leftover."""
    assume(max(told) >= 30)
    codes, told = merged(told, ordered=len(told)), np.array(told)
    rare = told < 30
    for piece in range(codes.max() + 1):
        (members,) = np.nonzero(codes == piece)
        if not rare[members[0]]:
            continue
        assert rare[members].all()
        starts_run = members[0] == 0 or not rare[members[0] - 1]
        ends_run = members[-1] == len(told) - 1 or not rare[members[-1] + 1]
        stands_out = [told[members[:k]].sum() >= 30 * np.sqrt(k) for k in range(1, len(members) + 1)]
        assert any(stands_out) or (starts_run and ends_run)
        if not ends_run:
            assert stands_out.index(True) == len(members) - 1


@pytest.mark.parametrize(
    ("told", "ordered", "expected"),
    [
        ([50, 5, 60, 7], 0, [0, 2, 1, 2]),
        ([50, 5, 60], 0, [0, 1, 2]),  # one rare value has nobody to join
        ([1, 8, 9], 0, [0, 1, 2]),  # all would become one: at a quarter of the threshold two are frequent
        ([1, 1, 1, 9], 0, [1, 1, 1, 0]),
        ([0, 0, 0], 0, [0, 0, 0]),  # nothing stands out however low it is
        ([30, 29.9, 29.9], 0, [0, 1, 1]),  # the threshold itself is frequent
        ([5, 6, 50, 4, 3, 60], 6, [0, 0, 1, 2, 2, 3]),
        ([25, 25, 25, 25], 4, [0, 0, 1, 1]),  # 50 stands out of 30 sqrt(2)
        ([25, 25, 5, 50], 4, [0, 0, 0, 1]),  # a leftover joins
        ([25, 25, 5], 3, [0, 1, 2]),  # but not where one value would be left: at half the threshold 25 is frequent
        ([25, 25, 50, 5], 4, [0, 0, 1, 2]),  # not a frequent neighbor
        ([5, 5, 2], 2, [0, 0, 1]),  # the missing ones stay apart
        ([5], 1, [0]),
    ],
)
def test_by_hand(told, ordered, expected):
    assert merged([float(count) for count in told], ordered=ordered).tolist() == expected


@given(columns())
def test_one_value_is_left_only_where_none_stands_out_however_low(column):
    told, ordered = column
    assume(len(told) > 1)
    if merged(told, ordered=ordered).max() == 0:
        assert max(told) < 30 / 2**5


@given(columns(), st.floats(0.5, 5))
def test_the_threshold_is_in_deviations(column, factor):
    told, ordered = column
    assume(all(abs(count - 30) > 1e-6 for count in told))
    scaled = merged([count * factor for count in told], ordered=ordered, scale=10 * factor)
    assert scaled.tolist() == merged(told, ordered=ordered).tolist()


@st.composite
def coarsenings(draw, sizes=(4, 5, 3)):
    fine = Domain(("a", "b", "c"), sizes)
    codes = {}
    for name in fine.attributes:
        raw = draw(st.lists(st.integers(0, 3), min_size=fine[name], max_size=fine[name]))
        codes[name] = np.unique(raw, return_inverse=True)[1]
    return Coarsening(fine, codes)


@given(coarsenings(), st.integers(0, 2**32))
def test_merging_counts_is_counting_merged_codes(coarsening, seed):
    rng = np.random.default_rng(seed)
    fine = coarsening.fine
    codes = {name: rng.integers(0, fine[name], 50) for name in fine.attributes}
    small = coarsening.merge_codes(codes, fine.attributes)
    assert all(small[name].max() < coarsening.domain[name] for name in fine.attributes)
    for name in fine.attributes:
        told = NoisyMarginal((name,), np.bincount(codes[name], minlength=fine[name]), 2.0)
        again = merge_column(coarsening, told, 50.0)
        assert again.counts.tolist() == np.bincount(small[name], minlength=coarsening.domain[name]).tolist()
        assert again.scale == 2.0
    rows = list(zip(*(codes[name].tolist() for name in fine.attributes), strict=True))
    query = MarginalCounts(fine, (("a", "b"), ("c",)), coarsening)
    pair, single = query.split(query.exact(records_of(fine, rows)))
    expected = np.zeros(coarsening.domain.shape(("a", "b")))
    np.add.at(expected, (small["a"], small["b"]), 1)
    assert np.array_equal(pair, expected)
    assert np.array_equal(single, np.bincount(small["c"], minlength=coarsening.domain["c"]))


@given(coarsenings(), st.integers(0, 2**32))
def test_zeros_are_the_cells_of_which_nothing_is_possible(coarsening, seed):
    impossible = np.random.default_rng(seed).random(coarsening.fine.shape(("a", "b"))) < 0.7
    found = coarsening.zeros({("a", "b"): impossible}).get(("a", "b"))
    expected = np.ones(coarsening.domain.shape(("a", "b")), dtype=bool)
    for i, j in itertools.product(*map(range, impossible.shape)):
        expected[coarsening.codes["a"][i], coarsening.codes["b"][j]] &= impossible[i, j]
    if found is None:
        assert not expected.any()
    else:
        assert np.array_equal(found, expected)


def random_model(domain: Domain, rng: np.random.Generator, cliques) -> GraphicalModel:
    return GraphicalModel(domain, {c: rng.normal(0, 1, domain.shape(c)) for c in cliques}, 200.0)


@given(coarsenings(), st.integers(0, 2**32))
def test_refining_keeps_coarse_marginals_and_the_shares_within(coarsening, seed):
    rng = np.random.default_rng(seed)
    columns = random_model(coarsening.fine, rng, [("a",), ("b",), ("c",)])
    model = random_model(coarsening.domain, rng, [("a", "b"), ("b", "c")])
    refined = refine(coarsening, model, columns, {})
    assert refined.total == model.total
    for clique in (("a",), ("a", "b"), ("a", "c"), ("a", "b", "c")):
        fine = refined.marginal(clique)
        small = np.zeros(coarsening.domain.shape(clique))
        np.add.at(small, np.ix_(*(coarsening.codes[name] for name in clique)), fine)
        assert small == pytest.approx(model.marginal(clique))
        # Within a coarse cell, columns are independent with the shares that they have by themselves.
        expected = model.marginal(clique)[np.ix_(*(coarsening.codes[name] for name in clique))]
        for axis, name in enumerate(clique):
            own, group = columns.marginal((name,)), coarsening.codes[name]
            share = own / np.bincount(group, own)[group]
            expected = expected * share.reshape([-1 if k == axis else 1 for k in range(len(clique))])
        assert fine == pytest.approx(expected)


def test_refining_bars_what_is_impossible():
    fine = Domain(("a", "b"), (3, 2))
    coarsening = Coarsening(fine, {"a": np.array([0, 1, 1]), "b": np.array([0, 1])})
    columns = GraphicalModel(fine, {("a",): np.log([1.0, 2.0, 3.0])}, 60.0)
    zeros = {("a", "b"): np.array([[False, False], [True, False], [False, False]])}
    refined = refine(coarsening, GraphicalModel(coarsening.domain, {}, 60.0), columns, zeros)
    assert refined.marginal(("a", "b"))[1, 0] == 0
    assert (refined.marginal(("a", "b"))[zeros["a", "b"] == 0] > 0).all()


def test_a_value_that_the_columns_exclude_does_not_come_back():
    fine = Domain(("a",), (4,))
    coarsening = Coarsening(fine, {"a": np.array([0, 1, 1, 1])})
    with np.errstate(divide="ignore"):
        columns = GraphicalModel(fine, {("a",): np.log([1.0, 0.0, 1.0, 3.0])}, 10.0)
    refined = refine(coarsening, GraphicalModel(coarsening.domain, {}, 10.0), columns, {})
    assert refined.marginal(("a",)) == pytest.approx([5, 0, 1.25, 3.75])


def test_a_group_without_mass_is_shared_equally():
    fine = Domain(("a",), (3,))
    coarsening = Coarsening(fine, {"a": np.array([0, 1, 1])})
    with np.errstate(divide="ignore"):
        columns = GraphicalModel(fine, {("a",): np.log([1.0, 0.0, 0.0])}, 10.0)
    refined = refine(coarsening, GraphicalModel(coarsening.domain, {}, 10.0), columns, {})
    assert refined.marginal(("a",)) == pytest.approx([5, 2.5, 2.5])


def test_the_identity_changes_nothing():
    domain = Domain(("a", "b"), (3, 4))
    same = identity(domain)
    assert same.domain == domain
    model = random_model(domain, np.random.default_rng(1), [("a", "b")])
    refined = refine(same, model, random_model(domain, np.random.default_rng(2), [("a",)]), {})
    assert refined.marginal(("a", "b")) == pytest.approx(model.marginal(("a", "b")))


def test_leading_codes_are_in_order_where_neighbors_alone_were_merged():
    fine = Domain(("a", "b", "c", "d"), (6, 4, 4, 3))
    codes = {"a": [0, 0, 1, 2, 2, 3], "b": [0, 1, 0, 2], "c": [1, 0, 2, 2], "d": [0, 1, 2]}
    coarse = Coarsening(fine, {name: np.array(one) for name, one in codes.items()})
    assert coarse.leading({"a": 5, "b": 3, "c": 4, "d": 0}) == {"a": 3}, "b comes back, c begins elsewhere"
    assert coarse.leading({"a": 6, "b": 2}) == {"a": 4, "b": 2}
