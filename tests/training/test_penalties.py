"""Which groups a penalty compares, and with what weights."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from counterfoil.features.training_features import TrainingFeatures
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
from counterfoil.training.penalties import FEWEST, group_columns, pairs_to_compare, require_penalty

SCHEMA = Schema(
    (
        Integer("x", 0, 9),
        Categorical("y", ("no", "yes")),
        Categorical("s", ("f", "m")),
        Categorical("r", ("a", "b", "c")),
    )
)


def features_of(*groups: str) -> TrainingFeatures:
    return TrainingFeatures(SCHEMA, ("y",), groups, ("s", "r"))


def test_parity_compares_each_two_groups():
    assert pairs_to_compare(features_of("s"), (5, 9), within=1) == ((0, 1, 1.0),)
    third = 1 / 3
    assert pairs_to_compare(features_of("r"), (5, 5, 5), within=1) == ((0, 1, third), (0, 2, third), (1, 2, third))
    assert len(pairs_to_compare(features_of("s", "r"), (5,) * 6, within=1)) == 15


def test_odds_compare_groups_within_each_class():
    """Groups are numbered class by class: those of "no" first."""
    features = features_of("y", "s")
    assert features.group_names[0] == "y = no, s = f"
    assert features.group_names[3] == "y = yes, s = m"
    assert pairs_to_compare(features, (5, 6, 7, 8), within=2) == ((0, 1, 0.5), (2, 3, 0.5))


def test_classes_weigh_the_same_whatever_the_number_of_their_groups():
    """One class without records of a group has one pair left, the other has three."""
    pairs = pairs_to_compare(features_of("y", "r"), (5, 0, 5, 6, 6, 6), within=2)
    assert {pair[:2] for pair in pairs} == {(0, 2), (3, 4), (3, 5), (4, 5)}
    weights = {pair[:2]: pair[2] for pair in pairs}
    assert weights[0, 2] == 0.5
    assert weights[3, 4] == pytest.approx(float(Fraction(1, 6)))
    assert math.fsum(weights.values()) == pytest.approx(1.0)


def test_a_class_with_one_group_is_left_out():
    assert pairs_to_compare(features_of("y", "s"), (5, 0, 7, 8), within=2) == ((2, 3, 1.0),)


def test_groups_that_say_nothing_are_refused():
    with pytest.raises(
        ValueError, match=rf"The group 's = m' has {FEWEST - 1} records in a batch, of at least {FEWEST}"
    ):
        pairs_to_compare(features_of("s"), (9, FEWEST - 1), within=1)
    with pytest.raises(ValueError, match="has 1 record in a batch"):
        pairs_to_compare(features_of("s"), (9, 1), within=1)
    pairs_to_compare(features_of("s"), (9, FEWEST), within=1)
    for sizes, within, groups in (((9, 0), 1, ("s",)), ((9, 0, 0, 9), 2, ("y", "s"))):
        with pytest.raises(ValueError, match="Found records of one group alone"):
            pairs_to_compare(features_of(*groups), sizes, within=within)


def test_columns_of_groups():
    assert group_columns("statistical_parity", ("s", "r"), "y") == ("s", "r")
    assert group_columns("equality_of_odds", ("s",), "y") == ("y", "s")
    with pytest.raises(ValueError, match="Found no such target"):
        group_columns("equality_of_odds", ("s",), None)
    with pytest.raises(ValueError, match=r"must be one of statistical_parity, equality_of_odds\. Found 'parity'"):
        require_penalty("parity")
