"""What a gradient is asked with, as plain values that nobody can change between its charge and its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterfoil.features.training_features import TrainingFeatures

if TYPE_CHECKING:
    from counterfoil.networks.network import Network
    from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm

_SMALLEST_BOUND = 1e-30


def require_ours(features: TrainingFeatures, network: Network) -> None:
    """Refuses classes of a user's own, which would read records without having been tried.

    Raises:
        ValueError: for a subclass of either, too.
    """
    from counterfoil.networks.network import Network

    if type(features) is not TrainingFeatures or type(network) is not Network:
        raise ValueError(
            "Gradients are asked for with `TrainingFeatures` and a `Network`. Found other classes: wrap a module of "
            "your own with `Network.wrap`."
        )


def require_fixed(**sizes: Sequence[int]) -> None:
    """Refuses what could be changed once it was charged.

    Raises:
        ValueError: for anything but a tuple of whole numbers.
    """
    for name, value in sizes.items():
        if type(value) is not tuple or any(type(each) is not int for each in value):
            raise ValueError(f"`{name}` must be a tuple of whole numbers. Found {value!r}.")


def plain_loss(loss: LossTerm) -> LossTerm:
    """A copy of Python's own numbers and texts: neither what is charged nor what is answered reads an object twice.

    Raises:
        ValueError: where one of its values is out of range, or of another kind.
    """
    from counterfoil.networks.penalized_gradient import LossTerm

    outputs, name = loss.outputs, loss.name
    require_fixed(outputs=outputs)
    _require_text(name=name)
    return LossTerm(name, outputs, **moderate(clip_norm=loss.clip_norm, largest=loss.largest))


def plain_transport(term: TransportTerm) -> TransportTerm:
    """The same of a penalty."""
    from counterfoil.networks.penalized_gradient import TransportTerm

    pairs, outputs, link, clipping = term.pairs, term.outputs, term.link, term.clipping
    require_fixed(outputs=outputs)
    _require_text(link=link)
    require_clipping(clipping)
    if type(pairs) is not tuple or not pairs or any(type(pair) is not tuple or len(pair) != 3 for pair in pairs):
        raise ValueError("A penalty compares at least one pair of groups, in a tuple. Found none, or a list.")
    plain = tuple((one, other, moderate(weight=weight)["weight"]) for one, other, weight in pairs)
    bounds = moderate(bound=term.bound, jacobian_norm=term.jacobian_norm)
    return TransportTerm(plain, outputs, link, float(term.center), **bounds, clipping=clipping)


def _require_text(**texts: str) -> None:
    for name, value in texts.items():
        if type(value) is not str:
            raise ValueError(f"`{name}` must be a text. Found {type(value).__name__}.")


def moderate(**bounds: float) -> dict[str, float]:
    """Bounds as Python's own floats; refuses those whose products or squares could leave the range of floats for some
    records and not for others.

    Raises:
        ValueError: with the name of the bound.
    """
    plain = {}
    for name, value in bounds.items():
        plain[name] = float(value) if isinstance(value, (int, float)) else math.nan
        if not _SMALLEST_BOUND <= plain[name] <= 1 / _SMALLEST_BOUND:
            raise ValueError(
                f"`{name}` must be a number from {_SMALLEST_BOUND:g} to {1 / _SMALLEST_BOUND:g}. Found {value!r}."
            )
    return plain


def require_clipping(name: str) -> None:
    """Refuses a clipping that is none before it is charged.

    Raises:
        ValueError: for another name.
    """
    if type(name) is not str or name not in ("spectral", "components"):
        raise ValueError(f'`clipping` must be "spectral" or "components". Found {name!r}: choose "spectral".')
