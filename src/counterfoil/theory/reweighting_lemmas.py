"""What can go wrong in reweighting over a private density, event by event, with what each event costs.

Algorithm 1 of Bojkovic and Loh, "Differentially Private Synthetic Data with Private Density Estimation", after
Boedihardjo, Strohmer and Vershynin (2022), adds noise to the averages of F functions, reweights m points of a reference
density mu to fit them, and draws k rows. Functions have values in [-1, 1] unless a span is given. Each bound on an
error comes with its inverse. `reweighting` puts them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

Kind = Literal["laplace", "gaussian"]
Averages = Literal["data", "population"]

PAPER = "Bojkovic and Loh, Differentially Private Synthetic Data with Private Density Estimation"

INDEPENDENT_RECORDS = "records are drawn independently from one distribution"

# Weights are clipped at this times sqrt(K m / L); the best multiple is .797, and the bound is flat around it.
_CLIPPING = 0.8
_CLIPPED_ERROR = 2 * (1 / (4 * _CLIPPING) + _CLIPPING / 3 + math.sqrt((_CLIPPING / 3) ** 2 + 2))


@dataclass(frozen=True)
class Reference:
    """What is known of the density mu that the points are drawn from, compared with a target rho.

    Attributes:
        condition: K, at least the integral of (d rho / d mu)^2 d mu.
        ratio: at least the largest d rho / d mu; infinite if unknown.
        target: rho: the records' own empirical distribution ("data") or the law that they are drawn from.
        cells: N, if the target lives on N cells that each have mass `lightest` or more under mu.
        lightest: q.
        failures: at most how probable it is that one of these numbers is wrong, by event.
        assumptions: what they rest on.
    """

    condition: float
    ratio: float = math.inf
    target: Averages = "population"
    cells: int | None = None
    lightest: float = 0.0
    failures: Mapping[str, float] | None = None
    assumptions: tuple[str, ...] = ()


def largest_noise(
    scale: float, *, n_answers: int, failure_probability: float, kind: Kind = "laplace", grid: float = 0.0
) -> float:
    """t such that the largest of `n_answers` independent noises exceeds t in size with at most this probability.

    P(max abs(omega) > t) = 1 - (1 - q(t / scale))^N, where q(x) = e^(-x) for Laplace and 2 Phi(-x) for Gaussian noise;
    solved for t. Discrete noise is on multiples of `grid`: at whole multiples its tail is below the continuous one for
    Laplace noise, e^(-t/b) 2 / (e^(1/b) + 1), and for Gaussian noise P(Z >= t + 1) <= P(N >= t) (Canonne, Kamath and
    Steinke 2020, Proposition 25), so that rounding t up to the grid suffices.

    Args:
        scale: of the Laplace distribution, or the deviation; the largest if answers have different ones.
        n_answers: N.
        failure_probability: in (0, 1).
        kind: of noise.
        grid: step of discrete noise; 0 for continuous noise.

    Raises:
        ValueError: a parameter is out of range.
    """
    _not_negative(scale=scale)
    _not_negative(grid=grid)
    share = -math.expm1(math.log1p(-probability(failure_probability)) / at_least_one(n_answers=n_answers))
    quantile = -math.log(share) if kind == "laplace" else -NormalDist().inv_cdf(share / 2)
    return math.ceil(scale * quantile / grid) * grid if grid else scale * quantile


def largest_noise_tail(threshold: float, *, scale: float, n_answers: int, kind: Kind = "laplace") -> float:
    """P(max abs(omega) > threshold) = 1 - (1 - q)^N for continuous noise, as in `largest_noise`."""
    if threshold <= 0:
        return 1.0
    ratio = threshold / positive(scale=scale)
    one = math.exp(-ratio) if kind == "laplace" else math.erfc(ratio / math.sqrt(2))
    return -math.expm1(n_answers * math.log1p(-one)) if one < 1 else 1.0


def mean_largest_laplace(n_answers: int, scale: float) -> float:
    """E (max omega)_+ of n signed Laplace variables: scale times the sum of (1 - 2^-i) / i, i = 1, ..., n.

    Lemma A.1 of Bojkovic and Loh takes this for the mean of the maximum itself, which is 2^-n / n less, and claims that
    it is at most scale log n, by way of sum 1/i <= log n, which holds for no n. The sum exceeds log n for n <= 4 (.875
    against .693 at n = 2), the mean of the maximum for n = 2 and 3; from n = 5 on both stay below, and the sum minus
    log n falls to gamma_E - log 2 = -.116. Markov's inequality, which the lemma goes on with, needs the positive part.
    """
    at_least_one(n_answers=n_answers)
    return scale * math.fsum((1 - 0.5**i) / i for i in range(1, n_answers + 1))


def mean_largest_absolute_laplace(n_answers: int, scale: float) -> float:
    """E max abs(omega) of n Laplace variables: scale times the harmonic number H_n, above scale log n for every n.

    The absolute values are exponential, and the gaps of their order statistics have means scale / i. Lemma A.1 is
    applied to this maximum as if it were signed. Its consequence, a maximum of at most scale log(n) / gamma with
    probability 1 - gamma, holds all the same for n >= 2 and gamma <= 1/2, as n^(1 - 1/gamma) <= gamma there; it is much
    weaker than `largest_noise`.
    """
    at_least_one(n_answers=n_answers)
    return scale * math.fsum(1 / i for i in range(1, n_answers + 1))


def total_laplace(scale: float, *, n_answers: int, failure_probability: float) -> float:
    """What the sum of abs(omega) of N Laplace variables exceeds with at most this probability.

    The sum has a Gamma distribution of shape N: N + sqrt(2 N L) + L in units of the scale, L = log(1 / probability)
    (Boucheron, Lugosi and Massart 2013, section 2.4).
    """
    log = -math.log(probability(failure_probability))
    return scale * (n_answers + math.sqrt(2 * n_answers * log) + log)


def average_error(size: float, *, n_functions: int, failure_probability: float, span: float = 2.0) -> float:
    """How far F averages over `size` independent draws are from their means: span sqrt(log(2 F / beta) / (2 size)).

    Hoeffding for each function, whose values lie in an interval of length `span`, from both sides, and a union bound.

    Raises:
        ValueError: a parameter is out of range.
    """
    log = _union(2 * n_functions, failure_probability)
    return positive(span=span) * math.sqrt(log / (2 * at_least_one(size=size)))


def average_size(error: float, *, n_functions: int, failure_probability: float, span: float = 2.0) -> int:
    """The inverse of `average_error`: the fewest draws whose averages are all within `error`."""
    log = _union(2 * n_functions, failure_probability)
    return max(1, math.ceil(log / 2 * (positive(span=span) / positive(error=error)) ** 2))


def variance_error(points: float, *, n_functions: int, condition: float, failure_probability: float) -> float:
    """How well some density on m points of mu fits F averages of rho, by Chebyshev, with K >= kappa(rho || mu).

    Proof (the step of Theorem II.1, constants made best). Let w = d rho / d mu at the points, W its average over them
    and S_f that of w f. S_f has mean rho(f) and variance at most K/m, W has mean 1 and variance (K - 1)/m. The density
    w / sum w has averages S_f / W, and abs(S_f / W - rho(f)) <= abs(S_f - rho(f)) + abs(1 - W), as abs(S_f) <= W. The
    first is at most a for all f but with probability F K / (m a^2), the second at most b but with (K - 1) / (m b^2).
    The least a + b is ((F K)^(1/3) + (K - 1)^(1/3))^(3/2) / sqrt(m beta). If W = 0 then b >= 1 and any density will do.

    Args:
        points: m, drawn independently from mu.
        n_functions: F.
        condition: K, at least 1.
        failure_probability: beta.

    Raises:
        ValueError: a parameter is out of range.
    """
    return math.sqrt(_variance(n_functions, condition, failure_probability) / at_least_one(points=points))


def variance_points(error: float, *, n_functions: int, condition: float, failure_probability: float) -> int:
    """The inverse of `variance_error`: the fewest points for `error`."""
    return _whole(_variance(n_functions, condition, failure_probability) / positive(error=error) ** 2)


def clipping_error(points: float, *, n_functions: int, condition: float, failure_probability: float) -> float:
    """As `variance_error`, but growing with log(F / beta) instead of F / beta: 4.04 sqrt(K log(2 (F + 1) / beta) / m).

    Proof. Clip the weights: v = min(w, b). The mean of w - v is at most K / (4 b), because w - b <= w^2 / (4 b). The
    averages over m points of v f, and of v itself, are within a of their means but with probability beta, where
    a = b L / (3 m) + sqrt((b L / (3 m))^2 + 2 K L / m) and L = log(2 (F + 1) / beta): Bernstein's inequality with
    E v^2 <= K and v <= b (Boucheron, Lugosi and Massart 2013, Corollary 2.11). The density v / sum v is then off by at
    most 2 (K / (4 b) + a), which b = .8 sqrt(K m / L) makes 4.04 sqrt(K L / m).

    Arguments and errors as in `variance_error`.
    """
    log = _union(2 * (n_functions + 1), failure_probability)
    return _CLIPPED_ERROR * math.sqrt(_condition(condition) * log / at_least_one(points=points))


def clipping_points(error: float, *, n_functions: int, condition: float, failure_probability: float) -> int:
    """The inverse of `clipping_error`: the fewest points for `error`."""
    log = _union(2 * (n_functions + 1), failure_probability)
    return _whole(_condition(condition) * log * (_CLIPPED_ERROR / positive(error=error)) ** 2)


def ratio_error(
    points: float, *, n_functions: int, condition: float, ratio: float, failure_probability: float
) -> float:
    """As `clipping_error`, where d rho / d mu is at most `ratio` everywhere, so that nothing needs clipping.

    Twice a = R L / (3 m) + sqrt((R L / (3 m))^2 + 2 K L / m).
    """
    log = _union(2 * (n_functions + 1), failure_probability) / at_least_one(points=points)
    linear = _condition(ratio) * log / 3
    return 2 * (linear + math.sqrt(linear**2 + 2 * min(_condition(condition), ratio) * log))


def ratio_points(error: float, *, n_functions: int, condition: float, ratio: float, failure_probability: float) -> int:
    """The inverse of `ratio_error`: the fewest points for `error`."""
    log, half = _union(2 * (n_functions + 1), failure_probability), positive(error=error) / 2
    return _whole(2 * log * (min(_condition(condition), ratio) + _condition(ratio) * half / 3) / half**2)


def coverage_failure(points: float, *, cells: int, lightest: float) -> float:
    """At most the probability that m points of mu miss one of `cells` cells of mass `lightest` or more: N (1 - q)^m.

    A support that holds every cell fits any density on the domain without error.
    """
    lightest = probability(lightest, "lightest", at_most_one=True)
    missed = math.exp(at_least_one(points=points) * math.log1p(-lightest)) if lightest < 1 else 0.0
    return min(1.0, at_least_one(cells=cells) * missed)


def coverage_points(*, cells: int, lightest: float, failure_probability: float) -> int:
    """The inverse of `coverage_failure`: the fewest points."""
    lightest = probability(lightest, "lightest", at_most_one=True)
    log = _union(cells, failure_probability)
    return _whole(log / -math.log1p(-lightest)) if lightest < 1 else 1


def empirical_distance(records: float, *, cells: int, failure_probability: float) -> float:
    """L1 distance of the empirical from the true distribution on `cells` values: sqrt(2 log(1/beta)/n) + sqrt(cells/n).

    Theorem A.5 (Berend and Kontorovich 2012): P(distance > t) <= exp(-(n/2) (t - sqrt(cells/n))^2) for t at least
    sqrt(cells/n), the bound on the mean; one record moves the distance by 2/n (McDiarmid). Without the root of cells/n,
    as it is printed, it is false: at 16 equal cells the probability beyond sqrt(cells/n) would tend to e^-8.
    """
    log = -math.log(probability(failure_probability))
    return (math.sqrt(2 * log) + math.sqrt(at_least_one(cells=cells))) / math.sqrt(at_least_one(records=records))


def frequency_excess(records: float, *, cells: int, largest: float) -> float:
    """At most the probability that some frequency exceeds twice the `largest` probability: N (e/4)^(n tau_2).

    Chernoff at twice the mean of a binomial variable, which dominates those of smaller probability. The printed step,
    no frequency exceeds tau_2 itself with probability 1 - e^(-cn), is false: about half of the cells of probability
    tau_2 exceed it, whatever n is.
    """
    largest = probability(largest, "largest", at_most_one=True)
    return min(1.0, cells * math.exp(-(2 * math.log(2) - 1) * records * largest))


def frequency_shortfall(records: float, *, cells: int, smallest: float, failure_probability: float) -> float:
    """a such that no frequency falls below (1 - a) times its probability, each at least `smallest`.

    sqrt(2 log(N / beta) / (n tau_1)) by Chernoff and a union over the cells.
    """
    smallest = probability(smallest, "smallest", at_most_one=True)
    return math.sqrt(2 * _union(cells, failure_probability) / (at_least_one(records=records) * smallest))


def smallest_ratio(total_variation: float, *, smallest: float) -> float:
    """Lemma A.2: min p/q >= 1 / (1 + TV(p, q) / min p), since q(y) <= p(y) + TV."""
    return 1 / (1 + total_variation / positive(smallest=smallest))


def renyi_divergence(order: float, *, total_variation: float, ratio: float) -> float:
    """Lemma A.4 (Sason and Verdu 2015): D_a(P || Q) <= log(1 + TV (b^(1-a) - 1) / (1 - b)) / (a - 1), b = min q/p.

    With r = q/p, the convex r^(1-a) is below its chord on [b, 1] and below 1 after it, and E_P (1 - r)_+ = TV.

    Args:
        order: a, above 1.
        total_variation: TV(P, Q).
        ratio: b, or a lower bound on it, in (0, 1).

    Raises:
        ValueError: `order` or `ratio` is out of range.
    """
    if not order > 1:
        raise ValueError(f"`order` must be above 1. Found {order}.")
    slope = (probability(ratio, "ratio") ** (1 - order) - 1) / (1 - ratio)
    return math.log1p(total_variation * slope) / (order - 1)


def uniform_reference(cells: int) -> Reference:
    """mu uniform on `cells` values: no density on them exceeds it `cells` times, the data's own included.

    Theorem B.1 says so for the law of the records only, and so has to assume that they are drawn from one.
    """
    return Reference(at_least_one(cells=cells), cells, "data", cells, 1 / cells)


def histogram_reference(
    records: float,
    *,
    cells: int,
    smallest: float,
    epsilon: float,
    failure_probability: float,
    target: Averages = "population",
    grid: float = 0.0,
) -> Reference:
    """mu the perturbed histogram of Algorithm 2: positive parts of counts C_j with Laplace(2 / epsilon) noise, normed.

    Proof. But with the failure probability, a third for each, (1) C_j >= (1 - a) n nu_j for all cells, a =
    sqrt(2 log(3 N / beta) / (n tau_1)); (2) no noise exceeds M; (3) all noise together is at most G. The positive parts
    then sum to at most n + G, and

        nu_j / mu_j <= (1 + G/n) / (1 - a - M / (n tau_1)),

    which bounds kappa as well, and tends to 1. For the data's own distribution, C_j / n in place of nu_j, it is 1 - a
    times as large. The size of discrete noise is at most that of continuous noise rounded up, in distribution: M is
    rounded up, and G grows by N steps. No distance in total variation, no largest probability, no open constant; n
    grows like log(N) / tau_1, where Theorem III.1 has N / tau_1^2.

    Formal guarantee: a replaced record moves two counts by one each, hence the scale 2 / epsilon of Algorithm 2.

    Args:
        records: n.
        cells: N, of the domain.
        smallest: tau_1, the smallest positive probability of a cell.
        epsilon: of the histogram alone.
        failure_probability: beta.
        target: what the reference is compared with.
        grid: step of discrete noise on counts, 1 for whole numbers; 0 for continuous noise.

    Raises:
        ValueError: a parameter is out of range.
    """
    each = probability(failure_probability) / 3
    scale, expected = 2 / positive(epsilon=epsilon), at_least_one(records=records) * smallest
    short = frequency_shortfall(records, cells=cells, smallest=smallest, failure_probability=each)
    largest = largest_noise(scale, n_answers=cells, failure_probability=each, grid=grid)
    total = total_laplace(scale, n_answers=cells, failure_probability=each) + cells * grid
    kept = 1 - short - largest / expected
    ratio = (1 + total / records) / kept if kept > 0 else math.inf
    return Reference(
        condition=ratio * (1 - short) if target == "data" and kept > 0 else ratio,
        ratio=ratio * (1 - short) if target == "data" and kept > 0 else ratio,
        target=target,
        cells=cells if kept > 0 else None,
        lightest=smallest / ratio,
        failures={"counts of the histogram": each, "noise of the histogram": 2 * each},
        assumptions=(INDEPENDENT_RECORDS, f"no cell that occurs is less probable than {smallest:g}"),
    )


def histogram_records(
    condition: float,
    *,
    cells: int,
    smallest: float,
    epsilon: float,
    failure_probability: float,
    target: Averages = "population",
    grid: float = 0.0,
) -> int:
    """The inverse of `histogram_reference`: the fewest records for `condition`, above 1."""
    if not condition > 1:
        raise ValueError(f"`condition` must be above 1, which it reaches for no number of records. Found {condition}.")

    def enough(records: int) -> bool:
        arguments = {"smallest": smallest, "epsilon": epsilon, "failure_probability": failure_probability, "grid": grid}
        return histogram_reference(records, cells=cells, target=target, **arguments).condition <= condition

    return _fewest(enough)


def density_reference(deviation: float, *, smallest: float, failure_probability: float) -> Reference:
    """mu the positive part, normed, of an estimate within `deviation` of the density nu >= `smallest` on a unit volume.

    nu - d >= nu (1 - d / tau), and the positive part has integral at most 1 + d: hence nu / mu <= (1 + d)/(1 - d/tau).
    Theorem IV.1 has d = 2 tau / 3 and goes by way of Renyi divergences to constants that it leaves open. It takes d
    from a theorem on kernel estimates that asks for a density continuous on all of R^p. A density bounded below on the
    cube jumps to 0 at its faces, where the mean of the estimate tends to nu / 2, at corners to nu / 2^p, as the
    bandwidth shrinks: the printed conditions do not give d < tau without a correction at the boundary.

    Raises:
        ValueError: a parameter is out of range.
    """
    closeness = positive(deviation=deviation) / positive(smallest=smallest)
    ratio = (1 + deviation) / (1 - closeness) if closeness < 1 else math.inf
    assumptions = (f"the estimate is within {deviation:g} of the density, which is at least {smallest:g}",)
    failures = {"estimate of the density": probability(failure_probability)}
    return Reference(ratio, ratio, "population", failures=failures, assumptions=assumptions)


def probability(value: float, name: str = "failure_probability", *, at_most_one: bool = False) -> float:
    """`value`, which must be in (0, 1), or in (0, 1] if it may be 1."""
    if not (0 < value < 1 or (at_most_one and value == 1)):
        raise ValueError(f"`{name}` must be in (0, 1{']' if at_most_one else ')'}. Found {value}.")
    return value


def at_least_one(**parameters: float) -> float:
    """The one parameter, which must be at least 1."""
    name, value = _only(parameters)
    if not value >= 1:
        raise ValueError(f"`{name}` must be at least 1. Found {value}.")
    return value


def positive(**parameters: float) -> float:
    """The one parameter, which must be positive and finite."""
    name, value = _only(parameters)
    if not 0 < value < math.inf:
        raise ValueError(f"`{name}` must be positive and finite. Found {value}.")
    return value


def _not_negative(**parameters: float) -> float:
    name, value = _only(parameters)
    if not 0 <= value < math.inf:
        raise ValueError(f"`{name}` must be finite and not negative. Found {value}.")
    return value


def _only(parameters: Mapping[str, float]) -> tuple[str, float]:
    ((name, value),) = parameters.items()
    return name, value


def _condition(value: float) -> float:
    if not value >= 1:
        raise ValueError(f"`condition` and `ratio` must be at least 1, as for two equal densities. Found {value}.")
    return value


def _union(events: float, failure_probability: float) -> float:
    return math.log(at_least_one(events=events)) - math.log(probability(failure_probability))


def _variance(n_functions: int, condition: float, failure_probability: float) -> float:
    functions = at_least_one(n_functions=n_functions) * _condition(condition)
    return (functions ** (1 / 3) + (condition - 1) ** (1 / 3)) ** 3 / probability(failure_probability)


def _whole(points: float) -> int:
    if not points < math.inf:
        raise ValueError("No number of points suffices: `condition` is infinite. Mix the reference with a uniform one.")
    return max(1, math.ceil(points))


def _fewest(enough: Callable[[int], bool]) -> int:
    """The least whole number from which on `enough` holds."""
    high = 1
    while not enough(high):
        if high > 2**200:
            raise ValueError("No number of records below 2^200 suffices: ask for a larger `condition`.")
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
