"""How long stays are in a copy: counted between two dates, or left to the bins of both and a rule on their order.

Run: python benchmarks/stays.py [--rows 1000 20000] [--epsilon 0.1 0.3 1 3] [--runs 3] [--method aim mst]

The table is simulated: stays in four wards that begin on any day of four years, exponentially long with means of 2.5 to
25 days, and 4% of which have not ended. Delta is 1e-9, neighbors add or remove one. The error is how many days the mean
stay of a ward is off, on average over the wards; the median over runs is printed. `dates` is the same without the rule,
where stays that end before they begin count as they stand.
"""

from __future__ import annotations

import argparse
import statistics
import warnings

import numpy as np
import pandas as pd

DELTA = 1e-9
WARDS = {"surgery": (0.3, 5.0), "medicine": (0.4, 7.0), "maternity": (0.2, 2.5), "psychiatry": (0.1, 25.0)}
"""The share of each, and the mean stay in days."""
LONGEST = 300
FIRST, DAYS = "2019-01-01", 4 * 365

ADMITTED = """
[columns.admitted]
kind = "date"
lower = 2019-01-01
upper = 2022-12-31
"""
WARD = f"""
[columns.ward]
kind = "categorical"
values = {[*WARDS]}
"""
STAY = """
[columns.stay]
kind = "integer"
between = ["admitted", "discharged"]
lower = 0
upper = 365
missing = true

[[derived]]
name = "discharged"
kind = "date"
expression = "admitted + stay"
"""
DISCHARGED = """
[columns.discharged]
kind = "date"
lower = 2019-01-01
upper = 2023-12-31
missing = true
"""
RULE = """
[[rules]]
require = "admitted <= discharged"
"""
SCHEMAS = {
    "between": ADMITTED + STAY + WARD,
    "rule": ADMITTED + DISCHARGED + WARD + RULE,
    "dates": ADMITTED + DISCHARGED + WARD,
}


def stays(rows: int) -> pd.DataFrame:
    """The simulated table."""
    rng = np.random.default_rng(5)
    shares, means = zip(*WARDS.values(), strict=True)
    ward = rng.choice(len(WARDS), rows, p=shares)
    first = pd.Timestamp(FIRST) + pd.to_timedelta(rng.integers(0, DAYS, rows), unit="D")
    length = np.minimum(rng.exponential(np.array(means)[ward]).astype(int), LONGEST)
    last = pd.Series(first + pd.to_timedelta(length, unit="D")).mask(rng.random(rows) < 0.04)
    return pd.DataFrame({"admitted": first, "discharged": last, "ward": np.array([*WARDS])[ward]})


def mean_stays(table: pd.DataFrame) -> pd.Series:
    """Days by ward, of those that have ended."""
    length = pd.to_datetime(table["discharged"]) - pd.to_datetime(table["admitted"])
    return length.dt.days.groupby(table["ward"]).mean()


def error(table: pd.DataFrame, schema: str, epsilon: float, method: str) -> float:
    """How many days the wards' mean stays are off in one copy, on average."""
    from counterfoil import Schema, synthesize

    made = synthesize(table, Schema.from_toml(SCHEMAS[schema]), epsilon=epsilon, delta=DELTA, method=method)
    return float((mean_stays(made.to_pandas()) - mean_stays(table)).abs().mean())  # type: ignore[union-attr]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 20_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.3, 1.0, 3.0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--method", nargs="+", default=["aim"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # that there is no ledger
    print(f"| method | rows | epsilon | {' | '.join(SCHEMAS)} |")
    print(f"|---|---|---|{'---|' * len(SCHEMAS)}")
    for method in given.method:
        for rows in given.rows:
            table = stays(rows)
            for epsilon in given.epsilon:
                found = [
                    statistics.median(error(table, schema, epsilon, method) for _ in range(given.runs))
                    for schema in SCHEMAS
                ]
                print(
                    f"| {method} | {rows:,} | {epsilon:g} | {' | '.join(f'{one:.2f}' for one in found)} |", flush=True
                )


if __name__ == "__main__":
    main()
