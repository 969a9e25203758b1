"""What to change where cells beyond a bound hold a value that may stand for none, such as 9999-12-31.

The values in these sentences are the usual ones of any table, whichever the records have.
"""

from __future__ import annotations

from datetime import datetime

from counterfoil.schema.integer import AS_CODES
from counterfoil.schema.notation import text_of
from counterfoil.schema.placement import Placement
from counterfoil.schema.placement_words import ColumnWords
from counterfoil.schema.toml_text import toml_value

_WHAT = {"date": "day", "datetime": "moment"}
_USUAL = {Placement.BELOW: datetime(1900, 1, 1), Placement.ABOVE: datetime(9999, 12, 31)}


def placeholder_remedy(words: ColumnWords, way: Placement, count: int, values: int, *, of: int) -> str:
    """An imperative; empty where no cell holds such a value.

    Args:
        words: the public facts of the column.
        way: below or above the bounds.
        count: the cells that hold a value which may stand for none.
        values: how many such values there are.
        of: the cells beyond the bound.
    """
    bound = words.remedy(way)
    if not count or bound == AS_CODES:
        return ""
    what = _WHAT.get(words.kind, "number")
    held = f"one {what}" if values == 1 else f"{values} {what}s"
    who = "they all hold" if count == of else f"{count:,} of them {'holds' if count == 1 else 'hold'}"
    hold = f"{who} {held}. Where" if of > 1 else "where"
    it, stands = ("it", "it stands") if values == 1 else ("them", "these stand")
    listed = f"list {it} in `missing_values`, such as [{toml_value(_usual(words, way))}]"
    declared = listed if words.missing else f"declare `missing = true` and {listed}"
    true = f"it is a true {what}" if values == 1 else f"these are true {what}s"
    rest = f"only where {true}" if count == of else "for the others"
    return f"{hold} {stands} for none, {declared}; {bound} {rest}"


def _usual(words: ColumnWords, way: Placement) -> str:
    """What tables write for none on that side of the bounds."""
    if words.kind in _WHAT:
        moment = _USUAL[way]
        if words.format:
            return text_of(moment, words.format)
        return moment.date().isoformat() if words.kind == "date" else moment.isoformat(" ")
    sign, bound = (-1, float(words.lower)) if way is Placement.BELOW else (1, float(words.upper))
    least = 9999 if sign > 0 else 9
    while least <= sign * bound:
        least = least * 10 + 9
    return str(sign * least)
