"""Texts of others in Markdown: shown as they are, whatever they hold."""

from __future__ import annotations

import re

from counterfoil.inert import inert

MOST = 200
"""Characters of a text that are shown."""

_ALWAYS = re.compile(r"[\\`*\[\]|~$#]")
_AT_EDGES = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""A mark that means something at the edge of a word, and nothing between letters or digits."""
_ALONE = re.compile(r"(?<!\S)[-+=]+(?=\s|$)")
"""Marks that begin a list, or underline a title, should a line begin with them; those of --rows and 90+ do not."""
_NUMBERED = re.compile(r"(?<!\S)(\d{1,9})([.)])(?=\s|$)")
"""A number that would begin a list, should a line begin with it."""
_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def plain(text: str, *, most: int = MOST) -> str:
    """`text` on one line, with every mark escaped that Markdown or HTML could obey; cut where it is very long.

    Args:
        text: of a schema, a receipt or a file's name.
        most: how many characters are shown.
    """
    shown = inert(text)
    if len(shown) > most:
        shown = f"{shown[:most]}…"
    shown = _LINK.sub(r"\\\g<0>", _NUMBERED.sub(r"\1\\\2", _edges_escaped(_ALWAYS.sub(_escaped, shown))))
    return "".join(_ENTITIES.get(one, one) for one in shown)


def _edges_escaped(text: str) -> str:
    return _ALONE.sub(lambda found: "".join(f"\\{mark}" for mark in found[0]), _AT_EDGES.sub(_escaped, text))


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"
