"""How near copies come to wide tables whose columns all go together: AIM with hidden classes of records, and without.

Run: python -m benchmarks.wide_tables [--columns 48] [--rows 80000] [--epsilon 0.3 1 3 10] [--runs 3]
     [--files a.csv b.csv ...], tables in place of the made one, whose ranges and categories are taken for public
     [--focus COLUMN], which models are to predict: also AUC, on a fifth of the rows that is held back
     [--strongest], in place of releases: how strong the strongest direction of all pairs is

In the made table six hidden numbers move all columns, of which half are reals and half have six values; its schema is
known. Beside AIM stands AIM without classes (`AIM(classes=0)`), and MST. Figures are those of
`benchmarks.related_numbers`; `seconds` are of the processor, on one thread. delta 1e-9, add or remove one. `AUC` is of
boosted trees, in the cells of the schema, trained on the copy or on the rows that it is a copy of; of several classes
the mean of one against the rest.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from benchmarks.related_numbers import figures
from benchmarks.tables import DELTA
from threadpoolctl import threadpool_limits

import counterfoil as cf
from counterfoil.evaluation.train_on_synthetic import score_models
from counterfoil.schema import Categorical, Column, Integer, Real

HELD_BACK = 5
"""One row in so many, where models are tested."""
BLOCKS = 8
FEW = 64
"""Whole numbers up to so many values are integers of a schema that is taken for public."""
HIDDEN, NOISE = 6, 2.0
"""How many hidden numbers there are, and the standard deviation of what each column has besides."""


def made(columns: int, rows: int) -> tuple[pd.DataFrame, cf.Schema]:
    """The made table, the same each time, and what is known of it."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(rows, HIDDEN))
    table, known = {}, []
    for i in range(columns):
        numbers = hidden @ rng.normal(size=HIDDEN) + NOISE * rng.normal(size=rows)
        name = f"c{i}"
        if i % 2:
            table[name] = np.round(numbers, 3)
            known.append(Real(name, -30.0, 30.0, bins=64))
        else:
            table[name] = np.digitize(numbers, [-3, -1, 0, 2, 4])
            known.append(Integer(name, 0, 5))
    return pd.DataFrame(table), cf.Schema(tuple(known))


def as_if_public(table: pd.DataFrame) -> cf.Schema:
    """Of the table itself: the range of numbers, and the categories of other columns."""
    known = list[Column]()
    for name, column in table.items():
        values, missing = column.dropna(), bool(column.isna().any())
        if not pd.api.types.is_numeric_dtype(column):
            known.append(Categorical(name, tuple(sorted(values.astype(str).unique())), missing=missing))
        elif (values % 1 == 0).all() and values.nunique() <= FEW:
            known.append(Integer(name, int(values.min()), int(values.max()), missing=missing))
        else:
            known.append(Real(name, float(values.min()), float(values.max()), bins=64, missing=missing))
    return cf.Schema(tuple(known))


def _read(file: Path) -> pd.DataFrame:
    real = pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file, low_memory=False)
    return real.convert_dtypes()


def methods(focus: str | None) -> dict[str, cf.AIM | cf.MST]:
    """What is compared."""
    return {"aim": cf.AIM(focus=focus), "aim, no classes": cf.AIM(focus=focus, classes=0), "mst": cf.MST()}


def auc(training: pd.DataFrame, held: pd.DataFrame, schema: cf.Schema, focus: str) -> float:
    """Of boosted trees that are trained on one table and tested on the other, in the cells of the schema."""
    codes = [{c.name: c.encode(pa.array(rows[c.name])) for c in schema.synthesized} for rows in (training, held)]
    return score_models(*codes, schema.domain, target=focus, models=["gradient boosting"])["gradient boosting"].auc


def rows_of(
    file: Path, schema: cf.Schema | None, focus: str | None, epsilons: list[float], runs: int
) -> Iterator[dict]:
    """The figures of one table, one row for each release."""
    real = _read(file)
    schema = schema or as_if_public(real)
    back = (
        np.zeros(len(real), dtype=bool) if focus is None else np.random.default_rng(0).random(len(real)) * HELD_BACK < 1
    )
    real, held = real[~back].reset_index(drop=True), real[back]
    shape = f"{file.stem} {len(real)} x {real.shape[1]}"
    if focus is not None:
        yield {"table": shape, "epsilon": np.inf, "method": "real rows", "AUC": auc(real, held, schema, focus)}
    for epsilon in epsilons:
        for (name, method), run in itertools.product(methods(focus).items(), range(runs)):
            with cf.Curator(real, schema, budget=cf.Budget(epsilon, DELTA), seed=run) as curator:
                start = time.process_time()
                copy = method.synthesize(curator).to_pandas().convert_dtypes()
                seconds = time.process_time() - start
            found = {} if focus is None else {"AUC": auc(copy, held, schema, focus)}
            key = {"table": shape, "epsilon": epsilon, "method": name}
            yield {**key, **figures(real, copy), **found, "seconds": seconds}


def strongest(real: pd.DataFrame) -> float:
    """Half of the squared eigenvalue of the strongest direction of all pairs, as a part of what columns concentrate.

    In blocks of eight ranks, or the 31 most frequent categories and the rest, as shares of the records.
    """
    each = [_blocks(column) for _, column in real.items()]
    marks = np.concatenate([np.eye(block.max() + 1)[block] for block in each], axis=1)
    own = np.repeat(np.arange(len(each)), [block.max() + 1 for block in each])
    above = marks.T @ marks / len(real) - np.outer(marks.mean(axis=0), marks.mean(axis=0))
    above[own[:, None] == own] = 0.0
    concentrated = np.bincount(own, marks.mean(axis=0) ** 2)
    allowed = (concentrated.sum() ** 2 - (concentrated**2).sum()) / 2
    return float(np.abs(np.linalg.eigvalsh(above)).max() ** 2 / 2 / allowed)


def _blocks(column: pd.Series) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > BLOCKS:
        ranks = column.astype(float).rank(method="average", pct=True) * BLOCKS
        return ranks.fillna(BLOCKS + 1).to_numpy().astype(np.int64)
    texts = column.astype("string").fillna("")
    frequent = texts.value_counts().index[: FEW // 2 - 1]
    return np.unique(texts.where(texts.isin(frequent), "other"), return_inverse=True)[1].ravel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=48)
    parser.add_argument("--rows", type=int, default=80_000)
    parser.add_argument("--files", nargs="*", default=[], type=Path)
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.3, 1.0, 3.0, 10.0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--focus")
    parser.add_argument("--strongest", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        asked: list[tuple[Path, cf.Schema | None]] = [(file, None) for file in options.files]
        if not asked:
            table, schema = made(options.columns, options.rows)
            table.to_parquet(Path(folder) / "made.parquet")
            asked = [(Path(folder) / "made.parquet", schema)]
        for file, known in asked:
            if options.strongest:
                print(f"{file.stem}: {strongest(_read(file)):.4f}", flush=True)
                continue
            frame = pd.DataFrame(list(rows_of(file, known, options.focus, options.epsilon, options.runs)))
            means = frame.groupby(["table", "epsilon", "method"], sort=False).mean().round(4)
            print(means.to_string(), flush=True)


if __name__ == "__main__":
    main()
