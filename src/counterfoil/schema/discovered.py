"""What was bought about the columns of a table whose schema nobody has written: released numbers and names alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["integer", "real", "date", "datetime", "boolean", "text"]
"""What the cells of a column are, as a vote or the storage's types say; "text" is for categories and identifiers."""


AT_MOST = 1.96
"""Standard errors on either side, of a 95% interval."""


def count_range(count: float, error: float) -> str:
    """Both ends of the 95% interval of a noisy count, which is at least 0."""
    low, high = (max(count + side * AT_MOST * error, 0.0) for side in (-1, 1))
    return f"{low:,.0f} to {high:,.0f}"


def share_range(share: float, error: float, times: float = 1.0, raised: float = 0.0) -> str:
    """Both ends of the 95% interval of a noisy share, within 0% and 100%.

    Args:
        share: as it was answered.
        error: its standard error.
        times: how many times as large it may be.
        raised: by how much the noise has raised it, about.
    """
    return shares_between(share - raised - AT_MOST * error, share * times + AT_MOST * error)


def shares_between(low: float, high: float) -> str:
    """Both ends of an interval of shares, within 0% and 100%, each rounded outwards to the digits of `percent`.

    What is shown holds all of the interval, so that its probability is at least as large. Rounded to the nearest whole
    percent, 45.3% to 46.4% would be "45% to 46%", and a share of 46.2% outside.
    """
    lower, upper = (min(max(end, 0.0), 1.0) for end in (low, high))
    return f"{percent(_rounded(lower, math.floor))} to {percent(_rounded(upper, math.ceil))}"


def _rounded(share: float, to: Callable[[float], int]) -> float:
    """A share with the digits that `percent` shows; one that has no more of them stays."""
    if share <= 0:
        return 0.0
    step = 0.01 if share >= 0.1 else 10.0 ** max(math.floor(math.log10(share)) - 1, _LEAST_EXPONENT)
    nearest = round(share / step)
    return step * (nearest if math.isclose(share, step * nearest, rel_tol=1e-9) else to(share / step))


_LEAST_EXPONENT = -300
"""Of ten: smaller powers are 0 in floating point, and nothing can be divided by them."""


def percent(share: float) -> str:
    """With two digits, or as many as a whole number of percent has."""
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


@dataclass(frozen=True)
class DiscoveredColumn:
    """A column, as noisy answers show it.

    Args:
        name: as the header has it, which is public.
        kind: what most cells are.
        votes: by kind, the noisy number of cells; empty where the storage's types or the user said the kind.
        lower, upper: bounds of a number, or of a date or time in days or microseconds since 1970, edges of the public
            grid; None for texts.
        tails: noisy shares of the cells that surely lie below `lower` and above `upper`; 0 where that is noise.
        categories: values whose noisy counts reached the threshold, most frequent first, with about how many cells hold
            them; also of reals of few digits, which may be few.
        records: the noisy number of cells that are not missing; what `categories` leave out of it is in no category.
        missing: the noisy number of missing cells, or None where it was not asked.
        edges: inner edges of bins between the bounds, ascending; empty where bounds are enough.
        deviation: the standard deviation of the noise of a count of this column's categories or intervals.
        date_format: how its dates are written, as `strftime`; "" for ISO.
        order_hides: whether nothing shows which of day and month comes first in `date_format`.
        missing_words: of `raw_cell.MISSING_WORDS`, as the cells of a text write them, those whose noisy counts reached
            the threshold; they are not among `categories`. Of numbers and days the word that stands beside them. An
            empty text comes first where more cells are empty.
        decimal_char: the decimal sign of its texts, where its user states one.
        decimals: of reals, how many digits after the point nearly all of them have, 0 to 2; None for more.
        codes: of integers, those that hold nearly all cells with few between, and their noisy counts, ascending; empty
            where the numbers are not codes.
        missing_deviation, records_deviation: of the noise of `missing` and of `records`, which are of another question;
            None for `deviation`.
        read: the noisy share of the cells that are not missing which read as the kind and format say, with its standard
            error; None where the kind was not asked.
        others: how other cells read that surely show, in words or as `strftime` writes dates, with their noisy number.
        elsewhere: where one number alone shows, the noisy number of cells that hold another one, with
            its standard error; None where there are several.
        least: how many deviations of noise `missing` must exceed, so that it surely is none.
        beyond: of dates and times, how many may lie below `lower` and above `upper` together, the upper end of a 95%
            interval; None for others.
        points: of numbers that are no codes, single ones that surely more cells hold than those beside them, ascending,
            with their noisy counts.
        points_deviation: of the noise of each of these counts.
        lumps: of integers that are no list of codes, at how many places far apart nearly all lie; 0 where they do not.
        outside: of numbers, how many may lie below `lower` and how many above `upper`, the upper ends of 95% intervals;
            None where that was not counted.
        shared_words: words for missing of the table's columns, with which its own missing cells may be written too; an
            empty text first where they are not written as any of them.
        negatives: where no negative number is between the bounds, how many cells may hold one no larger than the
            others, the upper end of a 95% interval; None where that was not asked.
        grouped: of a file whose decimal sign did not show, whether most fractions are written as 1.234 is, so that
            their points may part thousands.
        unit: of numbers, which sign most of their texts have beside them; nothing else than numbers has one.
        separators: whether numbers with the unit were read with separators of thousands, though nobody stated a sign.
        together: how many times as many cells may hold the `categories` of a column of texts, at most: which cells are
            empty in the same records no answer tells.
        raised: how many cells fewer may hold the `categories` of a column of texts, about: a text is found where its
            noisy count reaches a threshold, which noise helps it to.
        digits: of integers, how many digits those have that are written with leading zeros; 0 where none show, or where
            they vary.
        zeros_vary: whether integers with leading zeros show that no number of digits describes.
        unpadded: of integers with `digits`, whether some surely have fewer and no leading zeros, as 7 beside 007.
        zeros_hidden: about how many numbers with leading zeros the noise may hide.
        last_shown: of a column of numbers, where those that show end; the upper bound may leave room for others.
        words: of a column of numbers, texts that are none and that showed, with about how many cells hold them.
        clock: of a column of texts, how times of day are written where nearly all cells are some.
        clock_read: the noisy share of the cells that are not missing which are such times, with its standard error.
    """

    name: str
    kind: Kind
    votes: Mapping[str, int]
    lower: float | None
    upper: float | None
    tails: tuple[float, float]
    categories: tuple[tuple[str, int], ...]
    records: int
    missing: int | None
    edges: tuple[float, ...]
    deviation: float
    date_format: str = ""
    missing_words: tuple[str, ...] = ()
    decimals: int | None = None
    decimal_char: str = ""
    missing_deviation: float | None = None
    records_deviation: float | None = None
    codes: tuple[tuple[int, int], ...] = ()
    read: tuple[float, float] | None = None
    others: tuple[tuple[str, int], ...] = ()
    elsewhere: tuple[float, float] | None = None
    least: float = 5.0
    beyond: float | None = None
    points: tuple[tuple[float, int], ...] = ()
    points_deviation: float = 0.0
    lumps: int = 0
    negatives: float | None = None
    outside: tuple[float, float] | None = None
    shared_words: tuple[str, ...] = ()
    grouped: bool = False
    unit: str = ""
    separators: bool = False
    together: float = 1.0
    raised: float = 0.0
    digits: int = 0
    zeros_vary: bool = False
    unpadded: bool = False
    zeros_hidden: float = 0.0
    last_shown: float | None = None
    words: tuple[tuple[str, int], ...] = ()
    order_hides: bool = False
    clock: str = ""
    clock_read: tuple[float, float] = (0.0, 0.0)

    @property
    def unknown(self) -> bool:
        """Whether its kind was asked for and none shows: what stands there is a guess from noise."""
        return bool(self.votes) and not self.categories and max(self.votes.values()) <= 0

    @property
    def shows_missing(self) -> bool:
        """Whether there surely are missing cells."""
        return self.missing is not None and self.missing > self.least * self.missing_error

    @property
    def missing_error(self) -> float:
        """The standard deviation of the noise of `missing`."""
        return self.deviation if self.missing_deviation is None else self.missing_deviation

    @property
    def records_error(self) -> float:
        """The standard deviation of the noise of `records`."""
        return self.deviation if self.records_deviation is None else self.records_deviation


@dataclass(frozen=True)
class Need:
    """How many records the noise of a discovery hides, against how many there are; released numbers alone.

    Args:
        rows: the noisy number of records.
        error: the standard deviation of its noise.
        hidden: what fewer records than this share does not show.
        epsilon: about what would show whatever a fifth of the records share; None where this purchase does, or no
            budget would.
    """

    rows: float
    error: float
    hidden: float
    epsilon: float | None = None

    @property
    def drowned(self) -> bool:
        """Whether not even what all records share can be told from the noise."""
        return self.rows < self.hidden

    def sentence(self) -> str:
        """What this means, for who bought it."""
        within = f" ({count_range(self.rows, self.error)})" if self.error else ""
        seen = f"about {max(self.rows, 0):,.0f} rows{within}"
        known = f"The noise hides what fewer than {math.ceil(self.hidden):,} of {seen} share."
        if self.epsilon is None:
            return known
        if self.rows < self.error:  # `epsilon` is for as many rows as there may well be
            return (
                f"{known} If there are {self.error:,.0f}, about epsilon {self.epsilon:g} would show what a fifth share."
            )
        return f"{known} About epsilon {self.epsilon:g} would show what a fifth of them share."


@dataclass(frozen=True)
class FoundSign:
    """Of how many records the numbers have decimal commas, or points, as noisy counts say.

    Args:
        commas, points: how many have more of the one.
        open_ones: how many others have numbers such as 1.234, of which each sign makes another one.
        deviation: of the noise of each.
    """

    commas: float
    points: float
    open_ones: float
    deviation: float

    @property
    def sign(self) -> str:
        """The one that surely more records have; none where the noise hides which."""
        if abs(self.commas - self.points) <= self._hidden:
            return ""
        return "," if self.commas > self.points else "."

    @property
    def _hidden(self) -> float:
        return _SURELY * math.sqrt(2) * self.deviation

    def leaves_open(self, fractions: float) -> bool:
        """Whether hardly any of so many fractions of a column speak for a sign: 1.234 alone does not."""
        return not self.sign and fractions > _MANY * self._speaking and 2 * self.open_ones > fractions

    def leaves_whole_open(self, fractions: float) -> bool:
        """Whether numbers such as 1.000, which speak for no sign, are many more than the fractions of any column."""
        return not self.sign and self.open_ones > _MANY * (self._speaking + fractions)

    @property
    def _speaking(self) -> float:
        return max(self.commas, 0.0) + max(self.points, 0.0) + self._hidden

    def said(self) -> str:
        """Why that is the sign, for a comment."""
        count, mark = (self.commas, "comma") if self.sign == "," else (self.points, "point")
        return f"bought: {count_range(count, self.deviation)} records have more numbers with a decimal {mark}"


_SURELY = 4.0
"""Deviations of noise, which one purchase in 16,000 exceeds where no record has a number with either sign."""

_MANY = 3
"""Times as many fractions as records that speak for a sign: most of them do not."""


@dataclass(frozen=True)
class Length:
    """Two columns of which the second surely comes after the first, mostly soon.

    Args:
        first, last: their names.
        kind: that of both.
        upper: a whole number of days, or of seconds, rounded outwards.
        records: in how many records both have a day, noisy.
        below, above: in how many the last may come before the first, and beyond `upper`: the upper ends of 95%
            intervals.
        deviation: of the noise of each count.
        alone: how many records may have the second without the first: the upper end of a 95% interval.
    """

    first: str
    last: str
    kind: Kind
    upper: int
    records: float
    below: float
    above: float
    deviation: float
    alone: float = 0.0


@dataclass(frozen=True)
class Discovered:
    """All columns that were asked about, and what was paid.

    Args:
        columns: in the table's order.
        epsilon, delta: what was charged for all of it.
        relation: of neighbors.
        shares: by question, its public share of the budget.
        need: how many records the noise hides, and what would show them.
        signs: which decimal sign the file has, where that was asked.
        lengths: what lies between two columns of days, where that says more than the later one.
    """

    columns: tuple[DiscoveredColumn, ...]
    epsilon: float
    delta: float
    relation: str
    shares: Mapping[str, float]
    need: Need | None = None
    signs: FoundSign | None = None
    lengths: tuple[Length, ...] = ()
