"""The page as a whole: one file, no script, nothing from elsewhere, every text escaped, and small."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

from category_tables import categories_schema, categories_table
from counterfoil import synthesize
from counterfoil.report import report_of, write_report
from counterfoil.report.head import Head
from counterfoil.report.page import page, shown
from counterfoil.report.section import Figure, NumberTable, Section

NAMES = ["<script>alert(1)</script>", "a\"quote' & <b>", "x" * 300, "שלום עולם", "👩‍👩‍👧 🎉", "=1+1|cmd", "{{ 7*7 }}"]
VALUES = ["<img src=x onerror=alert(2)>", '"onload="alert(3)', "</style></svg>", "y" * 300, "=cmd()"]


class Seen(HTMLParser):
    """What a browser would take from a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


@pytest.fixture(scope="module")
def hostile() -> str:
    made = synthesize(
        categories_table(NAMES, VALUES, 400), categories_schema(NAMES, VALUES), epsilon=2.0, method="mst", seed=1
    )
    return report_of(made)


def test_hostile_names_and_categories_stay_text(hostile):
    seen = Seen(hostile)
    harmless = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "p",
        "h1",
        "h2",
        "h3",
        "dl",
        "div",
        "dt",
    }
    harmless |= {
        "dd",
        "bdi",
        "nav",
        "ul",
        "li",
        "main",
        "section",
        "figure",
        "figcaption",
        "details",
        "summary",
        "span",
    }
    harmless |= {
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "footer",
        "svg",
        "desc",
        "g",
        "path",
        "rect",
        "line",
        "text",
    }
    assert set(seen.tags) <= harmless
    assert not [
        one for one in seen.attributes if one[1].startswith("on") or one[1] in ("src", "style", "srcset", "action")
    ]
    assert "<script>alert(1)</script>" in seen.text
    assert "{{ 7*7 }}" in seen.text
    assert "<img src=x onerror=alert(2)>" in seen.text


def test_no_request_can_leave_it(hostile):
    seen = Seen(hostile)
    links = [value for tag, name, value in seen.attributes if name in ("href", "xlink:href")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert set(re.findall(r"https?://[^\s\"'<]+", hostile)) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in hostile
    assert "@import" not in hostile


def test_the_policy_allows_this_style_sheet_and_nothing_else(hostile):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', hostile)
    assert policy is not None
    styles = re.findall(r"<style>(.*?)</style>", hostile, re.S)
    assert len(styles) == 1
    digest = base64.b64encode(hashlib.sha256(styles[0].encode()).digest()).decode()
    assert policy[1] == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_it_reads_as_a_document(hostile):
    seen = Seen(hostile)
    ids = [value for _, name, value in seen.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    named = {value for _, name, value in seen.attributes if name == "aria-labelledby"}
    links = {value.removeprefix("#") for _, name, value in seen.attributes if name == "href"}
    assert named | links <= set(ids)
    assert seen.tags.count("h1") == seen.tags.count("main") == 1
    assert {"columns", "pairs", "use", "limits", "main"} <= links
    pictures = [value for tag, name, value in seen.attributes if (tag, name) == ("svg", "aria-label")]
    shown = [value for tag, name, value in seen.attributes if (tag, name, value) == ("svg", "class", "picture")]
    assert len(pictures) == len(shown) == seen.tags.count("figure")
    assert all(pictures)
    assert "NOT REAL PEOPLE" in seen.text


def test_a_release_with_a_seed_says_that_it_is_not_private(hostile):
    assert "NOT PRIVATE: the noise came from a seed" in hostile


@pytest.mark.parametrize(("columns", "most"), [(15, 1_000_000), (50, 5_000_000)])
def test_a_page_is_small(columns, most):
    names = [f"column {number}" for number in range(columns)]
    values = [f"value {number}" for number in range(25)]
    made = synthesize(
        categories_table(names, values, 300),
        categories_schema(names, values),
        epsilon=1.0,
        method="independent",
        seed=1,
    )
    text = report_of(made)
    assert all(f"{number} column {number - 1}</text>" in text for number in (1, columns))
    assert len(text.encode()) < most


def test_texts_are_inert_and_have_an_end():
    assert shown("a\x1b[31mb\u202ec") == "a\\x1b[31mb\\u202ec"
    assert len(shown("z" * 5_000)) == 1_200


def test_figures_and_numbers_are_where_a_reader_looks():
    table = NumberTable(("value", "share"), (("<b>", "1%"), ("c", "2%")))
    figure = Figure('<svg role="img" aria-label="t"></svg>', "T & U", "Seen.", table, wide=True)
    section = Section("one", "First", "Lead.", (figure,), ("Words.",), ("Point.",), ("Alarm!",))
    text = page(Head("<Title>", "BANNER", ("Sentence.",), (("Rows", "5"),)), [section])
    seen = Seen(text)
    order = [
        "BANNER",
        "<Title>",
        "Sentence.",
        "Rows",
        "Alarm!",
        "Lead.",
        "T & U",
        "Seen.",
        "value",
        "<b>",
        "Point.",
        "Words.",
    ]
    places = [seen.text.index(word, seen.text.index("Skip to the report")) for word in order]
    assert places == sorted(places)
    assert 'tabindex="0"' in text, "what scrolls can be reached with the keyboard"
    assert text.count('<th scope="row">') == 2


def test_a_private_view_says_so_on_every_screen():
    text = page(Head("t", "NOT PRIVATE", (), ()), [], private_view=True)
    assert '<div class="band" role="region" aria-label="Warning"><span>NOT PRIVATE</span></div>' in text
    assert ".band{position:sticky" in text
    shared = page(Head("t", "NOT REAL PEOPLE", (), ()), [])
    assert 'class="band"' not in shared


def test_options_are_code_that_does_not_break_into_lines():
    section = Section("a", "A", "", (), ("`--workload 3` buys `--focus COLUMN` <b> `x` and `--A <i>`.",))
    several = Section("b", "B", "", (), ("`--privacy-unit COLUMN --max-rows K` with `--unit-sizes 0.02`",))
    assert "<code>--privacy-unit COLUMN --max-rows K</code> with <code>--unit-sizes 0.02</code>" in page(
        Head("T", "B", (), (), ()), (several,)
    )
    made = page(Head("T", "B", (), (), ()), (section,))
    assert (
        "<p><code>--workload 3</code> buys <code>--focus COLUMN</code> &lt;b&gt; `x` and `--A &lt;i&gt;`.</p>" in made
    )


def test_the_report_of_a_release_in_memory_is_made_by_another_function(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Found Table: `report_of` makes the page of a release in memory"):
        write_report(pa.table({"a": [1]}), tmp_path / "report.html")  # type: ignore[arg-type]
