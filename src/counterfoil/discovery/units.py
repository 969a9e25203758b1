"""Whether the texts of a column are numbers with one unit beside them: a rule for the noisy places of its cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median_high

import numpy as np

from counterfoil.curator.queries.column_places import GRIDS
from counterfoil.discovery.votes import FEW_TEXTS, Votes
from counterfoil.noise.shown_counts import any_shows, sure_of_units
from counterfoil.schema.raw_cell import CODES, with_unit
from counterfoil.schema.unit import KNOWN
from counterfoil.schema.value_grid import CELLS

_SURELY = 3.0
"""Standard errors by which fewer cells are read with a unit than a column of numbers has, or counted than there are."""


@dataclass(frozen=True)
class Readings:
    """The places of the cells of all columns, where a unit is taken off with it, and how many records there are.

    Args:
        votes: by column.
        units: of the columns that have one.
        everybody: the noisy number of records, of the places that rules look at: too small where leading zeros hide.
        error: the deviation of its noise.
        everything: the noisy number of records that is stated, whatever hides, and the larger deviation of its noise.
    """

    votes: Mapping[str, Votes]
    units: Mapping[str, str]
    everybody: float
    error: float
    everything: tuple[float, float]


def readings_of(votes: Mapping[str, Votes], looked: Sequence[str]) -> Readings:
    """How columns are read, all of them together: each has as many cells as any other.

    Numbers with many units may hide in the noise of each. So no unit is taken with which few cells are surely read, and
    cells that are counted in no other place of a column are texts.

    Args:
        votes: by column, as they were answered.
        looked: the columns of which units are looked for.
    """
    columns = len(looked)
    read = {name: read_with_unit(vote, columns) for name, vote in votes.items()}
    # A column's cells are in many more counts where some have units, and in some of them hide.
    counted = [name for name, vote in votes.items() if not _masses(vote, columns)] or list(read)
    placed = {name: read[name][0] for name in counted}
    totals = {name: (float(vote.total), vote.total_deviation) for name, vote in placed.items()}
    everybody, error = _mean_of_whole(totals, looked)
    for name, (vote, unit) in read.items():
        if unit and _reads_few(vote, everybody, error):
            read[name] = _as_texts(votes[name], columns), ""
    units = {name: unit for name, (_, unit) in read.items() if unit}
    found = {
        name: vote if unit or name not in looked else _with_hidden(vote, everybody, error)
        for name, (vote, unit) in read.items()
    }
    everything = _mean_of_whole({name: vote.everything for name, vote in placed.items()}, looked)
    return Readings(found, units, everybody, error, everything)


def _mean_of_whole(totals: Mapping[str, tuple[float, float]], looked: Sequence[str]) -> tuple[float, float]:
    """The mean of noisy numbers of cells and the deviation of its noise, columns with cells that hide left out."""
    middle = median_high(count for count, _ in totals.values())
    whole = [
        (count, deviation)
        for name, (count, deviation) in totals.items()
        if name not in looked or count >= middle - _SURELY * deviation
    ]
    return fmean(count for count, _ in whole), math.hypot(*(deviation for _, deviation in whole)) / len(whole)


def _reads_few(vote: Votes, everybody: float, error: float) -> bool:
    """Whether a column that is read with a unit surely has more other cells than one of numbers."""
    present = max(everybody - vote.missing, 1.0)
    numbers, noise = vote.numbers_between(0, CELLS - 1)
    return present - numbers - _SURELY * math.hypot(noise, error, vote.missing_deviation) > FEW_TEXTS * present


def _with_hidden(vote: Votes, everybody: float, error: float) -> Votes:
    """The same places, where cells that are in none of them, as surely as anything shows, are texts."""
    hidden = everybody - vote.total
    return _with_texts(vote, hidden) if hidden > vote.least * math.hypot(error, vote.total_deviation) else vote


def read_with_unit(vote: Votes, columns: int) -> tuple[Votes, str]:
    """The places of a column's cells where its unit is taken off, with this unit; as they are, and "", without one.

    Numbers with the unit that most have are numbers then, and those without one are as well: a column reads both. All
    others with units are texts. A unit is one only where the column is one of numbers then: where few cells are texts.

    Args:
        vote: with the places of numbers with units.
        columns: of how many columns units are looked for.
    """
    plain = replace(vote, units=None)
    masses = _masses(vote, columns)
    if not masses:
        return plain, ""
    best = max(masses, key=lambda place: masses[place])
    own = _of_unit(vote, best)
    others = sum(mass for place, mass in masses.items() if place != best)
    read = _with_texts(own, others)
    if read.kind() in ("integer", "real"):
        return read, KNOWN[best]
    return _as_texts(vote, columns), ""


def _as_texts(vote: Votes, columns: int) -> Votes:
    """The places of a column's cells where numbers with units are texts, as far as they show."""
    plain = replace(vote, units=None)
    return _with_texts(plain, sum(_masses(vote, columns).values()))


def codes_with_unit(codes: tuple[int, ...], unit: str) -> tuple[int, ...]:
    """Classes of numbers, and the same ones with a unit."""
    return (*codes, *(with_unit(code, unit) for code in codes)) if unit else codes


def _masses(vote: Votes, columns: int) -> dict[int, float]:
    """By the place of its unit, about how many numbers with it there are, where any surely show."""
    if vote.units is None:
        return {}
    plain = replace(vote, units=None)
    least = sure_of_units(columns, len(KNOWN))
    lines = vote.units.reshape(len(KNOWN), len(GRIDS), CELLS)
    shows = any_shows(lines.reshape(-1, CELLS), vote.deviation, least).reshape(len(KNOWN), len(GRIDS)).any(axis=1)
    result = {}
    for place in np.flatnonzero(shows).tolist():
        masses = replace(plain, counts=_counts(plain, lines[place]), least=least).masses()
        if (mass := masses["integer"] + masses["real"]) > 0:
            result[place] = mass
    return result


def _of_unit(vote: Votes, place: int) -> Votes:
    """The places of numbers with one unit, and with those of plain numbers where some of these show as well."""
    assert vote.units is not None, "a unit shows"
    plain, line = replace(vote, units=None), vote.units.reshape(len(KNOWN), -1)[place]
    masses = plain.masses()
    if masses["integer"] + masses["real"] <= 0:
        return replace(plain, counts=_counts(plain, line))
    both = plain.counts[-len(line) :] + line
    return replace(plain, counts=_counts(plain, both), deviation=plain.deviation * 2**0.5)


def _counts(plain: Votes, line: np.ndarray) -> np.ndarray:
    """float64 [PLACES]: the same counts with other numbers."""
    return np.concatenate([plain.counts[: -line.size], line.ravel()])


def _with_texts(vote: Votes, texts: float) -> Votes:
    counts = vote.counts.astype(float)
    counts[CODES["text"]] += texts
    return replace(vote, counts=counts)
