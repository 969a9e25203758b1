"""How time and memory grow with the rows: reading, counting, MST, AIM, privacy units, drawing and writing.

Run: python benchmarks/scale.py --data ../shared/data/adult.csv.gz [--rows 1e5 1e6 1e7] [--only read count ...]
     [--threads N] [--folder F]

The table is raw Adult (48,842 rows, 15 columns), whose rows are drawn anew, with replacement, until there are as many
as asked for, as Parquet in groups of a million rows. epsilon 1, delta 1e-9, add or remove one. Every job runs in a
process of its own; its CPU seconds, its wall time and its peak memory count everything, imports too. Beside each stands
its ratio to a plain read of the same columns of the same file by pyarrow, in the same run: on a busy machine wall times
mean little, and CPU seconds grow too, but the ratio of CPU seconds moves less. The growth is that of CPU seconds, less
those of the smallest table, from one size to the next.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

SCHEMA = Path(__file__).parent / "schemas" / "adult.schema.toml"
GROUP_ROWS = 1_000_000
UNIT = "unit"


def make(data: Path, rows: int, path: Path) -> None:
    """Writes the table, with a column of units of two rows each on average, which the jobs but one leave out."""
    few = csv.read_csv(data, convert_options=csv.ConvertOptions(strings_can_be_null=False)).combine_chunks()
    rng = np.random.default_rng(0)
    schema = few.schema.append(pa.field(UNIT, pa.int64()))
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, GROUP_ROWS):
            size = min(GROUP_ROWS, rows - start)
            units = pa.array(rng.integers(0, max(rows // 2, 1), size))
            writer.write_table(few.take(pa.array(rng.integers(0, len(few), size))).append_column(UNIT, units))


def read(path: Path) -> None:
    """What every other job is compared with: the columns as pyarrow reads them, on one thread, a batch at a time."""
    from counterfoil.schema.schema import Schema

    names = list(Schema.from_toml(SCHEMA).domain.attributes)
    for _ in parquet.ParquetFile(path).iter_batches(2**17, columns=names, use_threads=False):
        pass


def encode(path: Path) -> None:
    """All columns read through the schema, and kept."""
    _records(path)


def count(path: Path) -> None:
    """The same, and all 105 pairs of columns counted."""
    records, names = _records(path)
    records.marginals(list(combinations(names, 2)))


def bound(path: Path) -> None:
    """The rows that units of two on average keep, at most two each."""
    from counterfoil.curator.engines.units import kept_rows
    from counterfoil.curator.sources.opening import open_source
    from counterfoil.noise.randomness import SystemRandomness

    kept_rows(open_source(path), UNIT, 2, SystemRandomness())


def mst(path: Path) -> None:
    """A whole release: a table in, a table of as many rows out."""
    _release(path, "mst")


def aim(path: Path) -> None:
    """A whole release: a table in, a table of as many rows out."""
    _release(path, "aim")


def draw(path: Path) -> None:
    """As many rows drawn from the model of a small release, and written as Parquet."""
    import counterfoil
    from counterfoil.schema.schema import Schema
    from counterfoil.synthesis.row_parts import draw_parts
    from counterfoil.synthesis.table import write_parts

    schema = Schema.from_toml(SCHEMA)
    few = next(parquet.ParquetFile(path).iter_batches(40_000, columns=list(schema.domain.attributes)))
    made = counterfoil.synthesize(pa.Table.from_batches([few]), schema, epsilon=1, method="mst", seed=0, rows=1)
    rows = draw_parts(made.model, schema, parquet.read_metadata(path).num_rows, np.random.default_rng(0))  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        write_parts(rows.tables(coded=True), Path(folder) / "drawn.parquet", schema)


def _records(path: Path):
    from counterfoil.curator.engines.duckdb import DuckDBEngine
    from counterfoil.curator.records import ExactRecords
    from counterfoil.curator.sources.opening import open_source

    schema = _with_unit()
    engine = DuckDBEngine(open_source(path), schema)
    engine.prepare(schema.domain.attributes)
    return ExactRecords(engine, schema.domain), schema.domain.attributes


def _release(path: Path, method: str) -> None:
    import counterfoil

    made = counterfoil.synthesize(path, _with_unit(), epsilon=1, method=method)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made.write(Path(folder) / "made.parquet")  # type: ignore[union-attr]


def _with_unit():
    from dataclasses import replace

    from counterfoil.schema.schema import Schema

    schema = Schema.from_toml(SCHEMA)
    return replace(schema, ignore=(*schema.ignore, UNIT))


JOBS: dict[str, Callable[[Path], None]] = {
    "read": read, "encode": encode, "count": count, "bound": bound, "mst": mst, "aim": aim, "draw": draw,
}  # fmt: skip


def measured(job: str, path: Path, environment: dict[str, str]) -> dict[str, float]:
    """CPU seconds, wall seconds and megabytes at the peak, of a process that does nothing else."""
    command = [sys.executable, __file__, "--job", job, "--table", str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{job} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def do(job: str, path: Path) -> None:
    """Runs one job in this process, and prints what it took."""
    import warnings

    warnings.simplefilter("ignore")  # that there is no ledger
    begun = time.perf_counter()
    JOBS[job](path)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    print(json.dumps({"cpu": cpu, "wall": time.perf_counter() - begun, "peak": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/adult.csv.gz"))
    parser.add_argument("--rows", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--only", nargs="+", choices=[*JOBS], default=[*JOBS])
    parser.add_argument("--threads", type=int, help="of each job; as many as there are cores where left out")
    parser.add_argument("--folder", type=Path, help="where the tables are written; a temporary one if left out")
    parser.add_argument("--job", choices=[*JOBS], help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        do(given.job, given.table)
        return
    environment = os.environ | ({"OMP_NUM_THREADS": str(given.threads)} if given.threads else {})
    print("| job | rows | CPU s | wall s | peak MB | CPU / plain read | growth |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        before: dict[str, list[float]] = {}
        for rows in sorted(map(int, given.rows)):
            path = Path(folder) / f"{rows}.parquet"
            make(given.data, rows, path)
            plain = measured("read", path, environment)
            for job in dict.fromkeys(["read", *given.only]):
                took = plain if job == "read" else measured(job, path, environment)
                spent = before.setdefault(job, [])
                spent.append(took["cpu"])
                growth = f"{(spent[-1] - spent[0]) / (spent[-2] - spent[0]):.1f}" if len(spent) > 2 else ""
                print(
                    f"| {job} | {rows:,} | {took['cpu']:.1f} | {took['wall']:.1f} | {took['peak']:,.0f} "
                    f"| {took['cpu'] / plain['cpu']:.1f} | {growth} |",
                    flush=True,
                )
            path.unlink()


if __name__ == "__main__":
    main()
