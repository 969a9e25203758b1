"""The interface of a method: public parameters, facts about the method, and a function that queries a curator.

Each method has a file of its own name in this folder, and nothing else lists methods: `registry` looks them up by
their file's name.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, Self

import pyarrow as pa

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.curator import Curator
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.time_limit import TimeLimit

DEFAULT_DELTA = 1e-9
"""Far below one over the number of rows of any table."""


class SyntheticRelease(Protocol):
    """What every method returns: a `Synthesis` of tables, a `PointSynthesis` of points."""

    @property
    def rows(self) -> int:
        """How many synthetic rows there are."""
        ...

    @property
    def receipt(self) -> Receipt:
        """The receipt of the release."""
        ...

    def to_arrow(self) -> pa.Table:
        """The synthetic rows."""
        ...

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the rows to a .csv or .parquet file, whole or not at all."""
        ...


class Synthesizer(Protocol):
    """Public parameters, and one function that queries a curator. A user's own synthesizer needs no more.

    One whose `takes_time_limit` is true also gets a `time_limit`, a `TimeLimit`, where its user gives one.
    """

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = ...) -> SyntheticRelease:
        """A synthetic table within `curator.budget`. The curator is closed by whoever opened it."""
        ...


class Method(ABC):
    """A synthesizer that can be named. A frozen dataclass, whose fields are its public parameters.

    Attributes:
        default_delta: the delta where its user gives none; 0 for methods with pure privacy.
        default_relation: which tables are neighbors where its user does not say.
        gives_points: whether its rows are points near the records, instead of draws from a model of the table; fidelity
            can be measured for the latter alone.
        holds_rows: whether all its rows may be in memory at once, as those of points always are; the rows of others
            are written as they are drawn.
        presets: names of parameter sets that `of_preset` knows; the first is the default.
    """

    default_delta: ClassVar[float] = DEFAULT_DELTA
    default_relation: ClassVar[NeighboringRelation] = NeighboringRelation.ADD_OR_REMOVE_ONE
    gives_points: ClassVar[bool] = False
    holds_rows: ClassVar[bool] = False
    presets: ClassVar[tuple[str, ...]] = ()

    @property
    def can_reserve(self) -> bool:
        """Whether it leaves a share of the budget to later questions where one is reserved; not where noise is planned
        as a whole before the first answer."""
        return True

    @property
    def takes_time_limit(self) -> bool:
        """Whether `synthesize` takes a `time_limit`; only methods whose fits can end early do."""
        return False

    @abstractmethod
    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> SyntheticRelease:
        """A synthetic table within `curator.budget`."""

    @classmethod
    def of_preset(cls, name: str, **parameters: Any) -> Self:
        """The method with the parameters that are called `name`, changed by `parameters`.

        Raises:
            ValueError: for a name that is none of `presets`.
        """
        raise ValueError(f"This method takes no `preset`. Found {name!r}: leave it out.")

    @classmethod
    def focus_for(cls, target: str | None, **parameters: Any) -> str | None:
        """The `focus` that a method with `parameters` gets where its user named a `target`; None without one."""
        return None


def time_limit_for(asked: TimeLimit | float | None, synthesizer: Synthesizer) -> TimeLimit | None:
    """The limit that is asked for; None where there is none.

    Args:
        asked: a limit, or seconds.
        synthesizer: whose fits it ends.

    Raises:
        ValueError: for a limit that is not positive and finite, or a synthesizer that takes none.
    """
    limit = TimeLimit.of(asked)
    if limit is not None and not getattr(synthesizer, "takes_time_limit", False):
        raise ValueError(
            "`time_limit` needs a method that fits a graphical model: aim, mst, direct with its default estimator, or "
            f"independent. Found {type(synthesizer).__name__}, whose own parameters bound its work: leave it out."
        )
    return limit
