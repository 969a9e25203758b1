"""What release and bought schema cost together: by what follows from one relation for the other, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import Receipt, Schema, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.receipt.notebook import receipt_html
from counterfoil.receipt.other_relation import guarantee
from counterfoil.receipt.schema_bought import up
from counterfoil.receipt.schema_total import added, converted, total_of, why_no_total
from counterfoil.receipt.terms import Terms
from counterfoil.receipt.text import cost_sentences, right_at_most, warning_sentences
from counterfoil.schema.bought import Bought

ADD, REPLACE = NeighboringRelation
FACTS = '[columns.a]\nkind = "integer"\nlower = 0\nupper = 3\n\n[columns.b]\nkind = "boolean"\n'
TABLE = pa.table({"a": [0, 1, 2, 3] * 50, "b": [True, False] * 100})
PEOPLE = TABLE.append_column("id", pa.array([i // 2 for i in range(200)]))
LARGE = Bought(8.0, 1e-9, "add_or_remove_one", "ab" * 32)
UNIT = PrivacyUnit("id", 2)


def released(bought: Bought | None, *, epsilon: float = 0.1, people: bool = False, **options: Any) -> Receipt:
    facts = FACTS + ('[columns.id]\nkind = "identifier"\n' if people else "")
    schema = replace(Schema.from_toml(facts), bought=bought)
    options |= {"privacy_unit": UNIT} if people else {}
    return synthesize(PEOPLE if people else TABLE, schema, epsilon=epsilon, method="independent", **options).receipt


def apart(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """The least delta at `epsilon` between two laws on finitely many outcomes, by summation."""
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


laws = st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4).map(lambda made: np.array(made) / sum(made))


@given(laws, laws, laws, st.floats(0.01, 2.0))
def test_what_holds_for_adding_and_removing_bounds_replacing(
    with_one: np.ndarray, without: np.ndarray, with_other: np.ndarray, epsilon: float
) -> None:
    steps = [(with_one, without), (without, with_one), (without, with_other), (with_other, without)]
    delta = max(apart(one, other, epsilon) for one, other in steps)
    if not 0 < delta < 0.4:
        return
    made = converted(Bought(epsilon, delta, "add_or_remove_one", "0" * 64), Neighbors(REPLACE))
    if made is None:
        assert (1 + math.exp(epsilon)) * delta > 1 - 1e-9
        return
    for one, other in ((with_one, with_other), (with_other, with_one)):
        assert apart(one, other, made.epsilon) <= made.delta + 1e-12


def test_the_bound_can_not_be_lowered() -> None:
    """Three laws that reach it: what is only seen with the one, and what grows with every step."""
    epsilon, delta = 0.5, 1e-3
    grown = math.exp(epsilon)
    with_other = np.array([0.0, 0.1, 0.9])
    without = np.array([delta, grown * 0.1, 1 - delta - grown * 0.1])
    with_one = np.array([grown * delta + delta, grown**2 * 0.1, 1 - (grown + 1) * delta - grown**2 * 0.1])
    assert apart(with_one, without, epsilon) == pytest.approx(delta)
    assert apart(without, with_other, epsilon) == pytest.approx(delta)
    made = converted(Bought(epsilon, delta, "add_or_remove_one", "0" * 64), Neighbors(REPLACE))
    assert made is not None
    assert apart(with_one, with_other, made.epsilon) == pytest.approx(made.delta)


@given(st.floats(1e-9, 50.0), st.floats(1e-250, 1e-3))
def test_conversions_are_rounded_up(epsilon: float, delta: float) -> None:
    made = converted(Bought(epsilon, delta, "add_or_remove_one", "0" * 64), Neighbors(REPLACE, groups=("b",)))
    if made is not None:
        assert made.epsilon == 2 * epsilon
        assert Fraction(made.delta) >= Fraction(delta) * (1 + Fraction(math.exp(epsilon)) * (1 - Fraction(1, 2**52)))


def test_nothing_follows_the_other_way_or_between_units() -> None:
    row, person = LARGE, replace(LARGE, unit=UNIT)
    assert converted(row, Neighbors(ADD)) == Budget(8.0, 1e-9)
    assert converted(replace(row, relation="replace_one"), Neighbors(ADD)) is None
    assert converted(row, Neighbors(ADD, UNIT)) is None
    assert converted(person, Neighbors(ADD)) is None
    assert converted(person, Neighbors(REPLACE, PrivacyUnit("another", 2))) is None
    assert converted(person, Neighbors(REPLACE, UNIT)) is not None
    assert converted(replace(row, epsilon=1e6), Neighbors(REPLACE)) is None, "its delta is far above 1"
    assert converted(replace(row, epsilon=1e6, delta=0.0), Neighbors(REPLACE)) == Budget(2e6)
    assert added(Budget(1.0, 0.5), Budget(1.0, 0.5)) is None


def right(epsilon: float, delta: float) -> str:
    """By the best guess between two laws that reach (epsilon, delta): mass delta apart, the rest exp(epsilon) to 1."""
    share = delta + (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    return f"{math.ceil(share * 1000) / 10:.1f}%"


def words(receipt: Receipt) -> str:
    return " ".join(receipt.text().split())


def test_a_large_price_of_the_schema_is_in_the_words() -> None:
    receipt = released(LARGE)
    assert right(8.1, 2e-9) == "100.0%"
    assert "nobody is right more than 100.0% of the time" in words(receipt)
    assert "52.5%" not in words(receipt)
    assert "52.5%" in words(released(None)), "what the release alone would have"
    assert "right at most 100.0% of the time" in receipt_html(receipt.document)
    assert "what its schema cost comes on top" in words(receipt)
    middling = released(replace(LARGE, epsilon=0.4))
    assert right_at_most(middling.document) == right(0.5, 2e-9) == "62.3%"
    assert "Delta, the two together, 2e-09, is counted" in words(middling)


def test_the_figure_under_the_other_relation_has_the_schema_in_it() -> None:
    receipt = released(replace(LARGE, epsilon=0.4))
    epsilon, delta = guarantee(Terms.of_receipt(receipt.document))
    whole, both = 0.8 + epsilon, delta + (1 + math.exp(0.4)) * 1e-9
    said = f"Under replace_one the guarantee, with what the schema cost, is epsilon {up(whole)} at delta {up(both)}."
    assert said in words(receipt)
    alone = words(released(None))
    assert f"Under replace_one the guarantee is epsilon {up(epsilon)} at delta {up(delta)}." in alone
    people = released(replace(LARGE, relation="replace_one", unit=UNIT), people=True, relation="replace_one")
    assert "No guarantee under add_or_remove_one: the release alone would have epsilon" in words(people)


def test_a_schema_bought_under_adding_is_bounded_under_replacing() -> None:
    receipt = released(replace(LARGE, epsilon=0.2), relation="replace_one")
    assert receipt.verify().holds
    assert "together" not in receipt.document["schema_bought"], "the receipt's own field is of equal neighbors"
    whole = total_of(receipt.document)
    assert whole is not None
    assert whole.epsilon == pytest.approx(0.5)
    assert whole.delta == pytest.approx(1e-9 + (1 + math.exp(0.2)) * 1e-9)
    assert f"nobody is right more than {right(0.5, whole.delta)} of the time" in words(receipt)
    assert "Both together, if they are of the same records, cost epsilon 0.5 at delta" in words(receipt)
    assert "There the schema counts with epsilon 0.4 at delta" in words(receipt)
    assert why_no_total(receipt.document) == ""


@pytest.mark.parametrize(
    ("bought", "options"),
    [
        (replace(LARGE, relation="replace_one"), {}),
        (replace(LARGE, unit=UNIT), {}),
        (LARGE, {"people": True}),
        (replace(LARGE, unit=PrivacyUnit("another", 2)), {"people": True}),
        (replace(LARGE, delta=0.9), {"delta": 0.2}),
    ],
)
def test_without_a_bound_no_percentage_is_printed_and_it_is_said_why(bought: Bought, options: dict[str, Any]) -> None:
    receipt = released(bought, **options) if "delta" not in options else doctored(bought)
    assert total_of(receipt.document) is None
    said = " ".join(cost_sentences(receipt.document))
    assert "%" not in said
    assert "In plain words, there is no bound on how often someone is right" in said
    assert "There is no figure for both together" in said
    assert why_no_total(receipt.document) in said
    assert "no bound on guesses with its bought schema" in receipt_html(receipt.document)


def test_how_many_rows_are_used_of_a_unit_is_no_part_of_whom_a_guarantee_protects() -> None:
    """Neighbors differ in all rows of a person, so that both guarantees hold for the same tables and add up."""
    person = replace(LARGE, unit=PrivacyUnit("id", 3))
    assert converted(person, Neighbors(ADD, UNIT)) == Budget(8.0, 1e-9)
    receipt = released(person, people=True)
    assert receipt.document["privacy_unit"]["max_rows"] == UNIT.max_rows != 3
    whole, own = total_of(receipt.document), receipt.document["budget"]["epsilon"]
    assert whole is not None
    assert whole.epsilon == pytest.approx(8.0 + own)
    assert why_no_total(receipt.document) == ""
    assert "Both together, if they are of the same records, cost epsilon" in words(receipt)
    assert receipt.verify().holds


def doctored(bought: Bought) -> Receipt:
    """A receipt whose deltas add up to more than 1."""
    document = released(LARGE).to_json()
    document["budget"]["delta"] = 0.2
    return Receipt(document | {"schema_bought": bought.facts()})


def test_a_total_that_protects_hardly_anybody_is_warned_of() -> None:
    said = warning_sentences(released(LARGE, epsilon=2.5).document)
    assert any(line.startswith("With its bought schema: Epsilon 10.5 protects hardly anybody") for line in said)
    assert not any("protects hardly anybody" in line for line in warning_sentences(released(LARGE).document))
    assert not any("protects hardly anybody" in line for line in warning_sentences(released(None).document))


def test_hostile_names_of_units_make_no_lines() -> None:
    odd = PrivacyUnit("id\n\x1b[31m<b>|", 2)
    said = " ".join(cost_sentences(doctored(replace(LARGE, unit=odd)).document))
    assert "\x1b" not in said
    assert "\n" not in said
