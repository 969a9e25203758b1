"""A ledger vouches for the receipts whose SHA-256 it keeps, and its releases are compared with theirs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.domain.domain import Domain
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.methods.independent import Independent
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.signature import SigningKey
from small_releases import opened

DOMAIN = Domain(("a", "b"), (2, 3))
ROWS = [(0, 1), (1, 2), (0, 0), (1, 1)] * 20


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    source = SourceIdentity("memory", "memory")
    with Ledger.create(tmp_path / "l.ledger", source=source, total=Budget(10.0, 1e-4)) as made:
        yield made


def released(ledger: Ledger, **keywords: Any) -> Receipt:
    with opened(DOMAIN, ROWS, ledger=ledger, **keywords) as curator:
        return Independent().synthesize(curator).receipt


def test_a_receipt_is_known_once_it_is_recorded(ledger: Ledger) -> None:
    receipt = released(ledger)
    unknown = receipt.verify(ledger=ledger)
    assert "does not know this receipt" in unknown.problems[0]
    assert unknown.unvouched, "a ledger that does not know it vouches for nothing"
    ledger.record_receipt(1, receipt.digest)
    known = receipt.verify(ledger=ledger)
    assert known.problems == ()
    assert known.unvouched == ()
    assert receipt.verify().unvouched


@pytest.mark.parametrize(
    "change",
    [
        {"source": "another"},
        {"created": "1999-01-01T00:00:00+00:00"},
        {"warnings": ["All is well."]},
        {"method": {"name": "magic", "parameters": {}}},
    ],
)
def test_any_word_that_is_changed_makes_it_unknown(ledger: Ledger, change: dict[str, Any]) -> None:
    receipt = released(ledger)
    ledger.record_receipt(1, receipt.digest)
    forged = Receipt(receipt.to_json() | change)
    assert forged.verify().holds
    assert "does not know this receipt" in forged.verify(ledger=ledger).problems[0]


def test_a_receipt_that_was_signed_later_is_known_by_what_it_was(ledger: Ledger) -> None:
    receipt, key = released(ledger), SigningKey.generate()
    ledger.record_receipt(1, receipt.digest)
    signed = receipt.signed(key)
    assert signed.verify(key=key.verify_key, ledger=ledger).holds
    other = Receipt(signed.to_json() | {"source": "another"})
    assert len(other.verify(key=key.verify_key, ledger=ledger).problems) == 2


def test_a_receipt_recorded_for_another_release_is_noticed(ledger: Ledger) -> None:
    """Whoever records a digest could name the wrong release: budgets, relations and charges are compared."""
    first = released(ledger)
    second = released(ledger, budget=Budget(2.0, 1e-6))
    ledger.record_receipt(1, second.digest)
    found = " ".join(second.verify(ledger=ledger).problems)
    assert "The budget of release 1" in found
    assert "charges of release 1" in found
    assert "does not know" in first.verify(ledger=ledger).problems[0]


def test_what_the_ledger_counts_is_compared(ledger: Ledger) -> None:
    receipt = released(ledger)
    changes: dict[str, dict[str, Any]] = {
        "of the source": {"source": "bank.csv"},
        "neighboring relation": {"neighboring_relation": "replace_one"},
        "composition": {"composition": receipt.to_json()["composition"] | {"rule": "zcdp"}},
        "no ledger counts": {"ledger": False},
        "charges of release": {"charges": list(reversed(receipt.to_json()["charges"] * 2))},
    }
    for words, change in changes.items():
        forged = Receipt(receipt.to_json() | change)
        ledger.record_receipt(1, forged.digest)
        assert words in " ".join(forged.verify(ledger=ledger).problems), words


def test_a_source_that_was_moved_is_known_by_its_old_name(ledger: Ledger) -> None:
    receipt = released(ledger)
    ledger.record_receipt(1, receipt.digest)
    ledger.move(SourceIdentity("renamed", "elsewhere"))
    assert receipt.document["source"] == "memory" != ledger.source.name
    assert receipt.verify(ledger=ledger).holds


def test_a_ledger_of_another_table_knows_nothing(ledger: Ledger, tmp_path: Path) -> None:
    receipt = released(ledger)
    ledger.record_receipt(1, receipt.digest)
    other = SourceIdentity("other", "memory")
    with Ledger.create(tmp_path / "o.ledger", source=other, total=Budget(1.0, 1e-4)) as empty:
        assert "does not know" in receipt.verify(ledger=empty).problems[0]
