"""The weight of the entropy follows the noise: potentials stay within the range of floats."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.entropy_weight import NATS_A_DEVIATION, entropy_weight_for
from counterfoil.graphical_model.estimation import estimate
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.propagation import Propagation


def of(clique: tuple[str, ...], scale: float) -> NoisyMarginal:
    return NoisyMarginal(clique, np.zeros([2] * len(clique)), scale)


@pytest.mark.parametrize(
    ("measured", "sigma"),
    [
        ([of(("a",), 3.0)], 3.0),
        ([of(("a",), 3.0), of(("a", "b"), 7.0), of(("b", "c"), 5.0)], 5.0),
        ([of((), 1e-3), of(("a",), 3.0)], 3.0),
    ],
)
def test_a_deviation_is_worth_so_many_nats_at_most(measured, sigma):
    total = 1e6
    weight = entropy_weight_for(total, measured)
    assert total / (weight * sigma) == pytest.approx(NATS_A_DEVIATION)
    assert entropy_weight_for(total, [of(one.clique, 1e9) for one in measured]) == 100.0


def test_nothing_measured_weighs_as_much_noise_does():
    assert entropy_weight_for(400.0, []) == 10.0
    assert entropy_weight_for(1.0, []) == 1.0


@pytest.mark.parametrize("total", [1e4, 1e7])
@pytest.mark.parametrize("scale", [200.0, 2.0, 0.02])
def test_fits_stay_out_of_logarithms_whatever_the_budget(monkeypatch, total, scale):
    """A chain of skewed columns: with a weight of 100 the potentials underflow where the noise is small."""
    domain = Domain(tuple("abcdef"), (9,) * 6)
    random = np.random.default_rng(1)
    share = np.exp(-0.9 * np.arange(9.0))
    pair = np.outer(share, share) + np.diag(share)
    pair *= total / pair.sum()
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("a", "f")]
    measured = [NoisyMarginal(clique, pair + random.normal(0, scale, pair.shape), scale) for clique in pairs]
    in_logarithms = []
    calibrate = Propagation._calibrate_log
    monkeypatch.setattr(Propagation, "_calibrate_log", lambda *args: in_logarithms.append(1) or calibrate(*args))
    fit = estimate(domain, measured, total=total, entropy_weight=entropy_weight_for(total, measured))
    assert fit.outcome.relative_gap <= fit.outcome.goal
    assert not in_logarithms
