"""Weighted records against sums over them, and as files."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.synthesis import weighted_records
from counterfoil.synthesis.weighted_records import WeightedRecords

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))


def model_of(seed=0, m=30, total=100.0, **more):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, m) for size in DOMAIN.sizes])
    weights = rng.exponential(size=m) * (rng.random(m) < 0.8) + 1e-9
    return WeightedRecords(DOMAIN, codes, weights, total, **more)


@given(st.integers(0, 2**32), st.permutations(DOMAIN.attributes), st.integers(0, 3))
def test_marginals_are_sums_of_weights(seed, names, order):
    model, clique = model_of(seed), tuple(names[:order])
    expected = np.zeros(DOMAIN.shape(clique))
    for row, weight in zip(model.codes, model.weights, strict=True):
        expected[tuple(row[DOMAIN.axes((name,))[0]] for name in clique)] += weight * model.total
    assert model.marginal(clique) == pytest.approx(expected)
    assert model.marginals([clique])[clique] == pytest.approx(expected)


@given(st.integers(0, 2**32), st.integers(0, 200))
def test_rows_are_rounded_weights(seed, n):
    model = model_of(seed)
    rows = model.sample(n, np.random.default_rng(seed))
    assert rows.shape == (n, 3)
    distinct, places = np.unique(model.codes, axis=0, return_inverse=True)
    expected = np.bincount(places.ravel(), weights=model.weights) * n
    found = {tuple(row): count for row, count in zip(*np.unique(rows, axis=0, return_counts=True), strict=True)}
    for row, of in zip(distinct, expected, strict=True):
        # Equal records lie together in the order that rows are drawn along.
        assert abs(found.pop(tuple(row), 0) - of) < 1 + 1e-9
    assert not found


def test_conditions_are_met_and_conditional():
    model = model_of()
    rows = model.sample(4000, np.random.default_rng(0), where={"b": [0, 2], "a": 1})
    assert set(rows[:, 0]) == {1}
    assert set(rows[:, 1]) == {0, 2}
    counts = model.marginal(("a", "b", "c"))[1][[0, 2]]
    found = np.array([[((rows[:, 1] == b) & (rows[:, 2] == c)).mean() for c in range(4)] for b in (0, 2)])
    assert found == pytest.approx(counts / counts.sum(), abs=0.01)


def test_rows_come_in_random_order():
    rows = model_of(m=200).sample(500, np.random.default_rng(0))
    assert any((rows[1:, 0] < rows[:-1, 0]).tolist())


def test_independent_rows_vary_more():
    """Counts of the largest weight over 200 draws of 300 rows: below 1 apart when rounded."""
    for independent, spread in ((False, (0, 0.5)), (True, (1.5, 20))):
        model, rng = model_of(independent=independent), np.random.default_rng(0)
        largest = model.codes[np.argmax(model.weights)]
        counts = [int((model.sample(300, rng) == largest).all(axis=1).sum()) for _ in range(200)]
        assert spread[0] <= np.std(counts) <= spread[1]


@pytest.mark.parametrize("independent", [False, True])
def test_a_saved_model_is_the_same(tmp_path, independent):
    model = model_of(independent=independent)
    model.save(tmp_path / "m.npz")
    assert weighted_records.is_saved(tmp_path / "m.npz")
    loaded = weighted_records.load(tmp_path / "m.npz")
    assert (loaded.domain, loaded.total, loaded.independent) == (DOMAIN, 100.0, independent)
    assert np.array_equal(loaded.codes, model.codes)
    assert np.allclose(loaded.weights, model.weights, rtol=1e-15)


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04"])
def test_a_broken_file_is_refused(tmp_path, content):
    (tmp_path / "m.npz").write_bytes(content)
    assert not weighted_records.is_saved(tmp_path / "m.npz")
    with pytest.raises(ValueError, match="does not hold weighted records"):
        weighted_records.load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("codes", "weights", "total"),
    [
        ([[0, 0, 4]], [1.0], 1.0),
        ([[0, 0, -1]], [1.0], 1.0),
        ([[0, 0]], [1.0], 1.0),
        (np.zeros((0, 3)), [], 1.0),
        ([[0, 0, 0]], [0.0], 1.0),
        ([[0, 0, 0]], [-1.0], 1.0),
        ([[0, 0, 0]], [np.nan], 1.0),
        ([[0, 0, 0]], [1.0, 1.0], 1.0),
        ([[0, 0, 0]], [1.0], 0.0),
        ([[0, 0, 0]], [1.0], np.inf),
    ],
)
def test_other_records_are_refused(codes, weights, total):
    with pytest.raises(ValueError, match="must be"):
        WeightedRecords(DOMAIN, np.array(codes), np.array(weights), total)


@pytest.mark.parametrize(
    ("where", "sentence"), [({"a": 2}, "between 0 and 1"), ({"a": []}, "between"), ({"d": 0}, "d")]
)
def test_other_conditions_are_refused(where, sentence):
    with pytest.raises(ValueError, match=sentence):
        model_of().sample(1, np.random.default_rng(0), where=where)


def test_a_condition_that_no_record_meets():
    model = WeightedRecords(DOMAIN, np.array([[0, 0, 0]]), np.ones(1), 1.0)
    with pytest.raises(ValueError, match="positive probability"):
        model.sample(1, np.random.default_rng(0), where={"a": 1})
    with pytest.raises(ValueError, match="names each attribute once"):
        model.marginal(("a", "a"))
    assert list(itertools.chain(*model.sample(2, np.random.default_rng(0)).tolist())) == [0] * 6
