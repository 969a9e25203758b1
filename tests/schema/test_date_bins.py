"""How dates are cut where nobody says how: like numbers, into a code for each or about a hundred bins."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import numpy as np
import pytest

from counterfoil.schema import Date, Datetime, Schema

FIRST = date(1925, 1, 1)


def dates(days: int, **facts) -> Date:
    return Date("born", FIRST, FIRST + timedelta(days=days - 1), **facts)


@pytest.mark.parametrize(
    ("days", "resolution", "least", "most"),
    [
        (1, "", 1, 1),
        (1000, "", 1000, 1000),
        (1001, "1mo", 30, 40),
        (10 * 365, "1mo", 119, 121),
        (30 * 365, "3mo", 119, 121),
        (80 * 365, "1y", 79, 81),
        (127 * 365, "1y", 126, 128),
        (200 * 365, "10y", 19, 21),
    ],
)
def test_many_days_get_about_a_hundred_calendar_bins(days, resolution, least, most):
    column = dates(days)
    assert column.resolution == resolution
    assert least <= column.n_bins <= most
    assert column.spans.sum() == days
    again = Schema.from_toml(Schema((column,)).to_toml())
    assert again == Schema((column,))
    assert again.to_toml() == Schema((column,)).to_toml()


def test_what_is_declared_decides():
    assert dates(5000, resolution="1d").n_bins == 5000
    assert dates(5000, resolution="7d").n_bins == 715
    assert dates(5000, bins=3).n_bins == 3
    assert dates(5000, edges=(FIRST, date(1930, 1, 1))).n_bins == 2
    assert dates(5000, resolution="1d").spans.tolist() == [1.0] * 5000


def test_releases_of_versions_that_counted_each_day_are_read_as_they_were_meant():
    text = '[columns.born]\nkind = "date"\nlower = 1925-01-01\nupper = 2005-12-31\n'
    former = Schema.from_release(text)
    assert former.domain.sizes == (29585,)
    assert "resolution" not in former.to_toml()
    assert Schema.from_toml(text).domain.sizes == (81,)
    released = Schema.from_toml(text).to_toml()
    assert 'resolution = "1y"' in released
    assert Schema.from_release(released).domain.sizes == (81,)
    assert Schema.from_release(released).to_toml() == released


def test_dates_have_places_and_no_sizes():
    moments = Datetime("at", datetime(2020, 1, 1), datetime(2020, 1, 2, 23, 59, 59), resolution="1h")
    assert not dates(10).has_zero
    assert not moments.has_zero
    assert np.array_equal(moments.spans, np.full(48, 3600.0))
