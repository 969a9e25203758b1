"""Computing on records without a word on the side."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def silent() -> Iterator[None]:
    """Shows no warning of what is computed inside.

    What a computation says on the side is an answer too: that a product overflowed, or that a logarithm was of 0, shows
    that some record holds a certain number, and no budget pays for it.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
