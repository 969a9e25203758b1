"""Rules that a model of marginals can't hold move the counts, and the receipt says so where they break many rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from counterfoil import Schema, synthesize

COLUMNS = "".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 9\n' for name in "abz")
RULE = '[[rules]]\nrequire = "a + b <= z"\n'


def table() -> pa.Table:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 4, (2, 2000))
    return pa.table({"a": a, "b": b, "z": np.minimum(a + b + rng.integers(0, 4, 2000), 9)})


def said(schema: str) -> list[str]:
    made = synthesize(table(), Schema.from_toml(schema), epsilon=5.0, method="independent", seed=1)
    rows = made.to_pandas()
    assert RULE not in schema or (rows["a"] + rows["b"] <= rows["z"]).all()
    return [line for line in made.receipt.document["warnings"] if "were drawn again" in line]


def test_rows_that_are_drawn_again_are_said_with_the_columns_and_their_share():
    (one,) = said(COLUMNS + RULE)
    numbers = table().to_pandas()
    independent = np.random.default_rng(2)
    shuffled = [independent.permutation(numbers[name]) for name in "abz"]
    share = float(np.mean(shuffled[0] + shuffled[1] > shuffled[2]))
    found = float(one.split("%")[0].removeprefix("About ")) / 100
    # Of 4,096 rows and of 2,000: a standard error of .013, and what noise moves; 6 of them.
    assert found == pytest.approx(share, abs=0.08)
    assert "about a, b, z, and" in one
    assert "rules on two columns in place of three" in one


def test_nothing_is_said_without_rules_or_where_they_break_few_rows():
    assert said(COLUMNS) == []
    assert said(COLUMNS + RULE.replace("a + b <= z", "a + b <= z + 9")) == []
