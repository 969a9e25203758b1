"""When a noisy number of rows is noise: before the charge, by the plan; after it, by the noisy number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.row_counts import (
    MOST_ROWS_OFF,
    count_warnings,
    is_drowned,
    records_told,
    require_countable,
    rows_to_fit,
)

ESTIMATES, DEVIATIONS = st.floats(-1e12, 1e12), st.floats(0, 1e12)
ROWS = st.none() | st.integers(1, 10**9)


def test_a_plan_is_refused_by_its_deviation_alone_unless_rows_are_given():
    require_countable(MOST_ROWS_OFF, None)
    require_countable(1e12, 1)
    with pytest.raises(ValueError, match=r"off by about 60,785: say how many rows to draw with `--rows`.*or give more"):
        require_countable(60_785.3, None)


@given(estimate=ESTIMATES, deviation=DEVIATIONS, rows=ROWS)
def test_what_the_noise_drowns_is_replaced_by_what_is_asked_for_and_said(estimate, deviation, rows):
    drowned = deviation > 0 and estimate < 2 * deviation
    total = rows_to_fit(estimate, deviation, rows)
    replaced = drowned and deviation > MOST_ROWS_OFF and rows is not None
    assert total == (float(rows) if replaced else max(estimate, 1.0))
    assert total >= 1
    said = count_warnings(estimate, deviation, rows)
    assert len(said) == drowned == is_drowned(estimate, deviation)
    assert records_told(estimate, deviation) == (None if drowned else estimate)
    for sentence in said:
        assert f"{estimate:,.0f}" in sentence
        assert f"deviation of {deviation:,.0f}" in sentence


def test_a_wish_for_few_rows_does_not_replace_a_count_that_is_close():
    assert rows_to_fit(250.0, 141.0, 1) == 250.0
    assert rows_to_fit(-3.0, 141.0, 500) == 1.0
    assert rows_to_fit(250.0, 1e6, 500) == 500.0


def test_a_public_number_is_never_noise():
    assert count_warnings(0.0, 0.0, None) == []
    assert rows_to_fit(0.0, 0.0, 7) == 1.0
