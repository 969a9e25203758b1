"""Wide tables: CPU seconds and memory of whole syntheses, as multiples of a yardstick of the same machine, and errors.

Run: OMP_NUM_THREADS=1 python -m benchmarks.width [--only 200:mst] [--seeds 1] [--rows 20000]

The tables are made here: columns of 4 values in a random forest, where a column is a permuted copy of an earlier one in
half of the rows, and every seventh column begins a tree. Each synthesis runs in a process of its own, from a CSV file
to rows, imports included, at epsilon 1. Its CPU seconds are divided by those of a plain loop of 10 million additions in
Python, measured before it. `pairs` is the mean L1 distance of the normalized pairs of columns, rows against records;
`structured` is that of pairs that are further than 0.1 from independent.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

CASES = ("50:mst", "50:aim", "50:focus", "200:mst", "200:aim", "1000:independent", "1000:mst", "5000:independent")
VALUES = 4


def forest(columns: int, rows: int, seed: int = 0) -> np.ndarray:
    """int64 [rows, columns]: codes."""
    rng = np.random.default_rng(seed)
    codes = np.empty((rows, columns), dtype=np.int64)
    for j in range(columns):
        own = rng.choice(VALUES, rows, p=rng.dirichlet([3.0] * VALUES))
        if j % 7 == 0:
            codes[:, j] = own
            continue
        parent = rng.integers(max(0, j - 12), j)
        copied = rng.permutation(VALUES)[codes[:, parent]]
        codes[:, j] = np.where(rng.random(rows) < 0.5, own, copied)
    return codes


def write(folder: Path, codes: np.ndarray) -> None:
    """A table and its schema."""
    names = [f"c{j}" for j in range(codes.shape[1])]
    arrow_csv.write_csv(pa.table(dict(zip(names, codes.T, strict=True))), folder / "table.csv")
    values = ", ".join(f'"{value}"' for value in range(VALUES))
    text = "".join(f'[columns.{name}]\nkind = "categorical"\nvalues = [{values}]\n' for name in names)
    (folder / "schema.toml").write_text(text, encoding="utf-8")


def synthesize(folder: Path, method: str, seed: int) -> None:
    """One synthesis, in this process; its codes are kept beside the table."""
    import counterfoil as cf
    from counterfoil.methods.aim import AIM

    made = cf.synthesize(
        folder / "table.csv",
        folder / "schema.toml",
        epsilon=1.0,
        method=AIM(focus="c0") if method == "focus" else method,
        seed=seed,
    )
    np.save(folder / "codes.npy", np.stack(list(made.codes.values()), axis=1))


def pair_errors(real: np.ndarray, made: np.ndarray) -> tuple[float, float]:
    """The mean L1 distance of all pairs, and of those with structure."""
    shares = [
        np.concatenate([(codes == value) for value in range(VALUES)], axis=1).astype(np.float32)
        for codes in (real, made)
    ]
    joint, other = (part.T @ part / len(part) for part in shares)
    margins = shares[0].mean(axis=0)
    upper = np.triu_indices(real.shape[1], 1)

    def by_pair(difference: np.ndarray) -> np.ndarray:
        cells = np.abs(difference).reshape(VALUES, real.shape[1], VALUES, real.shape[1])
        return cells.sum(axis=(0, 2))[upper]

    errors, structure = by_pair(joint - other), by_pair(joint - np.outer(margins, margins))
    return float(errors.mean()), float(errors[structure > 0.1].mean())


def yardstick() -> float:
    """CPU seconds of a plain loop."""
    started = time.process_time()
    total = 0
    for i in range(10_000_000):
        total += i
    return time.process_time() - started


def measured(folder: Path, method: str, seed: int) -> tuple[float, float]:
    """CPU seconds and the largest resident megabytes of a synthesis in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.width", "--one", str(folder), method, str(seed)]
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / 1024


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=CASES, default=CASES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        synthesize(Path(options.one[0]), options.one[1], int(options.one[2]))
        return
    print(f"{'columns':>7} {'method':12} {'seconds':>8} {'yardsticks':>10} {'MB':>6} {'pairs':>8} {'structured':>10}")
    for case in options.only:
        columns, method = int(case.split(":")[0]), case.split(":")[1]
        real = forest(columns, options.rows)
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), real)
            for seed in range(options.seeds):
                unit = yardstick()
                seconds, megabytes = measured(Path(folder), method, seed)
                errors = pair_errors(real, np.load(Path(folder) / "codes.npy")) if columns <= 1000 else (np.nan, np.nan)
                print(
                    f"{columns:7} {method:12} {seconds:8.1f} {seconds / unit:10.1f} {megabytes:6.0f} "
                    f"{errors[0]:8.5f} {errors[1]:10.5f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
