"""Which reference density a user means: an object, a name, a release, or none."""

from __future__ import annotations

import os
from pathlib import Path

from counterfoil.reweighting.histogram import PerturbedHistogram
from counterfoil.reweighting.point_reference import BernsteinDensity, Tree
from counterfoil.reweighting.reference import Product, Reference, Uniform, is_continuous
from counterfoil.reweighting.saved_reference import SavedRelease
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis

ReferenceWish = Reference | Synthesis | PointSynthesis | str | os.PathLike[str] | None

BY_NAME: dict[str, type[Reference]] = {
    kind.name: kind for kind in (Product, Uniform, PerturbedHistogram, BernsteinDensity, Tree)
}


def reference_of(wish: ReferenceWish, schema: Schema) -> Reference:
    """The reference that `wish` names: for tables of real numbers a density of points, for others one of codes.

    Raises:
        ValueError: for a name that none has, which is no path of a release either.
        OSError: when a release can't be read.
    """
    if isinstance(wish, Reference):
        return wish
    if isinstance(wish, (Synthesis, PointSynthesis)):
        return SavedRelease.of(wish)
    if wish is None:
        return Tree() if is_continuous(schema) else Product()
    name = os.fspath(wish)
    if name in BY_NAME:
        return BY_NAME[name]()
    if not Path(name).exists():
        raise ValueError(
            f"`reference` must be {', '.join(BY_NAME)}, or the path of a release. Found {name!r}."
            f"{did_you_mean(name, BY_NAME)}"
        )
    return SavedRelease.load(name, schema)
