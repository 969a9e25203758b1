"""The programs whose versions a receipt records, and which of them made noise of another law."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = ("counterfoil", "dp-accounting", "numpy", "opendp", "scipy")
"""Beside Python itself: those that draw noise, or bound what it costs."""

_WRONG_OPENDP = ("0.14.0", "0.14.1")
"""Their discrete Laplace noise of scale 3 draws every third integer 17% too often; 0.14.2 and later are right."""


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that take part here, by name."""
    return {"python": platform.python_version(), **{name: _installed(name) for name in PACKAGES}}


@cache
def _installed(name: str) -> str:
    """Read once: it takes a millisecond, and what a process has loaded stays what it was."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def program_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Programs on a receipt that no receipt names, and the one whose noise was wrong."""
    if strange := [name for name in document["program"] if name not in ("python", *PACKAGES)]:
        yield f"`program` names {strange[0]!r}, which is none of the programs that a receipt records."
    drawn_with = document["program"].get("opendp")
    if drawn_with in _WRONG_OPENDP:
        yield (
            f"The noise was drawn by OpenDP {drawn_with}, whose discrete noise follows another law than the one that "
            "is charged here: the guarantee does not hold. Release again with OpenDP 0.14.2 or later."
        )
