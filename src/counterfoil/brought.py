"""What in an object is a user's own: code that is neither this package's nor a library's that computes with numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

# What holds data and runs no code of a user's on records. Of these types exactly: a subclass is somebody's own.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, list, tuple, set, frozenset, dict)
# Those of them that hold nothing else either, as most of what is in a query.
_LEAVES = frozenset((type(None), bool, int, float, complex, str, bytes, range))
_LIBRARIES = ("numpy", "pyarrow", "datetime", "decimal", "fractions")
_PACKAGE = "counterfoil"


@dataclass(frozen=True, eq=False)
class Brought:
    """Something in a query that its user vouches for.

    Args:
        words: as receipts name it.
        value: the object itself; another one of its type may behave otherwise.
    """

    words: str
    value: object


class BroughtFailed(ValueError):
    """Code that a user brought failed on records. The sentence quotes nothing that this code said."""


def is_ours(kind: type) -> bool:
    """Whether `kind` is a class of this package."""
    return _is_from(kind, _PACKAGE)


def brought_within(value: object) -> list[Brought]:
    """What is a user's within `value`, by name: anything that is neither ours nor plain data."""
    return sorted(_walk(value, set()), key=lambda brought: brought.words)


def _walk(value: object, seen: set[int]) -> Iterator[Brought]:
    if type(value) in _LEAVES or id(value) in seen:
        return
    seen.add(id(value))
    if not _known(value):
        yield Brought(_named(value), value)
    for item in _within(value):
        if type(item) not in _LEAVES:
            yield from _walk(item, seen)


def _within(value: object) -> Iterator[object]:
    """What `value` holds and may ask to compute something."""
    if isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    elif isinstance(value, Mapping):
        yield from (*value.keys(), *value.values())
    elif isinstance(value, np.ndarray):
        yield from value.ravel().tolist() if value.dtype.hasobject else ()
    elif _is_from(type(value), _PACKAGE) and hasattr(value, "brought_parts"):
        yield from value.brought_parts()  # it knows which of another library's parts are safe
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, field.name, None) for field in fields(value))
    elif _is_from(type(value), _PACKAGE):
        yield from getattr(value, "__dict__", {}).values()


def _known(value: object) -> bool:
    """Whether all code that `value` runs is ours, or a library's that computes with nothing but numbers."""
    kind = type(value)
    if kind in _PLAIN or _is_from(kind, _PACKAGE):
        return True
    return not callable(value) and any(_is_from(kind, library) for library in _LIBRARIES)


def _is_from(kind: type, package: str) -> bool:
    """Whether `kind` is the class that a module of `package` has under its name: what it says of itself may be false.

    The module must be one that was loaded from where the package is.
    """
    if kind.__module__.partition(".")[0] != package:
        return False
    home, root = sys.modules.get(kind.__module__), sys.modules.get(package)
    if getattr(home, kind.__name__, None) is not kind:
        return False
    place, folder = (getattr(getattr(module, "__spec__", None), "origin", None) for module in (home, root))
    return place is not None and folder is not None and _lies_beside(place, folder)


@lru_cache
def _lies_beside(place: str, folder: str) -> bool:
    """Whether the file `place` lies in the folder of the file `folder`, or below it."""
    return Path(place).is_relative_to(Path(folder).parent)


def _named(value: object) -> str:
    kind = value if callable(value) and not isinstance(value, type) and hasattr(value, "__name__") else type(value)
    return f"{getattr(kind, '__qualname__', kind)} of {getattr(kind, '__module__', 'nowhere')}"
