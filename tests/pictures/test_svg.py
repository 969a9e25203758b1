"""Rendered pictures: text stays text, nothing from elsewhere, colors have names, and what is said once is said once."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import altair as alt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.inert import inert
from counterfoil.pictures import svg
from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.style import BLUE, COLORS
from counterfoil.pictures.svg import render

NAMESPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<script>alert(1)</script>", "</svg><img src=x onerror=alert(2)>", '" onload="alert(3)', "a & b", "{{7*7}}"]


def bars(labels: list[str]) -> alt.Chart:
    rows = [{"label": label, "share": place + 1} for place, label in enumerate(labels)]
    return alt.Chart(alt.Data(values=rows)).mark_bar(color=BLUE).encode(x="share:Q", y="label:N")


def texts_of(picture: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(picture).iter(f"{NAMESPACE}text")]


def test_hostile_labels_stay_text():
    picture = render(bars(HOSTILE), title=HOSTILE[0], description=HOSTILE[2])
    assert set(HOSTILE) <= set(texts_of(picture))
    root = ElementTree.fromstring(picture)
    assert {one.tag.removeprefix(NAMESPACE) for one in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "g",
        "path",
        "rect",
        "line",
        "text",
    }
    assert not [name for one in root.iter() for name in one.attrib if name.startswith("on") or "href" in name]


def test_it_is_an_image_with_a_name_and_a_description():
    root = ElementTree.fromstring(render(bars(["a"]), title="Shares of <b>", description="One bar."))
    assert (root.get("role"), root.get("aria-label")) == ("img", "Shares of <b>")
    assert [one.text for one in root.findall(f"{NAMESPACE}title")] == ["Shares of <b>"]
    assert [one.text for one in root.findall(f"{NAMESPACE}desc")] == ["One bar."]


@settings(max_examples=15, deadline=None)
@given(st.text(min_size=1, max_size=12))
def test_any_text_gives_a_picture_that_can_be_parsed(label):
    picture = render(bars([label]), title=label, description=label)
    root = ElementTree.fromstring(picture)
    assert root.get("aria-label") == inert(label)


def test_nothing_in_a_picture_can_clash_with_another_one():
    picture = render(bars(["a", "b"]), title="t", description="d")
    assert " id=" not in picture
    assert "style=" not in picture, "a page's policy allows its own style sheet alone"


def test_marks_have_the_name_of_their_color():
    root = ElementTree.fromstring(render(bars(["a", "b"]), title="t", description="d"))
    painted = [one for one in root.iter() if one.get("fill") == BLUE]
    assert painted
    assert all("f-blue" in one.get("class", "") for one in painted)
    colors = {one.get(name) for one in root.iter() for name in ("fill", "stroke")} - {None, "none", "transparent"}
    assert colors <= {color.light for color in COLORS.values()}, "a color without a name stays as it is on dark ground"


def test_numbers_are_short():
    picture = render(bars(["a", "b", "c"]), title="t", description="d")
    assert not re.findall(r"\d\.\d\d", picture)


@pytest.mark.parametrize("number", ["0.04", "-0.04", "12.3456", "1e-7", ".5", "100.0"])
def test_a_number_moves_by_less_than_a_twentieth(number):
    shortened = svg._NUMBER.sub(svg._rounded, number)
    assert abs(float(shortened) - float(number)) <= 0.0500001
    assert "e" not in shortened


def test_a_picture_that_needs_something_else_is_refused():
    rows = [{"u": "http://127.0.0.1:9/a.png", "x": 1}]
    image = alt.Chart(alt.Data(values=rows)).mark_image(width=9, height=9).encode(url="u:N", x="x:Q")
    with pytest.raises(ValueError, match="hold all that it shows"):
        render(image, title="t", description="d")
    linked = bars(["a"]).encode(href="label:N")
    with pytest.raises(ValueError, match="hold all that it shows"):
        render(linked, title="t", description="d")


def test_a_drawing_gives_what_altair_gives():
    chart = bars(["a", "b"])
    drawing = Drawing({key: part for key, part in chart.to_dict().items() if key not in ("$schema", "config")})
    assert render(drawing, title="t", description="d") == render(chart, title="t", description="d")


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(svg, "find_spec", lambda name: None if name == "vl_convert" else object())
    with pytest.raises(
        ModuleNotFoundError, match=re.escape("Found no vl-convert-python: pip install 'counterfoil[report]'.")
    ):
        render(bars(["a"]), title="t", description="d")
