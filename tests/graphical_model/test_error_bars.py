"""Error bars hold as often as they claim, for every kind of bound, by simulation with the exact table known.

Each simulated claim of 0.95 is tested on n seeded releases: it fails when so many bars were exceeded that a binomial
with probability 0.05 would show as many with probability below 1e-6.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta as beta_law
from scipy.stats import binom, norm

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.error_bars import (
    UNBOUNDED,
    ErrorBars,
    LaplaceMeasuredBound,
    MeasuredBound,
    NoisyBound,
    PassedOverBound,
    _laplace_deviations,
    measured_bounds,
)
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.methods.aim import AIM
from counterfoil.methods.direct import Direct
from counterfoil.methods.independent import Independent
from counterfoil.methods.mst import MST
from counterfoil.methods.reweighting import Reweighting
from counterfoil.noise.gaussian import SMOOTHING_VARIANCE
from counterfoil.noise.randomness import SeededRandomness
from small_releases import counts_of, opened, released

BETA = 0.05
RUNS = 200
PAIR = Domain(("a", "b"), (3, 4))
ROWS = [(i % 3, (i % 3) + (i % 7 == 0)) for i in range(150)]
ALL = [("a",), ("b",), ("a", "b")]
SCALE = st.floats(math.sqrt(SMOOTHING_VARIANCE), 1e4)


def require_rare(failures: int, runs: int = RUNS, beta: float = BETA) -> None:
    """False alarm: at most 1e-6."""
    assert binom.sf(failures - 1, runs, beta) >= 1e-6, f"{failures} of {runs} bars were exceeded"


def require_all_rare(failures: Iterator[np.ndarray], runs: int = RUNS, beta: float = BETA) -> None:
    """`require_rare` of each kind of failure in so many runs, but a third decides where it leaves no doubt.

    Of 200 runs 28 failures are too many, which a probability of .19 shows in 97 of 100 tests: with it, no more than 6
    of the first 66 fail in 3 of 100. So no fewer bad bars are found out.
    """
    fatal = next(count for count in range(runs + 1) if binom.sf(count - 1, runs, beta) < 1e-6)
    found_out = beta_law.ppf(0.97, fatal, runs - fatal + 1)
    failed = sum(islice(failures, runs // 3))
    if binom.cdf(failed.max(), runs // 3, found_out) > 0.03:
        for count in failed + sum(islice(failures, runs - runs // 3)):
            require_rare(int(count), runs, beta)


# Whole releases


METHODS = {
    "distance": AIM(rounds=2, batch=1),
    "distance, gaussian": AIM(rounds=2, batch=1, variant="gaussian"),
    "passed over and measured": AIM(variant="published"),
    "measured": Direct(2),
    "distance, mst": MST(),
    "columns": Independent(),
}


def failures_of(method, relation: str, *, shrink: float = 1.0) -> Iterator[np.ndarray]:
    """Of each release, of any number: bool[6], where a bar was exceeded, in records and in shares."""
    counts = {clique: counts_of(PAIR, ROWS, clique) for clique in ALL}
    for seed in itertools.count():
        made, failed = released(method, PAIR, ROWS, draw=1, relation=relation, seed=seed), []
        for clique, exact in counts.items():
            bar, model = made.error_bar(clique, BETA), made.marginal(clique).counts
            records = np.abs(exact - model).sum()
            fraction = np.abs(exact / exact.sum() - model / model.sum()).sum()
            failed += [records > shrink * bar.records, fraction > shrink * bar.fraction]
        yield np.array(failed)


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("method", METHODS)
def test_bars_of_a_release_hold(method, relation):
    runs = RUNS if relation == "add_or_remove_one" and method not in ("distance, gaussian", "distance, mst") else 60
    require_all_rare(failures_of(METHODS[method], relation), runs)


def test_bars_that_are_too_narrow_would_be_noticed():
    failures = failures_of(METHODS["distance"], "add_or_remove_one", shrink=0.3)
    with pytest.raises(AssertionError):
        require_all_rare(failures, 60)


def test_every_kind_of_bound_is_used_where_it_is_expected():
    sources = {}
    for name, method in METHODS.items():
        shown = {released(method, PAIR, ROWS).error_bar(c).source for c in ALL}
        # A pair whose own bound came out low has that of a column, and says so first.
        sources[name] = {source.rpartition(", from ")[2] for source in shown}
    for name in ("distance", "distance, gaussian", "distance, mst"):
        assert sources[name] == {"its noisy distance from the model"}
    assert sources["measured"] == {"its own noisy counts"}
    assert sources["passed over and measured"] <= {
        "its own noisy counts",
        "having been passed over for worse marginals",
    }
    assert sources["columns"] == {"its own noisy counts", "the bounds on a; b, and what they leave possible"}


# Each bound by itself, where it is as sharp as it can be


def noise(scale: float, size: tuple[int, ...], seed: int = 7) -> np.ndarray:
    return SeededRandomness(seed).discrete_gaussian(scale, math.prod(size)).reshape(size)


@pytest.mark.parametrize("scale", [1.5, 20.0])
@pytest.mark.parametrize("beta", [0.3, 0.05, 0.01])
def test_a_told_bound_holds_and_is_sharp(scale, beta):
    runs = 20_000
    noisy = 1000 + noise(scale, (runs,))
    bars = np.array([NoisyBound(float(t), scale, 0.0).records(beta) for t in noisy])
    failures = int((bars < 1000).sum())
    require_rare(failures, runs, beta)
    if scale > 10:
        assert failures > 0.5 * beta * runs, "a bar that never fails is wider than it says"


def test_a_told_bound_exceeds_the_tail_of_discrete_noise():
    """Exactly, not by simulation: P(noise < -(1 + q scale)) <= Phi(-q), from small scales on."""
    for scale in (1.5, 1.7, 3.0, 11.0):
        support = np.arange(-400, 401)
        weights = np.exp(-(support**2) / (2 * scale**2))
        law = weights / weights.sum()
        for beta in np.geomspace(0.9, 1e-9, 400):
            bar = NoisyBound(0.0, scale, 0.0).records(beta)
            assert law[support < -bar].sum() <= beta


@pytest.mark.parametrize("cells", [1, 4, 50])
@pytest.mark.parametrize("scale", [1.5, 30.0])
def test_a_measured_bound_holds(cells, scale):
    runs = 4000
    norms = np.abs(noise(scale, (runs, cells))).sum(axis=1)
    for beta in (0.5, 0.05, 0.01):
        allowed = MeasuredBound(0.0, scale, cells).records(beta)
        require_rare(int((norms > allowed).sum()), runs, beta)
    assert norms.mean() > 0.6 * MeasuredBound(0.0, scale, cells).records(0.99)


def test_the_absolute_discrete_gaussian_is_sub_gaussian_around_the_continuous_mean():
    """What `MeasuredBound` rests on: E exp(t abs(X)) <= exp(t m + t**2 scale**2 / 2) with m = sqrt(2 / pi) scale."""
    for scale in (1.5, 2.0, 5.0, 40.0):
        support = np.arange(-3000, 3001)
        logs = -(support**2) / (2 * scale**2)
        log_sum = np.logaddexp.reduce(logs)
        for t in np.geomspace(1e-4, 8, 200) / scale:
            moment = np.logaddexp.reduce(logs + t * np.abs(support)) - log_sum
            assert moment <= t * math.sqrt(2 / math.pi) * scale + t**2 * scale**2 / 2 + 1e-12


def test_the_discrete_gaussian_is_sub_gaussian_with_its_own_scale():
    """What `PassedOverBound` rests on."""
    for scale in (1.5, 2.0, 5.0, 40.0):
        support = np.arange(-3000, 3001)
        logs = -(support**2) / (2 * scale**2)
        for t in np.geomspace(1e-4, 8, 200) / scale:
            moment = np.logaddexp.reduce(logs + t * support) - np.logaddexp.reduce(logs)
            assert moment <= t**2 * scale**2 / 2 + 1e-12


@pytest.mark.parametrize("epsilon", [0.05, 0.5])
def test_a_passed_over_bound_holds(epsilon):
    """Candidates with errors 100, 90 and 40, of 6, 4 and 2 cells, sensitivity 2: choose, measure, bound the others."""
    errors, cells = np.array([100.0, 90.0, 40.0]), np.array([6, 4, 2])
    weights, scale, runs = np.array([1.0, 2.0, 1.5]), 5.0, 4000
    penalties = math.sqrt(2 / math.pi) * scale * cells
    temperature = 2 * 2.0 / epsilon
    rng = np.random.default_rng(5)
    scores = weights * (errors - penalties)
    chosen = np.argmax(scores + rng.gumbel(0, temperature, (runs, 3)), axis=1)
    failed = np.zeros(3, dtype=int)
    drawn = noise(scale, (runs, 6))
    for which, z in zip(chosen, drawn, strict=True):
        distance = np.abs(errors[which] / cells[which] + z[: cells[which]]).sum()
        for q in range(3):
            bound = PassedOverBound(
                weight=weights[q],
                level=weights[which] * (distance - penalties[which]) + weights[q] * penalties[q],
                chosen_slope=weights[which] * scale * math.sqrt(cells[which]),
                temperature=temperature,
                candidates=3,
                drift=0.0,
            )
            failed[q] += bound.records(BETA) < errors[q]
    for count in failed:
        require_rare(int(count), runs)


# How bounds are put together


bounds = st.one_of(
    st.builds(MeasuredBound, st.floats(0, 1e6), SCALE, st.integers(1, 10_000), st.integers(0, 5)),
    st.builds(NoisyBound, st.integers(-100, 10**6).map(float), SCALE, st.floats(0, 1e4)),
    st.builds(
        PassedOverBound,
        weight=st.floats(0.1, 100),
        level=st.floats(-1e4, 1e6),
        chosen_slope=st.floats(0, 1e5),
        temperature=st.floats(1e-3, 1e5),
        candidates=st.integers(1, 10_000),
        drift=st.floats(0, 1e4),
    ),
)
DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
CLIQUES = [c for size in (1, 2, 3) for c in itertools.combinations("abc", size)]


@st.composite
def error_bars(draw):
    noisy = draw(st.dictionaries(st.sampled_from(CLIQUES), st.lists(bounds, min_size=1, max_size=3).map(tuple)))
    total = draw(st.floats(1, 1e6))
    return ErrorBars(
        DOMAIN, noisy, total, draw(st.floats(-10, 1e6)), draw(st.one_of(st.just(0.0), st.floats(0.1, 1e4)))
    )


@given(error_bars(), st.sampled_from(CLIQUES))
def test_bars_are_monotone_in_beta(bars, clique):
    found = [bars.bar(clique, beta) for beta in (1e-12, 1e-3, 0.05, 0.5, 0.999)]
    for tight, loose in itertools.pairwise(found):
        assert tight.records >= loose.records >= 0
        assert 2 >= tight.fraction >= loose.fraction >= 0


@given(error_bars(), st.sampled_from(CLIQUES))
def test_only_containing_marginals_bound(bars, clique):
    known = {other for other in bars.bounds if set(clique) <= set(other)}
    assert math.isinf(bars.bar(clique, 0.05).records) == (not known)


@given(error_bars(), st.sampled_from(CLIQUES), st.floats(1e-6, 0.9))
def test_the_failure_probability_is_never_spent_twice(bars, clique, beta):
    """The shares of all events that are compared, and of the number of records, add up to at most beta."""
    asked: list[tuple[object, float]] = []

    def spy_on(kind):
        original = kind.records
        return lambda self, share: asked.append((self, share)) or original(self, share)

    with pytest.MonkeyPatch.context() as patch:
        for kind in (MeasuredBound, NoisyBound, PassedOverBound):
            patch.setattr(kind, "records", spy_on(kind))
        bars.bar(clique, beta)
    passed = [share for bound, share in asked if isinstance(bound, PassedOverBound)]
    others = [share for bound, share in asked if not isinstance(bound, PassedOverBound)]
    # All that was passed over rests on the same two events.
    events = sum(others) + (max(passed) if passed else 0.0)
    total = beta / (1 + (bars.total_error > 0) + bars._passes_over) if bars.total_error > 0 else 0.0
    assert events + total <= beta * (1 + 1e-12)


@given(error_bars(), st.sampled_from(CLIQUES))
def test_what_is_shown_of_a_marginal_is_never_below_its_columns_and_pairs(bars, clique):
    own = bars.bar(clique, 0.05)
    shown = bars.raised(own)
    if own.fraction >= 2:
        assert shown == own
        return
    parts = [part for part in CLIQUES if set(part) < set(clique)]
    within = [one for one in (bars.bar(part, 0.05) for part in parts) if one.fraction < 2]
    assert shown.fraction == max([own.fraction, *(one.fraction for one in within)])
    assert shown.records == max([own.records, *(one.records for one in within)])
    assert (shown.source == own.source) == (shown.fraction == own.fraction)


def bars_of(*noisy, cells: Domain = DOMAIN, total_error: float = 0.0) -> ErrorBars:
    return ErrorBars(cells, dict(noisy), 100.0, 100.0, total_error)


def test_one_bound_gets_the_whole_of_beta():
    bound = NoisyBound(60.0, 5.0, 2.0)
    bar = bars_of((("a", "b"), (bound,))).bar(["b", "a"], 0.05)
    assert bar.records == bound.records(0.05) == pytest.approx(60 + 1 + 5 * norm.ppf(0.95) + 2)
    assert bar.attributes == ("a", "b")
    assert bar.fraction == pytest.approx(bar.records / 100)


def test_a_pair_whose_noise_came_out_low_shows_the_bound_on_its_column():
    low, high = NoisyBound(10.0, 5.0, 1.0), NoisyBound(60.0, 5.0, 2.0)
    bars = bars_of((("a",), (high,)), (("a", "b"), (low,)), (("b", "c"), (low,)))
    # Of the two bounds that hold a, the pair's is the smaller one, and a gets half of the probability of each.
    assert bars.bar("a", 0.05).records == low.records(0.025) > bars.bar("ab", 0.05).records == low.records(0.05)
    shown = bars.raised(bars.bar("ab", 0.05))
    assert shown.records == low.records(0.025)
    assert shown.source == "the bound on a, from its noisy distance from the model"
    assert bars.raised(bars.bar("c", 0.05)) == bars.bar("c", 0.05)


def test_known_numbers_of_bounds_share_equally():
    near, far = NoisyBound(10.0, 5.0, 0.0), NoisyBound(99.0, 5.0, 0.0)
    bar = bars_of((("a",), (near,)), (("a", "b"), (far,)), (("b", "c"), (near,))).bar(["a"], 0.1)
    assert bar.records == near.records(0.05)


def test_adaptive_questions_share_in_time():
    """The j-th gets 1 / (j (j + 1)) of what the measured ones have, half of beta."""
    early, late = MeasuredBound(10.0, 2.0, 4, 0), MeasuredBound(1.0, 2.0, 4, 3)
    passed = PassedOverBound(1.0, 1e6, 0.0, 1.0, 3, 0.0)
    bars = bars_of((("a", "b"), (late,)), (("a",), (early, passed)))
    assert bars.bar(["a"], 0.1).records == pytest.approx(late.records(0.05 / 6))
    assert bars.bar(["a", "b"], 0.1).records == pytest.approx(late.records(0.05 / 2))


def test_an_unknown_number_of_records_widens_the_fraction():
    bounds_of_a = ("a",), (NoisyBound(10.0, 5.0, 0.0),)
    exact, noisy = bars_of(bounds_of_a).bar(["a"], 0.1), bars_of(bounds_of_a, total_error=3.0).bar(["a"], 0.1)
    assert noisy.records == NoisyBound(10.0, 5.0, 0.0).records(0.05)
    slack = 3 * math.sqrt(2 * math.log(2 / 0.05))
    assert noisy.fraction == pytest.approx((noisy.records + slack) / (100 - slack))
    assert noisy.fraction > exact.fraction
    hopeless = bars_of(bounds_of_a, total_error=1e3).bar(["a"], 0.1)
    assert hopeless.fraction == 2.0


@given(
    st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any),
    st.lists(st.floats(0.01, 50), min_size=3, max_size=3),
)
def test_the_fraction_follows_from_records_and_total(real, model):
    """For any table and model: when the records bound and the count hold exactly, so does the fraction."""
    real, model = np.array(real, dtype=float), np.array(model)
    single = Domain(("a",), (3,))
    distance = float(np.abs(real - model).sum())
    bars = ErrorBars(
        single, {("a",): (PassedOverBound(1.0, distance, 0.0, 1e-12, 1, 0.0),)}, model.sum(), real.sum(), 0.0
    )
    bar = bars.bar(["a"], 0.05)
    assert np.abs(real / real.sum() - model / model.sum()).sum() <= bar.fraction + 1e-9


def test_what_bars_refuse():
    for beta in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="`beta` must lie strictly between 0 and 1"):
            bars_of().bar(["a"], beta)
    with pytest.raises(ValueError, match="Unknown: 'z'"):
        bars_of().bar(["z"], 0.05)


@given(st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=9), st.sets(st.sampled_from("abcde")))
def test_a_bar_is_the_smallest_bound_on_a_marginal_that_holds_it(cliques, wanted):
    domain = Domain(tuple("abcde"), (2,) * 5)
    bounds = {tuple(sorted(clique)): (MeasuredBound(9.0 + len(clique), 1.0, 2, 0),) for clique in cliques}
    holding = {clique: own for clique, own in bounds.items() if wanted <= set(clique)}
    bars, only = (ErrorBars(domain, known, 100.0, 100.0, 1.0) for known in (bounds, holding))
    expected = only.bar(wanted, 0.05)
    assert bars.bar(wanted, 0.05) == (expected if holding else replace(expected, source=UNBOUNDED))


def test_a_bar_looks_only_at_bounds_on_its_columns():
    class Counted(dict):
        walks = 0

        def __iter__(self):
            self.walks += 1
            return super().__iter__()

        def items(self):
            self.walks += 1
            return super().items()

    names = tuple(f"c{number}" for number in range(12))
    pairs = list(itertools.combinations(names, 2))
    bounds = Counted({pair: (MeasuredBound(9.0, 1.0, 4, 0),) for pair in pairs})
    bars = ErrorBars(Domain(names, (2,) * 12), bounds, 100.0, 100.0, 1.0)
    for pair in pairs:
        bars.bar(pair, 0.05)
    assert bounds.walks == 1


def test_measured_bounds_keep_the_order_of_questions():
    model = GraphicalModel(PAIR, {}, 12.0)  # uniform: 4 in each cell of a, 3 of b
    answers = [
        [NoisyMarginal(("a",), np.array([5.0, 4, 3]), 2.0), NoisyMarginal(("b",), np.full(4, 3.0), 2.0)],
        [NoisyMarginal(("a",), np.array([4.0, 4, 4]), 1.0)],
    ]
    found = measured_bounds(answers, model)
    assert found == {
        ("a",): (MeasuredBound(2.0, 2.0, 3, 0), MeasuredBound(0.0, 1.0, 3, 1)),
        ("b",): (MeasuredBound(0.0, 2.0, 4, 0),),
    }


def test_pure_privacy_has_bounds_by_its_own_noise():
    with opened(PAIR, ROWS, budget=Budget(1.0)) as curator:
        made = Direct(2).synthesize(curator)
    ((bound,),) = made.error_bars.bounds.values()
    assert isinstance(bound, LaplaceMeasuredBound)
    assert made.error_bars.laplace
    assert made.error_bar(["a"]).fraction < 2.0


def absolute_law(scale: float, cells: int) -> np.ndarray:
    """P(L1 norm = k) of the discrete Laplace noise in `cells` cells, exactly but for what is below 1e-30 in one."""
    support = np.arange(int(70 * scale) + 2)
    one = np.exp(-support / scale) * np.where(support, 2, 1)
    one /= one.sum()
    law = one
    for _ in range(cells - 1):
        law = np.convolve(law, one)
    return law


@pytest.mark.parametrize("cells", [1, 2, 5, 40])
@pytest.mark.parametrize("scale", [0.1, 0.5, 1.0, 3.0, 20.0])
def test_the_bound_with_laplace_noise_holds_exactly_and_is_sharp(scale, cells):
    law = absolute_law(scale, cells)
    for beta in np.geomspace(0.9, 1e-9, 60):
        bound = LaplaceMeasuredBound(0.0, math.sqrt(2) * scale, cells).records(beta)
        assert law[math.floor(bound) + 1 :].sum() <= beta * (1 + 1e-9) + 1e-28
        exact = int(np.flatnonzero(np.cumsum(law[::-1])[::-1] > beta)[-1])  # P(norm >= exact) > beta
        assert bound <= 1.15 * exact + 0.75 * cells + 4 * scale + 1


def test_the_bound_with_gaussian_noise_fails_for_laplace_noise():
    """The broken twin: taking Laplace noise for Gaussian noise of the same deviation."""
    law = absolute_law(20.0, 1)
    too_small = MeasuredBound(0.0, math.sqrt(2) * 20.0, 1).records(1e-6)
    assert law[math.floor(too_small) + 1 :].sum() > 1e-6


@pytest.mark.parametrize("weights", [(1,), (1, 1), (1, 2), (1, 1, 1, 1, 5)])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_a_weighted_sum_of_laplace_noises_exceeds_its_deviations_rarely(scale, weights):
    """Exactly, by convolution; `total_error` is sqrt(2) times the scale for each weight."""
    support = np.arange(-int(45 * scale) - 1, int(45 * scale) + 2)
    one = np.exp(-np.abs(support) / scale)
    one /= one.sum()
    law = np.ones(1)
    for weight in weights:
        spread = np.zeros(weight * (len(one) - 1) + 1)
        spread[::weight] = one
        law = np.convolve(law, spread)
    reached = np.arange(len(law)) - len(law) // 2
    deviation = math.sqrt(2) * scale * math.hypot(*weights)
    for beta in np.geomspace(0.5, 1e-8, 40):
        most = _laplace_deviations(beta) * deviation
        assert law[reached > most].sum() <= beta
    assert 2.5 < _laplace_deviations(0.05) < 4, "a bound that never fails is wider than it says"


def test_bars_of_pure_privacy_hold_as_often_as_they_say():
    real, beta = counts_of(PAIR, ROWS, ("a",)), 0.2

    def failures() -> Iterator[np.ndarray]:
        for seed in itertools.count():
            made = released(Independent(), PAIR, ROWS, budget=Budget(0.2), seed=seed)
            missed = np.abs(real - made.model.marginal(("a",))).sum()
            yield np.array([missed > made.error_bar(["a"], beta=beta).records])

    require_all_rare(failures(), 60, beta)


def test_bars_of_a_large_budget_are_narrow():
    made = released(Direct(2), PAIR, ROWS, budget=Budget(1e4, 1e-6))
    assert GaussianFilter().capacity(Budget(1e4, 1e-6)) > 1
    assert made.error_bar(["a", "b"]).records < 0.3 * len(ROWS)


def test_bars_of_pure_privacy_hold_where_rare_values_were_counted_together():
    """Of columns, which were counted before, and none of a pair in which values were counted together."""
    beta = 0.2

    def failures() -> Iterator[np.ndarray]:
        for seed in itertools.count():
            made, failed = released(Reweighting(), PAIR, ROWS, budget=Budget(2.0), seed=seed), []
            for name in "ab":
                bar = made.error_bars.bar([name], beta=beta)
                assert bar.source == "its own noisy counts"
                missed = np.abs(counts_of(PAIR, ROWS, (name,)) - made.model.marginal((name,))).sum()
                failed.append(missed > bar.records)
            yield np.array(failed)

    require_all_rare(failures(), 60, beta)


def test_bounds_of_queries_that_follow_from_each_other_share_in_time():
    first, second = LaplaceMeasuredBound(5.0, 2.0, 3, 0), LaplaceMeasuredBound(1.0, 2.0, 12, 1)
    bars = ErrorBars(PAIR, {("a",): (first,), ("a", "b"): (second,)}, 100.0, 100.0, 0.0, laplace=True)
    assert bars.bar(["a"], 0.1).records == min(first.records(0.1 / 2), second.records(0.1 / 6))
    assert bars.bar(["a", "b"], 0.1).records == second.records(0.1)
