"""How near copies come to six other tables, over budgets: AIM, MST, and AIM with triples, beside resampled real rows.

Run: python -m benchmarks.tables --data ../shared/data [--tables acs heart ...] [--epsilon 0.3 1 10] [--runs 2]
     [--methods aim mst aim_triples] [--out benchmarks/figures/nearness.csv]

The tables are those of the excess-risk paper as it encoded them (Churn, COMPAS, Dutch, Heart, Law; 303 to 60,420 rows,
9 to 16 columns), the American Community Survey with a schema written by hand, and two that are made here: 20 columns of
two or three values, each of which depends on two others, and 25 columns that depend on one hidden class. delta 1e-9,
add or remove one. Errors are the mean L1 distance of normalized counts over all pairs, and over triples of at most
10,000 cells (200 of them where there are more), of drawn rows. The row `bootstrap` is what as many real rows, drawn
with replacement, get: no sample of people does better. Processor seconds are those of one thread, after a first small
release that compiles; reading the table is among them.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import statistics
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from threadpoolctl import threadpool_limits

import counterfoil as cf
from counterfoil.domain.counting import count_marginals
from counterfoil.schema import Categorical

SCHEMAS = Path(__file__).parent / "schemas"
FILES = {
    "acs": ("acs_ma2019.csv", "acs_ma"),
    "churn": ("paper_encoded/churn.csv", "encoded_churn"),
    "compas": ("paper_encoded/compas.csv", "encoded_compas"),
    "dutch": ("paper_encoded/dutch.csv.gz", "encoded_dutch"),
    "heart": ("paper_encoded/heart.csv", "encoded_heart"),
    "law": ("paper_encoded/law.csv.gz", "encoded_law"),
}
MADE = ("dense", "clusters")
METHODS = {"aim": cf.AIM(), "mst": cf.MST(), "aim_triples": cf.AIM(workload=3)}
DELTA = 1e-9
MOST_CELLS, MOST_TRIPLES = 10_000, 200
BOOTSTRAPS = 20
"""Single draws differ by 3% of their error on ACS, where ratios to it are judged to 1%."""
FIELDS = ("table", "rows", "columns", "method", "epsilon", "run", "pairs", "triples", "cpu_s")


def dense(n: int = 32_000) -> dict[str, np.ndarray]:
    """20 columns of two or three values; each follows the sum of two earlier ones in four of five records."""
    rng = np.random.default_rng(11)
    columns: list[np.ndarray] = []
    for i in range(20):
        size = 2 + i % 2
        noise = rng.integers(0, size, n)
        if i < 2:
            columns.append(noise)
            continue
        first, second = rng.choice(i, 2, replace=False)
        columns.append(np.where(rng.random(n) < 0.8, (columns[first] + columns[second]) % size, noise))
    return {f"x{i}": column for i, column in enumerate(columns)}


def clusters(n: int = 20_000) -> dict[str, np.ndarray]:
    """25 columns of four values that depend on a hidden class of seven."""
    rng = np.random.default_rng(12)
    hidden = rng.integers(0, 7, n)
    laws = rng.dirichlet(np.full(4, 0.5), (25, 7)).cumsum(axis=2)
    return {f"x{i}": (rng.random(n)[:, None] > law[hidden][:, :3]).sum(axis=1) for i, law in enumerate(laws)}


def table_named(name: str, data: Path) -> tuple[pa.Table, cf.Schema]:
    """The records and their schema."""
    if name in MADE:
        codes = dense() if name == "dense" else clusters()
        columns = {key: np.char.add("v", of.astype(str)) for key, of in codes.items()}
        values = {key: tuple(np.unique(of).tolist()) for key, of in columns.items()}
        return pa.table(columns), cf.Schema(tuple(Categorical(key, of) for key, of in values.items()))
    file, schema = FILES[name]
    facts = cf.Schema.from_toml(SCHEMAS / f"{schema}.schema.toml")
    with cf.Curator(data / file, facts, budget=cf.Budget(1.0)) as curator:
        return curator.reveal_without_privacy("a benchmark of public data"), facts


def errors(real: dict[str, np.ndarray], other: dict[str, np.ndarray], schema: cf.Schema) -> tuple[float, float]:
    """Of pairs and of triples: the mean L1 distance of normalized counts."""
    domain = schema.domain
    means = []
    for order in (2, 3):
        cliques = [c for c in itertools.combinations(domain.attributes, order) if domain.size(c) <= MOST_CELLS]
        if order == 3 and len(cliques) > MOST_TRIPLES:
            chosen = np.random.default_rng(0).choice(len(cliques), MOST_TRIPLES, replace=False)
            cliques = [cliques[place] for place in sorted(chosen)]
        counted = (count_marginals(of, len(of[domain.attributes[0]]), cliques, domain) for of in (real, other))
        distances = [np.abs(one / one.sum() - two / two.sum()).sum() for one, two in zip(*counted, strict=True)]
        means.append(float(np.mean(distances)))
    return means[0], means[1]


def bootstrap(codes: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """As many rows, drawn with replacement."""
    n = len(next(iter(codes.values())))
    drawn = np.random.default_rng(seed).integers(0, n, n)
    return {name: of[drawn] for name, of in codes.items()}


def rows_of(name: str, data: Path, methods: Iterable[str], epsilons: Iterable[float], runs: int) -> Iterable[dict]:
    """The figures of one table, one row for each run."""
    encoded, schema = table_named(name, data)
    if name in MADE:
        codes = {c.name: c.encode(encoded.column(c.name)) for c in schema.synthesized}
        source: object = encoded
    else:
        codes = {key: encoded.column(key).to_numpy() for key in schema.domain.attributes}
        source = data / FILES[name][0]
    facts = {"table": name, "rows": encoded.num_rows, "columns": len(codes)}
    for run in range(BOOTSTRAPS):
        pairs, triples = errors(codes, bootstrap(codes, run), schema)
        yield {**facts, "method": "bootstrap", "epsilon": "", "run": run, "pairs": pairs, "triples": triples}
    for method, epsilon, run in itertools.product(methods, epsilons, range(runs)):
        with cf.Curator(source, schema, budget=cf.Budget(epsilon, DELTA), seed=run) as curator:
            start = time.process_time()
            made = METHODS[method].synthesize(curator)
            drawn = made.codes
            seconds = time.process_time() - start
        pairs, triples = errors(codes, drawn, schema)
        figures = {"pairs": pairs, "triples": triples, "cpu_s": seconds}
        yield {**facts, "method": method, "epsilon": epsilon, "run": run, **figures}


def summary(rows: list[dict]) -> str:
    """Means over runs, as a table of lines."""
    frame = pd.DataFrame(rows)
    base = frame[frame.method == "bootstrap"].groupby("table")["pairs"].mean()
    lines = [f"{'table':9} {'method':12} {'epsilon':>7} {'pairs':>7} {'/ boot.':>7} {'triples':>7} {'CPU s':>7}"]
    made = frame[frame.method != "bootstrap"]
    for (table, method, epsilon), part in made.groupby(["table", "method", "epsilon"], sort=False):
        pairs = statistics.fmean(part["pairs"])
        lines.append(
            f"{table:9} {method:12} {epsilon:7g} {pairs:7.4f} {pairs / base[table]:7.2f} "
            f"{statistics.fmean(part['triples']):7.4f} {statistics.fmean(part['cpu_s']):7.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", nargs="+", choices=[*FILES, *MADE], default=[*FILES, *MADE])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0, 10.0])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="also write every run's figures here, as CSV")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", cf.NoLedgerWarning)
    rows: list[dict] = []
    with threadpool_limits(1):
        for _ in rows_of("compas", arguments.data, METHODS, [1.0], 1):
            pass  # compiles
        for name in arguments.tables:
            for row in rows_of(name, arguments.data, arguments.methods, arguments.epsilon, arguments.runs):
                rows.append(row)
                print(" ".join(f"{key}={value}" for key, value in row.items() if value != ""), flush=True)
    print(summary(rows))
    if arguments.out is not None:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with arguments.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
