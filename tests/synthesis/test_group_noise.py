"""Means by groups that noise moves far, although the pair was counted: what the receipt says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema, synthesize

LEVELS = {"K": (4.2, 0.5), "Na": (139.0, 3.0), "Hb": (13.0, 1.8), "CRP": (60.0, 50.0)}
SCHEMA = Schema.from_toml(
    f'name = "labs"\n[columns.test]\nkind = "categorical"\nvalues = {list(LEVELS)}\n'
    '[columns.value]\nkind = "real"\nlower = 0\nupper = 1000\ndecimals = 1\nmissing = true\n'
)


def results(rows: int, levels: dict[str, tuple[float, float]] = LEVELS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    test = rng.choice(list(levels), rows)
    mean, deviation = np.array([levels[one] for one in test]).T
    return pd.DataFrame({"test": test, "value": np.round(np.abs(rng.normal(mean, deviation)), 1)})


def said(table: pd.DataFrame, epsilon: float, method: str = "aim") -> str:
    made = synthesize(table, SCHEMA, epsilon=epsilon, delta=1e-9, method=method, seed=1)
    return " ".join(line for line in made.receipt.document["warnings"] if line.startswith("Means by groups"))


@pytest.mark.parametrize("method", ["aim", "mst"])
def test_results_of_several_tests_in_one_column_are_said_to_have_no_means(method):
    line = said(results(3000), 0.5, method)
    assert line.startswith("Means by groups are unreliable: of value by test (")
    assert "infer RELEASE mean COLUMN --by GROUP" in line


def test_nothing_is_said_where_noise_is_small_groups_are_alike_or_no_pair_was_counted():
    assert said(results(50_000), 10.0) == ""
    assert said(results(3000, dict.fromkeys(LEVELS, (300.0, 150.0))), 1.0) == ""
    assert said(results(3000), 0.5, "independent") == ""
