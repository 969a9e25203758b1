"""Numbers that stand for the limits of a bought column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.discovery.limits import limits_among, numbers_apart
from counterfoil.schema.limit import limit_of


@pytest.mark.parametrize(
    ("limits", "decimals", "numbers"),
    [
        (["<0.4", "<0.5"], 1, {"<0.4": 0.2, "<0.5": 0.3}),
        (["<1", "<0.5"], 1, {"<1": 0.4, "<0.5": 0.2}),
        (["<10", "<20", "90+"], 0, {"<10": 5, "<20": 9, "90+": 90}),
        (["< 0.5", "<0.5", ">200"], 2, {"< 0.5": 0.25, "<0.5": 0.25, ">200": 200}),
        (["<1", "<0.5"], 0, {"<0.5": 0}),
        (["<-10", "<-5", ">-1"], 0, {"<-10": -10, "<-5": -5, ">-1": 0}),
        (["<0"], 0, {"<0": 0}),
        ([], None, {}),
    ],
)
def test_limits_below_have_numbers_of_their_own(limits: list[str], decimals: int | None, numbers: dict) -> None:
    """Of two limits with one number the second came back as the first, and 0.5 as <1 where that stood for it."""
    assert numbers_apart(limits, decimals) == numbers


@given(
    st.lists(st.sampled_from(["<", "≤", ">"]).flatmap(lambda sign: st.floats(-99, 99).map(lambda x: f"{sign}{x:.2f}")))
)
def test_numbers_of_limits_are_apart_and_on_the_right_side(limits: list[str]) -> None:
    found = numbers_apart(limits, 2)
    below = {limit.number: found[text] for text in found if (limit := limit_of(text)) is not None and limit.below}
    assert list(dict(sorted(below.items())).values()) == sorted(set(below.values()))
    assert all(stand_in <= number for number, stand_in in below.items())


def test_a_number_that_cells_hold_stands_for_none_beyond_it() -> None:
    """1 came back as "more than 1", which is false; below a limit 0.2 as <0.5 is true all the same."""
    assert numbers_apart(["more than 1"], 0, {0, 1}) == {"more than 1": 2}
    assert numbers_apart([">2.5", "\u22652.5"], 1, {2.5}) == {">2.5": 2.6, "\u22652.5": 2.5}
    assert numbers_apart([">200", ">=300"], 0) == {">200": 201, ">=300": 300}


def test_a_limit_in_another_unit_is_none_of_the_column() -> None:
    texts = {"<1 mg": 30, "<1 g": 30}
    assert set(limits_among(texts.items(), 9.0, unit="mg")) == {"<1 mg"}
    assert numbers_apart(texts, 2, unit="mg") == {"<1 mg": 0.5}


def test_limits_of_several_units_are_none_of_numbers_that_stand_alone() -> None:
    """Months had "<1 year" for 0."""
    texts = {"<1 year": 30, "over 24 months": 30, ">36": 30}
    assert set(limits_among(texts.items(), 24.0)) == {">36"}
    alike = {"under 1 year": 30, "90 years and over": 30, "over 80 years of age": 30}
    assert set(limits_among(alike.items(), 90.0)) == set(alike)


@pytest.mark.parametrize(
    ("limit", "decimals", "end", "number"),
    [("<35", 1, 42.0, 34.9), ("<0.5", 1, 50.0, 0.2), ("<18", 0, 65.0, 17), ("<18", 0, 90.0, 9), ("<1", 0, 1.0, 0)],
)
def test_half_stands_for_what_is_below_where_numbers_reach_far_beyond(
    limit: str, decimals: int, end: float, number: float
) -> None:
    """17.5 stood for temperatures below 35, and moved the mean and the lower bound of the column."""
    assert numbers_apart([limit], decimals, end=end) == {limit: number}
