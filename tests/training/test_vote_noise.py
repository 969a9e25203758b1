"""What is said of noisy votes: nothing where labels are right, and right figures where noise decides them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.training.test_pate import FIT, PUBLIC, SCHEMA, SENSITIVE, table

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.training.pate import PATEClassifier
from counterfoil.training.vote_noise import most_lead, said_after, said_before, voters_of


def noisy(votes: list[int], rows: int, deviation: float, seed: int) -> np.ndarray:
    return np.array(votes) + np.random.default_rng(seed).normal(0, deviation, (rows, len(votes)))


@pytest.mark.parametrize("votes", [[0, 0], [150, 40], [0, 0, 0], [90, 30, 0], [50, 50, 0, 0]])
def test_the_lead_is_no_larger_than_is_said_and_voters_are_counted(votes):
    """Over 400 draws, two standard errors hold in 95% and more of them; the count is off as it says."""
    first, second = sorted(votes, reverse=True)[:2]
    drawn = [noisy(votes, 200, 30.0, seed) for seed in range(400)]
    assert np.mean([most_lead(one, 30.0) >= first - second for one in drawn]) > 0.95
    counted = np.array([voters_of(one, 30.0) for one in drawn])
    assert counted[:, 0].std() == pytest.approx(counted[0, 1], rel=0.15)
    assert counted[:, 0].mean() == pytest.approx(sum(votes), abs=4 * counted[0, 1] / 20)


def test_one_leading_class_has_the_lead_that_is_said():
    assert most_lead(np.tile([80.0, 20.0, 20.0], (5, 1)), 0.0) == pytest.approx(60)


def test_what_is_public_is_said_before():
    assert not said_before(300, 100.0, None)
    assert not said_before(300, 100.0, 6000)
    assert "more than the 100 teachers" in said_before(100, 100.0, None)[0]
    assert "about 6.7 of the 2,000 records" in said_before(300, 100.0, 2000)[0]


def test_clear_votes_are_left_alone():
    assert not said_after(noisy([280, 20], 500, 50.0, 1), 300, 50.0)


def fitted(rows: int, **wishes) -> tuple[PATEClassifier, list[str]]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PATEClassifier(epsilon=1, seed=1).fit(table(rows, 9), SCHEMA, public=PUBLIC, **FIT, **wishes)
    return model, [str(each.message) for each in said]


@pytest.mark.parametrize("rows", [0, 1, 300])
def test_a_table_too_small_for_its_noise_is_said_to_be(rows):
    """Teachers without records cast no vote, so that noisy votes tell how many had some."""
    model, said = fitted(rows)
    noted = model.receipt.document["warnings"]
    assert any(f"of the {model.teachers_} teachers had records at all" in words for words in noted)
    assert any("many labels of the student are wrong" in words for words in noted)
    assert set(noted) <= set(said)


def test_a_table_large_enough_is_not():
    model, _ = fitted(20_000)
    assert model.receipt.document["warnings"] == []


def test_where_the_number_of_records_is_public_it_is_used_before_the_charge(tmp_path):
    with Ledger.create(tmp_path / "l", source=SourceIdentity("memory", "memory"), total=Budget(1, 1e-6)) as ledger:
        model = PATEClassifier(epsilon=1, seed=1)
        wishes = {"public": PUBLIC, "relation": "replace_one", "ledger": ledger, **FIT}
        with pytest.raises(UserWarning, match=r"about 0\.\d of the 100 records"):  # warnings are errors in tests
            model.fit(SENSITIVE[:100], SCHEMA, **wishes)
        assert ledger.spent().epsilon == 0


def test_an_empty_table_is_refused_by_who_asks_for_it():
    with pytest.raises(ValueError, match="must have rows to be copied"):
        fitted(0, prepare=lambda curator: curator.require_rows())
