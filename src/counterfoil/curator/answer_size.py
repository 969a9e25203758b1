"""How many numbers a query answers with, told without a record: from a table without rows."""

from __future__ import annotations

import numpy as np

from counterfoil.curator.queries.query import Query
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.silence import silent
from counterfoil.curator.trial import PublicRows
from counterfoil.schema.schema import Schema


class AnswerSizes:
    """Sizes of the answers that queries give about tables of one schema."""

    def __init__(self, schema: Schema) -> None:
        nobody = PublicRows.random(schema, 1, np.random.default_rng(0)).in_blocks(np.arange(0))
        self._records = ExactRecords(nobody, schema.domain, cache_bytes=0)

    def of(self, query: Query) -> int:
        """The number of cells; the same for all tables."""
        with silent():
            return len(query.exact(self._records))
