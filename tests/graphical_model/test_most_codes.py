"""How many codes a column of numbers gets: so many that the noise of a pair is a fifth of the records."""

from __future__ import annotations

import math

import pytest

from counterfoil.graphical_model.merging import LEAST_CODES, MOST_CODES, most_codes


@pytest.mark.parametrize("records", [5_000, 48_842, 200_000])
@pytest.mark.parametrize("scale", [20.0, 60.0])
def test_the_noise_of_a_pair_is_at_most_a_fifth_of_the_records(records: float, scale: float) -> None:
    codes = most_codes(records, scale)
    noise = [k**2 * scale * math.sqrt(2 / math.pi) / records for k in (codes, codes + 1)]
    assert noise[0] <= 0.2
    assert noise[1] > 0.199 or codes == MOST_CODES


def test_it_is_never_below_the_least_nor_above_the_most() -> None:
    assert most_codes(-50.0, 100.0) == most_codes(0.0, 1.0) == LEAST_CODES
    assert most_codes(1e9, 1.0) == most_codes(100.0, 0.0) == MOST_CODES
