"""Merging rare values while marginals are measured, so that noise is not spent on cells that nearly nobody is in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal

_MOST_HALVINGS = 6
"""How often a threshold that merges all of a column is halved, at most."""


def merge_rare(
    domain: Domain,
    one_way: Sequence[NoisyMarginal],
    *,
    ordered: Mapping[str, int],
    deviations: float = 3.0,
) -> Coarsening:
    """Merges values whose noisy count is below `deviations` standard deviations of its noise.

    Rare values of an attribute become one. The first `ordered[name]` codes of an ordered attribute are in order, and
    there only neighbors are merged, until together they reach `deviations` of their own noise: a column of fine bins
    gets wider ones where it is thin. Where all values of an attribute would become one, which says nothing of it any
    more, half as many deviations will do, and so on.

    Source: McKenna, Miklau and Sheldon 2021, section 3.2, for attributes without order; the rest is ours.
    """
    codes = {}
    for marginal in one_way:
        (name,) = marginal.clique
        for halvings in range(_MOST_HALVINGS):
            threshold = deviations / 2**halvings * marginal.scale
            codes[name] = _merge_column(marginal.counts, ordered.get(name, 0), threshold)
            if codes[name].max() > 0:
                break
    return Coarsening(domain, codes)


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


def merge_column(coarsening: Coarsening, marginal: NoisyMarginal) -> NoisyMarginal:
    """The noisy counts of one attribute's coarse codes.

    A merged cell has the noise of all its parts; the scale is kept that of one, because merged cells are the rare
    ones and the others must keep their weight.
    """
    (name,) = marginal.clique
    counts = np.bincount(coarsening.codes[name], marginal.counts, coarsening.domain[name]).astype(np.float64)
    return NoisyMarginal(marginal.clique, counts, marginal.scale)


def refine(
    coarsening: Coarsening,
    model: GraphicalModel,
    columns: GraphicalModel,
    fine_zeros: Mapping[Clique, np.ndarray],
) -> GraphicalModel:
    """A model on the fine domain: `model` between coarse codes, and within each as `columns` has it.

    Args:
        model: on the coarse domain.
        columns: on the fine domain; only its one-way marginals are used.
        fine_zeros: cells that no record can be in.
    """
    potentials: dict[Clique, np.ndarray] = {
        clique: table[np.ix_(*(coarsening.codes[name] for name in clique))]
        for clique, table in model.potentials.items()
    }
    for name, share in _shares(coarsening, columns).items():
        with np.errstate(divide="ignore"):
            within = np.log(share)
        potentials[(name,)] = potentials[(name,)] + within if (name,) in potentials else within
    for clique, impossible in fine_zeros.items():
        barred = np.where(impossible, -np.inf, 0.0)
        potentials[clique] = potentials[clique] + barred if clique in potentials else barred
    return GraphicalModel(coarsening.fine, potentials, model.total)


def _shares(coarsening: Coarsening, columns: GraphicalModel) -> dict[str, np.ndarray]:
    """The share of each fine code within its coarse one; equal shares where the model has nothing."""
    shares = {}
    for (name,), counts in columns.marginals([(name,) for name in coarsening.fine.attributes]).items():
        group = coarsening.codes[name]
        totals, members = np.bincount(group, counts)[group], np.bincount(group)[group]
        shares[name] = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), 1.0 / members)
    return shares
