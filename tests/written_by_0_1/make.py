"""Writes the files of this folder; it was run once, with Counterfoil 0.1.0 (commit dad2781).

Every later version must read what that one wrote, which is why the files are kept and not made anew. To add files of a
later version, copy this folder to one named after it, and run the copy of this program there.

    python tests/written_by_0_1/make.py

The table is made up, and the noise comes from seeds, so that nothing here is anybody's.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

import counterfoil as cf
from counterfoil.cli.app import run
from counterfoil.methods import METHODS, method_named
from counterfoil.schema import Real

HERE = Path(__file__).parent
BUDGET = cf.Budget(1.0, 1e-6)

SCHEMA = """\
name = "people"

[columns.person]
kind = "identifier"
replace = "uuid"

[columns.job]
kind = "categorical"
values = ["cook", "nurse"]
other = true

[columns.age]
kind = "integer"
lower = 0
upper = 99
bins = 4
missing = true

[columns.pay]
kind = "real"
lower = 0.0
upper = 10.0
bins = 4

[columns.rich]
kind = "boolean"

[[rules]]
if = "age < 18"
then = "not rich"
"""


def people() -> pa.Table:
    """60 people who do not exist."""
    rng, rows = np.random.default_rng(0), 60
    age = rng.integers(0, 100, rows)
    pay = rng.uniform(0, 10, rows).round(2)
    return pa.table(
        {
            "person": [f"p{i}" for i in range(rows)],
            "job": np.array(["cook", "nurse", "smith"])[rng.integers(0, 3, rows)],
            "age": pa.array(age, mask=rng.random(rows) < 0.1),
            "pay": pay,
            "rich": (pay > 5) & (age >= 18),
        }
    )


def curator(**keywords: Any) -> cf.Curator:
    """Of the people, with a seed."""
    schema = cf.Schema.from_toml(HERE / "people.schema.toml")
    return cf.Curator(people(), schema, **{"budget": BUDGET, "seed": 1, **keywords})


def released(method: Any, fidelity: cf.Fidelity | None = None, **keywords: Any) -> Any:
    """What `method` makes of the people."""
    with curator(**keywords) as opened:
        if fidelity is not None:
            fidelity.prepare(opened)
        made = method.synthesize(opened)
        return made if fidelity is None else fidelity.measure(opened, made)


def evolution() -> cf.PrivateEvolution:
    """Three small iterations."""
    return cf.PrivateEvolution.preset("practical", iterations=3, population=8)


def write_ledger() -> None:
    """A filter, a plan, a release that was given back, one that was stopped halfway, a reveal, and one after it."""
    from counterfoil.curator.ledger import SourceIdentity

    source = SourceIdentity("memory", "memory")
    with cf.Ledger.create(HERE / "people.ledger", source=source, total=cf.Budget(10.0, 1e-4)) as ledger:
        released(cf.AIM(rounds=2), ledger=ledger)
        released(cf.Direct(1), ledger=ledger)
        ledger.open_release(
            budget=BUDGET, relation="add_or_remove_one", composition="gaussian", description={}
        ).abandon()
        try:
            with curator(ledger=ledger) as opened:
                evolution().synthesize(opened, checkpoint=HERE / "evolution.checkpoint", progress=interrupt)
        except KeyboardInterrupt:
            pass
        with curator(ledger=ledger) as opened:
            opened.reveal_without_privacy("to check that the columns are in order")
        released(cf.Independent(), ledger=ledger, budget=cf.Budget(0.1, 1e-9))


def interrupt(message: str, fraction: float) -> None:
    """Progress that stops a run where it first speaks: after one iteration."""
    raise KeyboardInterrupt


def write_receipts() -> None:
    """One of every method; of the others of their kinds, one each."""
    kept = [name for name in METHODS if name not in ("evolution", "measure-tree")]
    made = {name: released(method_named(name)) for name in kept}
    made["evolution"] = released(evolution())
    points = pa.table({"x": np.linspace(0, 1, 60), "y": np.linspace(0, 1, 60) ** 2})
    numbers = cf.Schema((Real("x", 0.0, 1.0, bins=8), Real("y", 0.0, 1.0, bins=8)))
    with cf.Curator(points, numbers, budget=cf.Budget(1.0), seed=1) as opened:
        made["measure-tree"] = cf.MeasureTree().synthesize(opened)
    made["aim-published"] = released(cf.AIM(variant="published"))
    made["aim-gaussian"] = released(cf.AIM(variant="gaussian"))
    made["evolution-laplace"] = released(
        cf.PrivateEvolution.preset("laplace-threshold", iterations=2, population=8), relation="replace_one"
    )
    made["signed-measure-pure"] = released(cf.SignedMeasure(), budget=cf.Budget(1.0))
    made["independent-pure"] = released(cf.Independent(), budget=cf.Budget(1.0))
    unit = cf.PrivacyUnit("job", 2)
    made["independent-unit"] = released(cf.Independent(), privacy_unit=unit, relation="replace_one")
    made["mst-fidelity"] = released(cf.MST(), cf.Fidelity(0.2, "rich"))
    made["direct-certificates"] = released(cf.Direct(2), cf.Fidelity(0.0, "rich"))
    assert made.keys() >= METHODS.keys()
    for name, one in made.items():
        one.receipt.save(HERE / "receipts" / f"{name}.json")


def main() -> None:
    """Every file."""
    (HERE / "receipts").mkdir()
    (HERE / "people.schema.toml").write_text(SCHEMA)
    csv.write_csv(people(), HERE / "people.csv")
    write_ledger()
    write_receipts()
    released(cf.MST(), cf.Fidelity(0.2, "rich")).save(HERE / "synthesis")
    released(cf.SignedMeasure()).save(HERE / "points")
    os.chdir(HERE)
    given = "synth people.csv --schema people.schema.toml --epsilon 1 --method direct --seed 1 --not-private"
    assert run([*given.split(), "--out", "synth.csv"]) == 0


if __name__ == "__main__":
    main()
