import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.graphical_model.elimination import compile_program
from counterfoil.graphical_model.junction_tree import build
from counterfoil.graphical_model.propagation import Propagation, evaluate, evaluate_logarithms
from marginals.brute_force import cliques_of, domains, enumerate_joint, marginal_of


def propagation(domain, cliques, *, jointly=True):
    order = domain.axes(build(domain, cliques).elimination_order)
    cliques = [*cliques, *((name,) for name in domain.attributes)]
    axes = [domain.axes(clique) for clique in cliques]
    return cliques, Propagation(compile_program(domain.sizes, axes, order, jointly=jointly))


@st.composite
def models(draw):
    domain = draw(domains())
    cliques, engine = propagation(domain, draw(cliques_of(domain)), jointly=draw(st.booleans()))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1.0, 30.0, 2000.0]))
    tables = [np.array(rng.uniform(-spread, spread, domain.shape(clique))) for clique in cliques]
    return domain, cliques, engine, tables


def assert_same_as_enumeration(domain, cliques, tables, log_z, marginals):
    summed = {}
    for clique, table in zip(cliques, tables, strict=True):
        names = domain.canonical(clique)
        table = table.transpose([clique.index(name) for name in names])
        summed[names] = summed.get(names, 0.0) + table
    expected_log_z, joint = enumerate_joint(domain, summed)
    assert log_z == pytest.approx(expected_log_z, rel=1e-12, abs=1e-9)
    for clique, marginal in zip(cliques, marginals, strict=True):
        np.testing.assert_allclose(marginal, marginal_of(domain, joint, clique), rtol=1e-8, atol=1e-12)


@given(models())
@settings(max_examples=150, deadline=None)
def test_marginals_and_log_partition_equal_enumeration(model):
    domain, cliques, engine, tables = model
    assert_same_as_enumeration(domain, cliques, tables, *engine.marginals(tables))


@given(models())
@settings(max_examples=75, deadline=None)
def test_logarithms_give_the_same(model):
    domain, cliques, engine, tables = model
    calibration = engine._calibrate_log(tables)
    marginals = [calibration.probabilities(slot) for slot in range(len(cliques))]
    assert_same_as_enumeration(domain, cliques, tables, calibration.log_partition, marginals)


@given(models(), st.integers(0, 2**32))
@settings(max_examples=75, deadline=None)
def test_structural_zeros_get_no_probability(model, seed):
    domain, cliques, engine, tables = model
    rng = np.random.default_rng(seed)
    possible = tuple(rng.integers(domain.sizes))
    for clique, table in zip(cliques, tables, strict=True):
        zeros = np.array(rng.random(table.shape) < 0.3)
        zeros[tuple(possible[axis] for axis in domain.axes(clique))] = False
        table[zeros] = -np.inf
    log_z, marginals = engine.marginals(tables)
    assert_same_as_enumeration(domain, cliques, tables, log_z, marginals)
    for table, marginal in zip(tables, marginals, strict=True):
        assert (marginal[np.isneginf(table)] == 0.0).all()


@given(models())
@settings(max_examples=50, deadline=None)
def test_marginals_are_the_derivatives_of_the_log_partition_function(model):
    _, _, engine, tables = model
    tables = [np.asarray(table / np.abs(table).max(initial=1.0)) for table in tables]
    _, marginals = engine.marginals(tables)
    marginals = [marginal.copy() for marginal in marginals]
    rng = np.random.default_rng(0)
    for table, marginal in zip(tables, marginals, strict=True):
        cell = tuple(rng.integers(table.shape)) if table.ndim else ()
        log_z = []
        for step in (-1e-5, 1e-5):
            moved = [t.copy() if t is table else t for t in tables]
            next(m for m, t in zip(moved, tables, strict=True) if t is table)[cell] += step
            log_z.append(engine.marginals(moved)[0])
        assert (log_z[1] - log_z[0]) / 2e-5 == pytest.approx(marginal[cell], abs=1e-8)


def chain(potential, n):
    """A chain of n attributes with one pair potential between neighbors."""
    inputs = [(i, i + 1) for i in range(n - 1)]
    program = compile_program(potential.shape[:1] * n, inputs, range(n))
    return Propagation(program), [potential] * (n - 1)


def test_factors_that_disagree_by_more_than_floats_can_hold():
    # Each factor alone prefers what the other forbids: the best joint is exp(-1500) of the product of the best.
    a = np.array([[0.0, -1500.0], [-1500.0, -3000.0]])
    b = np.array([[-3000.0, -1500.0], [-1500.0, 0.0]])
    engine = Propagation(compile_program((2, 2), [(0, 1), (0, 1)], (0, 1)))
    log_z, (marginal, _) = engine.marginals([a, b])
    assert log_z == pytest.approx(-3000 + math.log(4))
    np.testing.assert_allclose(marginal, np.full((2, 2), 0.25))


def test_an_entry_lost_to_underflow_that_matters_is_noticed():
    # exp(-800) is 0 as a float, but another factor makes that value the likely one.
    first, second = np.array([0.0, -800.0]), np.array([-1000.0, 0.0])
    pair = np.array([[0.0, -5.0], [-5.0, 0.0]])
    engine = Propagation(compile_program((2, 2), [(0,), (0, 1), (1,), (0,)], (0, 1)))
    tables = [first, pair, np.zeros(2), second]
    log_z, marginals = engine.marginals(tables)
    log_joint = first[:, None] + pair + second[:, None]
    assert log_z == pytest.approx(float(np.logaddexp.reduce(log_joint.ravel())))
    assert marginals[0][1] == pytest.approx(1.0)


def test_a_long_chain_neither_overflows_nor_underflows():
    engine, tables = chain(np.full((50, 50), 30.0), 400)
    log_z, marginals = engine.marginals(tables)
    assert log_z == pytest.approx(399 * 30 + 400 * math.log(50))
    np.testing.assert_allclose(marginals[200], np.full((50, 50), 1 / 2500))


def test_nothing_possible_is_an_error():
    engine = Propagation(compile_program((2,), [(0,), (0,)], (0,)))
    with pytest.raises(ValueError, match="must have a positive probability"):
        engine.marginals([np.array([0.0, -np.inf]), np.array([-np.inf, 0.0])])


def test_runs_do_not_leak_into_each_other():
    rng = np.random.default_rng(3)
    engine, _ = chain(np.zeros((5, 5)), 6)
    first = [rng.normal(size=(5, 5)) for _ in range(5)]
    log_z, marginals = engine.marginals(first)
    kept = [marginal.copy() for marginal in marginals]
    engine.marginals([rng.normal(size=(5, 5)) * 50 for _ in range(5)])
    again_log_z, again = engine.marginals(first)
    assert again_log_z == log_z
    for before, now, first_result in zip(kept, again, marginals, strict=True):
        np.testing.assert_array_equal(before, now)
        np.testing.assert_array_equal(before, first_result)


def test_what_is_kept_is_not_summed():
    rng = np.random.default_rng(0)
    a, b, c = rng.random((3, 4)), rng.random((4, 5)), rng.random((5, 3, 2))
    program = compile_program((3, 4, 5, 2), [(0, 1), (1, 2), (2, 0, 3)], (1, 3), keep=(0, 2))
    expected = np.einsum("ab,bc,cad->ac", a, b, c)
    if program.axes[program.output] == (2, 0):
        expected = expected.T
    out, log_scale = evaluate(program, [a, b * 1e-90, c * 1e-90])
    np.testing.assert_allclose(out * np.exp(log_scale + 180 * np.log(10)), expected)
    logarithms = evaluate_logarithms(program, [np.log(t) for t in (a, b, c)])
    np.testing.assert_allclose(np.exp(logarithms), expected)
