"""Counting the texts of columns, however many distinct ones there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from counterfoil.curator.sources.file_source import connection, explained, failures
from counterfoil.curator.sources.source import unreadable
from counterfoil.noise.open_domain_gaussian import parts_of_a_cell
from counterfoil.schema.number_words import is_written_number
from counterfoil.schema.plain_arrays import array_of, numpy_of
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
        counts: int64 [n], at least 1: cells, or parts of records (`Wanted`).
    """

    columns: np.ndarray
    texts: pa.Array
    counts: np.ndarray


@dataclass(frozen=True)
class Wanted:
    """Which texts are counted.

    Args:
        longest: texts of more letters are left out.
        known: pairs of a column and a text that are left out. Where it is not None, each row counts in parts: the
            fewer of its texts are left, the more each of them counts (`parts_of_a_cell`). Else each text counts as 1.
        numberless: columns of which numbers are left out, in whatever notation (`number_words.is_written_number`).
    """

    longest: int
    known: frozenset[tuple[str, str]] | None = None
    numberless: frozenset[str] = frozenset()

    def marks(self, name: str, texts: Sequence[str]) -> np.ndarray:
        """bool [n + 1]: which texts of a column count; the last one stands for no text."""
        known = self.known or frozenset()
        counts = [bool(text) and len(text) <= self.longest and (name, text) not in known for text in texts]
        if name in self.numberless:
            counts = [counted and not is_written_number(text) for counted, text in zip(counts, texts, strict=True)]
        return np.array([*counts, False])


def tally(
    blocks: Iterable[Mapping[str, Values]], columns: Sequence[str], wanted: Wanted, source: str
) -> Iterator[Tallied]:
    """Each text that occurs in each of `columns` once, by column and text, with its count; empty texts left out.

    Texts are counted in each block, and these counts are added up in a private temporary folder when they do not fit
    in DuckDB's memory limit.

    Args:
        blocks: the kept rows, each once.
        columns: their names.
        wanted: which texts are counted.
        source: what errors call the table.
    """
    with scratch_folder() as folder, connection(str(folder)) as opened:
        try:
            opened.execute("CREATE TABLE texts (place BIGINT, text VARCHAR, n BIGINT)")
            for cells in blocks:
                for place, (texts, counts) in enumerate(_counted(cells, columns, wanted, source)):
                    _store(opened, place, texts, counts)
            added = opened.sql(
                "SELECT place, text, sum(n)::BIGINT FROM texts GROUP BY place, text ORDER BY place, text"
            )
            for batch in added.to_arrow_reader(_PART):
                places, texts, counts = batch.columns
                yield Tallied(numpy_of(places), texts, numpy_of(counts))
        except failures() as error:
            raise explained(error, source) from None


def _counted(
    cells: Mapping[str, Values], columns: Sequence[str], wanted: Wanted, source: str
) -> Iterator[tuple[list[str], np.ndarray]]:
    """The texts of each column of a block, and what each counts there; 0 for those that are not wanted."""
    if wanted.known is None:
        for name in columns:
            texts, positions = _texts_of(cells[name], name, source)
            marked = wanted.marks(name, texts)[:-1]
            yield texts, np.bincount(positions[positions >= 0], minlength=len(texts)) * marked
        return
    read = [_texts_of(cells[name], name, source) for name in columns]
    marks = [wanted.marks(name, texts)[positions] for name, (texts, positions) in zip(columns, read, strict=True)]
    of_row = np.sum(marks, axis=0)
    parts = np.array([0, *(parts_of_a_cell(left, len(columns)) for left in range(1, len(columns) + 1))])[of_row]
    for (texts, positions), marked in zip(read, marks, strict=True):
        # Sums of whole numbers far below 2**53, which floating point adds exactly.
        summed = np.bincount(positions[marked], weights=parts[marked], minlength=len(texts))
        yield texts, summed.astype(np.int64)


def _texts_of(cells: Values, name: str, source: str) -> tuple[list[str], np.ndarray]:
    try:
        return texts_of(cells)
    except (TypeError, pa.ArrowException, UnicodeError) as error:
        raise unreadable(name, source, cells.type, error) from None


def _store(opened: duckdb.DuckDBPyConnection, place: int, texts: Sequence[str], counts: np.ndarray) -> None:
    chosen = np.flatnonzero(counts).tolist()
    part = pa.table(
        {"text": array_of([texts[i] for i in chosen], pa.large_string()), "n": array_of(counts[chosen], pa.int64())}
    )
    opened.register("part", part)
    opened.execute(f"INSERT INTO texts SELECT {place}, text, n FROM part")
    opened.unregister("part")
