"""The facts of a column as bought answers show it: what goes into its table of the TOML, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from counterfoil.discovery.bought_categories import PLAIN_WORDS, boolean_facts, boolean_words, public_names, text_facts
from counterfoil.discovery.bought_facts import CAUTION, EMPTY, NO_KIND, BoughtColumn, Facts, counted, is_empty
from counterfoil.discovery.bought_instants import date_facts, datetime_facts
from counterfoil.discovery.bought_missing import misread
from counterfoil.discovery.bought_numbers import code_text, may_be_negative, number_facts, spellings
from counterfoil.discovery.bought_words import words_beside
from counterfoil.schema import midnight
from counterfoil.schema.discovered import DiscoveredColumn, Kind, percent, share_range
from counterfoil.schema.leading_zeros import may_be_code
from counterfoil.schema.precautions import place_of_bound, place_of_value
from counterfoil.schema.zoned_moments import IN_WORDS, ZONED_DAYS

_ZEROS = 0.01
"""A share of the cells: where the noise hides no more numbers with leading zeros, nobody is asked about them."""

_LONG = 1e10
"""So large numbers may be written with more digits, zeros included, than are looked for (`zero_padding.WIDTHS`)."""

_NOISE = 0.5
"""A standard error beside which a share of the cells says nothing."""


def bought_column(
    column: DiscoveredColumn, *, stated: Mapping[str, Any] | None = None, storage: pa.DataType | None = None
) -> BoughtColumn:
    """The facts that answers about a column lead to, without those that were stated by hand.

    Args:
        column: the answers.
        stated: facts by key that stand already, of an incomplete table.
        storage: the type of the column in its storage, where that has types.
    """
    given = dict(stated or {})
    if column.unknown:
        return BoughtColumn(column.name, {}, EMPTY if is_empty(column) else NO_KIND)
    make = _MAKERS[column.kind]
    made = make(column, given, storage)
    if not made.facts:
        return replace(made, seen=EMPTY) if is_empty(column) else made
    if "kind" in made.facts:  # times of day, which say so
        return replace(made, facts={key: fact for key, fact in made.facts.items() if key not in given})
    name = "categorical" if "values" in made.facts else column.kind
    words = made.facts.get("words", ({}, ""))[0]
    why = _why_this_kind(column, name, given, storage, words) + _about_zeros(column, name, given, storage)
    why += _about_lumps(column) if name == column.kind else ""
    kind = {"kind": (name, why)} | (_about_points(given) if column.grouped else {})
    return BoughtColumn(column.name, {key: fact for key, fact in (kind | made.facts).items() if key not in given})


def precautions_of(column: DiscoveredColumn, made: BoughtColumn) -> list[str]:
    """The places of a column that were bought and that nothing shows to hold records (`schema.precautions`).

    Those of integers that are codes are among them, for some may be noise, and both truths of a boolean, of which one
    may never occur. Texts are not, for each passed a threshold.
    """
    facts = made.facts
    found: list[str] = [key for key in ("other", "missing") if key in facts and facts[key][1] == CAUTION]
    listed = facts.get("values", ((), ""))[0]
    doubtful = {one for code, _ in column.codes for one in spellings(code, column)} | set(
        public_names(column)[1] if column.kind == "text" else ()
    )
    found += [place_of_value(value) for value in listed if value in doubtful]
    if column.kind == "boolean" and "kind" in facts:
        found += ["false", "true"]
    if column.kind == "integer":
        found += [place_of_bound(key, facts[key][0]) for key in ("lower", "upper") if key in facts]
    return found


def _why_this_kind(
    column: DiscoveredColumn,
    kind: str,
    given: Mapping[str, Any],
    storage: pa.DataType | None,
    words: Mapping[str, float],
) -> str:
    if column.read is not None:
        share, error = column.read
        wordless = column.kind == "boolean" and boolean_words(column) in (None, PLAIN_WORDS)
        written = "; they come back as true and false" if wordless else ""
        written += (
            "; nearly all at midnight, they come back as dates"
            if column.date_format in (midnight.FORMAT, ZONED_DAYS)
            else ""
        )
        read = f"about {percent(share)} ({share_range(share, error)}) of the cells that are not missing read so"
        if error > _NOISE:
            read = "most cells that can be distinguished from noise read so"
        return f"bought: {read}{written}{_others(column, kind, words)}"
    if "kind" in given or storage is None:
        return "stated"
    return (_WHOLE_SO_FAR if kind == "integer" and _has_reals(storage) else "the type in storage") + _others(
        column, kind, words
    )


_WHOLE_SO_FAR = (
    "bought: the type in storage is of reals, and that some have digits after the point does not surely show; where "
    "some do, state that it is real, for they are rounded"
)


def _has_reals(storage: pa.DataType) -> bool:
    return bool(pa.types.is_floating(storage) or (pa.types.is_decimal(storage) and storage.scale))


def _about_zeros(column: DiscoveredColumn, kind: str, given: Mapping[str, Any], storage: pa.DataType | None) -> str:
    """What keeps zeros at the beginning of numbers that may be codes, where no `digits` does and some may have any."""
    if column.kind != "integer" or storage is not None or "digits" in given:
        return ""
    if column.zeros_vary:
        return "; some are written with leading zeros and others not, or with more of them: these zeros are lost"
    if column.digits and kind == "integer" and may_be_negative(column, given):
        written = code_text(1, column.digits)
        return (
            f"; numbers with leading zeros, as {written}, lose them beside negative ones: where these stand for what "
            f"is missing, list them in missing_values, and add lower = 0 and digits = {column.digits}"
        )
    hidden = column.zeros_hidden > _ZEROS * max(column.records, 1) or (column.upper or 0) >= _LONG
    if column.digits or not hidden or not may_be_code(column.name):
        return ""
    if kind == "integer":
        return "; add digits, such as 5, where it is written with leading zeros (00123)"
    return '; list its values as texts where they are written with leading zeros ("00123")'


def _about_points(given: Mapping[str, Any]) -> Facts:
    """A question to whoever knows, where numbers are written as 1.234 or 1.000 is, and none tells the sign."""
    if {"lower", "upper", "values"} & set(given):
        return {}
    return {
        "confirm": (
            True,
            "bought: its numbers may be written as 1.234 or 1.000 is; where these are thousands, write "
            'decimal_char = "," and kind = "integer" with such bounds; then delete this line',
        )
    }


def as_texts(column: DiscoveredColumn) -> str:
    """What is said of numbers that are to be listed as categories, which know no decimal comma and no unit."""
    return " (as texts, the way the table has them)" if column.decimal_char == "," or column.unit else ""


def _about_lumps(column: DiscoveredColumn) -> str:
    """What keeps codes of many digits, which are too far apart for the purchase to find each."""
    if not column.lumps:
        return ""
    return (
        f"; nearly all lie at {column.lumps} places, far apart: where they are codes, list them as the `values` of a "
        f"categorical column{as_texts(column)}, for any number near them is drawn"
    )


def _others(column: DiscoveredColumn, kind: str, words: Mapping[str, float]) -> str:
    """How its other cells read, what becomes of them, and what to do about it."""
    missing = misread(column, kind, words)
    rounded = [one for one in column.others if one not in misread(column, kind)]
    said = f". Others are {counted(rounded)}, and are rounded: state that it is real, to keep them" if rounded else ""
    if missing:
        number = kind in ("integer", "real")
        remedy = "write all alike in the table, or state another kind, or their words in `missing_values`"
        remedy += "; or, where they are limits such as 90+, their numbers in `words`" * number
        remedy = "frequent ones are in `missing_values`" if number and words_beside(column) else remedy
        with_offset = not {name for name, _ in missing}.isdisjoint(IN_WORDS.values())
        remedy = 'zone = "UTC" reads those with an offset too, and the rest as UTC; or ' * with_offset + remedy
        said += f". Others are {counted(missing)}, and are read as missing: {remedy}"
    return said


_MAKERS: Mapping[Kind, Callable[[DiscoveredColumn, Mapping[str, Any], pa.DataType | None], BoughtColumn]] = {
    "text": text_facts,
    "boolean": boolean_facts,
    "integer": number_facts,
    "real": number_facts,
    "date": date_facts,
    "datetime": datetime_facts,
}
