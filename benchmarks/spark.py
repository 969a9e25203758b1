"""What a table in Spark costs beside the same table in memory: reading, encoding, and all pairs of ten columns.

Run: python benchmarks/spark.py [--rows 1e6 1e7] [--only memory commands own] [--master local[2]] [--repeat 1]
     [--folder F] [--processes]

Ten columns, six of them texts, are made up and written as Parquet in groups of a million rows. `commands` is a session
as commands start it, `own` a plain one of a user's. Each is measured in a process of its own: the CPU seconds of this
process and of all that it started, Java and the Pythons of executors, beyond the import of the package. The counts must
be equal. `--processes` says where they went: by process, and within Java by kind of thread.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

GROUP_ROWS = 1_000_000
TICKS = os.sysconf("SC_CLK_TCK")
TEXTS = {"sex": 2, "region": 4, "housing": 5, "status": 6, "branch": 9, "degree": 16}
SCHEMA = """
[columns.age]
kind = "integer"
lower = 0
upper = 99
bins = 20

[columns.hours]
kind = "integer"
lower = 0
upper = 79
bins = 20

[columns.income]
kind = "real"
lower = 0
upper = 100000
bins = 20

[columns.weight]
kind = "real"
lower = 30
upper = 150
bins = 20
"""
JOBS = ("memory", "commands", "own")


def make(rows: int, path: Path) -> None:
    """Writes the table; `weight` has one digit, `income` is different in almost each row."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, GROUP_ROWS):
        size = min(GROUP_ROWS, rows - start)
        columns = {
            "age": pa.array(rng.integers(0, 100, size)),
            "hours": pa.array(np.clip(rng.normal(38, 9, size), 0, 79).astype(np.int64)),
            "income": pa.array(np.minimum(rng.lognormal(10, 0.6, size), 100_000)),
            "weight": pa.array(np.clip(rng.normal(75, 14, size), 30, 150).round(1)),
        }
        for name, values in TEXTS.items():
            columns[name] = pa.array(labels(name, values)).take(pa.array(rng.integers(0, values, size)))
        table = pa.table(columns)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def labels(name: str, values: int) -> list[str]:
    return [f"{name} {value}" for value in range(values)]


def schema_text() -> str:
    texts = [f'[columns.{n}]\nkind = "categorical"\nvalues = {json.dumps(labels(n, v))}\n' for n, v in TEXTS.items()]
    return SCHEMA + "\n" + "\n".join(texts)


def do(job: str, path: Path, master: str) -> None:
    """Runs one job in this process, and prints what it took."""
    warnings.simplefilter("ignore")
    from counterfoil.curator.engines.memory import MemoryEngine
    from counterfoil.curator.engines.spark import SparkEngine
    from counterfoil.curator.records import ExactRecords
    from counterfoil.curator.sources.opening import open_source
    from counterfoil.schema.schema import Schema

    schema = Schema.from_toml(schema_text())
    names = schema.domain.attributes
    marks = [spent()]
    if job == "memory":
        engine = MemoryEngine(open_source(path), schema)
    else:
        if job == "own":
            session = _own(master)
            source = open_source(session.read.parquet(str(path)))
        else:
            os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master {master} pyspark-shell"
            source = open_source(f"spark+parquet://{path}")
        engine = SparkEngine(source, schema)
    marks.append(spent())
    engine.prepare(names)
    marks.append(spent())
    for _ in range(2):
        counts = ExactRecords(engine, schema.domain).marginals(list(combinations(names, 2)))
        marks.append(spent())
    digest = hashlib.sha256(b"".join(part.astype(np.int64).tobytes() for part in counts)).hexdigest()[:16]
    cells = sum(part.size for part in counts)
    where = {name: np.diff([mark.get(name, 0.0) for mark in marks]).tolist() for name in marks[-1]}
    steps = np.diff([*map(total, marks)]).tolist()
    print(json.dumps({"steps": steps, "digest": digest, "cells": cells, "where": where}))


def _own(master: str):
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()


def total(where: dict[str, float]) -> float:
    """CPU seconds of all processes: threads of Java are told beside its whole."""
    return sum(seconds for name, seconds in where.items() if not name.startswith("java: "))


def spent() -> dict[str, float]:
    """CPU seconds of this process and all that descend from it, ended ones too, by what they are."""
    children: dict[int, list[int]] = {}
    stats = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _fields(folder / "stat")):
            stats[int(folder.name)] = fields
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found: Counter[str] = Counter()
    todo = [os.getpid()]
    while todo:
        process = todo.pop()
        todo += children.get(process, [])
        fields = stats[process]
        name = "driver" if process == os.getpid() else _name(process)
        found[name] += (int(fields[11]) + int(fields[12])) / TICKS
        found["ended"] += (int(fields[13]) + int(fields[14])) / TICKS
        if name == "java":
            for thread in Path(f"/proc/{process}/task").iterdir():
                if fields := _fields(thread / "stat"):
                    found["java: " + _thread(thread)] += (int(fields[11]) + int(fields[12])) / TICKS
    return dict(found)


def _fields(stat: Path) -> list[str]:
    """What follows the name of a process or thread in its line of /proc."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _name(process: int) -> str:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "other"
    if words[0].endswith(b"java"):
        return "java"
    return "executors' Python" if b"python" in words[0] else "other"


def _thread(thread: Path) -> str:
    try:
        name = (thread / "comm").read_text().strip()
    except OSError:
        return "ended"
    name = name[:2] if re.match(r"(C\d|G1) ", name) else re.sub(r"[#\d].*", "", name).strip(" -")
    return name or "unnamed"


def measured(job: str, path: Path, master: str) -> dict:
    command = [sys.executable, __file__, "--job", job, "--table", str(path), "--master", master]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{job} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--only", nargs="+", choices=JOBS, default=JOBS)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--repeat", type=int, default=1, help="each job so many times, in turn")
    parser.add_argument("--folder", type=Path, help="where the tables are written; a temporary one if left out")
    parser.add_argument("--processes", action="store_true", help="say where the CPU seconds went")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        do(given.job, given.table, given.master)
        return
    print("| job | rows | start | reading and encoding | 45 pairs | once more | start to pairs |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for rows in map(int, given.rows):
            path = Path(given.folder or folder) / f"{rows}.parquet"
            if not path.exists():
                make(rows, path)
            digests = set()
            for _ in range(given.repeat):
                for job in given.only:
                    took = measured(job, path, given.master)
                    digests.add((took["digest"], took["cells"]))
                    steps = took["steps"]
                    cells = " | ".join(f"{seconds:.1f}" for seconds in [*steps, sum(steps[:3])])
                    print(f"| {job} | {rows:,} | {cells} |", flush=True)
                    if given.processes:
                        for name, spent_by in sorted(took["where"].items(), key=lambda item: -sum(item[1])):
                            if sum(spent_by) >= 0.15:
                                print(f"    {name:24}", *(f"{seconds:6.1f}" for seconds in spent_by), flush=True)
            assert len(digests) == 1, "the counts are not equal"
        print(digests)


if __name__ == "__main__":
    main()
