"""A model with a hidden class, against enumeration of all its cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import CLASS, Domain
from counterfoil.graphical_model import classed_model
from counterfoil.graphical_model.classed_model import (
    ClassedModel,
    cliques_of,
    coarsening_with_class,
    columns_of,
    seen,
    with_class,
)
from counterfoil.graphical_model.graphical_model import GraphicalModel

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
CLASSES = 3
FULL = with_class(DOMAIN, CLASSES)


def joint() -> tuple[ClassedModel, np.ndarray]:
    rng = np.random.default_rng(0)
    cliques = [(name, CLASS) for name in DOMAIN.attributes] + [("a", "b")]
    potentials = {clique: rng.normal(0, 1, FULL.shape(clique)) for clique in cliques}
    table = np.zeros(FULL.sizes)
    for cell in itertools.product(*map(range, FULL.sizes)):
        at = dict(zip(FULL.attributes, cell, strict=True))
        table[cell] = np.exp(sum(p[tuple(at[name] for name in clique)] for clique, p in potentials.items()))
    model = columns_of(GraphicalModel(FULL, potentials, 1000.0))
    assert isinstance(model, ClassedModel)
    return model, table.sum(axis=-1) * 1000 / table.sum()


def test_marginals_are_sums_over_classes():
    model, table = joint()
    assert model.domain == DOMAIN
    assert model.total == 1000.0
    for size in (1, 2, 3):
        for axes in itertools.combinations(range(3), size):
            names = tuple(DOMAIN.attributes[axis] for axis in axes)
            expected = table.sum(axis=tuple(axis for axis in range(3) if axis not in axes))
            np.testing.assert_allclose(model.marginal(names), expected, rtol=1e-9)
            np.testing.assert_allclose(model.marginals([names])[names], expected, rtol=1e-9)


def test_rows_have_no_class_and_the_counts_of_the_model():
    """Of 20,000 rows each cell lies within six deviations: 24 cells fail by chance with a probability below 1e-7."""
    model, table = joint()
    rng, n = np.random.default_rng(1), 20_000
    for rows in (model.sample(n, rng), model.sampler()(n, rng)):
        assert rows.shape == (n, 3)
        assert rows.dtype == np.int32
        counts = np.zeros(DOMAIN.sizes)
        np.add.at(counts, tuple(rows.T), 1)
        expected = table * n / 1000
        assert (np.abs(counts - expected) < 6 * np.sqrt(expected) + 1).all()


def test_a_condition_holds_in_rows():
    model, table = joint()
    rows = model.sample(5000, np.random.default_rng(2), where={"a": 1})
    assert (rows[:, 0] == 1).all()
    expected = 5000 * table[1].sum(axis=1) / table[1].sum()
    assert (np.abs(np.bincount(rows[:, 1], minlength=3) - expected) < 6 * np.sqrt(expected)).all()


def test_a_saved_model_says_the_same(tmp_path):
    model, table = joint()
    model.save(tmp_path / "model.npz")
    loaded = classed_model.load(tmp_path / "model.npz")
    assert isinstance(loaded, ClassedModel)
    assert loaded.digest == model.digest
    np.testing.assert_allclose(loaded.marginal(("a", "c")), table.sum(axis=1), rtol=1e-9)


def test_a_model_without_classes_is_itself(tmp_path):
    model = GraphicalModel(DOMAIN, {("a", "b"): np.zeros((2, 3))}, 10.0)
    assert columns_of(model) is model
    assert cliques_of(model) == [("a", "b")]
    model.save(tmp_path / "model.npz")
    assert isinstance(classed_model.load(tmp_path / "model.npz"), GraphicalModel)


def test_cliques_with_the_class_are_not_seen():
    assert cliques_of(joint()[0]) == [("a", "b")]
    assert seen([("a", CLASS), ("b", "c")]) == [("b", "c")]


def test_a_coarsening_leaves_each_class_by_itself():
    merged = Coarsening(DOMAIN, {"a": np.arange(2), "b": np.array([0, 1, 1]), "c": np.arange(4)})
    extended = coarsening_with_class(merged, CLASSES)
    assert extended.domain == with_class(merged.domain, CLASSES)
    assert extended.codes[CLASS].tolist() == [0, 1, 2]


def test_no_column_has_the_name_of_the_class():
    with pytest.raises(ValueError, match="No column may be named"):
        with_class(FULL, 2)
