"""The quadratic term of the dual against matrices that are written out."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.interactions import Interactions
from counterfoil.graphical_model.ridge import Ridge, SmoothRidge
from counterfoil.graphical_model.smooth_directions import smooth_directions

DOMAIN = Domain(("a", "b", "c"), (12, 6, 3))


def ridge_of(seed: int) -> Ridge:
    """One number for each interaction, and for two of them others in their smooth directions."""
    rng = np.random.default_rng(seed)
    x = Interactions(DOMAIN, [("a", "b"), ("a", "c")])
    rough = rng.uniform(0.5, 2.0, len(x.subsets))
    margins = {name: rng.dirichlet(np.ones(DOMAIN[name])) for name in DOMAIN.attributes}
    smooth = {}
    for part in [("a", "b"), ("a", "c")]:
        found = smooth_directions(part, margins, {"a": 11, "b": 6})
        assert found is not None
        i = x.index[part]
        of_band = rng.uniform(0.01, 3.0, found.bands.max() + 1)
        smooth[i] = SmoothRidge(found, of_band[found.bands], float(rough[i]))
    return Ridge(x, x.per_cell(rough), smooth)


def interactions(ridge: Ridge, rng: np.random.Generator) -> np.ndarray:
    x = ridge.interactions
    vector = rng.normal(size=x.starts[-1])
    return x.of_potentials({part: x.table(vector, i) for i, part in enumerate(x.subsets)})


def written_out(ridge: Ridge) -> np.ndarray:
    """kappa as a matrix: the rough value everywhere, and the others where the smooth directions are."""
    x = ridge.interactions
    matrix = np.diag(ridge.cells)
    for i, one in ridge.smooth.items():
        columns = []
        for cell in np.eye(x.starts[i + 1] - x.starts[i]):
            coefficients = one.directions.coefficients(cell.reshape(x.shapes[i]))
            columns.append(one.directions.spread((one.values - one.rough) * coefficients).ravel())
        matrix[x.starts[i] : x.starts[i + 1], x.starts[i] : x.starts[i + 1]] += np.array(columns).T
    return matrix


@pytest.mark.parametrize("seed", range(5))
def test_terms_are_those_of_the_matrix_and_of_its_inverse(seed):
    ridge, rng = ridge_of(seed), np.random.default_rng(seed + 100)
    matrix, psi, residual = written_out(ridge), interactions(ridge, rng), interactions(ridge, rng)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    shrunk, gap, misfit = ridge.terms(psi, residual)
    np.testing.assert_allclose(shrunk, matrix @ psi, atol=1e-10)
    gradient = matrix @ psi - residual
    assert gap == pytest.approx(gradient @ np.linalg.solve(matrix, gradient))
    assert misfit == pytest.approx(residual @ np.linalg.solve(matrix, residual))


def test_a_cell_has_about_the_mean_over_the_directions():
    """The determinant of kappa over all directions of an interaction says what the mean of its logarithms is."""
    ridge = ridge_of(7)
    x, matrix, cells = ridge.interactions, written_out(ridge), ridge.per_cell()
    for i in ridge.smooth:
        rng = np.random.default_rng(1)
        some = [interactions(ridge, rng)[x.starts[i] : x.starts[i + 1]] for _ in range(200)]
        basis, sizes, _ = np.linalg.svd(np.array(some).T, full_matrices=False)
        basis = basis[:, sizes > 1e-9 * sizes[0]]
        block = matrix[x.starts[i] : x.starts[i + 1], x.starts[i] : x.starts[i + 1]]
        logarithms = np.linalg.slogdet(basis.T @ block @ basis)[1] / basis.shape[1]
        np.testing.assert_allclose(np.log(x.table(cells, i)), logarithms)
