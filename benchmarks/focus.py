"""How well models predict income that were trained on copies of Adult with a focus, and how well any copy could do.

Run: python -m benchmarks.focus --data ../shared/data [--epsilon 1 10 100] [--runs 3]

Gradient boosting is trained on four fifths of the rows, or on a copy of them, and tested on the fifth that is left, all
in the codes of `schemas/adult.schema.toml`. delta 1e-9, add or remove one. Beside the copies stand:

- `real rows`: as they are, with every dollar of capital gains and losses told apart;
- `in the schema's cells`: the same rows, as codes, which is all that a copy may know;
- `labels drawn anew`: these rows with labels drawn from what the model before says of each, as a copy would draw them
  from a perfect model.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

import counterfoil as cf
from counterfoil.evaluation.train_on_synthetic import MODELS, score_models

TARGET, DELTA = "income", 1e-9
BOOSTING = MODELS[1]
SCHEMA = Path(__file__).parent / "schemas" / "adult.schema.toml"
Codes = dict[str, np.ndarray]


def encoded(table: pd.DataFrame, schema: cf.Schema) -> Codes:
    """The codes of each column."""
    cells = pa.Table.from_pandas(table, preserve_index=False)
    return {column.name: np.asarray(column.encode(cells.column(column.name))) for column in schema.synthesized}


def with_dollars(codes: Codes, table: pd.DataFrame) -> Codes:
    """The codes, but for amounts, which stand as they are."""
    return codes | {name: table[name].to_numpy() for name in ("capital-gain", "capital-loss")}


def labels_drawn(codes: Codes, seed: int) -> Codes:
    """The same rows with labels that follow what boosting says of each row."""
    features = np.column_stack([codes[name] for name in codes if name != TARGET])
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0).fit(features, codes[TARGET])
    likely = model.predict_proba(features)[:, 1]
    return codes | {TARGET: (np.random.default_rng(seed).random(len(likely)) < likely).astype(np.int64)}


def figures(data: Path, epsilons: list[float], runs: int) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """By what models were trained on, the area under the curve and the accuracy of each run."""
    table = pd.read_csv(data / "adult.csv.gz", keep_default_na=False)
    order, schema = np.random.default_rng(0).permutation(len(table)), cf.Schema.from_toml(SCHEMA)
    test, train = (table.iloc[part].reset_index(drop=True) for part in np.split(order, [len(table) // 5]))
    real, held, domain = encoded(train, schema), encoded(test, schema), schema.domain

    def scores(rows: Codes, tested: Codes = held) -> tuple[float, float]:
        score = score_models(rows, tested, domain, target=TARGET, models=[BOOSTING])[BOOSTING]
        return score.auc, score.accuracy

    yield "real rows", [scores(with_dollars(real, train), with_dollars(held, test))]
    yield "in the schema's cells", [scores(real)]
    yield "labels drawn anew", [scores(labels_drawn(real, seed)) for seed in range(runs)]
    for epsilon in epsilons:
        copies = []
        for seed in range(runs):
            with cf.Curator(train, schema, budget=cf.Budget(epsilon, DELTA), seed=seed) as curator:
                copies.append(cf.AIM(focus=TARGET).synthesize(curator).codes)
        yield f"AIM, epsilon {epsilon:g}", [scores(codes) for codes in copies]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 10.0, 100.0])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", cf.NoLedgerWarning)
    print(f"{'boosting trained on':24} {'AUC':>7} {'accuracy':>9}")
    with threadpool_limits(1):
        for name, runs in figures(arguments.data, arguments.epsilon, arguments.runs):
            areas, accuracies = zip(*runs, strict=True)
            print(f"{name:24} {statistics.fmean(areas):7.4f} {statistics.fmean(accuracies):9.4f}", flush=True)


if __name__ == "__main__":
    main()
