"""Counting several values of an attribute as one: a public map of codes onto fewer codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.domain.domain import Clique, Domain


@dataclass(frozen=True, eq=False)
class Coarsening:
    """A map of each attribute's codes onto fewer. Public: it comes from noisy counts and the schema.

    Args:
        fine: the domain before.
        codes: for each attribute, int64 [size]: the coarse code of each fine code; every coarse code is used.
    """

    fine: Domain
    codes: Mapping[str, np.ndarray]

    def __post_init__(self) -> None:
        # Copies that nobody can change after they were checked: counting writes where they point.
        object.__setattr__(self, "codes", {name: frozen(self.codes[name]) for name in self.fine.attributes})
        for name, codes in self.codes.items():
            used = np.unique(codes)
            if codes.shape != (self.fine[name],) or not np.array_equal(used, np.arange(len(used))):
                raise ValueError(f"Coarse codes must count up from 0 without gaps. Found {codes} for {name!r}.")

    def brought_parts(self) -> tuple[object, ...]:
        """The domain: the codes are whole numbers, as was checked."""
        return (self.fine,)

    @cached_property
    def domain(self) -> Domain:
        """The domain after."""
        sizes = tuple(int(self.codes[name].max()) + 1 for name in self.fine.attributes)
        return Domain(self.fine.attributes, sizes)

    def leading(self, ordered: Mapping[str, int]) -> dict[str, int]:
        """How many leading codes of each attribute are in order, from how many fine ones are.

        Coarse codes are in order where neighbors alone were merged; elsewhere, and where `ordered` says nothing, none.
        """
        found = dict[str, int]()
        for name, leading in ordered.items():
            codes = self.codes[name][:leading]
            if leading and codes[0] == 0 and (np.diff(codes) >= 0).all() and (np.diff(codes) <= 1).all():
                found[name] = int(codes[-1]) + 1
        return found

    def merge_codes(self, codes: Mapping[str, np.ndarray], names: Iterable[str]) -> dict[str, np.ndarray]:
        """The coarse codes [n] of the attributes `names`, from the fine ones."""
        return {name: self.codes[name].astype(np.int32)[codes[name]] for name in names}

    def zeros(self, fine_zeros: Mapping[Clique, np.ndarray]) -> dict[Clique, np.ndarray]:
        """The coarse cells whose fine cells are all impossible."""
        coarse_zeros = {}
        for clique, impossible in fine_zeros.items():
            possible = np.zeros(self.domain.shape(clique), dtype=bool)
            cells = np.ix_(*(self.codes[name] for name in clique))
            np.logical_or.at(possible, cells, ~impossible)
            if not possible.all():
                coarse_zeros[clique] = ~possible
        return coarse_zeros


def frozen(codes: np.ndarray) -> np.ndarray:
    """A read-only int64 copy of `codes`, which are whole numbers."""
    copy = np.array(codes).astype(np.int64, casting="safe")
    copy.setflags(write=False)
    return copy


def identity(domain: Domain) -> Coarsening:
    """The coarsening that merges nothing."""
    return Coarsening(domain, {name: np.arange(domain[name]) for name in domain.attributes})
