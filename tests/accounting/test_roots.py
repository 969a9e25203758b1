"""Roots, bit by bit against SciPy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from counterfoil.accounting.roots import brentq

FUNCTIONS = {
    "a cubic": lambda x: x**3 - 2 * x - 5,
    "an exponential": lambda x: math.exp(min(x, 50)) - 3,
    "a step": lambda x: -1.0 if x < 0.3 else 2.0,
    "a flat root": lambda x: (x - 1) ** 9,
    "a logarithm of a tail": lambda x: math.log(max(math.erfc(x / 2), 1e-300)) + 12,
    "a line": lambda x: 2 * x - 1,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(low=st.floats(-30, 30), high=st.floats(-30, 30), xtol=st.sampled_from([1e-12, 1e-11, 1e-3]))
def test_it_takes_the_steps_of_scipy(name: str, low: float, high: float, xtol: float) -> None:
    function = FUNCTIONS[name]
    seen: list[float] = []

    def watched(x: float) -> float:
        seen.append(x)
        return function(x)

    try:
        expected = optimize.brentq(watched, low, high, xtol=xtol)
    except (ValueError, RuntimeError) as error:
        with pytest.raises(type(error)):
            brentq(function, low, high, xtol=xtol)
        return
    wanted, seen = seen, []
    assert brentq(watched, low, high, xtol=xtol) == expected
    assert seen == wanted, "every point that is tried is the same"


def test_a_function_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="Found NaN"):
        brentq(lambda x: math.nan, 0.0, 1.0, xtol=1e-9)
