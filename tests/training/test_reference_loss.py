"""What a classifier's loss is held against: known by the schema or by public groups, and never by a record."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs torch")

from counterfoil.training import DPSGDClassifier, FairClassifier, FairRegressor
from counterfoil.training.reference_loss import ReferenceLoss, reference_loss
from training_tables import SCHEMA, people

SHORT = {"iterations": 4, "batch_share": 1.0, "seed": 3}


@pytest.mark.parametrize(("target", "classes"), [("outcome", 2), ("city", 3)])
def test_without_public_classes_it_is_that_of_even_odds(target, classes):
    model = DPSGDClassifier(**SHORT).fit(people(), SCHEMA, target=target)
    assert reference_loss(model) == ReferenceLoss(math.log(classes), f"even odds for {classes} classes", is_best=False)


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
