"""Reading `[[derived]]` from a schema file, and where in the order of columns each stands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from counterfoil.schema.code_lists import CodeLists
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.lookup import Entry
from counterfoil.schema.patterns import Pattern, matches
from counterfoil.schema.toml_lists import text_of
from counterfoil.schema.values import has_two_readings, parse_number

Item = Column | Identifier | Pattern | Derived
_KEYS = (
    *("name", "kind", "expression", "lookup", "on", "value", "after", "description"),
    *("true", "false", "format", "zone", "digits", "decimals", "decimal_char"),
)
_NOTATION: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "true": ((str, int), "a text or a whole number"),
    "false": ((str, int), "a text or a whole number"),
    "format": (str, "a text"),
    "zone": (str, "a text"),
    "digits": (int, "a whole number"),
    "decimals": (int, "a whole number"),
    "decimal_char": (str, '"," or "."'),
}
"""What a key that says how values are written must hold, by its type and in words."""
_WORDS: Mapping[str, str] = {
    "lookup": "the file of the lookup table, or its rows",
    "on": "the list of the columns that are its keys",
    "value": "the column of the file that has the results",
}
_NEAR: Mapping[str, Sequence[str]] = {
    "lookup": ("lookup_from", "values_from", "file", "table", "map", "mapping", "path"),
    "on": ("key", "keys", "by", "from", "column", "columns"),
    "value": ("values", "result", "results", "value_column", "value_from"),
}
"""What people write for the keys of a lookup table."""
_FOLLOWING = ("missing", "missing_values", "lower", "upper", "other", "bins", "edges", "resolution", "points", "step")
"""Facts of other columns that follow, for a derived one, from what it is derived from."""
_TRUTHS = {"true": True, "false": False, "1": True, "0": False}


def read_derived(position: int, table: Mapping[str, Any], lists: CodeLists) -> Derived:
    """The column that one table `[[derived]]` declares.

    Raises:
        SchemaError: which names the column and the key.
    """
    name = text_of(f"derived {position}: ", "name", table.get("name", ""))
    if not name:
        raise SchemaError(f"derived {position} needs `name`: the column's.")
    place = f"column {name!r} (derived): "
    for key in table:
        if key not in _KEYS:
            raise SchemaError(f"{place}unknown key `{key}`.{_meant(key)}")
    if "kind" not in table:
        raise SchemaError(f"{place}it needs `kind`: that of its values.")
    kind, expression = (text_of(place, key, table.get(key, "")) for key in ("kind", "expression"))
    on = table.get("on", [])
    if not isinstance(on, list) or not all(isinstance(column, str) for column in on):
        raise SchemaError(f'{place}`on` must be a list of texts, such as ["district"]; found {on!r}.')
    notation = {key: table[key] for key in _NOTATION if key in table}
    for key, value in notation.items():
        kinds, words = _NOTATION[key]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise SchemaError(f"{place}`{key}` must be {words}; found {value!r}.")
        if key in ("format", "zone", "digits", "decimal_char") and not value:
            raise SchemaError(f"{place}`{key}` must be something; found {value!r}. Leave it out to have none.")
    lookup = _lookup(place, table, kind, lists)
    return Derived(name, kind, expression=expression, on=tuple(on), lookup=lookup, **notation)


def _meant(key: str) -> str:
    """A hint for an unknown key, to append to a sentence."""
    for known, others in _NEAR.items():
        if key.casefold() in others:
            return f" Did you mean `{known}`, {_WORDS[known]}?"
    if key in _FOLLOWING:
        return " Leave it out: which values a derived column has follows from the columns that it is derived from."
    return did_you_mean(key, _KEYS) or f" Known: {', '.join(_KEYS)}."


def placed(items: Sequence[Item], derived: Sequence[tuple[Derived, str | None]]) -> list[Item]:
    """The columns with the derived ones among them: each after the column that it names, or at the end.

    Args:
        items: the other columns and the patterns, in order.
        derived: each with the name that it comes after; "" for the first place, None for the last.

    Raises:
        SchemaError: where there is no such column.
    """
    order, behind = list(items), {item.name: item.name for item in items}
    for column, after in derived:
        if after is None:
            order.append(column)
        elif after and after not in behind:
            remedy = _instead(items, after) or did_you_mean(after, behind)
            raise SchemaError(
                f"column {column.name!r} (derived): `after` must name a column or pattern that is declared; found "
                f"{after!r}.{remedy}"
            )
        else:
            last = behind.get(after)
            order.insert(0 if last is None else 1 + next(i for i, x in enumerate(order) if x.name == last), column)
            behind[after] = column.name
        behind.setdefault(column.name, column.name)
    return order


def _instead(items: Sequence[Item], after: str) -> str:
    """What to write for a place after one column of a pattern; where that is depends on the table's order."""
    for item in items:
        if isinstance(item, Pattern) and matches(item.name, after):
            return (
                f" The entry of that column is the pattern {item.name!r}: write `after = {json.dumps(item.name)}` for "
                f"the place after all its columns, or give {after!r} an entry of its own."
            )
    return ""


def after_of(table: Mapping[str, Any]) -> str | None:
    """What a table `[[derived]]` says of its place."""
    return text_of("derived: ", "after", table["after"]) if "after" in table else None


def _lookup(place: str, table: Mapping[str, Any], kind: str, lists: CodeLists) -> tuple[tuple[Entry, ...], ...]:
    found = table.get("lookup", [])
    if isinstance(found, list):
        if "value" in table:
            raise SchemaError(f"{place}`value` names a column of a file; give `lookup` as the name of one.")
        if not all(isinstance(row, list) and all(isinstance(entry, Entry) for entry in row) for row in found):
            raise SchemaError(f'{place}`lookup` must be a file or a list of rows, such as [["a", 1]]; found another.')
        return tuple(map(tuple, found))
    if not isinstance(found, str):
        raise SchemaError(f'{place}`lookup` must be a file or a list of rows, such as [["a", 1]]; found {found!r}.')
    name, value = found, text_of(place, "value", table.get("value", ""))
    if not value:
        raise SchemaError(f"{place}it needs `value`: the column of {name} that has the results.")
    made: list[tuple[Entry, ...]] = []
    for position, cells in enumerate(lists.table(place, name, [*table.get("on", []), value]), 1):
        *keys, text = cells
        if not text:
            continue  # a key without a result, as one that is not listed
        if kind == "real" and has_two_readings(text, str(table.get("decimal_char", ""))):
            raise SchemaError(
                f"{place}row {position} of {name} must have plain digits with an optional point in {value!r}. Found "
                f"{text!r}, which is another number with `decimal_char`: where 1.234 is meant, write 1.2340."
            )
        result = _result(kind, text, {str(table[key]).casefold(): key == "true" for key in _TRUTHS if key in table})
        if result is None:
            raise SchemaError(f"{place}row {position} of {name} must have a value of kind {kind!r} in {value!r}.")
        made.append((*keys, result))
    if not made:
        raise SchemaError(f"{place}{name} must have a row with a result. Found none.")
    return tuple(made)


def _result(kind: str, text: str, labels: Mapping[str, bool]) -> Entry | None:
    if kind == "integer":
        return int(text) if re.fullmatch(r"[+-]?\d{1,19}", text, re.ASCII) else None
    if kind == "real":
        number = parse_number(text, {})
        return number if abs(number) < float("inf") else None
    if kind == "boolean":
        return {**_TRUTHS, **labels}.get(text.casefold())
    if kind == "date":
        try:
            return date.fromisoformat(text)
        except ValueError:
            return None
    return text
