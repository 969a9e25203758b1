"""Short tables for notebooks: plain HTML that follows the notebook's own colors and needs nothing else.

Every text is escaped and shown inert, and cut where it is long: names and categories come from others.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from counterfoil.inert import inert

LONGEST_CELL = 120
"""Enough for the quantiles of moments with a zone, of which the last one was cut off at 60."""
MOST_ROWS = 15

# No color of its own: `currentColor` and opacity are right on light and on dark ground.
_CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top;border:0"
_LINE = "border-bottom:1px solid currentColor"


def notebook_page(heading: str, *parts: str, alarm: str = "") -> str:
    """One block of HTML.

    Args:
        heading: what is shown, one line.
        parts: HTML, such as `notebook_table` and `notebook_line` give.
        alarm: what must not be overlooked; nothing is shown where it is empty.
    """
    warned = f'<div style="border:2px solid currentColor;padding:4px 8px"><b>{escaped(alarm, 400)}</b></div>'
    body = "".join(parts)
    title = f'<div style="font-weight:bold">{escaped(heading, 200)}</div>'
    return f'<div style="overflow-x:auto">{title}{warned if alarm else ""}{body}</div>'


def notebook_line(text: str) -> str:
    """A sentence below a table or above it."""
    return f'<div style="opacity:.75;max-width:60em">{escaped(text, 600)}</div>'


def notebook_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, of: str = "rows") -> str:
    """A table of at most `MOST_ROWS` rows, with a line that says how many are left out.

    Args:
        headings: of the columns.
        rows: the cells of each, as texts.
        of: what rows stand for, for that line.
    """
    listed = [tuple(row) for row in rows]
    shown, more = listed[:MOST_ROWS], len(listed) - MOST_ROWS
    head = "".join(f'<th scope="col" style="{_CELL};{_LINE}">{escaped(text)}</th>' for text in headings)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escaped(text)}</td>' for text in row) + "</tr>" for row in shown
    )
    left = notebook_line(f"and {more:,} more {of}") if more > 0 else ""
    table = f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return table + left


def escaped(text: str, longest: int = LONGEST_CELL) -> str:
    """`text` as HTML shows it, inert, and cut to `longest` characters."""
    seen = text if len(text) <= longest else text[: longest - 1] + "…"
    return html.escape(inert(seen))
