"""Log-linear densities within bins, against numerical integration and densities that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.log_linear import decay, mean_places, positions, shares_below, tilts

TILTS = st.floats(-40, 40)


def integrated(tilt: float, place: float) -> float:
    """The share below a place, by the midpoint rule."""

    def area(end: float) -> float:
        middles = (np.arange(20_000) + 0.5) * end / 20_000
        return float(np.exp(tilt * middles - max(tilt, 0)).mean() * end)

    return area(place) / area(1.0)


@settings(max_examples=60, deadline=None)
@given(TILTS, st.floats(0, 1))
def test_the_share_below_a_place_is_the_integral(tilt: float, place: float):
    assert shares_below(tilt, np.array([place]))[0] == pytest.approx(integrated(tilt, place), abs=1e-4)


@settings(max_examples=100, deadline=None)
@given(TILTS, st.floats(0, 1))
def test_places_are_where_the_shares_lie(tilt: float, share: float):
    place = positions(np.array([tilt]), np.array([share]))
    assert 0 <= place[0] <= 1
    assert shares_below(tilt, place)[0] == pytest.approx(share, abs=1e-9)


@given(st.floats(0.03, 0.999))
def test_a_decay_has_the_mean_that_is_asked_for(share: float):
    tilt = decay(share)
    assert tilt <= 0
    assert np.expm1(tilt) / tilt == pytest.approx(share, rel=1e-6)


def test_no_decay_where_there_are_too_many_records():
    assert decay(1.0) == decay(7.0) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.2, 1.0), min_size=3, max_size=9), st.floats(0.1, 1.0), st.booleans())
def test_exponential_densities_are_found(spans: list[float], rate: float, mirrored: bool):
    widths = np.array(spans)
    edges = np.append(0.0, np.cumsum(widths))
    counts = 1e6 * -np.diff(np.exp(-rate * edges))
    if mirrored:
        found = -tilts(widths[::-1], counts[::-1])[::-1]
    else:
        found = tilts(widths, counts)
    # Lines between the logs of the mean densities differ from the density's own log in the second order alone.
    assert found[1:] == pytest.approx(-rate * widths[1:], abs=0.15 * rate)
    assert found[0] == pytest.approx(-rate * widths[0] / 2, abs=0.15 * rate), "half of what is known of one side only"


def test_peaks_and_valleys_stay_even():
    assert tilts(np.ones(5), np.array([10.0, 30.0, 90.0, 30.0, 10.0]))[2] == 0
    assert tilts(np.ones(5), np.array([90.0, 60.0, 40.0, 60.0, 90.0]))[2] == 0


def test_the_last_bin_decays_to_the_end():
    found = tilts(np.array([1.0, 1.0, 100.0]), np.array([1000.0, 500.0, 100.0]))
    assert found[2] == -40 or found[2] < -20, "most of the long last bin is empty"
    inside = positions(np.full(1000, found[2]), (np.arange(1000) + 0.5) / 1000)
    assert inside.mean() < 0.06


def test_a_spike_says_nothing_about_its_neighbors():
    spans, counts = np.array([0.0, 2.0, 2.0, 0.1, 2.0, 2.0]), np.array([9000.0, 100.0, 80.0, 5000.0, 64.0, 51.0])
    without = tilts(np.delete(spans, [0, 3]), np.delete(counts, [0, 3]))
    found = tilts(spans, counts)
    assert found[0] == found[3] == 0
    assert found[[1, 2, 4, 5]] == pytest.approx(without, abs=0.02)


def test_counts_that_a_model_has_below_zero_and_empty_bins_are_taken():
    found = tilts(np.array([1.0, 1.0, 1.0]), np.array([5.0, 0.0, -1e-12]))
    assert np.isfinite(found).all()


def test_a_single_bin_is_even():
    assert tilts(np.array([3.0]), np.array([5.0])).tolist() == [0.0]
    assert tilts(np.array([0.0, 3.0]), np.array([5.0, 1.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("tilt", [-40.0, -3.0, -0.5, -0.011, -0.009, 0.0, 0.009, 0.011, 0.5, 3.0, 40.0])
def test_the_mean_place_is_that_of_evenly_spread_shares(tilt: float):
    shares = (np.arange(200_000) + 0.5) / 200_000
    expected = positions(np.full(len(shares), tilt), shares).mean()
    assert mean_places(np.array([tilt]))[0] == pytest.approx(expected, abs=1e-6)
