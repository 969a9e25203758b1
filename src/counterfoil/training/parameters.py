"""The parameters of an estimator's constructor, as scikit-learn reads and changes them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self


class Parameters:
    """Gives a dataclass `get_params` and `set_params`, so that `sklearn.base.clone` and grids take it."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters, by name, as scikit-learn asks for them."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}  # type: ignore[arg-type]

    def set_params(self, **parameters: Any) -> Self:
        """Changes parameters of the constructor: all of them, or none where one is wrong.

        Raises:
            ValueError: for a name that is none, and a value that the constructor refuses.
        """
        known = self.get_params()
        for name in parameters:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}. It has {', '.join(known)}.")
        type(self)(**known | parameters)
        for name, value in parameters.items():
            setattr(self, name, value)
        return self
