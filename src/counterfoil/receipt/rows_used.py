"""Which rows the figures of a release are about, where a person may have more of them than were used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rows_used(document: Mapping[str, Any]) -> str:
    """A sentence on the rows that measures and certificates call real; empty where each row was used.

    What is left out of a table before the first question is in none of its answers, and a figure of the rows that are
    left may be far from that of all.
    """
    unit = document.get("privacy_unit")
    if unit is None:
        return ""
    most = int(unit["max_rows"])
    return (
        f"Real rows are those that were used, at most {most:,} of each {unit['column']!r}: where somebody has more, "
        "nothing is said of a table with all of them."
    )
