"""How many records lie at each of some places, where a user's code may have placed them."""

from __future__ import annotations

import numpy as np


def count_places(places: np.ndarray, *, records: int, size: int) -> np.ndarray:
    """int64 [size]: how often each place occurs among `places` [records].

    A sensitivity of one cell a record rests on what is checked here: each record has one place, and there are `size`.

    Raises:
        ValueError: for any other number of places, or one that is not among the `size`; which record it is of is not
            said.
    """
    if places.shape != (records,) or (records and not (places.min() >= 0 and places.max() < size)):
        raise ValueError(f"Each record has one place, from 0 to {size - 1}. A space, metric or partition gave another.")
    return np.bincount(places, minlength=size).astype(np.int64)
