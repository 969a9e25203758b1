"""The product of two tensors, summed over some axes: batches of matrix products, in numbers or in logarithms."""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled

Table = NDArray[np.float64]
Indices = NDArray[np.intp]
Axes = tuple[int, ...]

SMALL_MATRIX_PRODUCT = 2000
"""A batch of matrix products smaller than this (multiply-adds each) is faster as plain loops."""

_FEW = 1000
"""So many batches take less time than the compiler takes to load: a model that is read is calibrated once."""

_BATCHES = itertools.count()

# A sum of at least this, whose terms are products of numbers of at most 1, misses nothing that counts by underflow.
_TRUSTED = 1e-250


class TensorProduct:
    """out = sum of a * b over the axes absent from out; the memory is allocated once and used again."""

    def __init__(self, sizes: tuple[int, ...], a: Axes, b: Axes, out: Axes) -> None:
        self.summed = tuple(x for x in a if x in b and x not in out)
        batch = tuple(x for x in out if x in a and x in b)
        rows = tuple(x for x in out if x not in b)
        columns = tuple(x for x in out if x not in a)
        shape = [tuple(sizes[x] for x in part) for part in (batch, rows, self.summed, columns)]
        n_batch, n_rows, n_summed, n_columns = (math.prod(part) for part in shape)
        self.a_order = tuple(a.index(x) for x in batch + rows + self.summed)
        self.b_order = tuple(b.index(x) for x in batch + self.summed + columns)
        self.a_shape, self.b_shape = (n_batch, n_rows, n_summed), (n_batch, n_summed, n_columns)
        self.as_matrices = n_batch == 1 or n_rows * n_summed * n_columns >= SMALL_MATRIX_PRODUCT
        if self.summed:
            natural = batch + rows + columns
            self.buffer = np.empty((n_batch, n_rows, n_columns))
            self.out_shape = shape[0] + shape[1] + shape[3]
        else:
            natural = out
            self.out_shape = tuple(sizes[x] for x in out)
            self.buffer = np.empty(self.out_shape)
            self.a_broadcast = broadcast(a, out, sizes)
            self.b_broadcast = broadcast(b, out, sizes)
        self.out_order = tuple(natural.index(x) for x in out)

    def real(self, a: Table, b: Table) -> Table:
        """The product of numbers, in the memory of the last one."""
        if not self.summed:
            np.multiply(spread(a, self.a_broadcast), spread(b, self.b_broadcast), out=self.buffer)
            return self.buffer
        a, b = self._matrices(a, b)
        if self.as_matrices:
            np.matmul(a, b, out=self.buffer)
        else:
            small_products(np.ascontiguousarray(a), np.ascontiguousarray(b), self.buffer)
        return self.buffer.reshape(self.out_shape).transpose(self.out_order)

    def log(self, a: Table, b: Table) -> Table:
        """The same with logarithms in and out: a few times slower, and safe for any range.

        Each row of `a` and each column of `b` is shifted to a largest entry of 1, so that products stay matrix
        products. Terms of a sum that underflow are at most 1e-308 each; sums that could miss them are added up again
        in logarithms.
        """
        if not self.summed:
            return spread(a, self.a_broadcast) + spread(b, self.b_broadcast)
        a, b = self._matrices(a, b)
        peaks_a, peaks_b = (_finite_peaks(a, 2), _finite_peaks(b, 1))
        total = np.matmul(np.exp(a - peaks_a), np.exp(b - peaks_b))
        lost = np.nonzero(total < _TRUSTED)
        with np.errstate(divide="ignore"):
            np.log(total, out=total)
        total += peaks_a
        total += peaks_b
        if lost[0].size:
            total[lost] = _log_sums(*map(_plain, (a, b, *lost)))
        return total.reshape(self.out_shape).transpose(self.out_order)

    def _matrices(self, a: Table, b: Table) -> tuple[Table, Table]:
        a = a.transpose(self.a_order).reshape(self.a_shape)
        b = b.transpose(self.b_order).reshape(self.b_shape)
        return a, b


def _plain(array: NDArray) -> NDArray:
    """A copy in the order of C, as one loop is compiled for all: for each layout it would be compiled anew."""
    return np.array(array, order="C")


def _finite_peaks(table: Table, axis: int) -> Table:
    """Largest entries along an axis, which is kept; 0 where all are -inf."""
    peaks = table.max(axis=axis, keepdims=True)
    return np.where(np.isfinite(peaks), peaks, 0.0)


@compiled
def _log_sums(a: Table, b: Table, batch: Indices, rows: Indices, columns: Indices) -> Table:  # pragma: no cover
    """log sum_k exp(a[i, m, k] + b[i, k, n]) for each given (i, m, n)."""
    out = np.empty(len(batch))
    for j in range(len(batch)):
        i, m, n = batch[j], rows[j], columns[j]
        peak = -np.inf
        for k in range(a.shape[2]):
            peak = max(peak, a[i, m, k] + b[i, k, n])
        if peak == -np.inf:
            out[j] = peak
        else:
            total = 0.0
            for k in range(a.shape[2]):
                total += np.exp(a[i, m, k] + b[i, k, n] - peak)
            out[j] = peak + np.log(total)
    return out


def small_products(a: Table, b: Table, out: Table) -> None:
    """out[i] = a[i] @ b[i], all C-contiguous; each sum is added up in the order of its terms.

    The first thousand batches of a process are plain arrays, the others compiled. Both round alike, to the last bit.
    """
    if next(_BATCHES) >= _FEW:
        _compiled_products(a, b, out)
    else:
        plain_products(a, b, out)


def plain_products(a: Table, b: Table, out: Table) -> None:
    """The same without the compiler: one term of all sums at a time."""
    np.multiply(a[:, :, 0, None], b[:, 0, None, :], out=out)
    for k in range(1, a.shape[2]):
        out += a[:, :, k, None] * b[:, k, None, :]


@compiled
def _compiled_products(a: Table, b: Table, out: Table) -> None:  # pragma: no cover - compiled
    """out[i] = a[i] @ b[i], all C-contiguous."""
    n_batch, n_rows, n_summed = a.shape
    n_columns = b.shape[2]
    for i in range(n_batch):
        for m in range(n_rows):
            if n_columns == 1:
                total = 0.0
                for k in range(n_summed):
                    total += a[i, m, k] * b[i, k, 0]
                out[i, m, 0] = total
            else:
                for n in range(n_columns):
                    out[i, m, n] = a[i, m, 0] * b[i, 0, n]
                for k in range(1, n_summed):
                    weight = a[i, m, k]
                    for n in range(n_columns):
                        out[i, m, n] += weight * b[i, k, n]


def broadcast(axes: Axes, out: Axes, sizes: tuple[int, ...]) -> tuple[Axes, Axes]:
    """How `spread` turns a table over `axes` so that it is broadcast over `out`: an order, and a shape with ones."""
    order = tuple(axes.index(x) for x in out if x in axes)
    return order, tuple(sizes[x] if x in axes else 1 for x in out)


def spread(table: Table, how: tuple[Axes, Axes]) -> Table:
    """A view of the table in the order and the shape that `broadcast` gave."""
    order, shape = how
    return table.transpose(order).reshape(shape)
