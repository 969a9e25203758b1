"""What a page of a ledger says was spent is never less than what was, and what it says is left never more."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from counterfoil import Budget, Ledger
from counterfoil.ledger.sum_text import left_text, spent_text


@pytest.mark.parametrize(
    ("amount", "spent", "left"),
    [
        (1.003e-06, "1.003e-06", "1.003e-06"),
        (1.0000000001e-06, "1.00001e-06", "1e-06"),
        (0.30000000000000004, "0.3", "0.3"),
        (0.1 + 0.1 + 0.1 + 1e-9, "0.300001", "0.3"),
        (0.0, "0", "0"),
        (math.inf, "inf", "inf"),
    ],
)
def test_sums_are_rounded_against_the_spender(amount: float, spent: str, left: str) -> None:
    assert (spent_text(amount), left_text(amount)) == (spent, left)


def test_a_page_shows_a_delta_that_is_small_beside_another(tmp_path: Path) -> None:
    """A delta of 1e-9 after one of 1e-6 was in no sum that a page showed."""
    (tmp_path / "people.csv").write_text("age\n1\n")
    ledger = Ledger.create(tmp_path / "people.ledger", source=tmp_path / "people.csv", total=(4, 1e-4))
    for budget in (Budget(epsilon=1, delta=1e-6), Budget(epsilon=1, delta=1e-9)):
        ledger.open_release(budget=budget, relation="add_or_remove_one", composition="basic", description={})
    page = [line.split() for line in ledger.text().splitlines()]
    assert ["spent", "2", "1.001e-06"] in page
    assert ["left", "2", "9.8999e-05"] in page
