"""What derived columns follow from is never proposed to be derived itself: a schema would refuse it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterfoil import Schema
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.schema_report import check_without_privacy


def stays(rows: int = 2000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = rng.integers(0, 90, rows)
    came = np.datetime64("2020-01-01", "s") + rng.integers(0, 365, rows) * np.timedelta64(86_400, "s")
    left = came + days * np.timedelta64(86_400, "s")
    return pd.DataFrame({"came": came, "left": left, "days": days, "nights": days + 1, "long": (days > 40).astype(int)})


def schema_of(*numbers: str) -> Schema:
    stay = '[columns.stay]\nkind = "integer"\nbetween = ["came", "left"]\nlower = 0\nupper = 8640000\nbins = 100\n'
    came = '[columns.came]\nkind = "datetime"\nlower = 2020-01-01T00:00:00\nupper = 2021-06-01T00:00:00\nbins = 50\n'
    derived = '[[derived]]\nname = "left"\nkind = "datetime"\nexpression = "came + stay"\n'
    others = "".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 100\n' for name in numbers)
    return Schema.from_toml(f'name = "t"\n{came}{others}{stay}{derived}')


def noted(*numbers: str, kinds: tuple[str, ...] = ("sum", "product", "digits", "follows")) -> dict[str, ColumnNote]:
    notes = check_without_privacy(stays()[["came", "left", *numbers]], schema_of(*numbers)).notes
    return {note.column: note for note in notes if note.kind in kinds}


def test_days_follow_from_the_seconds_between_two_moments_and_not_these_from_the_days() -> None:
    found = noted("days", "nights")
    assert found["days"].expression == "round(stay / 86400)"
    assert found.keys() == {"days", "nights"}


def test_what_another_column_says_is_no_length_of_stay() -> None:
    assert "stay" not in noted("long")


def test_times_between_midnights_are_multiples_of_days() -> None:
    assert "`step = 86400`" in noted("days", kinds=("grid",))["stay"].text


def test_a_sum_is_solved_for_a_column_that_nothing_follows_from() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.integers(0, 50, 500) for name in ("one", "two")})
    table["both"] = table["one"] + table["two"]
    columns = "".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 100\n' for name in table)
    derived = '[[derived]]\nname = "twice"\nkind = "integer"\nexpression = "both * 2"\n'
    whole = Schema.from_toml(f'name = "t"\n{columns}')
    assert [note.expression for note in check_without_privacy(table, whole).notes if note.kind == "sum"] == [
        "one + two"
    ]
    kept = Schema.from_toml(f'name = "t"\n{columns}{derived}')
    assert [note.expression for note in check_without_privacy(table, kept).notes if note.kind == "sum"] == [
        "both - one"
    ]
