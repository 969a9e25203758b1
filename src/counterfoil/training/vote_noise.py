"""Sentences on how far noise drowns the votes of teachers.

Public: what is said before the vote follows from the plan, and what is said after it from the noisy votes alone.

Each teacher that has records casts one vote on each of m public rows, so that the noisy votes of all C classes of a row
add up to the number of such teachers, with noise of variance C s**2 for noise of deviation s in each vote. The mean
over the rows has the variance C s**2 / m.

Let d be the deviations of the C votes of a row from their mean. Where one class leads all others by l, their squares
add up to at least l**2 (C - 1) / C, with equality where the others are equal. Noise adds (C - 1) s**2 to the sum on
average. So the first class leads by at most the root of C / (C - 1) times the mean over the rows of that sum, less
C s**2, in the root mean square. The sum of a row has the variance 2 (C - 1) s**4 + 4 s**2 |d|**2.
"""

from __future__ import annotations

import math

import numpy as np

FEWEST_RECORDS = 10
"""Records of a teacher below which it is said that there should be more: with 293 teachers of 17 records each a student
was right about 76% of incomes, with 7 about 59%, where the commonest answer is right about 57%."""
_SURE = 2.0
"""Standard errors that an estimate is given."""
_SOME = 0.05
"""A smaller share of teachers without records is not worth a sentence."""


def said_before(teachers: int, deviation: float, records: int | None) -> list[str]:
    """What is known before any vote.

    Args:
        teachers: how many there are.
        deviation: of the noise in each vote.
        records: the number of records where it is public, else None.
    """
    said, noise = [], math.sqrt(2) * deviation
    if teachers < noise:
        said.append(
            f"The difference of two classes' votes has noise of standard deviation {noise:.0f}, more than the "
            f"{teachers} teachers: many labels of the student are wrong. Ask about fewer rows, or raise `teachers` or "
            "epsilon."
        )
    if records is not None and records < FEWEST_RECORDS * teachers:
        said.append(
            f"Each of the {teachers} teachers has about {records / teachers:.1f} of the {records:,} records, and needs "
            "some dozens to learn from. Ask about fewer rows or raise epsilon, which need fewer teachers, or lower "
            "`teachers`."
        )
    return said


def said_after(votes: np.ndarray, teachers: int, deviation: float) -> list[str]:
    """What the noisy votes show.

    Args:
        votes: [m, classes], with their noise.
        teachers: how many there were.
        deviation: of the noise in each vote.
    """
    said, noise, lead = [], math.sqrt(2) * deviation, most_lead(votes, deviation)
    voters, error = voters_of(votes, deviation)
    if voters < (1 - _SOME) * teachers and voters < teachers - _SURE * error:
        said.append(
            f"About {max(voters, 0.0):,.0f} of the {teachers} teachers had records at all (standard deviation "
            f"{error:.0f}): the others did not vote, and those who did have learned from a few records each."
        )
    if lead < noise <= teachers:  # of fewer teachers it is said before
        said.append(
            f"Without noise one class leads the others by at most {lead:,.0f} votes (root mean square over the "
            f"public rows), less than the standard deviation {noise:,.0f} of the noise in a difference of two: many "
            "labels of the student are wrong. More records, more epsilon or fewer `queries` help."
        )
    return said


def voters_of(votes: np.ndarray, deviation: float) -> tuple[float, float]:
    """About how many teachers had records, and the standard deviation of that.

    Args:
        votes: [m, classes], with their noise.
        deviation: of the noise in each vote.
    """
    rows, classes = votes.shape
    return float(votes.sum(axis=1).mean()), deviation * math.sqrt(classes / rows)


def most_lead(votes: np.ndarray, deviation: float) -> float:
    """By how many votes a class leads the others at most, in the root mean square over the rows, their noise taken off.

    The estimate of its square, and two standard errors of it.

    Args:
        votes: [m, classes], with their noise.
        deviation: of the noise in each vote.
    """
    rows, classes = votes.shape
    noise = (classes - 1) * deviation**2
    without = float(((votes - votes.mean(axis=1, keepdims=True)) ** 2).sum(axis=1).mean()) - noise
    error = math.sqrt((2 * noise + 4 * max(without, 0.0)) * deviation**2 / rows)
    return math.sqrt(max(without + _SURE * error, 0.0) * classes / (classes - 1))
