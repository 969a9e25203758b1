"""Which texts stand in what notes advise as they are, so that a schema into which it is pasted reads them."""

from __future__ import annotations

from collections.abc import Iterable


def can_be_pasted(name: str) -> bool:
    """Whether rules and expressions can name a column so: nothing writes a backtick between two of them."""
    return can_be_quoted(name) and "`" not in name


def can_be_quoted(text: str) -> bool:
    """Whether a text means itself in a TOML string between double quotes."""
    return text.isprintable() and not any(mark in text for mark in '"\\')


def pasted(names: Iterable[str]) -> list[str]:
    """The columns that what a note advises may name; of others it advises nothing."""
    return [name for name in names if can_be_pasted(name)]
