"""What the synthetic rows alone would say: textbook intervals, labeled as misleading."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

from counterfoil.inference import Evidence
from counterfoil.inference.naive import naive_mean, naive_proportion
from counterfoil.receipt.answers import RecordedAnswers
from counterfoil.schema import Categorical, Integer, Schema

SCHEMA = Schema((Categorical("sex", ("F", "M")), Integer("k", 0, 9, missing=True)))
TABLE = pa.table({"sex": ["F"] * 30 + ["M"] * 10, "k": [*([1] * 12), *([5] * 18), *([9] * 4), *([None] * 6)]})
ROWS = Evidence(TABLE, None, RecordedAnswers(SCHEMA, (), (), (), 40))  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_shares_of_rows(level):
    for found, top, rows in zip(naive_proportion(ROWS, "k > 3", by="sex", level=level), (18, 4), (30, 10), strict=True):
        z, share = norm.isf((1 - level) / 2), top / rows
        for end in (found.lower, found.upper):
            assert (share - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / rows)
        assert (found.estimate, found.measured, found.noise) == (pytest.approx(share), False, 0.0)
        assert found.basis[0].startswith("MISLEADING")


def test_means_of_rows():
    numbers = np.array([1.0] * 12 + [5] * 18 + [9] * 4)
    (found,) = naive_mean(ROWS, "k")
    assert found.estimate == pytest.approx(numbers.mean())
    half = norm.isf(0.025) * numbers.std(ddof=1) / np.sqrt(34)
    assert (found.lower, found.upper) == pytest.approx((numbers.mean() - half, numbers.mean() + half))
    (_, alone) = naive_mean(ROWS, "k", by="sex")
    assert (alone.lower, alone.upper) == (9.0, 9.0)
