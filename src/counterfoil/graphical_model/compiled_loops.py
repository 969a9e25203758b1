"""The compiled loops of a program's small steps (compiled_steps.py): products of runs, and their derivatives.

Loops over a run become loops over vectors. Two things make them so. Places are whole numbers without a sign: others
could count from a vector's end, which would have to be ruled out for each cell; and a slice would be an object with a
count of its owners. The largest of many cells is that of their bits as whole numbers, as cells are never negative.
"""

from __future__ import annotations

import math

import numpy as np

from counterfoil.compiled import compiled, compiled_sum
from counterfoil.graphical_model.propagation import LARGEST_DERIVATIVE, LARGEST_ENTRY, LOST_ENTRY, SMALLEST_ENTRY

_LOST, _SMALL, _LARGE, _INFINITE, _TOO_LARGE = (
    int(np.float64(number).view(np.int64))
    for number in (LOST_ENTRY, SMALLEST_ENTRY, LARGEST_ENTRY, math.inf, LARGEST_DERIVATIVE)
)
"""As bits."""

BOTH, MATRIX, DOT, SUM = 0, 1, 2, 3
"""Kinds of steps, by the tensors that have a run: all three; `right` and `out`; `left` and `right`; `right` alone.

Where two have it, the axes before it make the step one of matrices. out[r] is the sum over s of left[r, s] * right[s],
each of out[r] and right[s] a run; or out[r, s] is the product of the runs left[r] and right[s], summed. There may be
one r alone, and one s.
"""


@compiled
def forward(values, bits, log_factors, first, last, numbers, places, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The products, each rescaled where it is very large or very small.

    Args:
        values: the tensors.
        bits: the same as whole numbers.
        log_factors: is filled in, by step.
        first: the first step.
        last: the step before which it ends.
        numbers: of each step, see `compiled_steps._Layout.describe`; so are the next two.
        places: where tensors begin and end.
        tables: where tables of offsets begin.
        at: these tables.
    """
    for step in range(first, last):
        begin, end = np.uint64(places[step, 4]), np.uint64(places[step, 5])
        if numbers[step, 6] == 0:
            _clear(values, begin, end)
        _multiply(values, numbers[step], tables[step], at)
        largest = _largest(bits, begin, end)
        if not _LOST < largest < _INFINITE:
            return False
        log_factors[step] = 0.0
        if not _SMALL < largest < _LARGE:
            peak = 0.0
            for i in range(begin, end):
                peak = max(peak, values[i])
            log_factors[step] = -np.log(peak)
            _scale(values, begin, end, 1.0 / peak)
    return True


@compiled
def _multiply(values, numbers, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """out += left * right, run by run; out = left * right where `out` has all cells."""
    kind, outer, inner, n = numbers[0], numbers[1], numbers[2], np.uint64(numbers[3])
    fresh, n_r, n_s, by_r, by_s = numbers[6] == 1, numbers[7], numbers[8], np.uint64(numbers[9]), np.uint64(numbers[10])
    for a in range(outer):
        for b in range(inner):
            i = np.uint64(at[tables[0] + a]) + np.uint64(at[tables[3] + b])
            j = np.uint64(at[tables[1] + a]) + np.uint64(at[tables[4] + b])
            k = np.uint64(at[tables[2] + a]) + np.uint64(at[tables[5] + b])
            if kind == BOTH:
                _add_product(values, k, values, i, values, j, n, fresh)
            elif kind == MATRIX:
                for _ in range(n_r):
                    _add_runs(values, k, values, i, by_s, values, j, n_s, n, fresh)
                    i += by_r
                    k += n
            elif kind == DOT:
                _add_dots(values, k, by_r, by_s, values, i, n_r, values, j, n_s, n)
            else:
                values[k] += values[i] * _sum(values, j, n)


@compiled
def reverse(values, above, bits, log_factors, first, last, numbers, places, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The derivatives of left and right, of which each goes into one step only: they are those by this step.

    Args:
        above: the derivatives, where `values` has the tensors.
        bits: of the derivatives; all others as in `forward`.
    """
    for step in range(last - 1, first - 1, -1):
        if log_factors[step] != 0.0:
            _scale(above, np.uint64(places[step, 4]), np.uint64(places[step, 5]), np.exp(log_factors[step]))
        for side in range(2):
            if numbers[step, 4 + side] == 0:
                _clear(above, np.uint64(places[step, 2 * side]), np.uint64(places[step, 2 * side + 1]))
        _multiply_back(values, above, numbers[step], tables[step], at)
        for side in range(2):
            largest = _largest(bits, np.uint64(places[step, 2 * side]), np.uint64(places[step, 2 * side + 1]))
            if not largest < _TOO_LARGE:
                return False
    return True


@compiled
def _multiply_back(values, above, numbers, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Adds to the derivatives of left and right, run by run; sets them where a tensor has all cells."""
    kind, outer, inner, n = numbers[0], numbers[1], numbers[2], np.uint64(numbers[3])
    new_left, new_right = numbers[4] == 1, numbers[5] == 1
    n_r, n_s, by_r, by_s = numbers[7], numbers[8], np.uint64(numbers[9]), np.uint64(numbers[10])
    for a in range(outer):
        for b in range(inner):
            i = np.uint64(at[tables[0] + a]) + np.uint64(at[tables[3] + b])
            j = np.uint64(at[tables[1] + a]) + np.uint64(at[tables[4] + b])
            k = np.uint64(at[tables[2] + a]) + np.uint64(at[tables[5] + b])
            if kind == BOTH:
                _add_product(above, i, above, k, values, j, n, new_left)
                _add_product(above, j, above, k, values, i, n, new_right)
            elif kind == MATRIX:
                _add_dots(above, i, by_r, by_s, above, k, n_r, values, j, n_s, n)
                for _ in range(n_s):
                    _add_runs(above, j, values, i, by_r, above, k, n_r, n, new_right)
                    i += by_s
                    j += n
            elif kind == DOT:
                right, one = j, k
                for _ in range(n_s):
                    _add_runs(above, right, above, one, by_r, values, i, n_r, n, new_right)
                    one += by_s
                    right += n
                for _ in range(n_r):
                    _add_runs(above, i, above, k, by_s, values, j, n_s, n, new_left)
                    k += by_r
                    i += n
            else:
                above[i] += above[k] * _sum(values, j, n)
                _add_constant(above, j, n, above[k] * values[i], new_right)


@compiled
def _add_dots(out, o, by_r, by_s, one, i, n_r, other, j, n_s, n):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Adds the sums of products of each of some runs with each of others, to the cell of both."""
    for _ in range(n_r):
        cell, run = o, j
        for _ in range(n_s):
            out[cell] += _dot(one, i, other, run, n)
            cell += by_s
            run += n
        o += by_r
        i += n


@compiled
def _add_runs(out, o, weights, first, stride, runs, r, count, n, fresh):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Adds to the run at `o` the sum of `count` others that follow each other from `r`, each with its weight.

    Four at a time, because `out` is then read and written once for the four. Where a run is set (`fresh`), its tensor
    has all cells of the step, and there is one run alone.
    """
    if count == 1:
        _add_multiple(out, o, runs, r, n, weights[first], fresh)
        return
    for _ in range(count // 4):
        second = first + stride
        third = second + stride
        fourth = third + stride
        r1 = r + n
        r2 = r1 + n
        r3 = r2 + n
        w0, w1, w2, w3 = weights[first], weights[second], weights[third], weights[fourth]
        for c in range(n):
            out[o + c] += (w0 * runs[r + c] + w1 * runs[r1 + c]) + (w2 * runs[r2 + c] + w3 * runs[r3 + c])
        first, r = fourth + stride, r3 + n
    for _ in range(count % 4):
        _add_multiple(out, o, runs, r, n, weights[first], fresh)  # which is false: see above
        first += stride
        r += n


@compiled
def _add_multiple(out, o, run, r, n, weight, fresh):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    if fresh:
        for c in range(n):
            out[o + c] = weight * run[r + c]
    else:
        for c in range(n):
            out[o + c] += weight * run[r + c]


@compiled
def _add_product(out, o, one, i, other, j, n, fresh):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    if fresh:
        for c in range(n):
            out[o + c] = one[i + c] * other[j + c]
    else:
        for c in range(n):
            out[o + c] += one[i + c] * other[j + c]


@compiled
def _add_constant(out, o, n, constant, fresh):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    for c in range(n):
        out[o + c] = constant if fresh else out[o + c] + constant


@compiled_sum
def _dot(one, i, other, j, n):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    total = 0.0
    for c in range(n):
        total += one[i + c] * other[j + c]
    return total


@compiled_sum
def _sum(run, r, n):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    total = 0.0
    for c in range(n):
        total += run[r + c]
    return total


@compiled
def _clear(cells, begin, end):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    for i in range(begin, end):
        cells[i] = 0.0


@compiled
def _scale(cells, begin, end, factor):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    for i in range(begin, end):
        cells[i] *= factor


@compiled
def _largest(bits, begin, end):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The largest of some cells, as bits; what is no number is larger than all."""
    largest = np.int64(0)
    for i in range(begin, end):
        # Without the sign, which is set in the 'no number' that processors make.
        largest = max(largest, bits[i] & np.int64(0x7FFFFFFFFFFFFFFF))
    return largest
