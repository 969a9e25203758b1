"""The page for a privacy officer."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from scipy.optimize import linprog

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.text import odds
from receipt_pages import epsilons

MakeReceipt = Callable[..., Receipt]


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 8.0, 50.0])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.1])
def test_the_odds_are_the_best_that_any_guess_can_have(epsilon: float, delta: float) -> None:
    """Against a linear program over the guess's two error rates."""
    if epsilon == 50.0:
        assert odds(epsilon, delta) <= 1
        return
    growth = math.exp(epsilon)
    # t: right where the row is in; f: wrong where it is not. Right on average: (t + 1 - f) / 2.
    best = linprog([-0.5, 0.5], A_ub=[[1, -growth], [growth, -1]], b_ub=[delta, growth - 1 + delta], bounds=(0, 1))
    assert odds(epsilon, delta) == pytest.approx(0.5 - best.fun, rel=1e-9)


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("rule", ["zcdp", "pure"])
@pytest.mark.parametrize("unit", [None, PrivacyUnit("person", 3)])
def test_a_page_fits_and_says_what_matters(
    receipt_of: MakeReceipt, rule: str, relation: str, unit: PrivacyUnit | None
) -> None:
    text = receipt_of(rule, relation=relation, unit=unit).text()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60, "a page"
    flat = " ".join(text.split())
    for said in (
        "epsilon 1 at delta",
        "73.2%",
        relation,
        "people.csv",
        "7 synthetic rows",
        "Few rows.",
        "marginal_counts, 2",
    ):
        assert said in flat
    assert ("'person'" in flat) == (unit is not None)
    assert "NOT PRIVATE" not in text


def test_a_page_of_a_receipt_that_was_tampered_with_is_still_printed(receipt_of: MakeReceipt) -> None:
    document = receipt_of().to_json()
    document["other_relation"] = {"relation": "replace_one", "holds": True}
    document["charges"].clear()
    assert "No guarantee under replace_one" in Receipt(document).text()


@pytest.mark.parametrize("unit", [None, PrivacyUnit("person", 3)])
@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("rule", ["zcdp", "gaussian", "pure"])
def test_no_page_of_a_filter_claims_less_than_its_budget(
    receipt_of: MakeReceipt, rule: str, relation: str, unit: PrivacyUnit | None
) -> None:
    """What was spent depends on the answers: only the budget is a guarantee, and a page may be quoted line by line."""
    receipt = receipt_of(rule, relation=relation, unit=unit)
    assert receipt.document["spent"]["epsilon"] < 0.99
    found = epsilons(receipt.text())
    assert min(found) >= 1.0
    assert 1.0 in found
    assert "stay within this budget" in " ".join(receipt.text().split())


@pytest.mark.parametrize("rule", ["gaussian", "pure", "privacy_loss_distribution"])
def test_a_page_of_a_plan_says_what_the_plan_costs(receipt_of: MakeReceipt, rule: str) -> None:
    """All of its noise was fixed before the first answer, so that its sum holds for every run."""
    receipt = receipt_of(rule, adaptive=False)
    spent = receipt.document["spent"]["epsilon"]
    assert any(0 <= epsilon - spent < 1e-4 for epsilon in epsilons(receipt.text()))
    document = receipt.to_json()
    document["charges"].pop()
    assert min(epsilons(Receipt(document).text())) >= 1.0, "a part of a plan is no guarantee"


def test_a_seeded_release_is_not_private_first_and_last(receipt_of: MakeReceipt) -> None:
    lines = [line for line in receipt_of(seed=1).text().splitlines() if line]
    assert lines[2].startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in " ".join(lines[-2:])
