"""What a model reads of a record: declared facts alone, in [-1, 1], whatever the table holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.features import training_features
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.schema.schema import Schema

SCHEMA = Schema(
    (
        Integer("age", 20, 100),
        Real("income", -1.0, 3.0, bins=4, missing=True),
        Categorical("city", ("a", "b", "c"), missing=True),
        Categorical("sex", ("f", "m")),
        Integer("fixed", 7, 7),
    )
)
FEATURES = TrainingFeatures(SCHEMA, ("sex",))


def coded(ages, incomes, cities, sexes):
    codes = {"city": np.array(cities, dtype=np.uint8), "sex": np.array(sexes, dtype=np.uint8)}
    numbers = {
        "age": np.array(ages, dtype=float),
        "income": np.array(incomes, dtype=float),
        "fixed": np.full(len(ages), 7.0),
    }
    return codes, numbers


def test_names_and_numbers_by_hand():
    assert FEATURES.input_names == (
        *("age", "income", "income is missing"),
        *(f"city = {label}" for label in SCHEMA["city"].labels),
        "fixed",
    )
    found = FEATURES.inputs(*coded([20, 60, 100], [3.0, np.nan, 1.0], [0, 2, 3], [0, 1, 1]))
    assert found.tolist() == [
        [-1, 1, 0, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 1, 0, 0],
        [1, 0, 0, 0, 0, 0, 1, 0],
    ]


@settings(max_examples=60, derandomize=True)
@given(
    st.lists(
        st.tuples(st.floats(20, 100), st.floats(-1, 3) | st.just(np.nan), st.integers(0, 3), st.integers(0, 1)),
        min_size=1,
        max_size=20,
    ),
    st.data(),
)
def test_each_row_follows_from_its_own_record(rows, data):
    """In bounds, and the same in any company: to the last bit, since ties of scores are broken by the last bit."""
    found = FEATURES.inputs(*coded(*zip(*rows, strict=True)))
    assert found.shape == (len(rows), len(FEATURES.input_names))
    assert (np.abs(found) <= 1).all()
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=8))
    alone = FEATURES.inputs(*coded(*zip(*[rows[i] for i in chosen], strict=True)))
    assert np.array_equal(alone, found[chosen])


def test_numbers_beyond_the_bounds_count_as_the_nearer_end():
    found = FEATURES.inputs(*coded([-1e300, 1e300], [np.inf, -np.inf], [0, 0], [0, 0]))
    assert found[:, 0].tolist() == [-1, 1]
    assert found[:, 1].tolist() == [1, -1]


def test_nothing_is_fitted():
    """The same record has the same inputs in tables of very different numbers."""
    one = FEATURES.inputs(*coded([50, 20, 21], [0.5, -1, -1], [1, 0, 0], [0, 0, 0]))
    other = FEATURES.inputs(*coded([50, 100, 99], [0.5, 3, 3], [1, 3, 3], [0, 1, 1]))
    assert np.array_equal(one[0], other[0])


def test_what_is_predicted_or_left_out_is_no_input():
    def columns(**roles):
        return [column.name for column in TrainingFeatures(SCHEMA, **roles).columns]

    assert columns(targets=("sex",)) == ["age", "income", "city", "fixed"]
    assert columns(targets=("sex",), leave_out=("city", "age")) == ["income", "fixed"]
    # A group is an input, unless it is left out.
    assert columns(targets=("sex",), groups=("city",)) == ["age", "income", "city", "fixed"]
    features = TrainingFeatures(SCHEMA, ("income",), ("sex",), ("sex",))
    codes, numbers = coded([50, 50], [0.5, 3.0], [1, 1], [0, 1])
    rows = features.inputs(codes, numbers)
    assert np.array_equal(rows[0], rows[1]), "neither the target nor the group shows"


def test_only_what_is_needed_is_read():
    features = TrainingFeatures(SCHEMA, ("income",), ("sex",), ("sex", "city"))
    assert features.codes == ("sex", "income")
    assert features.numbers == ("age", "fixed", "income")


def test_targets_are_scaled_by_their_bounds():
    features = TrainingFeatures(SCHEMA, ("income", "age"))
    _, numbers = coded([20, 100, 60], [-1.0, 3.0, np.nan], [0] * 3, [0] * 3)
    assert features.target_numbers(numbers).tolist() == [[-1, -1], [1, 1], [0, 0]]


def test_groups_are_combinations_of_codes_the_last_column_fastest():
    features = TrainingFeatures(SCHEMA, ("age",), ("sex", "city"))
    codes, _ = coded([20] * 8, [0.0] * 8, [0, 1, 2, 3] * 2, [0] * 4 + [1] * 4)
    assert features.group_of(codes).tolist() == list(range(8))
    assert features.group_of(codes).dtype == np.int64
    assert features.group_count == len(features.group_names) == 8
    assert features.group_names[5] == "sex = m, city = b"
    assert TrainingFeatures(SCHEMA).group_count == 1


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        (
            {"targets": ("sexx",)},
            "`targets` must be synthesized columns of the schema. Found 'sexx'. Did you mean 'sex'",
        ),
        ({"groups": ("city", "city")}, "`groups` must name each column once"),
        ({"leave_out": ("nothing",)}, "`leave_out` must be"),
        ({"targets": ("sex",), "leave_out": ("age", "income", "city", "fixed")}, "needs a column to learn from"),
    ],
)
def test_mistakes_are_refused(roles, says):
    with pytest.raises(ValueError, match=says):
        TrainingFeatures(SCHEMA, **roles)


def test_too_many_inputs_or_groups_are_refused(monkeypatch):
    monkeypatch.setattr(training_features, "MOST_INPUTS", 7)
    with pytest.raises(ValueError, match=r"at most 7 inputs are trained\. The schema gives 8"):
        TrainingFeatures(SCHEMA, ("sex",))
    monkeypatch.setattr(training_features, "MOST_INPUTS", 8)
    TrainingFeatures(SCHEMA, ("sex",))
    monkeypatch.setattr(training_features, "MOST_GROUPS", 7)
    with pytest.raises(
        ValueError, match=r"At most 7 public groups are kept apart\. Found 8 combinations of sex and city"
    ):
        TrainingFeatures(SCHEMA, ("age",), ("sex", "city"), ("city",))
