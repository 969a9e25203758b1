"""What reports about the real records print, in order: paragraphs, tables, and lines that must not be overlooked.

A terminal prints them as they come; in Python they are the text of a report, which notebooks show.
"""

from __future__ import annotations

import html
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from counterfoil.console import console, filled
from counterfoil.inert import inert

if TYPE_CHECKING:
    from rich.console import RenderableType


IN_JSON = "--json (in Python `to_json()`)"
"""Where the document is that leaves nothing out."""


class Alarm(str):
    """A paragraph that must not be overlooked."""

    __slots__ = ()


Block: TypeAlias = "str | RenderableType"
"""A paragraph, which may have several lines, or a table of Rich."""


def wrapped(text: str, indent: str = "", *, further: str = "  ") -> str:
    """A paragraph of lines that are not too long, all but the first `further` indented."""
    return filled(text, initial_indent=indent, subsequent_indent=indent + further)


def text_of(blocks: Iterable[Block]) -> str:
    """All of them as one text, inert, in lines without spaces at their ends."""
    return "\n".join(inert(one, keep="\n") if isinstance(one, str) else laid_out(one) for one in blocks)


def laid_out(table: RenderableType) -> str:
    """A table as text: cells of its last column are padded, which a file or another program would keep."""
    printed = console(io.StringIO())
    with printed.capture() as found:
        printed.print(table)
    return "\n".join(line.rstrip(" ") for line in found.get().splitlines())


def page_of(text: str) -> str:
    """A text as notebooks show it."""
    return f"<pre>{html.escape(text)}</pre>"
