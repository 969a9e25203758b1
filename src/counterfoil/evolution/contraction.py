"""Whether the variations of a space contract as the convergence theorem assumes, estimated by simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.geometry.space import Space


@dataclass(frozen=True)
class Contraction:
    """Estimates of the property in Definition F.1, from pairs of public points.

    gamma: the share of a pair's distance that the best variation covers on average, less three standard errors; the
        smallest over the pairs. It is not positive where some pair came no nearer.
    variations: v, how many variations a point has.
    resolution: alpha; pairs that are nearer were left out.
    keeps_itself: whether every point is among its own variations.
    pairs: how many were tried.
    """

    gamma: float
    variations: int
    resolution: float
    keeps_itself: bool
    pairs: int

    @property
    def applies(self) -> bool:
        """Whether the estimates agree with Theorem F.1: evidence from some pairs, not a proof for all."""
        return self.keeps_itself and 0 < self.gamma < 1


def estimate_contraction(
    space: Space,
    *,
    resolution: float,
    rng: np.random.Generator,
    pairs: int = 60,
    draws: int = 200,
    progress: float = 0.0,
) -> Contraction:
    """Estimates (gamma, v, alpha) of Definition F.1.

    Half of the pairs are independent random points; the others are a random point and one of its own variations, so
    that short distances are tried too.

    Args:
        space: the space whose `random` and `variations` are tried.
        resolution: alpha.
        rng: public randomness.
        pairs: how many pairs to try, at least 2.
        draws: how many sets of variations a pair is tried with.
        progress: the share of the iterations at which variations are drawn.

    Raises:
        ValueError: where all pairs are nearer than the resolution.
    """
    starts = space.random(pairs, rng)
    targets = space.random(pairs, rng)
    near = space.variations(starts[pairs // 2 :], resolution=resolution, progress=progress, rng=rng)
    which = rng.integers(1, len(near), near.shape[1])
    targets[pairs // 2 :] = near[which, np.arange(near.shape[1])]
    apart = np.linalg.norm(space.embed(starts) - space.embed(targets), axis=1)
    kept = apart > resolution
    if not kept.any():
        raise ValueError(f"All {pairs} pairs are nearer than the resolution of {resolution:g}. Give a smaller one.")
    starts, goals, apart = starts[kept], space.embed(targets[kept]), apart[kept]
    ratios, keeps_itself, n_variations = np.empty((draws, len(starts))), True, 0
    for draw in range(draws):
        varied = space.variations(starts, resolution=resolution, progress=progress, rng=rng)
        n_variations = len(varied)
        embedded = space.embed(varied.reshape(-1, *varied.shape[2:])).reshape(n_variations, len(starts), -1)
        ratios[draw] = np.linalg.norm(embedded - goals, axis=2).min(axis=0) / apart
        keeps_itself &= bool(np.isclose(embedded, space.embed(starts)).all(axis=2).any(axis=0).all())
    worst = ratios.mean(axis=0) + 3 * ratios.std(axis=0) / np.sqrt(draws)
    return Contraction(float(1 - worst.max()), n_variations, resolution, keeps_itself, len(starts))
