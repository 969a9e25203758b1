"""Processes that are killed, and processes that race: never an answer without its charge, never too much."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import LedgerError, LedgerUnwritable
from counterfoil.ledger.ledger import Ledger, SourceIdentity

PEOPLE = SourceIdentity("people", "/data/people.csv")

PREAMBLE = """
import os, sys
from counterfoil.accounting.budget import Budget
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.ledger.errors import BudgetExceeded
ledger = Ledger.open(sys.argv[1], source=SourceIdentity("people", "/data/people.csv"), timeout=60)
"""

CHARGE_FOR_EVER = """
release, charges = ledger.resume(1), 0
while True:
    event = {"round": int(sys.argv[2]), "charge": charges}
    release.charge(event, description="", affords=lambda events: True)
    charges += 1
    os.write(1, b"+")
"""

REFUSE_FOR_EVER = """
from counterfoil.ledger.refusals import noting_refusals
while True:
    try:
        with noting_refusals(ledger):
            raise ValueError
    except ValueError:
        os.write(1, b"+")
"""

RACE_FOR_RELEASES = """
os.write(1, b"ready\\n")
sys.stdin.readline()
won = 0
for _ in range(3):
    try:
        ledger.open_release(budget=Budget(0.1), relation="replace_one", composition="pure", description={})
        won += 1
    except BudgetExceeded:
        pass
print(won)
"""

RACE_FOR_CHARGES = """
release = ledger.resume(1)
os.write(1, b"ready\\n")
sys.stdin.readline()
won = 0
for _ in range(6):
    try:
        release.charge({"by": sys.argv[2]}, description="", affords=lambda events: len(events) <= 20)
        won += 1
    except BudgetExceeded:
        pass
print(won)
"""

# A transaction that outgrows a cache of one page reaches the file before it commits: the journal is then hot.
DIE_HALF_WRITTEN = """
import sqlite3, signal
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE entries SET body = 'x' || body")
for number in range(1000, 1200):
    connection.execute("INSERT INTO entries VALUES (?, ?, 'y')", (number, "x" * 1000))
os.kill(os.getpid(), signal.SIGKILL)
"""


def start(script: str, *arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-c", PREAMBLE + script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture
def path(tmp_path):
    with Ledger.create(tmp_path / "people.ledger", source=PEOPLE, total=Budget(1.0)) as ledger:
        ledger.open_release(budget=Budget(0.5), relation="replace_one", composition="pure", description={})
    return tmp_path / "people.ledger"


def test_a_kill_at_any_instant_never_loses_a_charge(path):
    generator, acknowledged = random.Random(3), []
    for turn in range(25):
        process = start(CHARGE_FOR_EVER, path, turn)
        first = os.read(process.stdout.fileno(), 1)
        time.sleep(generator.uniform(0, 0.04))
        process.kill()
        acknowledged.append(len(first + process.communicate()[0]))
        assert process.returncode == -signal.SIGKILL
        with Ledger.open(path, source=PEOPLE) as ledger:
            events = ledger.resume(1).records()
        charges = [event["charge"] for event in events if event["round"] == turn]
        assert len(charges) in (acknowledged[turn], acknowledged[turn] + 1)
        assert charges == list(range(len(charges)))
    assert min(acknowledged) >= 1
    assert len(events) >= sum(acknowledged)


def test_a_kill_at_any_instant_never_loses_a_refusal_that_was_told(path):
    generator, told = random.Random(4), 0
    for turn in range(8):
        process = start(REFUSE_FOR_EVER, path)
        first = os.read(process.stdout.fileno(), 1)
        time.sleep(generator.uniform(0, 0.04))
        process.kill()
        told += len(first + process.communicate()[0])
        with Ledger.open(path, source=PEOPLE) as ledger:
            assert told <= len(ledger.refusals()) <= told + turn + 1
            assert ledger.left().epsilon == 0.5
    assert told >= 8


def die_half_written(path: Path) -> None:
    before = path.read_bytes()
    process = start(DIE_HALF_WRITTEN, path)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert path.read_bytes() != before
    assert Path(f"{path}-journal").stat().st_size > 0


def test_a_half_written_transaction_is_rolled_back_on_opening(path):
    with Ledger.open(path, source=PEOPLE) as ledger:
        for number in range(30):
            ledger.resume(1).charge({"n": number}, description="x" * 500, affords=lambda events: True)
        entries = ledger.entries()
    die_half_written(path)
    half = Path(shutil.copytree(path.parent, path.parent / "half")) / path.name
    with Ledger.open(path, source=PEOPLE) as ledger:
        assert ledger.entries() == entries
        assert not Path(f"{path}-journal").exists()
    # An earlier opening that is still in use takes it back as well, before its next charge.
    with Ledger.open(path, source=PEOPLE) as ledger:
        die_half_written(path)
        assert ledger.resume(1).charge({"n": 30}, description="", affords=lambda events: True) == len(entries) + 1
    # Without its journal the half-written file is refused.
    Path(f"{half}-journal").unlink()
    with pytest.raises(Exception, match=r"Restore the ledger from a backup"):
        Ledger.open(half, source=PEOPLE)


def test_a_half_written_ledger_that_may_not_be_written_says_what_to_do(path, monkeypatch):
    with Ledger.open(path, source=PEOPLE) as ledger:
        ledger.resume(1).charge({}, description="", affords=lambda events: True)
    die_half_written(path)
    connect = sqlite3.connect
    read_only = f"{path.as_uri()}?mode=ro"
    monkeypatch.setattr(sqlite3, "connect", lambda _, **options: connect(read_only, **options))
    with pytest.raises(LedgerUnwritable, match=r"killed while it wrote.*together with .*people.ledger-journal"):
        Ledger.open(path, source=None)


def race(script: str, path: Path) -> list[int]:
    processes = [start(script, path, number) for number in range(8)]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    return [int(process.communicate()[0]) for process in processes]


def test_eight_processes_racing_for_releases_get_exactly_what_the_total_admits(path):
    won = race(RACE_FOR_RELEASES, path)
    assert sum(won) == 5, "half of the total was taken before: five tenths are left for 24 attempts"
    with Ledger.open(path, source=PEOPLE) as ledger:
        assert len(ledger.releases()) == 6
        assert (ledger.spent().epsilon, ledger.left().epsilon) == (1.0, 0.0)


def test_eight_processes_racing_in_one_release_never_overspend_it(path):
    won = race(RACE_FOR_CHARGES, path)
    assert sum(won) == 20, "of 48 attempts"
    with Ledger.open(path, source=PEOPLE) as ledger:
        by = [event["by"] for event in ledger.resume(1).records()]
        assert [by.count(str(number)) for number in range(8)] == won


def journal_of(before: bytes) -> bytes:
    """The journal that a process leaves which is killed when all pages of a transaction are in the file."""
    size = int.from_bytes(before[16:18], "big")
    pages = [before[start : start + size] for start in range(0, len(before), size)]
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", len(pages), 7, len(pages), 512, size)
    records = [
        struct.pack(">I", number) + page + struct.pack(">I", 7 + sum(page[size - 200 : 0 : -200]))
        for number, page in enumerate(pages, 1)
    ]
    return head.ljust(512, b"\0") + b"".join(records)


def charge(path: Path, number: int) -> None:
    with Ledger.open(path, source=PEOPLE) as ledger:
        ledger.resume(1).charge({"n": number}, description="", affords=lambda events: True)


def test_a_transaction_that_was_written_whole_is_rolled_back_where_it_did_not_end(path):
    before = path.read_bytes()
    charge(path, 0)
    Path(f"{path}-journal").write_bytes(journal_of(before))
    with Ledger.open(path, source=PEOPLE) as ledger:
        assert ledger.resume(1).records() == []
    assert path.read_bytes() == before


def test_a_journal_that_would_take_back_what_another_name_spent_is_refused(path):
    with Ledger.open(path, source=PEOPLE) as idle:
        before, journal, other = path.read_bytes(), Path(f"{path}-journal"), path.with_name("other.ledger")
        charge(path, 0)
        journal.write_bytes(journal_of(before))
        path.rename(other)
        charge(other, 1)
        other.rename(path)
        with pytest.raises(LedgerError, match="the journal would take back what was spent"):
            Ledger.open(path, source=PEOPLE)
        with pytest.raises(LedgerError, match="the journal would take back what was spent"):
            idle.entries()
        journal.unlink()
        assert [record["n"] for record in idle.resume(1).records()] == [0, 1]


def test_a_link_finds_the_journal_beside_the_file_that_it_leads_to(path, tmp_path):
    before, other = path.read_bytes(), path.with_name("other.ledger")
    charge(path, 0)
    journal = Path(f"{path}-journal")
    journal.write_bytes(journal_of(before))
    path.rename(other)
    charge(other, 1)
    other.rename(path)
    (folder := tmp_path / "links").mkdir()
    (link := folder / "people.ledger").symlink_to(path)
    with pytest.raises(LedgerError, match="the journal would take back what was spent"):
        Ledger.open(link, source=PEOPLE)
    journal.unlink()
    with Ledger.open(link, source=PEOPLE) as ledger:
        assert [record["n"] for record in ledger.resume(1).records()] == [0, 1]


def test_a_ledger_with_two_names_is_refused(tmp_path):
    # The journal of a killed process lies beside one of the names: by the other one, what it left half-written would
    # be taken for written, and lost with all that followed.
    one, other = tmp_path / "people.ledger", tmp_path / "copy.ledger"
    Ledger.create(one, source=PEOPLE, total=1).close()
    os.link(one, other)
    for name in (one, other):
        with pytest.raises(LedgerError, match=r"A ledger has one name.*has 2"):
            Ledger.open(name, source=PEOPLE)
    other.unlink()
    other.symlink_to(one)
    for name in (one, other):
        Ledger.open(name, source=PEOPLE).close()
