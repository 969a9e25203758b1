"""Random bits that a test chose, so that two neighboring tables can be given the same ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.records import ExactRecords
from counterfoil.domain.domain import Domain
from counterfoil.noise.randomness import SeededRandomness
from sensitive_tables import Row


class KnownBits(SeededRandomness):
    """A source whose next words are these; noise comes from a seed."""

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__(0)
        self._left = np.array(words, dtype=np.uint64)

    def words(self, size: int) -> np.ndarray:
        drawn, self._left = self._left[:size], self._left[size:]
        assert len(drawn) == size, "more bits are drawn than there are"
        return drawn


class OneBlock(Engine):
    """An engine over rows of codes, in the order in which they were given."""

    def __init__(self, domain: Domain, rows: Sequence[Row]) -> None:
        self._block = block_of(domain, rows)

    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        """Nothing is read."""

    def blocks(self, columns, numbers=()):
        yield self._block


def block_of(domain: Domain, rows: Sequence[Row]) -> Block:
    """The rows as a block, their codes being their numbers."""
    table = np.array(rows, dtype=np.uint8).reshape(len(rows), len(domain.attributes))
    codes = {name: table[:, i] for i, name in enumerate(domain.attributes)}
    return Block(len(rows), codes, {name: column.astype(np.float64) for name, column in codes.items()})


def records_with_bits(domain: Domain, rows: Sequence[Row], bits: Sequence[int]) -> ExactRecords:
    """The rows behind the wall, each with random bits of its own."""
    return ExactRecords(OneBlock(domain, rows), domain, randomness=KnownBits(bits))
