"""What is said of flags that are rarer than noise shows."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.one_way import counted_warnings
from counterfoil.schema import Boolean, Categorical, Schema

ROWS = 12_000.0


def said_of(column: Boolean | Categorical, counts: list[float], scale: float) -> list[str]:
    marginal = NoisyMarginal((column.name,), np.array(counts), scale)
    said = counted_warnings(Schema((column,)), [marginal], None, ROWS)
    return [sentence for sentence in said if sentence.startswith("Noise hides how many rows have the rarer")]


@pytest.mark.parametrize(
    ("column", "rarer"),
    [
        (Boolean("fraud"), "true"),
        (Boolean("fraud", true="Y", false="N", missing=True), "Y"),
        (Categorical("fraud", ("no", "yes"), other=True, missing=True), "yes"),
    ],
)
def test_a_flag_that_noise_hides_is_named_with_how_many_rows_may_have_it(column, rarer):
    """Of 12,000 payments .2% were charged back, and 5% of a copy, without a word."""
    rest = [0.0] * (column.size - 2)
    (sentence,) = said_of(column, [11_900.0, 200.0, *rest], 450.0)
    assert f"the rarer value of fraud ({rarer}: up to 9%): the table may have none, and the copy many" in sentence
    (sentence,) = said_of(column, [11_900.0, -300.0, *rest], 450.0)
    assert f"({rarer}: up to 7.3%)" in sentence
    assert said_of(column, [9000.0, 3000.0, *rest], 450.0) == [], "it stands out"
    assert said_of(column, [12_000.0, 2.0, *rest], 4.0) == [], "hardly a row is hidden"
    assert said_of(column, [300.0, 200.0, *rest], 450.0) == [], "nothing is known of either"


def test_more_values_are_no_flag():
    assert said_of(Categorical("job", ("a", "b", "c")), [11_900.0, 100.0, 0.0], 450.0) == []
