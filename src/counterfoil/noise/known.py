"""Which noise a record, or an event, stands for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from counterfoil.accounting.event import GaussianEvent, PrivacyEvent, PureEvent
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.noise import CountNoise, Noise


def noise_from_json(record: Mapping[str, Any]) -> Noise:
    """The noise that `to_json` wrote, of this folder or any other class that has been imported.

    Raises:
        ValueError: for an unknown kind, or parameters that are not its own.
    """
    parameters = {name: value for name, value in record.items() if name != "kind"}
    known = _by_kind()
    if record.get("kind") not in known:
        raise ValueError(f"A noise must be one of {', '.join(sorted(known))}. Found {record.get('kind')!r}.")
    try:
        return known[record["kind"]](**parameters)
    except TypeError as error:
        raise ValueError(f"A noise of kind {record['kind']!r} has the wrong parameters: {parameters}.") from error


def noise_of(event: PrivacyEvent) -> CountNoise:
    """The noise on counts whose event is `event`.

    Raises:
        ValueError: for an event that no noise on counts has.
    """
    if isinstance(event, GaussianEvent):
        return GaussianNoise(event.noise_multiplier)
    if isinstance(event, PureEvent):
        return LaplaceNoise(event.epsilon)
    raise ValueError(f"Noise on counts costs a Gaussian or a pure event. Found {event}.")


def require_known(noise: Noise) -> None:
    """Refuses a noise whose kind is another class's: receipts would call it by that one's name.

    Raises:
        ValueError: for a class that no module has defined with a `kind` of its own.
    """
    if _by_kind().get(noise.kind) is not type(noise):
        raise ValueError(
            f"A noise has a `kind` of its own, by which receipts name it. {type(noise).__name__} has that of another: "
            "use the noise of that kind, or give yours another `kind`."
        )


def _by_kind() -> dict[str, type[Noise]]:
    """Classes by kind, those of this folder first: nobody else's takes their kinds. Others may come at any time."""
    import counterfoil.noise as folder

    _import_all(tuple(folder.__path__))
    waiting: list[type[Any]] = [Noise]
    classes: list[type[Any]] = []
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        classes += [kind] if "kind" in vars(kind) else []
    ours = f"{folder.__name__}."
    classes.sort(key=lambda kind: kind.__module__.startswith(ours))
    return {kind.kind: kind for kind in classes}


@cache
def _import_all(places: tuple[str, ...]) -> None:
    """Imports what lies in the `places` of this folder, once for each: every charge asks for them."""
    for module in iter_modules(places):
        import_module(f"counterfoil.noise.{module.name}")
