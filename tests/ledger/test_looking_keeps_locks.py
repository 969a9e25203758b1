"""Whoever looks at a ledger's file leaves the locks of those who write to it: on POSIX closing a file releases them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.diagnosis import not_a_ledger
from counterfoil.ledger.journal import head_of
from counterfoil.ledger.ledger import Ledger
from counterfoil.ledger.protecting import ledger_over

ANOTHER_PROCESS = """
import sys
from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import LedgerLocked
from counterfoil.ledger.ledger import Ledger

with Ledger.open(sys.argv[1], source=None, timeout=0.1) as ledger:
    try:
        ledger.open_release(budget=Budget(0.5), relation="replace_one", composition="pure", description={})
    except LedgerLocked:
        print("locked")
"""


@pytest.mark.parametrize("look", ["ledger_over", "not_a_ledger", "head_of"])
def test_a_look_at_a_ledger_within_a_charge_lets_no_other_process_write(tmp_path, look):
    table, path = tmp_path / "people.csv", tmp_path / "people.ledger"
    table.write_text("a\n1\n", encoding="utf-8")
    looks = {
        "ledger_over": lambda: ledger_over(table) == path,
        "not_a_ledger": lambda: not_a_ledger(path),
        "head_of": lambda: head_of(path),
    }

    def charged_while_others_try(_: object) -> bool:
        # It runs while this process holds the lock, as a charge does while another thread looks.
        assert looks[look]()
        command = [sys.executable, "-c", ANOTHER_PROCESS, str(path)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert said.stdout.strip() == "locked"
        return True

    with Ledger.create(path, source=table, total=1) as ledger:
        release = ledger.open_release(budget=Budget(0.5), relation="replace_one", composition="pure", description={})
        release.charge({"n": 1}, description="", affords=charged_while_others_try)
        assert [len(release.charges) for release in ledger.releases()] == [1]


def test_the_head_of_another_file_is_read_each_time(tmp_path):
    path = tmp_path / "notes.txt"
    for text in (b"one", b"two"):
        path.write_bytes(text)
        assert head_of(path) == text
    with pytest.raises(OSError):
        head_of(Path(tmp_path))
