"""Public facts about a table: columns, rules, and the TOML file that states them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil.schema.boolean import Boolean
    from counterfoil.schema.categorical import Categorical
    from counterfoil.schema.column import Column
    from counterfoil.schema.drafting import draft
    from counterfoil.schema.errors import SchemaError, UnconfirmedSchema, UnplacedValue
    from counterfoil.schema.identifier import Identifier
    from counterfoil.schema.instant import Date, Datetime
    from counterfoil.schema.integer import Integer
    from counterfoil.schema.real import Real
    from counterfoil.schema.rules import Rule, Zeros
    from counterfoil.schema.schema import Schema

_HOMES = {
    "Boolean": "boolean",
    "Categorical": "categorical",
    "Column": "column",
    "Date": "instant",
    "Datetime": "instant",
    "Identifier": "identifier",
    "Integer": "integer",
    "Real": "real",
    "Rule": "rules",
    "Schema": "schema",
    "SchemaError": "errors",
    "UnconfirmedSchema": "errors",
    "UnplacedValue": "errors",
    "Zeros": "rules",
    "draft": "drafting",
}

__all__ = [
    "Boolean",
    "Categorical",
    "Column",
    "Date",
    "Datetime",
    "Identifier",
    "Integer",
    "Real",
    "Rule",
    "Schema",
    "SchemaError",
    "UnconfirmedSchema",
    "UnplacedValue",
    "Zeros",
    "draft",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
