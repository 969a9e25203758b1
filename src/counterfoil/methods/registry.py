"""The methods by name. A method has the name of its file."""

from __future__ import annotations

import dataclasses
import inspect
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import counterfoil.methods as folder
from counterfoil.methods.method import Method
from counterfoil.schema.errors import did_you_mean

_NO_METHODS = ("method", "registry")


def method_names() -> tuple[str, ...]:
    """All names, without importing any method."""
    return tuple(
        module.name.replace("_", "-") for module in iter_modules(folder.__path__) if module.name not in _NO_METHODS
    )


def method_type(name: str) -> type[Method]:
    """The class of the method called `name`.

    Raises:
        ValueError: for a name that no method has.
    """
    names = method_names()
    if name not in names:
        raise ValueError(f"`method` must be one of {', '.join(names)}. Found {name!r}.{did_you_mean(name, names)}")
    module = import_module(f"{folder.__name__}.{name.replace('-', '_')}")
    (method,) = (
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Method) and kind.__module__ == module.__name__
    )
    return method


def method_named(name: str, *, preset: str | None = None, **parameters: Any) -> Method:
    """The method called `name`, with those `parameters` that are not None.

    `preset` names a set of parameters, for methods that have such.

    Raises:
        ValueError: for a name that no method has, or a parameter that this one has not.
    """
    kind = method_type(name)
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in given.keys() - _parameters(kind):
        raise ValueError(f"Method {name!r} takes no `{key}`: leave it out, or use {_that_take(key)}.")
    if preset is not None and not kind.presets:
        with_presets = [other for other in method_names() if method_type(other).presets]
        raise ValueError(f"Method {name!r} takes no `preset`: leave it out, or use {' or '.join(with_presets)}.")
    return kind.of_preset(preset or kind.presets[0], **given) if kind.presets else kind(**given)


JUDGED = "Releases can be judged by what they measure, accepted or withheld,"
"""What acceptance asks of a method, for `require_fidelity_possible`."""


def require_fidelity_possible(name: str, *, asked: str = "Fidelity can be measured") -> None:
    """Refuses to measure the fidelity of a method whose rows are points.

    Args:
        name: of the method.
        asked: what is to be done, as the sentence says it.

    Raises:
        ValueError: naming the methods that can be measured.
    """
    if method_type(name).gives_points:
        able = ", ".join(other for other in method_names() if not method_type(other).gives_points)
        raise ValueError(f"{asked} for the methods {able}. Found {name!r}.")


def class_that_takes(parameter: str) -> str | None:
    """The name of the first class of a method that has such a parameter."""
    kinds = map(method_type, method_names())
    return next((kind.__name__ for kind in kinds if parameter in _parameters(kind)), None)


def _parameters(kind: type[Method]) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]


def _that_take(parameter: str) -> str:
    return " or ".join(name for name in method_names() if parameter in _parameters(method_type(name))) or "no method"
