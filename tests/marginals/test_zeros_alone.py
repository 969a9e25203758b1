"""What is said of columns of which zero alone stands out, though a purchase gave them other codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.one_way import counted_warnings
from counterfoil.schema import Integer, Schema
from counterfoil.schema.bought import Bought

BOUGHT = Bought(0.1, 1e-9, "add_or_remove_one", "0" * 64)
NOISE = np.array([3.0, -8, 6, 2, -1, 9, -4, 0, 1, -7, 5, 2, -3, 4, -2])


def said_of(column: Integer, counts: np.ndarray, *, bought: bool = True) -> list[str]:
    schema = Schema((column,))
    schema = replace(schema, bought=BOUGHT) if bought else schema
    padded = np.append(counts, np.zeros(column.size - len(counts)))
    said = counted_warnings(schema, [NoisyMarginal((column.name,), padded, 5.0)], None, float(counts.sum()))
    return [sentence for sentence in said if sentence.startswith("Zero alone stands out")]


@pytest.mark.parametrize("missing", [False, True])
def test_a_column_of_which_zero_alone_shows_is_named_with_its_bound(missing):
    """An amount that 20 of 8,000 rows have counts as 15, and the noise hides it."""
    counts = np.append(8000.0, NOISE)
    (sentence,) = said_of(Integer("dialysis", 0, 15, missing=missing), counts)
    assert "out of dialysis (up to 15), whose upper bounds were bought. Larger numbers count as the bound" in sentence


@pytest.mark.parametrize(
    ("column", "first"),
    [
        (Integer("flag", 0, 15), [7000.0, 1000.0]),
        (Integer("amount", 0, 15), [7000.0, *[0.0] * 14, 1000.0]),
        (Integer("truth", 0, 1), [8000.0, 3.0]),
        (Integer("year", 1, 16), [8000.0]),
    ],
)
def test_a_column_of_which_more_shows_is_not(column, first):
    size = column.upper - column.lower + 1
    assert said_of(column, np.append(first, NOISE)[:size]) == []


def test_bounds_that_somebody_stated_are_not_named():
    assert said_of(Integer("dialysis", 0, 15), np.append(8000.0, NOISE), bought=False) == []
