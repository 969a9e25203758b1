"""How well a plan foresees: rehearsed on the first half of Adult, then really run on the second half.

Run: python benchmarks/plan.py --data ../shared/data/adult.csv.gz [--runs 3] [--epsilon 0.3 1 3] [--jobs 2]

The halves are the first and the last rows of the file, which is public. Beside the plan's CPU seconds, those of its
processes included, the mean pair error that was rehearsed with `like` is printed, the one of real releases of the
second half (noise of the operating system), and their ratio; then what simulated records alone would have said.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from pathlib import Path

import pandas as pd

from counterfoil import AIM, Budget, Curator, Schema
from counterfoil.evaluation.marginals import compare_marginals
from counterfoil.fidelity.schema_check import SchemaCheck
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.planning import Outlook, plan
from counterfoil.synthesis.table import encode

SCHEMA = Path(__file__).parent / "schemas" / "adult.schema.toml"


def cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def real_error(table: pd.DataFrame, schema: Schema, epsilon: float) -> float:
    """The mean pair error of one release as `counterfoil synth` makes it, which leaves a share for its schema check."""
    import pyarrow as pa

    budget = Budget(epsilon, 1e-9)
    ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), budget)  # Adult is public
    with Curator(table, schema, budget=budget, ledger=ledger) as curator:
        SchemaCheck().prepare(curator)
        made = encode(schema, AIM().synthesize(curator).to_arrow())
    real = encode(schema, pa.Table.from_pandas(table, preserve_index=False))
    return compare_marginals(real, made, schema.domain, order=2).mean


def planned(half: pd.DataFrame | None, rows: int, arguments: argparse.Namespace) -> Outlook:
    """The outlook, with what it took printed."""
    cpu, clock = cpu_seconds(), time.perf_counter()
    outlook = plan(SCHEMA, rows=rows, epsilons=arguments.epsilon, like=half, runs=arguments.runs, jobs=arguments.jobs)
    what = "simulated" if half is None else "like the first half"
    print(f"plan, {what}, {rows:,} rows: {cpu_seconds() - cpu:.1f} CPU s, {time.perf_counter() - clock:.1f} s")
    return outlook


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    arguments = parser.parse_args()
    table = pd.read_csv(arguments.data)
    first, second = table.iloc[: len(table) // 2], table.iloc[len(table) // 2 :].reset_index(drop=True)
    schema = Schema.from_toml(SCHEMA)
    outlook, simulated = planned(first, len(second), arguments), planned(None, 50_000, arguments)
    print(f"\n{'epsilon':>8}{'rehearsed':>12}{'real':>12}{'ratio':>8}    simulated (50,000 rows)")
    for epsilon in outlook.epsilons:
        rehearsed = outlook.pair_error(epsilon, outlook.worlds[0]).mean
        real = statistics.fmean(real_error(second, schema, epsilon) for _ in range(arguments.runs))
        worlds = ", ".join(f"{world} {simulated.pair_error(epsilon, world).mean:.4f}" for world in simulated.worlds)
        print(f"{epsilon:8g}{rehearsed:12.4f}{real:12.4f}{rehearsed / real:8.3f}    {worlds}")


if __name__ == "__main__":
    main()
