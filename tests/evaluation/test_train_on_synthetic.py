"""Train-on-synthetic-test-on-real, on tables whose answer is known."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.evaluation.fairness import FairnessGaps
from counterfoil.evaluation.train_on_synthetic import MODELS, MOST_CLASSES, _made, train_on_synthetic

DOMAIN = Domain(("x", "noise", "y"), (4, 3, 2))


def table(rows: int, seed: int, *, flip: float = 0.0) -> dict[str, np.ndarray]:
    """y is whether x > 1, flipped with probability `flip`."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, rows)
    y = (x > 1) ^ (rng.random(rows) < flip)
    return {"x": x.astype(np.uint8), "noise": rng.integers(0, 3, rows).astype(np.uint8), "y": y.astype(np.uint8)}


def test_a_faithful_copy_scores_like_the_real_table() -> None:
    found = train_on_synthetic(table(2000, 0, flip=0.1), table(2000, 1, flip=0.1), DOMAIN, target="y", rng=rng())
    assert found.test_rows == 400
    assert tuple(found.models) == MODELS
    for scores in found.models.values():
        # The best rule is right with probability 0.9 on each of the 400 test rows, independently: further off than 0.1
        # with probability below 1e-6 (binomial, both sides), were the seeds not fixed. Models have learned that rule.
        assert abs(scores.real.accuracy - 0.9) < 0.1
        assert abs(scores.synthetic.accuracy - scores.real.accuracy) < 0.02
        # Which of two equally predictive values of x ranks first is chance, and moves the area by at most 0.05.
        assert abs(scores.synthetic.auc - scores.real.auc) < 0.1
        assert scores.real.fairness is None
    assert found.majority < 0.6
    assert math.isnan(found.real_parity)


def test_a_copy_with_the_labels_turned_round_scores_below_chance() -> None:
    synthetic = table(2000, 1)
    synthetic["y"] = 1 - synthetic["y"]
    for scores in train_on_synthetic(table(2000, 0), synthetic, DOMAIN, target="y", rng=rng()).models.values():
        assert (scores.synthetic.accuracy, scores.synthetic.auc) == (0, 0)
        assert (scores.real.accuracy, scores.real.auc) == (1, 1)


def test_only_trees_learn_what_is_not_additive() -> None:
    """y = 1 where exactly one of two columns is 1: linear models know nothing, trees everything."""

    def exclusive(rows: int, seed: int) -> dict[str, np.ndarray]:
        a, b = np.random.default_rng(seed).integers(0, 2, (2, rows))
        return {"a": a, "b": b, "y": a ^ b}

    domain = Domain(("a", "b", "y"), (2, 2, 2))
    models = train_on_synthetic(exclusive(4000, 0), exclusive(4000, 1), domain, target="y", rng=rng()).models
    assert abs(models["logistic regression"].synthetic.auc - 0.5) < 0.1
    assert models["gradient boosting"].synthetic.accuracy == models["decision tree"].synthetic.accuracy == 1


def test_a_copy_that_lost_a_class_predicts_the_other() -> None:
    synthetic = table(50, 1) | {"y": np.ones(50, dtype=np.uint8)}
    for scores in train_on_synthetic(table(200, 0), synthetic, DOMAIN, target="y", rng=rng()).models.values():
        assert scores.synthetic.auc == 0.5
        assert 0.2 < scores.synthetic.accuracy < 0.8


def test_several_classes_have_the_mean_area_of_one_against_the_rest() -> None:
    scores = train_on_synthetic(table(500, 0), table(500, 1), DOMAIN, target="x", rng=rng()).models[MODELS[0]]
    # y predicts x's upper half, so that the best area is 3/4 for each class: of the other classes' rows a third has the
    # same y, where the guess is a tie, and two thirds the other: 2/3 + 1/6 = 5/6.
    assert scores.real.auc == pytest.approx(5 / 6, abs=0.06)
    assert scores.real.accuracy == pytest.approx(0.5, abs=0.12)


def test_a_test_of_one_class_has_no_area() -> None:
    real = table(100, 0) | {"y": np.zeros(100, dtype=np.uint8)}
    found = train_on_synthetic(real, table(100, 1), DOMAIN, target="y", rng=rng())
    for scores in found.models.values():
        assert math.isnan(scores.synthetic.auc)
        assert scores.real.accuracy == found.majority == 1


def test_unequal_treatment_of_groups_is_reported() -> None:
    """Where only the group predicts the class, predictions give all to one and nothing to the other."""

    def divided(rows: int, seed: int, *, fair: bool) -> dict[str, np.ndarray]:
        group, merit = np.random.default_rng(seed).integers(0, 2, (2, rows))
        return {"group": group, "merit": merit, "y": merit if fair else group}

    domain = Domain(("group", "merit", "y"), (2, 2, 2))
    tables = divided(3000, 0, fair=True), divided(3000, 1, fair=False)
    found = train_on_synthetic(*tables, domain, target="y", protected="group", rng=rng())
    assert found.synthetic_parity == 1
    assert found.real_parity < 0.12  # two shares of about 1500 rows, equal but for chance
    for scores in found.models.values():
        assert scores.synthetic.fairness == FairnessGaps(1, 1)
        assert scores.real.fairness is not None
        assert scores.real.fairness.odds == 0
        assert scores.real.fairness.parity < 0.2


def test_bad_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="Unknown: 'z'"):
        train_on_synthetic(table(20, 0), table(20, 1), DOMAIN, target="z", rng=rng())
    with pytest.raises(ValueError, match="Unknown: 'z'"):
        train_on_synthetic(table(20, 0), table(20, 1), DOMAIN, target="y", protected="z", rng=rng())
    with pytest.raises(ValueError, match="`protected` must be another column"):
        train_on_synthetic(table(20, 0), table(20, 1), DOMAIN, target="y", protected="y", rng=rng())
    with pytest.raises(ValueError, match="At least 10 real rows"):
        train_on_synthetic(table(9, 0), table(20, 1), DOMAIN, target="y", rng=rng())
    wide = Domain(("a", "b"), (101, 2))
    codes = {"a": np.arange(20), "b": np.zeros(20, dtype=int)}
    with pytest.raises(ValueError, match="at most 100 values"):
        train_on_synthetic(codes, codes, wide, target="a", rng=rng())


def test_without_scikit_learn_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.preprocessing", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'counterfoil\[evaluation\]'"):
        train_on_synthetic(table(20, 0), table(20, 1), DOMAIN, target="y", rng=rng())


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize(("classes", "rounds"), [(2, 100), (20, 100), (21, 95), (MOST_CLASSES, 20)])
def test_many_classes_are_boosted_in_fewer_rounds(classes, rounds):
    assert _made("gradient boosting", 0, classes).max_iter == rounds
