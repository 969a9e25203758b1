"""Noisy averages of functions, and the public points whose weights are to reproduce them.

A density w on a support of m points (w >= 0, sum w = 1) gives the function f the average (A w)_f, where A holds the
function's value at each point. The fits of this room choose w; what they read is public, so they are post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Vector = NDArray[np.float64]
Values: TypeAlias = Vector | sparse.csc_array


@dataclass(frozen=True, eq=False)
class WeightProgram:
    """What a fit of weights is given. All of it is public.

    Args:
        values: [F, m], function by support point: a scipy sparse array (indicators) or a dense one.
        targets: [F], the noisy average of each function over the records, in the function's units. Noise may have
            taken them where no density can follow.
        scales: [F] or one for all, in the same units: the standard deviation of Gaussian noise, the scale b of
            Laplace noise of density exp(-|x| / b) / 2b. Positive.
        prior: [m], the density on the support without the targets: a sample of a reference, duplicates merged by
            adding. Positive, of sum 1.
        laplace: [F] or one for all: True where the noise is Laplace, False where it is Gaussian.

    Raises:
        ValueError: for shapes that do not match, numbers that are not finite, scales or prior weights that are not
            positive, and a prior of another sum.
    """

    values: Values
    targets: Vector
    scales: Vector
    prior: Vector
    laplace: NDArray[np.bool_]

    def __init__(
        self,
        values: ArrayLike | sparse.sparray | sparse.spmatrix,
        targets: ArrayLike,
        scales: ArrayLike,
        prior: ArrayLike,
        *,
        laplace: ArrayLike = False,
    ) -> None:
        table = _float_table(values)
        if table.ndim != 2 or 0 in table.shape:
            raise ValueError(
                "`values` must have one row for each function and one column for each support point, at least one of "
                f"each. Found shape {table.shape}."
            )
        functions, points = table.shape
        fields = {
            "values": table,
            "targets": _vector("targets", targets, functions),
            "scales": _vector("scales", np.broadcast_to(np.asarray(scales, dtype=np.float64), functions), functions),
            "prior": _vector("prior", prior, points),
            "laplace": np.broadcast_to(np.asarray(laplace, dtype=np.bool_), functions),
        }
        if not np.isfinite(table.data if sparse.issparse(table) else table).all():
            raise ValueError("`values` must be finite. Found others: give each function a bounded range.")
        for name in ("scales", "prior"):
            if not (fields[name] > 0).all():
                raise ValueError(
                    f"`{name}` must be positive. Found {fields[name].min()}: leave out what has no noise or no weight."
                )
        if abs(fields["prior"].sum() - 1) > 1e-6:
            raise ValueError(f"`prior` must sum to 1. Found {fields['prior'].sum()}: divide it by its sum.")
        fields["prior"] = fields["prior"] / fields["prior"].sum()
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n_functions(self) -> int:
        """F."""
        return int(self.values.shape[0])

    @property
    def n_points(self) -> int:
        """m."""
        return int(self.values.shape[1])

    def averages(self, weights: Vector) -> Vector:
        """A w [F]: what weights [m] give the functions."""
        return self.values @ weights

    def scores(self, multipliers: Vector) -> Vector:
        """A^T nu [m]: the sum of the functions at each point, each times its multiplier [F]."""
        return self.values.T @ multipliers

    def variances(self) -> Vector:
        """[F]: the variance of each function under the prior."""
        squares = self.values**2 if isinstance(self.values, np.ndarray) else self.values.power(2)
        return np.maximum(squares @ self.prior - self.averages(self.prior) ** 2, 0.0)

    def reached(self) -> NDArray[np.bool_]:
        """[F]: whether a function has a value other than 0 on the support. No weights move the average of others."""
        if isinstance(self.values, np.ndarray):
            return np.asarray(self.values.any(axis=1), dtype=np.bool_)
        return np.bincount(self.values.indices, minlength=self.n_functions) > 0

    def restricted(self, kept: NDArray[np.bool_]) -> WeightProgram:
        """The same program with the functions `kept` [F] alone, all those that are reached among them."""
        if kept.all():
            return self
        if isinstance(self.values, np.ndarray):
            values: Values = self.values[kept]
        else:
            place = (np.cumsum(kept) - 1).astype(self.values.indices.dtype)
            parts = (self.values.data, place[self.values.indices], self.values.indptr)
            values = sparse.csc_array(parts, shape=(int(kept.sum()), self.n_points))
        return WeightProgram(values, self.targets[kept], self.scales[kept], self.prior, laplace=self.laplace[kept])


def _float_table(values: ArrayLike | sparse.sparray | sparse.spmatrix) -> Values:
    """Columns of a sparse table lie together (both products are then one pass, and columns have equal lengths where
    the functions are cells of marginals); zeros are not stored."""
    if not sparse.issparse(values):
        return np.ascontiguousarray(values, dtype=np.float64)
    table = sparse.csc_array(values, dtype=np.float64)
    if not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    return table


def _vector(name: str, given: ArrayLike, length: int) -> Vector:
    vector = np.asarray(given, dtype=np.float64)
    if vector.shape != (length,):
        raise ValueError(f"`{name}` must have shape ({length},), as `values` has it. Found {vector.shape}.")
    if not np.isfinite(vector).all():
        raise ValueError(f"`{name}` must be finite. Found others: leave those entries out.")
    return vector
