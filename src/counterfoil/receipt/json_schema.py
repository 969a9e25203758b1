"""Whether a document has the shape of a receipt, by the JSON schema that is published with the package."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

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
    problem = _problem(dict(document) if isinstance(document, Mapping) else document, receipt_schema(), "")
    if problem:
        raise ValueError(f"A receipt must have the published shape. {inert(problem)}")
    try:
        COMPOSITIONS[document["composition"]["rule"]]
    except KeyError:
        rule = inert(str(document["composition"]["rule"]))
        raise ValueError(
            f"A receipt must have the published shape. `composition.rule` names no rule: {rule}."
        ) from None


def _problem(value: Any, rule: Mapping[str, Any], place: str) -> str:
    here = f"`{place}`" if place else "The document"
    if "$ref" in rule:
        return _problem(value, receipt_schema()["$defs"][rule["$ref"].rpartition("/")[2]], place)
    types = rule.get("type")
    if types is not None:
        names = [types] if isinstance(types, str) else types
        if not any(_is(value, name) for name in names):
            return f"{here} must be {' or '.join(names)}. Found {_kind(value)}."
    if "const" in rule and not _same(value, rule["const"]):
        return f"{here} must be {rule['const']!r}. Found {value!r}."
    if "enum" in rule and not any(_same(value, known) for known in rule["enum"]):
        return f"{here} must be one of {', '.join(map(str, rule['enum']))}. Found {value!r}."
    if isinstance(value, str) and "pattern" in rule and not _matches(rule["pattern"], value):
        return f"{here} must match {rule['pattern']}."
    if isinstance(value, dict):
        return _object_problem(value, rule, place, here)
    if isinstance(value, list):
        parts = (_problem(part, rule.get("items", {}), f"{place}[{i}]") for i, part in enumerate(value))
        return next(filter(None, parts), "")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number_problem(value, rule, here)
    return ""


def _matches(pattern: str, value: str) -> bool:
    """Whether `value` matches as JSON Schema has it, where `$` is the end of the text: Python's allows a newline."""
    return re.search(pattern, value) is not None and not (pattern.endswith("$") and value.endswith("\n"))


def _object_problem(value: dict[str, Any], rule: Mapping[str, Any], place: str, here: str) -> str:
    known = rule.get("properties", {})
    absent = [name for name in rule.get("required", ()) if name not in value]
    if absent:
        return f"{here} must hold `{absent[0]}`, which is not there."
    if rule.get("additionalProperties") is False:
        strange = [name for name in value if name not in known]
        if strange:
            return f"{here} holds `{strange[0]}`, which no receipt has."
    rest = rule.get("additionalProperties") or {}
    parts = (_problem(part, known.get(name, rest), f"{place}.{name}".lstrip(".")) for name, part in value.items())
    return next(filter(None, parts), "")


_LARGEST = int(sys.float_info.max)


def _number_problem(value: float, rule: Mapping[str, Any], here: str) -> str:
    if isinstance(value, int) and abs(value) > _LARGEST:
        return f"{here} must be a number that a float holds. Found a larger one."
    if not math.isfinite(value):
        return f"{here} must be finite. Found {value}."
    if value < rule.get("minimum", -math.inf):
        return f"{here} must be at least {rule['minimum']}. Found {value}."
    if value <= rule.get("exclusiveMinimum", -math.inf):
        return f"{here} must be above {rule['exclusiveMinimum']}. Found {value}."
    if value >= rule.get("exclusiveMaximum", math.inf):
        return f"{here} must be below {rule['exclusiveMaximum']}. Found {value}."
    return ""


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
