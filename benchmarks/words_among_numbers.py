"""How often a purchase finds the words among numbers, such as <0.5, and what it takes columns for that have some.

Run: python benchmarks/words_among_numbers.py [--rows 300 2000 10000] [--epsilon 0.1 0.3 1] [--seeds 10]

Three made tables, of each size:

- by share: ten columns, of which three are reals with one limit, <0.5, in 1 to 40% of the cells; which part of these
  columns got it as one of their `words`, and which were taken for reals;
- by kind: ages with 75+, laboratory values with <0.5 in three of ten cells, children with 3+, steps of 30 with 120+,
  which are five values in all, and marks, of which 1 and 1+ differ; how often each was one of numbers with words, of
  numbers without, of categories, or left out;
- by limit: ages with 75+ in a fifth of the cells and kidney values with >= 90 in three of five, of which no other
  number shows by itself, beside the columns of the second table and eight of whole numbers; likewise.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.discover import discover

SHARES = (0.01, 0.02, 0.05, 0.2, 0.4)


def by_share(rows: int, share: float) -> pd.DataFrame:
    """Three columns with <0.5 in this share of the cells, four of whole numbers and three of categories."""
    rng = np.random.default_rng(1)
    columns = {}
    for place in range(3):
        values, below = rng.gamma(2, 3, rows).round(1), rng.random(rows) < share
        columns[f"lab{place}"] = np.where(below, "<0.5", np.maximum(values, 0.5).astype(str))
    columns |= {f"number{place}": rng.integers(0, 200, rows) for place in range(4)}
    columns |= {f"letter{place}": rng.choice(list("abcde"), rows) for place in range(3)}
    return pd.DataFrame(columns)


def by_kind(rows: int, seed: int) -> pd.DataFrame:
    """One column of each kind, and one of two letters."""
    rng = np.random.default_rng(seed)
    age = rng.triangular(0, 60, 105, rows).astype(int)
    return pd.DataFrame(
        {
            "age": np.where(age < 75, age.astype(str), "75+"),
            "lab": np.where(rng.random(rows) < 0.3, "<0.5", rng.gamma(2, 2, rows).round(1).clip(0.5).astype(str)),
            "children": rng.choice(["0", "1", "2", "3+"], rows),
            "steps": rng.choice(["0", "30", "60", "90", "120+"], rows),
            "mark": rng.choice(["1", "1+", "2", "3", "4"], rows),
            "arm": rng.choice(list("ab"), rows),
        }
    )


def by_limit(rows: int, seed: int) -> pd.DataFrame:
    """The columns of `by_kind`, kidney values whose most frequent text is a limit, and eight of whole numbers."""
    rng = np.random.default_rng([seed, 1])
    table = by_kind(rows, seed)
    table["kidney"] = np.where(rng.random(rows) < 0.6, ">= 90", rng.integers(20, 90, rows).astype(str))
    return table.assign(**{f"number{place}": rng.integers(0, 200, rows) for place in range(8)})


def counted(made: Iterable[dict[str, str]], names: Sequence[str] = ()) -> str:
    """What columns were taken for, and how often; of those with these names, where some are given."""
    counts = Counter((name, kind) for one in made for name, kind in one.items() if not names or name in names)
    return ", ".join(f"{name}: {kind} {count}" for (name, kind), count in sorted(counts.items()))


def taken_for(table: pd.DataFrame, epsilon: float, seed: int) -> dict[str, str]:
    """By column, what a purchase takes it for."""
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(path := Path(folder) / "table.csv", index=False)
        discovered, curator = discover(path, budget=Budget(epsilon, 1e-9), seed=seed)
        curator.close()
    facts = {column.name: bought_column(column).facts for column in discovered.columns}
    return {
        name: f"{one['kind'][0]}{' with words' if 'words' in one else ''}" if one else "left out"
        for name, one in facts.items()
    }


def main() -> None:
    """Prints both tables of figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 2000, 10_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.3, 1.0])
    parser.add_argument("--seeds", type=int, default=10)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for rows in chosen.rows:
        for epsilon in chosen.epsilon:
            for share in SHARES:
                table = by_share(rows, share)
                made = [taken_for(table, epsilon, seed) for seed in range(chosen.seeds)]
                kinds = [one[f"lab{place}"] for one in made for place in range(3)]
                words, reals = (np.mean([kind.startswith(start) for kind in kinds]) for start in ("real with", "real"))
                print(
                    f"rows {rows} epsilon {epsilon:g} share {share:g}: words {words:.2f} reals {reals:.2f}", flush=True
                )
            seeds = range(chosen.seeds)
            said = counted(taken_for(by_kind(rows, seed), epsilon, seed) for seed in seeds)
            print(f"rows {rows} epsilon {epsilon:g}: {said}", flush=True)
            said = counted((taken_for(by_limit(rows, seed), epsilon, seed) for seed in seeds), ("age", "kidney"))
            print(f"rows {rows} epsilon {epsilon:g}, by limit: {said}", flush=True)


if __name__ == "__main__":
    main()
