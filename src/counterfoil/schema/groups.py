"""Groups of categories: which of them are counted together where they are rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from counterfoil.schema.errors import did_you_mean

Groups = tuple[tuple[str, tuple[str | int | float, ...]], ...]
"""Each group's label with its values."""


def mistake_in(groups: Groups, texts: Sequence[str]) -> str | None:
    """What is wrong with groups of the categories `texts`, as a sentence; None where nothing is."""
    listed = [str(value) for _, values in groups for value in values]
    known = set(texts)
    strange = next((text for text in listed if text not in known), None)
    if strange is not None:
        return f"`groups` lists {strange!r}, which is not in `values`.{did_you_mean(strange, texts)}"
    twice = next((text for text, count in Counter(listed).items() if count > 1), None)
    if twice is not None:
        return f"`groups` must list each value once; found {twice!r} twice"
    return None if all(values for _, values in groups) else "`groups` must have a value in each group"


def group_of_each(groups: Groups, texts: Sequence[str], size: int) -> np.ndarray:
    """int64 [size]: the group of each code, -1 for one that is in none."""
    positions = {text: code for code, text in enumerate(texts)}
    numbers = np.full(size, -1, dtype=np.int64)
    for number, (_, values) in enumerate(groups):
        numbers[[positions[str(value)] for value in values]] = number
    return numbers
