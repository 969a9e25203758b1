"""What executors do with the stored codes: partial sums of each part, and the sums of these.

This module runs in the executors' Python: it imports no PySpark, and lets nothing out but sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.curator.engines.engine import Block, added
from counterfoil.curator.engines.spark_storing import Key
from counterfoil.curator.engines.spark_trouble import Trouble
from counterfoil.curator.silence import silent
from counterfoil.scratch.shared_scratch import is_shared, reading

SUMS = pa.schema({"slice": pa.int64(), "type": pa.string(), "sums": pa.binary(), "trouble": pa.int32()})

SLICE = 1 << 16
"""Numbers of a sum that travel together."""


@dataclass(frozen=True, eq=False)
class Summing:
    """A sum over stored rows.

    Args:
        files: by task, the files that it reads: each with its name, and how many rows it holds.
        wanted: what is read: each key with its place in the files.
        folder, token: the scratch folder, and what its token says.
        shape: of the sum.
        add: adds a block to a sum so far, which it may change; None before the first block.
    """

    files: Sequence[Sequence[tuple[str, int]]]
    wanted: Mapping[Key, int]
    folder: str
    token: str
    shape: tuple[int, ...]
    add: Callable[[Block, np.ndarray | None], np.ndarray]


@dataclass(frozen=True, eq=False)
class Folding:
    """Adds what `partial` gives."""

    partial: Callable[[Block], np.ndarray]

    def __call__(self, block: Block, total: np.ndarray | None) -> np.ndarray:
        part = self.partial(block)
        return part if total is None else added(total, part)


@dataclass(frozen=True, eq=False)
class Accumulating:
    """Has `into` add to one long array of `cells` numbers."""

    into: Callable[[Block, np.ndarray], None]
    cells: int

    def __call__(self, block: Block, total: np.ndarray | None) -> np.ndarray:
        kept = np.zeros(self.cells, dtype=np.int64) if total is None else total
        self.into(block, kept)
        return kept


def sum_stored(batches: Iterable[pa.RecordBatch], summing: Summing) -> Iterator[pa.RecordBatch]:
    """The sum over the files of each task that `batches` number, in slices."""
    for batch in batches:
        for task in batch.column(0).to_pylist():
            trouble, total = _sum_of(task, summing)
            if trouble:
                yield pa.record_batch([[0], [""], [b""], [int(trouble)]], schema=SUMS)
            elif total is not None:
                yield from in_slices(total.ravel())


def add_slices(batches: Iterable[pa.RecordBatch], tasks: int) -> Iterator[pa.RecordBatch]:
    """The sums of equal slices, of which each task gave one; the first trouble where there is any.

    A task that is repeated because its slices were lost may fail, and say so to a part of the executors that has
    finished: the others notice that a slice is missing.
    """
    totals: dict[int, np.ndarray] = {}
    parts: Counter[int] = Counter()
    for batch in batches:
        for place, kind, octets, trouble in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if trouble:
                yield pa.record_batch([[0], [""], [b""], [trouble]], schema=SUMS)
                return
            part = np.frombuffer(octets, dtype=kind)
            totals[place] = added(totals[place], part) if place in totals else part
            parts[place] += 1
    if any(count != tasks for count in parts.values()):
        yield pa.record_batch([[0], [""], [b""], [int(Trouble.FAILED)]], schema=SUMS)
        return
    for place, total in totals.items():
        yield _slice(place, total)


def in_slices(total: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The numbers [n] in parts of `SLICE`; at least one."""
    for place, start in enumerate(range(0, max(len(total), 1), SLICE)):
        yield _slice(place, total[start : start + SLICE])


def _slice(place: int, part: np.ndarray) -> pa.RecordBatch:
    return pa.record_batch([[place], [part.dtype.str], [part.tobytes()], [0]], schema=SUMS)


def _sum_of(task: int, summing: Summing) -> tuple[Trouble, np.ndarray | None]:
    """Why there is no sum, or the sum over the rows of a task's files; None for one without files."""
    total: np.ndarray | None = None
    if not is_shared(summing.folder, summing.token):
        return Trouble.NOT_SHARED, None
    for name, rows in summing.files[task]:
        found = 0
        try:
            with silent(), reading(summing.folder, name) as stream:
                for block in _blocks(stream, summing.wanted):
                    found += block.rows
                    total = summing.add(block, total)
        except (OSError, pa.ArrowException):
            return Trouble.NOT_READ, None
        except Exception:  # it may quote a record
            return Trouble.FAILED, None
        if found != rows:
            return Trouble.NOT_READ, None
        if total is not None and total.shape != summing.shape:
            return Trouble.SHAPES, None
    return Trouble.NONE, total


def _blocks(stream: pa.NativeFile, wanted: Mapping[Key, int]) -> Iterator[Block]:
    places = sorted(set(wanted.values()) or {0})
    options = pa.ipc.IpcReadOptions(included_fields=places, use_threads=False)
    with pa.ipc.open_file(stream, options=options) as file:
        for position in range(file.num_record_batches):
            batch = file.get_batch(position)
            by_kind: dict[str, dict[str, np.ndarray]] = {"codes": {}, "numbers": {}, "placements": {}, "rank": {}}
            for (kind, name), place in wanted.items():
                # Copied: the loops are compiled for arrays that may be written to, as the other engines hold them.
                by_kind[kind][name] = batch.column(places.index(place)).to_numpy().copy()
            ranks = by_kind.pop("rank")
            yield Block(batch.num_rows, **by_kind | ({"codes": ranks} if ranks else {}))
