"""Values of a user's own rows that a model does not see as they are: how many of which column, and what became of them.

Counts alone are said. They are exact, and as private as the rows; the values are never named.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from counterfoil.callers import outside_the_package

if TYPE_CHECKING:
    import numpy as np

    from counterfoil.schema.placement import Placement
    from counterfoil.schema.placement_words import ColumnWords
    from counterfoil.schema.schema import Schema

_MOST_NAMED = 8


class ChangedRowsWarning(UserWarning):
    """Rows that a model was given have values that were clamped, read as missing, or counted as `other`.

    Args:
        text: the sentence.
        counts: by column, how many values were changed in which way.
    """

    def __init__(self, text: str, counts: Mapping[str, Mapping[str, int]] | None = None):
        super().__init__(text)
        self.counts = counts or {}


def warn_of_changed(schema: Schema, placements: Mapping[str, np.ndarray]) -> None:
    """Warns where values were not placed as declared. Those between two points of a grid models see as they are.

    Args:
        schema: the public facts.
        placements: by column, uint8 [n], each a `Placement`.
    """
    import numpy as np

    from counterfoil.schema.placement import Placement
    from counterfoil.schema.placement_words import ColumnWords

    found: dict[str, dict[str, int]] = {}
    for name, ways in placements.items():
        words = ColumnWords.of(schema[name])
        for way, count in enumerate(np.bincount(ways).tolist()):
            if count and words.is_wrong(Placement(way)) and way != Placement.MOVED:
                counts = found.setdefault(name, {})
                text = _became(words, Placement(way))
                counts[text] = counts.get(text, 0) + count
    if found:
        warnings.warn(ChangedRowsWarning(_sentence(found), found), stacklevel=outside_the_package())


def _became(words: ColumnWords, way: Placement) -> str:
    from counterfoil.schema.placement import Placement

    return {
        Placement.BELOW: f"clamped to {words.lower}",
        Placement.ABOVE: f"clamped to {words.upper}",
        Placement.INFINITE: "clamped to a bound",
        Placement.OTHER: "counted as `other`",
        Placement.MISSING: "counted as `other`",  # where it is not declared, and has a place all the same
        Placement.UNREADABLE: "read as missing",
    }[way]


def _sentence(found: Mapping[str, Mapping[str, int]]) -> str:
    named = [
        f"{name}: {', '.join(f'{count:,} {became}' for became, count in counts.items())}"
        for name, counts in found.items()
    ]
    more = len(named) - _MOST_NAMED
    named = [*named[:_MOST_NAMED], *([f"and {more:,} more column{'s' if more > 1 else ''}"] if more > 0 else [])]
    return (
        "Some values of the rows are not as the schema declares, and the model sees others in their place. "
        f"{'; '.join(named)}."
    )
