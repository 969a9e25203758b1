"""A searched order gives the same product, with no more cells, and costs less where it is taken."""

from __future__ import annotations

import itertools
import string

import numpy as np
import pytest

from counterfoil.graphical_model import program_search
from counterfoil.graphical_model.elimination import compile_program
from counterfoil.graphical_model.program_search import cheap_program
from counterfoil.graphical_model.propagation import Propagation


def random_model(seed):
    """Sizes of eight axes, and the axes of a dozen pairs and triples that hold all of them."""
    rng = np.random.default_rng(seed)
    sizes = tuple(rng.integers(2, 6, 8).tolist())
    every = [*itertools.combinations(range(8), 2), *itertools.combinations(range(8), 3)]
    inputs = [every[i] for i in sorted(rng.choice(len(every), 9, replace=False))]
    held = {axis for axes in inputs for axis in axes}
    return sizes, [*inputs, *((axis,) for axis in range(8) if axis not in held)], rng


@pytest.mark.parametrize("seed", range(12))
def test_the_marginals_are_those_of_the_whole_table(seed, monkeypatch):
    """Against the full product by einsum."""
    monkeypatch.setattr(program_search, "_WORTH_SEARCHING", 0.0)
    sizes, inputs, rng = random_model(seed)
    program = cheap_program(sizes, inputs, range(8))
    logs = [rng.normal(size=[sizes[axis] for axis in axes]) for axes in inputs]
    letters = string.ascii_lowercase
    terms = ",".join("".join(letters[axis] for axis in axes) for axes in inputs)
    whole = np.einsum(f"{terms}->{letters[:8]}", *map(np.exp, logs), optimize=True)
    log_total, marginals = Propagation(program).marginals(logs)
    assert log_total == pytest.approx(np.log(whole.sum()))
    for axes, found in zip(inputs, marginals, strict=True):
        others = tuple(axis for axis in range(8) if axis not in axes)
        np.testing.assert_allclose(found, whole.sum(axis=others) / whole.sum(), rtol=1e-9)


def test_what_is_taken_costs_less_and_has_no_more_cells(monkeypatch):
    monkeypatch.setattr(program_search, "_WORTH_SEARCHING", 0.0)
    cheaper = 0
    for seed in range(12):
        sizes, inputs, _ = random_model(seed)
        given, found = compile_program(sizes, inputs, range(8)), cheap_program(sizes, inputs, range(8))
        assert found.cost <= given.cost
        assert found.cells <= given.cells
        cheaper += found.cost < given.cost
    assert cheaper > 6


def test_small_programs_are_not_searched():
    sizes, inputs, _ = random_model(0)
    assert cheap_program(sizes, inputs, range(8)) == compile_program(sizes, inputs, range(8))
