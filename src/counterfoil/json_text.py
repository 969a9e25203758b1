"""JSON from files of others, read so that no two readers can see two documents.

Python's reader keeps the last of two equal keys, reads 1e400 as infinity, and ends in a RecursionError where brackets
are nested some thousand deep. What is checked or signed must not have two readings, so that all of these are refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DEEPEST = 100
"""Brackets within brackets; no document of this package has more than a dozen."""

MOST_DIGITS = 40
"""Of a whole number: enough for 128 bits."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def json_file(path: str | Path, what: str, *, finite: bool = True) -> Any:
    """The JSON document in the file at `path`.

    Args:
        path: of the file.
        what: what it must be, in words that follow "must be".
        finite: whether infinity and NaN, which Python writes and JSON does not have, are refused.

    Raises:
        ValueError: for anything that is not one plain JSON document.
        OSError: when the file can't be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} must be {what}, which is JSON text. Found another kind of file.") from None
    return parsed_json(text, f"{path} must be {what}, which is JSON text.", finite=finite)


def parsed_json(text: str, must: str = "The text must be JSON.", *, finite: bool = True) -> Any:
    """The JSON document in `text`.

    Args:
        text: of the document.
        must: the sentence that says what it must be, to which "Found ..." is added.
        finite: whether infinity and NaN, which Python writes and JSON does not have, are refused.

    Raises:
        ValueError: for text that is cut short or no JSON, equal keys in one object, numbers that are not finite, whole
            numbers of more than 40 digits, texts that are no Unicode, or brackets that are nested more than 100 deep.
    """
    try:
        constant = _constant if finite else None
        document = json.loads(
            text, object_pairs_hook=_object, parse_constant=constant, parse_float=_float, parse_int=_int
        )
    except RecursionError:
        raise ValueError(f"{must} {_TOO_DEEP}") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{must} Found {error.msg.lower()} in line {error.lineno}: it may have been cut short."
        ) from None
    except _Refused as error:
        raise ValueError(f"{must} {error}") from None
    _require_flat(document, must)
    if _SURROGATE.search(text):
        _require_unicode(document, must)
    return document


class _Refused(Exception):
    """A part that no document may have; the message begins with "Found"."""


_TOO_DEEP = f"Found brackets nested more than {DEEPEST} deep: no file of Counterfoil has them."


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"Found the key {twice[:40]!r} twice in one object: readers would differ on which one counts.")
    return made


def _constant(name: str) -> float:
    raise _Refused(f"JSON holds finite numbers. Found {name}.")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Refused(f"JSON holds finite numbers. Found {text[:20]}, which no float holds.")
    return value


def _int(text: str) -> int:
    if (digits := len(text.removeprefix("-"))) > MOST_DIGITS:
        raise _Refused(f"Found a whole number of {digits:,} digits; at most {MOST_DIGITS} are read.")
    return int(text)


def _require_flat(document: Any, must: str) -> None:
    """Refuses brackets that are nested too deep, without a call for each: copies and checks call themselves."""
    layer, depth = [document], 0
    while layer:
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"{must} {_TOO_DEEP}")
        layer = [
            part
            for value in layer
            for part in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
            if isinstance(part, dict | list)
        ]


def _require_unicode(document: Any, must: str) -> None:
    """Refuses halves of surrogate pairs, which UTF-8 can't say."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{must} Found a text with half a surrogate pair, which is no character.") from None
