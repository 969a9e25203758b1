"""A synthesis saved and read back: all of it, or a clear refusal."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.methods.aim import AIM
from counterfoil.methods.direct import Direct
from counterfoil.schema import Schema
from counterfoil.synthesis.synthesis import Synthesis
from saved_releases import VISITS_TOML, forge

SCHEMA = Schema.from_toml(
    VISITS_TOML
    + """
[[rules]]
if = "ward == 'north'"
then = "cost <= 300"
"""
)
FILES = ["error_bars.json", "model.npz", "receipt.json", "rows.arrow", "schema.toml", "synthesis.json"]


def visits(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(6)
    ward = np.array(["north", "south", "attic"])[rng.integers(0, 3, n)]
    cost = rng.uniform(0, 500, n)
    return pa.table(
        {
            "visit": [f"v{i}" for i in range(n)],
            "day": pa.array(np.datetime64("2024-01-01") + rng.integers(0, 366, n), mask=rng.random(n) < 0.1),
            "cost": np.where(ward == "north", cost * 0.5, cost),
            "ward": ward,
        }
    )


def release_by(method, budget: Budget = Budget(1.0, 1e-6)) -> Synthesis:
    with Curator(visits(), SCHEMA, budget=budget, seed=8) as curator:
        return method.synthesize(curator)


@pytest.fixture(scope="module")
def made() -> Synthesis:
    return release_by(AIM(variant="published"))


@pytest.mark.parametrize(
    "method", [AIM(variant="published"), AIM(), Direct(2)], ids=["passed over", "noisy distance", "measured"]
)
def test_what_is_loaded_is_what_was_saved(method, tmp_path):
    made = release_by(method)
    made.save(tmp_path / "release")
    loaded = Synthesis.load(tmp_path / "release")
    assert loaded.to_arrow().equals(made.to_arrow())
    assert loaded.to_arrow().schema.equals(made.to_arrow().schema)
    assert loaded.drawn.codes.dtype == np.int32
    assert np.array_equal(loaded.drawn.codes, made.drawn.codes)
    assert loaded.schema == made.schema
    assert loaded.receipt == made.receipt
    assert loaded.error_bars == made.error_bars
    assert loaded.model.total == made.model.total
    for clique in (["day"], ["cost", "ward"], ["day", "cost", "ward"]):
        assert np.array_equal(loaded.marginal(clique), made.marginal(clique))
        assert loaded.error_bar(clique, 0.01) == made.error_bar(clique, 0.01)
    assert loaded.sample(30, {"ward": "north"}, seed=1).equals(made.sample(30, {"ward": "north"}, seed=1))


def test_a_loaded_synthesis_is_saved_the_same(saved, tmp_path):
    Synthesis.load(saved).save(tmp_path / "again")
    for name in FILES:
        if name not in ("model.npz", "synthesis.json"):  # archives hold the time
            assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("error_bars.json", "[]", "can't be read"),
        ("error_bars.json", '{"bounds": [{"kind": "guessed", "attributes": ["day"]}]}', "can't be read: 'guessed'"),
        ("error_bars.json", '{"bounds": [{"kind": "told", "attributes": ["day"]}]}', "can't be read: .*argument"),
        ("error_bars.json", '{"bounds": [{"kind": "told", "attributes": ["z"]}]}', "can't be read: .*Unknown: 'z'"),
        ("rows.arrow", "not arrow", "can't be read"),
        ("model.npz", "not a model", "can't be read: .*archive of plain arrays"),
        ("receipt.json", "{}", "can't be read"),
    ],
)
def test_a_file_that_says_something_else(saved, name, text, message):
    forge(saved, name, text)
    with pytest.raises(ValueError, match=message):
        Synthesis.load(saved)


def test_parts_that_do_not_belong_together(saved):
    forge(saved, "schema.toml", (saved / "schema.toml").read_text().replace("bins = 8", "bins = 9"))
    with pytest.raises(ValueError, match="its model and its schema have other columns"):
        Synthesis.load(saved)
