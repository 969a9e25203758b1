"""The section of a report that shows which pairs of columns are related, and how sure that is."""

from __future__ import annotations

import numpy as np

from counterfoil.pictures.column_bars import share_text
from counterfoil.pictures.pair_matrix import pair_matrix, step_words
from counterfoil.pictures.svg import render
from counterfoil.receipt.relations_kept import noisy_looks
from counterfoil.report.relations import Relations, relations
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.section import ColorKey, Figure, NumberTable, Section
from counterfoil.report.sentences import pair_named
from counterfoil.synthesis.synthesis import Synthesis

_TITLE = "Which columns are related"
_STRENGTHS = (0.05, 0.1, 0.2, 0.4, 0.6)
_ERRORS = (0.01, 0.02, 0.05, 0.1, 0.2)
_LISTED = 200
"""Pairs in a table of numbers, the strongest."""


def pairs(facts: ReleaseFacts) -> Section | None:
    """The matrix of relations, and that of their error bars where the model was kept; None without pairs."""
    found = facts.once(relations)
    if found is None:
        return None
    lead = f"{_counted(facts, found)} Strengths are computed from {found.source}."
    if len(found.names) == 2:
        return Section("pairs", "How the columns are related", lead, (), (_only(found),))
    figures = [_strength(found)]
    if np.isfinite(found.off_by).any():
        figures.append(_error(found))
        return Section("pairs", _TITLE, lead, tuple(figures))
    unknown = (
        "How far each pair may be off is known for a release whose model was kept (synth --keep-model)."
        if facts.kept is None
        else "Nothing that was released bounds how far a pair may be off."
    )
    return Section("pairs", _TITLE, lead, tuple(figures), (unknown,))


def _counted(facts: ReleaseFacts, found: Relations) -> str:
    """How many pairs were counted together, where the release says it; methods of points count regions instead."""
    if facts.answers is None and not isinstance(facts.kept, Synthesis):
        return "The receipt records no counts of pairs."
    counted = int(found.measured.sum()) // 2
    if counted == len(found.pairs):
        return "Each pair of columns was counted together in the real table, with noise."
    others = "the others follow from the method's assumptions."
    if noisy_looks(facts.receipt.document):
        others = "the others only all at once, with so much noise that weak relations do not show."
    return (
        f"Of {len(found.pairs):,} pairs of columns, {counted:,} were counted together in the real table, with noise; "
        f"{others}"
    )


def _only(found: Relations) -> str:
    value = found.strength[0, 1]
    strength = f"{value:.2f}" if np.isfinite(value) else "not defined, because one of them has one value alone"
    return f"The strength of the relation of {pair_named(found.names)} (Cramer's V, from 0 to 1) is {strength}."


def _strength(found: Relations) -> Figure:
    key = ColorKey.of_steps("Cramer's V, from 0 to 1", step_words(_STRENGTHS))
    chart = pair_matrix(found.names, found.strength, _STRENGTHS, found.measured)
    strongest = found.pairs[0]
    pair, value = pair_named([found.names[place] for place in strongest]), found.strength[strongest]
    described = (
        "A triangle of cells, one for each pair of columns; cells of stronger color are more closely related pairs. "
    )
    described += f"The strongest is {pair} with {value:.2f}." if np.isfinite(value) else ""
    caption = (
        "The stronger the color, the more closely related, from 0 (unrelated) to 1 (one column decides the other). A "
        "dot: the pair was counted together, with noise. The number below cells is that of the other column."
    )
    if not np.isfinite(found.strength[np.tril_indices(len(found.names), -1)]).all():
        caption += " A cross: a column has one value alone."
    svg = render(chart, title="Strength of the relation of each pair", description=described)
    return Figure(svg, "Strength of each relation", caption, _table(found), wide=True, key=key)


def _error(found: Relations) -> Figure:
    key = ColorKey.of_steps("Share in other cells, at most", step_words(_ERRORS))
    chart = pair_matrix(found.names, found.off_by, _ERRORS, found.measured)
    known = found.off_by[np.tril_indices(len(found.names), -1)]
    known = known[np.isfinite(known)]
    described = (
        f"A triangle of cells, one for each pair of columns; those of stronger color may be further off. "
        f"{len(known):,} pairs have a bound, from {share_text(float(known.min()))} to {share_text(float(known.max()))}."
    )
    caption = (
        "The stronger the color, the further it may be from the real table. The bound holds with probability 95% for "
        "each pair by itself: the share of the real records that are in other combinations of values than the model "
        "says. A dot: the pair was counted together."
    )
    if len(known) < len(found.pairs):
        caption += " A cross: nothing bounds it."
    svg = render(chart, title="How far each pair may be off", description=described)
    return Figure(svg, "How far each pair may be off", caption, None, wide=True, key=key)


def _table(found: Relations) -> NumberTable:
    bounded = bool(np.isfinite(found.off_by).any())
    header = ("pair", "strength", "counted together", *(["off by at most"] if bounded else []))
    rows = []
    for pair in found.pairs[:_LISTED]:
        value, off_by = found.strength[pair], found.off_by[pair]
        row = [pair_named([found.names[place] for place in pair]), f"{value:.2f}" if np.isfinite(value) else "none"]
        row.append("yes" if found.measured[pair] else "no")
        if bounded:
            row.append(share_text(float(off_by)) if np.isfinite(off_by) else "not known")
        rows.append(tuple(row))
    return NumberTable(header, tuple(rows))
