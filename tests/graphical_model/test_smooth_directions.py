"""Smooth directions of interactions: orthonormal, without constants, and where smooth relations lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.graphical_model.smooth_directions import LARGEST_FREQUENCY, smooth_directions


@st.composite
def columns(draw, largest=30):
    """Margins of two or three columns, some nearly empty in places, and how many codes of each are in order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, largest), min_size=2, max_size=3))
    margins = {f"c{i}": rng.dirichlet(np.full(size, 0.3)) + 1e-4 / size for i, size in enumerate(sizes)}
    return margins, {f"c{i}": int(rng.integers(0, size + 1)) for i, size in enumerate(sizes)}


def centered(table: np.ndarray) -> np.ndarray:
    """Its interaction: sums along each axis vanish."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


@settings(max_examples=100, deadline=None)
@given(columns(), st.integers(0, 2**32))
def test_directions_are_orthonormal_and_hold_no_constant(made, seed):
    margins, ordered = made
    found = smooth_directions(list(margins), margins, ordered)
    if found is None:
        assert all(count < 4 for count in ordered.values())
        return
    for basis in found.bases:
        if basis is not None:
            np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-9)
            np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-9)
    table = centered(np.random.default_rng(seed).normal(size=[len(margin) for margin in margins.values()]))
    coefficients = found.coefficients(table)
    assert coefficients.shape == found.bands.shape == found.dimensions.shape
    part = found.spread(coefficients)
    np.testing.assert_allclose(found.coefficients(part), coefficients, atol=1e-9)
    assert np.sum(part * (table - part)) == pytest.approx(0, abs=1e-8), "what is left is orthogonal to it"
    for axis in range(table.ndim):
        np.testing.assert_allclose(part.sum(axis=axis), 0, atol=1e-8)


@settings(max_examples=50, deadline=None)
@given(columns(largest=9))
def test_dimensions_are_those_of_the_space_that_coefficients_fill(made):
    """Squares over all cells, each as the interaction of a table with one record there: the trace of the projection."""
    found = smooth_directions(list(made[0]), *made)
    if found is not None:
        sizes = [len(margin) for margin in made[0].values()]
        cells = np.eye(int(np.prod(sizes))).reshape(-1, *sizes)
        squares = sum(np.square(found.coefficients(centered(cell))) for cell in cells)
        np.testing.assert_allclose(squares, np.prod([size > 1 for size in sizes]) * found.dimensions, atol=1e-9)


def test_few_codes_have_all_their_directions():
    rng = np.random.default_rng(3)
    margins = {"a": rng.dirichlet(np.ones(LARGEST_FREQUENCY + 1)), "b": rng.dirichlet(np.ones(6))}
    found = smooth_directions(["a", "b"], margins, {"a": LARGEST_FREQUENCY + 1, "b": 4})
    assert found is not None
    assert found.dimensions.sum() == LARGEST_FREQUENCY * 5
    table = centered(rng.normal(size=(LARGEST_FREQUENCY + 1, 6)))
    np.testing.assert_allclose(found.spread(found.coefficients(table)), table, atol=1e-12)


def test_bands_are_octaves_of_the_rougher_column():
    margins = {"a": np.full(20, 0.05), "b": np.full(20, 0.05), "c": np.full(3, 1 / 3)}
    found = smooth_directions(["a", "b"], margins, {"a": 19, "b": 20})
    assert found is not None
    assert found.bands[0].tolist() == found.bands[1].tolist() == [0, 1, 2, 2, 3, 3, 3, 3], "the first code has no order"
    assert found.bands[:, 0].tolist() == [0, 0, 1, 2, 2, 3, 3, 3, 3]
    assert smooth_directions(["a", "c"], margins, {"c": 3}) is None
    beside = smooth_directions(["a", "c"], margins, {"a": 20})
    assert beside is not None
    assert beside.bases[1] is None
    assert beside.bands.tolist() == [[octave] * 3 for octave in (0, 1, 2, 2, 3, 3, 3, 3)]


def test_a_smooth_relation_of_ranks_is_in_the_first_direction():
    """Also where one code holds half of the records: what is smooth follows the ranks, not the numbers of codes."""
    margin = np.concatenate([[0.5], np.full(30, 0.5 / 30)])
    ranks = np.cumsum(margin) - margin / 2
    wave = np.cos(np.pi * ranks)
    table = np.outer(wave - wave.mean(), wave - wave.mean())
    found = smooth_directions(["a", "b"], {"a": margin, "b": margin}, {"a": 31, "b": 31})
    assert found is not None
    assert found.coefficients(table)[0, 0] ** 2 == pytest.approx(np.square(table).sum())
