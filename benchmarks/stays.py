"""How long stays are in a copy: counted between two dates, or left to the bins of both and a rule on their order.

Run: python benchmarks/stays.py [--rows 1000 20000] [--epsilon 0.1 0.3 1 3] [--runs 3] [--method aim mst]

The table is simulated: stays in four wards that begin on any day of four years, exponentially long with means of 2.5 to
25 days, and 4% of which have not ended. Delta is 1e-9, neighbors add or remove one. The error is how many days the mean
stay of a ward is off, on average over the wards; the median over runs is printed. `dates` is the same without the rule,
where stays that end before they begin count as they stand. `bought` is without a schema by hand: a tenth of the budget
buys one, and the rest is for the release; - where most runs leave a ward or a date out, or ask for the schema.
"""

from __future__ import annotations

import argparse
import math
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
BOUGHT, SHARE = "bought", 0.1


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


def error(table: pd.DataFrame, name: str, epsilon: float, method: str) -> float:
    """How many days the wards' mean stays are off in one copy, on average; infinite where it does not say them."""
    from counterfoil import Schema, buy_schema, synthesize

    if name == BOUGHT:
        schema, _ = buy_schema(table, epsilon=epsilon, delta=DELTA, share=SHARE)
        if schema.confirm:
            return math.inf
        made = synthesize(table, schema, epsilon=epsilon, delta=DELTA, method=method, rest=True)
    else:
        made = synthesize(table, Schema.from_toml(SCHEMAS[name]), epsilon=epsilon, delta=DELTA, method=method)
    copy = made.to_pandas()  # type: ignore[union-attr]
    if not {"admitted", "discharged", "ward"} <= {*copy}:
        return math.inf
    found = (mean_stays(copy) - mean_stays(table)).abs().reindex([*WARDS])
    return math.inf if found.isna().any() else float(found.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 20_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.3, 1.0, 3.0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--method", nargs="+", default=["aim"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # that there is no ledger
    names = (*SCHEMAS, BOUGHT)
    print(f"| method | rows | epsilon | {' | '.join(names)} |")
    print(f"|---|---|---|{'---|' * len(names)}")
    for method in given.method:
        for rows in given.rows:
            table = stays(rows)
            for epsilon in given.epsilon:
                found = [
                    statistics.median(error(table, schema, epsilon, method) for _ in range(given.runs))
                    for schema in names
                ]
                shown = " | ".join("-" if math.isinf(one) else f"{one:.2f}" for one in found)
                print(f"| {method} | {rows:,} | {epsilon:g} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
