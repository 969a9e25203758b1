"""What linear models can lose on Adult at epsilon 1: the certificates of releases, beside the truth.

Expected, for the label income and norm1 at most 1, with 95% confidence: below 0.05 from moments and below 0.15 from
marginals of binned features; both hold. The paper's own bound, with the same marginals, is vacuous. The standard error
of the mean error of pairs is below 0.01 at 5% of the budget. Takes about a minute; half with --quick.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from counterfoil import Schema, synthesize
from counterfoil.features.feature_map import UNIT, FeatureMap
from counterfoil.fidelity.certificate import Gaps
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.schema import Integer
from counterfoil.theory.published_bounds import theorem_3_2
from reproductions.excess_risk.protocol import ROOT

TABLE = ROOT.parent / "shared" / "data" / "adult.csv.gz"
SCHEMA = ROOT / "benchmarks" / "schemas" / "adult.schema.toml"
TARGET, NORM, SHARE, DELTA = "income", 1.0, 0.05, 1e-9

EDGES = {
    "age": (17, 25, 30, 35, 40, 45, 50, 55, 60, 70),
    "fnlwgt": (0, 100_000, 200_000, 300_000, 400_000),
    "capital-gain": (0, 1, 5_000, 10_000, 20_000),
    "capital-loss": (0, 1, 1_500, 2_000),
    "hours-per-week": (1, 20, 35, 40, 41, 50, 60),
}
"""Round numbers, with a bin of its own for what most people have: no capital gain, 40 hours."""


@dataclass(frozen=True)
class Found:
    """One release: its certificates by basis, the largest difference of risks that was found, and a standard error."""

    certificates: dict[str, dict]
    deviation: float
    standard_error: float


def binned(schema: Schema) -> Schema:
    """The schema with a few bins in each numeric column."""
    columns = [
        replace(column, edges=EDGES[column.name], bins=0)
        if isinstance(column, Integer) and column.name in EDGES
        else column
        for column in schema.synthesized
    ]
    return Schema(tuple(columns), rules=schema.rules, zeros=schema.zeros, name=schema.name)


def release(schema: Schema, seed: int) -> Found:
    """One release at epsilon 1, and the truth: the largest deviation over the corners of the ball of models."""
    made = synthesize(TABLE, schema, epsilon=1.0, delta=DELTA, fidelity=Fidelity(SHARE, TARGET), seed=seed)
    document = made.receipt.document
    told = {(one["measure"], one["about"]): one for one in document["fidelity"]}
    with gzip.open(TABLE) as file:
        real = csv.read_csv(file)
    deviation = float(np.abs(_risks(schema, real) - _risks(schema, made.to_arrow())).max())
    certificates = {one["basis"]: one for one in document["certificates"]}
    return Found(certificates, deviation, told["mean_marginal_error", "2 columns"]["standard_error"])


def _risks(schema: Schema, table: pa.Table) -> np.ndarray:
    """The risks of all models with one weight of plus or minus NORM."""
    features = FeatureMap.binary(schema, TARGET)
    codes = {column.name: column.encode(table.column(column.name)) for column in schema.synthesized}
    numbers = {c.name: c.numbers(table.column(c.name)) for c in schema.synthesized if c.is_ordered}
    margins = features.features(codes, numbers) / UNIT * features.labels(codes)[:, None] * NORM
    return np.concatenate([np.logaddexp(0, -sign * margins).mean(axis=0) for sign in (1, -1)])


def main(arguments: Sequence[str] | None = None) -> dict[str, list[Found]]:
    """Prints the certificates and the truth."""
    parser = argparse.ArgumentParser(description="Certificates on Adult. NOT PRIVATE: a public table, fixed seeds.")
    parser.add_argument("--quick", action="store_true", help="one release of each schema instead of three")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="not used: there is no file")
    seeds = range(1 if parser.parse_args(arguments).quick else 3)
    plain = Schema.from_toml(SCHEMA)
    results = {}
    for label, schema in (("as declared", plain), ("binned", binned(plain))):
        results[label] = [release(schema, seed) for seed in seeds]
        for found in results[label]:
            bounds = ", ".join(f"{basis} {one['excess_risk']:.3f}" for basis, one in found.certificates.items())
            gaps = Gaps.from_json(found.certificates["marginals"])
            rows, features = 48_842, len(schema.synthesized) - 1
            paper = theorem_3_2(gaps.feature * rows, rows=rows, features=features, order=2, radius=NORM)
            certified = found.certificates["moments"]["deviation"]
            print(f"{label}: excess risk at most {bounds}; Theorem 3.2: {paper.value:.3g}")
            print(f"  largest deviation found {found.deviation:.4f}, certified {certified:.4f}", end="; ")
            print(f"standard error of the mean pair {found.standard_error:.4f}")
    return results


if __name__ == "__main__":
    main()
