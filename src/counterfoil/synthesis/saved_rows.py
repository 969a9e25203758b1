"""The rows of a saved release that are too many to hold: read from their file, some at a time, whenever asked for.

The file holds public, synthetic rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from counterfoil.domain.counting import count_stacked
from counterfoil.domain.layout import Layout
from counterfoil.schema import Schema
from counterfoil.synthesis.folder import ArrowFile
from counterfoil.synthesis.row_memory import require_memory
from counterfoil.synthesis.table import encode
from counterfoil.threads import in_order

_REMEDY = "Read the release's table with a program that takes some rows at a time."


@dataclass(frozen=True, eq=False)
class SavedRows:
    """Synthetic rows in a file.

    Args:
        file: holds them.
        schema: whose columns it has.
        count: how many rows there are.
    """

    file: ArrowFile
    schema: Schema
    count: int

    @staticmethod
    def of(file: ArrowFile, schema: Schema) -> SavedRows:
        """The rows in a file, whose cells are not looked at yet.

        Raises:
            ValueError: for a file of any other format, or one without a column of the schema.
        """
        encode(schema, file.schema.empty_table())
        return SavedRows(file, schema, file.row_count())

    @property
    def column_names(self) -> list[str]:
        """Those of the table."""
        return list(self.arrow_schema.names)

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns of the table and their types."""
        return self.file.schema

    def tables(self, *, coded: bool = False) -> Iterator[pa.Table]:
        """The values, some rows at a time; texts as they are whether they may be `coded` or not."""
        yield from self.file.parts()

    def require_placed(self) -> None:
        """Looks at all rows.

        Raises:
            UnplacedValue: for one that the schema has no place for.
        """
        for _ in in_order(partial(encode, self.schema), self.tables()):
            pass

    def counts(self, layout: Layout) -> np.ndarray:
        """int64 [cells of all]: how many rows are in each cell of the layout's cliques.

        Raises:
            UnplacedValue: for a row that the schema has no place for.
        """
        total = np.zeros(int(layout.starts[-1]), dtype=np.int64)
        for codes in in_order(partial(encode, self.schema), self.tables()):
            count_stacked(codes, len(next(iter(codes.values()))), layout, total)
        return total

    @cached_property
    def codes(self) -> np.ndarray:
        """All codes in memory: int32 [rows, attributes].

        Raises:
            ValueError: where there is not so much memory.
            UnplacedValue: for a row that the schema has no place for.
        """
        names = self.schema.domain.attributes
        require_memory(self.count, 4 * self.count * len(names), _REMEDY)
        codes, done = np.empty((self.count, len(names)), dtype=np.int32, order="F"), 0
        for own in in_order(partial(encode, self.schema), self.tables()):
            rows = len(own[names[0]])
            for axis, name in enumerate(names):
                codes[done : done + rows, axis] = own[name]
            done += rows
        return codes

    @cached_property
    def table(self) -> pa.Table:
        """All values in memory.

        Raises:
            ValueError: where there is not so much memory.
        """
        require_memory(self.count, 8 * self.count * len(self.schema.synthesized), _REMEDY)
        return pa.concat_tables(self.tables())
