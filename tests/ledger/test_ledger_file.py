"""Files that were cut, edited, locked, replaced or can't be written: a clear refusal, never a shorter ledger."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import (
    LedgerCutShort,
    LedgerEdited,
    LedgerError,
    LedgerLocked,
    LedgerUnwritable,
    NotALedger,
)
from counterfoil.ledger.file import canonical_json, chain, seal
from counterfoil.ledger.ledger import Ledger, Release, SourceIdentity

PEOPLE = SourceIdentity("people", "/data/people.csv")


def charge(release: Release, number: int = 0, padding: str = "") -> int:
    return release.charge({"n": number}, description=f"charge {padding}", affords=lambda events: True)


def open_release(ledger: Ledger) -> Release:
    return ledger.open_release(budget=Budget(0.5), relation="replace_one", composition="pure", description={})


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """A ledger over several pages: 62 entries, some of them longer than a page."""
    path = tmp_path_factory.mktemp("pristine") / "people.ledger"
    with Ledger.create(path, source=PEOPLE, total=Budget(1.0)) as ledger:
        release = open_release(ledger)
        for number in range(60):
            charge(release, number, "x" * (5000 if number % 20 == 7 else 150))
    return path


@pytest.fixture
def path(pristine, tmp_path):
    return Path(shutil.copy(pristine, tmp_path / "people.ledger"))


def entries(path: Path) -> list:
    with Ledger.open(path, source=PEOPLE, timeout=0.05) as ledger:
        return ledger.entries()


def edit(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(script)


def test_a_file_cut_at_any_length_is_refused(pristine, tmp_path):
    content = pristine.read_bytes()
    assert len(content) >= 8 * 4096
    generator = random.Random(1)
    pages = range(4096, len(content), 4096)
    lengths = {0, 1, 15, 16, 99, 100, 511, 512, 4095, len(content) - 1, *pages, *(page + 1 for page in pages)}
    lengths |= {generator.randrange(len(content)) for _ in range(60)}
    path = tmp_path / "people.ledger"
    for length in sorted(lengths):
        path.write_bytes(content[:length])
        with pytest.raises(LedgerCutShort) as refusal:
            Ledger.open(path, source=PEOPLE)
        assert str(path) in str(refusal.value)
        assert "Restore the ledger from a backup" in str(refusal.value)


def test_a_flipped_bit_is_refused_or_harmless(pristine, tmp_path):
    content, whole = pristine.read_bytes(), entries(pristine)
    generator = random.Random(2)
    places = list(range(100)) + [generator.randrange(100, len(content)) for _ in range(300)]
    path, refused = tmp_path / "people.ledger", 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << generator.randrange(8)
        path.write_bytes(damaged)
        try:
            assert entries(path) == whole, f"byte {place}"
        except LedgerError:
            refused += 1
    # Of the 300, those in unused space, at the ends of pages, are harmless: two thirds of the file is text.
    assert refused > 200


def test_zeroed_pages_are_refused(pristine, tmp_path):
    content, path = pristine.read_bytes(), tmp_path / "people.ledger"
    for start in range(0, len(content), 4096):
        path.write_bytes(content[:start] + bytes(4096) + content[start + 4096 :])
        with pytest.raises(LedgerError):
            Ledger.open(path, source=PEOPLE)


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ("UPDATE entries SET body = replace(body, '0.5', '0.1') WHERE number = 2", LedgerEdited, "entry 2 is not"),
        ("UPDATE entries SET body = replace(body, '1.0', '9.0') WHERE number = 1", LedgerEdited, "entry 1 is not"),
        ("UPDATE entries SET body = body || ' ' WHERE number = 30", LedgerEdited, "entry 30 is not"),
        ("UPDATE entries SET body = CAST(body AS BLOB) WHERE number = 30", LedgerEdited, "entry 30 is not"),
        ("DELETE FROM entries WHERE number = 62", LedgerCutShort, "62 entries were written, and only the first 61"),
        ("DELETE FROM entries WHERE number > 2", LedgerCutShort, "only the first 2 are left"),
        ("DELETE FROM entries", LedgerCutShort, "only the first 0 are left"),
        ("DELETE FROM entries WHERE number = 30", LedgerEdited, "entry 30 is not"),
        ("DELETE FROM entries WHERE number = 1", LedgerEdited, "entry 1 is not"),
        (
            "UPDATE entries SET number = -1 WHERE number = 30; UPDATE entries SET number = 30 WHERE number = 31;"
            "UPDATE entries SET number = 31 WHERE number = -1",
            LedgerEdited,
            "entry 30 is not",
        ),
        ("INSERT INTO entries SELECT 63, body, hash FROM entries WHERE number = 62", LedgerEdited, "entry 63 is not"),
        ("UPDATE entries SET hash = upper(hash) WHERE number = 62", LedgerEdited, "entry 62 is not"),
        ("UPDATE head SET count = 61", LedgerEdited, "the head is not"),
        ("UPDATE head SET count = 61.0", LedgerEdited, "the head is not"),
        ("UPDATE head SET hash = (SELECT hash FROM entries WHERE number = 61)", LedgerEdited, "the head is not"),
        ("DELETE FROM head", LedgerEdited, "the head is not"),
        (
            # Cutting the end off and mending the head needs the seal, which SQL can't compute.
            "DELETE FROM entries WHERE number = 62;"
            "UPDATE head SET count = 61, hash = (SELECT hash FROM entries WHERE number = 61)",
            LedgerEdited,
            "the head is not",
        ),
        ("DROP TABLE head", LedgerEdited, "the tables are not those of a ledger"),
        ("CREATE INDEX i ON entries (hash)", LedgerEdited, "the tables are not those of a ledger"),
        (
            "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE number = new.number; END",
            LedgerEdited,
            "the tables are not those of a ledger",
        ),
        ("PRAGMA journal_mode = WAL", LedgerEdited, "journal mode 'wal'"),
        ("PRAGMA user_version = 6", NotALedger, "format 1 to 5. .* has format 6: use the version"),
        ("PRAGMA application_id = 7", NotALedger, "is a database, but not a ledger"),
    ],
)
def test_an_edited_file_is_refused(path, script, error, message):
    edit(path, script)
    with pytest.raises(error, match=message):
        Ledger.open(path, source=None)


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_a_file_is_of_the_first_format_until_it_holds_what_that_one_lacks(path, monkeypatch):
    """So that version 0.1 reads what it can, and says that the rest is of a later one, not that it was edited."""
    with Ledger.open(path, source=PEOPLE) as ledger:
        ledger.record_reveal("to compare")
        assert format_of(path) == 1
        before = ledger.entries()
        with monkeypatch.context() as patched:
            patched.setattr("counterfoil.ledger.file.canonical_json", lambda body: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                ledger.record_refusal()
        assert (format_of(path), ledger.entries()) == (1, before), "both are taken back together"
        ledger.record_refusal()
        assert format_of(path) == 2
        charge(ledger.resume(1))
    assert format_of(path) == 2
    assert [entry.kind for entry in entries(path)[-2:]] == ["refused", "charged"]


def test_a_refusal_is_part_of_the_chain(path):
    with Ledger.open(path, source=PEOPLE) as ledger:
        for _ in range(3):
            ledger.record_refusal()
    last = len(entries(path))
    edit(path, f"DELETE FROM entries WHERE number = {last}")
    with pytest.raises(LedgerCutShort, match=rf"{last} entries were written, and only the first {last - 1} are left"):
        Ledger.open(path, source=PEOPLE)


def test_an_entry_out_of_order_is_refused_even_with_its_hashes_recomputed(path):
    """The chain can't show this edit; the replay still refuses what Counterfoil would not have written."""
    body = canonical_json({"kind": "charged", "release": 9, "event": {}, "description": "", "time": "", "version": ""})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (last,) = connection.execute("SELECT hash FROM head").fetchone()
        recorded = chain(last, body)
        connection.execute("INSERT INTO entries VALUES (63, ?, ?)", (body, recorded))
        connection.execute("UPDATE head SET count = 63, hash = ?, seal = ?", (recorded, seal(63, recorded)))
    with pytest.raises(LedgerEdited, match=r"Entry 63 of the ledger can't follow"):
        Ledger.open(path, source=None)


def test_maintenance_that_changes_no_entry_is_accepted(path):
    whole = entries(path)
    edit(path, "PRAGMA page_size = 8192; VACUUM; REINDEX;")
    assert entries(path) == whole


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE entries SET body = replace(body, '59', '58') WHERE number = 62",
        "UPDATE entries SET hash = hash || ' ' WHERE number = 62",
        "DELETE FROM entries WHERE number = 62",
        "UPDATE head SET count = 61",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
    ],
)
def test_an_edit_under_a_running_process_stops_it(path, script):
    with Ledger.open(path, source=PEOPLE) as ledger:
        release = ledger.resume(1)
        edit(path, script)
        with pytest.raises((LedgerEdited, LedgerCutShort)):
            charge(release)
        with pytest.raises((LedgerEdited, LedgerCutShort)):
            ledger.left()


def test_an_earlier_copy_put_back_under_a_running_process_stops_it(path, tmp_path):
    """Also with its content written into the same file, where the name and the inode stay."""
    copy = Path(shutil.copy(path, tmp_path / "copy"))
    with Ledger.open(path, source=PEOPLE) as ledger:
        release = ledger.resume(1)
        charge(release)
        path.write_bytes(copy.read_bytes())
        with pytest.raises(LedgerCutShort, match=r"63 entries were written, and only the first 62"):
            charge(release)
    with Ledger.open(path, source=PEOPLE) as ledger:
        release = ledger.resume(1)
        os.replace(copy, path)
        with pytest.raises(LedgerEdited, match=r"moved or replaced while in use"):
            charge(release)
    with Ledger.open(path, source=PEOPLE) as ledger:
        path.unlink()
        with pytest.raises(LedgerEdited, match=r"moved or replaced while in use"):
            ledger.spent()


def test_a_diverging_history_under_a_running_process_stops_it(path, tmp_path):
    """Another valid ledger with as many entries, of which the last differs."""
    other = Path(shutil.copy(path, tmp_path / "other"))
    with Ledger.open(other, source=PEOPLE) as ledger:
        charge(ledger.resume(1), 1)
    with Ledger.open(path, source=PEOPLE) as ledger:
        release = ledger.resume(1)
        charge(release, 2)
        release.records()
        path.write_bytes(other.read_bytes())
        with pytest.raises(LedgerEdited, match=r"entry 6[23] "):
            charge(release, 3)


def test_a_ledger_does_not_cross_a_fork(path, monkeypatch):
    with Ledger.open(path, source=PEOPLE) as ledger:
        monkeypatch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(LedgerError, match=r"can't cross a fork"):
            ledger.left()


def test_a_locked_ledger_says_so_and_recovers(path):
    with (
        Ledger.open(path, source=PEOPLE, timeout=0.05) as ledger,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        release = ledger.resume(1)
        other.execute("BEGIN IMMEDIATE")
        assert len(release.records()) == 60, "a writer that has not reached the file does not stop readers"
        with pytest.raises(LedgerLocked, match=r"stayed locked for 0.05 s. Wait until .*try again"):
            charge(release)
        other.execute("ROLLBACK")
        other.execute("BEGIN EXCLUSIVE")
        for refused in (release.records, lambda: Ledger.open(path, source=PEOPLE, timeout=0.05)):
            with pytest.raises(LedgerLocked):
                refused()
        other.execute("ROLLBACK")
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM entries").fetchone()
        with pytest.raises(LedgerLocked):  # at the commit, which a reader holds up
            charge(release)
        other.execute("ROLLBACK")
        assert len(release.records()) == 60
        charge(release)
        assert len(release.records()) == 61


def test_a_full_disk_says_so_and_records_nothing(path):
    with Ledger.open(path, source=PEOPLE) as ledger:
        release, connection = ledger.resume(1), ledger._file._connection
        connection.execute("PRAGMA max_page_count = 1")  # SQLite raises it to the present size
        with pytest.raises(LedgerUnwritable, match=r"disk is full.*try again"):
            charge(release, padding="x" * 20_000)
        assert len(release.records()) == 60
        connection.execute("PRAGMA max_page_count = 100000")
        charge(release, padding="x" * 20_000)
    assert len(entries(path)) == 63


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs limits of Unix")
def test_a_limit_on_the_size_of_files_takes_no_entry_and_no_ledger_from_a_backup(path):
    import resource

    with Ledger.open(path, source=PEOPLE) as ledger:
        release, before = ledger.resume(1), resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
        try:
            with pytest.raises(LedgerError, match=r"quotas, and try again.*Only where .*restore the ledger"):
                charge(release, padding="x" * 200_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert len(release.records()) == 60
        charge(release)
    assert len(entries(path)) == 63


def test_a_read_only_connection_says_so(path):
    with Ledger.open(path, source=PEOPLE) as ledger:
        release = ledger.resume(1)
        ledger._file._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(LedgerUnwritable, match=r"can't be written. Grant permission"):
            charge(release)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs Unix permissions")
def test_a_read_only_file_can_be_shown_but_not_charged(path, tmp_path):
    """In a process without privileges, since a superuser may write anything."""
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    script = (
        "import os, sys\n"
        "from counterfoil.accounting.budget import Budget\n"
        "from counterfoil.ledger.ledger import Ledger, SourceIdentity\n"
        "Ledger.in_memory(SourceIdentity('', ''), Budget(1.0))  # looks the version up while the package is readable\n"
        "os.chdir(sys.argv[1])\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "ledger = Ledger.open('people.ledger', source=None)\n"
        "print(len(ledger.entries()))\n"
        "try: ledger.resume(1).charge({}, description='', affords=lambda events: True)\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    with _passable(tmp_path):
        done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True)
    tmp_path.chmod(0o755)
    assert (done.stdout, done.stderr) == ("62\nLedgerUnwritable\n", "")


def _passable(folder: Path) -> ExitStack:
    """Let every user pass through the folders above `folder`, which pytest keeps private, for a while."""
    stack = ExitStack()
    for parent in folder.parents:
        mode = parent.stat().st_mode & 0o7777
        if parent.owner() == folder.owner() and not mode & 0o001:
            stack.callback(parent.chmod, mode)
            parent.chmod(mode | 0o011)
    return stack


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda path: None,
            "There is no ledger at .*Create one, `counterfoil ledger create .* --source TABLE --epsilon E --delta D`",
        ),
        (lambda path: path.mkdir(), "can't be opened. It must be a file"),
        (lambda path: path.write_text("age,sex\n31,F\n" * 100), "is not a ledger. Correct the path"),
        (lambda path: path.write_text("age"), "is not a ledger. Correct the path"),
        (lambda path: edit(path, "CREATE TABLE people (age)"), "is a database, but not a ledger"),
    ],
)
def test_what_is_not_a_ledger_is_told_apart(tmp_path, make, message):
    make(tmp_path / "people.ledger")
    with pytest.raises(NotALedger, match=message):
        Ledger.open(tmp_path / "people.ledger", source=None)


def create(path: Path) -> None:
    Ledger.create(path, source=PEOPLE, total=Budget(1.0)).close()


def test_creation_never_overwrites(tmp_path):
    path = tmp_path / "people.ledger"
    path.write_text("precious")
    with pytest.raises(LedgerError, match=r"at a path that is free. Found .*open it instead"):
        create(path)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["people.ledger"]


def test_creation_refuses_the_journal_of_an_earlier_file(tmp_path):
    (tmp_path / "people.ledger-journal").write_text("hot")
    with pytest.raises(LedgerError, match=r"needs a clean place. Found .*-journal: move it away"):
        create(tmp_path / "people.ledger")
    assert os.listdir(tmp_path) == ["people.ledger-journal"]


def test_creation_leaves_the_whole_file_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "people.ledger"
    (tmp_path / "people.ledger.creating").write_text("left by a killed process")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            create(path)
    assert os.listdir(tmp_path) == []
    create(path)
    assert os.listdir(tmp_path) == ["people.ledger"]
    with pytest.raises(LedgerUnwritable, match=r"No ledger can be created at .*No such file or directory"):
        create(tmp_path / "absent" / "people.ledger")


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of names is of Unix")
def test_a_name_that_is_too_long_for_the_draft_leaves_nothing(tmp_path):
    for length in (239, 243, 247, 250):
        with pytest.raises(OSError, match="too long"):
            Ledger.create(tmp_path / ("a" * length), source=PEOPLE, total=1)
        assert not any(tmp_path.iterdir())


def test_a_ledger_whose_creation_was_killed_can_be_told(tmp_path):
    (tmp_path / "people.ledger").touch()
    with pytest.raises(LedgerCutShort, match=r"If its creation was interrupted, delete it"):
        Ledger.open(tmp_path / "people.ledger", source=None)
