"""How copies keep the relations of numbers: rank correlations, and pairs of columns cut at deciles.

Run: python -m benchmarks.related_numbers --data ../shared/data [--epsilon 0.3 1 3 10] [--runs 3] [--tables california]
     [--files a.csv b.csv ...], tables whose schema a tenth of each epsilon buys

Beside AIM and MST stands AIM as if no column had an order, whose noisy interactions are believed alike in all
directions (`graphical_model/trust.py`), and `bootstrap`, which is as many real rows drawn with replacement. delta 1e-9,
add or remove one. `rho` is the mean distance of Spearman's correlation of two columns from that of the real rows,
`kept` the slope of the copy's correlations over the real ones (1 where relations are as strong, 0 where they are gone),
`pairs` the mean L1 distance of normalized counts over all pairs of columns, numbers of many values cut at deciles.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from benchmarks.tables import DELTA, SCHEMAS
from threadpoolctl import threadpool_limits

import counterfoil as cf
from counterfoil.graphical_model import smooth_directions

TABLES = {
    "california": ("california_housing.csv.gz", "california_housing"),
    "adult": ("adult.csv.gz", "adult"),
    "acs": ("acs_ma2019.csv", "acs_ma"),
}
METHODS = {"aim": cf.AIM(), "aim, no order": cf.AIM(), "mst": cf.MST()}
FEW = 12
"""Values up to which a column of numbers is not cut."""
SHARE = 0.1
"""Of epsilon, which buys a schema."""


@contextlib.contextmanager
def without_order() -> Iterator[None]:
    """A fit knows no order: as if columns with fewer ordered codes than there ever are had none."""
    with mock.patch.object(smooth_directions, "FEWEST_ORDERED", 10**9):
        yield


def cells(real: pd.DataFrame, table: pd.DataFrame, name: str) -> np.ndarray:
    """Codes of one column: its decile in the real table, or its value; -1 where it is missing."""
    known = real[name].dropna()
    if pd.api.types.is_numeric_dtype(real[name]) and known.nunique() > FEW:
        ends = np.unique(np.quantile(known, np.linspace(0, 1, 11)[1:-1]))
        numbers = pd.to_numeric(table[name], errors="coerce")
        return np.where(numbers.isna(), -1, np.searchsorted(ends, numbers, side="right"))
    texts = pd.Index(known.astype("string").unique())
    return texts.get_indexer(table[name].astype("string"))


def pair_error(real: pd.DataFrame, table: pd.DataFrame, names: list[str]) -> float:
    """The mean over all pairs."""
    both = [{name: pd.Series(cells(real, one, name)) for name in names} for one in (real, table)]
    errors = []
    for a, b in itertools.combinations(names, 2):
        left, right = (one[a].to_frame("a").assign(b=one[b]).value_counts(normalize=True) for one in both)
        errors.append(float(left.sub(right, fill_value=0).abs().sum()))
    return statistics.fmean(errors)


def correlations(table: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Of all pairs of columns of numbers."""
    return (
        table[names].apply(pd.to_numeric, errors="coerce").corr("spearman").to_numpy()[np.triu_indices(len(names), 1)]
    )


def figures(real: pd.DataFrame, table: pd.DataFrame) -> dict[str, float]:
    """The three of the table's head; columns that a schema left out do not count."""
    names = [name for name in real if name in table]
    numbers = [n for n in names if pd.api.types.is_numeric_dtype(real[n]) and real[n].nunique() > 2]
    true, found = (correlations(one, numbers) for one in (real, table))
    known = np.isfinite(true) & np.isfinite(found)
    true, found = true[known], found[known]
    return {
        "rho": float(np.abs(true - found).mean()),
        "kept": float((true * found).sum() / np.square(true).sum()),
        "pairs": pair_error(real, table, names),
    }


def copy_of(file: Path, schema: cf.Schema, method: str, epsilon: float, seed: int) -> pd.DataFrame:
    """One release."""
    known = without_order() if method.endswith("no order") else contextlib.nullcontext()
    with known, cf.Curator(file, schema, budget=cf.Budget(epsilon, DELTA), seed=seed) as curator:
        return METHODS[method].synthesize(curator).to_pandas()


def rows_of(name: str, file: Path, facts: Path | None, epsilons: list[float], runs: int) -> Iterator[dict]:
    """The figures of one table, one row for each release."""
    real = pd.read_csv(file)
    for run in range(runs):
        drawn = real.sample(len(real), replace=True, random_state=run).reset_index(drop=True)
        yield {"table": name, "method": "bootstrap", "epsilon": np.inf, **figures(real, drawn)}
    for epsilon in epsilons:
        schema, left = (cf.Schema.from_toml(facts), epsilon) if facts else bought(file, epsilon)
        for method, run in itertools.product(METHODS, range(runs)):
            made = copy_of(file, schema, method, left, run)
            yield {"table": name, "method": method, "epsilon": epsilon, **figures(real, made)}


def bought(file: Path, epsilon: float) -> tuple[cf.Schema, float]:
    """A schema, and what is left of epsilon."""
    schema, _ = cf.buy_schema(file, epsilon=SHARE * epsilon, delta=DELTA)
    return schema, (1 - SHARE) * epsilon


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--files", nargs="*", default=[], type=Path)
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.3, 1.0, 3.0, 10.0])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    asked = [
        (name, options.data / TABLES[name][0], SCHEMAS / f"{TABLES[name][1]}.schema.toml") for name in options.tables
    ]
    asked += [(file.stem, file, None) for file in options.files]
    rows: list[dict] = []
    with threadpool_limits(1):
        for name, file, facts in asked:
            rows += rows_of(name, file, facts, options.epsilon, options.runs)
            frame = pd.DataFrame([row for row in rows if row["table"] == name])
            print(frame.groupby(["table", "epsilon", "method"], sort=False).mean().round(4).to_string(), flush=True)


if __name__ == "__main__":
    main()
