"""A noisy number of rows that the noise drowns: foreseen before anything is charged, and said on the receipt after.

Where the number of rows is private, as many are drawn as a noisy count says. How far that count will be off follows
from the plan alone: from epsilon, delta and what is asked, before anything is charged. What is decided after the count
depends on the noisy number alone, so that it is post-processing.
"""

from __future__ import annotations

MOST_ROWS_OFF = 10_000.0
"""A number of rows with a larger standard deviation is refused, unless the user says how many rows to draw.

Tables that are copied with so little budget have thousands of rows more often than millions. Measured on eight columns
at delta 1e-9, the deviation passes this bound between epsilon 0.01, where it is 1,300 to 4,700 rows, and 0.001, where
it is 13,000 by `independent`, 18,000 by MST, 20,000 by AIM, 24,000 by reweighting and 41,000 by evolution; by counts
with Laplace noise of a hundredth of epsilon, as the signed measure has them, it is 14,000 at 0.01, and by the measure
tree 8,800 at 0.001. It grows as one over epsilon. A table of millions would bear more, but its size is not known before
the charge, and saying how many rows to draw costs nothing.
"""

DEVIATIONS = 2.0
"""A count below so many standard deviations can't be told from that of an empty table."""


def require_countable(deviation: float, rows: int | None) -> None:
    """Refuses a plan whose number of rows would be noise, before anything is charged.

    Args:
        deviation: the standard deviation of the number of rows, as the plan implies it; 0 where that is public.
        rows: how many rows the user asks for; None where as many are drawn as the table has, about.

    Raises:
        ValueError: which says how far off the number would be.
    """
    if rows is None and deviation > MOST_ROWS_OFF:
        raise ValueError(
            f"As many rows are drawn as a noisy count says, which must be off by at most {MOST_ROWS_OFF:,.0f} in "
            f"standard deviation. Found a budget with which it would be off by about {deviation:,.0f}: say how many "
            "rows to draw with `--rows` (`rows` in Python), or give more epsilon."
        )


def is_drowned(estimate: float, deviation: float) -> bool:
    """Whether a noisy number of rows can't be told from none."""
    return deviation > 0 and estimate < DEVIATIONS * deviation


def records_told(estimate: float, deviation: float) -> float | None:
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
    if rows is not None and deviation > MOST_ROWS_OFF and is_drowned(estimate, deviation):
        return float(rows)
    return max(estimate, 1.0)


def count_warnings(estimate: float, deviation: float, rows: int | None) -> list[str]:
    """Public sentences for the receipt on a number of rows that is noise; none for one that is not.

    Args:
        estimate: the noisy number of records.
        deviation: its standard deviation; 0 where it is public.
        rows: how many rows the user asked for; None where the estimate says how many are drawn.
    """
    if not is_drowned(estimate, deviation):
        return []
    drawn = "so many rows are drawn as were asked for" if rows is not None else "how many rows are drawn says nothing"
    return [
        f"The number of records is noise: it was counted as {estimate:,.0f}, with a standard deviation of "
        f"{deviation:,.0f}, which can't be told from none; {drawn}."
    ]
