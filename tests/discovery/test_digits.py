"""How many digits after the point a column of reals is said to have, by the noisy places of its cells."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.curator.queries.column_places import GRIDS, PLACES
from counterfoil.discovery.votes import Votes
from counterfoil.schema.raw_cell import CLASSES
from counterfoil.schema.value_grid import CELLS, places_of


def votes(**numbers: float) -> Votes:
    """So many cells of each class of numbers, all near 1, among noise of deviation 1 that happened to be 0."""
    counts = np.zeros(PLACES)
    for name, count in numbers.items():
        counts[len(CLASSES) + GRIDS.index(name) * CELLS + int(places_of(np.array([1.0]))[0])] = count
    return Votes(counts, 1.0, 4.0)


@pytest.mark.parametrize(
    ("numbers", "digits"),
    [
        ({"integer": 97_000, "hundredths": 3_000}, 2),  # fees, of which most are 0.00
        ({"integer": 96_000, "tenths": 2_000, "hundredths": 2_000}, 2),
        ({"integer": 97_000, "real": 3_000}, None),
        ({"integer": 50_000, "tenths": 48_000, "hundredths": 2_000}, 1),
        ({"hundredths": 100_000}, 2),
    ],
)
def test_whole_numbers_do_not_hide_the_digits_of_others(numbers, digits):
    found = votes(**numbers)
    assert (found.number_kind(), found.decimals()) == ("real", digits)


def test_numbers_that_are_nearly_whole_are_not_asked_about_as_texts():
    assert votes(integer=97_000, hundredths=3_000).nearly_whole
    assert not votes(integer=90_000, hundredths=10_000).nearly_whole
