"""What is not shown of a comparison is counted, in a sentence for one column too."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

import counterfoil


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (7, "1 more column of numbers differs less; "),
        (9, "3 more columns of numbers differ less; "),
        (13, "1 more column differs less; "),
    ],
)
def test_columns_that_are_not_shown_are_counted(columns: int, said: str) -> None:
    facts = "".join(f'[columns.n{i}]\nkind = "integer"\nlower = 0\nupper = 9\n' for i in range(columns))
    frame = pd.DataFrame({f"n{i}": [i % 10, 1, 2, 3] * 5 for i in range(columns)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", counterfoil.NoLedgerWarning)
        found = counterfoil.evaluate_without_privacy(frame, frame, counterfoil.Schema.from_toml(facts))
    assert said in str(found)
