"""The documentation as a folder of files in a real browser: it can be searched, and each page has something to see."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, from copies: a warning fails. Or what `make docs` has just built, which fails
    of the same."""
    if built := os.environ.get("COUNTERFOIL_SITE"):
        return Path(built)
    if any(find_spec(name) is None for name in ("zensical", "mkdocstrings", "latex2mathml")):
        pytest.skip("the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("documentation")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    (folder / "src").symlink_to(ROOT / "src")
    command = [sys.executable, "-m", "zensical", "build", "--config-file", "mkdocs.yml", "--strict"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": "docs/hooks"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "griffe:" not in said, "a docstring is not as the reference reads it"
    return folder / "site"


def pages() -> list[str]:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return [name.removesuffix(".md") for name in re.findall(r":\s+([\w/]+\.md)$", text, re.MULTILINE)]


@pytest.fixture
def seen(browser: Any, site: Path) -> Any:
    """Opens pages of the site as files, and keeps what they asked for and what went wrong."""
    opened = []

    class Seen:
        def __init__(self) -> None:
            self.asked: list[str] = []
            self.wrong: list[str] = []

        def open(self, name: str, width: int, height: int, scheme: str = "light") -> Any:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            opened.append(context)
            page = context.new_page()
            page.on("request", lambda request: self.asked.append(request.url))
            page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
            page.on("pageerror", lambda error: self.wrong.append(str(error)))
            page.goto((site / f"{name}.html").as_uri())
            return page

    yield Seen()
    for context in opened:
        context.close()


def test_a_folder_of_files_can_be_searched(seen: Any, site: Path) -> None:
    """A word is typed, a result appears, a click opens its page, and nothing is asked of anybody else."""
    page = seen.open("theory/reweighting", 1600, 1000)
    page.get_by_role("button", name="Search").first.click()
    box = page.get_by_role("combobox", name="Search")
    box.press_sequentially("savepoint nothing has this", delay=5)
    page.get_by_text("0 results").or_(page.get_by_text("No results")).first.wait_for(timeout=20_000)
    box.fill("")
    box.press_sequentially("Scheffé", delay=5)
    result = page.locator("a", has_text=re.compile("losses", re.IGNORECASE)).filter(visible=True)
    result = result.and_(page.locator("[href*='inference.html']"))
    result.first.wait_for(timeout=20_000)
    assert box.input_value() == "Scheffé"
    result.first.click()
    page.wait_for_url(re.compile(r"inference\.html"))
    assert page.locator("h1").inner_text().startswith("Inference")
    assert seen.wrong == []
    assert {url.partition(":")[0] for url in seen.asked} == {"file"}
    assert all(str(site) in url for url in seen.asked)


NO_INDEX = 'var __index = {"config": {"separator": " "}, "items": []}'
SIGHTS = [(1600, 1000, "light"), (390, 844, "dark")]


def test_no_first_screen_is_only_text(seen: Any) -> None:
    """A picture begins on it, has a title, fits into the page, and reads on its ground.

    The references of packages, in which names are looked up, have none, and are alike: one is seen. To load a page
    takes most of the time: each is loaded once, every other one on a telephone, and then seen the other way as well.
    After the first, none of them reads the index of the search, one large file for all.
    """
    bare, broad = [], []
    page = seen.open("index", *SIGHTS[0])
    start = page.url.removesuffix("index.html")
    page.route("**/search.js", lambda route: route.fulfill(body=NO_INDEX, content_type="text/javascript"))
    seen_here = [name for name in pages() if not name.startswith("api/") or name == "api/schema"]
    for number, name in enumerate(seen_here):
        page.goto(f"{start}{name}.html")
        sights = SIGHTS if number % 2 == 0 else SIGHTS[::-1]
        for width, height, scheme in sights:
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            top, titled = page.evaluate(
                "() => { const one = document.querySelector('svg.picture'); return one"
                " ? [one.getBoundingClientRect().top, !!one.querySelector('title').textContent] : [1e9, false] }"
            )
            if not (name.startswith("api/") or (top < height - 40 and titled)):
                bare.append((name, width, top))
            if page.evaluate("document.documentElement.scrollWidth") > width:
                broad.append((name, width))
    assert bare == []
    assert broad == []
    assert seen.wrong == []
    assert {url.partition(":")[0] for url in seen.asked} == {"file"}


def test_pictures_follow_light_and_dark(seen: Any) -> None:
    """Letters are dark on light and light on dark, also where the reader chose against the system."""
    brightness = (
        "() => getComputedStyle(document.querySelector('svg.picture .f-ink')).fill.match(/\\d+/g)"
        ".slice(0, 3).reduce((sum, part) => sum + Number(part), 0)"
    )
    light, dark = seen.open("index", 1600, 1000, "light"), seen.open("index", 1600, 1000, "dark")
    assert light.evaluate(brightness) < 150
    assert dark.evaluate(brightness) > 600
    light.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    assert light.evaluate(brightness) > 600
