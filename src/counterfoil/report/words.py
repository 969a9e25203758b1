"""The sections of a report that say what the release can and cannot be used for, from its own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.pictures.column_bars import share_text
from counterfoil.pictures.labels import short
from counterfoil.receipt.conclusions import INTERVALS, NO_INTERVALS, ROWS_ALONE
from counterfoil.receipt.relations_kept import noisy_looks, pairs_left_out, three_columns
from counterfoil.receipt.schema_check import warnings_by_column
from counterfoil.report.column_view import column_views
from counterfoil.report.relations import noise_tests, relations
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.section import Section
from counterfoil.report.sentences import named, pair_named
from counterfoil.synthesis.synthesis import Synthesis

_NOISY_COLUMN = 0.1
"""The share of the records that noise alone puts into other cells, above which counts are called mostly noise."""

_STRONG = 0.2


def uses(facts: ReleaseFacts) -> Section:
    """What the release tells, and how conclusions are drawn from it."""
    found = [*_columns_that_hold(facts), *_relations_that_hold(facts)]
    paragraphs = (
        INTERVALS if facts.answers is not None else NO_INTERVALS,
        ROWS_ALONE,
        *filter(None, [pairs_left_out(facts.receipt.document), three_columns(facts.receipt.document)]),
    )
    lead = "By its own numbers, it tells:" if found else ""
    return Section("use", "What it can be used for", lead, (), paragraphs, tuple(found))


def limits(facts: ReleaseFacts) -> Section:
    """What the release can't tell, and what its receipt warns of."""
    found = [*_lost_columns(facts), *_lost_relations(facts), *_assumed(facts), *_ALWAYS]
    document = facts.receipt.document
    changed = [sentence for sentences in warnings_by_column(document).values() for sentence in sentences]
    warnings = (*(str(line) for line in document["warnings"]), *changed)
    return Section("limits", "What it cannot be used for", "It can't tell:", (), (), tuple(found), warnings)


def _columns_that_hold(facts: ReleaseFacts) -> list[str]:
    noisy = [(view, view.noisy) for view in facts.once(column_views) if view.noisy is not None]
    counted = {view.column.name: known.moved for view, known in noisy if known.moved <= _NOISY_COLUMN}
    bounded = {
        view.column.name: view.off_by
        for view, _ in noisy
        if view.off_by is not None and view.off_by <= _NOISY_COLUMN and view.column.name not in counted
    }
    found = []
    if counted:
        unsure = {view.column.name: view.off_by for view, _ in noisy if view.off_by and view.column.name in counted}
        found.append(
            f"the shares of single columns: in {named(list(counted))}, noise alone moves "
            f"{share_text(max(counted.values()))} of the records to other values or less, on average over the noise."
            f"{_average_and_bound(unsure)}"
        )
    if bounded:
        found.append(
            f"how the values of {named(list(bounded))} are spread: at most {share_text(max(bounded.values()))} of the "
            "real records are elsewhere than the model says (probability 95%), though noise moves single counts more."
        )
    return found


def _average_and_bound(off_by: Mapping[str, float]) -> str:
    """Beside an average, what can be ruled out, where that is much less: the pictures of these columns say it."""
    wide = {name: share for name, share in off_by.items() if share > _NOISY_COLUMN}
    if not wide:
        return ""
    return (
        f" That is an average: what is sure of {named(list(wide))}, with probability 95%, is only that at most "
        f"{share_text(max(wide.values()))} of the real records are elsewhere than the model says."
    )


def _lost_columns(facts: ReleaseFacts) -> list[str]:
    """Columns whose noise is large, and the rare values of others."""
    views = [view for view in facts.once(column_views) if view.noisy is not None]
    noisy = [(view, view.noisy) for view in views if view.noisy is not None]
    found = [
        f"how the values of {short(view.column.name, 60)} are spread: {_far_off(counted.moved, view.off_by)}."
        for view, counted in noisy
        if min(counted.moved, 1.0 if view.off_by is None else view.off_by) > _NOISY_COLUMN
    ]
    rare = [
        f"{int(counted.lost.sum()):,} of {len(counted.lost):,} of {short(view.column.name, 60)}"
        for view, counted in noisy
        if counted.moved <= _NOISY_COLUMN and counted.lost.any()
    ]
    if rare:
        found.append(f"how rare some values are, whose counts are within the noise of none: {_listed(rare, 20)}.")
    return found


def _far_off(moved: float, off_by: float | None) -> str:
    """By the sharper of what noise does to single counts and of what is known of all together."""
    if off_by is not None and off_by < moved:
        return f"up to {share_text(off_by)} of the real records may be elsewhere than the model says (probability 95%)"
    return f"noise alone moves about {share_text(moved)} of the records to other values"


def _relations_that_hold(facts: ReleaseFacts) -> list[str]:
    found = facts.once(relations)
    clear = [one for one in facts.once(noise_tests) if one.exceeds_noise]
    if not clear or found is None:
        return []
    place = {name: number for number, name in enumerate(found.names)}
    clear.sort(key=lambda one: -float(np.nan_to_num(found.strength[place[one.pair[0]], place[one.pair[1]]])))
    listed = _listed([pair_named(one.pair) for one in clear], 8)
    return [f"that these columns are related, which noise alone would not show: {listed}."]


def _lost_relations(facts: ReleaseFacts) -> list[str]:
    """Pairs whose noisy counts are such as noise alone makes of unrelated columns."""
    lost = [one for one in facts.once(noise_tests) if not one.exceeds_noise]
    if not lost:
        return []
    listed = _listed([pair_named(one.pair) for one in lost], 12)
    return [f"whether these columns are related, whose noisy counts could be those of unrelated ones: {listed}."]


def _assumed(facts: ReleaseFacts) -> list[str]:
    """Relations that are strong in the release, were never measured, and do not follow from the schema's rules."""
    found = facts.once(relations)
    if found is None or facts.schema is None or (facts.answers is None and not isinstance(facts.kept, Synthesis)):
        return []
    ruled = [set(clique) for clique in facts.schema.structural_zeros]
    strong = []
    for pair in found.pairs:
        names = [found.names[place] for place in pair]
        if found.measured[pair] or not found.strength[pair] >= _STRONG or any(set(names) <= one for one in ruled):
            continue
        strong.append(pair_named(names))
    if not strong:
        return []
    counted = (
        "counted together with much noise alone" if noisy_looks(facts.receipt.document) else "never counted together"
    )
    return [
        f"whether these relations are real, which were {counted} and follow from others by assumption: "
        f"{_listed(strong, 8)}."
    ]


def _listed(texts: Sequence[str], most: int) -> str:
    more = f"; and {len(texts) - most:,} more" if len(texts) > most else ""
    return f"{'; '.join(texts[:most])}{more}"


_ALWAYS = (
    "anything about a single person: no row stands for anyone.",
    "that something never happens: what few records have is lost in the noise, and what no row shows may be real.",
)
