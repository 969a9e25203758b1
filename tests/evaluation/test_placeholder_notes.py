"""Codes for missing cells that lie within the bounds: what `check` says of numbers that stand apart from all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.schema_report import check_without_privacy

LINE = '[columns.{}]\nkind = "integer"\nlower = {}\nupper = {}\n'


def said(
    numbers: Sequence[float], lower: int = -1000, upper: int = 10_000, more: str = ""
) -> tuple[tuple[str, int], ...]:
    """The codes that are named, with their counts."""
    schema = Schema.from_toml(LINE.format("x", lower, upper) + more)
    report = check_without_privacy(pd.DataFrame({"x": numbers}), schema, values=True)
    notes = [note for note in report.notes if note.kind == "placeholder"]
    assert all(note.text.startswith(f"{note.count:,} of its cells hold") for note in notes)
    return tuple(pair for note in notes for pair in note.values)


def drawn(low: int, high: int, rows: int = 1000) -> list[int]:
    return np.random.default_rng(1).integers(low, high + 1, rows).tolist()


@pytest.mark.parametrize(
    ("true", "codes"),
    [
        (drawn(0, 18), [99] * 50),  # years of school
        (drawn(1, 5), [9] * 4),
        (drawn(1, 6), [8] * 5 + [9] * 5),
        (drawn(0, 1), [9] * 20),
        (drawn(0, 9000), [-1] * 80),
        (drawn(18, 95), [99] * 60),  # farther out than few true ones, and far more
        (drawn(0, 40), [777] * 3 + [999] * 7),
        (drawn(0, 5), [-9] * 2 + [-8] * 2),
    ],
)
def test_codes_apart_from_all_others_are_named(true: list[int], codes: list[int]) -> None:
    counts = {str(code): codes.count(code) for code in codes}
    assert dict(said(true + codes)) == counts


@pytest.mark.parametrize(
    "numbers",
    [
        drawn(0, 120),
        drawn(1, 9),
        drawn(0, 8),  # counts
        [*drawn(0, 6), 9, 9, 9],
        [*drawn(18, 95), 99, 99, 99],  # the oldest
        [*drawn(0, 18), 99, 99],  # too few
        [*drawn(-5, 5), -9, -9, -9, -9],  # numbers below zero are true ones
        [*drawn(0, 40), *[99] * 20, 150],  # so is what lies before a true one
        [99] * 30,
        [],
    ],
)
def test_true_numbers_are_not_named(numbers: list[int]) -> None:
    assert said(numbers) == ()


def test_what_the_schema_states_is_not_named() -> None:
    table = drawn(0, 18) + [99] * 50
    assert said(table, 0, 99) == (), "the bound"
    assert said(table, 0, 200, "points = [99]\nedges = [0, 10, 50]\n") == ()
    assert said(table, 0, 200, 'words = { "unknown" = 99 }\n') == ()
    assert said(table, 0, 30, 'missing = true\nmissing_values = ["99"]\n') == ()


def test_batches_say_what_the_whole_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sorted(drawn(0, 18) + [99] * 50, reverse=True)
    whole = said(table)
    monkeypatch.setattr("counterfoil.curator.raw_reading.BATCH_ROWS", 20)
    assert said(table) == whole == (("99", 50),)


def test_columns_with_such_a_code_are_named_together() -> None:
    columns = {f"q{place}": drawn(1, 5) + [9] * (place + 10) for place in range(4)}
    longest = max(map(len, columns.values()))
    table = pd.DataFrame({name: own + [1] * (longest - len(own)) for name, own in columns.items()})
    report = check_without_privacy(table, Schema.from_toml("".join(LINE.format(name, 0, 15) for name in columns)))
    assert "in 4 columns: q0, q1, q2 and 1 other: 10 to 13 of its cells hold a number apart" in " ".join(
        str(report).split()
    )


def test_amounts_far_below_zero_are_no_scale_that_is_counted_out() -> None:
    """A set of all whole numbers between them would fill the memory."""
    assert said([*range(-(10**12), -(10**12) + 50), *[0] * 50, *[9] * 5], lower=-(10**13)) == ()
