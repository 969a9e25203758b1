"""The synthesizers by name, for whoever names a method instead of importing it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from counterfoil.schema.errors import did_you_mean

if TYPE_CHECKING:
    import os

    import pyarrow as pa

    from counterfoil.curator.curator import Curator
    from counterfoil.receipt.receipt import Receipt

DEFAULT_DELTA = 1e-9
"""Far below one over the number of rows of any table."""

METHODS = {
    "aim": ("counterfoil.marginals.aim", "AIM"),
    "mst": ("counterfoil.marginals.mst", "MST"),
    "direct": ("counterfoil.marginals.direct", "Direct"),
    "independent": ("counterfoil.marginals.independent", "Independent"),
    "evolution": ("counterfoil.evolution.private_evolution", "PrivateEvolution"),
    "signed-measure": ("counterfoil.measures.signed_measure", "SignedMeasure"),
    "measure-tree": ("counterfoil.measures.measure_tree", "MeasureTree"),
}

POINT_METHODS = frozenset({"evolution", "signed-measure", "measure-tree"})
"""Methods that give points near the records instead of a model of the table."""

PURE_UNLESS_ASKED = frozenset({"signed-measure", "measure-tree"})
"""Methods whose delta is 0 where none is given."""


def default_delta(method: str) -> float:
    """The delta of `method` where its user gives none."""
    return 0.0 if method in PURE_UNLESS_ASKED else DEFAULT_DELTA


class Made(Protocol):
    """What every synthesizer returns: a `Synthesis` of tables, a `PointSynthesis` of points."""

    @property
    def rows(self) -> int:
        """How many synthetic rows there are."""
        ...

    @property
    def receipt(self) -> Receipt:
        """What they cost."""
        ...

    def to_arrow(self) -> pa.Table:
        """The synthetic rows."""
        ...

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the rows to a .csv or .parquet file, whole or not at all."""
        ...


class Synthesizer(Protocol):
    """Public parameters, and one method that asks a curator."""

    def synthesize(
        self, curator: Curator, *, rows: int | None = None, progress: Callable[[str, float], None] = ...
    ) -> Made:
        """A synthetic table within `curator.budget`."""
        ...


def require_fidelity_possible(method: str) -> None:
    """Refuses error measures of a method whose rows are points.

    Raises:
        ValueError: naming the methods that can be measured.
    """
    if method in POINT_METHODS:
        able = ", ".join(name for name in METHODS if name not in POINT_METHODS)
        raise ValueError(f"Error measures can be bought for the methods {able}. Found {method!r}.")


def default_focus(method: str, target: str | None, variant: str | None = None) -> str | None:
    """The focus of `method` where a target was named: AIM alone has one, and as published it has not."""
    return target if method == "aim" and variant != "published" else None


def method_named(name: str, *, preset: str | None = None, **parameters: Any) -> Synthesizer:
    """The synthesizer called `name`, with those `parameters` that are not None.

    `preset` names an algorithm of Private Evolution, for that method alone.

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
    if preset is not None and name != "evolution":
        raise ValueError(f"Method {name!r} takes no `preset`: leave it out, or use evolution.")
    if name == "evolution":
        evolved: Synthesizer = synthesizer.preset(preset or "bounded-lipschitz", **given)
        return evolved
    made: Synthesizer = synthesizer(**given)
    return made


def _that_take(parameter: str) -> str:
    fields = {name: dataclasses.fields(getattr(import_module(home), kind)) for name, (home, kind) in METHODS.items()}
    able = [name for name, known in fields.items() if parameter in {field.name for field in known}]
    return " or ".join(able) or "no method"
