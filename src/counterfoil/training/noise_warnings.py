"""Warnings of runs whose noise drowns what records say, as a rule decides it before anything is charged."""

from __future__ import annotations


class NoisyGradientsWarning(UserWarning):
    """The noise of a run will drown its gradients, which is said before it is charged."""


class NoisyVotesWarning(UserWarning):
    """The noise of a run will drown its teachers' votes, which is said before it is charged."""
