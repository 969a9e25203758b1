"""Texts of others, as they may be printed: with everything written out that a terminal could obey."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any


def inert(text: str, *, keep: str = "") -> str:
    """`text` with each character written out that moves the cursor, changes colors or order, or can't be seen.

    Written out, as in Python's `\\x1b`, are control characters (C0 with the newline, DEL, C1), marks that reorder text
    or have no width (U+202A, U+2066, U+200B and the like), line and paragraph separators, lone surrogates, and what
    Unicode has not assigned. Spaces of all kinds stay.

    Args:
        text: from a file, a source or a user.
        keep: characters that stay as they are, such as the newlines of a text that the program itself has laid out.
    """
    if text.isprintable():
        return text
    return "".join(one if one in keep or _harmless(one) else _written_out(one) for one in text)


def inert_toml(text: str) -> str:
    """A TOML text without literal strings, as this package writes it, in which TOML's own escapes do the same."""
    if text.isprintable():
        return text
    return "".join(one if one == "\n" or _harmless(one) else f"\\U{ord(one):08x}" for one in text)


def inert_document(value: Any) -> Any:
    """A JSON document with all of its texts and keys inert, newlines written out too: no field makes a line."""
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, Mapping):
        return {inert(str(key)): inert_document(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [inert_document(part) for part in value]
    return value


def _harmless(one: str) -> bool:
    return one.isprintable() or unicodedata.category(one) == "Zs"


def _written_out(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")
