"""What a user's own code says when it fails on a record is not passed on, and that it failed is noted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from counterfoil import Budget, Curator, Ledger, Schema
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.brought import BroughtFailed
from counterfoil.curator.errors import SourceError
from counterfoil.curator.foreign_errors import without_foreign_words
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.geometry.table_space import TableSpace
from counterfoil.schema import Boolean, Integer, Real
from counterfoil.schema.errors import UnplacedValue

SECRET = 4321
SCHEMA = Schema((Integer("x", 0, 9999, bins=100),))


class Ending(BaseException):
    """No `Exception`."""


@dataclass(frozen=True)
class Mine(TableSpace):
    """A space that tells of one record, if it is there."""

    raises: type[BaseException] = ValueError
    of: float = SECRET

    def locate(self, codes, numbers):
        if (numbers["x"] == self.of).any():
            raise self.raises(f"found {numbers['x'].tolist()}")
        return super().locate(codes, numbers)


@pytest.mark.parametrize("raises", [ValueError, KeyError, UnplacedValue, SourceError, SystemExit, Ending])
def test_a_space_that_fails_on_a_record_quotes_none(raises, monkeypatch):
    monkeypatch.setattr(UnplacedValue, "__init__", ValueError.__init__)
    with Curator(pd.DataFrame({"x": [1, 2, SECRET]}), SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        # Tried on rows that were made up, none of which has the number: a trial can't find everything.
        monkeypatch.setattr("counterfoil.curator.curator.require_sound", lambda query, schema: 1)
        account = curator.filter(GaussianFilter())
        query = NearestNeighborHistogram(Mine(SCHEMA, raises=raises), np.zeros((1, 1)))
        with pytest.raises(BroughtFailed, match=rf"vouches for \(Mine of .*\): {raises.__name__}\.") as failed:
            account.ask(query, account.noise(account.capacity / 2))
        assert str(SECRET) not in str(failed.value)
        assert failed.value.__suppress_context__
        assert len(curator._ledger.refusals()) == 1


def test_an_interrupt_stays_one_and_says_nothing():
    with pytest.raises(KeyboardInterrupt) as ended, without_foreign_words("q", ["Mine"]):
        raise KeyboardInterrupt(SECRET)
    assert not ended.value.args


def test_our_own_sentences_stay_where_no_foreign_code_was_at_work(tmp_path):
    table = tmp_path / "p.csv"
    table.write_text("x\n1\n2\n")
    with Curator(table, SCHEMA, budget=Budget(1.0, 1e-6), in_memory=False) as curator:
        account = curator.filter(GaussianFilter())
        query = NearestNeighborHistogram(Mine(SCHEMA, of=-1.0), np.zeros((1, 1)))
        table.write_text("x\n1\n2\n3\n")
        with pytest.raises(SourceError, match=r"p\.csv has changed since it was opened"):
            account.ask(query, account.noise(account.capacity / 2))


def test_nothing_is_replaced_of_queries_without_foreign_parts():
    with pytest.raises(ValueError, match="a cell"), without_foreign_words("q", []):
        raise ValueError("a cell")


PEOPLE = Schema((Real("x", 0, 1, bins=10), Real("z", 0, 1, bins=10), Boolean("y")))


@pytest.mark.parametrize("there", [False, True])
def test_a_network_that_fails_on_a_record_is_noted_and_quotes_none(tmp_path, there):
    torch = pytest.importorskip("torch", reason="gradients need torch")
    from counterfoil.training.classification import DPSGDClassifier

    class Telling(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 1)

        def forward(self, x):
            if (hit := (x[:, 0] == 0.5).nonzero()).numel():
                raise ValueError(f"hit {x[hit[0]].tolist()}")
            return self.linear(x)

    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{c < 0.5}" for a, b, c in rng.random((50, 3)) * (0.4, 1, 1)]
    rows[17] = "0.750,0.125,True" if there else rows[17]
    table, ledger = tmp_path / "p.csv", tmp_path / "p.ledger"
    table.write_text("x,z,y\n" + "\n".join(rows) + "\n")
    Ledger.create(ledger, source=table, total=(1, 1e-6))
    model = DPSGDClassifier(epsilon=1, delta=1e-6, iterations=30, batch_share=0.5, network=Telling())
    if there:
        with pytest.raises(BroughtFailed, match=r"Telling of .*: ValueError\.") as failed:
            model.fit(table, PEOPLE, target="y", ledger=ledger)
        assert "0.125" not in str(failed.value)
        assert "-0.75" not in str(failed.value)
    else:
        model.fit(table, PEOPLE, target="y", ledger=ledger)
    with Ledger.open(ledger, source=None) as opened:
        assert len(opened.refusals()) == there
        assert len(opened.releases()[0].charges) == 1
