"""Which bins an event divides: where it ends as bins do its interval is far narrower, and nobody can guess where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from counterfoil.inference.event import Event
from counterfoil.inference.finding import Finding
from counterfoil.listing import first_few

_MOST = 3


def with_divided(found: Iterable[Finding], event: Event) -> list[Finding]:
    """The findings, those that bins leave open naming the bins that the event divides.

    Of events about several columns nothing is said: which of them leaves a cell open depends on the others.
    """
    if not (divided := divided_bins(event)):
        return list(found)
    (name,) = event.columns
    bins = "bin" if len(divided) == 1 else "bins"
    sentence = (
        f"The event divides the {bins} {first_few(divided, _MOST)} of {name}: what begins and ends where bins do has a "
        "narrower interval."
    )
    return [replace(one, basis=(*one.basis[:-1], sentence, *one.basis[-1:])) if one.bins else one for one in found]


def divided_bins(event: Event) -> tuple[str, ...]:
    """The labels of the codes of which some records have an event about one column and others do not."""
    if len(event.columns) != 1:
        return ()
    (name,) = event.columns
    column = event.schema[name]
    certain, possible = event.rows({name: np.arange(column.size)})
    return tuple(column.labels[code] for code in np.flatnonzero(possible & ~certain))
