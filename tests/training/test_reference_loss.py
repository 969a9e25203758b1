"""What a classifier's loss is held against: known by the schema or by public groups, and never by a record."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch")

from counterfoil.training import DPSGDClassifier, FairClassifier, FairRegressor
from counterfoil.training.reference_loss import ReferenceLoss, reference_loss, smallest_of_guesses
from training_tables import SCHEMA, people

SHORT = {"iterations": 4, "batch_share": 1.0, "seed": 3}


@pytest.mark.parametrize(("target", "classes"), [("outcome", 2), ("city", 3)])
def test_without_public_classes_it_is_that_of_even_odds(target, classes):
    model = DPSGDClassifier(**SHORT).fit(people(), SCHEMA, target=target)
    words = f"even odds for {classes} classes"
    assert reference_loss(model) == ReferenceLoss(
        math.log(classes), words, is_best=False, largest=4 * math.log(classes)
    )


@pytest.mark.parametrize("target", ["outcome", "city"])
def test_where_the_groups_have_the_target_it_is_that_of_the_shares_of_the_classes(target):
    model = FairClassifier(penalty="equality_of_odds", **SHORT).fit(people(), SCHEMA, target=target, protected="sex")
    found = reference_loss(model)
    shares = people()[target].value_counts(normalize=True).to_numpy()
    assert found is not None
    assert found.loss == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-12)
    assert found.is_best
    assert found.loss < math.log(len(shares))


def test_a_model_of_numbers_has_none():
    assert reference_loss(FairRegressor(**SHORT).fit(people(), SCHEMA, target="score", protected="sex")) is None


def test_where_losses_are_cut_a_rare_class_is_given_up():
    """Of 2% and a limit of 4 log 2: guesses by the shares have .098 uncut, and .075 as a run counts them; those that
    give up the rare class .055. A constant model was "surely better" than the first."""
    largest = 4 * math.log(2)
    assert smallest_of_guesses(np.array([0.02, 0.98]), largest) == pytest.approx(0.02 * largest)
    assert smallest_of_guesses(np.array([0.3, 0.7]), largest) == pytest.approx(
        -0.3 * math.log(0.3) - 0.7 * math.log(0.7)
    )


@pytest.mark.parametrize("seed", range(20))
def test_no_guess_that_is_the_same_for_all_has_a_smaller_loss(seed):
    """Against all sets of classes that are given up, and random guesses."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(5, 0.3)) * (1 - 5e-6) + 1e-6
    largest = float(rng.uniform(0.5, 7))
    guesses = [np.where(kept, shares, 0) for kept in product([False, True], repeat=5) if any(kept)]
    with np.errstate(divide="ignore"):
        losses = [shares @ np.minimum(-np.log(guess / guess.sum()), largest) for guess in guesses]
        others = [shares @ np.minimum(-np.log(guess), largest) for guess in rng.dirichlet(np.full(5, 0.3), 200)]
    assert smallest_of_guesses(shares, largest) == pytest.approx(min(losses), abs=1e-12)
    assert min(others) >= smallest_of_guesses(shares, largest) - 1e-12
