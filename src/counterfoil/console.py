"""A console of Rich that prints everything inert: what a terminal could obey is written out."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any

from counterfoil.inert import inert

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 80
"""Of what is printed, in characters."""


def filled(text: str, *, initial_indent: str = "", subsequent_indent: str = "") -> str:
    """A paragraph in lines that are not too long, broken at spaces alone: --show-values stays whole."""
    return textwrap.fill(
        text, WIDTH, initial_indent=initial_indent, subsequent_indent=subsequent_indent, break_on_hyphens=False
    )


def console(file: Any) -> Console:
    """A console on a file, which is a terminal or none, at most `WIDTH` wide.

    Made anew because tests and callers may have replaced the streams. No markup: names of columns may hold brackets.
    """
    made = _inert_console()(file=file, markup=False, highlight=False, emoji=False)
    made.width = min(made.width, WIDTH) if made.is_terminal else WIDTH
    return made


@cache
def _inert_console() -> type[Console]:
    """A console of which every text is inert, before it is laid out.

    Cells and headings of tables are fields: their newlines are written out too. Those of a `Text` are the program's.
    """
    from rich.console import Console
    from rich.text import Text

    class InertConsole(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(inert(text), **how)

        def render(self, renderable: Any, options: Any = None) -> Any:
            if isinstance(renderable, Text) and not renderable.plain.isprintable():
                renderable = renderable.copy()
                renderable.plain = inert(renderable.plain, keep="\n")
            return super().render(renderable, options)

    return InertConsole
