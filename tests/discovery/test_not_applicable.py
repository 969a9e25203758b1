"""A purchase of a table whose columns write N for what is missing, as surveys do where a question was not asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.discover import discover

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 4000


def kind_of_flag(folder: Path, hours: np.ndarray) -> tuple[str, list[str]]:
    """The kind of a column that is N but for 12 rows, and its values."""
    rng = np.random.default_rng(2)
    flag = np.full(ROWS, "N", dtype=object)
    flag[rng.choice(ROWS, 12, replace=False)] = [str(1 + place % 6) for place in range(12)]
    pd.DataFrame({"flag": flag, "hours": hours}).to_csv(path := folder / "survey.csv", index=False)
    discovered, curator = discover(path, budget=Budget(1.0, 1e-9), seed=1)
    curator.close()
    (column,) = [one for one in discovered.columns if one.name == "flag"]
    facts = bought_column(column).facts
    return facts["kind"][0], facts.get("values", ([], ""))[0]


def test_n_alone_is_no_truth_where_other_columns_have_it_for_missing(tmp_path: Path) -> None:
    """Rare codes beside it were lost, and a copy had Y, which no record has."""
    rng = np.random.default_rng(3)
    hours = rng.integers(0, 60, ROWS).astype(str)
    assert kind_of_flag(tmp_path, np.where(rng.random(ROWS) < 0.3, "N", hours)) == ("categorical", ["N"])
    assert kind_of_flag(tmp_path, hours) == ("boolean", [])
