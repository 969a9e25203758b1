"""Columns of numbers in one order in every record: what `check` says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.number_order_notes import FEWEST
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.evaluation.sum_notes import MOST_COLUMNS


def orders(table: pd.DataFrame, more: str = "", lower: int = 0) -> dict[str, str]:
    """By the column that is never below, what is said of it."""
    columns = "".join(
        f'[columns."{name}"]\nkind = "real"\nlower = {lower}\nupper = 20000\nmissing = true\n' for name in table.columns
    )
    report = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{columns}{more}'))
    return {note.column: note.text for note in report.notes if note.kind == "order"}


def patients(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Days as numbers, as R's tables have them, beside an age that is below all of them."""
    rng = np.random.default_rng(seed)
    diagnosed = rng.integers(8000, 11500, rows)
    died = np.minimum(diagnosed + rng.integers(0, 3000, rows), 11504)
    table = pd.DataFrame({"died": died, "diagnosed": diagnosed, "age": rng.integers(0, 90, rows)})
    return table.astype(float)


def test_days_that_are_numbers_have_an_order_and_its_rule():
    (text,) = [orders(patients())["died"]]
    assert 'require = "diagnosed <= died"' in text


def test_an_order_of_ranges_is_none():
    assert list(orders(patients())) == ["died"]


def test_the_rule_that_is_advised_ends_the_note():
    assert orders(patients(), '[[rules]]\nrequire = "diagnosed <= died"\n') == {}


@pytest.mark.parametrize("place", [0, 1500, 2999])
def test_one_record_in_the_other_order_is_enough(place):
    table = patients()
    table.loc[place, "diagnosed"] = 15000
    assert orders(table) == {}


def test_of_three_in_one_order_the_outer_two_are_not_said():
    table = patients()
    table["reported"] = (table["diagnosed"] + table["died"]) // 2
    assert sorted(orders(table)) == ["died", "reported"]


def test_few_records_equal_ones_and_missing_ones_say_nothing():
    few = patients(FEWEST)
    same, none = patients(), patients()
    same["died"] = same["diagnosed"]
    none["died"] = np.nan
    assert orders(few) == orders(same) == orders(none) == {}


def test_an_order_that_a_proposed_sum_keeps_is_not_said_too():
    """Of a household its size was `adults + children`, and `adults <= hh_size` was another thing to state."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"adults": rng.integers(1, 6, 2000), "children": rng.integers(0, 6, 2000)}).astype(float)
    table["hh_size"] = table["adults"] + table["children"]
    table["first"] = rng.integers(10, 90, 2000)
    table["second"] = table["first"] + 1
    assert orders(table) == {}
    # Where either part may be negative, or what is subtracted the greater one in a copy, the sum keeps no order.
    split = table[["hh_size", "adults", "children"]]
    assert orders(split, lower=-5).keys() == {"hh_size"}
    kept = '[[derived]]\nname = "rooms"\nkind = "real"\nexpression = "2 * hh_size"\n'
    assert orders(split, kept).keys() == {"hh_size"}


def test_names_that_are_no_words_stand_between_backticks():
    table = patients().rename(columns={"died": "day of death"})
    assert "diagnosed <= `day of death`" in orders(table)["day of death"]


def test_more_columns_than_are_compared_and_a_single_one_say_nothing():
    table = patients()
    wide = pd.concat([table, *(table["age"].rename(f"x{place}") for place in range(MOST_COLUMNS))], axis=1)
    assert orders(wide) == orders(table[["age"]]) == {}


def test_an_order_that_ranges_give_where_both_are_known_is_none():
    """A salary of 0 where no hours are worked is a salary below hours, but of no record that has both."""
    rng = np.random.default_rng(1)
    hours = np.where(rng.random(3000) < 0.6, rng.integers(1, 80, 3000), np.nan)
    salary = np.where(np.isnan(hours), 0, rng.integers(500, 9000, 3000))
    assert orders(pd.DataFrame({"hours": hours, "salary": salary})) == {}
