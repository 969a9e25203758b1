"""The law of a weighted sum of independent noises, whose quantiles are the widths of intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri

_PERIOD = 50.0
_NODES = 4096
_FIRST_NODES = 128
"""How many nodes are tried first: a law of normal noise, or of many Laplace variables, needs no more."""
_NEGLIGIBLE = 1e-13
_STEPS = 60
_NEARLY_NORMAL = 1e-3
"""Excess kurtosis below which the first term of Cornish and Fisher's expansion is all that counts."""


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """The law of a normal variable plus independent centered Laplace variables, symmetric about 0.

    Discrete noise counts as continuous noise of the same scale, whose variance is at least as large.

    Args:
        normal: the variance of the normal part.
        scales: float64 [k]: the scale parameters of the Laplace variables.
        times: float64 [k]: how many of each scale there are.
    """

    normal: float
    scales: np.ndarray
    times: np.ndarray

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.normal + 2 * float(self.times @ self.scales**2))

    def plus_normal(self, variance: float) -> NoiseLaw:
        """The law of the sum with an independent normal variable of that variance."""
        return NoiseLaw(self.normal + variance, self.scales, self.times)

    def quantile(self, level: float) -> float:
        """The x for which a variable of this law lies in [-x, x] with probability `level`.

        Normal noise has a closed form. Else P(|X| <= x) = (2 / pi) integral sin(s x) phi(s) / s ds over s > 0 with the
        characteristic function phi (Gil-Pelaez 1951), by the midpoint rule, which is exact but for the mass beyond
        50 - x standard deviations and for what is left of phi beyond the last node.
        """
        deviation, z = self.deviation, -float(ndtri((1 - level) / 2))
        if deviation == 0 or not len(self.scales):
            return z * deviation
        kurtosis = 12 * float(self.times @ (self.scales / deviation) ** 4)
        if kurtosis < _NEARLY_NORMAL:
            return deviation * z * (1 + kurtosis * (z * z - 3) / 24)
        return deviation * _root(self._characteristic(deviation), level, z)

    def _characteristic(self, deviation: float) -> np.ndarray:
        """float64 [nodes]: the characteristic function of X / deviation, which falls, at the nodes where it counts."""
        merged = list(zip(*_merged(self.scales / deviation, self.times), strict=True))
        count = _FIRST_NODES
        while True:
            squared = _nodes()[:count] ** 2
            log = -squared * (self.normal / deviation**2 / 2)
            for scale, times in merged:
                log -= times * np.log1p(squared * scale**2)
            found = np.exp(log)
            if found[-1] <= _NEGLIGIBLE or count >= _NODES:
                return found
            count *= 4


@cache
def _nodes() -> np.ndarray:
    step = 2 * math.pi / _PERIOD
    return (np.arange(_NODES) + 0.5) * step


def _merged(scales: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal scales counted as one."""
    distinct, where = np.unique(np.abs(scales), return_inverse=True)
    return distinct, np.bincount(where.ravel(), weights=times)


def _root(characteristic: np.ndarray, level: float, start: float) -> float:
    """The x > 0 with P(|X| <= x) = `level`, by Newton's steps kept inside a bracket."""
    kept = max(int((characteristic > _NEGLIGIBLE).sum()), 2)  # it falls
    nodes, characteristic = _nodes()[:kept], characteristic[:kept]
    step, low, high = nodes[1] - nodes[0], 0.0, _PERIOD / 2
    weights, x = characteristic / nodes, start
    for _ in range(_STEPS):
        excess = 2 / math.pi * step * float(np.sin(nodes * x) @ weights) - level
        slope = 2 / math.pi * step * float(np.cos(nodes * x) @ characteristic)
        low, high = (x, high) if excess < 0 else (low, x)
        following = x - excess / slope if slope > 0 else math.inf
        following = following if low < following < high else (low + high) / 2
        x, before = following, x
        if abs(x - before) < 1e-7:
            break
    return x
