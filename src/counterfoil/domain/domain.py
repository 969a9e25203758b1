"""The finite product domain that marginals live on."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

Clique = tuple[str, ...]

CLASS = "\0class"
"""The name of an attribute that nobody sees, which no source's column may have."""


@dataclass(frozen=True)
class Domain:
    """Named attributes with a public number of values each.

    `attributes` gives their order, which is the axis order of every table in this package; attribute
    `attributes[i]` takes the codes 0 .. `sizes[i]` - 1. Sizes are python integers: products never overflow.

    Raises ValueError for names that repeat and for sizes below one.
    """

    attributes: tuple[str, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.attributes) != len(self.sizes):
            raise ValueError(
                f"A domain needs one size for each attribute. Found {len(self.attributes)} attributes and "
                f"{len(self.sizes)} sizes."
            )
        repeated = sorted(name for name, count in Counter(self.attributes).items() if count > 1)
        if repeated:
            raise ValueError(f"Attribute names must differ. Found more than once: {', '.join(repeated)}.")
        for name, size in zip(self.attributes, self.sizes, strict=True):
            if size < 1:
                raise ValueError(f"An attribute needs at least one value. Found {size} for {name!r}.")
        object.__setattr__(self, "sizes", tuple(int(size) for size in self.sizes))

    def brought_parts(self) -> tuple[object, ...]:
        """Names that are no plain texts: all else that a domain holds is numbers."""
        return self._odd_names

    @cached_property
    def _odd_names(self) -> tuple[object, ...]:
        return tuple(name for name in self.attributes if type(name) is not str)

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.attributes)}

    def __getitem__(self, attribute: str) -> int:
        """The number of values of `attribute`; ValueError where the domain does not have it."""
        return self.sizes[self.axes((attribute,))[0]]

    def axes(self, clique: Iterable[str]) -> tuple[int, ...]:
        """Positions of the clique's attributes, in the clique's own order; ValueError names unknown ones."""
        names = tuple(clique)
        try:
            return tuple(map(self._position.__getitem__, names))
        except KeyError:
            unknown = [name for name in names if name not in self._position]
            raise ValueError(
                f"Every attribute must belong to the domain. Unknown: {', '.join(map(repr, unknown))}; "
                f"the domain has {', '.join(map(repr, self.attributes))}."
            ) from None

    def canonical(self, clique: Iterable[str]) -> Clique:
        """The clique's attributes in domain order, each once; ValueError names unknown ones."""
        return tuple(self.attributes[i] for i in sorted(set(self.axes(clique))))

    def shape(self, clique: Iterable[str]) -> tuple[int, ...]:
        """Sizes of the clique's attributes, in the clique's own order."""
        return tuple(map(self.sizes.__getitem__, self.axes(clique)))

    def size(self, clique: Iterable[str]) -> int:
        """Number of cells of the clique's table (1 for the empty clique)."""
        return math.prod(self.shape(clique))

    def project(self, clique: Iterable[str]) -> "Domain":
        """The domain of the clique's attributes alone, in domain order."""
        names = self.canonical(clique)
        return Domain(names, self.shape(names))
