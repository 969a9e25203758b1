"""What several columns have in common, said once: a survey has the same slip in thirty columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

FEWEST = 3
"""Columns: of two, each has a paragraph of its own."""

_NAMED = 3

One = TypeVar("One")


def grouped(found: Iterable[One], alike: Callable[[One], Hashable | None]) -> list[list[One]]:
    """Those with the same key together, where the first of them stood, and all others by themselves.

    Args:
        found: in order.
        alike: the key of one; None where it is like no other.
    """
    groups: dict[Hashable, list[One]] = {}
    for number, one in enumerate(found):
        key = alike(one)
        groups.setdefault((number,) if key is None else ("alike", key), []).append(one)
    return [
        part for group in groups.values() for part in ([group] if len(group) >= FEWEST else [[one] for one in group])
    ]


def columns_named(names: Sequence[str], most: int = _NAMED) -> str:
    """A column's name, or how many there are and the first few of them."""
    if len(names) == 1:
        return names[0]
    rest = len(names) - most
    more = f" and {rest:,} other{'s' if rest > 1 else ''}" if rest > 0 else ""
    return f"in {len(names):,} columns: {', '.join(names[:most])}{more}"
