"""What all rules of composition have in common."""

from __future__ import annotations

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS


def test_nothing_asked_costs_nothing():
    for rule in COMPOSITIONS.values():
        assert rule.epsilon([], 1e-9) == 0.0
        assert rule.affords(Budget(0.1, 1e-9), [])
