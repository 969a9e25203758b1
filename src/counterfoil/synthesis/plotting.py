"""Pictures of a release's columns for a notebook, with error bars where noisy counts of the column were released."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterfoil.pictures.column_bars import category_bars, histogram, share_text
from counterfoil.pictures.svg import render, require_report
from counterfoil.receipt.answers import RecordedAnswers, read_answers
from counterfoil.schema.column import Column
from counterfoil.synthesis.bars import Bars, bars_of
from counterfoil.synthesis.marginal_table import names_in
from counterfoil.synthesis.picture import Picture

if TYPE_CHECKING:
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.synthesis import Synthesis

MOST_COLUMNS = 24
"""Columns that are drawn where nobody says which."""


@dataclass(frozen=True, eq=False)
class CountedShares:
    """The real shares of a column's codes, by its own noisy counts.

    With k of m cells in a set, c their noisy sum, n the noisy sum of all and v the variance of a cell's noise, the
    error of the share t = c / n has, to first order, the variance v (k (1 - t)**2 + (m - k) t**2) / n**2.

    Args:
        counts: float64 [codes].
        variance: v.
    """

    counts: np.ndarray
    variance: float

    def intervals(self, sets: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """float64 [sets] twice: two standard errors to each side of the share of each set."""
        total, cells = float(self.counts.sum()), len(self.counts)
        shares = np.array([float(self.counts[codes].sum()) for codes in sets]) / total
        sizes = np.array([len(codes) for codes in sets])
        errors = np.sqrt(self.variance * (sizes * (1 - shares) ** 2 + (cells - sizes) * shares**2)) / total
        return np.clip(shares - 2 * errors, 0, 1), np.clip(shares + 2 * errors, 0, 1)


def plot(release: Synthesis | PointSynthesis, columns: str | Sequence[str] | None = None) -> Picture:
    """A drawing of each column.

    Args:
        release: rows of codes, or weighted points.
        columns: which; the first `MOST_COLUMNS` where None.

    Raises:
        ValueError: for an unknown column.
        ModuleNotFoundError: without the extra `report`.
    """
    require_report()
    every = release.schema.domain.attributes
    names = every[:MOST_COLUMNS] if columns is None else names_in(release.schema, columns)
    answers = read_answers(release.receipt.document) if "answers" in release.receipt.document else None
    drawn = [one for name in names for one in _drawn(release, release.schema[name], answers)]
    return Picture(tuple(drawn))


def _drawn(
    release: Synthesis | PointSynthesis, column: Column, answers: RecordedAnswers | None
) -> Iterator[tuple[str, str, str]]:
    counts = release.marginal([column.name]).counts
    shares = counts / max(float(counts.sum()), np.finfo(float).tiny)
    noisy = None if answers is None else counted_shares(answers, column.name)
    bars, apart = bars_of(column, shares, noisy)
    said = [] if noisy is None else ["Lines: the real share by the noisy counts, two standard errors to each side."]
    if column.missing_code is not None and bars.ends is not None:
        said.append(f"Missing: {share_text(float(shares[column.missing_code]))}.")
    yield column.name, _svg(bars, column.name), " ".join(said)
    if apart is not None:
        title = f"{column.name}, single values"
        yield title, _svg(apart, title), ""


def _svg(bars: Bars, title: str) -> str:
    if bars.ends is None:
        chart = category_bars(bars.labels, bars.shares, bars.lower, bars.upper)
    else:
        lefts, rights = bars.ends
        chart = histogram(lefts, rights, bars.shares, bars.lower, bars.upper, temporal=bars.temporal)
    return render(chart, title=f"Shares of {title[:80]}", description=f"{len(bars.labels)} bars.")


def counted_shares(answers: RecordedAnswers, name: str) -> CountedShares | None:
    """What the most exact of a column's own noisy counts say; None where it was not counted code by code.

    Args:
        answers: of a receipt.
        name: of the column.
    """
    known = [
        one
        for one in answers.marginals
        if one.clique == (name,) and one.counts.size == answers.schema[name].size and one.counts.sum() >= 1
    ]
    if not known:
        return None
    best = min(known, key=lambda one: one.deviation)
    return CountedShares(best.counts.astype(float), math.pow(best.deviation, 2))
