"""Releases that must stay what they are: of every method, under all kinds of neighbors, with a seed.

`golden_releases.json` holds a digest of each column of the rows, and a line for each charge. Whoever changes a release
on purpose records them again, reads the differences, and says in CHANGELOG.md what they mean:

    python tests/golden_releases.py

**What is compared.** Rows of tables to the last bit. Rows of points, charges (query, parameters, noise, sensitivity,
costs under both relations), error measures, certificates, points and weights as numbers of nine digits, because the
last digits of a logarithm or of a solver's answer may differ between processors. A table's row depends on such digits
only where two numbers that are compared agree in all others. Streams of random numbers and solvers belong to numpy and
scipy, whose versions are recorded too.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import counterfoil as cf
from counterfoil.schema import Boolean, Categorical, Date, Datetime, Identifier, Integer, Real, Rule

GOLDEN = Path(__file__).with_suffix(".json")

SCHEMA = cf.Schema(
    (
        Identifier("person", "uuid"),
        Categorical("job", ("cook", "nurse", "smith"), other=True),
        Integer("age", 0, 9, missing=True),
        Real("pay", 0.0, 10.0, bins=4),
        Date("born", datetime.date(1990, 1, 1), datetime.date(1999, 12, 31), bins=3, missing=True),
        Boolean("rich"),
    ),
    rules=(Rule("not rich", "job == 'cook'"),),
)
SEEN = cf.Schema((Datetime("seen", datetime.datetime(2024, 1, 1), datetime.datetime(2024, 2, 1), bins=4), Boolean("a")))
NUMBERS = cf.Schema((Real("x", 0.0, 1.0, bins=8), Real("y", 0.0, 1.0, bins=8)))
TINY = cf.Schema((Boolean("a"), Boolean("b")))
BUDGET, PURE = cf.Budget(2.0, 1e-3), cf.Budget(2.0)
NEIGHBORS: dict[str, dict[str, Any]] = {
    "add": {"relation": "add_or_remove_one"},
    "replace": {"relation": "replace_one"},
    "unit": {"relation": "replace_one", "privacy_unit": cf.PrivacyUnit("who", 2)},
}


def people(rows: int) -> pa.Table:
    """Values of every kind: missing, beyond a bound, of no category, and written with a space."""
    rng = np.random.default_rng(0)
    poor = rng.random(rows) < 0.3
    days = np.datetime64("1989-01-01") + rng.integers(0, 4200, rows)
    return pa.table(
        {
            "person": [f"p{i}" for i in range(rows)],
            "job": np.where(poor, "cook", np.array(["nurse", "smith", "clown", " cook "])[rng.integers(0, 4, rows)]),
            "age": pa.array(rng.integers(-2, 13, rows), mask=rng.random(rows) < 0.1),
            "pay": rng.normal(5, 3, rows),
            "born": pa.array(days, pa.date32(), mask=rng.random(rows) < 0.1),
            "rich": ~poor & (rng.random(rows) < 0.7),
            "who": [f"{i // 3}" for i in range(rows)],
        }
    )


def visits(rows: int) -> pa.Table:
    """Instants, of which some lie beyond the bounds."""
    rng = np.random.default_rng(1)
    seconds = rng.integers(-86_400, 40 * 86_400, rows)
    seen = [datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=int(one)) for one in seconds]
    return pa.table({"seen": seen, "a": rng.random(rows) < 0.5, "who": [f"{i // 3}" for i in range(rows)]})


def places(rows: int) -> pa.Table:
    """Points in the square, and some beside it."""
    points = np.random.default_rng(2).normal(0.3, 0.2, (rows, 2))
    return pa.table({"x": points[:, 0], "y": points[:, 1], "who": [f"{i // 3}" for i in range(rows)]})


def pairs(rows: int) -> pa.Table:
    """Two related bits."""
    same = np.arange(rows) % 4 < 3
    return pa.table({"a": np.arange(rows) % 2 == 0, "b": same, "who": [f"{i // 3}" for i in range(rows)]})


@dataclasses.dataclass(frozen=True)
class Case:
    """A method, and what it is run on."""

    method: Any
    table: Callable[[int], pa.Table] = people
    schema: cf.Schema = SCHEMA
    budget: cf.Budget = BUDGET
    rows: int = 150
    neighbors: tuple[str, ...] = tuple(NEIGHBORS)
    fidelity: cf.Fidelity | None = None


def evolution(preset: str, **options: Any) -> Any:
    """A small run."""
    return cf.PrivateEvolution.preset(preset, **{"iterations": 3, "population": 12, **options})


CASES = {
    **{f"aim {variant}": Case(cf.AIM(variant=variant, rounds=3)) for variant in ("batched", "gaussian", "published")},
    "aim as it comes": Case(cf.AIM(), neighbors=("add",)),
    "aim with a focus": Case(cf.AIM(rounds=2, batch=2, focus="rich")),
    "aim of weighted marginals": Case(
        cf.AIM(cf.Workload({("job", "age"): 2.0, ("pay", "born", "rich"): 1.0}), rounds=2)
    ),
    "mst": Case(cf.MST()),
    "independent": Case(cf.Independent()),
    "independent, pure": Case(cf.Independent(), budget=PURE),
    "independent, of instants": Case(cf.Independent(), visits, SEEN),
    "direct private_pgm": Case(cf.Direct(2)),
    "direct private_pgm, pure": Case(cf.Direct(cf.Workload({("job", "age"): 1.0, ("pay",): 1.0})), budget=PURE),
    "direct minimax": Case(cf.Direct(2, estimator="minimax"), pairs, TINY),
    "direct brute_force": Case(cf.Direct(2, estimator="brute_force"), pairs, TINY, rows=8, neighbors=("replace",)),
    "mst with fidelity": Case(cf.MST(), fidelity=cf.Fidelity(0.3)),
    "mst with fidelity and certificates": Case(cf.MST(), fidelity=cf.Fidelity(0.3, "rich")),
    "independent with fidelity, pure": Case(cf.Independent(), budget=PURE, fidelity=cf.Fidelity(0.3, "rich")),
    "direct with certificates alone": Case(cf.Direct(2), fidelity=cf.Fidelity(0.0, "rich")),
    **{
        f"evolution {preset}": Case(evolution(preset), places, NUMBERS)
        for preset in ("bounded-lipschitz", "practical", "theoretical", "laplace-threshold")
    },
    "reweighting": Case(cf.Reweighting(support=300)),
    "reweighting, pure, of moments": Case(cf.Reweighting(queries="moments:2", support=300), budget=PURE),
    "reweighting of a histogram, minimax": Case(
        cf.Reweighting(reference="histogram", fit="minimax", support=300), pairs, TINY
    ),
    **{
        f"reweighting of points, {name}": Case(
            cf.Reweighting(reference=name, support=300), places, NUMBERS, budget=PURE
        )
        for name in ("uniform", "histogram", "bernstein", "tree")
    },
    "evolution of tables": Case(evolution("bounded-lipschitz", lookahead=2)),
    "evolution in a box": Case(evolution("practical", space=cf.Box(("x", "y"), (0, 0), (1, 1))), places, NUMBERS),
    "signed-measure": Case(cf.SignedMeasure(), places, NUMBERS),
    "signed-measure, pure": Case(cf.SignedMeasure(), places, NUMBERS, budget=PURE),
    "signed-measure, pure, of tables": Case(cf.SignedMeasure(cells=20), budget=PURE),
    "measure-tree": Case(cf.MeasureTree(), places, NUMBERS, budget=PURE),
    "measure-tree, gaussian": Case(cf.MeasureTree(), places, NUMBERS),
}
NAMES = [(name, neighbors) for name, case in CASES.items() for neighbors in case.neighbors]


def table_of(name: str, neighbors: str) -> pa.Table:
    """What a case is run on; only units need a column of units."""
    table = CASES[name].table(CASES[name].rows)
    return table if neighbors == "unit" else table.drop_columns(["who"])


def release(name: str, neighbors: str, source: Any = None) -> Any:
    """The release, of the case's table or of a `source` that holds the same."""
    case = CASES[name]
    table = table_of(name, neighbors) if source is None else source
    with cf.Curator(table, case.schema, budget=case.budget, seed=3, **NEIGHBORS[neighbors]) as curator:
        if case.fidelity is not None:
            case.fidelity.prepare(curator)
        made = case.method.synthesize(curator)
        return made if case.fidelity is None else case.fidelity.measure(curator, made)


def golden(made: Any) -> dict[str, Any]:
    """What must stay."""
    document, table = made.receipt.document, made.to_arrow()
    exact = isinstance(made, cf.Synthesis)
    found = {
        "rows": made.rows,
        "columns": {name: digest_of_column(table[name], exact=exact) for name in table.column_names},
        "composition": document["composition"]["rule"],
        "spent": rounded(document["spent"]),
        "warnings": document["warnings"],
        "charges": [line_of(charge) for charge in document["charges"]],
        "fidelity": digest_of_json(document.get("fidelity", [])),
        "certificates": digest_of_json(document.get("certificates", [])),
    }
    if isinstance(made, cf.PointSynthesis):
        found["points"] = digest_of_json(made.points.tolist())
        found["weights"] = digest_of_json(made.weights.tolist())
    return found


def line_of(charge: dict[str, Any]) -> str:
    """What was asked with which noise, and a digest of all that the receipt says of it."""
    noise, sensitivity = charge["noise"], rounded(charge["sensitivity"])
    asked = f"{charge['query']} of sensitivity {sensitivity}"
    return f"{asked}, {noise['kind']} of scale {rounded(noise['scale'])}, {digest_of_json(charge)}"


def digest_of_column(column: pa.ChunkedArray, *, exact: bool) -> str:
    """Of each value in order; a text is told from a number, null from NaN."""
    values = column.to_pylist()
    return hashlib.sha256(f"{column.type}\n{values if exact else rounded(values)!r}".encode()).hexdigest()[:16]


def digest_of_json(document: Any) -> str:
    return hashlib.sha256(json.dumps(rounded(document), sort_keys=True).encode()).hexdigest()[:16]


def rounded(value: Any) -> Any:
    """The same JSON with floats of nine digits; zero has one sign."""
    if isinstance(value, float):
        return float(f"{value:.9g}") + 0.0
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


def recorded() -> dict[str, Any]:
    """What the file holds."""
    return json.loads(GOLDEN.read_text())


def versions() -> dict[str, str]:
    """Of the libraries whose numbers a release is made of."""
    return {name: version(name) for name in ("counterfoil", "numpy", "scipy")}


def main() -> None:
    """Records every release, and says which have changed."""
    before = recorded()["releases"] if GOLDEN.exists() else {}
    releases = {f"{name}, {neighbors}": golden(release(name, neighbors)) for name, neighbors in NAMES}
    for name in sorted({*before, *releases}):
        if before.get(name) != releases.get(name):
            print("changed:", name)
    GOLDEN.write_text(json.dumps({"recorded_with": versions(), "releases": releases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
