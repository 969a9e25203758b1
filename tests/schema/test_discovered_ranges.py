"""How the ends of noisy shares are written: no interval is shown narrower than it is."""

from __future__ import annotations

import re

import numpy as np
import pytest

from counterfoil.schema.discovered import share_range, shares_between


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.4532, 0.4641, "45% to 47%"),
        (0.996, 1.2, "99% to 100%"),
        (-0.3, 0.0, "0% to 0%"),
        (0.07, 0.29, "7% to 29%"),
        (0.0512, 0.0996, "5.1% to 10%"),
        (0.00001234, 0.01, "0.0012% to 1%"),
    ],
)
def test_ends_are_rounded_outwards(low, high, said):
    assert shares_between(low, high) == said


def test_what_is_shown_holds_the_interval_and_little_more():
    """With the ends of one share and one error: 45.3% to 46.4% was "45% to 46%"."""
    rng = np.random.default_rng(0)
    for share, error in zip(rng.random(2000) ** 3, rng.random(2000) ** 6, strict=True):
        low, high = max(share - 1.96 * error, 0.0), min(share + 1.96 * error, 1.0)
        ends = re.fullmatch(r"([\d.e-]+)% to ([\d.e-]+)%", share_range(share, error)).groups()
        lower, upper = (float(end) / 100 for end in ends)
        assert lower <= low * (1 + 1e-9)
        assert upper >= high * (1 - 1e-9)
        assert low - lower <= max(0.01, 0.1 * low) * (1 + 1e-6)
        assert upper - high <= max(0.01, 0.1 * high) * (1 + 1e-6)


def test_the_least_share_that_floating_point_has_is_rounded_outwards() -> None:
    """Ten to the power of its digits is 0, by which it was divided."""
    assert shares_between(0.0, 5e-324).startswith("0% to ")
