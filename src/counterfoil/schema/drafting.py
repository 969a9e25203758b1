"""A first schema from names and types alone: no value is read, and every fact is left to be confirmed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from counterfoil.inert import inert_toml
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.leading_zeros import may_be_code
from counterfoil.schema.patterns import is_pattern
from counterfoil.schema.scale import LOG
from counterfoil.schema.spelling import has_no_text
from counterfoil.schema.storage_words import is_ordered_category, storage_words
from counterfoil.schema.toml import UNKNOWN
from counterfoil.schema.toml_text import toml_key, toml_table, toml_value

_NAMES_SOMEBODY = re.compile(
    r"(^|[_\W])(id|uuid|guid|ssn|mrn|iban|imsi|imei|msisdn|nbr|nr|no|num|number|key|e-?mail|phone|name|address"
    r"|nummer|kennung)\.?$"
    r"|(^|[_\W])(first|last|full)[_ ]?name$"
    r"|(?-i:[a-z](ID|Id|Nbr|Nr|No))\.?$"
    # German puts words together: Fallnummer, Patientenkennung, Kundennr. (but INR is a result of a laboratory).
    r"|[a-zäöüß](nummer|kennung|(?<=[a-zäöüß]{3})nr)\.?$",
    re.I,
)
_AMOUNTS = re.compile(
    r"(^|[_\W\d])(income|earnings?|wages?|salar(y|ies)|pay|payments?|price|prices|balance|amount|amt|gain|loss|cost|costs"
    r"|charges?|fares?|fees?|rent|revenue|sales|profit|debt|loan|credit|budget|spend(ing)?|expenses?|delay|delays"
    r"|distance|duration|population)([_\W\d]|$)",
    re.I,
)
_MOST_STORED_DECIMALS = 6
"""Degrees of latitude have so many."""

_HEAD = """\
# A draft made from the column names and types alone; no record was read. Column by column, state what is
# true from public knowledge (a form, a code book, a law), never from looking at the records, then delete the
# line `confirm = true`. Nothing is synthesized before that.
#
#   categorical  values = ["a", "b"], optional other = true, ordered = true
#   boolean      optional true = "yes", false = "no": how the two are written; true and false without them
#   integer      lower, upper; optional scale = "log" for amounts with a long tail ("linear" for others), step,
#                bins or edges, points = [999] for a value with a code of its own, digits = 5 where 123 is written
#                as 00123, words = { "90+" = 90 } for words that stand for a number
#   real         lower, upper; optional scale, decimals = 2 for cents or step = 0.5 for halves, and one of bins,
#                resolution, edges; points = [0] for exact values, words = { "<0.5" = 0.2 }
#   date         lower, upper (2020-01-31); optional resolution = "1d", "7d" or "1mo", bins, or edges; format, zone
#   datetime     lower, upper, and one of resolution = "1h", bins, edges; optional format, zone
#   identifier   replace = "drop", "sequence" or "uuid"; never read
#
# One entry for many columns: [columns."drug_*"]. Categories in a file beside this one: values_from = "codes.csv"
# instead of values. A column that follows from others: [[derived]] with name, kind and expression or lookup.
# Any but identifiers: missing = true where values may be missing, missing_values = ["?"] for words that say so, the
# first of which is written. format = "%d.%m.%Y" is how dates are read and written, "%Y-%m-%dT%H:%M:%S%:z" moments such
# as 2020-01-31T23:59:59+01:00; zone = "Europe/Zurich" is where the days of instants with an offset begin.
# Numbers with a decimal comma: decimal_char = "," above the first column or in one. With it, and with ".", separators
# of thousands are read too. unit = "%" is a sign that may stand beside the numbers of a column.
# Columns to leave out altogether: ignore = ["name", ...] above the first column.
# Facts that hold for every record: [[rules]] with require = "age >= 0", or with if = "..." and then = "...".
"""
_UNTYPED = """\
#
# The types of a CSV file come from its values, which were not read: only its header was. Say each `kind`.
"""


_AMOUNT = """\
# Its name is that of an amount: an "integer" or a "real" with lower, upper and scale = "log"?
"""
_CODE = """\
# Its name may be that of a code. If it may begin with 0, as 00123 does, list the codes as texts (kind = "categorical",
# values or values_from), or declare digits = 5: an "integer" is written without its zeros otherwise.
"""
_ORDERED = """\
# Stored as ordered categories: list `values` from least to greatest, or take `ordered` out where no order is meant.
"""
_NO_TEXT = """\
# Stored as {words}, of which nothing can be synthesized. Store it as a number or a text (a length of time as its
# seconds), or leave it out: `ignore` above the first column, or kind = "identifier".
"""

_TIMES: dict[str, Any] = {
    "kind": "datetime",
    "format": "%H:%M:%S",
    "lower": datetime(1900, 1, 1),
    "upper": datetime(1900, 1, 1, 23, 59, 59),
    "resolution": "1h",
}
"""The facts of times of day, which are those of the day that Python gives them."""


def draft(
    columns: Mapping[str, pa.DataType],
    *,
    name: str = "",
    typed: bool = True,
    decimal_char: str | None = None,
    encoding: str = UTF_8,
    untyped: Collection[str] = (),
) -> str:
    """TOML text for the columns of a table, each with `confirm = true`.

    `typed` is False where the storage has no types of its own, as with CSV: then no kind is proposed, as for columns
    that are `untyped`, those of Python objects. `decimal_char` is the sign of its numbers, where that is known, and
    `encoding` that of its file.
    """
    parts = [_HEAD + ("" if typed else _UNTYPED)]
    if name:
        parts.append(f"name = {toml_value(name)}\n")
    if encoding != UTF_8:
        parts.append(f"encoding = {toml_value(encoding)}\n")
    if decimal_char is not None:
        parts.append(f"decimal_char = {toml_value(decimal_char)}\n")
    if any(map(is_pattern, columns)):  # the names of a table are meant as they stand
        parts.append("exact_names = true\n")
    for column, kind in columns.items():
        known = typed and column not in untyped
        guessed = (_TIMES if pa.types.is_time(kind) else guess(column, kind)) if known else {"kind": UNKNOWN}
        asks = may_name_somebody(column)
        facts = {"confirm": True} | ({"kind": UNKNOWN} if asks else guessed)
        parts.append(
            toml_table(f"[columns.{toml_key(column)}]", facts)
            + (_choices(str(guessed["kind"])) if asks else "")
            + (_AMOUNT if facts["kind"] == UNKNOWN and not asks and _is_amount(column) else "")
            + (_NO_TEXT.format(words=storage_words(kind)) if typed and has_no_text(kind) else "")
            + (_ORDERED if "ordered" in facts else "")
            + (_CODE if not typed and may_be_code(column) else "")
        )
    return inert_toml("\n".join(parts))


def may_name_somebody(column: str) -> bool:
    """Whether its name is one that identifiers often have, which proves nothing."""
    return bool(_NAMES_SOMEBODY.search(column))


def _is_amount(column: str) -> bool:
    """Whether its name is that of an amount, most of which are small and a few very large."""
    return bool(_AMOUNTS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column)))


def _choices(kind: str) -> str:
    """What a column may be whose name looks like an identifier's: names prove nothing, so the draft asks."""
    others = {UNKNOWN: "or its own kind", "categorical": 'or "categorical"'}
    real = others.get(kind, f'or its own kind, such as "{kind}"')
    return (
        '# Its name may be that of an identifier, which proves nothing. Is it an "identifier" (left out with\n'
        f'# replace = "drop", made anew with "sequence" or "uuid"), {real}?\n'
    )


def guess(column: str, kind: pa.DataType) -> dict[str, Any]:
    """The facts that a column's type in storage suggests, those unknown among them."""
    bounds = {"lower": UNKNOWN, "upper": UNKNOWN}
    numbers = bounds | ({"scale": LOG} if _is_amount(column) else {})
    if pa.types.is_boolean(kind):
        return {"kind": "boolean"}
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return {"kind": "integer"} | numbers
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return {"kind": "real"} | numbers | _stored_decimals(kind)
    if pa.types.is_date(kind):
        return {"kind": "date"} | bounds
    if pa.types.is_timestamp(kind):
        return {"kind": "datetime"} | bounds | {"resolution": "1d"} | ({} if kind.tz is None else {"zone": UNKNOWN})
    if has_no_text(kind):
        return {"kind": UNKNOWN}
    return {"kind": "categorical", "values": []} | ({"ordered": True} if is_ordered_category(kind) else {})


def _stored_decimals(kind: pa.DataType) -> dict[str, int]:
    """The digits after the point that a type in storage has, such as 2 of `numeric(12,2)`, where they say something.

    Types with many more digits are often what a program gives to numbers of which it knows nothing, such as
    `decimal(38,18)`.
    """
    stated = pa.types.is_decimal(kind) and 0 < kind.scale <= _MOST_STORED_DECIMALS
    return {"decimals": kind.scale} if stated else {}
