"""Rows that follow the schema's rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.schema import Schema
from counterfoil.synthesis import row_sampling as drawing
from counterfoil.synthesis.row_sampling import MOST_TRIES, draw

COLUMNS = """
name = "people"

[columns.id]
kind = "identifier"
replace = "sequence"

[columns.a]
kind = "integer"
lower = 0
upper = 9

[columns.b]
kind = "integer"
lower = 0
upper = 9

[columns.c]
kind = "integer"
lower = 0
upper = 9
"""


def schema_with(*rules: str) -> Schema:
    return Schema.from_toml(COLUMNS + "".join(f'\n[[rules]]\nrequire = "{rule}"\n' for rule in rules))


def uniform(schema: Schema) -> GraphicalModel:
    zeros = {clique: np.where(impossible, -np.inf, 0.0) for clique, impossible in schema.structural_zeros.items()}
    return GraphicalModel(schema.domain, zeros, 100.0)


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_rows_are_what_the_model_says():
    schema = schema_with()
    rows = draw(uniform(schema), schema, 1000, rng())
    assert rows.codes.shape == (1000, 3)
    assert rows.codes.dtype == np.int32
    assert rows.table.column_names == ["id", "a", "b", "c"]
    for axis, name in enumerate("abc"):
        assert np.array_equal(schema[name].encode(rows.table.column(name)), rows.codes[:, axis])
        assert np.bincount(rows.codes[:, axis]).tolist() == [100] * 10, "rounded, not sampled"
    assert len(set(rows.table.column("id").to_pylist())) == 1000


@pytest.mark.parametrize("rule", ["a < b", "a + b < c", "a + b + c == 9"])
def test_rules_hold_for_every_row(rule):
    schema = schema_with(rule)
    assert bool(schema.row_rules) == (rule != "a < b"), "rules on two columns are zeros of the model"
    table = draw(uniform(schema), schema, 500, rng()).table
    assert table.num_rows == 500
    a, b, c = (table.column(name).to_numpy() for name in "abc")
    assert {"a < b": a < b, "a + b < c": a + b < c, "a + b + c == 9": a + b + c == 9}[rule].all()


def test_rejection_keeps_the_conditional_law():
    """Uniform over the 165 triples with a + b < c, whichever round a row was drawn in. Ten thousand rows put 61 in
    each cell, with no more than the variance of independent draws: 6 deviations are a false alarm below 165 * 2e-9."""
    schema = schema_with("a + b < c")
    codes = draw(uniform(schema), schema, 10_000, rng()).codes
    counts = np.bincount(codes @ [100, 10, 1])
    counts = counts[counts > 0]
    assert len(counts) == 165
    assert np.abs(counts - 10_000 / 165).max() < 6 * np.sqrt(10_000 / 165)


def test_values_within_bins_follow_the_rules():
    """The codes alone can't: values are drawn within them, and those of a row are kept with its codes."""
    schema = Schema.from_toml(
        'name = "bins"\n'
        "[columns.x]\nkind = 'real'\nlower = 0.0\nupper = 10.0\nbins = 2\n"
        "[columns.y]\nkind = 'real'\nlower = 0.0\nupper = 10.0\nbins = 2\n"
        '[[rules]]\nrequire = "x <= y"\n'
    )
    assert schema.row_rules
    rows = draw(uniform(schema), schema, 300, rng())
    x, y = rows.table.column("x").to_numpy(), rows.table.column("y").to_numpy()
    assert (x <= y).all()
    assert np.array_equal(schema["x"].encode(rows.table.column("x")), rows.codes[:, 0])


def test_rows_are_drawn_until_rare_rules_have_given_enough():
    """One triple of a thousand meets the rule, so that twice what is missing would not do in fifty rounds."""
    schema = schema_with("a + b + c == 27")
    rows = draw(uniform(schema), schema, 300, rng())
    assert rows.codes.tolist() == [[9, 9, 9]] * 300
    assert rows.table.num_rows == 300


def test_what_was_found_is_returned_where_rules_are_hardly_ever_met(monkeypatch):
    """A row in 45,000 meets the rule; of a million, 22 are expected, and none in 3e-10 of all seeds."""
    schema = schema_with("a + b + c == 27")
    most = np.full((10, 10), -4.0)
    most[:9, :9] = 0.0
    monkeypatch.setattr(drawing, "_MOST_DRAWN", 20_000)
    rows = draw(GraphicalModel(schema.domain, {("a", "b"): most}, 100.0), schema, 500, rng())
    assert 0 < rows.table.num_rows == len(rows.codes) < 100
    assert (rows.codes == 9).all()
    assert len(set(rows.table.column("id").to_pylist())) == rows.table.num_rows


def test_the_number_of_rounds_and_of_rows_in_one_are_limited(monkeypatch):
    tries = []
    schema = schema_with("a + b + c == 27")
    monkeypatch.setattr(drawing, "_MOST_DRAWN", 1000)
    monkeypatch.setattr(
        drawing, "rows_that_hold", lambda _, values: tries.append(values.num_rows) or np.zeros(values.num_rows, bool)
    )
    assert draw(uniform(schema), schema, 40, rng()).table.num_rows == 0
    assert tries[:2] == [40, 1000]
    assert len(tries) == 1 + MOST_TRIES
    assert max(tries) == 1000
    tries.clear()
    draw(uniform(schema), schema, 600, rng())
    assert max(tries) == 1200, "twice what is missing, however much that is"


def test_conditions_and_rules_together():
    schema = schema_with("a + b < c")
    codes = draw(uniform(schema), schema, 200, rng(), where={"a": [2, 3], "c": [6]}).codes
    assert len(codes) == 200
    assert set(codes[:, 0]) == {2, 3}
    assert set(codes[:, 2]) == {6}
    assert (codes[:, 0] + codes[:, 1] < 6).all()


def test_a_condition_of_probability_zero():
    schema = schema_with("a < b")
    with pytest.raises(ValueError, match="positive probability"):
        draw(uniform(schema), schema, 5, rng(), where={"a": [9]})


def test_no_rows():
    schema = schema_with("a + b < c")
    table = draw(uniform(schema), schema, 0, rng()).table
    assert table.num_rows == 0
    assert table.schema.field("a").type == pa.int64()


DAYS = "".join(
    f'[columns.{name}]\nkind = "date"\nlower = 2020-01-01\nupper = 2020-12-31\nresolution = "calendar 1mo"\n'
    for name in ("admitted", "discharged")
)


@pytest.mark.parametrize("rule", ["admitted <= discharged", "discharged - admitted <= 20 and admitted <= discharged"])
def test_rules_within_bins_move_no_counts(rule):
    """Stays that begin and end in one month are half of the table: without others within the bins every second of
    them was lost, as every record of them meets the rule. Of 4,000 rows some 20 have bins in which few values do."""
    schema = Schema.from_toml(f'{DAYS}[[rules]]\nrequire = "{rule}"\n')
    (zeros,) = schema.structural_zeros.values()
    months = zeros.shape[0]
    shares = np.where(zeros, 0.0, np.eye(months) + np.eye(months, k=1))
    with np.errstate(divide="ignore"):
        model = GraphicalModel(schema.domain, {("admitted", "discharged"): np.log(shares)}, 100.0)
    rows = draw(model, schema, 4000, rng())
    assert rows.count == 4000
    first, last = (rows.table.column(name).to_numpy() for name in ("admitted", "discharged"))
    assert (first <= last).all()
    assert "20" not in rule or ((last - first).astype("timedelta64[D]").astype(int) <= 20).all()
    for axis, name in enumerate(schema.domain.attributes):
        assert np.array_equal(schema[name].encode(rows.table.column(name)), rows.codes[:, axis])
    found = np.zeros(zeros.shape)
    np.add.at(found, tuple(rows.codes.T), 1)
    assert np.abs(found / 4000 - shares / shares.sum()).sum() < 0.02
