"""Bounded functions: clamped record by record, never beyond their range, and with the sensitivities that they state."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.features.functions import UNIT, Functions, Share, Value, functions_of_toml
from counterfoil.methods.reweighting import Reweighting
from counterfoil.noise.noise import Norm
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
SCHEMA = Schema(
    (
        Categorical("job", ("cook", "nurse")),
        Integer("age", 0, 99, missing=True),
        Real("pay", 0.0, 10.0, bins=4),
        Boolean("rich"),
    )
)
N = 50


def records(seed=0, n=N):
    rng = np.random.default_rng(seed)
    numbers = {"age": rng.integers(0, 100, n).astype(float), "pay": rng.uniform(0, 10, n)}
    numbers["age"][::7] = np.nan
    codes = {"job": rng.integers(0, 2, n).astype(np.uint8)}
    if not SCHEMA["rich"].is_ordered:
        codes["rich"] = rng.integers(0, 2, n).astype(np.uint8)
    else:
        numbers["rich"] = rng.integers(0, 2, n).astype(float)
    return codes, numbers


def averages(family, codes, numbers, n=N):
    return family.offsets + family.slopes * family.sums(n, codes, numbers) / n


def test_shares_and_values_are_what_they_say():
    codes, numbers = records()
    wished = [
        Share.of_records(SCHEMA, "age >= 65 and job == 'nurse'"),
        Share.of_records(SCHEMA, "pay - 2 * age > -50"),
        Share.of_records(SCHEMA, "age is missing"),
        Share.of_records(SCHEMA, "rich"),
        Value("pay", 2.0, 6.0, "pay"),
    ]
    found = averages(Functions(SCHEMA, tuple(wished), False), codes, numbers)
    age, pay = numbers["age"], numbers["pay"]
    rich = numbers["rich"] if "rich" in numbers else codes["rich"]
    with np.errstate(invalid="ignore"):
        expected = [
            ((age >= 65) & (codes["job"] == 1)).mean(),
            (pay - 2 * age > -50).mean(),
            np.isnan(age).mean(),
            (rich == 1).mean(),
            np.clip(pay, 2, 6).mean(),
        ]
    assert found == pytest.approx(expected, abs=2 / UNIT)


def test_a_function_of_your_own_sees_values():
    codes, numbers = records()
    mine = ("mine", lambda record: (record["job"] == "nurse") * np.nan_to_num(record["age"]), 0, 99)
    family = Functions.of(SCHEMA, [mine], counted=True)
    expected = ((codes["job"] == 1) * np.nan_to_num(numbers["age"])).mean()
    assert family.names == ("1", "mine")
    assert averages(family, codes, numbers) == pytest.approx([1.0, expected], abs=1e-3)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3), st.booleans())
def test_values_beyond_the_range_are_clamped_and_nothing_is_said(values, counted):
    family = Functions.of(SCHEMA, [("wild", lambda record: np.array(values), -1.0, 2.5)], counted=counted)
    codes, numbers = records(n=3)
    whole = family.matrix(3, codes, numbers).toarray()
    assert whole.min() >= 0
    assert whole.max() <= UNIT
    expected = np.where(np.isnan(values), -1.0, np.clip(values, -1.0, 2.5))
    assert (family.offsets[-1] + family.slopes[-1] * whole[-1]) == pytest.approx(expected, abs=4 / UNIT)


@pytest.mark.parametrize("counted", [False, True])
def test_records_at_both_ends_attain_the_sensitivities(counted):
    ends = [("up", lambda r: r["pay"], 0.0, 10.0), ("down", lambda r: r["pay"] / 10, 0.0, 1.0)]
    family = Functions.of(SCHEMA, ends, counted=counted)
    codes, numbers = records(n=2)
    numbers["pay"] = np.array([0.0, 10.0])
    low, high = family.matrix(2, codes, numbers).toarray().T
    assert np.abs(high).sum() == family.l1_sensitivity(ADD)
    assert np.abs(high - low).sum() == family.l1_sensitivity(REPLACE)
    assert np.linalg.norm(high) == pytest.approx(family.l2_sensitivity(ADD))
    assert np.linalg.norm(high - low) == pytest.approx(family.l2_sensitivity(REPLACE))
    query = FunctionAverages(family)
    for relation, moved in ((ADD, 1), (REPLACE, 2)):
        for norm, of in ((Norm.L1, query.l1_sensitivity), (Norm.L2, query.l2_sensitivity)):
            assert query.restated_sensitivity(query.describe(), moved, norm) == pytest.approx(of(relation))


def test_a_file_of_functions(tmp_path):
    path = tmp_path / "f.toml"
    path.write_text(
        '[[functions]]\nname = "old"\nwhere = "age >= 65"\n[[functions]]\ncolumn = "pay"\nupper = 8\n'
        "[[functions]]\nwhere = \"job == 'cook'\"\n"
    )
    old, pay, cook = functions_of_toml(path, SCHEMA)
    assert (old.name, old.expression, cook.name) == ("old", "age >= 65", "job == 'cook'")
    assert (pay.name, pay.lower, pay.upper) == ("pay", 0.0, 8)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must be .*functions.* tables"),
        ("functions = 3", "must be .*functions.* tables"),
        ("[[functions]]\nname = 'x'", "Function 1 .* either `where` or `column`"),
        ("[[functions]]\nwhere = 'age > 3'\ncolumn = 'age'", "either `where` or `column`"),
        ("[[functions]]\nwhere = 'age >'", "not an expression"),
        ("[[functions]]\nwhere = 'aeg > 3'", "Did you mean 'age'"),
        ("[[functions]]\ncolumn = 'job'", "ordered column"),
        ("[[functions]]\ncolumn = 'age'\nlowr = 3", "unknown key 'lowr'. Did you mean 'lower'"),
        ("[[functions]]\ncolumn = 'age'\nlower = 'a'", "two finite numbers"),
        ("[[functions]]\ncolumn = 'age'\nlower = 5\nupper = 5", "two finite numbers"),
        ("[[functions", "can't be read as TOML"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path, text, sentence):
    path = tmp_path / "f.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        functions_of_toml(path, SCHEMA)


@pytest.mark.parametrize(
    ("functions", "sentence"),
    [
        ([], "1 to 200,000 functions"),
        ([("a", len, 0, 1), ("a", len, 0, 1)], "distinct names"),
        ([("a", len, 1, 0)], "lower one first"),
        ([("a", len, 0, np.inf)], "two finite numbers"),
        ([("a", len, -1e308, 1e308)], "two finite numbers"),
        ([("a", 3, 0, 1)], r"\(name, function, lower, upper\)"),
        ([len], r"\(name, function, lower, upper\)"),
    ],
)
def test_other_functions_are_refused(functions, sentence):
    with pytest.raises(ValueError, match=sentence):
        Functions.of(SCHEMA, functions, counted=False)


@pytest.mark.parametrize("result", [1.0, np.ones(3), np.array(["a"] * N), None])
def test_a_function_must_give_a_number_for_each_row(result):
    family = Functions.of(SCHEMA, [("f", lambda record: result, 0, 1)], counted=False)
    with pytest.raises(ValueError, match="one number for each row"):
        family.sums(N, *records())


UNDEFINED = {
    "always": lambda record: np.full(len(record["pay"]), np.nan),
    "a ratio of 0 and 0": lambda record: (record["pay"] - record["pay"]) / np.zeros(len(record["pay"])),
    "a logarithm below 0": lambda record: np.log(-1 - record["pay"]),
}


@pytest.mark.parametrize("name", list(UNDEFINED))
def test_a_function_that_is_no_number_on_any_row_is_refused_before_anything_is_charged(name):
    """The records themselves don't matter: it is tried on rows made up from the schema."""
    table = pa.table({"job": ["cook"] * 3, "age": [1, None, 3], "pay": [1.0, 2.0, 3.0], "rich": [True, False, True]})
    with Curator(table, SCHEMA, budget=Budget(1.0, 1e-6), seed=1) as curator:
        wished = [("fine", lambda record: record["pay"], 0.0, 10.0), (name, UNDEFINED[name], 0.0, 1.0)]
        with pytest.raises(ValueError, match=rf"The function '{name}' is no number \(NaN\) on any of many rows"):
            Reweighting(queries=wished, support=50).synthesize(curator)
        assert curator.charged == 0


def test_a_function_that_is_a_number_on_some_rows_is_asked():
    """Where the age is missing this one has no number: its lower end counts there, as documented."""
    table = pa.table({"job": ["cook"] * 3, "age": [1, None, 3], "pay": [1.0, 2.0, 3.0], "rich": [True, False, True]})
    with Curator(table, SCHEMA, budget=Budget(1.0, 1e-6), seed=1) as curator:
        Reweighting(queries=[("age", lambda record: record["age"], 0.0, 99.0)], support=50).synthesize(curator)
        assert curator.charged


def test_numbers_are_counted_function_by_function():
    codes, numbers = records()
    own = [("age", lambda record: record["age"], 0, 99), ("never", UNDEFINED["always"], 0, 1)]
    family = Functions.of(SCHEMA, [*own, Value("pay", 0.0, 10.0, "pay")], counted=True)
    assert family.numbers_given(N, codes, numbers).tolist() == [N, np.count_nonzero(~np.isnan(numbers["age"])), 0, N]
