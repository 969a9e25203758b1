"""Receipts beside a release, among which may be that of another release that had the rest of the same budget.

A purchase with a share of a budget leaves its rest to one release. A ledger that counted the purchase remembers that
release. Without one nothing does but its receipt, which names the receipt of the purchase; where that lies where it was
written, a second release is refused as the ledger would. Receipts are public, so that nothing is learned by reading
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path


def earlier_rest(purchase: str, folders: Iterable[Path]) -> Path | None:
    """The receipt of a release that spent what a purchase left of its budget; None where none is found.

    Args:
        purchase: the SHA-256 of the receipt of the purchase.
        folders: where to look: receipts in them, and those of saved releases that are folders in them.
    """
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        for path in _receipts(folder):
            if _names(path, purchase):
                return path
    return None


def _receipts(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob("*receipt.json"))
    yield from sorted(folder.glob("*/receipt.json"))


def _names(path: Path, purchase: str) -> bool:
    """Whether a file is a receipt that says so; one that can't be read says nothing."""
    try:
        text = path.read_text(encoding="utf-8")
        section = json.loads(text).get("schema_share") if purchase in text else None
    except (OSError, ValueError, AttributeError, RecursionError):
        return False
    return isinstance(section, dict) and section.get("receipt") == purchase
