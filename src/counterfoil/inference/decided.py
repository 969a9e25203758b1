"""Shares that the schema alone decides: of all records that it allows, every one has the event, or none has it."""

from __future__ import annotations

import numpy as np

from counterfoil.inference.event import Event, group_labels
from counterfoil.inference.finding import Finding
from counterfoil.inference.pooled_marginal import Patterns

_MOST_CELLS = 1_000_000
"""Combinations of values that are looked through; beyond, an event counts as open."""


def decided_groups(event: Event, columns: tuple[str, ...], groups: Patterns, by: str | None) -> dict[str, float | None]:
    """For each group of `by`, by its name, the share that the schema decides: 1, 0, or None where it is open.

    Args:
        event: whose share it is.
        columns: those of the event and `by`, in the schema's order.
        groups: the group of each code of each of them.
        by: a column; None for all records, whose name is empty.
    """
    schema = event.schema
    names = [""] if by is None else group_labels(schema, by, groups[by])
    if schema.domain.size(columns) > _MOST_CELLS:
        return dict.fromkeys(names)
    others = tuple(axis for axis, name in enumerate(columns) if name != by)
    certain, possible = event.cells(columns, groups)
    every, some = np.atleast_1d(certain.all(axis=others)), np.atleast_1d(possible.any(axis=others))
    return {name: 1.0 if one else None if other else 0.0 for name, one, other in zip(names, every, some, strict=True)}


def by_schema(about: str, group: str, share: float, level: float) -> Finding:
    """The finding that a share is 1 or 0 whatever the records are: it rests on no answer.

    Args:
        about: what the share is, in words.
        group: what the group is, in words; empty for all records.
        share: 1 or 0.
        level: what intervals were asked for; this one always holds.
    """
    records = f"record with {group}" if group else "record"
    which = f"every {records} that it allows has the event" if share else f"no {records} that it allows has the event"
    said = f"{about}, where {group}" if group else about
    sentence = f"The schema decides it, and no answer was needed: {which}."
    return Finding(said, share, share, share, level, 0.0, 0.0, (), (sentence,), measured=False, decided=True)
