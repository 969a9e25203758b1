"""Texts of others in Markdown: a reader of CommonMark would give every one of them back as plain text."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.inert import inert
from counterfoil.publishing.markdown import MOST, plain

_PUNCTUATION = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def read(markdown: str) -> str:
    """What CommonMark makes of escapes and entities."""
    return html.unescape(re.sub(rf"\\([{_PUNCTUATION}])", r"\1", markdown))


@settings(max_examples=300, derandomize=True)
@given(st.text(max_size=60))
def test_what_is_shown_is_the_text(text: str) -> None:
    assert read(plain(text)) == inert(text)
    assert "\n" not in plain(text)


@settings(max_examples=300, derandomize=True)
@given(st.text(alphabet="ab1*_[]()<>`#|~-+=.! \\:/w", max_size=40))
def test_no_mark_is_left_that_could_be_obeyed(text: str) -> None:
    shown = plain(text)
    bare = re.sub(r"\\.", "", shown)
    assert not re.search(r"[\\`*\[\]<>|~#$]", bare), shown
    assert not re.search(r"(^|\W)_|_(\W|$)", bare.replace("\\", "")), shown
    assert "://" not in bare
    for word in shown.split():
        assert word.strip("-+="), shown
        assert word not in ("1.", "1)"), shown


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "[x](javascript:y)", "![i](http://e.org)", "a\n# b", "\x1b[31m"]
)
def test_hostile_texts(text: str) -> None:
    shown = plain(text)
    assert "<" not in shown
    assert not re.search(r"(?<!\\)\]\(", shown)
    assert "\x1b" not in shown


def test_a_long_text_is_cut() -> None:
    assert plain("x" * 5000) == "x" * MOST + "…"


def test_figures_and_names_stay_readable() -> None:
    assert plain("add_or_remove_one: 73.2% of 1,000 on 2026-01-31") == "add_or_remove_one: 73.2% of 1,000 on 2026-01-31"
    assert plain("85+ years, give --privacy-unit; -3 +4") == "85+ years, give --privacy-unit; -3 +4"
