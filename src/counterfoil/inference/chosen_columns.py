"""What intervals and tests say of columns that a release counted together because of what its records looked like.

The noise of a count is drawn after the choice; the sampling of the records is not. Of K sets of columns that could be
chosen, the one whose records happen to be furthest from the population is chosen most easily. Whatever the choice is,
an interval fails only where that of one of the K sets would: by the union bound with at most K times its probability.
Of 10 independent columns of two values, 20,000 records and epsilon 10, nominal 95% intervals for shares of the pairs
that MST chose held in 83%, and those of level 1 - .05 / 45 in 99%.
"""

from __future__ import annotations

import math
from dataclasses import replace

from counterfoil.inference.group_means import GroupMeans
from counterfoil.inference.pooled_marginal import PooledMarginal
from counterfoil.receipt.answers import RecordedAnswers


def chosen_among(answers: RecordedAnswers, pooled: PooledMarginal) -> int:
    """Among how many sets of as many columns the release chose those that it counted; 1 where it had not looked before.

    It had where a charge that says where a model is wrong comes before one that counted the set: one that was counted
    before, and again because it looked dependent, is known better for how it looked. A larger marginal is chosen for
    any part of it, so that all sets of the schema's columns count. Single columns are counted by themselves, whatever
    they look like.
    """
    first = answers.first_look
    chosen = len(pooled.columns) > 1 and first is not None and max(pooled.charges) > first
    return math.comb(len(answers.schema.domain.attributes), len(pooled.columns)) if chosen else 1


def with_choice(found: GroupMeans, answers: RecordedAnswers, pooled: PooledMarginal) -> GroupMeans:
    """Means by a table, which say so where its columns were chosen by the records."""
    among = chosen_among(answers, pooled)
    if among == 1:
        return found
    sets = "pairs of columns" if len(pooled.columns) == 2 else f"sets of {len(pooled.columns)} columns"
    sentence = (
        f"The release chose by noisy scores which of {among:,} {sets} it counted, and the more easily where columns "
        "look more related in these records than they are in the population: sampling does not count that. Whatever "
        f"was chosen, an interval fails with at most {among:,} times the stated probability. The noise was drawn after "
        "the choice."
    )
    return replace(found, basis=(*found.basis, sentence))
