"""What a synthetic Adult costs and how good it is: ours beside any peer that is installed, in one run.

Run: python benchmarks/adult.py --data ../shared/data/pgm_adult [--runs 3] [--only aim_pairs ...] [--peer-python P]

The table is the discretized Adult of the Private-PGM repository (adult.csv.gz and adult-domain.json; 48,842 rows, 14
attributes). epsilon 1, delta 1e-9, add or remove one. Errors are the L1 distances of normalized marginals, mean over
all marginals of an order. A training split is the first 80% of numpy's RandomState(12345).permutation; models are then
logistic regressions on one-hot features, trained on synthetic rows and tested on the other 20%.

Each job runs in a process of its own, on one thread: its CPU seconds count everything but imports and reading the
table (given apart), its peak memory counts everything. Peers run with `--peer-python`, the interpreter of an
environment where they are installed; those that are not are left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

SCHEMA = Path(__file__).parent / "schemas" / "pgm_adult.schema.toml"
TARGET = "income>50K"
OURS = {
    "counts": "all 91 pairs and 364 triples counted in memory",
    "independent": "independent columns",
    "mst": "MST",
    "aim_pairs": "AIM, pairs (training split)",
    "aim_pairs_focus": "AIM, pairs, income its focus (training split)",
    "aim_pairs_gaussian": "AIM, pairs, Gaussian choice (training split)",
    "aim_pairs_published": "AIM, pairs, as published (training split)",
    "aim_triples": "AIM, triples",
}
PEERS = {"dpmm_mst": "dpmm MST"}
ON_TRAINING_SPLIT = {"aim_pairs", "aim_pairs_focus", "aim_pairs_gaussian", "aim_pairs_published"}


def read(folder: Path, *, training: bool) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int]]:
    """The rows to copy, the rows kept for testing, and the number of codes of each column."""
    domain = json.loads((folder / "adult-domain.json").read_text())
    table = pd.read_csv(folder / "adult.csv.gz")[list(domain)]
    order = np.random.RandomState(12345).permutation(len(table))
    cut = int(0.8 * len(table))
    copied = table.iloc[order[:cut]] if training else table
    return copied.reset_index(drop=True), table.iloc[order[cut:]], domain


def run_ours(job: str, table: pd.DataFrame, domain: dict[str, int]) -> pd.DataFrame | None:
    from counterfoil import AIM, MST, Budget, Curator, Independent, Schema

    schema = Schema.from_toml(SCHEMA)
    with Curator(table, schema, budget=Budget(1.0, 1e-9)) as curator:
        synthesizer = {
            "independent": Independent(),
            "mst": MST(),
            "aim_pairs": AIM(workload=2),
            "aim_pairs_focus": AIM(workload=2, focus=TARGET),
            "aim_pairs_gaussian": AIM(workload=2, variant="gaussian"),
            "aim_pairs_published": AIM(workload=2, variant="published"),
            "aim_triples": AIM(workload=3),
        }[job]
        return synthesizer.synthesize(curator).to_pandas()


def count_all(table: pd.DataFrame, domain: dict[str, int]) -> None:
    from counterfoil.domain.counting import count_marginals
    from counterfoil.domain.domain import Domain

    cliques = [c for order in (2, 3) for c in itertools.combinations(domain, order)]
    codes = {name: table[name].to_numpy(np.uint8) for name in domain}
    count_marginals(codes, len(table), cliques, Domain(tuple(domain), tuple(domain.values())))


def run_peer(job: str, table: pd.DataFrame, domain: dict[str, int]) -> pd.DataFrame:
    if job == "dpmm_mst":
        from dpmm.models.mst import MSTGM

        model = MSTGM(epsilon=1.0, delta=1e-9, domain=domain)
        model.fit(table)
        return model.generate(len(table))
    raise ValueError(job)


def import_for(job: str) -> None:
    """Imports and compilation, which happen once, are timed apart."""
    if job in PEERS:
        import dpmm.models.mst  # noqa: F401

        return
    import counterfoil
    from counterfoil.domain import counting  # noqa: F401

    for name in counterfoil.__all__:
        getattr(counterfoil, name)


def errors(real: pd.DataFrame, synthetic: pd.DataFrame, domain: dict[str, int]) -> dict[str, float]:
    found = {}
    for order in (1, 2, 3):
        all_errors, small = [], []
        for clique in itertools.combinations(domain, order):
            cells = int(np.prod([domain[name] for name in clique]))
            shares = []
            for table in (real, synthetic):
                code = np.zeros(len(table), np.int64)
                for name in clique:
                    code = code * domain[name] + table[name].to_numpy(np.int64)
                shares.append(np.bincount(code, minlength=cells) / len(table))
            error = float(np.abs(shares[0] - shares[1]).sum())
            all_errors.append(error)
            if cells <= 10_000:
                small.append(error)
        found |= {f"{order}way": float(np.mean(all_errors)), f"{order}way_10k": float(np.mean(small))}
    return found


def train_and_test(synthetic: pd.DataFrame, test: pd.DataFrame, domain: dict[str, int]) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, roc_auc_score
    from sklearn.preprocessing import OneHotEncoder

    features = [name for name in domain if name != TARGET]
    encoder = OneHotEncoder(categories=[list(range(domain[name])) for name in features]).fit(test[features].iloc[:1])
    model = LogisticRegression(max_iter=1000).fit(encoder.transform(synthetic[features]), synthetic[TARGET])
    probability = model.predict_proba(encoder.transform(test[features]))[:, 1]
    return {
        "accuracy": float(accuracy_score(test[TARGET], probability > 0.5)),
        "auc": float(roc_auc_score(test[TARGET], probability)),
    }


def work(job: str, folder: Path, out: Path) -> None:
    """One job, in this process: prints its figures and leaves the synthetic table in `out`."""
    table, _, domain = read(folder, training=job in ON_TRAINING_SPLIT)
    started = time.process_time()
    import_for(job)
    imported = time.process_time()
    synthetic = None
    if job == "counts":
        count_all(table, domain)
    elif job in PEERS:
        synthetic = run_peer(job, table, domain)
    else:
        synthetic = run_ours(job, table, domain)
    finished = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if synthetic is not None:
        synthetic[list(domain)].astype(np.int64).to_csv(out, index=False)
    print(json.dumps({"cpu_s": finished - imported, "import_s": imported - started, "peak_mb": peak}))


def measure(job: str, folder: Path, python: str) -> dict[str, float]:
    out = Path(os.environ.get("TMPDIR", "/tmp")) / f"adult-{job}-{os.getpid()}.csv"
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    command = [python, __file__, "--data", str(folder), "--work", job, "--out", str(out)]
    try:
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise RuntimeError(answer.stderr.strip().splitlines()[-1])
        figures = json.loads(answer.stdout.strip().splitlines()[-1])
        if out.exists():
            synthetic = pd.read_csv(out)
            table, test, domain = read(folder, training=job in ON_TRAINING_SPLIT)
            figures |= errors(table, synthetic, domain)
            if job in ON_TRAINING_SPLIT:
                figures |= train_and_test(synthetic, test, domain)
        return figures
    finally:
        out.unlink(missing_ok=True)


def import_time() -> float:
    """CPU seconds that `import counterfoil` adds to an empty interpreter: the median of five."""

    def cost(statement: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", statement], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return statistics.median(cost("import counterfoil") - cost("pass") for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--peer-python", default=None)
    parser.add_argument("--json", type=Path, default=None, help="also write every run's figures here")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work, arguments.data, arguments.out)
        return
    jobs = dict.fromkeys(OURS, sys.executable)
    if arguments.peer_python:
        jobs |= dict.fromkeys(PEERS, arguments.peer_python)
    print(f"import counterfoil: {import_time():.3f} CPU s\n")
    header = ("cpu_s", "import_s", "peak_mb", "1way", "2way", "3way", "3way_10k", "accuracy", "auc")
    print(f"{'medians of ' + str(arguments.runs):46}" + "".join(f"{name:>10}" for name in header))
    everything = {}
    for job, python in jobs.items():
        if arguments.only and job not in arguments.only:
            continue
        runs = [measure(job, arguments.data, python) for _ in range(arguments.runs)]
        everything[job] = runs
        middle = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        cells = "".join(f"{middle[name]:10.4g}" if name in middle else f"{'':10}" for name in header)
        print(f"{(OURS | PEERS)[job]:46}{cells}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
