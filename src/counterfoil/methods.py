"""The synthesizers by name, for whoever names a method instead of importing it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from counterfoil.schema.errors import did_you_mean

if TYPE_CHECKING:
    from counterfoil.curator.curator import Curator
    from counterfoil.synthesis import Synthesis

DEFAULT_DELTA = 1e-9
"""Far below one over the number of rows of any table."""

METHODS = {
    "aim": ("counterfoil.marginals.aim", "AIM"),
    "mst": ("counterfoil.marginals.mst", "MST"),
    "direct": ("counterfoil.marginals.direct", "Direct"),
    "independent": ("counterfoil.marginals.independent", "Independent"),
}


class Synthesizer(Protocol):
    """Public parameters, and one method that asks a curator."""

    def synthesize(
        self, curator: Curator, *, rows: int | None = None, progress: Callable[[str, float], None] = ...
    ) -> Synthesis:
        """A synthetic table within `curator.budget`."""
        ...


def method_named(name: str, **parameters: Any) -> Synthesizer:
    """The synthesizer called `name`, with those `parameters` that are not None.

    Raises:
        ValueError: for a name that no method has, or a parameter that this one has not.
    """
    if name not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}. Found {name!r}.{did_you_mean(name, METHODS)}")
    module, kind = METHODS[name]
    synthesizer = getattr(import_module(module), kind)
    known = {field.name for field in dataclasses.fields(synthesizer)}
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in given.keys() - known:
        raise ValueError(f"Method {name!r} takes no `{key}`: leave it out, or use {_that_take(key)}.")
    made: Synthesizer = synthesizer(**given)
    return made


def _that_take(parameter: str) -> str:
    fields = {name: dataclasses.fields(getattr(import_module(home), kind)) for name, (home, kind) in METHODS.items()}
    able = [name for name, known in fields.items() if parameter in {field.name for field in known}]
    return " or ".join(able) or "no method"
