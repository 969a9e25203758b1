"""When a noisy number of rows is noise: before the charge, by the plan; after it, by the noisy number."""

from __future__ import annotations

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.row_counts import (
    CONFIDENT,
    MOST_ROWS_OFF,
    ROWS_OFF_SAID,
    RowCountWarning,
    count_warnings,
    is_drowned,
    records_counted,
    require_countable,
    rows_to_fit,
)

ESTIMATES, DEVIATIONS = st.floats(-1e12, 1e12), st.floats(0, 1e12)
ROWS = st.none() | st.integers(1, 10**9)


def warned(off: float, rows: int | None) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        require_countable(off / CONFIDENT, rows)
    assert all(one.category is RowCountWarning and "--rows" in str(one.message) for one in caught)
    return bool(caught)


def test_a_plan_is_warned_of_or_refused_by_its_deviation_alone_unless_rows_are_given():
    assert not warned(0.0, None)
    assert not warned(ROWS_OFF_SAID * 0.999, None)
    assert warned(ROWS_OFF_SAID * 1.001, None)
    assert warned(MOST_ROWS_OFF * 0.999, None)
    for off in (ROWS_OFF_SAID * 1.001, MOST_ROWS_OFF * 1.001, 1e12):
        assert not warned(off, 1)
    with pytest.raises(ValueError, match=r"off by about 3,003: say how many rows to draw with `--rows`.*or give more"):
        require_countable(MOST_ROWS_OFF * 1.001 / CONFIDENT, None)


def test_a_rough_number_that_is_not_noise_is_said_where_it_says_how_many_rows_are_drawn():
    (said,) = count_warnings(20_000.0, 600.0, None)
    assert said.startswith("The number of records is known to within 1,271 (with a confidence of 95%)")
    assert "20,000" in said
    assert count_warnings(20_000.0, 600.0, 20_000) == []
    assert count_warnings(20_000.0, 470.0, None) == []
    assert count_warnings(30_000.0, 600.0, None) == []


@given(estimate=ESTIMATES, deviation=DEVIATIONS, rows=ROWS)
def test_what_the_noise_drowns_is_replaced_by_what_is_asked_for_and_said(estimate, deviation, rows):
    drowned = deviation > 0 and estimate < 2 * deviation
    total = rows_to_fit(estimate, deviation, rows)
    replaced = drowned and CONFIDENT * deviation > MOST_ROWS_OFF and rows is not None
    assert total == (float(rows) if replaced else max(estimate, 1.0))
    assert total >= 1
    said = count_warnings(estimate, deviation, rows)
    assert drowned == is_drowned(estimate, deviation)
    off = CONFIDENT * deviation
    assert len(said) == (drowned or (rows is None and off >= ROWS_OFF_SAID and off > 0.05 * estimate))
    assert records_counted(estimate, deviation) == (None if drowned else estimate)
    for sentence in said:
        assert f"{estimate:,.0f}" in sentence
        assert (not drowned) or f"deviation of {deviation:,.0f}" in sentence


def test_a_wish_for_few_rows_does_not_replace_a_count_that_is_close():
    assert rows_to_fit(250.0, 141.0, 1) == 250.0
    assert rows_to_fit(-3.0, 141.0, 500) == 1.0
    assert rows_to_fit(250.0, 1e6, 500) == 500.0


def test_a_public_number_is_never_noise():
    assert count_warnings(0.0, 0.0, None) == []
    assert rows_to_fit(0.0, 0.0, 7) == 1.0


def test_a_count_with_laplace_noise_is_within_what_is_said_with_probability_95_percent():
    """By its law, exactly: with 1.96 standard deviations it was 93.75%."""
    assert -math.expm1(-CONFIDENT * math.sqrt(2)) == pytest.approx(0.95, abs=1e-12)
