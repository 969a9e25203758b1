"""Lists of names in sentences, with an end."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.listing import first_few
from counterfoil.pictures.labels import short

MOST = 12
"""Names that a sentence lists."""


def named(names: Sequence[str], most: int = MOST, longest: int = 60) -> str:
    """`first_few` of the names, each short."""
    return first_few([short(name, longest) for name in names], most)


def pair_named(pair: Sequence[str]) -> str:
    """Two columns, or more."""
    return " and ".join(short(name, 60) for name in pair)
