"""What a receipt says of spellings that its table does not keep, from the schema among its answers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from counterfoil.schema.one_spelling import one_spelling


def spelling_sentences(document: Mapping[str, Any]) -> Iterator[str]:
    """A sentence where words for missing come back as another one of them; nothing where no table was released."""
    if document.get("released", "table") == "table" and (sentence := one_spelling(_words(document))):
        yield sentence


def _words(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """By column, its words for missing; none where the receipt has no schema that can be read."""
    try:  # its columns need no check, for which Arrow would import what pages of text do without
        columns = tomllib.loads(document["answers"]["schema"])["columns"]
        return {name: list(map(str, facts.get("missing_values", ()))) for name, facts in columns.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}
