"""The receipt of a release whose schema was bought says what that cost, and is checked against the schema."""

from __future__ import annotations

import hashlib
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import Receipt, Schema, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.receipt.json_schema import receipt_schema
from counterfoil.receipt.schema_bought import together, up
from counterfoil.receipt.signature import SigningKey
from counterfoil.schema.bought import Bought
from discovered_strategies import BOUGHT

FACTS = '[columns.a]\nkind = "integer"\nlower = 0\nupper = 3\n\n[columns.b]\nkind = "boolean"\n'
TABLE = pa.table({"a": [0, 1, 2, 3] * 50, "b": [True, False] * 100})
ADD, REPLACE = NeighboringRelation


def released(bought: Bought | None = BOUGHT, *, method: str = "independent", **options: Any) -> Receipt:
    schema = replace(Schema.from_toml(FACTS), bought=bought)
    return synthesize(TABLE, schema, epsilon=0.9, method=method, **options).receipt


@pytest.fixture(scope="module")
def receipt() -> Receipt:
    return released()


@pytest.mark.parametrize("method", ["independent", "aim", "mst", "direct", "measure-tree"])
def test_the_receipts_of_all_methods_name_the_receipt_of_the_schema(method: str) -> None:
    document = released(method=method).to_json()
    jsonschema.validate(document, receipt_schema())
    section = document["schema_bought"]
    total = section.pop("together")
    assert section == BOUGHT.facts()
    assert total["epsilon"] == pytest.approx(1.0)
    assert total["delta"] == pytest.approx(document["spent"]["delta"] + 1e-9)
    assert Receipt(document | {"schema_bought": section | {"together": total}}).verify().holds


def test_receipts_of_one_moment_are_told_apart() -> None:
    """A ledger takes each receipt for one release: two of one second were one."""
    first, second = (released(seed=1).digest for _ in range(2))
    assert first != second


def test_the_page_says_both_costs_and_that_they_add_up(receipt: Receipt) -> None:
    page = receipt.text()
    assert max(map(len, page.splitlines())) <= 80
    words = " ".join(page.split())
    assert "The schema was bought too, and its cost is not in this budget: epsilon 0.1 at delta 1e-09" in words
    assert f"by the receipt whose SHA-256 is {BOUGHT.receipt}." in words
    assert "Both together, if they are of the same records, cost epsilon 1 at delta 2e-09." in words


def test_where_nothing_was_bought_nothing_is_said() -> None:
    plain = released(None)
    assert "schema_bought" not in plain.document
    assert "bought too" not in plain.text()


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("schema_bought"),
        lambda document: document["schema_bought"].update(epsilon=0.05),
        lambda document: document["schema_bought"].update(receipt="cd" * 32),
        lambda document: document["schema_bought"].update(relation="replace_one"),
        lambda document: document["schema_bought"].update(privacy_unit="a", max_rows=2),
        lambda document: document["schema_bought"]["together"].update(epsilon=0.95),
        lambda document: document["schema_bought"]["together"].update(delta=1e-9),
        lambda document: document["schema_bought"].pop("together"),
        lambda document: document["schema_bought"].update(max_rows=2),
    ],
)
def test_no_word_of_it_can_be_changed(receipt: Receipt, change: Any) -> None:
    document = deepcopy(receipt.to_json())
    change(document)
    found = Receipt(document).verify()
    assert not found.holds
    assert any("schema" in problem for problem in found.problems)


def test_one_that_was_not_bought_can_not_claim_it(receipt: Receipt) -> None:
    document = released(None).to_json() | {"schema_bought": receipt.document["schema_bought"]}
    assert not Receipt(document).verify().holds


def test_without_a_schema_on_the_receipt_nobody_vouches_for_it(receipt: Receipt) -> None:
    document = receipt.to_json()
    assert "schema_bought" not in receipt.verify().unvouched, "it is compared with the schema in the answers"
    del document["answers"]
    found = Receipt(document).verify()
    assert found.holds, found.problems
    assert "schema_bought" in found.unvouched


def test_a_schema_that_is_said_to_be_free_is_named_among_what_nobody_vouches_for(receipt: Receipt) -> None:
    """Whoever makes a receipt can leave `bought` out of its schema, and the section with it: nothing contradicts it."""
    document = deepcopy(receipt.to_json())
    text = document["answers"]["schema"]
    forged = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("bought = "))
    assert forged != text
    document["answers"]["schema"], document["schema_sha256"] = forged, hashlib.sha256(forged.encode()).hexdigest()
    del document["schema_bought"]
    found = Receipt(document).verify()
    assert found.holds, found.problems
    assert "answers.schema: bounds, categories, whether it was bought" in found.unvouched
    del document["answers"]
    assert "schema_bought: that it was not bought" in Receipt(document).verify().unvouched


def test_whether_it_was_repeated_is_named_too(receipt: Receipt) -> None:
    named = "composition: whether runs were repeated, or the release had to be accepted"
    assert named in receipt.verify().unvouched
    key = SigningKey.generate()
    assert receipt.signed(key).verify(key=key.verify_key).unvouched == ()


def test_other_neighbors_have_no_common_figure() -> None:
    other = released(replace(BOUGHT, relation="replace_one"))
    assert other.verify().holds
    assert "together" not in other.document["schema_bought"]
    assert "no figure for both together" in other.text()
    assert released(replace(BOUGHT, relation="replace_one"), relation="replace_one").document["schema_bought"][
        "together"
    ]


amounts = st.floats(1e-9, 1e6)
deltas = st.just(0.0) | st.floats(1e-200, 0.4)


@given(amounts, deltas, amounts, deltas)
def test_sums_are_never_below_the_exact_ones(epsilon: float, delta: float, own: float, own_delta: float) -> None:
    bought = Bought(epsilon, delta, "add_or_remove_one", "0" * 64)
    whole = together(bought, Budget(own, own_delta), Neighbors(ADD))
    assert whole is not None
    for total, parts in ((whole.epsilon, (epsilon, own)), (whole.delta, (delta, own_delta))):
        exact = sum(map(Fraction, parts))
        assert exact <= Fraction(total) <= exact * (1 + Fraction(1, 2**50))
        assert float(up(total)) >= total * (1 - 1e-12)


def test_figures_are_added_between_the_same_neighbors_only() -> None:
    budget, unit = Budget(1.0, 1e-9), PrivacyUnit("id", 3)
    row, person = (Bought(0.1, 1e-9, "replace_one", "0" * 64, one) for one in (None, unit))
    assert together(row, budget, Neighbors(REPLACE)) is not None
    assert together(row, budget, Neighbors(REPLACE, groups=("b",))) is not None
    assert together(row, budget, Neighbors(REPLACE, unit)) is None
    assert together(row, budget, Neighbors(ADD)) is None
    assert together(person, budget, Neighbors(REPLACE, unit)) is not None
    assert together(person, budget, Neighbors(REPLACE, PrivacyUnit("id", 2))) is None
    assert together(replace(row, delta=0.6), Budget(1.0, 0.5), Neighbors(REPLACE)) is None
