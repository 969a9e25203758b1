"""Points of a generator whose gradients are noise are said to be, before the charge and on the receipt."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.geometry.euclidean import point_schema
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.methods.wasserstein_generator import WassersteinGenerator
from counterfoil.schema import Schema
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.training.classification import DPSGDClassifier
from counterfoil.training.gradient_noise import noise_warnings, points_noise_warnings
from counterfoil.training.noise_warnings import NoisyGradientsWarning
from counterfoil.training.private_run import Schedule

BOX = point_schema([-1, -1], [1, 1])
GENERATOR = WassersteinGenerator(hidden=(4,), iterations=10)
BUDGET = Budget(1.0, 1e-6)


def made(rows: int, **options) -> PointSynthesis:
    points = np.random.default_rng(0).normal(0.5, 0.1, (rows, 2))
    with Curator(points, BOX, budget=BUDGET, relation="replace_one", seed=1, **options) as curator:
        return GENERATOR.synthesize(curator, rows=20)


def test_it_is_said_with_the_size_of_the_noise():
    with pytest.warns(NoisyGradientsWarning, match="may be little better than uniform ones") as said:
        synthesis = made(60)
    (warning,) = [one for one in said if issubclass(one.category, NoisyGradientsWarning)]
    assert synthesis.receipt.document["warnings"][0] == str(warning.message)
    # The noise of a step from the receipt, and the largest gradient: 4 M L, with M the corner of the box and L 2.
    (charge,) = synthesis.receipt.document["charges"]
    size = 2 * 4 + 4 + 4 * 2 + 2  # weights and offsets of both layers
    parts = Schedule(10, 0.1).batch_sizes((60,))
    noise = charge["event"]["noise_multiplier"] * 4 * np.sqrt(2) * 2 / parts[0] * np.sqrt(size / 10)
    share = noise / (4 * np.sqrt(2) * 2)
    assert f"gradients is {share:.0%} of the largest gradient" in str(warning.message)


def test_nothing_is_charged_where_it_is_an_error(tmp_path):
    with Ledger.create(tmp_path / "l", source=SourceIdentity("memory", "memory"), total=BUDGET) as ledger:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(NoisyGradientsWarning):
                made(60, ledger=ledger)
        assert ledger.spent().epsilon == 0


def test_a_model_whose_noise_drowns_its_gradients_is_not_charged_where_that_is_an_error(tmp_path):
    rows = {"x": np.linspace(-1, 1, 40), "rich": np.arange(40) % 2}
    schema = Schema((Real("x", -1.0, 1.0), Integer("rich", 0, 1)))
    model = DPSGDClassifier(epsilon=0.1, delta=1e-6, iterations=5)
    with Ledger.create(tmp_path / "l", source=SourceIdentity("memory", "memory"), total=BUDGET) as ledger:
        with warnings.catch_warnings():
            warnings.simplefilter("error", NoisyGradientsWarning)
            with pytest.raises(NoisyGradientsWarning, match="no better than a guess"):
                model.fit(pd.DataFrame(rows), schema, target="rich", ledger=ledger)
        assert ledger.spent().epsilon == 0
        with pytest.warns(NoisyGradientsWarning) as caught:
            model.fit(pd.DataFrame(rows), schema, target="rich", ledger=ledger)
    assert str(caught[0].message) in model.receipt.document["warnings"]


def test_many_records_are_left_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoisyGradientsWarning)
        assert not any("gradients" in words for words in made(20_000).receipt.document["warnings"])


def test_how_many_records_a_generator_wants_is_said_before_its_points_are_noise():
    """6,000 rows at epsilon 2 were a ratio of .03, of which nothing was said, and the points were far off."""
    query = SimpleNamespace(
        gradient_change=1.0,
        size=9,
        bound=1.0,
        jacobian_norm=0.25,
        loss=SimpleNamespace(clip_norm=1.0),
        group_sizes=(5000, 1000, 70),
        batch_sizes=(500, 100, 0),
    )
    multiplier = 0.03 * np.sqrt(4 / 9)
    (points,), (moved,) = (of(query, multiplier, 4) for of in (points_noise_warnings, noise_warnings))
    for sentence in (points, moved):
        assert "gradients is 3% of the largest gradient that the distance can have" in sentence
        assert "At this epsilon it wants some 36,000 records, and has 6,000." in sentence
    assert "drawn by themselves, may be as near" in points
    assert "samples that are as near get no nearer" in moved
    assert points_noise_warnings(query, multiplier / 6.1, 4) == noise_warnings(query, multiplier / 6.1, 4) == []
    of_a_loss = SimpleNamespace(gradient_change=1.0, size=9, loss=SimpleNamespace(clip_norm=1.0))
    assert noise_warnings(of_a_loss, multiplier, 4) == []


@pytest.mark.parametrize(
    ("has", "helps"),
    [
        ({}, "Fewer inputs, more records or a larger epsilon"),
        ({"alpha": 0.9}, "Fewer inputs, larger groups, a smaller `alpha` or `jacobian_norm`, or a larger epsilon"),
        (
            {"bound": 1.0, "group_sizes": (40,), "batch_sizes": (4,)},
            "More records, a smaller `bound` or `jacobian_norm`, or a larger epsilon",
        ),
    ],
)
def test_what_helps_is_an_option_of_the_kind(has, helps):
    """Gradients of losses alone have no penalty, and those of generators no groups that are compared."""
    query = SimpleNamespace(gradient_change=1.0, size=9, loss=SimpleNamespace(clip_norm=1.0), **has)
    (sentence,) = noise_warnings(query, 10.0, 4)
    assert f"says little. {helps} help;" in sentence
    assert ("it wants some" in sentence) == ("bound" in has)
