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


def rows_beside_used(document: Mapping[str, Any]) -> str:
    """The same where a release is compared with a whole table: what was left out makes a difference without any noise.

    Empty where each row was used.
    """
    unit = document.get("privacy_unit")
    if unit is None:
        return ""
    most = int(unit["max_rows"])
    return (
        f"The release used at most {most:,} row{'s' * (most != 1)} of each {unit['column']!r}, chosen at random, and "
        "the real rows here are all of them: where somebody has more, differences are due to what was left out, too."
    )
