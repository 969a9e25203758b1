"""How well numbers come back on skewed columns of whole tables, with nothing declared but generous bounds.

Run: python benchmarks/skewed_columns.py --data ../shared/data [--rows 3000 12000 48000] [--epsilon 0.3 1 3] [--seeds 3]
     [--method aim mst] [--table adult acs made] [--kind default book equal hand]

Three tables: Adult (15 columns, 48,842 rows), ACS of Massachusetts (16 columns of two years, 14,878 rows, drawn with
replacement beyond that), and a made one of 12 columns (delays, balances, fares, and categories that depend on them).
Delta is 1e-9, neighbors add or remove one. Four schemas of the skewed columns: `default` has only `lower` and `upper`,
generous by a factor of 2 to 10; `book` has these alone too, near the range of the data, as a code book or a rule of the
office names them; `equal` cuts the bounds of `default` into 40 equal bins; `hand` has edges made by hand, within the
bounds of `book`.

For each skewed column: relative errors of mean, deviation and 99th percentile, and the L1 distance on the edges made by
hand (of at most 2); medians over seeds. Beside them the limit of the noise: the deviation of the mean that noise as
large as that of the column's own counts leaves on the edges made by hand, were everything within these bins known.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SCHEMAS = Path(__file__).parent / "schemas"
DELTA = 1e-9
GAIN = [0, 1, 1000, 2000, 3000, 4000, 5000, 7000, 8000, 10000, 14000, 16000, 20000, 30000, 50000, 99999]
LOSS = [0, 1, 1000, 1400, 1600, 1800, 2000, 2200, 2400, 2600, 3000, 4000]
INCOME = [-10000, 0, 1, *range(5000, 100000, 5000), *range(100000, 200000, 20000), 200000, 300000, 400000, 600000]
DELAY = [-60, -20, -10, -5, 0, 5, 10, 20, 30, 60, 120, 240, 480]
BALANCE = [-8000, -500, 0, 1, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]
FARE = [0, 5, 10, 15, 20, 30, 50, 80, 120, 200]
SKEWED: dict[str, dict[str, tuple[float, float, list[int]]]] = {
    "adult": {"capital-gain": (0, 500_000, GAIN), "capital-loss": (0, 20_000, LOSS)},
    "acs": {"PINCP": (-20_000, 5_000_000, INCOME)},
    "made": {"delay": (-120, 5_000, DELAY), "balance": (-100_000, 2_000_000, BALANCE), "fare": (0, 2_000, FARE)},
}
"""By table and column: generous bounds, and edges made by hand."""
LARGEST = {
    "capital-gain": 99_999,
    "capital-loss": 5_000,
    "PINCP": 1_341_000,
    "delay": 2400,
    "balance": 400_000,
    "fare": 1000,
}
"""The upper bound beside the edges that are made by hand, and of a code book."""


def made_table(rows: int = 60_000) -> pd.DataFrame:
    """Delays of flights, balances of accounts and fares, with categories that depend on them."""
    rng = np.random.default_rng(20_240_501)
    kinds = rng.integers(0, 4, rows)
    late = rng.random(rows) < 0.2 + 0.05 * kinds
    delay = np.where(late, 35 * rng.exponential(1, rows) ** 1.4, rng.normal(-4, 7, rows))
    balance = np.exp(rng.normal(7.5 + 0.3 * kinds, 1.2, rows)) * np.where(rng.random(rows) < 0.08, -0.1, 1)
    table = {
        "delay": np.clip(np.rint(delay), -60, 2400).astype(int),
        "balance": np.where(rng.random(rows) < 0.1, 0, np.clip(np.rint(balance), -8000, 400_000)).astype(int),
        "fare": np.round(np.minimum(rng.gamma(1.5, 12, rows) * (1 + kinds), 900), 2),
        "kind": kinds,
        "late": (delay > 15).astype(int),
        "rich": (balance > 4000 * np.exp(rng.normal(0, 0.5, rows))).astype(int),
    }
    for i in range(6):
        table[f"c{i}"] = (kinds + rng.integers(0, 3, rows)) % 4
    return pd.DataFrame(table)


def read(name: str, folder: Path) -> tuple[pd.DataFrame, str]:
    """A table, and the schema of its columns that are not skewed."""
    if name == "adult":
        table = pd.read_csv(folder / "adult.csv.gz", skipinitialspace=True)
        return table, (SCHEMAS / "adult.schema.toml").read_text()
    if name == "acs":
        parts = [pd.read_csv(folder / f"acs_ma{year}.csv", dtype=str) for year in (2018, 2019)]
        return pd.concat(parts, ignore_index=True), (SCHEMAS / "acs_ma.schema.toml").read_text()
    few = {"kind": 4, "late": 2, "rich": 2} | {f"c{i}": 4 for i in range(6)}
    return made_table(), "".join(
        f'[columns.{column}]\nkind = "integer"\nlower = 0\nupper = {size - 1}\n' for column, size in few.items()
    )


def schema_text(name: str, base: str, kind: str) -> str:
    """The schema with its skewed columns declared in one of four ways."""
    for column, (lower, upper, edges) in SKEWED[name].items():
        real = column == "fare"
        facts = {"equal": "bins = 40\n", "hand": f"edges = {[*edges, 1000] if real else edges}\n"}.get(kind, "")
        if kind in ("book", "hand"):
            lower, upper = edges[0], LARGEST[column]
        decimals = "decimals = 2\n" if real and not facts else ""
        missing = 'missing = true\nmissing_values = ["N"]\n' if column == "PINCP" else ""
        head = f'[columns.{column}]\nkind = "{"real" if real else "integer"}"\nlower = {lower}\nupper = {upper}\n'
        text = f"{head}{facts}{decimals}{missing}\n"
        found = re.search(rf"^\[columns\.{re.escape(column)}\].*?(?=^\[|\Z)", base, re.S | re.M)
        base = base.replace(found[0], text) if found else base + text
    return base


def figures(values: np.ndarray) -> np.ndarray:
    """Mean, deviation and 99th percentile."""
    return np.array([values.mean(), values.std(), np.quantile(values, 0.99)])


def shares(values: np.ndarray, edges: list[int]) -> np.ndarray:
    """The share of values in each bin of the edges made by hand, the last without end."""
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1) / len(values)


def noise_limit(values: np.ndarray, edges: list[int], scale: float) -> float:
    """The relative deviation of the mean under noise in the counts of the bins, their means known exactly."""
    bins = np.searchsorted(edges, values, side="right")
    sums, counts = np.bincount(bins, values), np.bincount(bins)
    means = sums[counts > 0] / counts[counts > 0]
    return float(scale * np.sqrt(np.sum((means - values.mean()) ** 2)) / abs(sums.sum()))


def noise_of_columns(charges: list[dict[str, Any]]) -> float:
    """The deviation of a count, had all that the columns cost been spent on one query."""
    first, second = charges[:2]
    twice = first["query"] == second["query"] and first["parameters"] == second["parameters"]
    counted = [charge for charge in (first, second) if charge is first or twice]
    summed = [charge for charge in charges if charge["query"] == "function_averages"]
    # What each charge cost is known by the square of its sensitivity over its noise; that of the sums is of one column.
    cost = sum((one["sensitivity"] / one["noise"]["scale"]) ** 2 for one in (*counted, *summed))
    return float(first["sensitivity"] / np.sqrt(cost))


def one_run(table: pd.DataFrame, text: str, method: str, epsilon: float, seed: int) -> tuple[Any, float]:
    """A synthesis, and its CPU seconds."""
    from counterfoil import AIM, MST, Budget, Curator, Schema

    begun = time.process_time()
    with Curator(table, Schema.from_toml(text), budget=Budget(epsilon, DELTA), seed=seed) as curator:
        result = (AIM() if method == "aim" else MST()).synthesize(curator)
    return result, time.process_time() - begun


def main() -> None:
    warnings.simplefilter("ignore")  # no ledger is needed for public tables
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[3000, 12000, 48000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--method", nargs="+", default=["aim", "mst"])
    parser.add_argument("--table", nargs="+", default=["adult", "acs", "made"])
    parser.add_argument("--kind", nargs="+", default=["default", "book", "equal", "hand"])
    chosen = parser.parse_args()
    print("table method epsilon rows kind column | mean deviation p99 L1 | limit of the mean | CPU s")
    for name in chosen.table:
        table, base = read(name, chosen.data)
        columns = set(tomllib.loads(schema_text(name, base, "default"))["columns"])
        table = table[[column for column in table if column in columns]]
        for method in chosen.method:
            for epsilon in chosen.epsilon:
                for rows in chosen.rows:
                    for line in measure(name, table, base, method, epsilon, rows, chosen):
                        print(line, flush=True)


def measure(
    name: str, table: pd.DataFrame, base: str, method: str, epsilon: float, rows: int, chosen: argparse.Namespace
) -> Iterator[str]:
    """A line for each kind of schema and skewed column."""
    for kind in chosen.kind:
        text = schema_text(name, base, kind)
        found: dict[str, list[np.ndarray]] = {column: [] for column in SKEWED[name]}
        limits: dict[str, float] = {}
        seconds = []
        for seed in range(chosen.seeds):
            drawn = table.sample(rows, random_state=seed, replace=rows > len(table))
            result, spent = one_run(drawn, text, method, epsilon, seed)
            seconds.append(spent)
            synthetic = result.to_pandas()
            scale = noise_of_columns(result.receipt.document["charges"])
            for column, (_, _, edges) in SKEWED[name].items():
                real = pd.to_numeric(drawn[column], errors="coerce").dropna().to_numpy(float)
                copy = pd.to_numeric(synthetic[column], errors="coerce").dropna().to_numpy(float)
                far = np.abs(shares(real, edges) - shares(copy, edges)).sum()
                found[column].append(np.append(np.abs(figures(copy) / figures(real) - 1), far))
                limits[column] = noise_limit(real, edges, scale)
        for column, errors in found.items():
            middle = np.median(errors, axis=0)
            yield (
                f"{name} {method} {epsilon:g} {rows} {kind} {column} | "
                + " ".join(f"{error:.3f}" for error in middle)
                + f" | {limits[column]:.3f} | {statistics.median(seconds):.0f}"
            )


if __name__ == "__main__":
    main()
