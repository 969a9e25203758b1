"""A noisy number of rows that the noise drowns: foreseen before anything is charged, and said on the receipt after.

Where the number of rows is private, as many are drawn as a noisy count says. How far that count will be off follows
from the plan alone: from epsilon, delta and what is asked, before anything is charged. What is decided after the count
depends on the noisy number alone, so that it is post-processing.
"""

from __future__ import annotations

import math
import warnings

from counterfoil.callers import outside_the_package

ROWS_OFF_SAID = 1_000.0
"""A number of rows that may be off by as many, with a confidence of 95%, is warned of before anything is charged."""

MOST_ROWS_OFF = 3_000.0
"""A number of rows that may be off by more, with that confidence, is refused, unless the user says how many to draw.

Tables that are copied with so little budget have thousands of rows more often than millions, and one of 3,000 might
then be counted as none. Measured on eight columns at a delta of 1e-6, a number is off by 1,300 rows at epsilon 0.01 by
`independent`, 1,500 by AIM, 1,600 by MST, 1,700 by reweighting, 2,600 by direct and 6,500 by evolution, and at 0.001 by
10,000 to 52,000. It grows as one over epsilon. A table of millions would bear more, but its size is not known before
the charge, and saying how many rows to draw costs nothing.
"""

CONFIDENT = math.log(20) / math.sqrt(2)
"""Within so many deviations of the truth lies a noisy count, with a confidence of 95%: 2.12.

Of Laplace noise of scale b, P(abs(X) > x) = exp(-x / b), and its standard deviation is b sqrt(2). Normal noise has 97%
there, and sums of Laplace noise have between the two (a test of hidden categories compares them), so that it holds of
whatever was counted. With 1.96 it was 93.75% of Laplace noise.
"""

_ROUGH = 0.05
"""A count that is off by a larger part of it is rough."""

DEVIATIONS = 2.0
"""A count below so many standard deviations can't be distinguished from that of an empty table."""


class RowCountWarning(UserWarning):
    """As many rows will be drawn as a noisy count says, which may be off by a thousand or more.

    Given before anything is charged. Pass `rows`, or ignore this category where tables are much larger than that.
    """


class UncountableRows(ValueError):
    """The number of rows would be noise, and nobody says how many to draw: nothing was charged."""


def require_countable(deviation: float, rows: int | None) -> None:
    """Refuses a plan whose number of rows would be noise, and warns of one where it is rough, before any charge.

    Args:
        deviation: the standard deviation of the number of rows, as the plan implies it; 0 where that is public.
        rows: how many rows the user asks for; None where as many are drawn as the table has, about.

    Raises:
        UncountableRows: which says how far off the number would be.
    """
    off = CONFIDENT * deviation
    if rows is not None or off < ROWS_OFF_SAID:
        return
    if off > MOST_ROWS_OFF:
        raise UncountableRows(
            "As many rows are drawn as a noisy count says, which must be off by at most "
            f"{MOST_ROWS_OFF:,.0f} (with a confidence of 95%). Found a budget with which it would be off by about "
            f"{off:,.0f}: say how many rows to draw with `--rows` (`rows` in Python), or give more epsilon."
        )
    warnings.warn(
        f"The number of records will be known to within {off:,.0f} (with a confidence of 95%), and as many rows are "
        "drawn as that count says: a table of hardly more records may come back with one row, or with twice as many. "
        "Say how many rows to draw with `--rows` (`rows` in Python), or give more epsilon.",
        RowCountWarning,
        stacklevel=outside_the_package(),
    )


def is_drowned(estimate: float, deviation: float) -> bool:
    """Whether a noisy number of rows can't be distinguished from none."""
    return deviation > 0 and estimate < DEVIATIONS * deviation


def records_counted(estimate: float, deviation: float) -> float | None:
    """The number of records, as far as it is known; None where the noise drowns it."""
    return None if is_drowned(estimate, deviation) else estimate


def rows_to_fit(estimate: float, deviation: float, rows: int | None) -> float:
    """The number of records that a model is fitted to, at least 1.

    Args:
        estimate: the noisy number; it may be negative.
        deviation: its standard deviation; 0 where it is public.
        rows: how many rows the user asks for. It takes the place of an estimate that the noise drowns where the plan
            would be refused without it; a closer estimate says more about the records than a wish does.
    """
    if rows is not None and CONFIDENT * deviation > MOST_ROWS_OFF and is_drowned(estimate, deviation):
        return float(rows)
    return max(estimate, 1.0)


def count_warnings(estimate: float, deviation: float, rows: int | None) -> list[str]:
    """Public sentences for the receipt on a number of rows that is noise, or rough; none for one that is neither.

    Args:
        estimate: the noisy number of records.
        deviation: its standard deviation; 0 where it is public.
        rows: how many rows the user asked for; None where the estimate says how many are drawn.
    """
    off = CONFIDENT * deviation
    if is_drowned(estimate, deviation):
        drawn = (
            "so many rows are drawn as were asked for" if rows is not None else "how many rows are drawn says nothing"
        )
        return [
            f"The number of records is noise: it was counted as {estimate:,.0f}, with a standard deviation of "
            f"{deviation:,.0f}, which can't be distinguished from none; {drawn}."
        ]
    if rows is None and off >= ROWS_OFF_SAID and off > _ROUGH * estimate:
        return [
            f"The number of records is known to within {off:,.0f} (with a confidence of 95%): it was counted as "
            f"{estimate:,.0f}, and so many rows are drawn."
        ]
    return []
