"""What a plan is asked for, refused in a sentence before anything runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from counterfoil.features.one_against_rest import target_of
from counterfoil.planning.search import LARGEST
from counterfoil.planning.want import Want
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean

MOST_EPSILONS = 20
MOST_RUNS = 100

_BYTES = 60
"""Of memory for a cell of a table that is copied: its code, its value, and the same of the release."""


def epsilons_of(epsilons: Iterable[float] | float) -> tuple[float, ...]:
    """The epsilons to rehearse, rising, each once.

    Raises:
        ValueError: for one that is not above 0 and at most `LARGEST`, or for too many.
    """
    found = list(epsilons) if isinstance(epsilons, Iterable) else [epsilons]
    for epsilon in found:
        if not (isinstance(epsilon, (int, float)) and not isinstance(epsilon, bool) and 0 < epsilon <= LARGEST):
            raise ValueError(
                f"`epsilon` of a plan must be above 0 and at most {LARGEST:g}. Found {epsilon!r}: above 10 the "
                "guarantee says next to nothing already."
            )
    if len(set(found)) > MOST_EPSILONS:
        raise ValueError(f"A plan takes at most {MOST_EPSILONS} epsilons. Found {len(set(found))}: give fewer.")
    return tuple(sorted({float(epsilon) for epsilon in found}))


def require_whole(name: str, value: int, *, least: int, most: int | None = None) -> None:
    """Refuses what is no whole number within bounds.

    Raises:
        ValueError: naming the parameter.
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        end = "" if most is None else f" and at most {most}"
        raise ValueError(f"`{name}` must be a whole number of at least {least}{end}. Found {value!r}.")


def require_memory(rows: int, columns: int, jobs: int) -> None:
    """Refuses a number of records that the rehearsals which run at once could not hold.

    Raises:
        ValueError: with the arithmetic.
    """
    if not hasattr(os, "sysconf"):
        return  # Windows does not say how much memory there is
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = _BYTES * rows * columns * jobs
    if needed > memory:
        raise ValueError(
            f"`rows` of {rows:,} with {columns} columns in {jobs} rehearsals at a time would need about "
            f"{needed / 2**30:,.0f} GB of memory ({_BYTES} bytes a cell), of which there are {memory / 2**30:,.0f}. "
            "Give fewer rows or fewer jobs."
        )


def target_for(schema: Schema, target: str | None, wants: Sequence[Want]) -> str | None:
    """The column that models predict: the one that is named, or that something is wanted of.

    Raises:
        ValueError: for two different ones, an unknown one, or one that has not 2 to 64 values.
    """
    for want in wants:
        if want.column is not None and want.column != (target := target or want.column):
            raise ValueError(f"A plan has one target. Found {target!r} and {want.column!r}: make a plan for each.")
    if target is None:
        return None
    known = schema.domain.attributes
    if target not in known:
        raise ValueError(
            f"`target` must be a synthesized column of the schema. Found {target!r}.{did_you_mean(target, known)}"
        )
    target_of(schema, target)
    return target
