"""Reweighting beside MST, AIM and independent columns: the mean L1 error of all pairs.

Run: python -m benchmarks.reweighting [--data DIR] [--seeds N] [--epsilon E ...] [--tables compas adult]. COMPAS is the
encoded table of the excess-risk paper, Adult the discretized one; delta 1e-9, one row replaced. Errors are of the
models, and of their rows. Ten seeds of COMPAS take half a minute, three of Adult at one epsilon a minute.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np

import counterfoil as cf
from counterfoil.domain.counting import count_marginals

DATA = Path(__file__).parents[2] / "shared" / "data"
SCHEMAS = Path(__file__).parent / "schemas"
TABLES = {
    "compas": ("paper_encoded/compas.csv", "encoded_compas.schema.toml"),
    "adult": ("pgm_adult/adult.csv.gz", "pgm_adult.schema.toml"),
}
METHODS = {
    "reweighting": cf.Reweighting(),
    "the same, support not refined": cf.Reweighting(refinements=0),
    "MST": cf.MST(),
    "AIM": cf.AIM(),
    "independent": cf.Independent(),
}


def errors(source: Path, schema: cf.Schema, method: object, epsilon: float, seed: int, exact: dict) -> list[float]:
    """The mean error of the model's pairs, of the rows' pairs, and processor seconds."""
    start = time.process_time()
    made = cf.synthesize(source, schema, epsilon=epsilon, delta=1e-9, relation="replace_one", method=method, seed=seed)
    seconds = time.process_time() - start
    rows = dict(zip(exact, count_marginals(made.codes, made.rows, list(exact), schema.domain), strict=True))
    model = made.model.marginals(exact)
    return [*(float(np.mean([apart(of[pair], exact[pair]) for pair in exact])) for of in (model, rows)), seconds]


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """L1 distance of normalized counts."""
    return float(np.abs(one / one.sum() - other / other.sum()).sum())


def exact_pairs(source: Path, schema: cf.Schema) -> dict:
    """The real counts of all pairs: NOT PRIVATE, for the comparison alone."""
    domain = schema.domain
    with cf.Curator(source, schema, budget=cf.Budget(1.0)) as curator:
        table = curator.reveal_without_privacy("a benchmark of public data")
    codes = {name: table.column(name).to_numpy() for name in domain.attributes}
    pairs = list(itertools.combinations(domain.attributes, 2))
    return dict(zip(pairs, count_marginals(codes, table.num_rows, pairs, domain), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", cf.NoLedgerWarning)
    for name, epsilon in itertools.product(chosen.tables, chosen.epsilon):
        file, schema = TABLES[name]
        source, facts = chosen.data / file, cf.Schema.from_toml(SCHEMAS / schema)
        exact = exact_pairs(source, facts)
        for label, method in METHODS.items():
            found = np.array([errors(source, facts, method, epsilon, seed, exact) for seed in range(chosen.seeds)])
            (model, rows, seconds), spread = found.mean(axis=0), found.std(axis=0, ddof=1 if len(found) > 1 else 0)
            print(
                f"{name:7} epsilon {epsilon:<5g} {label:30} model {model:.4f} +- {spread[0]:.4f}  rows {rows:.4f}  "
                f"{seconds:5.2f} CPU s",
                flush=True,
            )


if __name__ == "__main__":
    main()
