"""From a query that is paid for to its noisy answer: here alone its exact one exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from counterfoil.curator.engines.tally import Tallied
from counterfoil.curator.foreign_errors import without_foreign_words
from counterfoil.curator.paid import Paid
from counterfoil.curator.queries.query import CountQuery, SelectionQuery
from counterfoil.curator.queries.rest_of_texts import RestOfTexts
from counterfoil.curator.queries.text_counts import TextCounts
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.silence import silent
from counterfoil.ledger.refusals import noting_refusals
from counterfoil.ledger.release import Release
from counterfoil.noise.exact_answers import require_finite, require_whole
from counterfoil.noise.noise import CountNoise, SelectionNoise
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.noise.randomness import Randomness
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise

Adding = Callable[[np.ndarray, float, Randomness], np.ndarray]
"""Adds noise for a sensitivity to the counts of texts; those below its threshold become 0."""


class NoisyAnswers:
    """Computes what was paid for, silently, and adds the noise. What fails is noted in the ledger as refused.

    Args:
        records: of the sensitive table.
        release: whose refusals are noted.
        randomness: of the noise.
    """

    def __init__(self, records: ExactRecords, release: Release, randomness: Randomness) -> None:
        self._records = records
        self._release = release
        self._randomness = randomness

    def numbers(self, query: CountQuery, noise: CountNoise, paid: Paid, cells: int | None) -> np.ndarray:
        """The noisy numbers of `query`; `cells` is how many they must be, where that is known.

        Raises:
            ValueError: where the exact ones are not whole.
        """
        with noting_refusals(self._release):
            with without_foreign_words(query.name, paid.vouched_for), silent():
                exact = query.exact(self._records)
            exact = require_whole(query.name, exact, cells=cells)
        return noise.add(exact, paid.sensitivity, self._randomness)

    def texts(self, query: TextCounts, add: Adding, paid: Paid) -> tuple[tuple[str, str, int], ...]:
        """The column, the text and the noisy count of each text whose count reaches the threshold of the noise."""
        with noting_refusals(self._release), without_foreign_words(query.name, paid.vouched_for), silent():
            released = [
                (name, text, count)
                for part in query.tallied(self._records)
                for name, text, count in _released(query, part, add(part.counts, paid.sensitivity, self._randomness))
            ]
        # Not in the order of the table: where a text stands among those that were not released would show.
        return tuple(sorted(released, key=lambda one: (query.columns.index(one[0]), -one[2], one[1])))

    def choice(self, query: SelectionQuery, noise: SelectionNoise, paid: Paid, cells: int | None) -> int:
        """The place of the candidate that is chosen; `cells` is how many there must be, where that is known.

        Raises:
            ValueError: where a score is not finite.
        """
        with noting_refusals(self._release):
            with without_foreign_words(query.name, paid.vouched_for), silent():
                scores = query.exact(self._records)
            scores = require_finite(query.name, scores, candidates=cells)
        return noise.choose(scores, paid.sensitivity, self._randomness)


def unlisted_noise(query: TextCounts, noise: ThresholdedGaussianNoise | OpenDomainGaussianNoise) -> Adding:
    """How noise is added to texts that nobody listed, with the threshold that the query's answers need.

    Raises:
        ValueError: for a query, or a noise, whose threshold does not follow from the other.
    """
    if type(query) is TextCounts and type(noise) is ThresholdedGaussianNoise:
        return noise.add
    if type(query) is RestOfTexts and type(noise) is OpenDomainGaussianNoise:
        return noise.add_to_unlisted
    raise ValueError(
        "Texts are asked for with a threshold: counts with `ThresholdedGaussianNoise`, parts with "
        "`OpenDomainGaussianNoise`. Found something else."
    )


def _released(query: TextCounts, part: Tallied, noisy: np.ndarray) -> Iterator[tuple[str, str, int]]:
    for i in np.flatnonzero(noisy).tolist():
        yield query.columns[int(part.columns[i])], part.texts[i].as_py(), int(noisy[i])
