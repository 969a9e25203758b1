"""A tree of halved cells whose counts were told with Laplace noise, and what they are in the light of all answers.

The model: a cell of N records gives N1 of them to its first half with the beta-binomial law whose two parameters are
the level's concentration (a Pólya tree). Given N, the chances of (N1, N2) are w(N1) w(N2) / W(N) with
w(N) = G(N + a) / (N! G(a)) and W the same for 2 a: products, so that the law of all counts given all answers follows
from two passes of messages, up and down the tree, each a convolution of sequences. The means are consistent by
themselves (halves add up to their cell), non-negative, and shrink what is only noise. All of it is post-processing.

Where a message is below 1e-13 of its largest value, the transforms that convolve it hold no digits: there it is 1e-13.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaln

_REACH = 14.0
"""Answers are taken to be at most so many scales off: beyond, the message is flat."""

_WIDTH = 9.0
"""So many deviations of a message are kept on either side of its mean."""

_FLOOR = 1e-13
_CHUNK = 1 << 22


@dataclass
class SplitTree:
    """Nodes by depth, and the answers about them.

    codes: by depth, int64 [m]: the nodes' prefixes, increasing.
    split: by depth, bool [m]: which of them have both halves in the next depth; those are there in order.
    answers: by depth, pairs (counts, scale): float64 [m] with NaN for nodes that were not asked about, and the scale.
    """

    codes: list[np.ndarray] = field(default_factory=lambda: [np.zeros(1, dtype=np.int64)])
    split: list[np.ndarray] = field(default_factory=lambda: [np.zeros(1, dtype=bool)])
    answers: list[list[tuple[np.ndarray, float]]] = field(default_factory=lambda: [[]])

    @property
    def depth(self) -> int:
        """The depth of the deepest nodes."""
        return len(self.codes) - 1

    def grow(self, which: np.ndarray) -> None:
        """Splits the deepest nodes where the mask `which` [m] says so; at least one."""
        self.split[-1] = which
        self.codes.append(np.repeat(2 * self.codes[-1][which], 2) + np.tile([0, 1], int(which.sum())))
        self.split.append(np.zeros(len(self.codes[-1]), dtype=bool))
        self.answers.append([])

    def leaves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Depths, prefixes and places in their depth of the nodes that are not split, in the order of the box."""
        depths = np.concatenate([np.full(int((~s).sum()), t) for t, s in enumerate(self.split)])
        codes = np.concatenate([c[~s] for c, s in zip(self.codes, self.split, strict=True)])
        places = np.concatenate([np.flatnonzero(~s) for s in self.split])
        order = np.argsort(codes << (self.depth - depths), kind="stable")
        return depths[order], codes[order], places[order]

    def tell(self, counts: np.ndarray, scale: float) -> None:
        """Notes answers [leaves] about the present leaves, in the order of `leaves`, and the scale of their noise."""
        depths, _, places = self.leaves()
        for t in range(self.depth + 1):
            there = depths == t
            if there.any():
                told = np.full(len(self.codes[t]), np.nan)
                told[places[there]] = counts[there]
                self.answers[t].append((told, scale))


@dataclass(frozen=True)
class _Messages:
    """For m nodes, the chance of what was told of each and below it, up to a factor, were its count lows + 0, 1, …

    lows: int64 [m]; values: float64 [m, width], with largest value 1.
    """

    lows: np.ndarray
    values: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """int64 [m, width]."""
        return self.lows[:, None] + np.arange(self.values.shape[1])


def posterior(tree: SplitTree, concentrations: Sequence[float]) -> tuple[list[np.ndarray], float]:
    """The mean count of every node given all answers, by depth, and what `evidence` says.

    Args:
        tree: every leaf must have been asked about.
        concentrations: by depth, both parameters of the beta law of a split there; `tree.depth` of them.
    """
    upward, log_density = _pass_up(tree, concentrations)
    return _pass_down(tree, concentrations, upward), log_density


def evidence(tree: SplitTree, concentrations: Sequence[float]) -> float:
    """The logarithm of the answers' density, up to a constant: by it, concentrations can be chosen."""
    return _pass_up(tree, concentrations)[1]


def _pass_up(tree: SplitTree, concentrations: Sequence[float]) -> tuple[list[_Messages], float]:
    messages: list[_Messages] = []
    log_density = 0.0
    for t in range(tree.depth, -1, -1):
        split = tree.split[t]
        parts = []
        if split.any():
            joined, log_scale = _joined(messages[-1], concentrations[t])
            joined, log_told = _told(joined, tree.answers[t], split)
            log_density += log_scale + log_told
            parts.append((split, _trimmed(joined)))
        if not split.all():
            alone, log_told = _told(_blank(tree.answers[t], ~split), tree.answers[t], ~split)
            log_density += log_told
            parts.append((~split, alone))
        messages.append(_merged(parts, len(split)))
    messages.reverse()
    return messages, log_density + float(np.log(messages[0].values.sum()))


def _pass_down(tree: SplitTree, concentrations: Sequence[float], upward: list[_Messages]) -> list[np.ndarray]:
    means = []
    above = np.ones_like(upward[0].values)
    for t, messages in enumerate(upward):
        chances = messages.values * above
        totals = chances.sum(axis=1)
        means.append((chances * messages.counts).sum(axis=1) / totals)
        split = tree.split[t]
        if not split.any():
            return means
        parents = _Messages(messages.lows[split], above[split])
        parents = _Messages(parents.lows, parents.values * np.exp(-_log_weights(parents, 2 * concentrations[t])))
        parents, _ = _told(parents, tree.answers[t], split)
        above = _to_halves(parents, upward[t + 1], concentrations[t])
    return means


def _blank(answers: list[tuple[np.ndarray, float]], nodes: np.ndarray) -> _Messages:
    """Messages that say nothing, over the counts that the answers make possible."""
    told = [(counts[nodes], scale) for counts, scale in answers]
    low = np.nanmin([np.where(np.isnan(c), np.inf, c - _REACH * s) for c, s in told], axis=0)
    high = np.nanmax([np.where(np.isnan(c), -np.inf, c + _REACH * s) for c, s in told], axis=0)
    lows = np.maximum(np.floor(low), 0).astype(np.int64)
    width = int(np.ceil(np.maximum(high, 0) - lows).max()) + 2
    return _Messages(lows, np.ones((len(lows), width)))


def _told(messages: _Messages, answers: list[tuple[np.ndarray, float]], nodes: np.ndarray) -> tuple[_Messages, float]:
    """Multiplied by the density of what was told of `nodes` (a mask); the log of what was divided out."""
    values, log_scale = messages.values, 0.0
    for counts, scale in answers:
        away = np.abs(messages.counts - np.nan_to_num(counts[nodes])[:, None]) / scale
        away[np.isnan(counts[nodes])] = 0.0
        least = away.min(axis=1, keepdims=True)
        values = values * np.exp(least - away)
        log_scale -= float(least.sum())
    largest = values.max(axis=1, keepdims=True)
    return _Messages(messages.lows, values / largest), log_scale + float(np.log(largest).sum())


def _log_weights(messages: _Messages, concentration: float) -> np.ndarray:
    """log w at each count: a table, because the logarithm of the gamma function is slow."""
    n = np.arange(int(messages.lows.max()) + messages.values.shape[1] + 1)
    table = gammaln(n + concentration) - gammaln(n + 1) - gammaln(concentration)
    return table[messages.counts]


def _joined(halves: _Messages, concentration: float) -> tuple[_Messages, float]:
    """The messages of cells from those of their halves, two by two; and the log of what was divided out."""
    weighted = halves.values * np.exp(_log_weights(halves, concentration))
    width = 2 * weighted.shape[1] - 1
    size = next_fast_len(width, real=True)
    values = np.empty((len(weighted) // 2, width))
    step = max(1, _CHUNK // size)
    for start in range(0, len(values), step):
        part = weighted[2 * start : 2 * (start + step)]
        spectrum = rfft(part, size)
        values[start : start + step] = irfft(spectrum[0::2] * spectrum[1::2], size)[:, :width]
    values = np.maximum(values, _FLOOR * values.max(axis=1, keepdims=True))
    cells = _Messages(halves.lows[0::2] + halves.lows[1::2], values)
    values = values * np.exp(-_log_weights(cells, 2 * concentration))
    largest = values.max(axis=1, keepdims=True)
    return _Messages(cells.lows, values / largest), float(np.log(largest).sum())


def _trimmed(messages: _Messages) -> _Messages:
    """The part of each message within some deviations of its mean, as wide as the widest needs."""
    places = np.arange(messages.values.shape[1])
    totals = messages.values.sum(axis=1)
    means = messages.values @ places / totals
    deviations = np.sqrt(np.maximum(messages.values @ places**2.0 / totals - means**2, 0))
    width = min(len(places), int(2 * np.ceil(_WIDTH * deviations.max()) + 3))
    starts = np.clip(np.rint(means - width / 2), 0, len(places) - width).astype(np.int64)
    kept = np.take_along_axis(messages.values, starts[:, None] + np.arange(width), axis=1)
    return _Messages(messages.lows + starts, kept)


def _merged(parts: list[tuple[np.ndarray, _Messages]], count: int) -> _Messages:
    width = max(messages.values.shape[1] for _, messages in parts)
    lows, values = np.zeros(count, dtype=np.int64), np.zeros((count, width))
    for nodes, messages in parts:
        lows[nodes] = messages.lows
        values[nodes, : messages.values.shape[1]] = messages.values
    return _Messages(lows, values)


def _to_halves(parents: _Messages, halves: _Messages, concentration: float) -> np.ndarray:
    """For each half, the chance of all that was told elsewhere were its count so large: [halves, width], up to factors.

    For the first half: w(N1) times the sum over N2 of (parent at N1 + N2) w(N2) (second half at N2), a correlation.
    """
    weights = np.exp(_log_weights(halves, concentration))
    width, wide = halves.values.shape[1], parents.values.shape[1]
    size = next_fast_len(wide + width, real=True)
    found = np.empty_like(halves.values)
    step = max(1, _CHUNK // size)
    for start in range(0, len(parents.lows), step):
        cells, pair = slice(start, start + step), slice(2 * start, 2 * (start + step))
        spectrum = rfft(parents.values[cells], size)
        others = rfft((halves.values[pair] * weights[pair]).reshape(-1, 2, width)[:, ::-1], size)
        sums = irfft(spectrum[:, None] * np.conj(others), size)
        lows = halves.lows[pair].reshape(-1, 2)
        # Entry j holds the sum for N1 = j + (parent's low) - (other half's low); negative j are at the end.
        shifts = lows.sum(axis=1) - parents.lows[cells]
        places = np.broadcast_to(shifts[:, None, None] + np.arange(width), (*sums.shape[:2], width))
        inside = (places > -width) & (places < wide)
        values = np.where(inside, np.take_along_axis(sums, places % size, axis=2), 0.0)
        found[pair] = np.maximum(values, _FLOOR * values.max(axis=2, keepdims=True)).reshape(-1, width)
    found = found * weights
    return found / found.max(axis=1, keepdims=True)
