"""A tree of halved cells, Laplace-noised counts of some of them, and the posterior means of all counts.

The model: a cell of N records gives N1 of them to its first half with the beta-binomial law of parameters a1 and a2,
the concentrations of its halves (a Pólya tree). Given N, the chances of (N1, N2) are w(N1) w(N2) / W(N) with
w(N) = G(N + a) / (N! G(a)), a being a1 or a2, and W the same for a1 + a2: products, so that the posterior of all counts
given all noisy counts follows from two passes of messages, up and down the tree, each a convolution of sequences. The
posterior means are consistent (halves add up to their cell) and non-negative, and they shrink noise. All of it is
post-processing.

W(N) spans many more digits than a float has, so that small entries of a convolution may be large once W is divided out.
Direct sums of products keep the relative precision of small entries, and Fourier transforms do not. Transforms are used
only where direct sums would take too long, for noise of hundreds of records; entries below their rounding count as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaln

from counterfoil.compiled import compiled

_REACH = 14.0
"""The noise in an answer is taken to be at most so many scales."""

_WIDTH = 9.0
"""How many deviations of a message are kept on either side of its mean, and how many counts at least: the deviation
understates the tails of a message that is nearly all at one count."""

_FLOOR = 1e-200
"""The smallest value of a message, relative to its largest. It keeps answers that contradict each other from dividing
0 by 0."""

_RESOLUTION = 1e-13
"""Relative to the largest value of a convolution by a transform: smaller values are rounding errors."""

_MOST_PRODUCTS = 1 << 22
_CHUNK = 1 << 22


@dataclass
class SplitTree:
    """Nodes by depth, and noisy counts of them.

    codes: by depth, int64 [m]: the nodes' prefixes, increasing.
    split: by depth, bool [m]: which nodes are split; the next depth holds their halves, in order.
    answers: by depth, pairs of noisy counts, float64 [m] with NaN for nodes that were not counted, and their scale.
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

    def add_counts(self, counts: np.ndarray, scale: float) -> None:
        """Adds noisy counts [leaves] of the present leaves, in the order of `leaves`, with the scale of their noise."""
        depths, _, places = self.leaves()
        for t in range(self.depth + 1):
            there = depths == t
            if there.any():
                answer = np.full(len(self.codes[t]), np.nan)
                answer[places[there]] = counts[there]
                self.answers[t].append((answer, scale))


@dataclass(frozen=True)
class _Messages:
    """For m nodes, the likelihood of the answers about the node and below it, given its count lows + 0, 1, …

    Each node's likelihoods are known up to a factor.

    lows: int64 [m]; values: float64 [m, width], with largest value 1.
    """

    lows: np.ndarray
    values: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """int64 [m, width]."""
        return self.lows[:, None] + np.arange(self.values.shape[1])


Concentrations = Sequence[float | np.ndarray]


Leaves = Sequence[tuple[_Messages, float] | None]


def leaf_messages(tree: SplitTree) -> Leaves:
    """By depth, the messages of nodes that are not split, with the log of what was divided out; None where all are.

    They are the same whatever the concentrations: who tries several computes them once.
    """
    return [
        None if split.all() else _times_density(_blank(answers, ~split), answers, ~split)
        for split, answers in zip(tree.split, tree.answers, strict=True)
    ]


def posterior(
    tree: SplitTree, concentrations: Concentrations, leaves: Leaves | None = None
) -> tuple[list[np.ndarray], float]:
    """The mean count of every node given all answers, by depth, and what `evidence` says.

    Args:
        tree: one with a noisy count of every leaf.
        concentrations: by depth, the parameters of the beta law of a split there; `tree.depth` of them, each a number
            for all halves, or float64 [2 k] with a pair for each of the k cells that are split.
        leaves: the tree's `leaf_messages`, where they are known.
    """
    by_half = _by_half(tree, concentrations)
    upward, log_density = _pass_up(tree, by_half, leaves or leaf_messages(tree))
    return _pass_down(tree, by_half, upward), log_density


def evidence(tree: SplitTree, concentrations: Concentrations, leaves: Leaves | None = None) -> float:
    """The logarithm of the answers' density, up to a constant; concentrations are chosen to maximize it."""
    return _pass_up(tree, _by_half(tree, concentrations), leaves or leaf_messages(tree))[1]


def _by_half(tree: SplitTree, concentrations: Concentrations) -> list[np.ndarray]:
    return [
        np.broadcast_to(c, 2 * int(s.sum())).astype(float) for c, s in zip(concentrations, tree.split[:-1], strict=True)
    ]


def _pass_up(tree: SplitTree, concentrations: list[np.ndarray], leaves: Leaves) -> tuple[list[_Messages], float]:
    messages: list[_Messages] = []
    log_density = 0.0
    for t in range(tree.depth, -1, -1):
        split = tree.split[t]
        parts = []
        if split.any():
            joined, log_scale = _joined(messages[-1], concentrations[t])
            joined, log_factor = _times_density(joined, tree.answers[t], split)
            log_density += log_scale + log_factor
            parts.append((split, _trimmed(joined)))
        if (unsplit := leaves[t]) is not None:
            alone, log_factor = unsplit
            log_density += log_factor
            parts.append((~split, alone))
        messages.append(_merged(parts, len(split)))
    messages.reverse()
    return messages, log_density + float(np.log(messages[0].values.sum()))


def _pass_down(tree: SplitTree, concentrations: list[np.ndarray], upward: list[_Messages]) -> list[np.ndarray]:
    means = []
    above = np.ones_like(upward[0].values)
    for t, messages in enumerate(upward):
        chances = messages.values * above
        totals = chances.sum(axis=1)
        means.append((chances * messages.counts).sum(axis=1) / totals)
        split = tree.split[t]
        if not split.any():
            return means
        parents, _ = _unweighted(messages.lows[split], above[split], concentrations[t])
        parents, _ = _times_density(parents, tree.answers[t], split)
        above = _to_halves(parents, upward[t + 1], concentrations[t])
    return means


def _blank(answers: list[tuple[np.ndarray, float]], nodes: np.ndarray) -> _Messages:
    """Constant messages over the counts that the answers make possible."""
    answered = [(counts[nodes], scale) for counts, scale in answers]
    low = np.min([np.where(np.isnan(c), np.inf, c - _REACH * s) for c, s in answered], axis=0)
    high = np.max([np.where(np.isnan(c), -np.inf, c + _REACH * s) for c, s in answered], axis=0)
    lows = np.maximum(np.floor(low), 0).astype(np.int64)
    width = int(np.ceil(np.maximum(high, 0) - lows).max()) + 2
    return _Messages(lows, np.ones((len(lows), width)))


def _times_density(
    messages: _Messages, answers: list[tuple[np.ndarray, float]], nodes: np.ndarray
) -> tuple[_Messages, float]:
    """The messages times the density of the answers about `nodes` (a mask), and the log of what was divided out."""
    values, places, log_scale = messages.values, messages.counts, 0.0
    for all_counts, scale in answers:
        counts = all_counts[nodes]
        unknown = np.isnan(counts)
        if unknown.all():
            continue
        away = np.abs(places - counts[:, None]) / scale
        away[unknown] = 0.0
        least = away.min(axis=1, keepdims=True)
        values = values * np.exp(least - away)
        log_scale -= float(least.sum())
    largest = values.max(axis=1, keepdims=True)
    return _Messages(messages.lows, values / largest), log_scale + float(np.log(largest).sum())


def _log_weights(messages: _Messages, concentrations: np.ndarray) -> np.ndarray:
    """log w at each count: w(N) = w(N - 1) (N - 1 + a) / N, because the logarithm of the gamma function is slow."""
    logs = np.empty(messages.values.shape)
    logs[:, 0] = gammaln(messages.lows + concentrations) - gammaln(messages.lows + 1) - gammaln(concentrations)
    logs[:, 1:] = np.log1p((concentrations - 1)[:, None] / messages.counts[:, 1:])
    return np.cumsum(logs, axis=1, out=logs)


def _weighted(messages: _Messages, concentrations: np.ndarray) -> tuple[np.ndarray, float]:
    """Messages times w, each divided by its largest value, and the log of what was divided out."""
    logs = _log_weights(messages, concentrations)
    peaks = logs.max(axis=1, keepdims=True)
    values = messages.values * np.exp(logs - peaks)
    largest = values.max(axis=1, keepdims=True)
    return values / largest, float((np.log(largest) + peaks).sum())


def _unweighted(lows: np.ndarray, values: np.ndarray, concentrations: np.ndarray) -> tuple[_Messages, float]:
    """The values of a convolution divided by W, whose concentration is the sum of those of the halves."""
    logs = _log_weights(_Messages(lows, values), concentrations.reshape(-1, 2).sum(axis=1))
    least = logs.min(axis=1, keepdims=True)
    values = values * np.exp(least - logs)
    largest = values.max(axis=1, keepdims=True)
    return _Messages(lows, np.maximum(values / largest, _FLOOR)), float((np.log(largest) - least).sum())


def _joined(halves: _Messages, concentrations: np.ndarray) -> tuple[_Messages, float]:
    """The messages of cells from those of their halves, two by two; and the log of what was divided out."""
    weighted, log_weighted = _weighted(halves, concentrations)
    sums = _convolved(weighted[0::2], weighted[1::2])
    cells, log_scale = _unweighted(halves.lows[0::2] + halves.lows[1::2], sums, concentrations)
    return cells, log_weighted + log_scale


def _convolved(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The convolutions [m, v + w - 1] of the rows of non-negative sequences [m, v] and [m, w]."""
    width = first.shape[1] + second.shape[1] - 1
    sums = np.zeros((len(first), width))
    if first.shape[1] * second.shape[1] <= _MOST_PRODUCTS:
        _add_products(np.ascontiguousarray(first), np.ascontiguousarray(second), sums)
        return sums
    size = next_fast_len(width, real=True)
    for rows in _chunks(len(first), size):
        sums[rows] = irfft(rfft(first[rows], size) * rfft(second[rows], size), size)[:, :width]
    sums[sums < _RESOLUTION * sums.max(axis=1, keepdims=True)] = 0.0
    return sums


@compiled
def _add_products(first: np.ndarray, second: np.ndarray, sums: np.ndarray) -> None:  # pragma: no cover - compiled
    for m in range(len(sums)):
        row, total = second[m], sums[m]
        for i in range(first.shape[1]):
            factor = first[m, i]
            for j in range(len(row)):
                total[i + j] += factor * row[j]


def _chunks(rows: int, width: int) -> Iterator[slice]:
    step = max(1, _CHUNK // width)
    return (slice(start, start + step) for start in range(0, rows, step))


def _trimmed(messages: _Messages) -> _Messages:
    """The part of each message near its mean, all with the width that the widest message needs."""
    places = np.arange(messages.values.shape[1])
    totals = messages.values.sum(axis=1)
    means = messages.values @ places / totals
    deviations = np.sqrt(np.maximum(messages.values @ places**2.0 / totals - means**2, 0))
    width = min(len(places), int(2 * np.ceil(_WIDTH * max(deviations.max(), 1.0)) + 3))
    starts = np.clip(np.rint(means - width / 2), 0, len(places) - width).astype(np.int64)
    kept = np.take_along_axis(messages.values, starts[:, None] + np.arange(width), axis=1)
    return _Messages(messages.lows + starts, kept)


def _merged(parts: list[tuple[np.ndarray, _Messages]], count: int) -> _Messages:
    if len(parts) == 1:
        return parts[0][1]  # it is of all nodes
    width = max(messages.values.shape[1] for _, messages in parts)
    lows, values = np.zeros(count, dtype=np.int64), np.zeros((count, width))
    for nodes, messages in parts:
        lows[nodes] = messages.lows
        values[nodes, : messages.values.shape[1]] = messages.values
    return _Messages(lows, values)


def _to_halves(parents: _Messages, halves: _Messages, concentrations: np.ndarray) -> np.ndarray:
    """[halves, width]: for each half and count, the likelihood of all answers outside the half, up to a factor.

    For the first half: w(N1) times the sum over N2 of (parent at N1 + N2) w(N2) (second half at N2), a correlation.
    """
    weighted, _ = _weighted(halves, concentrations)
    width, wide = halves.values.shape[1], parents.values.shape[1]
    outside = np.empty_like(weighted)
    shifts = halves.lows.reshape(-1, 2).sum(axis=1) - parents.lows
    for cells in _chunks(len(parents.lows), 2 * (wide + width)):
        halved = slice(2 * cells.start, 2 * cells.stop)
        others = weighted[halved].reshape(-1, 2, width)[:, ::-1, ::-1].reshape(-1, width)
        sums = _convolved(others, np.repeat(parents.values[cells], 2, axis=0))
        # The entry for N1 is at N1 + (other half's low) - (parent's low) + width - 1, and 0 beyond either end.
        places = np.repeat(shifts[cells], 2)[:, None] + np.arange(width - 1, 2 * width - 1)
        inside = (places >= 0) & (places < sums.shape[1])
        outside[halved] = np.where(inside, np.take_along_axis(sums, np.clip(places, 0, sums.shape[1] - 1), axis=1), 0.0)
    logs = _log_weights(halves, concentrations)
    outside *= np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.maximum(outside / np.maximum(outside.max(axis=1, keepdims=True), _FLOOR), _FLOOR)
