"""A model that is paid for and whole is not lost because its ledger can't note the end of its release."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from counterfoil.curator.unnoted import UnnotedWarning
from counterfoil.ledger.errors import LedgerUnwritable
from counterfoil.ledger.release import Release
from counterfoil.receipt.ledger_check import close_by_receipt
from counterfoil.training.bought_fairness import fairness_of
from counterfoil.training.classification import DPSGDClassifier
from counterfoil.training.fair_models import FairClassifier
from counterfoil.training.pate import PATEClassifier
from training_tables import SCHEMA, ledger_at, people


def full(*_: object, **__: object) -> None:
    raise LedgerUnwritable("people.ledger: the disk is full. Free some space and try again.")


@pytest.fixture
def ledger(tmp_path):
    with ledger_at(tmp_path / "people.ledger") as opened:
        yield opened


def gradients(ledger, **given):
    return DPSGDClassifier(iterations=4, **given).fit(people(), SCHEMA, target="outcome", ledger=ledger)


def votes(ledger):
    return PATEClassifier(teachers=5).fit(people(), SCHEMA, target="outcome", public=people(seed=1), ledger=ledger)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("make", [gradients, votes])
def test_a_model_outlives_a_full_disk_at_its_end(monkeypatch, ledger, tmp_path, make):
    with monkeypatch.context() as patched:
        patched.setattr(Release, "record_receipt", full)
        patched.setattr(Release, "end", full)
        with pytest.warns(UnnotedWarning, match="the disk is full.*--release 1 --receipt"):
            model = make(ledger)
    assert len(model.predict(people(5))) == 5
    model.save(tmp_path / "model")
    assert ledger.releases()[0].status == "open"
    close_by_receipt(ledger, 1, model.receipt.document)
    assert ledger.releases()[0].status == "closed"
    assert model.receipt.verify(ledger=ledger).holds


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_charge_that_can_not_be_written_ends_a_run_as_before(monkeypatch, ledger):
    monkeypatch.setattr(Release, "charge", full)
    with pytest.raises(LedgerUnwritable):
        gradients(ledger)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_ledger_knows_the_receipt_of_bought_fairness(ledger):
    model = FairClassifier(epsilon=1.0, iterations=4).fit(
        people(), SCHEMA, target="outcome", protected="sex", ledger=ledger
    )
    bought = fairness_of(model, people(), SCHEMA, 1.0, 1e-6, ledger=ledger)
    checked = bought.receipt.verify(ledger=ledger)
    assert checked.holds, checked.problems
    assert [release.status for release in ledger.releases()] == ["closed", "closed"]
