"""The empty places of a bought schema: their noise leaves few records in them, and takes no part in relations."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.curator import Curator
from counterfoil.marginals.one_way import OneWay, measure_one_way
from counterfoil.methods.independent import Independent
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.schema import Schema
from counterfoil.schema.bought import Bought

COLUMNS = 24
BOUGHT = Bought(1.0, 1e-9, "add_or_remove_one", "0" * 64)
SCHEMA = Schema.from_toml(
    "".join(
        f'[columns.answer{i}]\nkind = "boolean"\nmissing = true\n\n'
        f'[columns.code{i}]\nkind = "integer"\nlower = 1\nupper = 15\nmissing = true\n\n'
        for i in range(COLUMNS)
    )
)
TABLE = pa.table(
    {f"answer{i}": [True, True, False] * 1000 for i in range(COLUMNS)}
    | {f"code{i}": [1, 2, 2] * 1000 for i in range(COLUMNS)}
)


def measured(bought: Bought | None, table: pa.Table = TABLE) -> OneWay:
    schema = replace(SCHEMA, bought=bought)
    with Curator(table, schema, budget=Budget(20.0, 1e-6), seed=5) as curator:
        # A deviation of 20.8 in each count.
        return measure_one_way(curator, curator.filter(GaussianFilter()), GaussianNoise(3.0), entropy_weight=1.0)


def in_empty_places(one_way: OneWay) -> float:
    """Records in places that hold none, of all columns."""
    model = one_way.refine(one_way.coarse_estimator().fit([]))
    answers = sum(float(model.marginal((f"answer{i}",))[2]) for i in range(COLUMNS))
    return answers + sum(float(model.marginal((f"code{i}",))[2:].sum()) for i in range(COLUMNS))


def test_few_records_are_in_places_that_are_empty() -> None:
    by_hand, bought = in_empty_places(measured(None)), in_empty_places(measured(BOUGHT))
    assert by_hand > 400
    assert bought < by_hand / 3


def test_pairs_have_no_cells_for_missing_values_that_do_not_show() -> None:
    sizes = measured(BOUGHT).coarsening.domain.sizes
    assert sum(size > 2 for size in sizes) < 6
    assert min(sizes) == 2
    assert sum(size > 2 for size in measured(None).coarsening.domain.sizes) == 2 * COLUMNS


def test_missing_values_that_show_stay() -> None:
    answers = [True, None, False] * 1000
    one_way = measured(BOUGHT, TABLE.set_column(0, "answer0", pa.array(answers)))
    assert one_way.coarsening.domain["answer0"] == 3
    model = one_way.refine(one_way.coarse_estimator().fit([]))
    assert abs(float(model.marginal(("answer0",))[2]) - 1000) < 120


def missing_of_independent(table: pa.Table, bought: Bought | None) -> list[float]:
    """The share of missing cells of each column of independent columns, whose counts have deviations of about 50."""
    with Curator(table, replace(SCHEMA, bought=bought), budget=Budget(1.0, 1e-6), seed=5) as curator:
        drawn = Independent().synthesize(curator).to_arrow()
    return [column.null_count / len(column) for column in drawn.columns]


def test_independent_columns_have_few_missing_cells_where_none_show() -> None:
    by_hand, bought = (sum(missing_of_independent(TABLE, facts)) for facts in (None, BOUGHT))
    assert by_hand > 0.2
    assert bought < by_hand / 3


def test_independent_columns_keep_missing_cells_that_show() -> None:
    table = TABLE.set_column(0, "answer0", pa.array([True, None, False] * 1000))
    assert abs(missing_of_independent(table, BOUGHT)[0] - 1 / 3) < 0.1
