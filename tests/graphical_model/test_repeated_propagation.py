"""A program that runs again and again: the same as one run of it, whatever is compiled and whatever is a product."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import repeated_propagation
from counterfoil.graphical_model.elimination import compile_program
from counterfoil.graphical_model.junction_tree import build
from counterfoil.graphical_model.propagation import Propagation
from counterfoil.graphical_model.repeated_propagation import RepeatedPropagation
from marginals.brute_force import cliques_of, domains, enumerate_joint, marginal_of


def program_of(domain, cliques, *, jointly=True):
    order = domain.axes(build(domain, cliques).elimination_order)
    return compile_program(domain.sizes, [domain.axes(clique) for clique in cliques], order, jointly=jointly)


def is_sum(step):
    """Whether something is summed that two tensors have."""
    return bool({*step.left_axes} & {*step.right_axes} - {*step.out_axes})


@st.composite
def models(draw):
    domain = draw(domains())
    cliques = [*draw(cliques_of(domain)), *((name,) for name in domain.attributes)]
    cliques = [domain.canonical(clique) for clique in cliques]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1.0, 30.0, 2000.0]))
    tables = [np.array(rng.uniform(-spread, spread, domain.shape(clique))) for clique in cliques]
    return domain, cliques, program_of(domain, cliques, jointly=draw(st.booleans())), tables


@pytest.mark.parametrize("cost", [0.0, 100.0, 1000.0, math.inf])
@given(model=models())
@settings(max_examples=75, deadline=None)
def test_marginals_equal_enumeration_whichever_steps_are_large(cost, model):
    domain, cliques, program, tables = model
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeated_propagation, "_numpy_cost", lambda _, step: cost if is_sum(step) else math.inf)
        engine = RepeatedPropagation(program)
    summed = {}
    for clique, table in zip(cliques, tables, strict=True):
        summed[clique] = summed.get(clique, 0.0) + table
    expected_log_z, joint = enumerate_joint(domain, summed)
    for _ in range(2):  # nothing of the first run is left in the second
        log_z, marginals = engine.marginals(tables)
        assert log_z == pytest.approx(expected_log_z, rel=1e-12, abs=1e-9)
        for clique, marginal in zip(cliques, marginals, strict=True):
            np.testing.assert_allclose(marginal, marginal_of(domain, joint, clique), rtol=1e-8, atol=1e-12)
        engine.marginals([np.zeros_like(table) for table in tables])


def chain(n, size, rng, *, scale):
    """A chain of columns with strong potentials, so that messages have to be rescaled on the way."""
    domain = Domain(tuple(f"c{i}" for i in range(n)), (size,) * n)
    cliques = [(f"c{i}", f"c{i + 1}") for i in range(n - 1)]
    return program_of(domain, cliques), [rng.normal(0.0, scale, (size, size)) for _ in cliques]


@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0, 300.0, 1e4])
def test_long_chains_stay_in_range_or_go_to_logarithms(scale):
    program, tables = chain(60, 4, np.random.default_rng(1), scale=scale)
    expected = Propagation(program)._calibrate_log(tables)
    log_z, marginals = RepeatedPropagation(program).marginals(tables)
    assert log_z == pytest.approx(expected.log_partition, rel=1e-12)
    for slot, marginal in enumerate(marginals):
        np.testing.assert_allclose(marginal, expected.probabilities(slot), rtol=1e-7, atol=1e-12)


def test_messages_were_rescaled_and_both_kinds_of_steps_took_part(monkeypatch):
    program, tables = chain(60, 4, np.random.default_rng(1), scale=40.0)
    engine = RepeatedPropagation(program)
    engine.marginals(tables)
    assert np.count_nonzero(engine._small.log_factors) > 0
    rng = np.random.default_rng(2)
    domain = Domain(("a", "b", "c", "d", "e"), (40, 30, 20, 3, 2))
    cliques = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e")]
    program = program_of(domain, cliques)
    numpy_cost = repeated_propagation._numpy_cost
    monkeypatch.setattr(repeated_propagation, "_numpy_cost", lambda *of: 1e-3 * numpy_cost(*of))
    engine = RepeatedPropagation(program)
    assert {type(run) for run in engine._runs} == {int, range}
    tables = [rng.normal(0.0, 2.0, domain.shape(clique)) for clique in cliques]
    log_z, marginals = engine.marginals(tables)
    expected_z, expected = Propagation(program).marginals(tables)
    assert log_z == pytest.approx(expected_z, rel=1e-12)
    for mine, theirs in zip(marginals, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-15)


def test_structural_zeros_get_no_probability_and_nothing_possible_is_refused():
    program, tables = chain(5, 3, np.random.default_rng(3), scale=1.0)
    tables[1][0, :] = -np.inf
    engine = RepeatedPropagation(program)
    _, marginals = engine.marginals(tables)
    assert (marginals[1][0] == 0.0).all()
    assert (marginals[0][:, 0] == 0.0).all()
    tables[1][...] = -np.inf
    with pytest.raises(ValueError, match="must have a positive probability"):
        engine.marginals(tables)
