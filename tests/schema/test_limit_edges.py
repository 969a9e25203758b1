"""Bins of reals end at the limits that words state: no laboratory that writes <0.6 has results from 0.1 to 0.5."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil import synthesize
from counterfoil.schema import Real, Schema
from counterfoil.schema.errors import SchemaError


def crp(**facts: object) -> Real:
    given = {"decimals": 1, "words": (("<0.6", 0.3), (">200", 201.0))}
    return Real("crp", 0.0, 300.0, **{**given, **facts})  # type: ignore[arg-type]


def test_no_bin_reaches_over_a_limit() -> None:
    lows, highs = crp().ranges
    assert not ((lows < 0.6) & (highs >= 0.6)).any()
    assert not ((lows <= 200) & (highs > 200)).any()
    assert {"0.1..0.5", "<0.6", ">200"} <= {*crp().labels}
    lows, highs = crp(decimals=None).ranges
    assert not ((lows < 0.6) & (highs >= 0.6)).any()


@pytest.mark.parametrize("word", ["<0,6", "< 0,6 mg/L", "unter 0,6"])
def test_the_notation_of_the_column_says_where_the_limit_lies(word: str) -> None:
    column = crp(words=((word, 0.3),), decimal_char=",", unit="mg/L")
    assert "0.1..0.5" in column.labels


@pytest.mark.parametrize("facts", [{"bins": 7}, {"resolution": 5.0}, {"edges": (0.0, 1.0, 300.0)}])
def test_bins_that_are_stated_stay_as_they_are(facts: dict) -> None:
    assert crp(**facts).n_bins == crp(**facts, words=()).n_bins + 2


def test_a_word_that_is_no_limit_divides_nothing() -> None:
    assert crp(words=(("trace", 0.3),)).n_bins == crp(words=()).n_bins + 1


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    lower=st.sampled_from([-5.0, 0.0, 0.1]),
    upper=st.sampled_from([1.0, 10.0, 200.0, 200.1, 5000.0]),
    decimals=st.sampled_from([None, 0, 1, 2]),
    limit=st.sampled_from(["<0.1", "<0.2", "<0.5", "<=0.6", "<1", ">90", ">=100", ">200"]),
    number=st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 90.1, 91.0, 100.0, 200.0, 200.1]),
    scale=st.sampled_from(["linear", "log"]),
)
def test_each_code_is_drawn_as_it_is_read(
    lower: float, upper: float, decimals: int | None, limit: str, number: float, scale: str
) -> None:
    """A bin whose numbers all have codes of their own would never be counted."""
    try:
        column = Real("x", lower, upper, decimals=decimals, scale=scale, words=((limit, number),))
    except SchemaError as error:
        if any(part in str(error) for part in ("lie between", "stand for numbers")):
            return
        raise
    codes = np.arange(column.n_bins)
    drawn = column.decode(codes, np.random.default_rng(1))
    assert column.encode(drawn).tolist() == codes.tolist()


def test_copies_have_hardly_any_results_below_the_limit() -> None:
    """Of a table with none, 3% of a copy were results from 0.1 to 0.5, about as many as were <0.6."""
    rng = np.random.default_rng(3)
    results = np.round(rng.lognormal(2, 1.4, 9000), 1)
    cells = np.where(results < 0.6, "<0.6", np.where(results > 200, ">200", results.astype(str)))
    made = synthesize(pa.table({"crp": cells}), Schema((crp(),)), epsilon=3.0, method="independent", seed=1)
    drawn = made.to_arrow().column("crp").to_numpy()
    assert np.mean((drawn < 0.6) & (drawn != 0.3)) < 0.004
    assert abs(np.mean(drawn == 0.3) - np.mean(results < 0.6)) < 0.01
