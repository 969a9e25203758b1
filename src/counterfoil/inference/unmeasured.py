"""What a release knows of columns that were never measured together: an error bar, or nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.domain.domain import Clique
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding, Unanswerable
from counterfoil.inference.group_means import total_sentence
from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.inference.pooled_marginal import counted_tables, total_of
from counterfoil.inference.ratio import Ratio
from counterfoil.inference.related_rows import most_related, population_sentence
from counterfoil.receipt.answers import ErrorBarEntry, RecordedAnswers

_LEAST = 0.001
"""The probability that sampling may fail with, where the error bar leaves nothing of what was asked."""


@dataclass(frozen=True, eq=False)
class RowGroup:
    """A group of the synthetic rows, and the least and greatest numbers in [0, 1] that its rows have by their codes.

    Args:
        group: what it is, in words; empty for all rows.
        members: bool [rows].
        low, high: float64 [rows].
        drawn: float64 [rows], the numbers that they do have; None for the middle between the two.
    """

    group: str
    members: np.ndarray
    low: np.ndarray
    high: np.ndarray
    drawn: np.ndarray | None = None


def require_bar(answers: RecordedAnswers, columns: Sequence[str]) -> ErrorBarEntry:
    """The error bar on the marginal of `columns`, or else on the smallest that holds them.

    Each bar fails with its own beta, so that the narrowest of several, chosen after a look, would fail more often. The
    one on the columns themselves already is the narrowest of all that were bought, at its beta (`ErrorBars.bar`).

    Raises:
        Unanswerable: where there is none: with the columns that were never counted together.
    """
    bars = [bar for bar in answers.error_bars if set(columns) <= set(bar.clique)]
    if not bars:
        raise Unanswerable(never_measured(answers, answers.schema.domain.canonical(columns)))
    return min(bars, key=lambda bar: answers.schema.domain.size(bar.clique))


def from_error_bar(
    evidence: Evidence,
    columns: Sequence[str],
    groups: Sequence[RowGroup],
    level: float,
    *,
    about: str,
    bounds: tuple[float, float],
) -> list[Finding]:
    """Means of the synthetic rows, with all that an error bar on their marginal leaves open.

    Let f bound the L1 distance of the two distributions of cells, of the synthetic rows and of the real records. Then
    one becomes the other by moving a share of at most f / 2. For a group with the share g of the rows and the mean m of
    a number in [0, 1], moving d changes the mean most within the group, from rows with 0 to rows with 1: by d / g; mass
    that enters or leaves the group changes the mean by less, as (m g + d) / (g + d) <= m + d / g. So the mean among the
    real records lies within f / (2 g) of m. With sampling of at least n (g - f / 2) records (of a K-th of them, where K
    records may be one and the same draw), Wilson's interval around each end holds the population's. The bar fails with
    probability beta and the sampling with alpha = 1 - level - beta; where that is not positive alpha is 0.001, and the
    level that is stated is what is left.

    Raises:
        Unanswerable: where no error bar is recorded, or the rows were drawn under a condition.
    """
    if evidence.conditional is not None:
        raise Unanswerable(
            f"The relation of {', '.join(columns)} was never measured, and these rows, drawn under a condition, say "
            "nothing about it: ask the release that they were drawn from."
        )
    bar, total = require_bar(evidence.answers, columns), total_of(evidence.answers)
    alpha = 1 - level - bar.beta
    alpha = alpha if alpha > 1e-9 else _LEAST
    counted = ", ".join(bar.clique)
    basis = (
        f"{counted} were never counted together. The real shares of their combinations differ from the synthetic rows' "
        f"by at most {bar.fraction:.3g} in all, which fails with probability {bar.beta:g}: known from {bar.source}.",
        "The estimate is the synthetic rows' own.",
        total_sentence(total),
        population_sentence(evidence.answers.unit),
    )
    stated, width = 1 - bar.beta - alpha, bounds[1] - bounds[0]
    found = []
    for group in groups:
        ends = _ends(group, bar.fraction / 2, total.value / most_related(evidence.answers.unit), 1 - alpha)
        estimate, lower, upper = (bounds[0] + width * end for end in ends[:3])
        said = f"{about}, where {group.group}" if group.group else about
        noise, sampling, bins = (width * half for half in ends[3:])
        none = f"There are no synthetic rows{f' with {group.group}' if group.group else ''}: nothing is known of these."
        rests_on = basis if group.members.any() else (basis[0], none, *basis[2:])
        found.append(
            Finding(
                said,
                estimate,
                lower,
                upper,
                stated,
                noise,
                sampling,
                total.charges,
                rests_on,
                measured=False,
                bins=bins,
            )
        )
    return found


def _ends(group: RowGroup, moved: float, records: float, level: float) -> tuple[float, ...]:
    """The estimate, the two ends, and half the widths for the bar alone, for sampling alone and for bins alone.

    The first and the fourth are NaN where no row tells anything.
    """
    rows = int(group.members.sum())
    if not rows:
        return math.nan, 0.0, 1.0, 0.5, math.nan, 0.0
    share = rows / len(group.members)
    low, high = float(group.low[group.members].mean()), float(group.high[group.members].mean())
    least, most = max(low - moved / share, 0.0), min(high + moved / share, 1.0)
    drawn = max(records * (share - moved), 0.0)
    lower = _wilson(least, drawn, level)[0]
    upper = _wilson(most, drawn, level)[1]
    middle = (low + high) / 2 if group.drawn is None else float(group.drawn[group.members].mean())
    middle = min(max(middle, low), high)
    alone = _wilson(middle, max(records * share, 0.0), level)
    return middle, lower, upper, (low - least + most - high) / 2, (alone[1] - alone[0]) / 2, (high - low) / 2


def _wilson(share: float, records: float, level: float) -> tuple[float, float]:
    interval = Ratio(LinearAnswer(share * records, {}), LinearAnswer(records, {})).interval(level, noise=False)
    return interval.lower, interval.upper


def never_measured(answers: RecordedAnswers, columns: Clique) -> str:
    """The sentence that says which relation was never measured."""
    together = [set(table.columns) for table in counted_tables(answers)]
    pairs = [pair for pair in itertools.combinations(columns, 2) if not any(set(pair) <= one for one in together)]
    remedy = (
        "ask for it in a new release, by --workload or --queries (in Python, `workload` or `queries` of the method)"
    )
    if len(columns) == 1:
        return f"The column {columns[0]} was never counted: {remedy}."
    if len(columns) > 2 and pairs:
        named = "; ".join(" and ".join(pair) for pair in pairs[:4]) + ("; and more" if len(pairs) > 4 else "")
        missing = f"The relation of {', '.join(columns)} was never measured, nor was that of {named}"
    else:
        missing = (
            f"The relation of {' and '.join(columns) if len(columns) == 2 else ', '.join(columns)} was never measured"
        )
    return (
        f"{missing}. What the synthetic rows show of it is the method's assumption, and no interval can be given: "
        f"{remedy}."
    )
