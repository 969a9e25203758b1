"""How many rounds the noise allows, and which larger marginals stand out of it. Post-processing of noisy answers."""

from __future__ import annotations

import math

import numpy as np

from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.marginals.aim_asked import Asked
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.measure import marginal_deviation
from counterfoil.marginals.scores import expected_error

FEWEST_ROUNDS, MOST_ROUNDS = 8, 48
"""Of a run whose user names no number: fewer gain nothing on small tables either, as rounds that teach nothing give
what they leave to later ones."""

MOST_SCORES = 20_000
"""Candidates times rounds: the work of a wide table, where more rounds gain little."""

SMALL_ERROR = 0.07
"""More rounds are worth their noise while a marginal that is measured in one of them is less far off (L1, of 2), by
the mean over the candidates."""

CLEAR_ERROR = 0.03
"""Marginals of three columns and more that nobody named may be chosen where their noise, if the fewest rounds shared
the budget, is at most this part of the records (L1, of 2)."""

_AT_ONCE = 256
"""Marginals whose estimates are in memory together."""


def rounds_allowed(
    asked: Asked, account: FilterAccount, candidates: Candidates, model: GraphicalModel, left: float
) -> int:
    """As many rounds as the user named, or the most whose measurements would be about `SMALL_ERROR` off.

    At least `FEWEST_ROUNDS`; in a table of few columns at least as many as choose every other pair: more would leave
    little for each.

    Args:
        asked: of the run.
        account: what is charged.
        candidates: of all rounds.
        model: fitted so far.
        left: what all rounds may measure (mu squared).
    """
    if asked.rounds:
        return asked.rounds
    estimates, size = model.marginals(_named(asked, candidates)), asked.choice.size
    most = min(MOST_ROUNDS, math.ceil(len(estimates) / size), MOST_SCORES // len(estimates))
    total, joint = next(iter(estimates.values())).sum(), sum(len(clique) > 1 for clique in estimates)
    few = min(FEWEST_ROUNDS, max(math.ceil(joint / (2 * size)), 1))
    many = max(few, most)
    while few < many:
        middle = (few + many + 1) // 2
        deviation = marginal_deviation(account, asked.curator.domain, left / (middle * size))
        error = np.mean([expected_error(table, deviation) for table in estimates.values()]) / total
        few, many = (middle, many) if error <= SMALL_ERROR else (few, middle - 1)
    return few


def clear_of_noise(asked: Asked, candidates: Candidates, model: GraphicalModel, deviation: float) -> list[Clique]:
    """The candidates without larger ones that nobody named and that noise would hide.

    A table of three columns or more takes part once its own noise is small. Before that, what is measured of it is
    mostly noise, which the fit shrinks.

    Args:
        asked: of the run.
        candidates: of all rounds.
        model: fitted so far.
        deviation: the standard deviation in a cell of what the fewest rounds would measure, in records.
    """
    named = frozenset(_named(asked, candidates))
    others = [clique for clique in candidates.weights if clique not in named]
    clear = set(named)
    for start in range(0, len(others), _AT_ONCE):
        tables = model.marginals(others[start : start + _AT_ONCE])
        clear |= {c for c, table in tables.items() if expected_error(table, deviation) <= CLEAR_ERROR * model.total}
    return [clique for clique in candidates.weights if clique in clear]


def _named(asked: Asked, candidates: Candidates) -> list[Clique]:
    """The candidates that the user named, and all of one or two columns."""
    if isinstance(asked.workload, int):
        return [clique for clique in candidates.weights if len(clique) <= 2]
    named = asked.workload.candidates(asked.curator.domain)
    return [clique for clique in candidates.weights if len(clique) <= 2 or clique in named]
