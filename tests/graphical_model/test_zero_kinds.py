"""Values that structural zeros treat differently are not merged, so that coarse models lose nothing when refined."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterfoil
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.merging import refine
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.zero_kinds import FEW_KINDS, MOST_KINDS, kept_apart, kinds_apart, zero_kinds

DOMAIN = Domain(("a", "b", "c"), (5, 4, 3))
EXACT = [NoisyMarginal((name,), np.zeros(DOMAIN[name]), 1e-9) for name in DOMAIN.attributes]
CLIQUES = (("a", "b"), ("b", "c"), ("c", "a"), ("b",))


@st.composite
def coarsenings(draw: st.DrawFn) -> Coarsening:
    """Of each attribute, in any way."""
    codes = {}
    for name, size in zip(DOMAIN.attributes, DOMAIN.sizes, strict=True):
        given_codes = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        codes[name] = np.unique(given_codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return Coarsening(DOMAIN, codes)


@st.composite
def zeros(draw: st.DrawFn) -> dict[tuple[str, ...], np.ndarray]:
    """Tables of some cliques; the first code of each column goes with all others."""
    found = {}
    for clique in draw(st.lists(st.sampled_from(CLIQUES), unique=True, max_size=3)):
        shape = DOMAIN.shape(clique)
        cells = int(np.prod(shape))
        table = np.array(draw(st.lists(st.booleans(), min_size=cells, max_size=cells))).reshape(shape)
        for axis in range(len(shape)):
            np.moveaxis(table, axis, 0)[0] = False
        found[clique] = table
    return found


@given(zeros())
def test_kinds_are_equal_where_all_tables_bar_the_same_cells(tables) -> None:
    kinds = zero_kinds(DOMAIN, tables)
    assert set(kinds) == {name for clique in tables for name in clique}
    for name, of in kinds.items():
        for one, other in itertools.combinations(range(DOMAIN[name]), 2):
            alike = all(
                np.array_equal(table.take(one, clique.index(name)), table.take(other, clique.index(name)))
                for clique, table in tables.items()
                if name in clique
            )
            assert (of[one] == of[other]) == alike


@given(coarsenings(), zeros())
def test_coarse_cells_are_possible_as_a_whole_or_not_at_all(merged, tables) -> None:
    apart = kept_apart(merged, tables, EXACT, 1.0)
    for name in DOMAIN.attributes:
        for one, other in itertools.combinations(range(DOMAIN[name]), 2):
            together = merged.codes[name][one] == merged.codes[name][other]
            kinds = zero_kinds(DOMAIN, tables).get(name, np.zeros(DOMAIN[name]))
            assert (apart.codes[name][one] == apart.codes[name][other]) == (together and kinds[one] == kinds[other])
            assert np.sign(merged.codes[name][one] - merged.codes[name][other]) in (
                0,
                np.sign(apart.codes[name][one] - apart.codes[name][other]),
            ), "the order of coarse codes is kept"
    for clique, coarse in apart.zeros(tables).items():
        fine = coarse[np.ix_(*(apart.codes[name] for name in clique))]
        assert np.array_equal(fine, tables[clique])


def coarse_model(coarsening: Coarsening, tables: dict, rng: np.random.Generator) -> GraphicalModel:
    """Of all pairs, with the zeros that coarse codes have."""
    domain = coarsening.domain
    potentials = {pair: rng.normal(0, 1, domain.shape(pair)) for pair in itertools.combinations(domain.attributes, 2)}
    for clique, impossible in coarsening.zeros(tables).items():
        barred = np.where(impossible, -np.inf, 0.0)
        potentials[clique] = potentials[clique] + barred if clique in potentials else barred
    return GraphicalModel(domain, potentials, 1000.0)


def most_moved(coarsening: Coarsening, tables: dict, seed: int) -> float:
    """By how many records the largest cell of the coarse joint table moves when the model is refined."""
    rng = np.random.default_rng(seed)
    model = coarse_model(coarsening, tables, rng)
    columns = GraphicalModel(DOMAIN, {(name,): rng.normal(0, 1, DOMAIN[name]) for name in DOMAIN.attributes}, 1000.0)
    refined = refine(coarsening, model, columns, tables).marginal(DOMAIN.attributes)
    back = np.zeros(coarsening.domain.sizes)
    np.add.at(back, np.ix_(*(coarsening.codes[name] for name in DOMAIN.attributes)), refined)
    return float(np.abs(back - model.marginal(DOMAIN.attributes)).max())


@settings(max_examples=60, deadline=None)
@given(coarsenings(), zeros(), st.integers(0, 10**6))
def test_refining_moves_no_record_between_coarse_cells(merged, tables, seed) -> None:
    assert most_moved(kept_apart(merged, tables, EXACT, 1.0), tables, seed) < 1e-6


def test_without_it_records_move() -> None:
    tables = {("a", "b"): np.zeros((5, 4), dtype=bool)}
    tables["a", "b"][:3, 1:] = True
    merged = Coarsening(DOMAIN, {"a": np.array([0, 0, 0, 0, 1]), "b": np.arange(4), "c": np.arange(3)})
    assert most_moved(merged, tables, 0) > 20
    assert most_moved(kept_apart(merged, tables, EXACT, 1.0), tables, 0) < 1e-6


@pytest.mark.parametrize(("deviation", "most"), [(1e-9, MOST_KINDS), (1e9, FEW_KINDS), (1.0, 64)])
def test_a_column_of_many_kinds_is_merged_as_without_zeros(deviation: float, most: int) -> None:
    """Of 64 kinds of 154 records in all each has 2.4, and a row of 64 counts the noise of 8: .3 of it."""
    records = 0.3 * 64**1.5 * (1 + 1e-9)
    assert kinds_apart(records, deviation) == most
    for size, splits in ((most, True), (most + 1, False)):
        domain = Domain(("a", "b"), (size, size))
        merged = Coarsening(domain, {"a": np.zeros(size, dtype=np.int64), "b": np.zeros(size, dtype=np.int64)})
        noisy = [NoisyMarginal((name,), np.zeros(size), deviation) for name in "ab"]
        apart = kept_apart(merged, {("a", "b"): ~np.eye(size, dtype=bool)}, noisy, records)
        assert apart.domain.sizes == ((size, size) if splits else (1, 1))


def test_what_a_rule_ties_to_a_column_keeps_its_share() -> None:
    """Ages are merged around the one from which people are asked; those without an answer stay as many as they are.

    Seeds are fixed. Without `kept_apart` the three counts are off by 90 to 162.
    """
    rng = np.random.default_rng(5)
    age = np.minimum(rng.gamma(4, 9, 10_000), 99).astype(int)
    state = np.where(age < 17, None, rng.choice(["single", "married", "widowed"], 10_000))
    text = (
        '[columns.age]\nkind = "integer"\nlower = 0\nupper = 99\n'
        '[columns.state]\nkind = "categorical"\nvalues = ["single", "married", "widowed"]\nmissing = true\n'
        '[[rules]]\nif = "age < 17"\nthen = "state is missing"\n'
        '[[rules]]\nif = "age >= 17"\nthen = "state is not missing"\n'
    )
    frame, schema = pd.DataFrame({"age": age, "state": state}), counterfoil.Schema.from_toml(text)
    for seed in range(2, 5):
        made = counterfoil.synthesize(frame, schema, epsilon=0.3, method="mst", seed=seed)
        assert abs(made.model.marginal(("state",))[-1] - (age < 17).sum()) < 60
