"""Which columns differ most: a wide declared range must not make a difference small."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from counterfoil.evaluation.comparison import compare
from counterfoil.evaluation.raw_columns import Distribution, NumbersSideBySide
from counterfoil.schema import Real, Schema

N = 400


def tables() -> tuple[pd.DataFrame, pd.DataFrame, Schema]:
    """Twenty columns that differ a little on a narrow range, and one whose mean is ten times off on a wide one."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame({f"x{i}": rng.normal(5, 1, N).clip(0, 10) for i in range(20)})
    copy = real + 0.2
    real["pay"] = rng.uniform(50, 150, N)
    copy["pay"] = 10 * real["pay"]
    columns = [Real(f"x{i}", 0.0, 11.0, bins=5) for i in range(20)]
    return real, copy, Schema((*columns, Real("pay", 0.0, 1e9, bins=5)))


@pytest.mark.filterwarnings("ignore:No ledger")
def test_a_mean_that_is_ten_times_off_comes_first():
    real, copy, schema = tables()
    found = compare(real, copy, schema)
    first = max(found.columns, key=lambda column: column.difference)
    assert first.name == "pay"
    assert first.numbers is not None
    assert first.numbers.share < 1e-5  # a share of the range hides it
    assert first.numbers.deviations == pytest.approx(900 / (100 / math.sqrt(12)), rel=0.1)
    document = found.to_json()["columns"]
    assert len(document) == 21
    for column in document:
        name = column["column"]
        for side, frame in (("real", real), ("synthetic", copy)):
            told = column["numbers"][side]
            assert told["mean"] == pytest.approx(frame[name].mean())
            assert told["deviation"] == pytest.approx(frame[name].std(ddof=0))
            assert told["quantiles"]["0.99"] == pytest.approx(frame[name].quantile(0.99))
        assert column["numbers"]["wasserstein_1_deviations"] > 0


def test_deviations_of_constant_columns():
    def beside(one: float, other: float, distance: float) -> float:
        sides = (Distribution(0.0, one, ()), Distribution(0.0, other, ()))
        return NumbersSideBySide(*sides, distance, 1.0).deviations

    assert beside(2.0, 1.0, 4.0) == 2
    assert beside(0.0, 2.0, 4.0) == 2
    assert beside(0.0, 0.0, 4.0) == math.inf
    assert beside(0.0, 0.0, 0.0) == 0
    assert math.isnan(NumbersSideBySide(None, None, float("nan"), 1.0).deviations)
