"""What a run that was killed leaves in the ledger, and what its user is told of it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from command_line import Office
from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import BudgetExceeded, LedgerError, ReleaseClosed
from counterfoil.ledger.ledger import Ledger, Release, SourceIdentity

BUDGET = Budget(1.0, 1e-9)


def reserved(ledger: Ledger) -> Release:
    """As a run has it from its beginning."""
    return ledger.open_release(budget=BUDGET, relation="add_or_remove_one", composition="basic", description={})


def charged(release: Release) -> Release:
    release.charge({"query": "counts"}, description="counts", affords=lambda charges: True)
    return release


def shown(office: Office) -> str:
    return " ".join(office.run("ledger", "show", "people.ledger").out.split())


def test_an_open_release_without_charges_is_given_back_on_request(office: Office) -> None:
    """It stayed spent for good, and nothing said what to do."""
    with Ledger.open("people.ledger", source=None) as ledger:
        before = ledger.left()
        reserved(ledger)
        assert "open" not in ledger.text().split("nothing was charged to it")[1]
    assert "open, and nothing was charged to it: 1." in shown(office)
    assert "`counterfoil ledger give-back L --release 1`" in shown(office)
    ended = office.run("ledger", "give-back", "people.ledger", "--release", "1")
    assert ended.status == 0
    assert "Release 1 gave back epsilon 1 and delta 1e-09" in ended.out
    with Ledger.open("people.ledger", source=None) as ledger:
        assert ledger.left() == before
        assert [record.status for record in ledger.releases()] == ["abandoned"]
    assert "open, and" not in shown(office)


def test_what_was_charged_is_never_given_back(office: Office) -> None:
    with Ledger.open("people.ledger", source=None) as ledger:
        charged(reserved(ledger))
        left = ledger.left()
    assert "open, and charged: 1. Where the run was killed, all that it reserved stays spent" in shown(office)
    assert "give-back" not in shown(office)
    ended = office.run("ledger", "give-back", "people.ledger", "--release", "1")
    assert ended.status == 2
    assert "Release 1 has 1: all of it stays spent." in ended.err
    with Ledger.open("people.ledger", source=None) as ledger:
        assert ledger.left() == left
        assert ledger.releases()[0].status == "open"
        ledger.resume(1).close()
    assert office.run("ledger", "give-back", "people.ledger", "--release", "1").status == 2
    assert office.run("ledger", "give-back", "people.ledger", "--release", "2").status == 2
    assert "open, and" not in shown(office)


def test_a_run_that_goes_on_can_charge_nothing_once_its_reservation_was_given_back() -> None:
    ledger = Ledger.in_memory(SourceIdentity.of("bank.csv"), BUDGET)
    running = reserved(ledger)
    ledger.resume(running.id).abandon()
    with pytest.raises(ReleaseClosed, match="was abandoned"):
        charged(running)
    other = charged(reserved(ledger))
    with pytest.raises(LedgerError, match="all of it stays spent"):
        other.abandon()


def test_a_refusal_for_lack_of_budget_says_that_releases_are_open() -> None:
    ledger = Ledger.in_memory(SourceIdentity.of("bank.csv"), BUDGET)
    release = reserved(ledger)
    with pytest.raises(BudgetExceeded, match=r"1 release is still open: .* `counterfoil ledger show` says"):
        reserved(ledger)
    charged(release).close()
    with pytest.raises(BudgetExceeded, match=r"Ask for at most what is left\.$"):
        reserved(ledger)


_KILLED = """
import os, signal
import counterfoil as cf
from counterfoil.ledger.ledger import Release

made = Release.charge

def charge(self, *arguments, **options):
    if {after}:
        made(self, *arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)

Release.charge = charge
cf.synthesize("people.csv", "people.toml", epsilon=1.0, method="independent", ledger="people.ledger")
"""


@pytest.mark.parametrize(("after", "status"), [(False, 0), (True, 2)])
def test_a_killed_release_is_given_back_only_where_it_was_killed_before_its_first_charge(
    office: Office, after: bool, status: int
) -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", _KILLED.format(after=after)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert f"open, and {'charged' if after else 'nothing was charged to it'}: 1." in shown(office)
    assert office.run("ledger", "give-back", "people.ledger", "--release", "1").status == status
