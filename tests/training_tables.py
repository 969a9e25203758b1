"""A small sensitive table to train models on, and ledgers for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema

SCHEMA = Schema(
    (
        Integer("age", 0, 100),
        Integer("score", -50, 50),
        Categorical("city", ("a", "b", "c")),
        Categorical("sex", ("f", "m")),
        Categorical("outcome", ("no", "yes")),
    )
)
ROWS = 240
BUDGET = Budget(2.0, 1e-5)


def people(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Scores that differ between groups, and an outcome that follows from them."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows)
    score = np.clip(np.rint(rng.normal(0, 15, rows) + 10 * (sex == "m")), -50, 50).astype(int)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 101, rows),
            "score": score,
            "city": rng.choice(["a", "b", "c"], rows),
            "sex": sex,
            "outcome": np.where(score + rng.normal(0, 5, rows) > 5, "yes", "no"),
        }
    )


def curator_of(frame: pd.DataFrame | None = None, *, groups: tuple[str, ...] = ("sex",), **options) -> Curator:
    facts = {"budget": BUDGET, "relation": "replace_one", "public_groups": groups, "seed": 3} | options
    return Curator(people() if frame is None else frame, SCHEMA, **facts)


def ledger_at(path: Path, *, total: Budget = Budget(20.0, 1e-3)) -> Ledger:
    """For tables from memory, as frames are."""
    return Ledger.create(path, source=SourceIdentity("memory", "memory"), total=total)
