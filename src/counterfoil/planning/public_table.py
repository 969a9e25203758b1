"""Records that anybody may see, which rehearsals copy in place of the sensitive ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

Codes = Mapping[str, np.ndarray]


class World(StrEnum):
    """Where the records of a rehearsal come from."""

    PUBLIC = "public table"
    WEAK = "weak relations"
    STRONG = "strong relations"


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A public table for one rehearsal. Only such tables are copied with noise from a seed, which protects nobody.

    It is made in two ways alone: from a table that its user declares public (`like`), and from a random law of the
    schema (`simulated`). No function of this room takes a sensitive table.

    Args:
        world: where it comes from.
        run: the number of the rehearsal within its world, from 0.
        codes: integer codes [rows] of each attribute, which are copied.
        training: codes of the records that the reference models are trained on.
        test: codes of the records that all models are tested on.
    """

    world: World
    run: int
    codes: Codes
    training: Codes
    test: Codes

    @property
    def rows(self) -> int:
        """How many records are copied."""
        return len(next(iter(self.codes.values())))


def rows_of(codes: Codes, rows: np.ndarray | slice) -> dict[str, np.ndarray]:
    """The codes of some rows."""
    return {name: column[rows] for name, column in codes.items()}
