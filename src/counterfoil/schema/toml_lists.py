"""Keys by which a schema file leaves lists to other files: they are replaced by the lists themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterfoil.schema.code_lists import CodeLists
from counterfoil.schema.errors import SchemaError

LIST_KEYS = ("values_from", "column", "key", "groups_from", "group_digits")


def in_full(place: str, table: Mapping[str, Any], lists: CodeLists) -> dict[str, Any]:
    """The table of a categorical column with `values` and `groups` in place of the keys that lead to them.

    Args:
        place: how sentences begin.
        table: the column's keys and values.
        lists: reads files.

    Raises:
        SchemaError: when a key has another type than it must, contradicts another, or leads nowhere.
    """
    said = {key: value for key, value in table.items() if key not in LIST_KEYS}
    if "values_from" in table:
        said["values"] = _values(place, table, lists)
    elif "column" in table or "key" in table:
        raise SchemaError(f"{place}`column` and `key` say where in a file the values are: give `values_from` too.")
    ways = [key for key in ("groups", "groups_from", "group_digits") if key in table]
    if len(ways) > 1:
        raise SchemaError(f"{place}give one of `groups`, `groups_from` and `group_digits`; found {' and '.join(ways)}.")
    if "groups_from" in table:
        said["groups"] = _listed_groups(place, table["groups_from"], _list(said.get("values")), lists)
    if "group_digits" in table:
        said["groups"] = _by_beginning(place, table["group_digits"], _list(said.get("values")))
    return said


def _values(place: str, table: Mapping[str, Any], lists: CodeLists) -> list[Any]:
    if "values" in table:
        raise SchemaError(f"{place}give either `values` or `values_from`; found both.")
    keys = table.get("key", [])
    keys = keys.split(".") if isinstance(keys, str) else keys
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise SchemaError(f'{place}`key` must be a text, such as "sex.values", or a list of texts; found {keys!r}.')
    column = text_of(place, "column", table.get("column", ""))
    return list(lists.values(place, text_of(place, "values_from", table["values_from"]), column=column, keys=keys))


def _listed_groups(place: str, name: Any, values: list[Any], lists: CodeLists) -> dict[str, list[Any]]:
    """The groups in a file, of the declared values: a public book of groups may list more than this table can hold."""
    known = {str(value): value for value in values}
    found = lists.groups(place, text_of(place, "groups_from", name))
    kept = {group: [known[str(value)] for value in members if str(value) in known] for group, members in found.items()}
    groups = {group: members for group, members in kept.items() if members}
    if not groups:
        raise SchemaError(f"{place}`groups_from` must group some of `values`. Found none of them in the file.")
    return groups


def _by_beginning(place: str, digits: Any, values: list[Any]) -> dict[str, list[Any]]:
    """Groups of the values whose texts begin with the same characters."""
    if not isinstance(digits, int) or isinstance(digits, bool) or digits < 1:
        raise SchemaError(f"{place}`group_digits` must be a whole number of at least 1; found {digits!r}.")
    groups: dict[str, list[Any]] = {}
    for value in values:
        groups.setdefault(str(value)[:digits], []).append(value)
    return groups


def _list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def text_of(place: str, key: str, value: Any) -> str:
    """The text under a key; raises SchemaError for another value."""
    if not isinstance(value, str):
        raise SchemaError(f"{place}`{key}` must be a text; found {value!r}.")
    return value
