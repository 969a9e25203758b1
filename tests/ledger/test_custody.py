"""What a ledger keeps for good: where the records were, and the hashes of receipts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import LedgerError, WrongSource
from counterfoil.ledger.ledger import Ledger, SourceIdentity

TOTAL = Budget(2.0, 1e-6)
DIGEST, OTHER = "0f" * 32, "a1" * 32


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text("a\n1\n")
    Ledger.create("bank.ledger", source="bank.csv", total=TOTAL).close()
    return tmp_path


def format_of(path: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def opened(ledger: Ledger, relation: str = "replace_one"):
    return ledger.open_release(budget=Budget(0.5), relation=relation, composition="pure", description={})


def test_a_moved_source_keeps_its_history(place):
    with Ledger.open("bank.ledger", source="bank.csv") as ledger:
        opened(ledger).close()
    Path("new").mkdir()
    Path("bank.csv").rename("new/clients.csv")
    with pytest.raises(WrongSource) as refusal:
        Ledger.open("bank.ledger", source="new/clients.csv")
    assert str(refusal.value).endswith(
        "If that table was moved or renamed, write it into the ledger: counterfoil ledger move bank.ledger --source "
        f"{place / 'new' / 'clients.csv'}."
    )
    assert "reate" not in str(refusal.value).replace("created for", "")
    with Ledger.open("bank.ledger", source=None) as ledger:
        ledger.move("new/clients.csv")
        assert ledger.source == SourceIdentity("clients.csv", str(place / "new" / "clients.csv"))
        assert ledger.spent().epsilon == 0.5
    with Ledger.open("bank.ledger", source="new/clients.csv") as ledger:
        (former,) = ledger.former_places()
        assert former.source == SourceIdentity("bank.csv", str(place / "bank.csv"))
        page = ledger.text()
        assert f"  at {place / 'new' / 'clients.csv'}\n  until 2" in page
        assert f"at {place / 'bank.csv'}\n" in page
        assert [entry.kind for entry in ledger.entries()][-1] == "moved"
        assert ledger.left().epsilon == 1.5
    with pytest.raises(WrongSource):
        Ledger.open("bank.ledger", source="bank.csv")


def test_a_move_that_is_none_changes_nothing(place):
    with Ledger.open("bank.ledger", source="bank.csv") as ledger:
        before = ledger.entries()
        for source, error, said in (
            ("bank.csv", ValueError, "already: there is no move"),
            ("absent.csv", ValueError, "Found no file"),
            ("bank.ledger", ValueError, "bank.ledger is the sensitive table"),
            (7, TypeError, "Found int"),
        ):
            with pytest.raises(error, match=said):
                ledger.move(source)
        assert ledger.entries() == before
    assert format_of("bank.ledger") == 1


def test_another_opening_follows_the_move(place):
    Path("else.csv").write_text("a\n1\n")
    with Ledger.open("bank.ledger", source="bank.csv") as one, Ledger.open("bank.ledger", source="bank.csv") as two:
        one.move("else.csv")
        with pytest.raises(WrongSource):
            two.require_source(SourceIdentity.of("bank.csv"))
        two.require_source(SourceIdentity.of("./else.csv"))


@pytest.mark.parametrize("ledger_in", ["file", "memory"])
def test_receipts_are_kept_by_release(place, ledger_in):
    memory = Ledger.in_memory(SourceIdentity.of("bank.csv"), TOTAL)
    with memory if ledger_in == "memory" else Ledger.open("bank.ledger", source="bank.csv") as ledger:
        assert ledger.receipts() == {}
        first, second = opened(ledger), opened(ledger)
        first.record_receipt(DIGEST)
        first.close()
        ledger.record_receipt(1, OTHER)  # a later text of the same release
        entries = len(ledger.entries())
        ledger.record_receipt(1, DIGEST)
        assert len(ledger.entries()) == entries, "the same text is noted once"
        with pytest.raises(LedgerError, match="Found release 1 with the receipt"):
            second.record_receipt(DIGEST)
        assert ledger.receipts() == {DIGEST: 1, OTHER: 1}
        assert f"receipts kept, by release: 1 ({DIGEST[:8]}), 1 ({OTHER[:8]})" in ledger.text()


@pytest.mark.parametrize("digest", ["", "0F" * 32, "0f" * 31, "0f" * 33, DIGEST + "\n", 7])
def test_a_receipt_is_noted_by_its_sha256_alone(place, digest):
    with Ledger.open("bank.ledger", source="bank.csv") as ledger:
        release = opened(ledger)
        with pytest.raises(ValueError, match="SHA-256, 64 hexadecimal digits"):
            release.record_receipt(digest)
        for absent in (0, 2):
            with pytest.raises(LedgerError, match="must be one of 1 to 1"):
                ledger.record_receipt(absent, DIGEST)
        release.abandon()
        with pytest.raises(LedgerError, match="abandoned"):
            ledger.record_receipt(1, DIGEST)
        assert ledger.receipts() == {}


@pytest.mark.parametrize(
    "write",
    [
        lambda ledger: ledger.move(SourceIdentity("x", "/x")),
        lambda ledger: ledger.record_receipt(1, DIGEST),
        lambda ledger: opened(ledger, "replace_one within groups of equal sex"),
    ],
    ids=["move", "receipt", "mixed relations"],
)
def test_versions_that_do_not_know_an_entry_refuse_the_file_and_say_so(place, write):
    with Ledger.open("bank.ledger", source="bank.csv") as ledger:
        opened(ledger)
        opened(ledger)
        assert format_of("bank.ledger") == 1
        write(ledger)
    assert format_of("bank.ledger") == 3


def test_a_ledger_serves_no_table_in_memory(place):
    memory = SourceIdentity("memory", "memory")
    with (
        Ledger.open("bank.ledger", source="bank.csv") as ledger,
        pytest.raises(WrongSource, match="give the path of that file instead"),
    ):
        ledger.require_source(memory)
    with (
        Ledger.in_memory(memory, TOTAL) as ledger,
        pytest.raises(WrongSource, match=r"write it down with `Ledger\.move`"),
    ):
        ledger.require_source(SourceIdentity.of("bank.csv"))


def test_a_ledger_in_memory_takes_what_one_in_a_file_takes() -> None:
    with Ledger.in_memory("bank.csv", (2.0, 1e-6)) as ledger:
        assert (ledger.total.epsilon, ledger.total.delta) == (2.0, 1e-6)
        assert ledger.source == SourceIdentity.of("bank.csv")
