"""Shares of records: coverage by simulated answers, what they rest on, and which answers are chosen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.features.functions import UNIT, Functions, Share
from counterfoil.inference import Unanswerable, proportion
from counterfoil.receipt.answers import ErrorBarEntry, RecordedAverages, RecordedMarginal
from counterfoil.schema import Categorical, Integer, Schema
from noisy_tables import GAUSSIAN, LAPLACE, evidence_of, noisy_marginal, require_held

SCHEMA = Schema((Categorical("a", ("x", "y", "z")), Categorical("b", ("p", "q")), Integer("age", 0, 99, bins=10)))
TRIALS = 2000


def held(n: int, share: float, kind: str, scale: float, public: bool, by: str | None = None) -> Iterator[bool]:
    """Of any number of simulated releases, whether the interval of a == 'x' holds the population's share."""
    rng = np.random.default_rng([n, int(1000 * share), int(scale), public])
    cells = np.outer([share, (1 - share) * 0.6, (1 - share) * 0.4], [0.8, 0.2])
    while True:
        counts = rng.multinomial(n, cells.ravel()).reshape(3, 2)
        marginals = [
            noisy_marginal(rng, ("a",), counts.sum(axis=1), kind, scale, 1),
            noisy_marginal(rng, ("a", "b"), counts, kind, scale, 2),
            noisy_marginal(rng, ("b",), counts.sum(axis=0), kind, scale / 2, 3),
        ]
        release = evidence_of(SCHEMA, marginals, records=n if public else None)
        found = proportion(release, "a == 'x'", by=by)
        yield found[-1].lower <= share <= found[-1].upper


@pytest.mark.parametrize(
    ("n", "share", "scale", "public"),
    [
        (300, 0.5, 30, False),
        (300, 0.05, 2, False),
        (300, 0.002, 1, True),
        (5000, 0.5, 1000, False),
        (5000, 0.05, 50, False),
        (5000, 0.002, 20, False),
        (50_000, 0.5, 200, True),
        (50_000, 0.002, 3, True),
    ],
)
def test_intervals_hold_with_gaussian_noise(n, share, scale, public):
    """Coverage from 94.5% to 98%, and anything above where the noise leaves [0, 1] whole; false alarms: 1e-6 each."""
    require_held(held(n, share, GAUSSIAN, scale, public), TRIALS, at_most=1 if scale > n / 20 else 0.98)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "share", "scale", "public"),
    [(300, 0.5, 5, False), (300, 0.002, 5, True), (50_000, 0.5, 200, False)],
)
def test_intervals_hold_with_laplace_noise(n, share, scale, public):
    require_held(held(n, share, LAPLACE, scale, public), TRIALS)


@pytest.mark.parametrize(
    ("n", "share", "scale", "public"), [(300, 0.5, 2, True), (5000, 0.05, 20, False), (50_000, 0.5, 300, False)]
)
def test_intervals_hold_within_groups(n, share, scale, public):
    """The last group has a fifth of the records."""
    require_held(held(n, share, GAUSSIAN, scale, public, by="b"), TRIALS, at_most=0.985)


def test_what_the_noise_and_the_sampling_contribute():
    """Noise alone: of the table itself. Both together are at most their sum, and at least each."""
    rng, counts = np.random.default_rng(5), np.array([700, 200, 100])

    def held() -> Iterator[bool]:
        while True:
            release = evidence_of(SCHEMA, [noisy_marginal(rng, ("a",), counts, GAUSSIAN, 30.0, 1)], records=1000)
            (found,) = proportion(release, "a == 'y'")
            half = (found.upper - found.lower) / 2
            assert max(found.noise, found.sampling) < half < found.noise + found.sampling
            yield abs(found.estimate - 0.2) <= found.noise

    require_held(held(), TRIALS, at_most=0.955)


def test_two_measurements_are_narrower_than_one():
    rng = np.random.default_rng(1)
    one = noisy_marginal(rng, ("a",), np.array([500, 300, 200]), GAUSSIAN, 40.0, 1)
    two = noisy_marginal(rng, ("a", "b"), np.full((3, 2), 160), GAUSSIAN, 20.0, 4)
    (alone,), (both,) = (
        proportion(evidence_of(SCHEMA, measured, records=1000), "a == 'x'") for measured in ([one], [one, two])
    )
    assert both.noise < alone.noise
    assert (alone.charges, both.charges) == ((1,), (1, 4))
    assert alone.measured
    assert "Charge 1 counted the records by a: the noise in each of 3 cells has standard deviation 40." in alone.basis
    assert "The number of records is public: 1,000." in alone.basis


def test_a_bin_that_is_cut_is_counted_both_ways():
    """60 records in the bin 60..69, which age > 65 cuts: the share is between those above and those plus 60."""
    counts = np.array([100, 100, 100, 100, 100, 100, 60, 140, 100, 100])
    release = evidence_of(SCHEMA, [RecordedMarginal(("age",), counts, {}, GAUSSIAN, 1e-3, 1)], records=1000)
    (found,) = proportion(release, "age > 65")
    (whole,), (more,) = proportion(release, "age > 69"), proportion(release, "age >= 60")
    assert found.estimate == pytest.approx(0.37)
    assert (found.lower, found.upper) == pytest.approx((whole.lower, more.upper))
    assert found.noise < 1e-4
    assert any("between 0.34 and 0.4 by the noisy counts" in sentence for sentence in found.basis)
    assert not any("by the noisy counts" in sentence for sentence in whole.basis)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("age >= 65", "The event divides the bin 60..69 of age"),
        ("age >= 65 or age < 12", "The event divides the bins 10..19, 60..69 of age"),
        ("age >= 70", None),
        ("a == 'x'", None),
        ("age >= 65 and a == 'x'", None),
    ],
)
def test_the_bins_that_an_event_divides_are_named(event, said):
    """That "age > 64" is cut and "age >= 70" is not, nothing else says to whoever has the release alone."""
    rng = np.random.default_rng(1)
    counts = np.full((3, 10), 1000)
    release = evidence_of(SCHEMA, [noisy_marginal(rng, ("a", "age"), counts, GAUSSIAN, 2, 1)])
    basis = proportion(release, event)[0].basis
    assert [one.partition(":")[0] for one in basis if "divides" in one] == ([said] if said else [])


def test_answers_that_decide_the_event_go_before_those_that_cut_it():
    groups = {"a": np.array([0, 1, 1])}
    fine = RecordedMarginal(("a",), np.array([500, 300, 200]), {}, GAUSSIAN, 50.0, 1)
    merged = RecordedMarginal(("a", "b"), np.array([[250, 250], [250, 250]]), groups, GAUSSIAN, 1.0, 2)
    rows = pa.table({"a": ["x", "y"], "b": ["p", "q"], "age": [30, 40]})
    release = evidence_of(SCHEMA, [fine, merged], records=1000, rows=rows)
    assert proportion(release, "a == 'y'")[0].charges == (1,)
    assert proportion(release, "a == 'x'")[0].charges == (2,)
    within = proportion(release, "b == 'p'", by="a")
    assert [found.about for found in within] == [
        "share of records with b == 'p', where a = x",
        "share of records with b == 'p', where a in y, z",
    ]


def bought(sums: list[int], expressions: list[str], scale: float) -> RecordedAverages:
    family = Functions.of(SCHEMA, [Share.of_records(SCHEMA, text) for text in expressions], counted=True)
    values = UNIT * np.array(sums)
    return RecordedAverages(
        family, family.names, family.counted, values, family.offsets, family.slopes, GAUSSIAN, scale * UNIT, 7
    )


def test_a_share_that_was_bought_is_used_where_it_is_narrower():
    averages = bought([1000, 300, 120], ["age  > 65", "a == 'x'"], 5.0)
    loose = RecordedMarginal(("a",), np.array([100, 500, 400]), {}, GAUSSIAN, 90.0, 1)
    release = evidence_of(SCHEMA, [loose], [averages], records=1000)
    (found,) = proportion(release, " age > 65 ")
    assert (found.estimate, found.charges) == (pytest.approx(0.3), (7,))
    assert proportion(release, "a == 'x'")[0].estimate == pytest.approx(0.12)
    tight = RecordedMarginal(("a",), np.array([100, 500, 400]), {}, GAUSSIAN, 2.0, 1)
    (found,) = proportion(evidence_of(SCHEMA, [tight], [averages], records=1000), "a == 'x'")
    assert (found.estimate, found.charges) == (pytest.approx(0.1), (1,))


def test_the_number_of_records_can_come_from_bought_averages():
    (found,) = proportion(evidence_of(SCHEMA, [], [bought([1000, 300], ["age > 65"], 5.0)]), "age > 65")
    assert found.estimate == pytest.approx(0.3)
    assert any("taken to be 1,000, with standard deviation 5," in sentence for sentence in found.basis)


def test_a_group_that_may_be_empty_is_not_told_about():
    marginal = RecordedMarginal(("a", "b"), np.array([[400, 5], [300, 2], [290, 3]]), {}, GAUSSIAN, 10.0, 1)
    large, small = proportion(evidence_of(SCHEMA, [marginal], records=1000), "a == 'x'", by="b")
    assert (small.lower, small.upper) == (0.0, 1.0)
    assert any("can't be distinguished from none" in sentence for sentence in small.basis)
    assert large.upper < 0.5


def test_relations_that_were_never_measured_are_refused_by_name():
    pairs = [("a",), ("b",), ("a", "age"), ("b", "age")]
    marginals = [
        RecordedMarginal(clique, np.zeros(SCHEMA.domain.shape(clique), dtype=np.int64), {}, GAUSSIAN, 1.0, charge)
        for charge, clique in enumerate(pairs, 1)
    ]
    bar = ErrorBarEntry(("b", "age"), 0.04, 0.1, "somewhere")
    release = evidence_of(SCHEMA, marginals, error_bars=[bar], records=1000)
    with pytest.raises(
        Unanswerable, match=r"relation of a and b was never measured\..*--workload or --queries \(in Python"
    ):
        proportion(release, "a == 'x'", by="b")
    with pytest.raises(Unanswerable, match="relation of a, b, age was never measured, nor was that of a and b"):
        proportion(release, "a == 'x' and b == 'p' and age > 50")
    with pytest.raises(Unanswerable, match="The column b was never counted"):
        proportion(evidence_of(SCHEMA, marginals[:1], records=1000), "b == 'p'")


def test_a_table_without_its_receipt_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"needs a release with its receipt.* Found Table: give one of these"):
        proportion(pa.table({"a": ["x"]}), "a == 'x'")


def test_unknown_columns_are_refused():
    release = evidence_of(SCHEMA, records=10)
    with pytest.raises(ValueError, match=r"synthesized columns\. Found 'agee'\. Did you mean 'age'\?"):
        proportion(release, "a == 'x'", by="agee")
    with pytest.raises(ValueError, match="level"):
        proportion(release, "a == 'x'", level=1.0)
