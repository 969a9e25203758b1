"""Rows of a model whose wide bins are filled by the density that its own counts suggest."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.graphical_model import graphical_model
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.schema import Integer, Schema
from counterfoil.synthesis.row_sampling import bin_counts, draw

SCHEMA = Schema((Integer("wait", 0, 9999, edges=(0, 500, 1000, 2000)), Integer("day", 0, 6)))


def model() -> GraphicalModel:
    """Waiting times that are exponential with mean 600."""
    edges = np.array([0, 500, 1000, 2000, 10_000])
    shares = -np.diff(np.exp(-edges / 600))
    return GraphicalModel(SCHEMA.domain, {("wait",): np.log(shares)}, 20_000.0)


def test_rows_follow_the_density_and_not_the_middle_of_bins(tmp_path):
    rows = draw(model(), SCHEMA, 20_000, np.random.default_rng(3))
    waits = rows.table.column("wait").to_numpy()
    # Drawn evenly, the mean would be 741 and the deviation 1,096.
    assert waits.mean() == pytest.approx(600, rel=0.06)
    assert waits.std() == pytest.approx(600, rel=0.1)
    np.testing.assert_array_equal(SCHEMA["wait"].encode(rows.table.column("wait")), rows.codes[:, 0])
    model().save(tmp_path / "model.npz")
    again = draw(graphical_model.load(tmp_path / "model.npz"), SCHEMA, 20_000, np.random.default_rng(3))
    assert again.table.equals(rows.table), "nothing else has to be kept"


def test_only_columns_with_bins_need_counts():
    assert list(bin_counts(model(), SCHEMA)) == ["wait"]
