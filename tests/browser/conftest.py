"""One Chromium for each worker, and the pages that are looked at in it, each made once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """The browser that is installed; where there is none, or nothing to drive it with, tests are skipped."""
    path = os.environ.get("COUNTERFOIL_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    if find_spec("playwright") is None or find_spec("axe_core_python") is None:
        pytest.skip("playwright or axe-core-python is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


class Pages(dict[str, Path]):
    """Where each page is; each is made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        import report_pages as made

        makers = {
            "report": lambda: made.ledger_page(self._folder),
            "hostile": lambda: made.page(*made.hostile()),
            "inside": lambda: made.inside_page(*made.people(), target="income"),
            "hostile_inside": lambda: made.inside_page(*made.hostile()),
            "fifteen": lambda: made.page(*made.people(2000, 15)),
            "fifty": lambda: made.page(*made.people(2000, 50)),
        }
        self[name] = self._folder / f"{name}.html"
        self[name].write_text(makers[name](), encoding="utf-8")
        return self[name]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The pages that are looked at."""
    if any(find_spec(name) is None for name in ("jinja2", "vl_convert")):
        pytest.skip("the extra `report` is not installed")
    return Pages(tmp_path_factory.mktemp("pages"))
