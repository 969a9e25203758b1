"""How near copies come to tables of few columns with many values: AIM beside MST.

Run: python -m benchmarks.few_columns --data ../shared/data [--columns 4] [--epsilon 0.3 1 10] [--runs 3]

Of each public table the columns with the most codes are kept, so that a pair has hundreds of cells and all pairs share
the budget. delta 1e-9, add or remove one, schemas written by hand without their rules. Errors are the mean L1 distance
of normalized counts over all pairs, of drawn rows; `bootstrap` is what as many real rows get, drawn with replacement,
and `independent` what the product of the real columns gets.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.tables import DELTA, METHODS, SCHEMAS, bootstrap
from threadpoolctl import threadpool_limits

import counterfoil as cf
from counterfoil.domain.counting import count_marginals

TABLES = {
    "adult": ("adult.csv.gz", "adult"),
    "acs": ("acs_ma2019.csv", "acs_ma"),
    "churn": ("paper_encoded/churn.csv", "encoded_churn"),
    "dutch": ("paper_encoded/dutch.csv.gz", "encoded_dutch"),
    "law": ("paper_encoded/law.csv.gz", "encoded_law"),
}


def table_of(name: str, data: Path, columns: int) -> tuple[pd.DataFrame, cf.Schema]:
    """The columns with the most codes, as texts, and their schema."""
    file, schema = TABLES[name]
    facts = cf.Schema.from_toml(SCHEMAS / f"{schema}.schema.toml")
    sizes = facts.domain
    most = sorted(sizes.attributes, key=lambda column: -sizes[column])[:columns]
    kept = [column for column in facts.synthesized if column.name in most]
    return pd.read_csv(data / file, dtype=str)[[column.name for column in kept]], cf.Schema(tuple(kept))


def error(real: dict[str, np.ndarray], other: dict[str, np.ndarray], schema: cf.Schema) -> float:
    """The mean L1 distance of normalized counts over all pairs."""
    domain = schema.domain
    pairs = list(itertools.combinations(domain.attributes, 2))
    counted = (count_marginals(of, len(of[domain.attributes[0]]), pairs, domain) for of in (real, other))
    distances = [np.abs(one / one.sum() - two / two.sum()).sum() for one, two in zip(*counted, strict=True)]
    return float(np.mean(distances))


def shuffled(codes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same columns with nothing to do with each other."""
    rng = np.random.default_rng(0)
    return {name: rng.permutation(of) for name, of in codes.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0, 10.0])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(f"{'table':6} {'method':12} {'epsilon':>7} {'pairs':>7} {'error':>7}  (standard error of the mean)")
    for name in given.tables:
        table, schema = table_of(name, given.data, given.columns)
        with cf.Curator(table, schema, budget=cf.Budget(1.0)) as curator:
            encoded = curator.reveal_without_privacy("a benchmark of public data")
        codes = {key: encoded.column(key).to_numpy() for key in schema.domain.attributes}
        for what, other in (("bootstrap", bootstrap(codes, 0)), ("independent", shuffled(codes))):
            print(f"{name:6} {what:12} {'':7} {error(codes, other, schema):7.4f}")
        for epsilon, method in itertools.product(given.epsilon, ("aim", "mst")):
            found = []
            for seed in range(given.runs):
                with cf.Curator(table, schema, budget=cf.Budget(epsilon, DELTA), seed=seed) as curator:
                    found.append(error(codes, METHODS[method].synthesize(curator).codes, schema))
            spread = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else float("nan")
            print(f"{name:6} {method:12} {epsilon:7g} {np.mean(found):7.4f} {spread:7.4f}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no ledger counts the releases of a benchmark
        main()
