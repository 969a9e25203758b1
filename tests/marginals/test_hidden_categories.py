"""What is said of columns of few categories whose counts noise hides."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.hidden_categories import hidden_categories


@pytest.mark.parametrize("scale", [300.0, 1000.0])
def test_a_count_is_off_by_no_more_than_is_said_with_probability_95_percent(scale):
    """By the law of Laplace noise, whose tails are the heaviest: 1.96 standard deviations of it hold 93.75%."""
    (said,) = hidden_categories([NoisyMarginal(("sex",), np.array([400.0, 600.0]), scale)], 1000.0)
    most = float(re.search(r"off by up to ([\d,]+)", said).group(1).replace(",", ""))
    assert 1 - math.exp(-(most + 0.5) / (scale / math.sqrt(2))) >= 0.95
    assert 1 - math.exp(-(most - 0.5) / (scale / math.sqrt(2))) < 0.9505
