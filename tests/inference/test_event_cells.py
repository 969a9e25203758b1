"""Cells in which an event is certain or possible, against all the values that each code can stand for."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.inference.event import Event, group_labels
from counterfoil.schema import Categorical, Integer, Real, Schema, SchemaError

SCHEMA = Schema(
    (
        Integer("age", 0, 19, bins=5),
        Categorical("sex", ("F", "M"), missing=True),
        Integer("years", 0, 5),
    )
)
VALUES = {"age": [range(4 * i, 4 * i + 4) for i in range(5)], "sex": [["F"], ["M"], [None]]}
VALUES["years"] = [[i] for i in range(6)]
EVENTS: list[tuple[str, tuple[str, ...], Callable[..., bool]]] = [
    ("age >= 9", ("age",), lambda age: age >= 9),
    ("age > 7", ("age",), lambda age: age > 7),
    ("sex == 'F'", ("sex",), lambda sex: sex == "F"),
    ("sex != 'F'", ("sex",), lambda sex: sex not in ("F", None)),
    ("sex is missing", ("sex",), lambda sex: sex is None),
    ("age < 6 and sex == 'M'", ("age", "sex"), lambda age, sex: age < 6 and sex == "M"),
    ("age < 6 or not (sex == 'M')", ("age", "sex"), lambda age, sex: age < 6 or sex == "F"),
    ("age >= years + 7", ("age", "years"), lambda age, years: age >= years + 7),
    ("2 <= years < 4", ("years",), lambda years: 2 <= years < 4),
]


def brute_force(columns: tuple[str, ...], meets: Callable[..., bool], groups: dict[str, np.ndarray]):
    shape = tuple(int(groups[name].max()) + 1 for name in columns)
    certain, possible = np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for codes in itertools.product(*(range(len(VALUES[name])) for name in columns)):
        cell = tuple(int(groups[name][code]) for name, code in zip(columns, codes, strict=True))
        for record in itertools.product(*(VALUES[name][code] for name, code in zip(columns, codes, strict=True))):
            certain[cell] &= meets(*record)
            possible[cell] |= meets(*record)
    return certain, possible


@pytest.mark.parametrize(("text", "columns", "meets"), EVENTS, ids=[event[0] for event in EVENTS])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_cells_are_those_of_all_values(text, columns, meets, data):
    event = Event(SCHEMA, text)
    assert event.columns == columns
    groups = {}
    for name in columns:
        size = SCHEMA.domain[name]
        drawn = data.draw(
            st.one_of(st.just(list(range(size))), st.lists(st.integers(0, 2), min_size=size, max_size=size))
        )
        groups[name] = np.unique(drawn, return_inverse=True)[1]
    for found, exact in zip(event.cells(columns, groups), brute_force(columns, meets, groups), strict=True):
        np.testing.assert_array_equal(found, exact)


def test_rows_are_judged_by_their_codes():
    event = Event(SCHEMA, "age >= 9 and sex == 'F'")
    certain, possible = event.rows({"age": np.array([2, 2, 3, 4]), "sex": np.array([0, 1, 0, 2])})
    np.testing.assert_array_equal(certain, [False, False, True, False])
    np.testing.assert_array_equal(possible, [True, False, True, False])


def test_more_columns_than_the_event_has():
    groups = {name: np.arange(SCHEMA.domain[name]) for name in ("age", "years")}
    certain, possible = Event(SCHEMA, "years > 3").cells(("age", "years"), groups)
    assert certain.shape == (5, 6)
    np.testing.assert_array_equal(certain, possible)
    np.testing.assert_array_equal(certain.sum(axis=1), [2] * 5)


def test_labels_of_groups():
    assert group_labels(SCHEMA, "sex", np.array([0, 1, 1])) == ["sex = F", "sex in M, missing"]


@pytest.mark.parametrize("text", ["age >", "agee > 3", "sex < 'M'", "import os", ""])
def test_what_is_no_event(text):
    with pytest.raises(SchemaError):
        Event(SCHEMA, text)


def test_a_number_with_a_code_of_its_own_is_in_no_bin_beside_it() -> None:
    """A limit of detection lies within a bin of reals: the share below it was put between that of its code and that of
    the bin as well, at .13 in place of .04."""
    column = Real("crp", 0.0, 300.0, decimals=1, points=(20.0,), words=(("<0.6", 0.3),), missing=True)
    schema = Schema((column,))
    groups = {"crp": np.arange(column.size)}
    bins = np.flatnonzero(column.ranges[0] < column.ranges[1])
    for text in ("crp == 0.3", "crp == '<0.6'", "crp in [0.3, 20]", "20 == crp"):
        certain, possible = Event(schema, text).cells(("crp",), groups)
        assert (certain == possible).all(), text
        assert certain.any(), text
        assert not certain[bins].any(), text
    certain, possible = Event(schema, "crp != 0.3").cells(("crp",), groups)
    assert (certain == possible).all()
    assert certain[bins].all()
    # A number that shares its bin with others may be any of them.
    certain, possible = Event(schema, "crp == 0.7").cells(("crp",), groups)
    assert possible.sum() == 1
    assert not certain.any()
