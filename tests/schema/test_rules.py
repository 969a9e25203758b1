"""Rules as structural zeros and as checks of rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.schema import Boolean, Categorical, Identifier, Integer, Real, Rule, Schema, SchemaError, Zeros
from counterfoil.schema.rules import BoundRule
from counterfoil.synthesis.table import decode

AGE = Integer("age", 0, 19)
GRADE = Integer("grade", 0, 12, missing=True)
PREGNANT = Boolean("pregnant")
SEX = Categorical("sex", ("F", "M"))
INCOME = Real("income", 0, 100, edges=(0, 10, 50, 100))


def people(rules: Sequence[Rule] = (), zeros: Sequence[Zeros] = ()) -> Schema:
    columns = (Identifier("id"), AGE, GRADE, PREGNANT, SEX, INCOME)
    return Schema(columns, tuple(rules), zeros=tuple(zeros))


def test_a_rule_on_single_values_is_all_structural_zeros() -> None:
    schema = people([Rule("age >= grade + 5")])
    (clique,) = schema.structural_zeros
    assert clique == ("age", "grade")
    for age, grade in itertools.product(range(20), range(14)):
        assert schema.structural_zeros[clique][age, grade] == (grade < 13 and age < grade + 5)
    assert schema.row_rules == ()


def test_a_condition_and_a_missing_value() -> None:
    schema = people([Rule("grade is missing", "age < 6"), Rule("grade is not missing", "age >= 6")])
    impossible = schema.structural_zeros["age", "grade"]
    np.testing.assert_array_equal(impossible[:6], np.tile(np.arange(14) != 13, (6, 1)))
    np.testing.assert_array_equal(impossible[6:], np.tile(np.arange(14) == 13, (14, 1)))


def test_an_implication_between_categories() -> None:
    schema = people([Rule("sex == 'F'", "pregnant")])
    assert schema.structural_zeros["pregnant", "sex"].tolist() == [[False, False], [False, True]]
    assert schema.row_rules == ()


def test_a_rule_on_one_column() -> None:
    schema = people([Rule("age not in [13, 17]")])
    assert np.flatnonzero(schema.structural_zeros[("age",)]).tolist() == [13, 17]


def test_bins_are_impossible_only_when_no_value_fits_and_the_rest_is_left_to_rows() -> None:
    schema = people([Rule("income <= 3 * age")])
    impossible = schema.structural_zeros["age", "income"]
    for age, (low, bin_) in itertools.product(range(20), [(0, 0), (10, 1), (50, 2)]):
        assert impossible[age, bin_] == (low > 3 * age)
    (rule,) = schema.row_rules
    table = pa.table({"age": [1, 1, 19], "income": [3.0, 3.1, 57.0]})
    assert rule.holds(table).tolist() == [True, False, True]


def test_a_bin_does_not_hold_its_right_edge() -> None:
    schema = people([Rule("income >= 10")])
    assert schema.structural_zeros[("income",)].tolist() == [True, False, False]
    assert schema.row_rules == ()


def test_three_columns_are_left_to_rows() -> None:
    schema = people([Rule("grade <= 8 or income > 0", "pregnant and age < 18")])
    assert schema.structural_zeros == {}
    (rule,) = schema.row_rules
    assert rule.columns == ("age", "grade", "pregnant", "income")
    rng = np.random.default_rng(0)
    codes = {
        name: rng.integers(0, size, 500)
        for name, size in zip(schema.domain.attributes, schema.domain.sizes, strict=True)
    }
    rows = decode(schema, codes, rng).to_pylist()
    expected = [
        not (row["pregnant"] and row["age"] < 18) or row["grade"] is None or row["grade"] <= 8 or row["income"] > 0
        for row in rows
    ]
    assert rule.holds(decode(schema, codes, np.random.default_rng(0))).shape == (500,)
    assert rule.holds(pa.Table.from_pylist(rows)).tolist() == expected


def test_a_table_too_large_for_zeros_is_left_to_rows() -> None:
    columns = tuple(Integer(name, 0, 2999, bins=3000) for name in "ab")
    schema = Schema(columns, (Rule("a <= b"),))
    assert schema.structural_zeros == {}
    assert len(schema.row_rules) == 1


def test_zeros_are_turned_into_the_order_of_the_schema_and_joined_with_rules() -> None:
    schema = people([Rule("sex == 'M' or age > 2")], [Zeros(("sex", "age"), (("M", 3), ("F", 19)))])
    assert list(schema.structural_zeros) == [("age", "sex")]
    found = {tuple(cell) for cell in np.argwhere(schema.structural_zeros["age", "sex"]).tolist()}
    assert found == {(3, 1), (19, 0), (0, 0), (1, 0), (2, 0)}


@pytest.mark.parametrize(
    ("zeros", "message"),
    [
        (Zeros(("sx", "age"), ()), "no synthesized column 'sx'. Did you mean 'sex'"),
        (Zeros(("id", "age"), ()), "no synthesized column 'id'"),
        (Zeros(("sex", "age", "grade"), ()), "one or two columns"),
        (Zeros(("sex", "sex"), ()), "one or two columns"),
        (Zeros(("sex", "age"), (("F",),)), "one value for each"),
        (Zeros(("sex", "age"), (("X", 1),)), "'X', which is not among its values"),
        (Zeros(("sex", "age"), (("F", 25),)), "25 is not a value of column 'age' with a code of its own"),
        (Zeros(("sex", "income"), (("F", 10),)), "Add it to the column's `points`"),
    ],
)
def test_zeros_that_make_no_sense_are_refused(zeros: Zeros, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        people(zeros=[zeros])


def test_rules_that_leave_nothing_possible_are_refused() -> None:
    with pytest.raises(SchemaError, match="leave no record possible"):
        people([Rule("age > 19")])
    with pytest.raises(SchemaError, match="The rules on age, sex leave no record possible"):
        people([Rule("age < 5 or sex == 'F'"), Rule("age >= 5 and sex == 'M'")])


TERMS = [
    "age < 6",
    "pregnant",
    "sex == 'F'",
    "grade is missing",
    "grade <= 8",
    "2 < age < 15",
    "income < 10",
    "age >= grade + 5",
    "grade != 3",
    "not pregnant",
]
EXPRESSIONS = st.recursive(
    st.sampled_from(TERMS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map(lambda part: f"not ({part})"),
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS, st.one_of(st.just(""), EXPRESSIONS))
def test_the_parts_of_a_rule_are_broken_by_the_same_records(then: str, condition: str) -> None:
    columns = {column.name: column for column in (AGE, GRADE, PREGNANT, SEX, INCOME)}
    whole = BoundRule(Rule(then, condition), columns)
    rng = np.random.default_rng(0)
    table = decode(people(), {name: rng.integers(0, column.size, 400) for name, column in columns.items()}, rng)
    parts = whole.parts()
    together = np.logical_and.reduce([part.holds(table) for part in parts])
    np.testing.assert_array_equal(together, whole.holds(table))
    assert {name for part in parts for name in part.columns} == set(whole.columns)
    assert all(part.rule is whole.rule for part in parts)


def test_a_rule_that_and_joins_becomes_zeros_of_pairs() -> None:
    schema = people([Rule("grade is missing and not pregnant", "age < 6 or age > 18")])
    assert schema.row_rules == ()
    young = np.flatnonzero(schema.structural_zeros["age", "grade"][:, 0]).tolist()
    assert young == [0, 1, 2, 3, 4, 5, 19]
    assert np.flatnonzero(schema.structural_zeros["age", "pregnant"][:, 1]).tolist() == young


def test_a_part_on_three_columns_is_left_to_rows_alone() -> None:
    schema = people([Rule("sex == 'F' and (grade > 3 or income > 10)", "pregnant")])
    assert set(schema.structural_zeros) == {("pregnant", "sex")}
    (rule,) = schema.row_rules
    assert rule.columns == ("grade", "pregnant", "income")


def test_a_rule_of_very_many_parts_is_left_whole() -> None:
    condition = " or ".join(f"age == {i}" for i in range(11))
    then = " and ".join(f"grade != {i}" for i in range(10))
    assert len(people([Rule(f"{then} and not pregnant", condition)]).row_rules) == 1
    assert people([Rule(f"{then}", condition)]).row_rules == ()
