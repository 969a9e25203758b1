"""Trained models take schemas with patterns: features, and what is saved, are of the resolved one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.cli.model_kinds import kind_named
from counterfoil.cli.train_request import request_of
from counterfoil.training.pate import PATEClassifier

TEXT = """
[columns."x_*"]
kind = "integer"
lower = 0
upper = 9

[columns.label]
kind = "boolean"
"""


def table(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 10, rows)
    return pa.table({"x_1": x, "x_2": rng.integers(0, 10, rows), "label": x > 4, "x_person": np.arange(rows) // 2})


def test_a_model_is_of_the_resolved_schema(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(TEXT)
    model = PATEClassifier(epsilon=8, delta=1e-6, teachers=300, queries=20, seed=4)
    model.fit(table(3000, 1), path, public=table(100, 2), target="label", privacy_unit=PrivacyUnit("x_person", 2))
    assert model.features_.schema.domain.attributes == ("x_1", "x_2", "label")
    said = model.predict(table(200, 3))
    assert np.mean(said == table(200, 3)["label"].to_numpy()) > 0.8


def test_a_command_names_columns_that_a_pattern_declares(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(TEXT)
    csv.write_csv(table(50, 1).drop_columns(["x_person"]), tmp_path / "t.csv")
    given = {"target": "x_2", "epsilon": 1.0}
    request = request_of(kind_named("pate"), str(tmp_path / "t.csv"), path, given, ledger=None, resume=False)
    assert request.schema.domain.attributes == ("x_1", "x_2", "label")
    assert request.wishes["target"] == "x_2"
