"""How well a column of a thousand whole numbers comes back by itself, beside the same column cut into 96 bins by hand.

Run: python -m benchmarks.fine_columns [--rows 500 1500 5000 15000 48000] [--epsilon 1] [--seeds 6] [--method mst]

Made tables of two columns: numbers from 0 to 999 by one of seven laws, and a category with three values. Delta is 1e-9,
neighbors add or remove one. `default` declares the bounds alone, so that each number has a code; `bins` declares 96
bins, about the best that a person who knows the noise could do. Given are the deviation of the copy over the real one,
the error of the mean, and the distance W_1 of the two distributions, both in real deviations; medians over seeds, and
the worst of the deviations and distances.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

LEVELS = np.linspace(0.0005, 0.9995, 1000)
LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(500, 160, n),
    "narrow": lambda rng, n: rng.normal(700, 20, n),
    "even": lambda rng, n: rng.uniform(0, 1000, n),
    "falling": lambda rng, n: rng.exponential(80, n),
    "two humps": lambda rng, n: rng.normal(np.where(rng.random(n) < 0.5, 200, 800), 40),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.6, 0, rng.gamma(2, 120, n)),
    "one value": lambda rng, n: np.where(rng.random(n) < 0.15, 437, rng.normal(500, 160, n)),
}
KINDS = {"default": "", "bins": "bins = 96\n"}


def one_run(law: str, rows: int, facts: str, epsilon: float, method: str, seed: int) -> np.ndarray:
    """The deviation over the real one, and the error of the mean and W_1 in real deviations."""
    from counterfoil import AIM, MST, Budget, Curator, Schema

    rng = np.random.default_rng([seed, rows])
    real = np.clip(np.rint(LAWS[law](rng, rows)), 0, 999).astype(int)
    table = pd.DataFrame({"x": real, "group": rng.integers(0, 3, rows)})
    column = f'[columns.x]\nkind = "integer"\nlower = 0\nupper = 999\n{facts}'
    schema = Schema.from_toml(f'{column}\n[columns.group]\nkind = "integer"\nlower = 0\nupper = 2\n')
    with Curator(table, schema, budget=Budget(epsilon, 1e-9), seed=seed) as curator:
        copy = (AIM() if method == "aim" else MST()).synthesize(curator).to_pandas()["x"].to_numpy(float)
    distance = np.abs(np.quantile(copy, LEVELS) - np.quantile(real, LEVELS)).mean()
    return np.array([copy.std(), abs(copy.mean() - real.mean()), distance]) / real.std()


def main() -> None:
    warnings.simplefilter("ignore")  # no ledger is needed for made tables
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1500, 5000, 15_000, 48_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--method", choices=["aim", "mst"], default="mst")
    chosen = parser.parse_args()
    print("law epsilon rows kind | deviation (from, to) | mean | W_1 (worst)")
    for law in LAWS:
        for epsilon in chosen.epsilon:
            for rows in chosen.rows:
                for kind, facts in KINDS.items():
                    runs = [one_run(law, rows, facts, epsilon, chosen.method, seed) for seed in range(chosen.seeds)]
                    middle, least, most = np.median(runs, axis=0), np.min(runs, axis=0), np.max(runs, axis=0)
                    deviation = f"{middle[0]:.2f} ({least[0]:.2f}, {most[0]:.2f})"
                    print(
                        f"{law} {epsilon:g} {rows} {kind} | {deviation} | {middle[1]:.3f} |"
                        f" {middle[2]:.3f} ({most[2]:.3f})",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
