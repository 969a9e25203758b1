"""A release without a ledger says so: once a process from Python, and on its receipt."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.domain.domain import Domain
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.ledger.no_ledger import NoLedgerWarning, warn_without_ledger
from counterfoil.methods.direct import Direct
from counterfoil.methods.signed_measure import SignedMeasure
from small_releases import opened, released

DOMAIN, ROWS = Domain(("a", "b"), (2, 2)), [(0, 1), (1, 1)] * 20
SAID = "No ledger counts this release"


@pytest.fixture(autouse=True)
def as_in_a_new_process():
    warn_without_ledger.cache_clear()
    yield
    warn_without_ledger.cache_clear()


@pytest.mark.parametrize("method", [Direct(1), SignedMeasure(cells=4)])
def test_a_release_without_a_ledger_warns_once_and_says_so_on_its_receipt(method):
    with pytest.warns(NoLedgerWarning, match="No ledger: nothing will count this release") as caught:
        receipt = released(method, DOMAIN, ROWS).receipt
    (warning,) = [one for one in caught if one.category is NoLedgerWarning]
    assert warning.filename.endswith("small_releases.py"), "the line shown is the user's own"
    assert receipt.document["ledger"] is False
    assert SAID in receipt.text()
    assert receipt.verify().holds
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoLedgerWarning)
        released(method, DOMAIN, ROWS)


def test_a_release_with_a_ledger_does_not(tmp_path):
    source = SourceIdentity("memory", "memory")
    total = Budget(2.0, 1e-5)
    with Ledger.create(tmp_path / "a.ledger", source=source, total=total) as ledger, warnings.catch_warnings():
        warnings.simplefilter("error", NoLedgerWarning)
        receipt = released(Direct(1), DOMAIN, ROWS, ledger=ledger).receipt
    assert receipt.document["ledger"] is True
    assert SAID not in receipt.text()


def test_a_ledger_in_memory_counts_nothing_on_the_receipt_and_is_a_choice_that_was_made():
    ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), Budget(2.0, 1e-5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoLedgerWarning)
        receipt = released(Direct(1), DOMAIN, ROWS, ledger=ledger).receipt
    assert receipt.document["ledger"] is False


@pytest.mark.parametrize("rule", [GaussianFilter(), PureFilter()])
def test_where_warnings_are_errors_nothing_is_opened(rule):
    with opened(DOMAIN, ROWS) as curator, warnings.catch_warnings():
        warnings.simplefilter("error", NoLedgerWarning)
        for _ in range(2):
            with pytest.raises(NoLedgerWarning):
                curator.filter(rule)
        assert curator.release_id is None


def test_no_answer_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoLedgerWarning)
        opened(DOMAIN, ROWS).close()


def test_a_script_shows_it_without_any_filter():
    script = (
        "import pandas, counterfoil\n"
        "schema = counterfoil.Schema((counterfoil.schema.Boolean('a'),))\n"
        "for _ in range(2):\n"
        "    table = pandas.DataFrame({'a': [True, False] * 20})\n"
        "    counterfoil.synthesize(table, schema, epsilon=1, method='independent')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr.count("NoLedgerWarning: No ledger") == 1
