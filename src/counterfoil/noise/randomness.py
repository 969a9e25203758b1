"""Where the noise comes from: the operating system through OpenDP, or, in tests only, a seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import numpy as np

from counterfoil.noise.sampler import USUAL, Precision, gaussian_sampler, laplace_sampler
from counterfoil.noise.wide_gaussian import wide_gaussian_sampler

# Below this many draws OpenDP's exact sampler is fast enough; above, building a table takes less time than it saves.
_TABLE_FROM = 2048
# Wide laws need tables of a few thousand entries alone, most of which are the same for all scales.
_WIDE_FROM = 128


class Randomness(Protocol):
    """Draws that protect people (all but `generator`), and those that only choose among public answers."""

    private: bool
    source: str

    def discrete_gaussian(self, scale: float, size: int) -> np.ndarray:
        """int64[size] with P(x) proportional to exp(-x**2 / (2 scale**2))."""
        ...

    def discrete_laplace(self, scale: float, size: int) -> np.ndarray:
        """int64[size] with P(x) proportional to exp(-abs(x) / scale)."""
        ...

    def noisy_max(self, scores: np.ndarray, scale: float) -> int:
        """The index of the largest of `scores` plus Gumbel noise: index i with odds exp(scores[i] / scale)."""
        ...

    def words(self, size: int) -> np.ndarray:
        """uint64[size], each of its bits a fair coin."""
        ...

    def make_ready(self) -> None:
        """Loads what draws are made with: called before a charge, so that no answer that is paid for waits for it."""
        ...

    def generator(self) -> np.random.Generator:
        """A fresh generator for post-processing: sampling rows from a model, breaking ties."""
        ...


class SystemRandomness:
    """Cryptographic randomness of the operating system. The only kind a release may be made with.

    Args:
        tables: of the tables that many draws may come from, for which what is held back of a budget pays
            (`precision_for`); where None, all are OpenDP's, which are exact and slower.
    """

    private = True
    source = "OpenDP discrete samplers and a table sampler over operating-system entropy"

    def __init__(self, *, tables: Precision | None = USUAL) -> None:
        self._tables = tables

    def discrete_gaussian(self, scale: float, size: int) -> np.ndarray:
        table = gaussian_sampler(scale, self._tables) if self._tables and size >= _TABLE_FROM else None
        if table is not None:
            return table.draw(size, self.words)
        wide = wide_gaussian_sampler(scale, self._tables) if self._tables and size >= _WIDE_FROM else None
        if wide is not None:
            return wide.draw(size, self.words)
        dp = _opendp()
        space = dp.domains.vector_domain(dp.domains.atom_domain(T="i64")), dp.metrics.l2_distance(T="f64")
        return np.array(dp.measurements.make_gaussian(*space, scale=scale)([0] * size), dtype=np.int64)

    def discrete_laplace(self, scale: float, size: int) -> np.ndarray:
        # Always OpenDP's: pure privacy has no delta that could pay for a table's rounding.
        dp = _opendp()
        space = dp.domains.vector_domain(dp.domains.atom_domain(T="i64")), dp.metrics.l1_distance(T="i64")
        return np.array(dp.measurements.make_laplace(*space, scale=scale)([0] * size), dtype=np.int64)

    def noisy_max(self, scores: np.ndarray, scale: float) -> int:
        return int(_noisy_max(scale)([float(score) for score in scores]))

    def words(self, size: int) -> np.ndarray:
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)

    def make_ready(self) -> None:
        _opendp()

    def generator(self) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(int.from_bytes(os.urandom(16), "little")))


class SeededRandomness:
    """Reproducible, hence public, noise: for tests and reproductions. A release that is made with it is NOT PRIVATE."""

    private = False
    source = "a seed: NOT PRIVATE"

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def discrete_gaussian(self, scale: float, size: int) -> np.ndarray:
        table = gaussian_sampler(scale)
        if table is None:
            return np.rint(self._generator.normal(0, scale, size)).astype(np.int64)
        return table.draw(size, self.words)

    def discrete_laplace(self, scale: float, size: int) -> np.ndarray:
        table = laplace_sampler(scale)
        if table is None:
            return np.rint(self._generator.laplace(0, scale, size)).astype(np.int64)
        return table.draw(size, self.words)

    def noisy_max(self, scores: np.ndarray, scale: float) -> int:
        return int(np.argmax(scores + self._generator.gumbel(0, scale, len(scores))))

    def words(self, size: int) -> np.ndarray:
        return self._generator.integers(0, 2**64, size, dtype=np.uint64)

    def make_ready(self) -> None:
        pass

    def generator(self) -> np.random.Generator:
        return self._generator.spawn(1)[0]


@lru_cache(maxsize=32)
def _noisy_max(scale: float) -> Callable[[list[float]], int]:
    """OpenDP's mechanism, which takes longer to make than to run."""
    dp = _opendp()
    space = dp.domains.vector_domain(dp.domains.atom_domain(T="f64", nan=False)), dp.metrics.linf_distance(T="f64")
    return dp.measurements.make_noisy_max(*space, dp.measures.zero_concentrated_divergence(), scale=scale)


def _opendp():  # type: ignore[no-untyped-def]
    """OpenDP, imported on first use. Its `prelude` would import scikit-learn and pandas too, which takes seconds."""
    import opendp
    import opendp.domains
    import opendp.measurements
    import opendp.measures
    import opendp.metrics
    import opendp.mod

    opendp.mod.enable_features("contrib")
    return opendp
