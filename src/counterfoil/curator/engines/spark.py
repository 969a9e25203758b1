"""The engine for Spark: each query's partial sums are made by the executors, and only sums reach this process."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial as given
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from counterfoil.curator.engines.engine import Block, Engine, added
from counterfoil.curator.engines.reader import BlockReader
from counterfoil.curator.engines.spark_batches import collected
from counterfoil.curator.engines.spark_interrupts import given_up_when_interrupted
from counterfoil.curator.engines.spark_reading import Reading, dealt
from counterfoil.curator.engines.spark_storing import (
    ENCODED,
    RANK,
    STORED,
    Key,
    Storing,
    encode,
    in_utc,
    store,
    store_kept,
)
from counterfoil.curator.engines.spark_sums import (
    SLICE,
    SUMS,
    Accumulating,
    Folding,
    Summing,
    add_slices,
    sum_stored,
)
from counterfoil.curator.engines.spark_trouble import Trouble
from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.errors import SourceError
from counterfoil.curator.silence import silent
from counterfoil.curator.sources.source import Source, unreadable
from counterfoil.curator.sources.spark_source import SparkSource, is_open_on_disk
from counterfoil.noise.randomness import Randomness
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.schema import Schema
from counterfoil.schema.values import texts_of
from counterfoil.scratch.shared_scratch import SETTING, Scratch
from counterfoil.table_url import require_no_secret

_DIRECT_BYTES = 1 << 24
"""Partial sums of all tasks up to which this process adds them up itself; more are added by the executors first."""

_TASKS = 200
"""Tasks of a sum on a cluster, at least; it may have got no executors yet by which to count."""


_TURNS = 2
"""Tasks for each core where executors read files themselves, so that one that is slow holds up less."""


@dataclass(frozen=True, eq=False)
class _Stored:
    """Rows of the table as executors stored them.

    Args:
        keys: what is stored of each, in order.
        files: each with its rows; those without any are left out.
    """

    keys: tuple[Key, ...]
    files: tuple[tuple[str, int], ...]

    @property
    def rows(self) -> int:
        return sum(rows for _, rows in self.files)


class SparkEngine(Engine):
    """Has executors store the coded rows once, and sum over what they stored.

    Codes are made by the schema's encoders and sums by the queries' own functions, as in any other engine, in the
    executors' Python, which must have this package. Spark ships the functions with its own pickle protocol; what they
    hold is public (`Query`), noise is added in this process, and an engine refuses to be shipped.

    **A row counts once.** Each task of the storing job writes a file under a new random name, and its result names the
    file and its rows. Spark takes one result of each partition, however often the partition was computed: because an
    executor was lost, or for speculation. What other attempts wrote is never read. The list of files is fixed when the
    job ends; all sums are over these files, whose numbers of rows are checked when they are read. Each file is read by
    one task of a sum, and again Spark takes one result of each task, or adds those of one attempt in a second stage.
    All that tasks compute of the files is deterministic, so that any attempt has the same result, and whole numbers
    are added without rounding in any order: the sum is that of the memory engine on the same rows. What the frame
    would give if it were evaluated again does not matter, unless a query needs columns that were not stored yet, which
    without a privacy unit may be read later: their number of rows must be the same then.

    **Who reads.** Where the frame is nothing but Parquet files of this machine, and Spark runs on it alone
    (`spark_files.files_of`), a task of the storing job reads groups of their rows itself, in place of rows that Spark
    passes on. Each group is in one task, and all else is the same. A file that changes meanwhile is refused, and
    where one is not read to the end, Spark reads them all: what had been stored is in files that nothing names.

    **Units are bounded once.** A task gives each row a priority of 64 random bits of its operating system. Spark moves
    all rows of a unit to one task of a second stage, which orders them by priority and stores the first `max_rows`.
    Which task it is follows from the id alone, so that no other one ever keeps a row of the unit, whatever was lost and
    computed again between two tasks of the second stage, with other priorities. Let an attempt of this task be fixed.
    It reads each row of its units once, each with a priority that is uniform and independent of all others, whichever
    attempt of the first stage drew it: no attempt reads two of one partition. (If an attempt is made again, its file
    may hold other rows of its units; one of the files is read.) So
    what a stored file holds of a unit is a uniform choice of at most `max_rows` of its rows, which depends on nothing
    but the unit's rows and their priorities (see `kept_rows`). No later sum draws anew: the choice is in the file. All
    that a later query may read of a kept row is stored with it. Units are moved by a keyed hash of 128 bits of their id
    (BLAKE2b, under 256 bits that this process draws and forgets with the engine): two units share one with a chance
    below n**2 / 2**128, and would then keep `max_rows` rows together, which protects them no less.

    **A row without an id is kept once.** It is not moved: the task of the first stage stores such rows of its partition
    in a file, and sends its name to the second stage in one row, whose task follows from the number of the partition
    alone. All attempts at the partition send it to that task, which reads one of them, and of which one result counts:
    so one file is read for each partition, whatever the order of its rows in an attempt. The same row says how many
    rows with an id were sent, or what failed, and each task of the second stage how many it took: sums that differ are
    refused. So a frame that gives fewer or more rows when a part of it is computed again is noticed where it matters.

    **Only sums reach this process**, with the list of files and their numbers of rows. A failure comes as a number
    and the place of a column: an exception would be logged by Spark with what it quotes. What the frame's own
    expressions raise, such as a cast of a text, is in Spark's hands; it is not repeated here.

    Args:
        source: a `SparkSource`.
        schema: the public facts about the rows.
        privacy_unit, max_rows: the column whose values are protected together, and how many of a unit's rows to keep.
        randomness: not used: executors draw from their operating systems, so that a seed does not repeat which rows of
            a unit are kept.
        show_values: has no effect: values do not come to this process.

    Raises:
        SourceError: for columns that are not those that the schema declares or ignores.
    """

    reads = (SparkSource,)

    def __init__(
        self,
        source: Source,
        schema: Schema,
        *,
        privacy_unit: str | None = None,
        max_rows: int | None = None,
        randomness: Randomness | None = None,
        show_values: bool = False,
    ) -> None:
        assert isinstance(source, SparkSource), "the registry gives each source its engine"
        BlockReader(source, schema, privacy_unit=privacy_unit, max_rows=max_rows)  # for its checks alone
        self.schema = schema
        self._source = source
        self._unit, self._max_rows = privacy_unit, max_rows
        self._scratch: Scratch | None = None
        self._stored: list[_Stored] = []

    def __reduce__(self) -> NoReturn:
        raise TypeError("An engine is not shipped: a query's function must hold public facts alone.")

    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        self._having([*(("codes", name) for name in columns), *(("numbers", name) for name in numbers)])

    def blocks(
        self, columns: Sequence[str], numbers: Sequence[str] = (), placements: Sequence[str] = ()
    ) -> Iterator[Block]:
        """Refuses: records do not come to this process.

        Raises:
            SourceError: always.
        """
        raise SourceError(
            f"{self._source.name} is summed by Spark's executors, and its records do not come to this process, which"
            " training, teachers and a comparison with the real table need. Give the table, or a part of it, as a file"
            " or a frame."
        )

    def fold(
        self,
        partial: Callable[[Block], np.ndarray],
        columns: Sequence[str],
        numbers: Sequence[str] = (),
        placements: Sequence[str] = (),
    ) -> np.ndarray:
        keys = [("codes", name) for name in columns]
        keys += [("numbers", name) for name in numbers]
        keys += [("placements", name) for name in placements]
        return self._sum(Folding(partial), partial(self._nothing(keys)), keys)

    def accumulate(self, add: Callable[[Block, np.ndarray], None], cells: int, columns: Sequence[str]) -> np.ndarray:
        keys = [("codes", name) for name in columns]
        return self._sum(Accumulating(add, cells), np.zeros(cells, dtype=np.int64), keys)

    def unit_sizes(self, most: int) -> np.ndarray:
        if self._unit is None:
            return super().unit_sizes(most)
        if most != self._max_rows:
            raise ValueError(f"Units keep at most {self._max_rows} rows. Found a query about {most}: ask about all.")
        # As many units keep at least j rows as there are rows that are the j-th of theirs.
        return self._sum(Folding(given(_ranks, most=most)), np.zeros(most, dtype=np.int64), [RANK])

    def tally(self, columns: Sequence[str], wanted: Wanted) -> Iterator[Tallied]:
        """Refuses: texts of records do not come to this process, not even with their counts.

        Raises:
            SourceError: always.
        """
        raise SourceError(
            f"Texts of {self._source.name} are not counted in Spark. Declare its columns in a schema, or buy one of a"
            " part of the table that is a file."
        )

    def _having(self, keys: Sequence[Key]) -> _Stored:
        """What executors have stored with all of `keys`."""
        for stored in self._stored:
            if set(keys) <= set(stored.keys):
                return stored
        stored = self._store(self._to_store(keys))
        if self._stored and stored.rows != self._stored[0].rows:
            raise SourceError(f"{self._source.name} has changed since it was first read. Start again.")
        self._stored.append(stored)
        return stored

    def _to_store(self, keys: Sequence[Key]) -> tuple[Key, ...]:
        """`keys` with what later queries may need of the same rows: all of it where only some rows are kept."""
        known = dict.fromkeys(name for held in [*self._stored[:1], None] for _, name in (held.keys if held else keys))
        kinds = {kind for kind, _ in keys} | {"codes"}
        columns = [self.schema[name] for name in known if name]
        if self._unit is not None:
            columns, kinds = [*self.schema.synthesized], {"codes", "numbers", "placements"}
        wanted = [("codes", column.name) for column in columns]
        if "numbers" in kinds:
            wanted += [("numbers", column.name) for column in columns if column.is_ordered]
        if "placements" in kinds:
            placed = (Categorical, NumberColumn)
            wanted += [("placements", column.name) for column in columns if isinstance(column, placed)]
        return (*wanted, *([RANK] if self._unit is not None else []))

    def _store(self, keys: tuple[Key, ...]) -> _Stored:
        if self._scratch is None:
            self._scratch = self._new_scratch()
        columns = self._stored_columns(keys)
        self._require_readable(keys)
        if self._unit is not None and is_open_on_disk(self._source.session):
            warnings.warn(
                "While units are bounded, Spark keeps coded rows among its temporary files. Found a session that writes"
                " them unencrypted, where other users of this machine may read them: start it with"
                " spark.io.encryption.enabled=true, or with spark.local.dir in a folder that only you may open.",
                stacklevel=2,
            )
        storing = Storing(
            self.schema,
            keys,
            columns,
            self._unit,
            secrets.token_bytes(32),
            self._scratch.folder,
            self._scratch.token,
            self._reading(columns),
        )
        made = self._made(storing)
        if int(Trouble.LEFT_TO_SPARK) in made.column("trouble").to_pylist():
            made = self._made(replace(storing, reading=None))
        troubles = sorted({(row["trouble"], row["column"]) for row in made.to_pylist() if row["trouble"]})
        for trouble, place in troubles:
            raise self._explained(Trouble(trouble), storing.places[place] if place >= 0 else "")
        if sum(made.column("owed").to_pylist()):
            raise SourceError(
                f"Each row of {self._source.name} is taken once. Found another number of rows after parts of it were"
                " computed again: give a frame with the same rows whenever it is evaluated, and start again."
            )
        files = zip(made.column("file").to_pylist(), made.column("rows").to_pylist(), strict=True)
        return _Stored(keys, tuple((name, rows) for name, rows in files if rows))

    def _stored_columns(self, keys: Sequence[Key]) -> tuple[str, ...]:
        """The columns of the frame that are read: those of the keys, or what they are computed from, and the unit's."""
        names = [name for _, name in keys if name]
        read = [one for name in names for one in self._read_for(name)]
        return tuple(dict.fromkeys([*read, *([self._unit] if self._unit else [])]))

    def _read_for(self, name: str) -> tuple[str, ...]:
        computed = self.schema.between.get(name)
        return (name,) if computed is None else computed.inputs

    def _reading(self, columns: Sequence[str]) -> Reading | None:
        """What executors read of the frame's own files; None where Spark must read them."""
        files = self._source.files(columns)
        if files is None:
            return None
        tasks = dealt(files, _TURNS * self._source.session.sparkContext.defaultParallelism)
        types = self._source.column_types
        return Reading(tasks, {name: types[name] for name in columns}) if tasks else None

    def _made(self, storing: Storing) -> pa.Table:
        """What executors report of the files that they have stored."""
        session = self._source.session
        with silent():
            if storing.reading is None:
                frame = self._source.selected(storing.columns)
            else:
                tasks = len(storing.reading.tasks)
                frame = session.range(0, tasks, 1, tasks)
            return self._collected(self._kept(frame, storing) if self._unit else _mapped(frame, store, storing, STORED))

    def _kept(self, frame: Any, storing: Storing) -> Any:
        """The frame of stored files, of at most `max_rows` rows of each unit: those with the lowest priorities."""
        from pyspark.sql import Window
        from pyspark.sql.functions import col, count, lit, row_number

        within = Window.partitionBy("unit").orderBy("priority")
        whole = within.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
        encoded = _mapped(frame, _encode, storing, ENCODED)
        # All rows of a unit are counted, so that Spark can't drop some of them before they are moved, uncounted.
        ranked = encoded.withColumns({"rank": row_number().over(within), "size": count(lit(1)).over(whole)})
        kept = ranked.where((col("rank") <= int(self._max_rows or 0)) | col("report"))
        return _mapped(kept.select("cells", "report", "rank", "size"), store_kept, storing, STORED)

    def _require_readable(self, keys: Sequence[Key]) -> None:
        """Refuses types of columns that can't be read: a type is public, and no value is."""
        types = self._source.column_types
        for name in dict.fromkeys(name for _, name in keys if name):
            stored = [in_utc(pa.chunked_array([], types[one])) for one in self._read_for(name)]
            computed = self.schema.between.get(name)
            try:
                self.schema[name].encode(stored[0] if computed is None else computed.cells(*stored))
            except (TypeError, pa.ArrowException) as error:
                raise unreadable(name, self._source.name, stored[-1].type, error) from None
        if self._unit is not None:
            try:
                texts_of(pa.chunked_array([], types[self._unit]))
            except (TypeError, pa.ArrowException) as error:
                raise unreadable(self._unit, self._source.name, types[self._unit], error) from None

    def _new_scratch(self) -> Scratch:
        parent = self._source.session.conf.get(SETTING, None)
        place = parent or "the temporary folder"
        if parent is not None and "://" in parent:
            # It goes to all executors, and what stands behind a key may be a secret that has another form.
            place = "the folder that is set now"
            try:
                require_no_secret(parent)
            except ValueError as error:
                raise SourceError(str(error)) from None
        try:
            return Scratch(parent)
        except (OSError, pa.ArrowException, ValueError):
            raise SourceError(
                f"Coded rows are kept in a scratch folder, and none can be made in {place}:"
                f" set {SETTING} to a folder that this process and all executors may write to."
            ) from None

    def _sum(
        self, add: Callable[[Block, np.ndarray | None], np.ndarray], zeros: np.ndarray, keys: Sequence[Key]
    ) -> np.ndarray:
        """`zeros` and the sum over all rows, of which `add` sums a part."""
        stored, scratch = self._having(keys), self._scratch
        assert scratch is not None
        tasks = self._tasks(stored.files)
        if not tasks:
            return zeros
        wanted = {key: stored.keys.index(key) for key in keys}
        summing = Summing(tasks, wanted, scratch.folder, scratch.token, zeros.shape, add)
        with silent():
            sums = _sent(self._source.session.range(0, len(tasks), 1, len(tasks)), summing)
            if len(tasks) > 1 and len(tasks) * zeros.nbytes > _DIRECT_BYTES:
                slices = -(-zeros.size // SLICE)
                sums = _mapped(sums.repartition(min(slices, len(tasks)), "slice"), add_slices, len(tasks), SUMS)
            parts = self._collected(sums)
        return self._added(parts, zeros)

    def _added(self, parts: pa.Table, zeros: np.ndarray) -> np.ndarray:
        for trouble in parts.column("trouble").to_pylist():
            if trouble:
                raise self._explained(Trouble(trouble))
        flat = zeros.ravel()
        totals = [flat[start : start + SLICE] for start in range(0, max(flat.size, 1), SLICE)]
        for row in parts.to_batches():
            for place, kind, octets in zip(*(row.column(i).to_pylist() for i in range(3)), strict=True):
                totals[place] = added(totals[place], np.frombuffer(octets, dtype=kind))
        return np.concatenate(totals).reshape(zeros.shape)

    def _tasks(self, files: Sequence[tuple[str, int]]) -> list[list[tuple[str, int]]]:
        """The files dealt out to tasks, in each about as many rows."""
        session = self._source.session
        try:
            cores = int(session.sparkContext.defaultParallelism)
            local = str(session.sparkContext.master).startswith("local")
        except Exception:  # a connected session has no context here
            cores, local = 0, False
        count = min(len(files), cores if local else max(3 * cores, _TASKS))
        ordered = sorted(files, key=lambda file: -file[1])
        return [ordered[start::count] for start in range(count)]

    def _nothing(self, keys: Sequence[Key]) -> Block:
        """A block without rows."""
        by_kind: dict[str, dict[str, np.ndarray]] = {"codes": {}, "numbers": {}, "placements": {}}
        for kind, name in keys:
            by_kind[kind][name] = np.empty(0, dtype={"numbers": np.float64, "placements": np.uint8}.get(kind))
            if kind == "codes":
                by_kind[kind][name] = np.empty(0, dtype=self.schema[name].dtype)
        return Block(0, **by_kind)

    def _collected(self, frame: Any) -> pa.Table:
        """The rows of a frame of sums or of files, of which each job has one for each task or slice."""
        try:
            with given_up_when_interrupted(self._source.session):
                return collected(frame)
        except Exception as error:
            if "ModuleNotFoundError" in str(error):
                raise SourceError(
                    "Spark's executors must be able to import counterfoil, and the modules of functions of your own."
                    " Found some that can't: install these in their Python, which PYSPARK_PYTHON names."
                ) from None
            # Spark's message may quote a record.
            raise SourceError(
                f"{self._source.name} could not be read to the end by Spark. What failed is in Spark's own logs, which"
                " may quote records."
            ) from None

    def _explained(self, trouble: Trouble, column: str = "") -> Exception:
        name = self._source.name
        if trouble is Trouble.UNPLACED:
            return self.schema[column].unplaced(0).located(0, self._source.place(0))
        if trouble is Trouble.UNREADABLE:
            stored = self._read_for(column)[-1]  # of a computed column, the later one that it is computed from
            return unreadable(column, name, self._source.column_types[stored], pa.ArrowInvalid())
        if trouble is Trouble.CHANGED:
            return SourceError(f"{name} has changed since it was first read. Start again.")
        if trouble in (Trouble.NOT_SHARED, Trouble.NOT_WRITTEN, Trouble.NOT_READ):
            return SourceError(
                "Coded rows are kept in a scratch folder that all executors must see and may fill. Found some for whom"
                f" it is missing, full or closed: set {SETTING} to a folder that is mounted alike on all machines."
            )
        return ValueError(f"What was asked of {name} could not be computed on its records.")


def _sent(tasks: Any, summing: Summing) -> Any:
    """The frame of the sums of each task."""
    try:
        return _mapped(tasks, sum_stored, summing, SUMS)
    except Exception:  # which one depends on what was to be pickled
        raise ValueError(
            "What a query computes with is sent to Spark's executors. Found something in it that can't be sent: hold"
            " no open files, locks or engines in it."
        ) from None


def _mapped(frame: Any, function: Callable, given_to_it: Any, schema: pa.Schema) -> Any:
    """The frame that `function` makes of each partition, from Arrow batches to Arrow batches."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return function(batches, given_to_it)

    return frame.mapInArrow(mapped, from_arrow_schema(schema))


def _encode(batches: Iterator[pa.RecordBatch], storing: Storing) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None, "this runs in a task"
    return encode(batches, storing, task.partitionId())


def _ranks(block: Block, *, most: int) -> np.ndarray:
    """int64 [most]: how many rows are the first, second, ... of their unit."""
    return np.bincount(block.codes[""], minlength=most + 1)[1 : most + 1].astype(np.int64)
