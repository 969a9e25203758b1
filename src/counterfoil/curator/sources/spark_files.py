"""The Parquet files of this machine that a frame of Spark is, where whoever opens them reads what Spark would read.

Spark's Java passes on each cell of such files twice, from Parquet to rows and from rows to Arrow, which is most of what
a table in Spark costs. Which files they are, and what the names of folders say, is asked of Spark itself; what they
hold is compared with what Spark says of the frame, and wherever anything is not known to be alike, Spark reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from counterfoil.curator.sources.file_source import stamp
from counterfoil.schema.spark_types import MOMENTS, is_plain, is_read_alike

_PLAN = "org.apache.spark.sql.execution.datasources"

_OPTIONS = {
    *("path", "paths", "__paths__", "basepath", "pathglobfilter", "modifiedbefore", "modifiedafter"),
    *("recursivefilelookup", "mergeschema", "ignorecorruptfiles", "ignoremissingfiles"),
}
"""Options of a reader that say which files there are, and which columns; others change what is read of them."""

_SKIPS, _EXTENSIONS = "spark.sql.files.ignoreCorruptFiles", "spark.sql.extensions"
_OFF = ("spark.sql.parquet.fieldId.read.enabled", "spark.sql.parquet.int96TimestampConversion")

_CALENDARS = {
    False: ("spark.sql.parquet.datetimeRebaseModeInRead", b"3.0.0", b"org.apache.spark.legacyDateTime"),
    True: ("spark.sql.parquet.int96RebaseModeInRead", b"3.1.0", b"org.apache.spark.legacyINT96"),
}
"""Of moments in 96 bits or not: the setting for files that do not say by which calendar their days were counted,
the first version that counts by today's, and what says that it did not."""


@dataclass(frozen=True)
class SparkFile:
    """A Parquet file, without its cells.

    Args:
        path: absolute.
        stamp: its size and the time of its last change.
        groups: how many rows each of its groups has.
        folders: by column, what the names of its folders say; None where they say that it is missing.
    """

    path: Path
    stamp: tuple[int, int]
    groups: tuple[int, ...]
    folders: Mapping[str, str | None]


def files_of(frame: Any, types: Mapping[str, pa.DataType]) -> tuple[SparkFile, ...] | None:
    """The files that a frame reads from end to end and does nothing else with; None where Spark must read it.

    Spark reads it unless all of this holds: its executors are threads of this machine's own session; the frame is
    Parquet as it was read, neither filtered nor cached; no setting and no option changes what is read; the files are
    local, and since Spark listed them none has changed; each is readable here; and every column that is asked for has
    in each file either a plain type whose values Spark and Arrow read alike, or is missing from it.

    Args:
        frame: as it was given.
        types: by column, the Arrow types in which Spark's executors would get its cells.
    """
    try:
        session = frame.sparkSession
        if not is_on_this_machine(session.sparkContext.master):
            return None
        relation = _relation(frame)
        if relation is None or any(field.metadata for field in frame.schema.fields if field.name in types):
            return None
        modes = {wide: session.conf.get(mode) for wide, (mode, *_) in _CALENDARS.items()}
        found = [_file(*listed, types, modes) for listed in _listed(session, relation, types)]
    except Exception:  # of a session or a version of Spark with other insides, or of a file that is not read here
        return None
    files = tuple(file for file in found if file is not None)
    return files if len(files) == len(found) else None


def is_on_this_machine(master: object) -> bool:
    """Whether executors are threads of the session's own Java."""
    return re.fullmatch(r"local(\[.*\])?", str(master)) is not None


def _relation(frame: Any) -> Any:
    """What Java knows of the Parquet files that a frame is; None where it is something else, or read in another way."""
    session = frame.sparkSession
    plan = frame._jdf.queryExecution().optimizedPlan()
    kept = frame.storageLevel
    if _kind(plan) != f"{_PLAN}.LogicalRelation" or kept.useMemory or kept.useDisk or kept.useOffHeap:
        return None
    relation = plan.relation()
    parts = [relation, relation.fileFormat(), relation.location()]
    kinds = ["HadoopFsRelation", "parquet.ParquetFileFormat", "InMemoryFileIndex"]
    if [_kind(part) for part in parts] != [f"{_PLAN}.{kind}" for kind in kinds]:
        return None
    options = dict(session._jvm.scala.jdk.javaapi.CollectionConverters.asJava(relation.options()))
    if not {name.lower() for name in options} <= _OPTIONS or session.conf.get(_EXTENSIONS, None):
        return None
    settings = [options.get("ignorecorruptfiles", session.conf.get(_SKIPS)), *map(session.conf.get, _OFF)]
    return relation if all(value == "false" for value in settings) else None


def _kind(thing: Any) -> str:
    return str(thing.getClass().getName())


def _listed(
    session: Any, relation: Any, types: Mapping[str, pa.DataType]
) -> Iterator[tuple[Path, tuple[int, int], dict[str, str | None]]]:
    """The path of each file, its size with the milliseconds of its last change, and what the names of folders say.

    Raises:
        ValueError: for a file that is not on this machine, and for names of folders that are read as anything but text.
    """
    named = [(field.name(), field.dataType().typeName()) for field in relation.partitionSchema().fields()]
    if any(name in types and kind != "string" for name, kind in named):
        raise ValueError("What the names of folders say is not text.")
    all_of_them = getattr(getattr(session._jvm.scala.collection.immutable, "Nil$"), "MODULE$")
    folders = relation.location().listFiles(all_of_them, all_of_them)
    for place in range(folders.size()):
        folder = folders.apply(place)
        values, files = folder.values(), folder.files()
        said = {
            name: None if values.isNullAt(i) else values.getUTF8String(i).toString() if kind == "string" else ""
            for i, (name, kind) in enumerate(named)
        }
        for number in range(files.size()):
            file = files.apply(number)
            address = file.getPath().toUri()
            if address.getScheme() != "file" or address.getAuthority():
                raise ValueError("A file is not on this machine.")
            yield Path(address.getPath()), (file.getLen(), file.getModificationTime()), said


def _file(
    path: Path,
    listed: tuple[int, int],
    folders: dict[str, str | None],
    types: Mapping[str, pa.DataType],
    modes: Mapping[bool, str],
) -> SparkFile | None:
    """A file as it is; None where Spark would read it in another way, or it is no more what was listed.

    Args:
        listed: its size and the milliseconds of its last change when Spark listed it.
        folders: what the names of folders say.
        types: in which its cells are wanted.
        modes: the settings of calendars, as `_CALENDARS`.

    Raises:
        OSError, pyarrow.ArrowException: where it can't be read.
    """
    seen = stamp(path)
    if (seen[0], seen[1] // 10**6) != listed:
        return None
    with opened(path) as file:
        stored, facts = file.schema_arrow, file.metadata
    names = [*stored.names, *folders]
    if len({name.lower() for name in names}) != len(names):
        return None
    if not all(name in folders or _is_plain_in(name, wanted, stored, facts, modes) for name, wanted in types.items()):
        return None
    groups = tuple(facts.row_group(place).num_rows for place in range(facts.num_row_groups))
    return SparkFile(path, seen, groups, {name: folders[name] for name in types if name in folders})


def opened(path: Path, **ways: Any) -> parquet.ParquetFile:
    """The file; its moments in 96 bits are in microseconds, as Spark reads them: nanoseconds would not reach 2263."""
    return parquet.ParquetFile(path, coerce_int96_timestamp_unit="us", **ways)


def _is_plain_in(
    name: str, wanted: pa.DataType, stored: pa.Schema, facts: parquet.FileMetaData, modes: Mapping[bool, str]
) -> bool:
    """Whether a column is read alike, or is in the file under no other spelling of its name."""
    parts = name.split(".")
    if any(stored.get_field_index(".".join(parts[:length])) >= 0 for length in range(1, len(parts))):
        return False  # Arrow takes a dot in a name for the way into a structure
    if stored.get_field_index(name) < 0:
        return is_plain(wanted) and name.lower() not in {other.lower() for other in stored.names}
    if not pa.types.is_temporal(wanted):
        return is_read_alike(stored.field(name).type, wanted)
    leaves = map(facts.schema.column, range(facts.num_columns))
    wide = any(leaf.path == name and leaf.physical_type == "INT96" for leaf in leaves)
    alike = wanted == MOMENTS if wide else is_read_alike(stored.field(name).type, wanted)
    return alike and _counts_alike(facts.metadata or {}, modes[wide], *_CALENDARS[wide][1:])


def _counts_alike(said: Mapping[bytes, bytes], mode: str, since: bytes, mark: bytes) -> bool:
    """Whether days are counted by today's calendar, in which Arrow reads them: before 1582 others differ.

    Args:
        said: what the file says of itself.
        mode, since, mark: as in `_CALENDARS`.
    """
    version = said.get(b"org.apache.spark.version")
    return mode == "CORRECTED" if version is None else version >= since and mark not in said
