"""Whether a document has the shape of a receipt, by the JSON schema that is published with the package."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.inert import inert

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


@cache
def receipt_schema() -> dict[str, Any]:
    """The published JSON schema of a receipt."""
    return json.loads(files("counterfoil").joinpath("receipt.schema.json").read_text(encoding="utf-8"))


def require_shape(document: Any) -> None:
    """Checks `document` against `receipt_schema`.

    It understands the part of JSON Schema that the receipt's uses, so that reading a receipt needs no further
    library; the tests compare it with one.

    Raises:
        ValueError: for the first thing that is wrong, with its place.
    """
    problem = _receipt_check()(dict(document) if isinstance(document, Mapping) else document, None)
    if problem:
        raise ValueError(f"A receipt must have the published shape. {inert(problem)}")
    try:
        COMPOSITIONS[document["composition"]["rule"]]
    except KeyError:
        rule = inert(str(document["composition"]["rule"]))
        raise ValueError(
            f"A receipt must have the published shape. `composition.rule` names no rule: {rule}."
        ) from None


Place: TypeAlias = "tuple[Place, str | int] | None"
"""A part of a document: the part that holds it, with its name or its number there; None is all of it."""
_Check: TypeAlias = Callable[[Any, Place], str]
"""What is wrong with a value at a place, in a sentence; the empty text where nothing is."""


@cache
def _receipt_check() -> _Check:
    return _check(receipt_schema())


@cache
def _definition(name: str) -> _Check:
    return _check(receipt_schema()["$defs"][name])


def _check(rule: Mapping[str, Any]) -> _Check:
    """What a rule of the schema asks of a value. Thousands of values are checked in a run, by the same few rules."""
    if "$ref" in rule:
        name = rule["$ref"].rpartition("/")[2]
        return lambda value, place: _definition(name)(value, place)
    types = rule.get("type", [])
    names = [types] if isinstance(types, str) else types
    plain = {kind for name in names for kind in _TYPES[name]}
    plainly = [_plain_check(name, rule[name]) for name in ("const", "enum", "pattern") if name in rule]
    of_object, of_items, of_number = _object_check(rule), _items_check(rule), _number_check(rule)

    def check(value: Any, place: Place) -> str:
        kind = type(value)
        if names and kind not in plain and not any(_is(value, name) for name in names):
            return f"{_here(place)} must be {' or '.join(names)}. Found {_kind(value)}."
        for one in plainly:
            if problem := one(value, place):
                return problem
        if kind is str or kind is bool or value is None:
            return ""
        if isinstance(value, dict):
            return of_object(value, place)
        if isinstance(value, list):
            return of_items(value, place)
        return of_number(value, place) if isinstance(value, (int, float)) else ""

    return check


def _here(place: Place) -> str:
    return f"`{_named(place)}`" if _named(place) else "The document"


def _named(place: Place) -> str:
    if place is None:
        return ""
    parent, part = place
    return f"{_named(parent)}[{part}]" if isinstance(part, int) else f"{_named(parent)}.{part}".lstrip(".")


def _plain_check(name: str, wanted: Any) -> _Check:
    def check(value: Any, place: Place) -> str:
        if name == "const" and not _same(value, wanted):
            return f"{_here(place)} must be {wanted!r}. Found {value!r}."
        if name == "enum" and not any(_same(value, known) for known in wanted):
            return f"{_here(place)} must be one of {', '.join(map(str, wanted))}. Found {value!r}."
        if name == "pattern" and isinstance(value, str) and not _matches(wanted, value):
            return f"{_here(place)} must match {wanted}."
        return ""

    return check


def _matches(pattern: str, value: str) -> bool:
    """Whether `value` matches as JSON Schema has it, where `$` is the end of the text: Python's allows a newline."""
    return re.search(pattern, value) is not None and not (pattern.endswith("$") and value.endswith("\n"))


def _items_check(rule: Mapping[str, Any]) -> _Check:
    items = _check(rule["items"]) if rule.get("items") else _anything

    def check(value: list[Any], place: Place) -> str:
        return next(filter(None, (items(part, (place, i)) for i, part in enumerate(value))), "")

    return check


def _object_check(rule: Mapping[str, Any]) -> _Check:
    known = {name: _check(one) for name, one in rule.get("properties", {}).items()}
    required, closed = tuple(rule.get("required", ())), rule.get("additionalProperties") is False
    rest = _check(rule["additionalProperties"]) if rule.get("additionalProperties") else _anything

    def check(value: dict[str, Any], place: Place) -> str:
        for name in required:
            if name not in value:
                return f"{_here(place)} must hold `{name}`, which is not there."
        if closed:
            for name in value:
                if name not in known:
                    return f"{_here(place)} holds `{name}`, which no receipt has."
        for name, part in value.items():
            if problem := known.get(name, rest)(part, (place, name)):
                return problem
        return ""

    return check


@cache
def _anything_check() -> _Check:
    return _check({})


def _anything(value: Any, place: Place) -> str:
    """Numbers must be finite also where no rule speaks of them, however deep."""
    return _anything_check()(value, place)


_LARGEST = int(sys.float_info.max)


def _number_check(rule: Mapping[str, Any]) -> _Check:
    least, above = rule.get("minimum", -math.inf), rule.get("exclusiveMinimum", -math.inf)
    below = rule.get("exclusiveMaximum", math.inf)

    def check(value: float, place: Place) -> str:
        if isinstance(value, int) and abs(value) > _LARGEST:
            return f"{_here(place)} must be a number that a float holds. Found a larger one."
        if not math.isfinite(value):
            return f"{_here(place)} must be finite. Found {value}."
        if value < least:
            return f"{_here(place)} must be at least {least}. Found {value}."
        if value <= above:
            return f"{_here(place)} must be above {above}. Found {value}."
        if value >= below:
            return f"{_here(place)} must be below {below}. Found {value}."
        return ""

    return check


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _kind(value: Any) -> str:
    return next((name for name in _TYPES if _is(value, name)), type(value).__name__)


def _same(one: Any, other: Any) -> bool:
    """Equality as JSON has it: `true` is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
