"""Whether the two simulations of a plan enclose real tables: their errors and scores beside those of real releases.

Run: python -m benchmarks.plan_tables --data ../shared/data [--tables adult acs2018 ...] [--epsilon 0.3 1 3 10]
     [--runs 3] [--jobs 2] [--out plan_tables.csv]

A simulation knows the schema and the number of rows alone. The real releases are those of `like` with the whole public
table, where that is the table which is copied. The simulations were made with `TUNED` in sight; `APART` were looked at
when they were done. Two of these are not in the folder: statsmodels ships them.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from counterfoil.demo import Demo
from counterfoil.planning import Outlook, plan

SCHEMAS = Path(__file__).parent / "schemas"
SHIPPED = Demo.find().source.parents[1]
TUNED = {
    "adult": ("adult.csv.gz", "adult", "income"),
    "acs2018": ("acs_ma2018.csv", "acs_ma", "OWN_RENT"),
    "heart": ("heart.csv", "heart", "output"),
    "compas": ("compas.csv", "compas", "two_year_recid"),
    "churn": ("churn.csv", "churn", "Churn Value"),
}
APART = {
    "dutch": ("dutch.csv.gz", "dutch", "occupation"),
    "law": ("law.csv.gz", "law", "pass_bar"),
    "acs2019": ("acs_ma2019.csv", "acs_ma", "OWN_RENT"),
    "affairs": ("fair/fair.csv", "affairs", "religious"),
    "randhie": ("randhie/randhie.csv", "randhie", "hlthg"),
    "california": ("california_housing.csv.gz", "california_housing", None),
}
TABLES = TUNED | APART
FIELDS = ("table", "epsilon", "records", "pairs", "columns", "auc", "accuracy")


def figures(name: str, outlook: Outlook) -> Iterator[dict[str, object]]:
    """One row for each epsilon and kind of records, with means over the rehearsals; the score is of the first model."""
    for epsilon in outlook.epsilons:
        for world in outlook.worlds:
            scores = next(iter(outlook.scores_at(epsilon, world).values()), {})
            yield {
                "table": name,
                "epsilon": epsilon,
                "records": str(world),
                "pairs": outlook.pair_error(epsilon, world).mean,
                "columns": outlook.column_error(epsilon, world).mean,
                **{kind: None if spread is None else spread.mean for kind, spread in scores.items()},
            }


def both(name: str, arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """The figures of the real table and of the simulations of its schema."""
    file, schema, target = TABLES[name]
    table = pd.read_csv(SHIPPED / file if "/" in file else arguments.data / file, keep_default_na=False)
    for like in (table, None):
        outlook = plan(
            Demo.find().schema if schema == "affairs" else SCHEMAS / f"{schema}.schema.toml",
            rows=len(table),
            epsilons=arguments.epsilon,
            like=like,
            target=target,
            runs=arguments.runs,
            jobs=arguments.jobs,
        )
        yield from figures(name, outlook)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0, 3.0, 10.0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="also write the figures here, as CSV")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.tables:
        for row in both(name, arguments):
            rows.append(row)
            print(" ".join(f"{key}={value:.4f}" if isinstance(value, float) and key != "epsilon" else f"{key}={value}"
                           for key, value in row.items()), flush=True)  # fmt: skip
    if arguments.out is not None:
        with arguments.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, FIELDS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
