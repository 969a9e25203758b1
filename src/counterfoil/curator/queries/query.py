"""Queries: the statistics that may be computed from the sensitive table.

A query is a frozen dataclass. Its fields are public: they may be printed, stored and repeated. What is sensitive
reaches it only as the argument `records`, behind the wall. Queries are a closed set by type (`registry`): a new one
needs a proof of its sensitivity in its docstring and joins the conformance test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block as Block  # part of what a query is written against
from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.parts import Part
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique
from counterfoil.domain.layout import StackedCounts
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.noise import Norm
from counterfoil.schema.schema import Schema


class Records(Protocol):
    """The sensitive table as queries see it: a sum over its records, or all of them divided at random."""

    def marginals(self, cliques: Sequence[Clique], coarsening: Coarsening | None = None) -> list[np.ndarray]:
        """Exact counts, one int64 array shaped by the (coarsened) domain for each clique; counted once and kept."""
        ...

    def distances(self, estimate: StackedCounts, coarsening: Coarsening | None = None) -> np.ndarray:
        """int64 [cliques]: the L1 distance of the exact counts of each clique from `estimate`."""
        ...

    def fold(
        self, partial: Callable[[Block], np.ndarray], columns: Sequence[str], numbers: Sequence[str] = ()
    ) -> np.ndarray:
        """The sum of `partial` over blocks of records, wherever they are stored.

        Args:
            partial: gives arrays of one shape; zeros for an empty block.
            columns: whose codes it reads.
            numbers: ordered columns whose values it reads.
        """
        ...

    def fold_placements(self, partial: Callable[[Block], np.ndarray], columns: Sequence[str]) -> np.ndarray:
        """The sum of `partial` over blocks of records of which it reads how the cells of `columns` were placed."""
        ...

    def unit_sizes(self, most: int) -> np.ndarray:
        """int64 [most]: how many privacy units have at least 1, 2, ..., `most` records; each is one without a unit."""
        ...

    def tally(self, columns: Sequence[str], wanted: Wanted) -> Iterator[Tallied]:
        """Each text in each of `columns` that is wanted once, with what it counts, part by part."""
        ...

    def parts(self, features: TrainingFeatures, count: int) -> Iterator[Part]:
        """Each record in one of `count` parts, chosen by random bits of its own and anew in each call."""
        ...


class Query(ABC):
    """A query: public parameters, an exact answer behind the wall, and words for a receipt.

    Attributes:
        name: the name that ledgers and receipts write; never changed once the query has been released.
        question: what the query computes, in words for a privacy officer.
    """

    name: ClassVar[str]
    question: ClassVar[str]

    def check(self) -> None:
        """What was required of the fields when they were given, once more: arrays may have changed since."""
        if (required := getattr(self, "__post_init__", None)) is not None:
            required()

    def require_fits(self, schema: Schema) -> None:  # noqa: B027 - most queries fit any schema of their domain
        """Refuses the records of a schema that the query was not made for: its functions would be of other values.

        Raises:
            ValueError: with what differs.
        """

    def require_telling(self, public: Records) -> None:  # noqa: B027 - what is shipped always says something
        """Refuses what a user put into the query where it is no number on any of many public records.

        Raises:
            ValueError: naming it.
        """

    @abstractmethod
    def exact(self, records: Records) -> np.ndarray:
        """The noiseless answer, which never leaves the curator."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""

    @staticmethod
    @abstractmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        """The sensitivity once more, from what `describe` gave: a receipt is checked against it.

        It is written apart from the sensitivities of the query, on purpose; a test compares the two.

        Args:
            parameters: as they stand on a receipt.
            moved: how many cells of a partition one record changes at most: 1 when it is added or removed, 2 when it
                is replaced.
            norm: the norm of the noise, None for selections.

        Raises:
            KeyError, TypeError, ValueError: for parameters that are not those of the query.
        """


class CountQuery(Query):
    """A query whose answer is a vector of integers, int64 [cells], to which noise is added."""

    @staticmethod
    def unit(parameters: Mapping[str, Any]) -> float:
        """The integer that stands for 1, which is the most that a record counts in one number of the answer.

        Args:
            parameters: as they stand on a receipt.

        Raises:
            KeyError, TypeError, ValueError: for parameters that are not those of the query.
        """
        return 1.0

    @classmethod
    def units(cls, parameters: Mapping[str, Any]) -> Sequence[float]:
        """The same for each part of the answer, where parts differ in it."""
        return [cls.unit(parameters)]

    @abstractmethod
    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes the answer in l1 norm, all parts taken together."""

    @abstractmethod
    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes the answer in l2 norm, all parts taken together."""


class SelectionQuery(Query):
    """A query that scores candidates, float64 [candidates], of which one with a high score is chosen privately."""

    @abstractmethod
    def score_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes any one score."""


def require_never_missing(schema: Schema, numbers: Sequence[str]) -> None:
    """Refuses coordinates that a record may lack: whether one does would show in a failure.

    Raises:
        ValueError: naming the column.
    """
    for name in numbers:
        column = schema[name]
        if column.missing or not column.is_ordered:
            raise ValueError(f"Column {name!r} must be a number that is never missing to be a coordinate.")
