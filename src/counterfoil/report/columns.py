"""The section of a report that shows each column by itself."""

from __future__ import annotations

import numpy as np

from counterfoil.pictures.column_bars import category_bars, histogram, is_even, share_text
from counterfoil.pictures.svg import render
from counterfoil.receipt.wording import condition_of
from counterfoil.report.beyond_bounds import beyond_bounds
from counterfoil.report.column_view import ColumnView, column_views
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.section import Figure, NumberTable, Section
from counterfoil.report.sentences import named
from counterfoil.schema.instant import Instant
from counterfoil.synthesis.bars import Bars
from counterfoil.synthesis.point_synthesis import PointSynthesis

_UNKNOWN = (
    "Columns are not drawn: nothing beside this table says what its values can be. A release in a folder keeps its "
    "schema."
)

_UNIT = {"date": "day", "datetime": "time (UTC where the column has a zone)"}


def columns(facts: ReleaseFacts) -> Section:
    """A picture of each column that has codes; a sentence where no schema is known."""
    views = facts.once(column_views)
    if not views:
        return Section("columns", "Each column", _UNKNOWN, ())
    what = "weighted points" if isinstance(facts.kept, PointSynthesis) else "synthetic rows"
    figures = tuple(figure for view in views for figure in _figures(view, what))
    lines = any(np.isfinite(view.bars.lower).any() for view in views)
    lead = f"Bars are shares of the {what}."
    if lines:
        lead += (
            " Lines show where the real table's share lies by the noisy counts that were bought, two standard errors "
            "of the noise to each side."
        )
        if any(view.off_by is not None for view in views):
            lead += (
                " A line is about one bar and its own count; the largest share elsewhere, below a picture, is about "
                "all bars of a column together, by the sharpest bound that was released."
            )
    elif condition_of(facts.receipt.document) is not None:
        lead += " They were drawn under a condition: noisy counts of all records give them no error bars."
    else:
        lead += " The receipt has no noisy counts of single columns, so that there are no error bars."
    return Section("columns", "Each column", lead, figures, _left_out(facts))


def _left_out(facts: ReleaseFacts) -> tuple[str, ...]:
    """What has no picture: identifiers, which say nothing, and derived columns, which follow from others."""
    assert facts.schema is not None
    synthesized = {column.name for column in facts.schema.synthesized}
    derived = {column.name for column in facts.schema.derived}
    made = [name for name in facts.column_names if name not in synthesized | derived]
    sentences = []
    if made:
        sentences.append(f"Made anew, without any relation to real ones: {named(made)}.")
    if shown := [name for name in facts.column_names if name in derived]:
        sentences.append(f"Computed from other columns of the same row: {named(shown)}.")
    return tuple(sentences)


def _figures(view: ColumnView, what: str) -> list[Figure]:
    bars, name = view.bars, view.column.name
    even = bars.ends is None or is_even(bars.ends[0], bars.ends[1])
    sentences = [f"{len(bars.labels)} bins." if bars.ends is not None else ""]
    if bars.ends is None and view.column.kind in ("integer", "real", "date", "datetime") and view.column.n_bins > 8:
        sentences.append("Its bins differ too much in width to be drawn to scale.")
    if not even:
        sentences.append("Bins differ in width; the area of a bar is its share.")
    sentences.append(beyond_bounds(view.column, bars))
    sentences += [_missing(view) if bars.ends is not None else "", _off(view), *view.changed]
    caption = " ".join(filter(None, sentences))
    if bars.ends is None:
        chart = category_bars(bars.labels, bars.shares, bars.lower, bars.upper)
    else:
        clock = isinstance(view.column, Instant) and view.column.is_clock
        unit = "time of day" if clock else _UNIT.get(view.column.kind, "")
        chart = histogram(
            bars.ends[0], bars.ends[1], bars.shares, bars.lower, bars.upper, unit=unit, temporal=bars.temporal
        )
    svg = render(chart, title=f"Shares of {name[:80]}", description=_described(bars, what))
    figures = [Figure(svg, name, caption, _table(bars))]
    if view.apart is not None:
        chart = category_bars(view.apart.labels, view.apart.shares, view.apart.lower, view.apart.upper)
        svg = render(chart, title=f"Single values of {name[:80]}", description=_described(view.apart, what))
        caption = f"Values that are counted by themselves. {beyond_bounds(view.column, view.apart)}".rstrip()
        figures.append(Figure(svg, f"{name}, single values", caption, _table(view.apart)))
    return figures


def _missing(view: ColumnView) -> str:
    return "" if view.missing is None else f"Missing: {share_text(view.missing)}."


def _off(view: ColumnView) -> str:
    if view.off_by is None:
        return ""
    return f"At most {share_text(view.off_by)} of the real records are elsewhere than the model says (probability 95%)."


def _described(bars: Bars, what: str) -> str:
    if not len(bars.shares):
        return "There is nothing to show."
    top = int(np.argmax(bars.shares))
    return (
        f"{len(bars.shares)} bars of the shares of {what}. The largest is {bars.labels[top][:80]} with "
        f"{share_text(float(bars.shares[top]))}."
    )


def _table(bars: Bars) -> NumberTable:
    known = np.isfinite(bars.lower) & np.isfinite(bars.upper)
    rows = []
    for place, label in enumerate(bars.labels):
        row = [label, share_text(float(bars.shares[place]))]
        if known.any():
            ends = [share_text(float(end[place])) for end in (bars.lower, bars.upper)] if known[place] else []
            row.append(" to ".join(ends) if ends else "not known")
        rows.append(tuple(row))
    header = ("value", "share", *(["real share by noisy counts"] if known.any() else []))
    return NumberTable(header, tuple(rows))
