"""Where numbers and days lie, and how far days are apart: what is asked in each round, and what follows from it."""

from __future__ import annotations

from counterfoil.curator.queries.apart import Apart
from counterfoil.curator.queries.column_ranges import ColumnRanges, Intervals
from counterfoil.discovery.heard import Heard
from counterfoil.discovery.lengths import CountedApart, independent, length_of, pairs_of
from counterfoil.discovery.ranges import Bounds, Counted, again, bounds_from, coarse_bounds, intervals_of
from counterfoil.noise.answer import Answer
from counterfoil.noise.shown_counts import sure_of, sure_of_points
from counterfoil.schema.discovered import Length


class NumberRounds:
    """The answers about numbers and days; they are put together where a question is asked again."""

    def __init__(self) -> None:
        self._counted: dict[str, Counted] = {}
        self._apart: dict[tuple[str, str], CountedApart] = {}
        self._bounds: tuple[Heard, dict[str, tuple[Bounds, float]]] | None = None

    @property
    def any(self) -> bool:
        """Whether something was answered."""
        return bool(self._counted)

    def columns(self, heard: Heard) -> tuple[str, ...]:
        """Those of which the next question is."""
        return tuple(self._counted) or heard.numbers

    def pairs(self, heard: Heard) -> tuple[Apart, ...]:
        """The columns of days of which it is counted how far they are apart: the same in each question.

        Those of which the user said something stay as they are.
        """
        if self._counted:
            return tuple(one.apart for one in self._apart.values())
        open_ = {name: heard.kinds[name] for name in heard.numbers if name in heard.stored}
        return pairs_of(open_, heard.formats)

    def intervals(self, heard: Heard, deviation: float) -> tuple[Intervals, ...]:
        """Where numbers are counted next; nothing where none shows.

        Args:
            heard: what is known of the cells.
            deviation: of the noise that a count will have, when all is asked.
        """
        if not self._counted:
            found = (self._first(heard, name, deviation) for name in heard.numbers)
            return tuple(one for one in found if one is not None)
        bounds, least = self.bounds(heard), self._least
        return tuple(
            again(counted, heard.kinds[name], bounds[name][0], heard.present(name), deviation, least)
            for name, counted in self._counted.items()
        )

    def add(self, query: ColumnRanges, answer: Answer) -> None:
        """What was answered."""
        for one, counts in zip(query.columns, query.split(answer.values).values(), strict=True):
            new = Counted(one, counts.astype(float), answer.deviation)
            self._counted[one.column] = self._counted[one.column].beside(new) if one.column in self._counted else new
        for pair, counts in zip(query.apart, query.split_apart(answer.values).values(), strict=True):
            found = CountedApart(pair, counts.astype(float), answer.deviation)
            known = self._apart.get(pair.columns)
            self._apart[pair.columns] = found if known is None else known.beside(found)
        self._bounds = None

    def bounds(self, heard: Heard) -> dict[str, tuple[Bounds, float]]:
        """The bounds of columns, and the deviation of the counts that they come from."""
        if self._bounds is None or self._bounds[0] is not heard:
            self._bounds = heard, self._found(heard)
        return self._bounds[1]

    def lengths(self, heard: Heard) -> tuple[Length, ...]:
        """What lies between two columns of days, where that says more than the later one."""
        bounds = {name: found for name, (found, _) in self.bounds(heard).items()}
        spans = {name: (one.upper or 0.0) - (one.lower or 0.0) for name, one in bounds.items()}
        present = {name: heard.dated(name) for pair in self._apart for name in pair}
        found = [
            length_of(one, heard.kinds[one.apart.first.column], self._least, spans=spans, present=present)
            for one in self._apart.values()
        ]
        return independent(length for length in found if length is not None)

    def few_places(self, heard: Heard) -> frozenset[str]:
        """Columns of numbers that a vote found, nearly all of which lie at a few places."""
        if not self._counted:
            return frozenset()
        few = {name for name, (bounds, _) in self.bounds(heard).items() if bounds.lumps or bounds.narrow}
        return frozenset(name for name in few - {*heard.units} if name in heard.voted and not heard.asked[name].ranged)

    def _first(self, heard: Heard, name: str, deviation: float) -> Intervals | None:
        kind, date_format, vote = heard.kinds[name], heard.formats[name], heard.votes[name]
        present, unit = heard.present(name), heard.units.get(name, "")
        return intervals_of(name, kind, date_format, vote, records=present, deviation=deviation, beside=unit)

    def _found(self, heard: Heard) -> dict[str, tuple[Bounds, float]]:
        kinds, votes = heard.kinds, heard.votes
        if not self._counted:
            return {
                name: (coarse_bounds(kinds[name], votes[name], heard.present(name)), votes[name].deviation)
                for name in heard.numbers
            }
        least = self._least
        of_points = sure_of_points(sum(one.candidates(kinds[name]) for name, one in self._counted.items()))
        return {
            name: (
                bounds_from(one, kinds[name], votes[name], heard.present(name), least, of_points),
                one.deviation,
            )
            for name, one in self._counted.items()
            if name in heard.numbers
        }

    @property
    def _least(self) -> float:
        """Deviations that a sum of counts of numbers, or of how far days are apart, must exceed."""
        sums = sum(counted.sums for counted in self._counted.values())
        return sure_of(sums + sum(pair.apart.size for pair in self._apart.values()))
