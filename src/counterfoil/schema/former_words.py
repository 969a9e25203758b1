"""What earlier versions advised, which their receipts still say: a receipt that holds goes on holding."""

from __future__ import annotations

from counterfoil.schema.placement import Placement
from counterfoil.schema.placement_words import ColumnWords


def remedy_before_0_13(words: ColumnWords, way: Placement) -> str:
    """What versions before 0.13 said in place of `ColumnWords.remedy`."""
    if way is Placement.MOVED and words.kind == "real":
        return "give a finer `step`, or leave it out"
    if way is Placement.UNREADABLE and words.kind in ("integer", "real"):
        listed = "list the words that mean missing in `missing_values`"
        listed = listed if words.missing else f"declare `missing = true` and {listed}"
        times = "and times such as 20:05:00 as numbers of one unit,"
        return f"write numbers with a decimal point and without separators of thousands, {times} or {listed}"
    return words.remedy(way)


def remedy_before_0_11(words: ColumnWords, way: Placement) -> str:
    """What versions before 0.11 said."""
    if way is Placement.INFINITE:
        return 'declare `missing = true` and list "inf" and "-inf" in `missing_values`'
    if way is Placement.UNREADABLE:
        return _former_notation(words)
    return remedy_before_0_13(words, way)


def _former_notation(words: ColumnWords) -> str:
    listed = "list the words that mean missing in `missing_values`"
    if words.kind in ("date", "datetime"):
        now = f", which is {words.format!r} now" if words.format else ', such as "%d.%m.%Y"'
        return f"state the notation in `format`{now}, or {listed}"
    if words.kind == "categorical":
        return f"add them to `values`, declare `other = true`, or {listed}"
    if words.kind == "boolean":
        return f"declare them as categories, or {listed}"
    return f"write numbers with a decimal point and without separators of thousands, or {listed}"


FORMER_REMEDIES = (remedy_before_0_13, remedy_before_0_11)
