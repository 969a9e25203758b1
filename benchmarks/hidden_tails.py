"""How far means, deviations and counts of whole numbers are off where noise hides their tails, column by column.

Run: python benchmarks/hidden_tails.py --tables FOLDER [--ratios 30 100 300 1000] [--seeds 6]

FOLDER holds CSV files, also in folders of its own, such as those of R's data sets. Of each table with 400 rows or more
the columns of whole numbers with zeros among them are taken, by three kinds:

- `counts`: six numbers and more, up to 64, in room up to the next power of two above all but a thousandth;
- `few`: more than half are zeros, and the others go up to 15 at most, in room up to 15;
- `flags`: the same with ones alone, in room up to 15 that was bought.

Each is counted as the first questions of a release count it: codes, and then the sums of runs, with half of the budget
each. `ratio` is the number of records over the deviation of the noise of a count. Errors: the root mean square of that
of the mean, in deviations of the column; the mean one of the log of the deviation; and the L1 distance.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from counterfoil.graphical_model.beside_one import with_codes_beside_one
from counterfoil.graphical_model.doubtful_tails import without_doubtful_tails
from counterfoil.graphical_model.runs import joined_again, runs_of
from counterfoil.graphical_model.smoothing import spread

FEWEST_ROWS, ROOM = 400, 15


def columns(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """The kind and the exact counts of each column that is taken, each of them once."""
    seen = set()
    for path in sorted(folder.rglob("*.csv")):
        try:
            table = pd.read_csv(path, low_memory=False)
        except (ValueError, UnicodeDecodeError):
            continue
        for name in table.columns if len(table) >= FEWEST_ROWS else ():
            numbers = pd.to_numeric(table[name], errors="coerce").dropna().to_numpy(float)
            for kind, counts in kinds_of(numbers):
                if (key := (kind, tuple(counts))) not in seen:
                    seen.add(key)
                    yield kind, counts


def kinds_of(numbers: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Of which kinds a column is, with its counts."""
    if len(numbers) < FEWEST_ROWS or numbers.min() != 0 or (numbers != np.floor(numbers)).any():
        return
    zeros, most = float((numbers == 0).mean()), float(numbers.max())
    room = max(8, 2 ** int(np.ceil(np.log2(max(np.quantile(numbers, 0.999), 1)))))
    if zeros >= 0.01 and most >= 4 and len(np.unique(numbers)) >= 6 and room <= 64:
        yield "counts", np.bincount(np.minimum(numbers, room).astype(int), minlength=room + 1)
    if 0.5 < zeros < 0.995 and most <= ROOM:
        yield "flags" if most == 1 else "few", np.bincount(numbers.astype(int), minlength=ROOM + 1)


def released(exact: np.ndarray, noise: float, rng: np.random.Generator, *, bought: bool) -> np.ndarray:
    """The counts of a release's column, measured twice with half of the budget each."""
    each = noise * np.sqrt(2)
    first = exact + rng.normal(0, each, len(exact))
    runs = runs_of(first, each)
    code = runs.of_cell
    runs = runs.with_more(np.bincount(code, exact) + rng.normal(0, each, len(runs.totals)), each)
    counts = first + ((runs.totals - np.bincount(code, first)) / np.bincount(code))[code]
    cells, total = np.arange(len(exact), dtype=float), float(exact.sum())
    smoothed = spread(joined_again(runs), np.ones(len(exact)), cells, records=total, records_error=1.0)
    smoothed = with_codes_beside_one(smoothed, counts, noise)
    return (without_doubtful_tails(smoothed, counts, noise, (False, True)) if bought else smoothed).counts


def errors(exact: np.ndarray, found: np.ndarray) -> tuple[float, float, float]:
    """Of the mean, in deviations; of the log of the deviation; and the L1 distance."""
    numbers = np.arange(len(exact))
    shares, copied = exact / exact.sum(), found / found.sum()
    means = shares @ numbers, copied @ numbers
    deviations = [np.sqrt(part @ (numbers - mean) ** 2) for part, mean in zip((shares, copied), means, strict=True)]
    log = abs(np.log(max(deviations[1], 1e-6) / deviations[0]))
    return (means[1] - means[0]) / deviations[0], float(log), float(np.abs(shares - copied).sum())


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--ratios", type=float, nargs="+", default=[30, 100, 300, 1000])
    parser.add_argument("--seeds", type=int, default=6)
    chosen = parser.parse_args()
    taken: dict[str, list[np.ndarray]] = {}
    for kind, counts in columns(chosen.tables):
        taken.setdefault(kind, []).append(counts)
    print("kind columns ratio | mean log-deviation L1")
    for kind, found in sorted(taken.items()):
        for ratio in chosen.ratios:
            every = [
                errors(
                    one, released(one, one.sum() / ratio, np.random.default_rng([seed, place]), bought=kind == "flags")
                )
                for place, one in enumerate(found)
                for seed in range(chosen.seeds)
            ]
            mean, log, distance = np.array(every).T
            figures = np.sqrt(np.mean(mean**2)), log.mean(), distance.mean()
            print(f"{kind} {len(found)} {ratio:g} | " + " ".join(f"{figure:.3f}" for figure in figures))


if __name__ == "__main__":
    main()
