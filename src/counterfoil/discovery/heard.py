"""What the noisy places of the cells say of all columns together: kinds, notations, units, and how many records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from counterfoil.discovery.day_order import as_others_are
from counterfoil.discovery.numbers_with_words import are_doubtful, are_numbers
from counterfoil.discovery.padding import read_with_padding
from counterfoil.discovery.units import readings_of
from counterfoil.discovery.votes import Votes, codes_counted
from counterfoil.schema.discovered import Kind
from counterfoil.schema.raw_cell import NOT_APPLICABLE
from counterfoil.schema.stated import Stated

RANGED = ("integer", "real", "date", "datetime")
"""The kinds that have bounds."""
_TOGETHER = 3.0
"""Deviations of noise by which the cells with a word must exceed 0 in all columns of numbers and days together."""


@dataclass(frozen=True, eq=False)
class Heard:
    """The answers about what cells are, and what follows from them.

    Args:
        asked: the columns that leave something open, with what is known of each.
        stored: those whose kinds, where they are known, the storage states and not the user.
        answered: by column, the votes as they were answered.
        votes: the same, with the unit that stands beside a column's numbers.
        units: by column, that unit, of those that have one.
        kinds: by column.
        formats: by column, how its dates or moments are written; empty for all others.
        records: about how many there are, for rules (`Readings.everybody`).
        error: the deviation of the noise in it.
        everything: the noisy number of records that is stated, and the deviation of its noise.
        not_applicable: whether columns of numbers or days write `NOT_APPLICABLE` for what is missing.
    """

    asked: Mapping[str, Stated]
    stored: Set[str]
    answered: Mapping[str, Votes]
    votes: Mapping[str, Votes]
    units: Mapping[str, str]
    kinds: Mapping[str, Kind]
    formats: Mapping[str, str]
    records: float
    error: float
    everything: tuple[float, float]
    not_applicable: bool

    @staticmethod
    def of(
        asked: Mapping[str, Stated], stored: Set[str], answered: Mapping[str, Votes], looked: tuple[str, ...]
    ) -> Heard:
        """What follows from the places of the cells.

        Args:
            asked, stored, answered: as above.
            looked: the columns of which a unit was looked for.
        """
        plain = {
            name: read_with_padding(vote.with_clocks(), may_be_texts=asked[name].kind in (None, "text"))
            for name, vote in answered.items()
        }
        read = readings_of(plain, looked)
        votes = {
            name: vote.with_days(may_be_dates=_may_be_dates(asked[name], name in stored)).with_midnights()
            for name, vote in read.votes.items()
        }
        kinds = {name: _kind(votes[name], given, name in stored) for name, given in asked.items()}
        ranged = [name for name, kind in kinds.items() if kind in RANGED]
        # A column of it alone says nothing of the others: it is mostly a flag whose other word the noise hides.
        if not_applicable := _is_written(NOT_APPLICABLE, [votes[name] for name in ranged]):
            votes |= {name: votes[name].where_not_applicable() for name in ranged}
        formats = {name: _format(votes[name], kind) for name, kind in kinds.items()}
        formats = as_others_are(
            formats, {name for name in formats if votes[name].hides_order(kinds[name], formats[name])}
        )
        counted = read.everybody, read.error, read.everything
        return Heard(asked, stored, answered, votes, read.units, kinds, formats, *counted, not_applicable)

    def again(self, answered: Mapping[str, Votes], looked: tuple[str, ...]) -> Heard:
        """With the answers to the same question, asked once more."""
        both = {name: vote.beside(answered[name]) for name, vote in self.answered.items()}
        return Heard.of(self.asked, self.stored, both, looked)

    def with_numbers(self, released: Mapping[str, Sequence[tuple[str, int]]], shows: Mapping[str, float]) -> Heard:
        """The same, with columns of texts as columns of numbers where nearly all others are words among these.

        Args:
            released: by column, texts that showed, with about how many cells hold them.
            shows: by column, from how many cells on a text likely did.
        """
        kinds = dict(self.kinds)
        for name, texts in released.items():
            if kinds[name] == "text" and name in self.voted and are_numbers(self.votes[name], texts, shows[name]):
                kinds[name] = self.votes[name].number_kind()
        return replace(self, kinds=kinds)

    def without_doubtful_numbers(
        self, ends: Mapping[str, float | None], released: Mapping[str, Sequence[tuple[str, int]]]
    ) -> Heard:
        """The same, with those columns as texts again that `with_numbers` changed in vain.

        A column without bounds would be in no release; and where the bounds show that numbers lie beyond its limits,
        these would be lost. What showed of its texts can be listed.

        Args:
            ends: by column, the upper bound that was found, None where none was.
            released: as for `with_numbers`.
        """
        kinds = dict(self.kinds)
        for name in self.turned:
            if are_doubtful(self.votes[name], released[name], ends.get(name)):
                kinds[name] = "text"
        return replace(self, kinds=kinds)

    @property
    def turned(self) -> tuple[str, ...]:
        """The columns of numbers that their votes took for texts (`with_numbers`)."""
        found = [name for name in self.numbers if name in self.voted and self.kinds[name] in ("integer", "real")]
        return tuple(name for name in found if self.votes[name].kind() == "text")

    def present(self, name: str) -> float:
        """About how many cells of a column are not missing, at least 1."""
        return max(self.records - self.votes[name].missing, 1.0)

    def present_error(self, name: str) -> float:
        """The deviation of the noise in that number."""
        return math.hypot(self.error, self.votes[name].missing_deviation)

    def dated(self, name: str) -> tuple[float, float]:
        """About how many cells are days or moments, at least 1, with the deviation; "still in" is none."""
        count, deviation = self.votes[name].counted(codes_counted(self.kinds[name], self.formats[name]))
        return max(count, 1.0), deviation

    @property
    def voted(self) -> frozenset[str]:
        """The columns whose kinds were asked for."""
        return frozenset(name for name, stated in self.asked.items() if stated.kind is None)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns whose bounds are to be found."""
        return tuple(name for name, kind in self.kinds.items() if kind in RANGED and not self.asked[name].ranged)


def _kind(vote: Votes, given: Stated, stored: bool) -> Kind:
    """As stated; a storage's reals may all be whole, as where cells are missing, and its integers and moments dates."""
    if vote.days or (vote.midnights and given.kind == "datetime" and stored):
        return "date"
    if given.kind == "real" and stored:
        return vote.number_kind()
    return given.kind or vote.kind()


def _format(vote: Votes, kind: Kind) -> str:
    """How the days or moments of a column of this kind are written; empty for ISO 8601 and for other kinds."""
    return vote.date_format() if kind == "date" else vote.moment_format() if kind == "datetime" else ""


def _may_be_dates(given: Stated, stored: bool) -> bool:
    """Whether integers of a column may be days: where the user said nothing else, such as between which they lie."""
    of_storage = stored and given.kind in ("integer", "real")
    return given.kind in (None, "date") or (of_storage and not given.ranged)


def _is_written(word: str, votes: Sequence[Votes]) -> bool:
    """Whether a word surely shows in some of the columns, or likely in all of them together.

    A table writes what is missing alike in all of its columns.
    """
    counts, deviation = [vote.of(word) for vote in votes], max((vote.deviation for vote in votes), default=0.0)
    return (
        any(count > vote.least * deviation for count, vote in zip(counts, votes, strict=True))
        or sum(counts) > _TOGETHER * deviation * len(counts) ** 0.5
    )
