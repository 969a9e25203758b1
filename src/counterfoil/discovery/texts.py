"""Rounds of questions about texts: what each released, as counts of cells, and what is left for the next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from counterfoil.discovery.public_lists import public_list_of
from counterfoil.noise.answer import FrequentTexts
from counterfoil.noise.open_domain_gaussian import PARTS
from counterfoil.noise.sums_of_parts import parts_of_a_record, shares_with_words
from counterfoil.schema.raw_cell import is_missing_word

DEPENDENCE = 0.3
"""Of a count of a later round, its standard error for what the columns have to do with each other: records that hold
twice as many texts that are left as they would if columns had nothing to do with each other count 1 / sqrt(2)."""

_NEGLIGIBLE = 0.02
"""A share of the records whose text may be left without another round being worth much."""

_SURELY = 3.0
"""Standard errors by which a number exceeds what it is compared with."""


class TextRounds:
    """The texts that rounds released, with estimates of how many cells hold them. No exact number is among them."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], float] = {}
        self._variances: dict[tuple[str, str], float] = {}
        self._together: dict[tuple[str, str], float] = {}
        self._shows: dict[str, float] = {}
        self._raised: dict[str, float] = {}

    @property
    def known(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a column and a text."""
        return tuple(self._counts)

    def add(
        self,
        answer: FrequentTexts,
        columns: Sequence[str],
        left: Mapping[str, float],
        missing: Mapping[str, float] | None = None,
        everybody: float = 1.0,
    ) -> None:
        """Adds what a round released.

        A record with k texts that were left, of d columns, counts `PARTS` sqrt(d / k) in each. k is not known: it is
        taken for 1 and the shares of the other columns' records whose text was left, which is too few where cells are
        empty in the same records (`together`). A word for missing is a text too; how many there are the round tells.

        Args:
            answer: sums of parts.
            columns: that were asked about.
            left: by column, the share of all records whose text was left, words for missing not counted.
            missing: by column, the share of all records whose cell is missing; of none where it is not given.
            everybody: about how many records there are.
        """
        later = bool(self._shows)
        words = [(name, parts) for name, text, parts in answer.texts if is_missing_word(text)]
        shares = shares_with_words(words, {name: left[name] for name in columns}, missing or {}, everybody)
        for name, text, parts in answer.texts:
            each = parts_of_a_record(name, shares)
            self._counts[name, text] = count = parts / each
            self._variances[name, text] = (answer.deviation / each) ** 2 + (DEPENDENCE * count * later) ** 2
            self._together[name, text] = count if later else parts / PARTS
        for name in columns:
            found = [parts for column, text, parts in answer.texts if column == name and not is_missing_word(text)]
            raised = raised_by_the_threshold(found, answer.threshold, answer.deviation)
            self._raised[name] = self._raised.get(name, 0.0) + raised / parts_of_a_record(name, shares)
        shows = (answer.threshold + _SURELY * answer.deviation) / PARTS
        self._shows |= {name: min(shows, self._shows.get(name, shows)) for name in columns}

    def is_asked(self, name: str) -> bool:
        """Whether a round was about a column."""
        return name in self._shows

    def shows(self, name: str) -> float:
        """From how many cells on a text of a column likely showed."""
        return self._shows[name]

    def released(self, name: str) -> list[tuple[str, int]]:
        """The texts of a column with about how many cells hold them, the most frequent first."""
        found = [(text, max(round(count), 1)) for (column, text), count in self._counts.items() if column == name]
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def names(self, name: str) -> dict[str, int]:
        """The words for missing of a column that are a name of the public list of its other texts, with their counts.

        NA beside DE and FR is Namibia. Where it stands for missing there, it comes back as it is all the same.
        """
        found = self.released(name)
        others = [text for text, _ in found if not is_missing_word(text)]
        public = public_list_of(others)
        named = set() if public is None else set(public.others(others))
        return {text: count for text, count in found if is_missing_word(text) and text in named}

    def missing_words(self, name: str, missing: float, error: float) -> tuple[str, ...]:
        """The words for missing of a column; an empty text first where surely most missing cells hold none of them.

        A word that so many cells held would have shown: these are empty. Its `names` are none of them.

        Args:
            name: of the column.
            missing: about how many of its cells are empty or hold such a word.
            error: the standard error of that.
        """
        names = self.names(name)
        found = tuple(text for text, _ in self.released(name) if is_missing_word(text) and text not in names)
        if not self.is_asked(name):
            return found
        held = math.fsum(self._together[name, text] for text in found)
        empty = missing - held - _SURELY * error
        return ("", *found) if empty > max(held, self._shows[name]) else found

    def deviation(self, name: str) -> float:
        """The standard error of one of these counts: the root mean square; 0 where there is none."""
        own = [variance for (column, _), variance in self._variances.items() if column == name]
        return math.sqrt(math.fsum(own) / len(own)) if own else 0.0

    def together(self, name: str) -> float:
        """How many times as many cells as `released` says may hold its texts: if all records had one in each column."""
        own = [(count, self._together[one]) for one, count in self._counts.items() if one[0] == name]
        return math.fsum(most for _, most in own) / max(math.fsum(count for count, _ in own), 1.0) if own else 1.0

    def raised(self, name: str) -> float:
        """About how many cells fewer hold the texts of a column than `released` says, for noise helped some of them."""
        return self._raised.get(name, 0.0)

    def left(self, name: str, present: float, everybody: float) -> float:
        """The share of all records whose text in a column, no word for missing, was not released, of `present`."""
        return min(max((present - self._sum(name)) / max(everybody, 1.0), 0.0), 1.0)

    def is_uncovered(self, name: str, present: float) -> bool:
        """Whether some texts of a column are likelier than not left, of about `present` cells.

        A round in vain costs a part of the precision of bounds; texts that are left out are lost.
        """
        return present - self._sum(name) > _NEGLIGIBLE * present

    def _sum(self, name: str) -> float:
        own = ((text, count) for (column, text), count in self._counts.items() if column == name)
        return math.fsum(count for text, count in own if not is_missing_word(text))


def raised_by_the_threshold(released: Sequence[float], threshold: float, deviation: float) -> float:
    """About how large the sum of the noise in the counts that reached a threshold is, by the counts alone.

    A text of count c with noise Z of variance s**2 is released where c + Z >= H. The mean of Z where that holds, and of
    0 where it does not, is s phi((H - c) / s) = s**2 f(H), f being the density of c + Z. So the sum over all texts, of
    which nobody needs to know how many there are, is s**2 times the density of all noisy counts at H. It is taken to be
    that of the next deviation, and one standard error of that (of a Poisson law) is added: few may be there by chance,
    and there are fewer than at H where hardly any text would reach it without noise.

    Args:
        released: the noisy counts that reached the threshold.
        threshold: H.
        deviation: s, of the noise.
    """
    near = sum(count < threshold + deviation for count in released)
    return (near + math.sqrt(near)) * deviation
