"""What a release cost: the guarantee as a curve, where its budget went, and the ledger of its table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.accounting.trade_off import TradeOff, trade_off
from counterfoil.curator.queries.registry import shipped_queries
from counterfoil.ledger.sum_text import left_text, spent_text
from counterfoil.pictures.budget_parts import budget_bars, percent
from counterfoil.pictures.ledger_timeline import spent_over_time
from counterfoil.pictures.svg import render
from counterfoil.pictures.trade_off import trade_off_curve
from counterfoil.receipt.schema_bought import bought_sentences
from counterfoil.receipt.schema_total import bought_of, converted, total_of, why_no_total
from counterfoil.receipt.terms import Terms
from counterfoil.receipt.text import guess
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.section import Figure, NumberTable, Section

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Ledger

FALSE_ALARMS = 0.05
"""The share of false alarms at which the curve is put in words."""

_SHOWN = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75)
_GRID = np.unique(np.concatenate([[0.0], np.geomspace(1e-4, 0.05, 30), np.linspace(0.05, 1, 77)]))

_FIDELITY, _CHOICE = "how good the copy is (fidelity)", "choosing what to count"
PURPOSES: Mapping[str, str] = {
    "marginal_counts": "counts of columns and combinations",
    "worst_approximated_marginal": _CHOICE,
    "worst_of_many_marginals": _CHOICE,
    "marginal_errors": "choosing what to count",
    "total_marginal_error": _FIDELITY,
    "largest_marginal_error": _FIDELITY,
    "correct_predictions": _FIDELITY,
    "total_loss": _FIDELITY,
    "largest_moment_gap": _FIDELITY,
    "cumulative_area": _FIDELITY,
    "group_predictions": _FIDELITY,
    "schema_placement": "checking the schema",
    "partition_counts": "counts of cells of space",
    "unit_sizes": "how many rows people have",
    "function_averages": "averages of functions",
    "nearest_neighbor_histogram": "votes for candidates",
    "lattice_kernel_density": "density on a lattice",
    "generator_gradient": "training of the generator",
}
"""What the answers to a query are for, in a few words; other queries are described by their own question."""


def cost(facts: ReleaseFacts) -> Section | None:
    """The guarantee, the parts of the budget, and the ledger where one is given."""
    document = facts.receipt.document
    budget, delta = document["budget"], Terms.of_receipt(document).delta
    figures = [_parts(document), None if facts.ledger is None else _ledger(facts.ledger, facts.receipt.digest)]
    on_top = "; what its schema cost comes on top" if "schema_bought" in document else ""
    lead, alarms = f"Epsilon {budget['epsilon']:g} at delta {delta:g}, fixed before the first question{on_top}.", []
    if document["private"] and (reason := why_no_total(document)):
        alarms = [f"No curve is drawn of how well anyone could tell, for the release has its schema in it: {reason}."]
    elif document["private"]:
        figures.insert(0, _curve(document))
    else:
        lead, alarms = "", ["No guarantee: the noise came from a seed, so that anyone can take it away again."]
    return Section(
        anchor="cost",
        title="What it cost",
        lead=lead,
        figures=tuple(figure for figure in figures if figure is not None),
        paragraphs=tuple(bought_sentences(document)),
        alarms=tuple(alarms),
    )


def curve_of(document: Mapping[str, Any]) -> TradeOff | None:
    """The trade-off curve of a receipt's guarantee, with that of its schema where this was bought; None for none.

    The curve is between the release's neighbors. There is none where nothing follows for the schema between them.

    Args:
        document: of a receipt.
    """
    terms = Terms.of_receipt(document)
    plan = None if terms.plan is None else [noise.event() for noise in terms.plan]
    try:
        curve = trade_off(terms.rule, terms.budget, plan)
    except ValueError:  # a budget under which the rule promises nothing
        return None
    bought = bought_of(document)
    if bought is None:
        return curve
    before = converted(bought, terms.neighbors)
    if before is None or total_of(document) is None:
        return None
    return TradeOff(curve.mu, curve.pairs, curve.slack, before)


def found_at_most(curve: TradeOff, false_alarms: float) -> str:
    """The share of hits at some false alarms as a percentage, rounded up."""
    return f"{math.ceil(curve.found(false_alarms) * 1000) / 10:.1f}%"


def _curve(document: Mapping[str, Any]) -> Figure | None:
    curve = curve_of(document)
    if curve is None:
        return None
    misses = curve.misses(_GRID)
    found = found_at_most(curve, FALSE_ALARMS)
    also = " (its bought schema counted)" if curve.before is not None else ""
    caption = (
        f"Take someone who sees the release{also}, knows every other row, and has to tell {guess(document)}. "
        f"{_whoever(document)} at most {found}; guessing blindly finds {FALSE_ALARMS:.0%}. No test, however clever, "
        "gets below the line."
    )
    chart = trade_off_curve(_GRID, misses, marked=(FALSE_ALARMS, 1 - curve.found(FALSE_ALARMS)))
    title = "How well could anyone tell?"
    rows = tuple((f"{alarms:.1%}", found_at_most(curve, alarms), f"{alarms:.1%}") for alarms in _SHOWN)
    table = NumberTable(("false alarms", "found at most", "found by guessing"), rows)
    return Figure(render(chart, title=title, description=caption), title, caption, table)


def _whoever(document: Mapping[str, Any]) -> str:
    """Whose hits are meant, as the beginning of a sentence."""
    if document["neighboring_relation"] == "add_or_remove_one":
        return f"Whoever wrongly takes at most {FALSE_ALARMS:.0%} of those outside to be in finds, of those who are in,"
    return f"Whoever wrongly names the first in at most {FALSE_ALARMS:.0%} of cases finds it, where it is the first, in"


def parts_of(document: Mapping[str, Any]) -> tuple[list[tuple[str, float]], float | None] | None:
    """The share of the budget that each purpose took, largest first, and what was not used.

    Costs are in the unit in which the release's rule adds them up. Privacy-loss distributions have none: there, the
    squares of mu stand for them, as shares of their own sum.

    Args:
        document: of a receipt.

    Returns:
        the parts, and the share that is left, None where nothing is; None for all of it where costs have no shares.
    """
    terms = Terms.of_receipt(document)
    cost = getattr(terms.rule, "cost", None) or (lambda event: event.mu**2)
    costs: dict[str, float] = {}
    for charge in document["charges"]:
        purpose = _purpose(str(charge["query"]))
        costs[purpose] = costs.get(purpose, 0.0) + cost(event_from_json(charge["event"]))
    before = terms.rule.mu_squared if isinstance(terms.rule, RestOfBudget) else 0.0
    if before:
        costs["buying the schema"] = before
    used = math.fsum(costs.values())
    try:
        whole = terms.rule.capacity(terms.budget) + before if hasattr(terms.rule, "capacity") else used
    except ValueError:
        return None
    if not (math.isfinite(used) and used > 0):
        return None
    whole = max(whole, used)
    left = 1 - used / whole
    parts = sorted(((purpose, part / whole) for purpose, part in costs.items()), key=lambda part: -part[1])
    return parts, left if left >= 0.0005 else None


def _purpose(query: str) -> str:
    if query in PURPOSES:
        return PURPOSES[query]
    known = shipped_queries().get(query)
    return "a noisy statistic" if known is None else known.question.removesuffix(", with noise")


def _parts(document: Mapping[str, Any]) -> Figure | None:
    found = parts_of(document)
    if found is None:
        return None
    parts, left = found
    title = "Where the budget went"
    number = len(document["charges"])
    caption = f"{number:,} {'answer' if number == 1 else 'answers'} in all. "
    caption += "Costs are compared in the unit in which they add up."
    if left is not None:
        caption += " What was not used is spent all the same: how much it is may depend on the answers."
    rows = [(name, percent(share)) for name, share in parts] + ([("not used", percent(left))] if left else [])
    description = "; ".join(f"{name} {share}" for name, share in rows)
    svg = render(budget_bars(parts, left=left), title=title, description=description)
    return Figure(svg, title, caption, NumberTable(("part", "share of the budget"), tuple(rows)))


def _ledger(ledger: Ledger, digest: str) -> Figure | None:
    """The ledger over time.

    Neither where the table lies, nor why it was looked at, nor that anything was refused is for whoever gets the
    report: the first two are words of its steward, and the last may depend on the records.
    """
    releases = [release for release in ledger.releases() if release.status != "abandoned"]
    spent = [*accumulate(0.0 if release.within else release.budget.epsilon for release in releases)]
    looks = [look.time for look in ledger.reveals()]
    number = ledger.receipts().get(digest)
    places = [place for place, release in enumerate(releases) if release.id == number]
    chart = spent_over_time(
        [release.opened for release in releases],
        spent,
        total=ledger.total.epsilon,
        looks=looks,
        highlighted=places[0] if places else None,
    )
    title, caption = "The ledger of the table", " ".join(_told(ledger, len(releases), looks, bool(places)))
    rows = tuple(
        (
            f"{release.id}",
            release.opened[:10],
            f"{release.budget.epsilon:g}" if release.within is None else f"of {release.within}",
            f"{release.budget.delta:g}" if release.within is None else "",
            f"{sum_:.6g}",
        )
        for release, sum_ in zip(releases, spent, strict=True)
    )
    table = NumberTable(("release", "opened", "epsilon", "delta", "spent in all"), rows)
    return Figure(render(chart, title=title, description=caption), title, caption, table if rows else None)


def _told(ledger: Ledger, releases: int, looks: list[str], here: bool) -> Iterator[str]:
    spent, left = ledger.spent(), ledger.left()
    yield f"{releases:,} {'release' if releases == 1 else 'releases'} of the table so far."
    yield (
        f"Of epsilon {ledger.total.epsilon:g} and delta {ledger.total.delta:g}, "
        f"{spent_text(spent.epsilon)} and {spent_text(spent.delta)} are spent; {left_text(left.epsilon)} and "
        f"{left_text(left.delta)} are left."
    )
    if here:
        yield "The ring is this release."
    else:
        yield (
            "It does not know the receipt of this release: whether it counts it, and whether it is of the same table, "
            "is not to be seen here."
        )
    if looks:
        times = "once" if len(looks) == 1 else f"{len(looks):,} times"
        yield f"Dashed red: the records were looked at without privacy ({times}), which no budget bounds."
