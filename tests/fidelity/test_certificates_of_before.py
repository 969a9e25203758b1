"""Certificates that versions before 0.13 wrote are verified by the bounds that these had."""

import pytest

from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.receipt.certificate import measured_gaps
from counterfoil.receipt.good_for_check import _certificate_problem
from counterfoil.receipt.noisy_measure import NoisyMeasure


@pytest.mark.parametrize("kind", [GaussianNoise.kind, LaplaceNoise.kind])
def test_gaps_of_either_version_follow_from_the_measures_and_no_others(kind):
    measures = [
        NoisyMeasure(name, "2 columns", -40, 30.0, kind, 1.0, 0.5, 300.0, 0.0)
        for name in ("label_marginal_error", "feature_marginal_error")
    ]
    (now,), (former,) = (list(measured_gaps(measures, "a", former=before)) for before in (False, True))
    assert former.label < now.label
    for gaps in (now, former):
        assert _certificate_problem(gaps.certificate(1.0), measures, 2) == ""
    other = type(now)(now.target, now.basis, now.label / 2 + former.label / 2, now.feature)
    assert "do not follow" in _certificate_problem(other.certificate(1.0), measures, 2)
