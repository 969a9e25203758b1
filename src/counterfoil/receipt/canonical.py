"""The one text of a receipt that is signed and hashed, whatever its file's spaces and order are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical_bytes(document: Mapping[str, Any]) -> bytes:
    """The document as JSON in UTF-8: keys sorted, no spaces, numbers as Python writes them.

    Raises:
        ValueError: for what JSON can't say, such as infinity.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def digest_of(document: Mapping[str, Any]) -> str:
    """The SHA-256, in hexadecimal, of the canonical text."""
    return hashlib.sha256(canonical_bytes(document)).hexdigest()


def unsigned(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without its signature: what is signed."""
    return {key: value for key, value in document.items() if key != "signature"}
