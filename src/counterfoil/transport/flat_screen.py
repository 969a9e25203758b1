"""Nearest candidates by faiss, where it is installed, and whether they are certain."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil.transport.metric import Array, Indices

Screen = Callable[[Array], tuple[Indices, npt.NDArray[np.bool_]]]
"""Takes points [n, d]; gives for each a candidate, and where it may not be the nearest."""

MOST_DIMENSIONS = 32
"""Up to which faiss has compiled loops for one neighbor; above, and for two of them, it gains little on products."""

FEWEST_CANDIDATES = 8192
"""With fewer candidates, two searches and their arrays take as long as the products."""

FEWEST_ENTRIES = 1 << 17
"""Coordinates of points searched at once, below which faiss does without those loops."""

_ROWS = 1 << 16
_UNIT = 2.0**-24


def flat_screen(candidates: Array) -> Screen | None:
    """The screen for `candidates` [m, d]; None where faiss is not installed, or not faster."""
    m, d = candidates.shape
    if m < FEWEST_CANDIDATES or d + (m - 1).bit_length() > MOST_DIMENSIONS or find_spec("faiss") is None:
        return None
    return _Flat(candidates)


class _Flat:
    """One search guesses the nearest candidate, a second one proves the guess.

    Each candidate c_j gets p further coordinates k s_j, where s_j holds the p binary digits of j as signs. The guess i
    for a point x is searched again with further coordinates -t s_i: all squared distances grow by the same k^2 p +
    t^2 p, and that to j by 2 t k s_i.s_j besides, which is 2 t k p for i and at most 2 t k (p - 2) for others. If i is
    found again though each computed distance is off by up to e, then |x - c_j|^2 - |x - c_i|^2 >= 4 t k - 2 e for all
    j, whatever made the guess. t is chosen so that this is more than what separates sums in float64 from each other.

    For D = d + p, X = |x|, R = max |c_j|, and further coordinates so small that lengths grow by less than a fourth:
    rounding the coordinates to float32, and products and sums of them in any order, are off by at most
    e = 1.01 (D + 6) 2^-24 (1.25 (X + R))^2.
    """

    def __init__(self, candidates: Array) -> None:
        m, p = len(candidates), (len(candidates) - 1).bit_length()
        self._signs = 1.0 - 2.0 * (np.arange(m)[:, None] >> np.arange(p) & 1)
        self._radius = float(np.linalg.norm(candidates, axis=1).max())
        self._height = self._radius / (8 * np.sqrt(p))
        self._guess = _index(candidates)
        self._prove = _index(np.concatenate([candidates, self._height * self._signs], axis=1))

    def __call__(self, shifted: Array) -> tuple[Indices, npt.NDArray[np.bool_]]:
        parts = [self._search(shifted[start : start + _ROWS]) for start in range(0, len(shifted), _ROWS)]
        return np.concatenate([nearest for nearest, _ in parts]), np.concatenate([unsure for _, unsure in parts])

    def _search(self, shifted: Array) -> tuple[Indices, npt.NDArray[np.bool_]]:
        (n, d), p = shifted.shape, self._signs.shape[1]
        lengths = np.linalg.norm(shifted, axis=1) + self._radius
        with np.errstate(over="ignore"):
            error = 1.01 * (d + p + 6) * _UNIT * (1.25 * lengths) ** 2 + (d + 4) * 2.0**-52 * lengths**2
            pull = error / (2 * self._height)
        # The others are so far out that float32 can't distinguish, or hold, them.
        near = np.flatnonzero(pull * np.sqrt(p) < 0.125 * lengths)
        nearest, unsure = np.zeros(n, dtype=np.intp), np.ones(n, dtype=bool)
        if len(near):
            points = shifted[near]
            guess = self._guess.search(points.astype(np.float32), 1)[1][:, 0]
            lifted = np.concatenate([points, -pull[near, None] * self._signs[guess]], axis=1)
            unsure[near] = self._prove.search(lifted.astype(np.float32), 1)[1][:, 0] != guess
            nearest[near] = guess
        return nearest, unsure


def _index(points: Array) -> Any:
    index = import_module("faiss").IndexFlatL2(points.shape[1])
    index.add(points.astype(np.float32))
    return index
