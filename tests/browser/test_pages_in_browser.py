"""Reports in a real browser: quiet, whole, readable on a telephone and in the dark, with names that are only names."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterfoil.pictures.style import COLORS
from report_pages import HOSTILE, SCRIPT

EVERY = ["report", "hostile", "inside", "hostile_inside"]
SIZES = [(390, 844), (1600, 1000)]

# All boxes that stick out of the page to either side, but for what a region with scroll bars holds.
_WIDE = """() => [...document.body.querySelectorAll('*')].filter(one => {
  if (one.closest('.scroll, .skip, .unseen, title, desc')) return false;
  const box = one.getBoundingClientRect();
  return box.width && (box.right > document.documentElement.clientWidth + 1 || box.left < -1);
}).map(one => one.outerHTML.slice(0, 200))"""

# Texts in pictures that leave the frame around their figure, or the part of it that scrolls.
_CLIPPED = """() => [...document.querySelectorAll('figure')].flatMap(figure => {
  const frame = (figure.querySelector('.scroll > svg') || figure).getBoundingClientRect();
  return [...figure.querySelectorAll('svg.picture text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < frame.left - 9 || box.right > frame.right + 13 || box.bottom > frame.bottom + 4);
  }).map(text => figure.querySelector('h3').textContent.slice(0, 40) + ': ' + text.textContent);
})"""

# Parts of a figure, one below the other: none may lie on the one before.
_OVERLAPPING = """() => [...document.querySelectorAll('figure, section, header')].flatMap(one => {
  const parts = [...one.children].map(part => [part, part.getBoundingClientRect()]).filter(([, box]) => box.height);
  return parts.slice(1).filter(([part, box], i) => box.top < parts[i][1].bottom - 1)
    .map(([part]) => part.outerHTML.slice(0, 200));
})"""

# The contrast of every text in a picture with the ground that its figure stands on, or with the mark below it.
_CONTRAST = """() => {
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const numbers = color => (color.match(/[0-9.]+/g) || []).map(Number);
  const ground = light(numbers(getComputedStyle(document.documentElement).backgroundColor));
  return [...document.querySelectorAll('svg.picture text')].map(text => {
    const own = light(numbers(getComputedStyle(text).fill));
    return [(Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05), text.textContent];
  }).filter(([contrast]) => contrast < 4.5);
}"""


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """A page in a window of its own, in which nothing but the file may be asked for and nothing may complain."""
    complaints: list[str] = []
    context = browser.new_context(**options)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(f"console {message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: request.url != path.as_uri() and complaints.append(f"request: {request.url}"))
    page.goto(path.as_uri())
    try:
        yield page
        assert complaints == []
    finally:
        context.close()


@pytest.mark.parametrize("name", [*EVERY, "fifty"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_page_is_quiet_and_fits(browser, pages, name: str, width: int, height: int) -> None:
    with opened(browser, pages[name], viewport={"width": width, "height": height}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(_WIDE) == []
        assert page.evaluate(_CLIPPED) == []
        assert page.evaluate(_OVERLAPPING) == []
        assert page.evaluate("document.querySelectorAll('figure svg.picture').length") >= 4


@pytest.mark.parametrize(("name", "width"), [("fifteen", 390), ("fifteen", 700), ("fifty", 390), ("inside", 390)])
def test_a_picture_that_scrolls_says_so_and_one_that_fits_does_not(browser, pages, name: str, width: int) -> None:
    """Around the width of the page at which each of them fits, too; what colors say never scrolls."""
    with opened(browser, pages[name], viewport={"width": width, "height": 844}) as page:
        told = """() => [...document.querySelectorAll('figure.wide')].map(figure => {
            const box = figure.querySelector('.scroll'), hint = figure.querySelector('.hint');
            return [box.scrollWidth > box.clientWidth, hint.checkVisibility(), box.scrollWidth];
        })"""
        found = page.evaluate(told)
        assert found
        assert any(scrolls for scrolls, _, _ in found) == (width == 390 and name != "inside")
        for _, _, wide in found:
            for room in (wide + 50, wide + 58, wide + 60, wide + 70):
                page.set_viewport_size({"width": room, "height": 844})
                assert all(scrolls == hinted for scrolls, hinted, _ in page.evaluate(told)), room
        page.set_viewport_size({"width": 390, "height": 844})
        keys = "[...document.querySelectorAll('.key > span')].map(one => one.getBoundingClientRect().right)"
        assert max(page.evaluate(keys)) < 390
        assert page.evaluate(
            "[...document.querySelectorAll('.key')].every(one => one.querySelectorAll('rect').length == 6)"
        )


@pytest.mark.parametrize("name", EVERY)
def test_no_page_has_anything_that_runs_or_asks(browser, pages, name: str) -> None:
    with opened(browser, pages[name]) as page:
        assert page.evaluate("document.scripts.length") == 0
        active = "img, iframe, object, embed, link, base, form, audio, video, foreignObject, image, use, animate, set"
        assert page.evaluate(f"document.querySelectorAll('{active}').length") == 0
        attributes = page.evaluate("[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())")
        assert not [one for one in set(attributes) if one.startswith("on")]
        links = page.evaluate("[...document.links].map(link => link.getAttribute('href'))")
        assert all(link.startswith("#") for link in links)
        assert page.evaluate("[...document.links].every(link => document.querySelector(link.getAttribute('href')))")
        policy = page.evaluate("document.querySelector('meta[http-equiv=Content-Security-Policy]').content")
        assert policy.startswith("default-src 'none'")


@pytest.mark.parametrize("name", ["hostile", "hostile_inside"])
def test_hostile_names_are_only_names(browser, pages, name: str) -> None:
    with opened(browser, pages[name]) as page:
        assert SCRIPT in page.evaluate("document.body.textContent")
        drawn = page.evaluate("[...document.querySelectorAll('svg text')].map(one => one.textContent).join()")
        assert "<script>alert(1)" in drawn, "labels are cut after a few characters"
        assert SCRIPT in page.evaluate("[...document.querySelectorAll('h3')].map(one => one.textContent)")
        text = page.evaluate("document.documentElement.textContent")
        assert "{{ 7*7 }}" in text
        assert not set("\x1b\u202e\u200b") & set(text), "nothing that moves a cursor or turns a line around"
        lengths = page.evaluate("[...document.querySelectorAll('td, th, h3')].map(one => one.textContent.length)")
        assert max(lengths) < max(map(len, HOSTILE))


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *((name, scheme) for name in ("report", "inside") for scheme in ("light", "dark")),
        ("hostile", "light"),
        ("hostile_inside", "dark"),
    ],
)
def test_axe_finds_nothing_serious(browser, pages, name: str, scheme: str) -> None:
    from axe_core_python.sync_playwright import Axe

    with opened(browser, pages[name], color_scheme=scheme, viewport={"width": 390, "height": 844}) as page:
        found = Axe().run(page)["violations"]
        serious = {
            one["id"]: one["nodes"][0]["html"]
            for one in found
            if one["impact"] in ("serious", "critical") or one["id"] == "region"
        }
        assert serious == {}
        assert page.evaluate(_CONTRAST) == []


def test_contrast_would_be_seen(browser, pages) -> None:
    """The measurement finds the text of a light page on a dark ground."""
    with opened(browser, pages["inside"]) as page:
        page.evaluate("document.documentElement.style.background = '#1d232a'")
        assert len(page.evaluate(_CONTRAST)) > 10


def test_dark_is_dark_and_paper_is_light(browser, pages) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    with opened(browser, pages["report"], color_scheme="dark") as page:
        assert page.evaluate(ground) == "rgb(21, 25, 30)"
        page.emulate_media(media="print")
        assert page.evaluate(ground) == "rgb(254, 254, 254)"


def test_a_reader_without_a_mouse_gets_everywhere(browser, pages) -> None:
    with opened(browser, pages["report"], viewport={"width": 390, "height": 844}) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
        page.focus("#cost details summary")
        page.keyboard.press("Enter")
        assert page.evaluate("document.querySelector('#cost details').open")
        names = page.evaluate("[...document.querySelectorAll('svg.picture')].map(one => one.ariaLabel)")
        assert all(names)
        assert "How well could anyone tell?" in names


@pytest.mark.parametrize("name", ["inside", "hostile_inside"])
@pytest.mark.parametrize("height", [500, 844])
def test_every_screen_of_the_inside_view_says_that_it_is_not_private(browser, pages, name: str, height: int) -> None:
    with opened(browser, pages[name], viewport={"width": 390, "height": height}) as page:
        last = page.evaluate("document.documentElement.scrollHeight")
        for place in range(0, last, 3 * height):
            page.evaluate(f"window.scrollTo(0, {place})")
            top = page.evaluate("document.elementFromPoint(195, 10).closest('.band')?.textContent")
            assert top is not None, place
            assert "NOT PRIVATE" in top
        headings = page.evaluate(
            """() => [...document.querySelectorAll('section')].map(section => {
                section.scrollIntoView();
                const band = document.querySelector('.band').getBoundingClientRect();
                return section.querySelector('h2').getBoundingClientRect().top >= band.bottom - 1
                    || window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 1;
            })"""
        )
        assert all(headings), "a link to a section shows its heading below the band"


def test_every_printed_page_of_the_inside_view_says_so(browser, pages) -> None:
    for background in (False, True):
        with opened(browser, pages["inside"]) as page:
            printed = marked_pages(page.pdf(format="A4", print_background=background))
        assert len(printed) >= 2
        assert all(printed)
    with opened(browser, pages["inside"]) as page:
        page.evaluate("document.querySelector('.band').remove()")
        assert not any(marked_pages(page.pdf(format="A4"))), "nothing else on it is in that color"
    with opened(browser, pages["report"]) as page:
        assert "NOT PRIVATE" not in page.evaluate("document.body.textContent")


def marked_pages(document: bytes) -> list[bool]:
    """For each page of a PDF, whether anything is filled with the red of the band."""
    starts = [(int(one[1]), one.end()) for one in re.finditer(rb"\n(\d+) 0 obj\n", document)]
    ends = [start for _, start in starts[1:]] + [len(document)]
    objects = {number: document[start:end] for (number, start), end in zip(starts, ends, strict=True)}
    red = [int(COLORS["red"].light[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    marked = []
    for one in objects.values():
        if not re.search(rb"/Type\s*/Page\b", one):
            continue
        contents = re.search(rb"/Contents (\d+) 0 R", one)
        assert contents is not None
        _, stream = re.split(rb"stream\r?\n", objects[int(contents[1])], maxsplit=1)
        # Compressed bytes may end like a line, so that they themselves say where they end.
        body = zlib.decompressobj().decompress(stream)
        fills = re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) rg\b", body)
        marked.append(any(all(abs(float(a) - b) < 2e-3 for a, b in zip(fill, red, strict=True)) for fill in fills))
    return marked


@pytest.mark.parametrize(("name", "most"), [("fifteen", 1_000_000), ("fifty", 5_000_000), ("report", 1_000_000)])
def test_pages_are_small(pages, name: str, most: int) -> None:
    assert pages[name].stat().st_size < most


@pytest.mark.parametrize("name", ["report", "inside"])
def test_a_page_is_read_without_scripts(browser, pages, name: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    try:
        page = context.new_page()
        page.goto(pages[name].as_uri())
        assert page.locator("svg.picture").first.is_visible()
        assert page.locator("h2").count() >= 3
    finally:
        context.close()
