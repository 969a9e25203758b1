"""Means of columns: coverage by simulated answers, bins, missing values, groups, and bought moments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

import counterfoil
from counterfoil.features.functions import UNIT, Functions, Value
from counterfoil.inference import Unanswerable, mean
from counterfoil.inference.related_rows import POPULATION
from counterfoil.receipt.answers import RecordedAverages, RecordedMarginal
from counterfoil.schema import Boolean, Categorical, Date, Integer, Real, Schema
from noisy_moments import bought_moments
from noisy_tables import GAUSSIAN, LAPLACE, evidence_of, noisy_marginal, require_held

SCHEMA = Schema((Categorical("sex", ("F", "M")), Integer("k", 0, 9, missing=True), Real("pay", 0.0, 100.0, bins=4)))
TRIALS = 2000
SHARES = np.array([4, 1, 1, 1, 2, 5, 1, 1, 1, 1, 2]) / 20
"""Of k, the last one missing."""
MEAN = float(np.arange(10) @ SHARES[:10] / SHARES[:10].sum())


@pytest.mark.parametrize(
    ("n", "scale", "public"), [(300, 1, True), (300, 5, False), (5000, 1, False), (5000, 40, False)]
)
@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_of_means_hold(n, scale, public, grouped):
    """Of k among those who have one; in groups, among the fifth that is M. False alarms: 1e-6 each."""
    rng = np.random.default_rng([n, scale, grouped])
    cells = np.outer([0.8, 0.2], SHARES)

    def held() -> Iterator[bool]:
        while True:
            counts = rng.multinomial(n, cells.ravel()).reshape(2, 11)
            marginals = [
                noisy_marginal(rng, ("sex", "k"), counts, GAUSSIAN, scale, 1),
                noisy_marginal(rng, ("k",), counts.sum(axis=0), GAUSSIAN, scale, 2),
            ]
            release = evidence_of(SCHEMA, marginals, records=n if public else None)
            found = mean(release, "k", by="sex" if grouped else None)[-1]
            yield found.lower <= MEAN <= found.upper

    require_held(held(), TRIALS, at_least=0.94, at_most=0.985)


def test_the_estimate_is_the_mean_of_those_who_have_a_number():
    counts = np.array([10, 0, 0, 0, 0, 0, 0, 0, 0, 30, 60])
    release = evidence_of(SCHEMA, [RecordedMarginal(("k",), counts, {}, GAUSSIAN, 1e-3, 1)], records=100)
    (found,) = mean(release, "k")
    assert found.estimate == pytest.approx(9 * 30 / 40)
    assert found.sampling == pytest.approx(1.96 * np.sqrt(81 * 0.25 * 0.75 / 40), rel=0.01)
    assert found.noise < 1e-3


def test_how_many_records_have_no_number_is_said():
    """The mean "of all records" was that of the two thirds that had one, and nothing said so."""

    def basis(missing: int) -> tuple[str, ...]:
        counts = np.array([10, 0, 0, 0, 0, 0, 0, 0, 0, 30, missing])
        marginal = RecordedMarginal(("k",), counts, {}, GAUSSIAN, 1.0, 1)
        return mean(evidence_of(SCHEMA, [marginal], records=int(counts.sum())), "k")[0].basis

    assert "The mean is of the records with a value of k; about 60.0% have none, by the noisy counts." in basis(60)
    assert basis(60)[-1] == POPULATION
    assert not any("have none" in sentence for sentence in basis(0))


def test_bins_widen_the_interval_by_their_width():
    counts = np.array([10, 20, 30, 40]) * 10**6
    for rows, estimate in (([60.0, 68.0], 64.0), ([0.0, 10.0], 50.0), ([90.0], 75.0), ([], 62.5)):
        release = evidence_of(
            SCHEMA,
            [RecordedMarginal(("pay",), counts, {}, GAUSSIAN, 1e-3, 1)],
            records=10**8,
            rows=pa.table({"pay": pa.array(rows, pa.float64())}),
        )
        (found,) = mean(release, "pay")
        assert (found.lower, found.upper) == pytest.approx((50.0, 75.0), abs=0.02)
        assert found.estimate == pytest.approx(estimate, abs=0.02)
        assert max(found.noise, found.sampling) < 0.02
        assert found.bins == pytest.approx(12.5, abs=1e-6)
    assert any(
        "leaves the mean open: between 50 and 75 by the noisy counts; the interval covers both and their noise"
        in sentence
        for sentence in found.basis
    )


def test_the_rows_mean_is_moved_no_further_than_into_the_interval():
    """Of bins far out noise makes sums that no record has; the rows' own mean is nearer, and within the interval."""
    counts = np.array([7000, 900, 900, 1500])  # of 10,000: between 17.5 and 42.5
    release = evidence_of(
        SCHEMA,
        [RecordedMarginal(("pay",), counts, {}, GAUSSIAN, 300.0, 1)],
        records=10_000,
        rows=pa.table({"pay": pa.array([12.0] * 90 + [30.0] * 10, pa.float64())}),
    )
    (found,) = mean(release, "pay")
    assert found.lower < 13.8 < found.upper
    assert found.estimate == pytest.approx(13.8)


def test_missing_values_in_a_group_with_others_leave_no_mean():
    groups = {"k": np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2])}
    merged = RecordedMarginal(("k",), np.array([10, 20, 30]), groups, GAUSSIAN, 1.0, 1)
    with pytest.raises(Unanswerable, match="Missing values of k were counted together with others and never apart"):
        mean(evidence_of(SCHEMA, [merged], records=60), "k")
    apart = {"k": np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2])}
    fine = RecordedMarginal(("k",), np.array([10, 20, 30]), apart, GAUSSIAN, 1e-3, 1)
    rows = pa.table({"k": pa.array([4, None, 5])})
    (found,) = mean(evidence_of(SCHEMA, [fine], records=60, rows=rows), "k")
    assert found.estimate == pytest.approx(4.5)
    assert found.bins == pytest.approx((3 * 10 + 5 * 20) / 30 / 2)


NARROW = Integer("x", 0, 99)
WIDE = {"x": np.repeat(np.arange(4), 25)}
ENDS = {"low": np.array([0, 25, 50, 75]), "high": np.array([24, 49, 74, 99])}
"""Numbers at one end of every wide bin, as far from the middle as a mean can be."""


def bought_finely_and_coarsely(
    rng: np.random.Generator, values: np.ndarray, scales: tuple[float, float]
) -> list[RecordedMarginal]:
    counts = np.bincount(values, minlength=100)
    fine = noisy_marginal(rng, ("x",), counts, GAUSSIAN, scales[0], 1)
    return [fine, noisy_marginal(rng, ("x",), counts.reshape(4, 25).sum(axis=1), GAUSSIAN, scales[1], 2, WIDE)]


@pytest.mark.parametrize("end", list(ENDS))
@pytest.mark.parametrize(
    ("scales", "charges"), [((1, 3), {1}), ((92, 3), {1, 2}), ((2000, 3), {2})], ids=["fine", "either", "coarse"]
)
def test_the_narrowest_of_several_intervals_holds(end, scales, charges):
    """At the worst places within wide bins, whichever answers are chosen. False alarms: 1e-6 each."""
    rng, schema = np.random.default_rng([scales[0], end == "low"]), Schema((NARROW,))
    shares, rows = np.array([0.4, 0.3, 0.2, 0.1]), pa.table({"x": pa.array([50])})

    def held() -> Iterator[bool]:
        while True:
            values = rng.choice(ENDS[end], 4000, p=shares)
            answers = bought_finely_and_coarsely(rng, values, scales)
            (found,) = mean(evidence_of(schema, answers, records=4000, rows=rows), "x")
            assert {*found.charges} <= charges
            assert found.level == 0.95
            yield found.lower <= shares @ ENDS[end] <= found.upper

    require_held(held(), 400, at_least=0.945, at_most=1.0)


def test_a_choice_among_intervals_is_paid_for():
    """Two ways, of which the second has less noise and wide bins: .955 for the first and .995 for the other."""
    schema, rows = Schema((NARROW,)), pa.table({"x": pa.array([40])})
    answers = bought_finely_and_coarsely(np.random.default_rng(0), np.repeat(np.arange(100), 40), (2000, 10))
    (found,) = mean(evidence_of(schema, answers, records=4000, rows=rows), "x")
    (alone,) = mean(evidence_of(schema, answers[1:], records=4000, rows=rows), "x", level=0.995)
    assert (found.lower, found.upper, found.noise) == (alone.lower, alone.upper, alone.noise)
    assert (found.level, found.charges, found.bins) == (0.95, (2,), pytest.approx(12, abs=0.01))
    assert any(sentence.startswith("2 sets of answers tell this mean") for sentence in found.basis)
    answers = bought_finely_and_coarsely(np.random.default_rng(0), np.repeat(np.arange(100), 40), (1, 10))
    (found,) = mean(evidence_of(schema, answers, records=4000, rows=rows), "x")
    (alone,) = mean(evidence_of(schema, answers[:1], records=4000, rows=rows), "x")
    assert found == alone, "wide bins with more noise tell nothing, and nothing is paid for them"


def test_a_sum_with_much_noise_does_not_hide_narrow_bins():
    """Bought sums have no bins; with the noise of these the counts of four bins say more."""
    schema = Schema((Real("pay", 0.0, 100.0, bins=400),))
    counts = np.zeros(400, dtype=np.int64)
    counts[100:140] = 250
    marginal = RecordedMarginal(("pay",), counts, {}, GAUSSIAN, 0.5, 1)
    averages = averaged(0.0, 100.0, "pay", 10_000 * 30.0, 200_000.0)
    rows = pa.table({"pay": [30.0]})
    (found,) = mean(evidence_of(schema, [marginal], [averages], records=10_000, rows=rows), "pay")
    assert found.charges == (1,)
    assert found.upper - found.lower < 1.0
    precise = averaged(0.0, 100.0, "pay", 10_000 * 30.0, 1.0)
    (found,) = mean(evidence_of(schema, [marginal], [precise], records=10_000, rows=rows), "pay")
    assert (found.charges, found.bins) == ((2,), 0.0)


@pytest.mark.parametrize("method", ["direct", "mst"])
def test_the_estimate_is_the_mean_of_the_copy(method):
    """A long tail in a few wide bins: the middle of what bins admit is several times the mean."""
    rng = np.random.default_rng(5)
    table = pa.table({"x": np.minimum(rng.exponential(0.7, 4000), 60.0), "sex": rng.choice(["F", "M"], 4000)})
    schema = Schema((Real("x", 0.0, 60.0, edges=(0.0, 0.5, 1.0, 4.0, 60.0)), Categorical("sex", ("F", "M"))))
    release = counterfoil.synthesize(table, schema, epsilon=3, delta=1e-9, method=method, seed=1)
    copy = release.to_arrow()
    (found,) = mean(release, "x")
    assert found.estimate == pytest.approx(np.asarray(copy["x"]).mean(), abs=1e-9)
    assert abs(found.estimate - 0.7) < 0.1 < found.bins
    assert found.lower <= 0.7 <= found.upper
    for group in mean(release, "x", by="sex"):
        members = np.array(copy["sex"].to_pylist()) == group.about[-1]
        assert group.estimate == pytest.approx(np.asarray(copy["x"])[members].mean(), abs=1e-9)


def people(rng: np.random.Generator, n: int) -> pa.Table:
    sex = np.where(rng.random(n) < 0.7, "F", "M")
    k = rng.binomial(9, np.where(sex == "F", 0.3, 0.6))
    return pa.table(
        {
            "sex": sex,
            "k": pa.array(k, mask=rng.random(n) < 0.2),
            "pay": 100 * rng.beta(2, 6, n),
        }
    )


@pytest.mark.parametrize("order", [1, 2])
def test_moments_tell_means_without_bins(order):
    """Exact but for the noise: of pay, 25; squares, where they were bought, narrow what sampling can do."""
    rng = np.random.default_rng(order)
    table = people(rng, 4000)
    pay = np.asarray(table["pay"])
    release = evidence_of(SCHEMA, [], [bought_moments(SCHEMA, table, 0.001, rng, order=order, counted=True)])
    (found,) = mean(release, "pay")
    assert found.estimate == pytest.approx(pay.mean(), abs=0.02)
    deviation = pay.std() if order == 2 else np.sqrt(pay.mean() * (100 - pay.mean()))
    assert found.sampling == pytest.approx(1.96 * deviation / np.sqrt(4000), rel=0.02)
    (present,) = mean(release, "k")
    k = np.array([value for value in table["k"].to_pylist() if value is not None])
    assert present.estimate == pytest.approx(k.mean(), abs=0.01)


def test_moments_of_order_two_tell_means_within_groups():
    rng = np.random.default_rng(3)
    table = people(rng, 4000)
    sex = np.array(table["sex"].to_pylist())
    release = evidence_of(SCHEMA, [], [bought_moments(SCHEMA, table, 0.001, rng, order=2)], records=4000)
    for column, exact in (("pay", np.asarray(table["pay"])), ("k", np.array(table["k"].to_pylist(), dtype=float))):
        for found, group in zip(mean(release, column, by="sex"), ("F", "M"), strict=True):
            assert found.about == f"mean of {column}, where sex = {group}"
            assert found.estimate == pytest.approx(np.nanmean(exact[sex == group]), abs=0.02)
    only_first = evidence_of(SCHEMA, [], [bought_moments(SCHEMA, table, 0.001, rng, order=1)], records=4000)
    with pytest.raises(Unanswerable, match="relation of sex and pay was never measured"):
        mean(only_first, "pay", by="sex")


@pytest.mark.parametrize(("noise", "trials"), [(GAUSSIAN, 2000), (LAPLACE, 500)])
def test_intervals_from_moments_hold(noise, trials):
    """Sums of pay scaled to [-1, 1], of 400 records, with noise as large as the sampling. False alarms: 1e-6."""
    rng = np.random.default_rng(9)
    base = bought_moments(SCHEMA, people(rng, 400), 1.0, rng, noise=noise, order=2, counted=True)
    deviation, family = 12.0, base.family
    place = {name: row for row, name in enumerate(base.names)}

    def held() -> Iterator[bool]:
        while True:
            scaled = 2 * rng.beta(2, 6, 400) - 1
            sums = np.zeros(len(base.names))
            sums[[place["1"], place["sex = F"]]] = 400
            sums[[place["pay"], place["pay * pay"]]] = scaled.sum(), (scaled**2).sum()
            drawn = (rng.normal if noise == GAUSSIAN else rng.laplace)(0, deviation, len(sums))
            answer = np.rint((sums + drawn) * family.unit).astype(np.int64)
            averages = RecordedAverages(
                family, base.names, base.counted, answer, base.offsets, base.slopes, noise, deviation * family.unit, 1
            )
            (found,) = mean(evidence_of(SCHEMA, [], [averages]), "pay")
            yield found.lower <= 25.0 <= found.upper

    require_held(held(), trials, at_least=0.94)


def averaged(lower: float, upper: float, column: str, total: float, scale: float) -> RecordedAverages:
    family = Functions.of(SCHEMA, [Value(column, lower, upper, column)], counted=False)
    sums = np.array([round(total * UNIT / (upper - lower))])
    return RecordedAverages(
        family,
        family.names,
        family.counted,
        sums,
        family.offsets,
        family.slopes,
        GAUSSIAN,
        scale * UNIT / (upper - lower),
        2,
    )


def test_an_average_that_was_bought_is_used_within_its_range():
    """Its whole numbers count from its own lower end; one that is clipped further than the bounds is another number."""
    wide = averaged(-50.0, 150.0, "pay", 1000 * (30.0 + 50.0), 10.0)
    (found,) = mean(evidence_of(SCHEMA, [], [wide], records=1000), "pay")
    assert found.estimate == pytest.approx(30.0, abs=1e-3)
    assert found.noise == pytest.approx(1.96 * 10.0 / 1000, rel=0.01)
    assert found.charges == (2,)
    clipped = averaged(0.0, 50.0, "pay", 1000 * 30.0, 10.0)
    with pytest.raises(Unanswerable, match="The column pay was never counted"):
        mean(evidence_of(SCHEMA, [], [clipped], records=1000), "pay")
    with_missing = averaged(0.0, 9.0, "k", 1000 * 3.0, 10.0)
    with pytest.raises(Unanswerable):
        mean(evidence_of(SCHEMA, [], [with_missing], records=1000), "k")


def test_columns_without_numbers_are_refused():
    import datetime

    schema = Schema(
        (
            Categorical("size", ("S", "M", "L"), ordered=True),
            Date("day", datetime.date(2020, 1, 1), datetime.date(2020, 1, 9)),
            Boolean("ill"),
        )
    )
    release = evidence_of(schema, [RecordedMarginal(("ill",), np.array([30, 10]), {}, GAUSSIAN, 1e-3, 1)], records=40)
    for name, kind in (("size", "categorical"), ("day", "date")):
        with pytest.raises(ValueError, match=f"A mean is of a column of numbers. Found '{name}', which is {kind}"):
            mean(release, name)
    assert mean(release, "ill")[0].estimate == pytest.approx(0.25)
    with pytest.raises(ValueError, match=r"Found 'il'\. Did you mean 'ill'\?"):
        mean(release, "il")


def test_an_estimate_that_noise_took_to_a_bound_says_so():
    """Exactly 0 was a mystery: noise had taken the sum below it."""
    cut = (
        "The noisy answer lies beyond what is possible, and the estimate is the nearest that is, {}: read the interval."
    )

    def asked(counts):
        (found,) = mean(evidence_of(SCHEMA, [RecordedMarginal(("k",), counts, {}, GAUSSIAN, 9.0, 1)], records=100), "k")
        return found

    below = asked(np.array([104, -3, 0, 0, 0, 0, 0, 0, 0, -1, 0]))
    assert below.estimate == 0
    assert cut.format(0) in below.basis
    above = asked(np.array([-4, 0, 0, 0, 0, 0, 0, 0, 0, 104, 0]))
    assert above.estimate == 9
    assert cut.format(9) in above.basis
    within = asked(np.array([90, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0]))
    assert not any("beyond what is possible" in line for line in within.basis)


def test_sampling_counts_where_noise_hides_how_much_values_differ():
    """The noisy sum of squares is less than the square of the noisy mean leaves: sampling was told as 0."""

    def asked(*counts):
        (found,) = mean(evidence_of(SCHEMA, [RecordedMarginal(("k",), np.array(counts), {}, GAUSSIAN, 9.0, 1)]), "k")
        return found

    lost = asked(-8, 0, 0, 0, 100, 0, 0, 0, 0, -8, 0)
    assert 0 < lost.sampling < 1


def test_intervals_of_few_records_hold_where_noise_hides_their_variance():
    """Of 30 records, with noise of one in each sum. Without an allowance 90% held, with it 97%."""
    rng = np.random.default_rng(9)
    base = bought_moments(SCHEMA, people(rng, 30), 1.0, rng, noise=GAUSSIAN, order=2, counted=True)
    deviation, hits, trials = 1.0, 0, 1000
    place = {name: row for row, name in enumerate(base.names)}
    for _ in range(trials):
        scaled = rng.normal(0, 0.15, 30)
        sums = np.zeros(len(base.names))
        sums[[place["1"], place["sex = F"]]] = 30
        sums[[place["pay"], place["pay * pay"]]] = scaled.sum(), (scaled**2).sum()
        drawn = rng.normal(0, deviation, len(sums))
        answer = np.rint((sums + drawn) * base.family.unit).astype(np.int64)
        averages = RecordedAverages(
            base.family, base.names, base.counted, answer, base.offsets, base.slopes, GAUSSIAN,
            deviation * base.family.unit, 1,
        )  # fmt: skip
        (found,) = mean(evidence_of(SCHEMA, [], [averages]), "pay")
        hits += found.lower <= 50.0 <= found.upper
    assert hits / trials > 0.94


@pytest.mark.parametrize("public", [True, False])
def test_no_number_is_given_where_the_interval_holds_all_that_a_mean_can_be(public):
    """5,000 records, told from none without a doubt, whose sum noise hides."""
    schema = Schema((Integer("k", 0, 9), Categorical("sex", ("F", "M"))))
    marginals = [
        RecordedMarginal(("k",), np.array([9000, 0, 0, 0, 0, 0, 0, 0, 0, -4000]), {}, GAUSSIAN, 9000.0, 1),
        RecordedMarginal(("sex",), np.array([4000, 1000]), {}, GAUSSIAN, 10.0, 2),
    ]
    (found,) = mean(evidence_of(schema, marginals, records=5000 if public else None), "k")
    assert (found.lower, found.upper) == (0.0, 9.0)
    assert np.isnan(found.estimate)
    assert found.to_json()["estimate"] is None
    assert "Every mean that is possible is in the interval: nothing is known of it among the records." in found.basis
    assert not any("can't be distinguished from none" in sentence for sentence in found.basis)
