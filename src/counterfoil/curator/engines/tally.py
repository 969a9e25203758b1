"""Counting the texts of columns, however many distinct ones there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from counterfoil.curator.sources.file_source import connection, explained, failures
from counterfoil.curator.sources.source import unreadable
from counterfoil.schema.values import Values, texts_of
from counterfoil.scratch.scratch_folder import scratch_folder

if TYPE_CHECKING:
    import duckdb

_PART = 100_000


@dataclass(frozen=True, eq=False)
class Tallied:
    """Some texts with their exact counts. Must not leave `curator/`.

    Args:
        columns: int64 [n], the position of the column among those that were asked about.
        texts: [n].
        counts: int64 [n], at least 1.
    """

    columns: np.ndarray
    texts: pa.Array
    counts: np.ndarray


def tally(
    blocks: Iterable[Mapping[str, Values]], columns: Sequence[str], longest: int, source: str
) -> Iterator[Tallied]:
    """Each text that occurs in each of `columns` once, by column and text, with its count; empty texts left out.

    Texts are counted in each block, and these counts are added up in a private temporary folder when they do not fit
    in DuckDB's memory limit.

    Args:
        blocks: the kept rows, each once.
        columns: their names.
        longest: texts of more letters are left out.
        source: what errors call the table.
    """
    with scratch_folder() as folder, connection(str(folder)) as opened:
        try:
            opened.execute("CREATE TABLE texts (place BIGINT, text VARCHAR, n BIGINT)")
            for cells in blocks:
                for place, name in enumerate(columns):
                    _store(opened, place, name, cells[name], longest, source)
            added = opened.sql(
                "SELECT place, text, sum(n)::BIGINT FROM texts GROUP BY place, text ORDER BY place, text"
            )
            for batch in added.to_arrow_reader(_PART):
                places, texts, counts = batch.columns
                yield Tallied(places.to_numpy(), texts, counts.to_numpy())
        except failures() as error:
            raise explained(error, source) from None


def _store(opened: duckdb.DuckDBPyConnection, place: int, name: str, cells: Values, longest: int, source: str) -> None:
    try:
        texts, positions = texts_of(cells)
    except (TypeError, pa.ArrowException, UnicodeError) as error:
        raise unreadable(name, source, cells.type, error) from None
    counts = np.bincount(positions[positions >= 0], minlength=len(texts))
    chosen = [i for i, text in enumerate(texts) if counts[i] and len(text) <= longest]
    part = pa.table(
        {"text": pa.array([texts[i] for i in chosen], pa.large_string()), "n": pa.array(counts[chosen], pa.int64())}
    )
    opened.register("part", part)
    opened.execute(f"INSERT INTO texts SELECT {place}, text, n FROM part")
    opened.unregister("part")
