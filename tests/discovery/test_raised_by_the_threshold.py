"""Texts that reach a threshold are helped to it by noise: about how many cells fewer hold them, and what is said."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.discovery.bought_facts import coverage, coverage_range
from counterfoil.discovery.texts import TextRounds, raised_by_the_threshold
from counterfoil.noise.answer import FrequentTexts
from counterfoil.noise.open_domain_gaussian import PARTS, OpenDomainGaussianNoise
from counterfoil.schema.discovered import DiscoveredColumn

DEVIATION, THRESHOLD, RUNS = 7.0, 32.0, 400


@pytest.mark.parametrize(
    "counts",
    [
        800 / np.arange(1, 3001) ** 0.8,  # a few names, and a tail of rare ones
        np.arange(1.0, 200.0),
    ],
)
def test_the_noise_in_what_was_released_is_estimated_from_the_counts(counts):
    """Against the noise itself, in the mean over 400 answers from a seed."""
    rng, raised, estimates, held = np.random.default_rng(0), [], [], [0, 0]
    for _ in range(RUNS):
        noise = rng.normal(0, DEVIATION, len(counts))
        found = counts + noise >= THRESHOLD
        raised.append(noise[found].sum())
        estimates.append(raised_by_the_threshold((counts + noise)[found].tolist(), THRESHOLD, DEVIATION))
        error = 1.96 * DEVIATION * np.sqrt(found.sum())
        held[0] += raised[-1] <= error
        held[1] += raised[-1] - estimates[-1] <= error
    assert 0.85 * np.mean(raised) < np.mean(estimates) < 1.5 * np.mean(raised)
    assert held[0] < 0.95 * RUNS < held[1], "without the estimate, and with it"


def test_texts_far_above_the_threshold_were_raised_by_nothing():
    assert raised_by_the_threshold([400.0, 600.0], THRESHOLD, DEVIATION) == 0
    assert raised_by_the_threshold([], THRESHOLD, DEVIATION) == 0


def test_rounds_say_of_each_column_how_many_cells():
    """One column of one text in each record: a part is a hundredth of a record. Words for missing are no categories."""
    rounds, noise = TextRounds(), OpenDomainGaussianNoise(5.0, 1e-9)
    texts = [("town", "a", 31 * PARTS), ("town", "b", 90 * PARTS), ("town", "NA", 31 * PARTS), ("job", "c", 80 * PARTS)]
    rounds.add(FrequentTexts(tuple(texts), noise, 30 * PARTS, 5.0 * PARTS), ["town", "job"], {"town": 1.0, "job": 1.0})
    assert rounds.raised("job") == rounds.raised("never asked") == 0
    assert rounds.raised("town") == pytest.approx(2 * 5.0, rel=0.01)


def test_the_interval_of_a_list_reaches_down_by_as_many():
    facts = {"votes": {}, "lower": None, "upper": None, "tails": (0.0, 0.0), "missing": None, "edges": ()}
    categories = (("a", 300), ("b", 200))
    said = []
    for raised in (0.0, 60.0):
        column = DiscoveredColumn(
            "town", "text", **facts, categories=categories, records=1000, deviation=20.0, raised=raised
        )
        said.append(coverage_range(column, *coverage(column, 500, 2)))
    assert said == ["44% to 56%", "38% to 56%"]
