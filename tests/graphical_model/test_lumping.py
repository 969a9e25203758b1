"""Codes that no interaction tells apart: marginals against the sum over every cell of the whole domain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.lumping import Lumping

NAMES = ("a", "b", "c", "d")


@st.composite
def refined_models(draw: st.DrawFn) -> tuple[Domain, dict[Clique, np.ndarray]]:
    """Tables of coarse codes, cut into finer ones, with potentials of single columns and some impossible codes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    coarse = [draw(st.integers(1, 3)) for _ in NAMES]
    codes = [np.sort(np.concatenate([np.arange(k), rng.integers(0, k, draw(st.integers(0, 4)))])) for k in coarse]
    domain = Domain(NAMES, tuple(map(len, codes)))
    cliques = draw(st.lists(st.sampled_from([*itertools.combinations(range(4), 2), (0, 1, 2)]), max_size=3))
    potentials: dict[Clique, np.ndarray] = {}
    for axes in dict.fromkeys(cliques):
        table = rng.normal(size=[coarse[axis] for axis in axes])
        table[rng.random(table.shape) < 0.1] = -np.inf
        table[(0,) * len(axes)] = 0.0
        potentials[tuple(NAMES[axis] for axis in axes)] = table[np.ix_(*(codes[axis] for axis in axes))]
    for axis, name in enumerate(NAMES):
        if rng.random() < 0.7:
            potentials[(name,)] = 5 * rng.normal(size=len(codes[axis]))
            potentials[(name,)][1:][rng.random(len(codes[axis]) - 1) < 0.3] = -np.inf
    return domain, potentials


def counted(domain: Domain, potentials: dict[Clique, np.ndarray], total: float) -> np.ndarray:
    joint = np.zeros(domain.sizes)
    for clique, table in potentials.items():
        axes = domain.axes(clique)
        joint = joint + table.reshape([domain.sizes[i] if i in axes else 1 for i in range(len(NAMES))])
    weights = np.exp(joint - joint.max())
    return np.asarray(total * weights / weights.sum())


@given(refined_models(), st.permutations(NAMES), st.integers(1, 3))
def test_marginals_are_those_of_the_whole_domain(
    made: tuple[Domain, dict[Clique, np.ndarray]], order: list[str], size: int
) -> None:
    domain, potentials = made
    joint, clique = counted(domain, potentials, 70.0), tuple(order[:size])
    gone = tuple(axis for axis, name in enumerate(NAMES) if name not in clique)
    kept = [name for name in NAMES if name in clique]
    expected = joint.sum(axis=gone).transpose([kept.index(name) for name in clique])
    found = GraphicalModel(domain, potentials, 70.0).marginal(clique)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_codes_are_one_where_all_tables_have_the_same_slices() -> None:
    domain = Domain(("a", "b", "c"), (4, 2, 3))
    pair = np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [-0.0, 1.0]])
    lumping = Lumping.of(domain, {("a", "b"): pair, ("a",): np.log([1.0, 5.0, 2.0, 5.0])})
    assert lumping is not None
    assert lumping.domain.sizes == (2, 2, 1)
    assert lumping.codes["a"].tolist() == [0, 1, 0, 0]
    np.testing.assert_allclose(lumping.shares["a"], [1 / 8, 1.0, 2 / 8, 5 / 8])
    np.testing.assert_allclose(lumping.shares["c"], 1 / 3)


def test_a_second_table_tells_codes_apart() -> None:
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    same, other = np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    assert Lumping.of(domain, {("a", "b"): same, ("a", "c"): other}) is None


def test_an_impossible_code_has_no_share() -> None:
    domain = Domain(("a", "b"), (3, 2))
    potentials = {("a", "b"): np.array([[0.0, 1.0]] * 2 + [[1.0, 0.0]]), ("a",): np.array([-np.inf, -np.inf, 0.0])}
    assert GraphicalModel(domain, potentials, 8.0).marginal(("a",)).tolist() == [0.0, 0.0, 8.0]


def test_a_model_of_nothing_is_refused_as_before() -> None:
    model = GraphicalModel(Domain(("a", "b"), (2, 2)), {("a",): np.full(2, -np.inf)}, 8.0)
    with pytest.raises(ValueError, match="positive probability"):
        model.marginal(("a",))


def test_unknown_and_repeated_columns_are_refused_as_before() -> None:
    model = GraphicalModel(Domain(("a", "b"), (2, 2)), {}, 8.0)
    with pytest.raises(ValueError, match="names each attribute once"):
        model.marginal(("a", "a"))
    with pytest.raises(ValueError, match="Unknown: 'z'"):
        model.marginal(("z",))
