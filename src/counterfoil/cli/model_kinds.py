"""The kinds of models that `counterfoil train` makes, and which options each has."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ModelKind:
    """A kind of model.

    Args:
        name: on the command line, on receipts and in saved folders.
        home: the module of its class.
        type_name: its class.
        package: what must be installed for it.
    """

    name: str
    home: str
    type_name: str
    package: str = "torch"

    @property
    def type(self) -> Any:
        """The class, imported when it is first asked for."""
        return getattr(import_module(f"counterfoil.training.{self.home}"), self.type_name)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """What the constructor takes."""
        return frozenset(each.name for each in fields(self.type) if each.init)

    @cached_property
    def wishes(self) -> frozenset[str]:
        """What `fit` takes."""
        return frozenset(inspect.signature(self.type.fit).parameters) - {"self"}

    def takes(self, option: str) -> bool:
        """Whether the kind has the option `--option`."""
        return _PART_OF.get(option, option) in self.parameters | self.wishes

    def needs(self, option: str) -> bool:
        """Whether the kind can't do without `--option`."""
        wish = inspect.signature(self.type.fit).parameters.get(option)
        compares = option == "protected" and "penalty" in self.parameters
        return compares or (wish is not None and wish.default is wish.empty)

    def require_options(self, given: Iterable[str]) -> None:
        """Refuses options that the kind does not have, and asks for those that it needs.

        Raises:
            ValueError: naming the option.
        """
        options = list(given)
        for option in options:
            if not self.takes(option):
                takers = [name for name, kind in KINDS.items() if kind.takes(option)]
                kinds = " and ".join([", ".join(takers[:-1]), takers[-1]] if takers[1:] else takers)
                raise ValueError(f"`--{_dashed(option)}` goes with {kinds}. Found it with {self.name}: leave it out.")
        for option, words in _NEEDED.items():
            if self.needs(option) and option not in options:
                raise ValueError(f"`{self.name}` needs --{option}, {words}. Found none.")

    def require_installed(self) -> None:
        """Refuses to begin without the package that the kind needs.

        Raises:
            ValueError: with how to install it.
        """
        from counterfoil.curator.teachers import require_scikit_learn
        from counterfoil.networks import require_torch

        try:
            (require_torch if self.package == "torch" else require_scikit_learn)()
        except ImportError as error:
            raise ValueError(str(error)) from None


KINDS = {
    kind.name: kind
    for kind in (
        ModelKind("fair-classifier", "fair_models", "FairClassifier"),
        ModelKind("fair-regressor", "fair_models", "FairRegressor"),
        ModelKind("fair-encoder", "fair_encoder", "FairEncoder"),
        ModelKind("dp-sgd", "classification", "DPSGDClassifier"),
        ModelKind("sliced-wasserstein-generator", "sliced_wasserstein_generator", "SlicedWassersteinGenerator"),
        ModelKind("pate", "pate", "PATEClassifier", package="scikit-learn"),
    )
}

_PART_OF = {"max_rows": "privacy_unit", "resume": "checkpoint"}

_NEEDED = {
    "target": "the column to predict",
    "protected": "the column whose groups are treated alike",
    "public": "rows that need no protection",
}


def kind_named(name: str) -> ModelKind:
    """The kind called `name`.

    Raises:
        ValueError: where there is none.
    """
    from counterfoil.schema.errors import did_you_mean

    if name not in KINDS:
        raise ValueError(f"KIND must be one of {', '.join(KINDS)}. Found {name!r}.{did_you_mean(name, KINDS)}")
    return KINDS[name]


def loaded_model(folder: Path, device: str | None = None) -> Any:
    """The model that `counterfoil train` wrote to `folder`, on `device`: see `PrivateModel.load`.

    Raises:
        ValueError: for any other folder, one that was changed since, a device that this machine lacks or the model has
            no use for, or without the package that the model needs.
    """
    from counterfoil.json_text import json_file

    try:
        facts = json_file(folder / "model.json", "the description of a model", finite=False)
        kind = KINDS[facts["kind"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"MODEL must be a folder that `counterfoil train` wrote. Found {str(folder)!r}.") from None
    kind.require_installed()
    if device is None:
        return kind.type.load(folder)
    if kind.package != "torch":
        raise ValueError(f"--device is for networks. A model of kind {kind.name} has none: leave it out.")
    return kind.type.load(folder, device=device)


def _dashed(option: str) -> str:
    return option.replace("_", "-")
