"""What a page is made of: sections with pictures, and the same numbers in tables. All of it is plain text and SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class NumberTable:
    """The numbers of a picture, for screen readers and for copying.

    Args:
        header: the names of the columns; the first column names what a row is about.
        rows: texts [rows, columns], as they are to be shown.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ColorKey:
    """What the colors of a picture say, where that does not stand in the picture itself.

    Args:
        title: what they tell of.
        entries: the name of each color in `pictures.style.COLORS`, and what it stands for.
    """

    title: str
    entries: tuple[tuple[str, str], ...]

    @classmethod
    def of_steps(cls, title: str, words: Sequence[str]) -> ColorKey:
        """The key of the six colors that say how much there is of something."""
        return cls(title, tuple((f"step{step}", word) for step, word in enumerate(words)))


@dataclass(frozen=True)
class Figure:
    """A picture in a page.

    Args:
        svg: as `pictures.svg.render` makes it: the one thing that a page takes as markup.
        title: what it shows, in a few words; plain text.
        caption: what is seen, and what the lines and colors mean; plain text.
        table: the same numbers, folded up below the picture; None where the caption says them all.
        wide: whether it has a row of the page to itself, and may be scrolled sideways on a narrow screen.
        key: what its colors say, above it; None where the picture or the caption says it.
    """

    svg: str
    title: str
    caption: str
    table: NumberTable | None = None
    wide: bool = False
    key: ColorKey | None = None

    @property
    def width(self) -> int:
        """Pixels that the picture takes where there is room."""
        found = re.match(r'<svg[^>]* width="(\d+)', self.svg)
        return int(found[1]) if found else 0


@dataclass(frozen=True)
class Section:
    """A part of a page, in the order in which it is read. All texts are plain, and escaped where they are written.

    Args:
        anchor: its id in the page: small letters and hyphens, unique.
        title: its heading.
        lead: one or two sentences below the heading; empty for none.
        figures: pictures, first.
        paragraphs: words after them.
        points: a list after the words, one sentence each.
        alarms: sentences that must not be overlooked, before the pictures.
    """

    anchor: str
    title: str
    lead: str = ""
    figures: tuple[Figure, ...] = ()
    paragraphs: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
