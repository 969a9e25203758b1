"""Blocks of records as one table, for those who may see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from counterfoil.curator.engines.engine import Block
from counterfoil.schema.plain_arrays import array_of


def table_of_blocks(
    blocks: Iterable[Block], attributes: Sequence[str], numbers: Sequence[str], placements: Sequence[str]
) -> pa.Table:
    """The blocks one below the other.

    Returns:
        one column of integer codes for each of `attributes`, then one of numbers (float64, NaN where missing) for each
        of `numbers`, then one of `Placement` (uint8) for each of `placements`.
    """
    names = [*attributes, *(f"number of {name}" for name in numbers)]
    names += [f"placement of {name}" for name in placements]
    asked = ("codes", attributes), ("numbers", numbers), ("placements", placements)
    parts = [[getattr(block, kind)[name] for kind, listed in asked for name in listed] for block in blocks]
    return pa.concat_tables(pa.table([array_of(column) for column in part], names=names) for part in parts)
