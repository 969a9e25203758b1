"""Tables that are too wide for a method: refused by arithmetic, before anything is asked or charged."""

from __future__ import annotations

import math
from collections.abc import Iterable

from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.junction_tree import BYTES_PER_CELL
from counterfoil.marginals.candidates import Candidates

MOST_GIGABYTES = 8.0
"""More memory than this is not taken for scoring candidates."""

MOST_HOURS = 1.0
"""More processor time than this is not taken for scoring them."""

CROWDED = 0.5
"""Of the largest size of a model: rules that need more leave too little for what is measured."""

_BYTES_PER_CANDIDATE = 1_500
"""Measured: names, an estimate, its exact counts and scores, for the fewest cells that a pair may have."""

_NANOSECONDS_PER_CHOICE = 50
_NANOSECONDS_PER_ROUND = 30_000
_LARGER = 400_000
"""Measured: what each candidate takes in a choice, and where estimates are made and counted anew: one of three columns
and more has an elimination of its own, where pairs share theirs."""


def too_large_pairs(domain: Domain, max_model_size: float) -> tuple[str, ...]:
    """A sentence where pairs of columns have more cells than the model may hold, so that none of them is measured.

    Args:
        domain: the released domain.
        max_model_size: the limit in megabytes.
    """
    sizes, most = sorted(domain.sizes), max_model_size * 1e6 / BYTES_PER_CELL
    too_large, place = 0, len(sizes)
    for rank, size in enumerate(sizes):  # the least column with which a pair is too large moves down as sizes grow
        while place > 0 and sizes[place - 1] * size > most:
            place -= 1
        too_large += len(sizes) - max(place, rank + 1)
    if not too_large:
        return ()
    pairs = math.comb(len(sizes), 2)
    return (
        f"{too_large:,} of {pairs:,} pairs of columns have more cells than `max_model_size` = {max_model_size:g} "
        "megabytes hold, and were not measured: whether their columns are related is not known. Raise it, or give "
        "these columns fewer values.",
    )


def crowded_by_rules(
    domain: Domain, rules: Iterable[Clique], focused: Iterable[Clique], max_model_size: float
) -> tuple[str, ...]:
    """A sentence where rules need so much of the model that other pairs of columns find no room in it.

    Args:
        domain: the released domain.
        rules: the columns of each.
        focused: the pairs of the focus that were measured.
        max_model_size: the limit in megabytes.
    """
    rules, focused = [*rules], [*focused]
    size = junction_tree.megabytes(domain, [*rules, *focused])
    if not rules or size <= CROWDED * max_model_size:
        return ()
    tree = junction_tree.build(domain, [*rules, *focused])
    largest = max(tree.cliques, key=domain.size)
    widest = max(largest, key=lambda name: domain.size((name,)))
    needed = f"{size:,.0f}" if size >= 10 else f"{size:.2g}"
    beside = ", with the pairs of the focus," if focused else ""
    return (
        f"The rules{beside} need {needed} of the {max_model_size:g} megabytes that the model may have "
        f"(`max_model_size`), most of them for {', '.join(largest)} together: there was little room for other pairs, "
        "and strong relations may be lost. Give these columns fewer values, as by `bins` of "
        f"{widest} ({domain.size((widest,)):,} values), leave out rules that matter less, or raise it.",
    )


def crowded_by_focus(candidates: Candidates, rules: Iterable[Clique], focused: Iterable[Clique]) -> tuple[str, ...]:
    """A sentence where pairs of columns, each small enough by itself, are too large beside the pairs of the focus.

    Args:
        candidates: of all rounds.
        rules: the columns of each.
        focused: the pairs of the focus that were measured.
    """
    pairs = [clique for clique in candidates.weights if len(clique) == 2]
    if not (focused := [*focused]) or not pairs:
        return ()
    alone, beside = (candidates.fitting(known, pairs, 1.0) for known in ((), [*rules, *focused]))
    left_out = [pair for pair, fits in zip(pairs, (beside | ~alone).tolist(), strict=True) if not fits]
    if not left_out:
        return ()
    return (
        f"{len(left_out):,} of {len(pairs):,} pairs of columns, such as {' with '.join(left_out[0])}, do not fit "
        f"beside the pairs of the focus within `max_model_size` = {candidates.max_model_size:g} megabytes, and were "
        "not measured by themselves: their relations may be lost. Raise it, give these columns fewer values, or ask "
        "for no focus.",
    )


def require_width(method: str, domain: Domain, workload: Workload | int, *, choices: int, rounds: int) -> None:
    """Refuses a table whose candidates would not fit in memory or in an hour, however many values are merged.

    Args:
        method: its name.
        domain: the released domain.
        workload: the marginals to choose from, or their order.
        choices: how often all candidates are scored.
        rounds: how often their estimates are made anew.

    Raises:
        ValueError: with the numbers of columns and candidates, memory and time, and what would do.
    """
    columns = len(domain.attributes)
    order = min(workload, columns) if isinstance(workload, int) else max(map(len, workload.weights))
    candidates = math.comb(columns, order) if isinstance(workload, int) else len(workload.weights)
    in_a_round = _NANOSECONDS_PER_ROUND if order <= 2 else _LARGER
    hours_of_one = (choices * _NANOSECONDS_PER_CHOICE + rounds * in_a_round) / 3.6e12
    gigabytes, hours = candidates * _BYTES_PER_CANDIDATE / 1e9, candidates * hours_of_one
    if gigabytes <= MOST_GIGABYTES and (hours <= MOST_HOURS or order <= 2):
        return
    pairs = math.isqrt(int(2 * MOST_GIGABYTES * 1e9 / _BYTES_PER_CANDIDATE))
    smaller = f"synthesize at most {pairs:,} columns and their pairs"
    if order > 2:
        smaller = f"ask for pairs alone (`--workload 2`), of at most {pairs:,} columns"
    raise ValueError(
        f"The method {method!r} chooses among combinations of columns, of which at most {MOST_GIGABYTES:g} GB may be "
        f"scored, and those of three and more for at most {MOST_HOURS:g} hour of processor time. Found {columns:,} "
        f"columns with {candidates:,} combinations, which take at least {gigabytes:,.0f} GB and about "
        f"{max(hours, 0.1):,.1f} hours: {smaller}, measure named combinations by 'direct', or use 'independent', which "
        f"needs {sum(domain.sizes):,} cells."
    )
