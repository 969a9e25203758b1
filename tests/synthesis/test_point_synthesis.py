"""Synthetic points saved and read back: all of them, or a clear refusal."""

from __future__ import annotations

import shutil
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.schema import Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis
from saved_releases import VISITS_TOML, agree

MIXED = Schema.from_toml(VISITS_TOML)
NUMBERS = Schema.from_toml("""
[columns.x]
kind = "real"
lower = 0.0
upper = 1.0
bins = 8

[columns.age]
kind = "integer"
lower = 0
upper = 90
""")
VISITS = {
    "visit": ["a", "b", "c", "d"] * 10,
    "day": [date(2024, 3, 1), None, date(2024, 7, 5), date(2024, 12, 31)] * 10,
    "cost": [1.5, 300.0, 20.0, 499.0] * 10,
    "ward": ["north", "south", "attic", "north"] * 10,
}
FILES = ["points.npz", "receipt.json", "rows.parquet", "schema.toml", "support.parquet", "synthesis.json"]
EVOLUTION = PrivateEvolution.preset("practical", iterations=2, population=5)


def release_by(method, schema: Schema = MIXED) -> PointSynthesis:
    if schema is NUMBERS:
        table = pa.table({"x": np.linspace(0, 1, 40), "age": np.arange(40)})
    else:
        table = pa.table(VISITS)
    budget = Budget(1.0, 1e-6) if isinstance(method, PrivateEvolution) else Budget(1.0)
    with Curator(table, schema, budget=budget, seed=8) as curator:
        return method.synthesize(curator)


@pytest.fixture(scope="module")
def made() -> PointSynthesis:
    return release_by(EVOLUTION)


@pytest.mark.parametrize(
    ("method", "schema"),
    [(EVOLUTION, MIXED), (SignedMeasure(cells=9), NUMBERS), (SignedMeasure(cells=9), MIXED), (MeasureTree(), NUMBERS)],
    ids=["evolution", "signed measure", "signed measure of a table", "measure tree"],
)
def test_what_is_loaded_is_what_was_saved(method, schema, tmp_path):
    made = release_by(method, schema)
    made.save(tmp_path / "release")
    loaded = PointSynthesis.load(tmp_path / "release")
    assert loaded.to_arrow().equals(made.to_arrow())
    assert loaded.to_arrow().schema.equals(made.to_arrow().schema)
    assert loaded.support.equals(made.support)
    assert loaded.support.schema.equals(made.support.schema)
    assert np.array_equal(loaded.points, made.points)
    assert np.array_equal(loaded.weights, made.weights)
    assert loaded.schema == made.schema
    assert loaded.receipt == made.receipt
    assert loaded.rows == made.rows
    for writing in ("write", "write_points"):
        for synthesis, name in ((made, "made.csv"), (loaded, "loaded.csv")):
            getattr(synthesis, writing)(tmp_path / name)
        assert (tmp_path / "made.csv").read_bytes() == (tmp_path / "loaded.csv").read_bytes()


def test_a_loaded_synthesis_is_saved_the_same(saved, tmp_path):
    PointSynthesis.load(saved).save(tmp_path / "again")
    for name in set(FILES) - {"points.npz", "synthesis.json"}:  # archives may hold the time
        assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes()


@pytest.mark.parametrize("name", FILES[:-1])
def test_a_file_that_says_something_else(saved, name):
    (saved / name).write_text("[something else]")
    agree(saved, name)
    with pytest.raises(ValueError, match="can't be read"):
        PointSynthesis.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones(2)}, "differ in number"),
        ({"points": np.zeros(3)}, "differ in number"),
        ({"weights": "twice"}, "probabilities"),
        ({"weights": "negative"}, "probabilities"),
        ({"points": "nan"}, "finite"),
        ({"weights": None}, "can't be read"),
        ({"weights": "objects"}, "can't be read: .*allow_pickle"),
        ({"weights": "texts"}, "differ in number|can't be read"),
    ],
)
def test_points_that_are_none(made, saved, change, message):
    of = {
        "twice": 2 * made.weights,
        "negative": np.eye(1, len(made.weights))[0] - 0.5 * np.eye(1, len(made.weights), 1)[0],
        "nan": np.full_like(made.points, np.nan),
        "objects": np.array([{}] * len(made.weights), dtype=object),
        "texts": np.array(["one"] * len(made.weights)),
    }
    arrays = {"points": made.points, "weights": made.weights}
    for name, value in change.items():
        arrays[name] = of[value] if isinstance(value, str) else value
    np.savez(saved / "points.npz", **{name: value for name, value in arrays.items() if value is not None})
    agree(saved, "points.npz")
    with pytest.raises(ValueError, match=message):
        PointSynthesis.load(saved)


@pytest.mark.parametrize("name", ["schema.toml", "rows.parquet", "support.parquet", "receipt.json"])
def test_parts_of_another_release(saved, name, tmp_path):
    other = release_by(SignedMeasure(cells=9), NUMBERS)
    other.save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / name, saved / name)
    agree(saved, name)
    with pytest.raises(ValueError, match=r"its receipt is for another schema|other columns"):
        PointSynthesis.load(saved)
