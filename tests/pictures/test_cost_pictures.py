"""Pictures of costs, certificates and comparisons: what is drawn is what was given."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import numpy as np
import pytest

from counterfoil.pictures.budget_parts import budget_bars, percent
from counterfoil.pictures.certificate_bars import bounds_against_nothing
from counterfoil.pictures.ledger_timeline import MOST_STEPS, spent_over_time
from counterfoil.pictures.model_scores import scores_side_by_side
from counterfoil.pictures.overlay import overlaid_categories, overlaid_histograms
from counterfoil.pictures.svg import render
from counterfoil.pictures.trade_off import trade_off_curve
from report_pages import HOSTILE, SCRIPT

SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart) -> ElementTree.Element:
    return ElementTree.fromstring(render(chart, title="t", description="d"))


def records(chart) -> list[dict]:
    """The data of a chart that has one table."""
    return chart.to_dict(validate=False)["data"]["values"]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def in_color(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Marks of a color, wherever its class stands: on each, or on a group of them."""
    found = []
    for one in root.iter():
        if name in one.get("class", "").split():
            found += [*one.iter(f"{SVG}path"), *one.iter(f"{SVG}line")] if one.tag == f"{SVG}g" else [one]
    return found


def widths(marks: list[ElementTree.Element]) -> list[float]:
    """Of bars, from their outlines."""
    return [float(re.search(r"h(-?[\d.]+)", one.attrib["d"])[1]) for one in marks]  # type: ignore[index]


def test_parts_of_a_budget_are_to_scale() -> None:
    root = drawn(budget_bars([("counts", 0.6), ("choosing", 0.3), ("the schema", 0.04)], left=0.06))
    blue, gray = widths(in_color(root, "f-blue")), widths(in_color(root, "f-gray"))
    assert np.array([*blue, *gray]) / blue[0] == pytest.approx(np.array([0.6, 0.3, 0.04, 0.06]) / 0.6, abs=0.01)
    assert [text for text in texts(root) if "%" in text] == ["60%", "30%", "4.0%", "6.0%"]
    assert not in_color(drawn(budget_bars([("counts", 1.0)], left=None)), "f-gray")


@pytest.mark.parametrize(
    ("share", "said"), [(0.0, "0.0%"), (1e-6, "below 0.1%"), (0.0123, "1.2%"), (0.5, "50%"), (1.0, "100%")]
)
def test_small_shares_are_not_nothing(share: float, said: str) -> None:
    assert percent(share) == said


def test_a_ledger_over_time() -> None:
    times = ["2026-01-01T10:00:00+00:00", "2026-02-01T10:00:00", "2026-03-01T12:00:00+02:00"]
    looks = ["2026-01-15T00:00:00+00:00", "2026-04-01T00:00:00+00:00"]
    root = drawn(spent_over_time(times, [0.5, 1.0, 3.0], total=4.0, looks=looks, highlighted=1))
    assert len(in_color(root, "s-red")) == 2
    assert len(in_color(root, "s-orange")) == 1
    assert "total 4" in texts(root)
    steps = in_color(root, "s-blue")[0].attrib["d"]
    assert len(set(re.findall(r",([\d.]+)", steps))) == 4, "nothing, and three sums"
    without = drawn(spent_over_time(times, [0.5, 1.0, 3.0], total=4.0))
    assert not in_color(without, "s-red")
    assert not in_color(without, "s-orange")


def test_a_sum_does_not_fall_where_a_clock_went_back() -> None:
    """Lines are drawn in the order of time, and said that 3 was spent before 1 was."""
    times = ["2026-03-01T10:00:00", "2030-01-01T00:00:00", "2026-03-02T10:00:00+02:00"]
    document = spent_over_time(times, [0.5, 1.0, 3.0], total=4.0, highlighted=2).to_dict(validate=False)
    steps = sorted(document["layer"][1]["data"]["values"], key=lambda one: one["t"])
    sums = [one["e"] for one in steps]
    assert sums == sorted(sums)
    assert sums[-1] == 3.0


@pytest.mark.parametrize("after", [[], ["2026-11-24T19:45:00"], ["2026-12-31T00:00:00", "2027-05-01T00:00:00"]])
def test_the_time_of_a_ledger_ends_with_its_last_event(after: list[str]) -> None:
    times = ["2026-11-24T19:40:00", *after]
    document = spent_over_time(times, [0.1] * len(times), total=1.0).to_dict(validate=False)
    first, last = document["layer"][0]["encoding"]["x"]["scale"]["domain"]
    start, end = (datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp() * 1000 for time in (times[0], times[-1]))
    assert first < start
    assert last - first >= 2 * 86_400_000
    assert 0 < last - end <= 0.03 * (last - first)


def test_releases_of_the_same_second_are_not_stacked() -> None:
    times = ["2026-11-24T19:40:00"] * 2
    here, sooner = (
        [
            re.findall(r"[\d.]+", one.attrib["d"])
            for one in in_color(drawn(spent_over_time(ts, [0.5, 1.5], total=3.0)), "f-step1")
        ]
        for ts in (times, ["2026-11-24T19:39:59", times[0]])
    )
    assert {*here[0]} == {*sooner[0]}


@pytest.mark.parametrize("top", [0.004, 0.02, 0.09, 0.13, 0.24, 0.33, 0.47, 0.52, 0.6, 0.77, 0.96, 1.0])
def test_labels_of_shares_do_not_touch(top: float) -> None:
    """In a wide font, DejaVu Sans: 7 pixels for a digit and 10.5 for the sign."""
    root = drawn(overlaid_categories(["a", "b"], np.array([top, 0.0]), np.array([top / 2, 0.0])))
    labels = [one for one in root.iter(f"{SVG}text") if (one.text or "").endswith("%")]
    assert len(labels) >= 2
    ends = []
    for one in labels:
        place, width = float(re.findall(r"[\d.]+", one.attrib["transform"])[0]), 7 * len(one.text or "") + 3.5
        left = place - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[one.get("text-anchor", "start")]
        ends.append((left, left + width))
    assert all(right < left for (_, right), (left, _) in itertools.pairwise(sorted(ends)))


def test_a_ledger_without_releases_and_one_with_too_many() -> None:
    assert "total 1" in texts(drawn(spent_over_time([], [], total=1.0)))
    times = [f"2026-01-{1 + place // 1000:02}T{place % 24:02}:00:{place % 60:02}+00:00" for place in range(3000)]
    chart = spent_over_time(sorted(times), [0.001 * (place + 1) for place in range(3000)], total=4.0)
    svg = render(chart, title="t", description="d")
    assert len(svg) < 200_000
    document = chart.to_dict(validate=False)
    largest = max(len(layer["data"]["values"]) for layer in document["layer"])
    assert largest <= MOST_STEPS + 2
    ends = max(row["e"] for layer in document["layer"] for row in layer["data"]["values"] if row["e"] < 4)
    assert ends == pytest.approx(3.0), "the last is kept"


def test_certificates_that_say_nothing_are_gray_and_end_at_the_line() -> None:
    root = drawn(bounds_against_nothing([("a", 0.25, 1.0), ("b", 7.0, 2.0), ("c", 1.0, 2.0)]))
    gray, blue = widths(in_color(root, "f-gray")), widths(in_color(root, "f-blue"))
    assert np.array(blue) / gray[0] == pytest.approx([0.25, 0.5], abs=0.01)
    assert [text for text in texts(root) if text not in "abc"] == ["0.25", "says nothing", "1"]


def test_each_model_has_a_dot_for_either_table() -> None:
    models = [("one", 0.9, 0.8), ("two", 0.7, 0.75), (SCRIPT, 0.8, 0.8)]
    root = drawn(scores_side_by_side(models, guess=0.6, measure="accuracy"))
    assert len(in_color(root, "f-orange")) == 4, "three dots and the legend"
    assert len(in_color(root, "f-blue")) == 4
    assert SCRIPT in texts(root)


def test_two_bars_for_each_category() -> None:
    real, synthetic = np.array([0.5, 0.3, 0.2]), np.array([0.25, 0.6, 0.15])
    root = drawn(overlaid_categories(["a", "b", SCRIPT], real, synthetic))
    bars = {name: in_color(root, f"f-{name}") for name in ("orange", "blue")}
    found = {name: [one for one in widths(marks) if one > 12] for name, marks in bars.items()}
    scale = found["orange"][0] / 0.5
    assert np.array(found["orange"][:3]) / scale == pytest.approx(real, abs=0.01)
    assert np.array(found["blue"][:3]) / scale == pytest.approx(synthetic, abs=0.01)


@pytest.mark.parametrize("temporal", [False, True])
def test_the_area_of_a_bin_is_its_share(temporal: bool) -> None:
    lefts, rights = np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, 10.0])
    real, synthetic = np.array([0.2, 0.4, 0.4]), np.array([0.3, 0.3, 0.4])
    chart = overlaid_histograms(lefts, rights, real, synthetic, temporal=temporal)
    rows = records(chart)
    for side, shares in (("real", real), ("synthetic", synthetic)):
        own = [row for row in rows if row["side"] == side]
        areas = [row["h"] * (after["x"] - row["x"]) for row, after in itertools.pairwise(own)]
        assert np.array(areas) / sum(areas) == pytest.approx(shares)
    assert "area = share" in texts(drawn(chart))
    even = overlaid_histograms(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([0.4, 0.6]), np.array([0.5, 0.5]))
    assert [row["h"] for row in records(even)[:2]] == [0.4, 0.6]


def test_the_curve_is_drawn_with_the_line_of_guessing() -> None:
    alarms = np.linspace(0, 1, 51)
    root = drawn(trade_off_curve(alarms, (1 - alarms) ** 2, marked=(0.05, 0.9)))
    assert len(in_color(root, "s-blue")) == 1
    dashed = [one for one in root.iter() if one.get("stroke-dasharray")]
    assert len(dashed) == 1
    assert "guessing blindly" in texts(root)
    assert "out of anyone's reach" in texts(root)
    flat = drawn(trade_off_curve(alarms, np.maximum(0, 1 - 40 * alarms), marked=(0.05, 0.0)))
    assert "out of anyone's reach" not in texts(flat), "there is no room for it"


@pytest.mark.parametrize("text", HOSTILE)
def test_names_stay_texts(text: str) -> None:
    charts = [
        budget_bars([(text, 0.5), (text, 0.3)], left=None),
        bounds_against_nothing([(text, 0.5, 1.0), (text, 0.4, 1.0)]),
        scores_side_by_side([(text, 0.5, 0.6), (text, 0.7, 0.6)], guess=0.5, measure="accuracy"),
        overlaid_categories([text, text], np.array([0.5, 0.5]), np.array([0.4, 0.6])),
    ]
    for chart in charts:
        root = drawn(chart)
        assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
            *("svg", "title", "desc", "g", "path", "line", "rect", "text", "tspan", "circle", "defs", "clipPath")
        }
        assert not set("\x1b\u202e\n") & set("".join(texts(root)))
        assert max(map(len, texts(root))) < 60
        assert any(one.endswith("(2)") for one in texts(root)), "two of one name are told apart"
