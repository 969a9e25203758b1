"""Whether the texts of a column are numbers with one unit beside them: a rule for the noisy places of its cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterfoil.curator.queries.column_places import GRIDS
from counterfoil.discovery.votes import Votes
from counterfoil.noise.shown_counts import any_shows, sure_of_units
from counterfoil.schema.raw_cell import CODES, with_unit
from counterfoil.schema.unit import KNOWN
from counterfoil.schema.value_grid import CELLS


def read_with_unit(vote: Votes, columns: int) -> tuple[Votes, str]:
    """The places of a column's cells where its unit is taken off, with this unit; as they are, and "", without one.

    Numbers with the unit that most have are numbers then, and those without one are as well: a column reads both. All
    others with units are texts. A unit is one only where the column is one of numbers then: where few cells are texts.

    Args:
        vote: with the places of numbers with units.
        columns: of how many columns units are looked for.
    """
    plain = replace(vote, units=None)
    masses = _masses(vote, plain, columns)
    if not masses:
        return plain, ""
    best = max(masses, key=lambda place: masses[place])
    own = _of_unit(vote, plain, best)
    others = sum(mass for place, mass in masses.items() if place != best)
    read = _with_texts(own, others)
    if read.kind() in ("integer", "real"):
        return read, KNOWN[best]
    return _with_texts(plain, sum(masses.values())), ""


def codes_with_unit(codes: tuple[int, ...], unit: str) -> tuple[int, ...]:
    """Classes of numbers, and the same ones with a unit."""
    return (*codes, *(with_unit(code, unit) for code in codes)) if unit else codes


def _masses(vote: Votes, plain: Votes, columns: int) -> dict[int, float]:
    """By the place of its unit, about how many numbers with it there are, where any surely show."""
    if vote.units is None:
        return {}
    least = sure_of_units(columns, len(KNOWN))
    lines = vote.units.reshape(len(KNOWN), len(GRIDS), CELLS)
    shows = any_shows(lines.reshape(-1, CELLS), vote.deviation, least).reshape(len(KNOWN), len(GRIDS)).any(axis=1)
    result = {}
    for place in np.flatnonzero(shows).tolist():
        masses = replace(plain, counts=_counts(plain, lines[place]), least=least).masses()
        if (mass := masses["integer"] + masses["real"]) > 0:
            result[place] = mass
    return result


def _of_unit(vote: Votes, plain: Votes, place: int) -> Votes:
    """The places of numbers with one unit, and with those of plain numbers where some of these show as well."""
    assert vote.units is not None, "a unit shows"
    line = vote.units.reshape(len(KNOWN), -1)[place]
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
