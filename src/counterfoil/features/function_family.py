"""Families of bounded functions of a record, in whole numbers: what is averaged about a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.schema import Schema

if TYPE_CHECKING:
    from scipy import sparse

MOST_FUNCTIONS = 200_000


class FunctionFamily(ABC):
    """K functions of a record, each with a declared range, and each a whole number between public bounds.

    The value of function f on a record is `offsets[f] + slopes[f]` times its whole number. Values outside the declared
    range are clamped record by record, so that no record counts for more than the family says.

    Attributes:
        kind: the name on receipts.
        schema: the public facts that the functions are about.
        counted: whether the first function is the constant 1.
    """

    kind: ClassVar[str]

    schema: Schema
    counted: bool

    def check(self) -> None:
        """What was required of the fields when they were given, once more.

        Raises:
            ValueError: for a field of another type.
        """
        if not isinstance(self.counted, bool):
            raise ValueError(f"`counted` must be True or False. Found {self.counted!r}.")

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the functions."""

    @property
    @abstractmethod
    def codes(self) -> tuple[str, ...]:
        """The columns whose codes are needed."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[str, ...]:
        """The ordered columns whose numbers are needed."""

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The columns that functions read together, one entry for each function or for all of them."""
        return ((*self.codes, *self.numbers),)

    @property
    @abstractmethod
    def offsets(self) -> np.ndarray:
        """float64 [K]: the value of each function whose whole number is 0."""

    @property
    @abstractmethod
    def slopes(self) -> np.ndarray:
        """float64 [K]: by how much the value grows with the whole number."""

    @abstractmethod
    def matrix(self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> sparse.csr_array:
        """float64 [K, rows]: each function's whole number on each row, which depends on nothing but that row."""

    @abstractmethod
    def sums(self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """int64 [K]: the sums over rows of the whole numbers, exactly."""

    def numbers_given(
        self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """int64 [K]: on how many of these public rows each function is a number before it is clamped."""
        return np.full(len(self.names), rows, dtype=np.int64)

    @abstractmethod
    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record moves all sums together, in l1 norm."""

    @abstractmethod
    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record moves all sums together, in l2 norm."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""


def require_few(functions: int) -> None:
    """Refuses a family of too many functions.

    Raises:
        ValueError: with how many there are.
    """
    if not 1 <= functions <= MOST_FUNCTIONS:
        raise ValueError(f"A family must hold 1 to {MOST_FUNCTIONS:,} functions. Found {functions:,}.")
