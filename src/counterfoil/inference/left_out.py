"""That a mean is of the records that have a number, said where others have none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from counterfoil.inference.finding import Finding
from counterfoil.inference.joined_missing import missing_apart
from counterfoil.inference.pooled_marginal import total_of
from counterfoil.inference.related_rows import before_population
from counterfoil.receipt.answers import RecordedAnswers

_FEW = 0.0005
"""A share of the records that is none in the digits of the sentence."""


def with_left_out(found: Iterable[Finding], answers: RecordedAnswers, column: str) -> list[Finding]:
    """The findings about a mean of the column, which say among what they rest on how many records have no number.

    Nothing is said where missing cells were counted with numbers alone, or none shows.
    """
    missing, records = missing_apart(answers, column), total_of(answers).value
    if missing is None or records <= 0 or missing.value / records < _FEW:
        return list(found)
    share = min(missing.value / records, 1.0)
    said = f"The mean is of the records with a value of {column}; about {share:.1%} have none, by the noisy counts."
    return [replace(one, basis=before_population(one.basis, [said])) for one in found]
