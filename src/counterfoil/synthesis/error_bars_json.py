"""Error bars of a release as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.error_bars import (
    ErrorBars,
    LaplaceMeasuredBound,
    MarginalBound,
    MeasuredBound,
    NoisyBound,
    PassedOverBound,
)

_BOUNDS = {
    "measured": MeasuredBound,
    "measured_laplace": LaplaceMeasuredBound,
    "told": NoisyBound,
    "passed_over": PassedOverBound,
}
_RENAMED = {"noisy_distance": "told", "told": "noisy_distance"}
"""From the fields of a bound to the keys of the file, and back, where they differ."""


def bars_to_json(bars: ErrorBars) -> dict[str, Any]:
    """The error bars of a release, as its folder keeps them."""
    kinds = {kind: name for name, kind in _BOUNDS.items()}
    return {
        "total": bars.total,
        "counted": bars.counted,
        "total_error": bars.total_error,
        **({"laplace": True} if bars.laplace else {}),
        "bounds": [
            {"attributes": list(clique), "kind": kinds[type(bound)], **_keyed(bound)}
            for clique, bounds in bars.bounds.items()
            for bound in bounds
        ],
    }


def _keyed(bound: MarginalBound) -> dict[str, float]:
    return {_RENAMED.get(name, name): value for name, value in asdict(bound).items()}


def bars_from_json(document: dict[str, Any], domain: Domain) -> ErrorBars:
    """What `bars_to_json` gave.

    Raises:
        ValueError, TypeError, KeyError: for anything else.
    """
    bounds: dict[Clique, tuple[MarginalBound, ...]] = {}
    for record in document["bounds"]:
        parameters = {_RENAMED.get(key, key): value for key, value in record.items()}
        clique = domain.canonical(parameters.pop("attributes"))
        bound: MarginalBound = _BOUNDS[parameters.pop("kind")](**parameters)
        bounds[clique] = (*bounds.get(clique, ()), bound)
    number, error, laplace = document["counted"], document["total_error"], document.get("laplace", False)
    if not isinstance(laplace, bool):
        raise TypeError("`laplace` must be true or false.")
    return ErrorBars(domain, bounds, document["total"], number, error, laplace)
