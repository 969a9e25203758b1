"""What each later question of a discovery is about: a public rule, of earlier answers alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Step = Literal["places", "ranges", "texts"]

FEW = 4
"""Where so many times as many columns are numbers as texts, numbers are asked about once more instead of texts whose
rest does not show."""


def next_step(number: int, numbers: int, texts: int, uncovered: Iterable[bool]) -> Step:
    """What the question after `places` with this number is about.

    Texts come first, in a small share, since what shows then makes the later round stronger; numbers second; and the
    largest share goes to the texts that are left, unless there are few columns of them or hardly any is left. Where no
    column is one of numbers, or none of texts, the others have it all.

    Args:
        number: 1 for the first of them.
        numbers: how many columns' ranges are open.
        texts: how many columns' texts are open.
        uncovered: by column of texts, whether some of its texts likely were not released yet.
    """
    if not numbers or not texts:
        return "texts" if texts else "ranges" if numbers else "places"
    if number == 1:
        return "texts"
    if number == 2:
        return "ranges"
    return "texts" if FEW * texts >= numbers or any(uncovered) else "ranges"
