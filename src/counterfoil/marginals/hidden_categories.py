"""Sentences for the receipt on columns of many categories, where noise hides which of them the records have.

Public: they follow from noisy counts alone. No record is read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from counterfoil.accounting.row_counts import CONFIDENT
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.runs import deviations_to_stand_out
from counterfoil.marginals.unreliable import first_few

_HIDDEN = 0.25
"""A larger share of the rows in categories that do not stand out is said."""
_MANY = 20
"""Where no more categories than that are hidden, rows are spread over few."""

_LOOSE = 0.25
"""Where counts of few categories are off by more of the rows, with probability 95%, nothing is known of them."""


def hidden_categories(
    marginals: Sequence[NoisyMarginal], total: float, grouped: Collection[str] = frozenset()
) -> list[str]:
    """What is said of columns of categories, many of whose records are in categories that do not stand out from noise.

    Args:
        marginals: of single columns of categories.
        total: the number of records, as noise leaves it.
        grouped: those whose categories have groups, within which rows are spread.
    """
    loose, hidden, all_grouped = _loose_shares(marginals, total), [], True
    for one in marginals:
        counts = one.counts.ravel()
        least = deviations_to_stand_out(len(counts), laplace=one.laplace) * one.scale
        seen = counts >= least
        share = 1 - min(float(counts[seen].sum()) / max(total, 1.0), 1.0)
        if share > _HIDDEN and len(counts) - int(seen.sum()) > _MANY:
            (name,) = one.clique
            values = f"{len(counts):,} values" + (" in groups" if name in grouped else "")
            hidden.append((share, f"{share:.0%} of the rows of {name} ({values})", least))
            all_grouped &= name in grouped
    if not hidden:
        return loose
    hidden.sort(key=lambda found: -found[0])
    named = first_few([text for _, text, _ in hidden])
    over = "all of their group" if all_grouped else "all of them"
    remedy = "Fewer categories" if all_grouped else "Fewer categories, `groups`,"
    return [
        f"Noise hides in which categories {named} are: those of fewer than about {max(row[2] for row in hidden):,.0f} "
        f"rows do not stand out, and rows are spread over {over}, also over those that no record has. {remedy} or more "
        "epsilon help.",
        *loose,
    ]


def _loose_shares(marginals: Sequence[NoisyMarginal], total: float) -> list[str]:
    """What is said of columns of few categories, of which noise leaves no share: rows are not near all of them then."""
    few = [(CONFIDENT * one.scale, one.clique[0]) for one in marginals if 1 < one.counts.size <= _MANY]
    loose = [(off, name) for off, name in sorted(few, reverse=True) if off > _LOOSE * max(total, 1.0)]
    if not loose:
        return []
    return [
        f"Noise hides how the rows of {first_few([name for _, name in loose])} are divided: a count is off by up to "
        f"{loose[0][0]:,.0f}, of about {total:,.0f} rows, with probability 95%. More epsilon helps, and so do counts "
        "of such a column by itself where it was counted with others alone."
    ]
