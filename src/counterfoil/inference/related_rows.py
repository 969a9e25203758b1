"""Several rows of one privacy unit: what sampling is where they are alike.

Let x_j be a number of each record with E of x_j - theta 0 and variance s, and let units be independent draws with m_u
rows each, of which at most K are used. By the inequality of Cauchy and Schwarz the sum S_u of x_j - theta over a unit's
rows has S_u**2 <= m_u times the sum of (x_j - theta)**2, whatever relates these rows. So the sum over all n records has
a variance of at most K n s, and with vectors in place of numbers a covariance matrix of at most K n times that of one
record: K times what independent rows give. It is reached where the K rows of each unit are the same.

A covariance, a correlation and a coefficient of least squares are, to first order, such sums too (the delta method): of
(u - E u)(v - E v) less the covariance, of what a row adds to a correlation, and of the error times a combination of the
predictors, whose sum has the expectation 0 at the population's coefficients (the sandwich). Each has K times the
variance that its sentences derive for independent rows, under the same assumptions on single rows: nothing is assumed
of how the rows of a unit are related. What the delta method leaves out is of the order of K / n. With N units, each
squared residual is smaller in the mean by what p coefficients take up, at most K p / n of it, so that their sum is
divided by n - K p.

Of matrices S_u, sums of m_u centered matrices X_j, S_u**2 is at most m_u times the sum of X_j**2 in the order of
Loewner, as the difference is the sum of (X_i - X_j)**2 over pairs; their norm is at most K times that of one. So matrix
Bernstein inequalities hold with K times the variance and K times the largest norm (`bernstein_of_units`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.inference.finding import Finding

POPULATION = (
    "Assumed: the records are independent draws from the population; the noise alone speaks of the table itself."
)


def most_related(unit: PrivacyUnit | None) -> int:
    """How many records may be one and the same draw: K above."""
    return 1 if unit is None else unit.max_rows


def population_sentence(unit: PrivacyUnit | None) -> str:
    """What is assumed of the records, where sampling is counted with K."""
    if unit is None:
        return POPULATION
    if unit.max_rows == 1:
        return (
            f"Assumed: the records that were used, at most 1 of each {unit.column!r}, are independent draws from the "
            "population; the noise alone speaks of these records, and not of all where somebody has more."
        )
    return (
        f"Assumed: the values of {unit.column!r} are independent draws from the population, with all their records. Up "
        f"to {unit.max_rows:,} of each were used, and sampling allows for their being all alike, which makes it "
        f"{math.sqrt(unit.max_rows):.2g} times as wide as for independent records; the noise alone speaks of "
        "the records that were used."
    )


def alike_sentences(unit: PrivacyUnit | None) -> tuple[str, ...]:
    """What a test says that counts sampling with K; nothing where records are independent draws."""
    if unit is None or unit.max_rows == 1:
        return ()
    return (
        f"Up to {unit.max_rows:,} records of one {unit.column!r} were used, which may be all alike: chance is counted "
        "as if they were.",
    )


def with_related(found: Iterable[Finding], unit: PrivacyUnit | None) -> list[Finding]:
    """The findings, those with sampling, which is counted with K, saying so."""
    if unit is None or unit.max_rows == 1:
        return list(found)
    sentence = (
        f"sampling allows for up to {unit.max_rows:,} records of one {unit.column!r} being all alike, which makes it "
        "wider than for independent records"
    )
    return [replace(one, basis=(*one.basis, sentence)) if one.sampling else one for one in found]


def before_population(basis: tuple[str, ...], said: Sequence[str]) -> tuple[str, ...]:
    """What an answer rests on with more sentences, of which that about the population stays the last one."""
    if basis and basis[-1].startswith("Assumed: "):
        return (*basis[:-1], *said, basis[-1])
    return (*basis, *said)


def with_unrelated(found: Iterable[Finding], unit: PrivacyUnit | None) -> list[Finding]:
    """The findings, those with sampling as of independent records saying how far that is too narrow."""
    if unit is None or unit.max_rows == 1:
        return list(found)
    sentence = (
        f"sampling takes records to be independent, and those of one {unit.column!r} may not be: where all of up to "
        f"{unit.max_rows:,} are alike, its part of the interval is {math.sqrt(unit.max_rows):.2g} times as wide"
    )
    return [replace(one, basis=(*one.basis, sentence)) if one.sampling else one for one in found]
