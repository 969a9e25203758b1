"""Which texts occur leaves the wall through noise with a threshold alone; a path is a table as its text is."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import pandas as pd
import pytest

import counterfoil
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.column_places import ColumnPlaces
from counterfoil.curator.queries.rest_of_texts import RestOfTexts
from counterfoil.curator.queries.text_counts import TextCounts
from counterfoil.discovery.discover import discover
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise
from counterfoil.receipt.other_relation import under_other_relation
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.terms import Terms
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.raw_cell import RawCells
from counterfoil.schema.schema import Schema

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

TABLE = pd.DataFrame({"x": [f"v{i}" for i in range(50)] * 20})
TEXTS = TextCounts(("x",))


@pytest.mark.parametrize("noise", [GaussianNoise(10.0), ThresholdedGaussianNoise(10.0, 1e-7)])
def test_counts_of_texts_are_not_answered_as_numbers(noise):
    """The length of such an answer says how many texts occur."""
    with Curator(TABLE, Schema((RawCells("x"),)), budget=Budget(1.0, 1e-6)) as curator:
        account = curator.plan([noise], PrivacyLossPlan(), replacement_factor=2**0.5)
        with pytest.raises(ValueError, match="texts are asked for by `ask_texts`"):
            account.ask(TEXTS, noise)
        assert not account.charges


@pytest.mark.parametrize(
    ("query", "noise"),
    [
        (TEXTS, OpenDomainGaussianNoise(10.0, 1e-7)),
        (RestOfTexts(("x",)), ThresholdedGaussianNoise(10.0, 1e-7)),
        (RestOfTexts(("x",)), GaussianNoise(10.0)),
    ],
)
def test_texts_are_told_with_the_threshold_of_their_own_unit_alone(query, noise):
    """The threshold for parts takes for granted that a record brings a hundred of them; a count of cells brings one."""
    with Curator(TABLE, Schema((RawCells("x"),)), budget=Budget(1.0, 1e-6)) as curator:
        account = curator.plan([noise], PrivacyLossPlan(), replacement_factor=2**0.5)
        with pytest.raises(ValueError, match="counts with `ThresholdedGaussianNoise`, parts with"):
            account.ask_texts(query, noise)
        assert not account.charges


def test_no_query_is_answered_by_a_way_that_is_not_its_own():
    with Curator(TABLE, Schema((RawCells("x"),)), budget=Budget(1.0, 1e-6)) as curator:
        account = curator.filter(GaussianFilter())
        for query in (TEXTS, ColumnPlaces(("x",))):
            with pytest.raises(ValueError, match="SelectionQuery"):
                account.choose(query, ExponentialSelection(0.1))
        assert not account.charges


def test_a_receipt_of_texts_without_a_threshold_does_not_verify(tmp_path):
    path = tmp_path / "t.csv"
    TABLE.to_csv(path, index=False)
    found, curator = discover(path, budget=Budget(1.0, 1e-6))
    with curator:
        honest = Receipt.from_curator(
            curator, method="schema", parameters={"shares": dict(found.shares)}, rows=0, released="measures"
        )
    assert honest.verify().holds
    document = copy.deepcopy(honest.to_json())
    charge = document["charges"][-1]
    noise, sensitivity = GaussianNoise(charge["noise"]["noise_multiplier"]), charge["sensitivity"]
    charge["noise"] = noise.to_json() | {"scale": noise.scale(sensitivity)}
    charge["event"] = noise.event().to_json()
    charge["event_under_other_relation"] = noise.event_under(sensitivity, math.sqrt(2) * sensitivity).to_json()
    document["composition"]["plan"][-1] = noise.to_json()
    events = [event_from_json(one["event"]) for one in document["charges"]]
    rule = COMPOSITIONS[document["composition"]["rule"]]
    document["spent"]["epsilon"] = rule.epsilon(events, document["spent"]["delta"])
    document["other_relation"] = under_other_relation(document["charges"], Terms.of_receipt(document))
    problems = Receipt(document).verify().problems
    assert any("is not for such a query" in problem for problem in problems), problems


@pytest.mark.parametrize("kind", [str, Path])
def test_the_table_is_no_public_list_of_itself(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("t.csv", index=False)
    Path("stated.toml").write_text('[columns.x]\nkind = "categorical"\nvalues_from = "t.csv"\n')
    with pytest.raises(SchemaError, match="sensitive table"):
        counterfoil.buy_schema(kind("t.csv"), epsilon=1.0, stated=Path("stated.toml"))
