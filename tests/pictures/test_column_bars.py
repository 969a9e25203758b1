"""Bars as long as their shares, bins as wide as they are, error bars where something is known."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.pictures.column_bars import category_bars, histogram, is_drawable, is_even, share_text
from counterfoil.pictures.style import BLUE, INK
from counterfoil.pictures.svg import render

BAR = re.compile(r"M(-?[\d.]+),(-?[\d.]+)h(-?[\d.]+)v(-?[\d.]+)")


def painted(picture: str, color: str, name: str = "fill") -> list[ElementTree.Element]:
    """The marks of a color, also where their group says it."""
    found = []

    def look(element: ElementTree.Element, inherited: str) -> None:
        own = element.get(name, inherited)
        if own == color and not len(element):
            found.append(element)
        for child in element:
            look(child, own)

    look(ElementTree.fromstring(picture), "")
    return found


def boxes(picture: str) -> np.ndarray:
    """float64 [bars, 4]: x, y, width, height of the blue bars."""
    paths = [BAR.match(one.get("d", "")) for one in painted(picture, BLUE)]
    return np.array([[float(part) for part in path.groups()] for path in paths if path])


def drawn(chart) -> str:
    return render(chart, title="t", description="d")


def test_bars_are_as_long_as_their_shares():
    shares = np.array([0.5, 0.25, 0.125])
    widths = boxes(drawn(category_bars(["a", "b", "c"], shares)))[:, 2]
    assert widths / widths[0] == pytest.approx(shares / shares[0], abs=0.002)


@pytest.mark.parametrize(
    ("first", "last", "label"), [(1900, 2020, ">1940<"), (0, 9000, ">4,000<"), (1000, 20000, ",000<")]
)
def test_years_on_an_axis_have_no_commas(first, last, label):
    ends = np.linspace(first, last, 13)
    picture = drawn(histogram(ends[:-1], ends[1:], np.full(12, 1 / 12)))
    assert label in picture
    assert ">1,9" not in picture


def test_error_bars_stand_where_they_are_known():
    shares = np.array([0.5, 0.3, 0.2])
    known = np.array([0.4, np.nan, 0.1]), np.array([0.6, np.nan, 0.3])
    picture = drawn(category_bars(["a", "b", "c"], shares, *known))
    lines = [one for one in painted(picture, INK, "stroke") if one.tag.endswith("line")]
    unit = boxes(picture)[0, 2] / 0.5
    assert sorted(float(one.get("x2", "0")) for one in lines) == pytest.approx([0.2 * unit] * 2, abs=0.1)
    assert not painted(drawn(category_bars(["a"], shares[:1])), INK, "stroke")


def test_bins_are_as_wide_as_they_are_and_areas_are_shares():
    lefts, rights, shares = np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, 7.0]), np.array([0.2, 0.3, 0.5])
    found = boxes(drawn(histogram(lefts, rights, shares)))
    widths, areas = found[:, 2], np.abs(found[:, 2] * found[:, 3])
    assert widths / widths.sum() == pytest.approx((rights - lefts) / 7, abs=0.002)
    assert areas / areas.sum() == pytest.approx(shares, abs=0.01)


def test_even_bins_show_shares_themselves():
    lefts = np.arange(4.0)
    records = histogram(lefts, lefts + 1, np.array([0.1, 0.2, 0.3, 0.4])).to_dict()["data"]["values"]
    assert [record["share"] for record in records] == [0.1, 0.2, 0.3, 0.4]


def test_dates_have_an_axis_of_dates():
    year = 365.25 * 86400
    lefts = np.arange(-20, 20) * year
    texts = [
        "".join(one.itertext())
        for one in ElementTree.fromstring(
            drawn(histogram(lefts, lefts + year, np.full(40, 1 / 40), temporal=True))
        ).iter()
        if one.tag.endswith("text")
    ]
    assert {"1960", "1970", "1980"} <= set(texts)


def test_labels_of_an_axis_stand_apart_at_its_ends_too():
    """The first and the last are moved inwards, and touched their neighbors: 20192020."""
    lefts = np.linspace(1546300800, 1767225599, 62)
    picture = drawn(histogram(lefts[:-1], lefts[1:], np.full(61, 1 / 61), temporal=True))
    ends = []
    for one in ElementTree.fromstring(picture).iter():
        if one.tag.endswith("text") and re.fullmatch(r"20\d\d", "".join(one.itertext())):
            place = float(re.match(r"translate\((-?[\d.]+)", one.get("transform", ""))[1])
            width = 4 * 0.6 * float(one.get("font-size", "10").removesuffix("px"))
            begin = place - {"start": 0.0, "middle": 0.5, "end": 1.0}[one.get("text-anchor", "start")] * width
            ends.append((begin, begin + width))
    assert len(ends) > 2
    assert all(right + 4 < left for (_, right), (left, _) in itertools.pairwise(ends))


def test_labels_that_look_alike_have_bars_of_their_own():
    assert len(boxes(drawn(category_bars(["z" * 300, "z" * 299 + "a"], np.array([0.5, 0.5]))))) == 2


def test_an_empty_column_has_an_empty_picture():
    assert "<svg" in drawn(category_bars([], np.zeros(0)))
    assert "<svg" in drawn(category_bars(["a"], np.zeros(1)))


def test_which_bins_are_even_and_which_can_be_drawn():
    edges = np.array([0.0, 31, 59, 90])  # months
    assert is_even(edges[:-1], edges[1:])
    uneven = np.array([0.0, 1, 2, 600])
    assert not is_even(uneven[:-1], uneven[1:])
    assert not is_drawable(uneven[:-1], uneven[1:])
    assert is_drawable(np.array([0.0, 1]), np.array([1.0, 250]))


@given(st.floats(0, 1))
def test_a_share_in_words_is_right_to_half_a_tenth(share):
    text = share_text(share)
    if text == "<0.05%":
        assert 0 < share < 0.0005
    else:
        assert abs(float(text.rstrip("%")) / 100 - share) <= 0.0005 + 1e-12
    assert (text == "0.0%") == (share == 0)


def test_large_numbers_at_the_end_of_an_axis_stand_apart():
    """The last label is moved inwards, next to the one before it: 150,000200,000 was read as one number."""
    ends = np.linspace(0, 200_000, 21)
    picture = ElementTree.fromstring(
        render(histogram(ends[:-1], ends[1:], np.full(20, 0.05)), title="t", description="d")
    )
    across = [one.text for one in picture.iter() if one.tag.endswith("text") and "," in (one.text or "")]
    assert across == ["100,000", "200,000"]
