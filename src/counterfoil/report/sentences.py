"""Lists of names in sentences, with an end."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.pictures.labels import short

MOST = 12
"""Names that a sentence lists."""


def named(names: Sequence[str], most: int = MOST, longest: int = 60) -> str:
    """The names, short, with commas; of many the first `most` and how many more there are."""
    listed = ", ".join(short(name, longest) for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most:,} more"


def pair_named(pair: Sequence[str]) -> str:
    """Two columns, or more."""
    return " and ".join(short(name, 60) for name in pair)
