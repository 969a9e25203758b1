"""Merging rare values while marginals are measured, so that noise is not spent on cells that nearly nobody is in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.group_merging import merge_in_groups
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.smoothing import Smoothed

MOST_CODES, LEAST_CODES = 48, 4
"""The most codes of a column of numbers while marginals are measured, and the fewest that the noise leaves it."""

DEVIATIONS = 3.0
"""Of its noise, below which a count is rare."""

_PAIR_SHARE = 0.5
"""Two columns of .5 sqrt(n / scale) codes have a noise of .25 sqrt(2 / pi) n, a fifth of the records, in L1."""

_MANY_MERGED = 740
"""Codes in one of which, on average, noise exceeds three deviations."""

_MOST_HALVINGS = 6
"""How often a threshold that merges all of a column is halved, at most."""


def merge_rare(
    domain: Domain,
    one_way: Sequence[NoisyMarginal],
    *,
    ordered: Mapping[str, int],
    groups: Mapping[str, np.ndarray] | None = None,
    smoothed: Mapping[str, Smoothed] | None = None,
    deviations: float = DEVIATIONS,
) -> Coarsening:
    """Merges values whose noisy count is below `deviations` standard deviations of its noise.

    Of more than 740 codes it takes as many deviations as noise exceeds in one of them, in the mean. Rare values of an
    attribute become one, and where `groups[name]` says which belong together, first those of one group
    (`merge_in_groups`). The first `ordered[name]` codes of an ordered attribute are in order, and there only neighbors
    are merged, until together they reach `deviations` of their own noise: a column of fine bins gets wider ones where
    it is thin. Where all values of an attribute would become one, which says nothing of it any more, half as many
    deviations will do, and so on. Where `smoothed[name]` has the runs of these codes, these runs are merged instead
    (`merge_runs`).

    Source: McKenna, Miklau and Sheldon 2021, section 3.2, for attributes without order; the rest is ours.
    """
    codes = {}
    for marginal in one_way:
        (name,) = marginal.clique
        if smoothed and name in smoothed:
            most = most_codes(float(smoothed[name].counts.sum()), marginal.scale)
            codes[name] = _with_rest(merge_runs(smoothed[name], most), marginal, deviations)
            continue
        # Of many codes, noise alone lifts some beyond any fixed number of deviations; together they hold many records.
        enough = max(deviations, float(-ndtri(1 / marginal.counts.size)))
        for halvings in range(_MOST_HALVINGS):
            threshold = enough / 2**halvings * marginal.scale
            if groups and name in groups:
                codes[name] = merge_in_groups(marginal.counts, groups[name], threshold)
            else:
                codes[name] = _merge_column(marginal.counts, ordered.get(name, 0), threshold)
            if codes[name].max() > 0:
                break
    return Coarsening(domain, codes)


def most_codes(records: float, scale: float) -> int:
    """How many codes a column of numbers may have, so that its pairs with another such column stand out from the noise.

    Measured on tables of 4,000 and 48,842 records at epsilon 1: with more codes, pairs of numbers are too large to be
    chosen, and strong relations are lost; `docs/decisions.md` has the figures.

    Args:
        records: about how many there are.
        scale: of the noise in a cell.
    """
    wanted = _PAIR_SHARE * math.sqrt(max(records, 0.0) / scale) if scale > 0 else math.inf
    return int(min(max(wanted, LEAST_CODES), MOST_CODES))


def merge_runs(smoothed: Smoothed, most: int = MOST_CODES) -> np.ndarray:
    """int64 [n]: coarse codes of cells that lie side by side, at most `most`.

    A run that does not stand out joins the thinner of its neighbors that do, spikes left alone where that is possible.
    Then the two neighbors that hold the fewest records together become one, until few enough are left: those that
    remain hold about equally many, or are heavy single cells.
    """
    runs = smoothed.runs
    pieces = [[run] for run in range(len(runs.totals))]
    out = set(np.flatnonzero(runs.stands_out & ~smoothed.spikes).tolist())
    for run in np.flatnonzero(~runs.stands_out).tolist():
        beside = [other for other in (run - 1, run + 1) if other in out and other not in smoothed.hidden]
        if beside:
            pieces[min(beside, key=lambda other: float(runs.totals[other]))].append(run)
            pieces[run] = []
    pieces = sorted((sorted(piece) for piece in pieces if piece), key=lambda piece: piece[0])
    counts = np.bincount(runs.of_cell, smoothed.counts)
    totals = [float(counts[piece].sum()) for piece in pieces]
    while len(pieces) > most:
        i = int(np.argmin(np.add(totals[:-1], totals[1:])))
        pieces[i : i + 2], totals[i : i + 2] = [pieces[i] + pieces[i + 1]], [totals[i] + totals[i + 1]]
    code = np.empty(len(runs.totals), dtype=np.int64)
    for number, piece in enumerate(pieces):
        code[piece] = number
    return np.asarray(code[runs.of_cell])


def _with_rest(codes: np.ndarray, marginal: NoisyMarginal, deviations: float) -> np.ndarray:
    """The codes of a column whose first ones are merged, with those that are in no order, such as missing values."""
    rest = marginal.counts[len(codes) :]
    return np.concatenate([codes, codes.max() + 1 + _merge_all(rest, deviations * marginal.scale)])


def _merge_column(counts: np.ndarray, n_ordered: int, threshold: float) -> np.ndarray:
    first = _merge_neighbors(counts[:n_ordered], threshold)
    start = int(first.max()) + 1 if n_ordered else 0
    return np.concatenate([first, start + _merge_all(counts[n_ordered:], threshold)])


def _merge_all(counts: np.ndarray, threshold: float) -> np.ndarray:
    frequent = counts >= threshold
    if (~frequent).sum() < 2:
        return np.arange(len(counts))
    return np.where(frequent, np.cumsum(frequent) - 1, frequent.sum())


def _merge_neighbors(counts: np.ndarray, threshold: float) -> np.ndarray:
    """Codes of intervals: each frequent value alone, each run of rare ones cut where its noisy sum stands out."""
    codes = np.zeros(len(counts), dtype=np.int64)
    code, members, total, in_rare_run = -1, 0, 0.0, False
    for i, count in enumerate(counts):
        rare = count < threshold
        stands_out = total >= threshold * math.sqrt(members)
        if not (rare and in_rare_run) or stands_out:
            code, members, total = code + 1, 0, 0.0
        codes[i] = code
        members, total, in_rare_run = members + 1, total + count, rare
    return _join_leftovers(codes, counts, threshold)


def _join_leftovers(codes: np.ndarray, counts: np.ndarray, threshold: float) -> np.ndarray:
    """The last piece of a run of rare values, where it does not stand out, joins the piece before it."""
    rare = counts < threshold
    n_codes = int(codes[-1]) + 1 if len(codes) else 0
    totals, members = np.bincount(codes, counts, n_codes), np.bincount(codes, minlength=n_codes)
    is_rare = np.bincount(codes, rare, n_codes) > 0
    joins = np.zeros(n_codes, dtype=np.int64)
    for code in range(1, n_codes):
        weak = is_rare[code] and totals[code] < threshold * np.sqrt(members[code])
        joins[code] = 1 if weak and is_rare[code - 1] else 0
    return codes - np.cumsum(joins)[codes] if n_codes else codes


def merge_column(coarsening: Coarsening, marginal: NoisyMarginal, total: float) -> NoisyMarginal:
    """The noisy counts of one attribute's coarse codes.

    A merged cell has the noise of all its parts; the scale is kept that of one, because merged cells are the rare
    ones and the others must keep their weight. Where so many are merged that their noise together would drown the
    others, the merged cell holds what they leave of all records, as far as that is better known.

    Args:
        coarsening: of the attribute, among others.
        marginal: its noisy counts.
        total: the number of records.
    """
    (name,) = marginal.clique
    counts = np.bincount(coarsening.codes[name], marginal.counts, coarsening.domain[name]).astype(np.float64)
    members = np.bincount(coarsening.codes[name], minlength=len(counts))
    most = int(np.argmax(members))
    if members[most] > _MANY_MERGED:
        left = total - (float(counts.sum()) - float(counts[most]))
        own, others = 1 / members[most], 1 / (members.sum() - members[most] + 1)
        counts[most] = (own * counts[most] + others * left) / (own + others)
    return replace(marginal, counts=counts)


def refine(
    coarsening: Coarsening,
    model: GraphicalModel,
    columns: GraphicalModel,
    fine_zeros: Mapping[Clique, np.ndarray],
    smoothed: Mapping[str, Smoothed] | None = None,
    posterior: Mapping[str, np.ndarray] | None = None,
) -> GraphicalModel:
    """A model on the fine domain: `model` between coarse codes, and within each as `columns` has it.

    Args:
        model: on the coarse domain.
        columns: on the fine domain; only its one-way marginals are used.
        fine_zeros: cells that no record can be in.
        smoothed: the counts of the first codes of some columns, which are used instead of those of `columns`.
        posterior: the same for single codes of some columns, NaN for the others.
    """
    potentials: dict[Clique, np.ndarray] = {
        clique: table[np.ix_(*(coarsening.codes[name] for name in clique))]
        for clique, table in model.potentials.items()
    }
    for name, share in shares_within(coarsening, columns, smoothed or {}, posterior or {}).items():
        with np.errstate(divide="ignore"):
            within = np.log(share)
        potentials[(name,)] = potentials[(name,)] + within if (name,) in potentials else within
    for clique, impossible in fine_zeros.items():
        barred = np.where(impossible, -np.inf, 0.0)
        potentials[clique] = potentials[clique] + barred if clique in potentials else barred
    return GraphicalModel(coarsening.fine, potentials, model.total)


def shares_within(
    coarsening: Coarsening,
    columns: GraphicalModel,
    smoothed: Mapping[str, Smoothed],
    posterior: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """The share of each fine code within its coarse one; equal shares where the model has nothing."""
    shares = {}
    for (name,), counts in columns.marginals([(name,) for name in coarsening.fine.attributes]).items():
        if name in smoothed:
            first = smoothed[name].counts
            # What is impossible has no record in the model of the columns, however its neighbors smooth it.
            counts = np.append(np.where(counts[: len(first)] > 0, first, 0.0), counts[len(first) :])
        if name in posterior:
            counts = np.where(np.isnan(posterior[name]) | (counts <= 0), counts, posterior[name])
        group = coarsening.codes[name]
        totals, members = np.bincount(group, counts)[group], np.bincount(group)[group]
        shares[name] = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), 1.0 / members)
    return shares
