"""A synthetic table beside the real one, as a page. NOT PRIVATE: for the steward of the records alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from counterfoil.pictures.column_bars import share_text
from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.labels import short
from counterfoil.pictures.model_scores import scores_side_by_side
from counterfoil.pictures.overlay import overlaid_categories, overlaid_histograms
from counterfoil.pictures.pair_matrix import pair_matrix, step_words
from counterfoil.pictures.svg import render, require_report
from counterfoil.report.beyond_bounds import beyond_bounds
from counterfoil.report.head import Head
from counterfoil.report.page import page
from counterfoil.report.section import ColorKey, Figure, NumberTable, Section
from counterfoil.report.sentences import named, pair_named
from counterfoil.synthesis.bars import Bars, bars_of

if TYPE_CHECKING:
    from counterfoil.evaluation.comparison import Comparison
    from counterfoil.evaluation.raw_columns import ColumnComparison
    from counterfoil.evaluation.train_on_synthetic import Score, TrainedOnSynthetic

BANNER = "NOT PRIVATE: exact statistics of the real records. DO NOT SHARE."
_LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2)
_LISTED = 200
"""Pairs in the table of numbers, those furthest off."""


def inside_report_of(comparison: Comparison, *, name: str = "synthetic table") -> str:
    """The page of a comparison. NOT PRIVATE: it says so on every screen and on every printed page.

    Args:
        comparison: as `evaluation.comparison.compare` made it; that recorded the look where a ledger was given.
        name: of the synthetic table.

    Raises:
        ModuleNotFoundError: without the extra `report`.
    """
    require_report()
    made = (_pairs(comparison), _columns(comparison), _models(comparison), _facts(comparison))
    return page(_head(comparison, name), [section for section in made if section is not None], private_view=True)


def _head(comparison: Comparison, name: str) -> Head:
    facts = [("Real rows", f"{comparison.real_rows:,}"), ("Synthetic rows", f"{comparison.synthetic_rows:,}")]
    words = {1: "Columns", 2: "Pairs", 3: "Triples"}
    for part in comparison.marginals:
        facts.append((f"{words[part.order]}: off by on average", share_text(part.mean / 2)))
    if comparison.numbers is not None:
        facts.append(("Sliced W_2 of all ordered columns", f"{comparison.numbers.sliced:.4f}"))
    sentences = (
        "Every figure on this page is an exact statistic of the real records, and no budget bounds what it tells.",
        "It is for whoever keeps the records. Nothing that is seen here may be passed on, or decide what is released.",
        "Off by: the share of the rows that would have to change for the two tables to agree.",
    )
    return Head(f"Inside view of {short(name, 80)}", BANNER, sentences, tuple(facts))


def _pairs(comparison: Comparison) -> Section | None:
    found = next((part for part in comparison.marginals if part.order == 2), None)
    if found is None:
        return None
    names = comparison.schema.domain.attributes
    place = {name: number for number, name in enumerate(names)}
    off_by = np.full((len(names), len(names)), np.nan)
    for (one, other), error in found.errors.items():
        i, j = place[one], place[other]
        off_by[i, j] = off_by[j, i] = error / 2
    title = "How far each pair is off"
    worst = pair_named(found.worst)
    caption = (
        f"Stronger color: further from the real table. {len(found.errors):,} of {found.total:,} pairs were compared; "
        f"the worst is {worst} with {share_text(found.largest / 2)}. The number below a cell is that of the other "
        "column."
    )
    chart = pair_matrix(names, off_by, _LIMITS)
    order = sorted(found.errors, key=lambda pair: -found.errors[pair])[:_LISTED]
    table = NumberTable(
        ("pair", "off by"), tuple((pair_named(pair), share_text(found.errors[pair] / 2)) for pair in order)
    )
    key = ColorKey.of_steps("Share of the rows in other cells", step_words(_LIMITS))
    figure = Figure(render(chart, title=title, description=caption), title, caption, table, wide=True, key=key)
    return Section("pairs", "Pairs of columns", figures=(figure,))


def _columns(comparison: Comparison) -> Section:
    """The columns, those that differ most first."""
    ordered = sorted(comparison.columns, key=lambda column: -column.difference)
    figures = tuple(figure for column in ordered for figure in _overlays(comparison, column))
    lead = "The real table and the synthetic one, by the codes of the schema; those that differ most come first."
    return Section("columns", "Each column", lead, figures)


def _overlays(comparison: Comparison, compared: ColumnComparison) -> Iterator[Figure]:
    assert compared.shares is not None, "`compare` keeps them"
    column = comparison.schema[compared.name]
    real, synthetic = compared.shares
    # Bars are chosen by both tables alike: neither hides what only the other has.
    for bars, single in zip(bars_of(column, (real + synthetic) / 2), (False, True), strict=True):
        if bars is None:
            continue
        shares = np.array([[float(side[codes].sum()) for codes in bars.sets] for side in (real, synthetic)])
        title = f"{compared.name}, single values" if single else compared.name
        caption = "Values that are counted by themselves." if single else _told(compared)
        caption = f"{caption} {beyond_bounds(column, bars)}".rstrip()
        what = f"Shares of {title[:80]}"
        described = f"{what} in the real and in the synthetic table. {caption}"
        svg = render(_chart(bars, shares), title=what, description=described)
        yield Figure(svg, title, caption, _table(bars, shares))


def _chart(bars: Bars, shares: np.ndarray) -> Drawing:
    if bars.ends is None:
        return overlaid_categories(bars.labels, *shares)
    return overlaid_histograms(*bars.ends, *shares, temporal=bars.temporal)


def _told(compared: ColumnComparison) -> str:
    sentences = [f"Off by {share_text(compared.distance / 2)}."]
    numbers = compared.numbers
    if numbers is not None and math.isfinite(numbers.deviations):
        sentences.append(f"W_1 is {numbers.deviations:.3g} deviations of the real numbers.")
    kinds = ("Missing", compared.missing), ("Read as missing", compared.unread), ("Other", compared.other)
    for what, (real, synthetic) in kinds:
        if real or synthetic:
            sentences.append(f"{what}: {share_text(real)} real, {share_text(synthetic)} synthetic.")
    return " ".join(sentences)


def _table(bars: Bars, shares: np.ndarray) -> NumberTable:
    rows = tuple(
        (label, share_text(float(real)), share_text(float(synthetic)))
        for label, real, synthetic in zip(bars.labels, *shares, strict=True)
    )
    return NumberTable(("value", "real", "synthetic"), rows)


def _models(comparison: Comparison) -> Section | None:
    model = comparison.model
    if model is None:
        return None
    target = short(model.target, 60)
    figures = [
        figure
        for measure, guess in (("accuracy", model.majority), ("AUC", 0.5))
        if (figure := _scores(model, measure, guess)) is not None
    ]
    points = [*_fairness(model)]
    return Section(
        "models",
        "Models trained on either table",
        f"Each predicts {target} from the other columns; tested on {model.test_rows:,} real rows that it has not seen.",
        tuple(figures),
        points=tuple(points),
    )


def _scores(model: TrainedOnSynthetic, measure: str, guess: float) -> Figure | None:
    def score(one: Score) -> float:
        return one.accuracy if measure == "accuracy" else one.auc

    rows = [(name, score(scores.real), score(scores.synthetic)) for name, scores in model.models.items()]
    if any(math.isnan(value) for _, *values in rows for value in values):
        return None
    guessed = "always naming the most frequent value" if measure == "accuracy" else "guessing"
    caption = f"Farther right is better. The dashed line is {guessed}."
    title = f"{measure[:1].upper()}{measure[1:]} on real rows"
    chart = scores_side_by_side(rows, guess=guess, measure=measure)
    table = NumberTable(
        ("model", "trained on real rows", "trained on synthetic rows"),
        (*((name, f"{real:.3f}", f"{synthetic:.3f}") for name, real, synthetic in rows), (guessed, f"{guess:.3f}", "")),
    )
    return Figure(render(chart, title=title, description=caption), title, caption, table)


def _fairness(model: TrainedOnSynthetic) -> Iterator[str]:
    if model.protected is None:
        return
    protected = short(model.protected, 60)
    for name, scores in model.models.items():
        copy, real = scores.synthetic.fairness, scores.real.fairness
        if copy is not None and real is not None:
            yield (
                f"{name}: between the groups of {protected} the shares that are predicted as one class differ by up to "
                f"{copy.parity:.3f} after synthetic rows and {real.parity:.3f} after real ones (given the true class, "
                f"{copy.odds:.3f} and {real.odds:.3f})."
            )


def _facts(comparison: Comparison) -> Section | None:
    """What the schema changes in the real table, and what a comparison of codes can't show."""
    broken = [(fact.fact, share_text(fact.count / comparison.real_rows)) for fact in comparison.facts if fact.count]
    points = [f"{fact}: not so in {share} of the real rows; the copy has none like them." for fact, share in broken]
    points += [sentence for column in comparison.columns for sentence in _raw(column)]
    if not points:
        return None
    lead = "What stands in the real table and not in its codes. `counterfoil check` says how to mend a schema."
    return Section("raw", "What the schema changes", lead, points=tuple(points))


def _raw(column: ColumnComparison) -> Iterator[str]:
    name = short(column.name, 60)
    ways = ("clamped or moved", column.clamped), ("put to other", column.other), ("read as missing", column.unread)
    for what, (real, synthetic) in ways:
        if real:
            moved = f"{share_text(real)} of the real cells are {what}"
            yield f"{name}: {moved}, and {share_text(synthetic)} of the synthetic ones."
    if column.categories is None:
        return
    if never := column.categories.never_made:
        yield f"{name}: never made, though real rows have it: {named(never)}."
    if outside := column.categories.outside:
        # The values are texts of records: how many there are is enough, and `evaluate --show-values` names them.
        cells = sum(outside.values())
        one = "1 value" if len(outside) == 1 else f"{len(outside):,} values"
        yield f"{name}: {one} of {cells:,} real cells {'is' if len(outside) == 1 else 'are'} not in the schema."
