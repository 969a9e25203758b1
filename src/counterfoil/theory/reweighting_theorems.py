"""The theorems on reweighting over a private density, as printed and as they can be proved: sizes for an accuracy.

Bojkovic and Loh: Theorem II.1 (of Boedihardjo, Strohmer and Vershynin 2022), Theorems B.1, III.1 and IV.1 and their
corollaries. What `reweighting.accuracy` and `reweighting.sizes` give is better than all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from counterfoil.theory import reweighting_lemmas as lemmas
from counterfoil.theory.reweighting import (
    INDEPENDENT_POINTS,
    INDEPENDENT_ROWS,
    OPTIMAL,
    REPLACE_ONE,
    AccuracyBound,
    Sizes,
    noise_scale,
    whole,
)
from counterfoil.theory.reweighting_lemmas import (
    INDEPENDENT_RECORDS,
    PAPER,
    Averages,
    at_least_one,
    positive,
    probability,
)

# (b^-3 - 1)/(1 - b) / 2 and (b^-2 - 1)/(1 - b) at b = 2/3: the C_1 and C_2 that Theorem III.1 leaves open.
C_1, C_2 = 57 / 16, 15 / 4


def theorem_ii_1(
    n_functions: int,
    *,
    noise: float,
    condition: float,
    points: float,
    rows: float,
    records: float,
    gamma: float,
    against: Averages = "data",
) -> AccuracyBound:
    """Theorem II.1 forward: the least delta whose conditions hold, the error 8 delta, and what fails how often.

    delta = max(sigma log(F/gamma), sqrt(log(F/gamma) / min(n, k)), sqrt(K F / (m gamma))) for the Laplace scale sigma
    that is really used. The constants are right. Proof: with t = delta and s = r = u = 2 delta, 2 t + s + r + u is
    8 delta (10 delta against the population, where r comes twice), and the events fail with at most

        noise F e^(-delta/sigma) <= gamma;  support F K / (m delta^2) + (K - 1) / (m delta^2) <= gamma + gamma / F;
        records and rows 2 F e^(-2 n delta^2) <= 2 gamma^2 / F each,

    together 2 gamma + (gamma + 4 gamma^2) / F, which is at most 4 gamma for gamma <= 1/4 and any F.

    Args:
        n_functions: F.
        noise: sigma.
        condition: K >= kappa(nu || mu).
        points, rows, records: m, k and n.
        gamma: of the theorem; a quarter of the failure probability.
        against: what the synthetic averages are compared with.

    Raises:
        ValueError: a parameter is out of range.
    """
    log = math.log(at_least_one(n_functions=n_functions) / probability(gamma, "gamma"))
    fewest = min(at_least_one(records=records), at_least_one(rows=rows))
    support = n_functions * at_least_one(condition=condition) / (at_least_one(points=points) * gamma)
    delta = max(positive(noise=noise) * log, math.sqrt(log / fewest), math.sqrt(support))
    missed = (n_functions * condition + condition - 1) / (points * delta**2)
    failures = {
        "noise": lemmas.largest_noise_tail(delta, scale=noise, n_answers=n_functions),
        "support": missed,
        "rows": 2 * n_functions * math.exp(-2 * rows * delta**2),
        "records": 2 * n_functions * math.exp(-2 * records * delta**2),
    }
    return _eight_deltas(delta, failures, against, "Theorem II.1")


def theorem_ii_1_sizes(
    n_functions: int,
    *,
    delta: float,
    gamma: float,
    epsilon: float,
    condition: float,
    joint_sensitivity: float | None = None,
) -> Sizes:
    """Theorem II.1 backward: the sizes for delta and gamma, with the noise that n and epsilon then give.

    n >= J log(F/gamma) / (epsilon delta), J = 2 F or the joint sensitivity; min(n, k) >= log(F/gamma) / delta^2;
    m >= K F / (delta^2 gamma). A wished error e and failure probability beta ask for delta = e/8 and gamma = beta/4.

    Raises:
        ValueError: a parameter is out of range.
    """
    needed, rows = _conditions(n_functions, delta, gamma, epsilon, joint_sensitivity)
    return _theorem_sizes(n_functions, delta, gamma, epsilon, condition, needed, rows, joint_sensitivity)


def published_theorem_ii_1(
    n_functions: int, *, noise: float, condition: float, points: float, rows: float, records: float, gamma: float
) -> AccuracyBound:
    """Theorem II.1 as printed: 8 delta, with failure probability 4 gamma whatever F is. Arguments as there."""
    bound = theorem_ii_1(
        n_functions, noise=noise, condition=condition, points=points, rows=rows, records=records, gamma=gamma
    )
    return AccuracyBound(bound.terms, bound.trivial, bound.assumptions, bound.source, {"as printed": 4 * gamma})


def published_theorem_b_1_sizes(n_functions: int, *, cells: int, delta: float, gamma: float, epsilon: float) -> Sizes:
    """Theorem B.1 as printed: Theorem II.1 with the uniform reference on `cells` values, K = `cells`.

    True, and never worth it: m = N F / (delta^2 gamma) points are more than the N of the domain, which as a support has
    no error at all. `accuracy` with `points=None`, or with `uniform_reference`, which finds that N log(N / beta) points
    hold every cell, needs neither this m nor independent records.
    """
    needed, rows = _conditions(n_functions, delta, gamma, epsilon, None)
    points = whole(at_least_one(cells=cells) * n_functions / (delta**2 * gamma))
    return _printed(n_functions, needed, rows, points, cells, epsilon, 1, delta, {"as printed": 4 * gamma}, "B.1", ())


def published_theorem_iii_1_sizes(
    n_functions: int,
    *,
    cells: int,
    smallest: float,
    largest: float,
    delta: float,
    gamma: float,
    epsilon: float,
    chernoff: float,
    c_1: float = C_1,
    c_2: float = 57 / 8,
) -> Sizes:
    """Theorem III.1 as printed, with log(F/delta) in denominators. Not proved: `theorem_iii_1_sizes` says why.

    Corollary III.1.1 is the case `smallest` = `largest` = 1 / `cells`.

    Args:
        n_functions: F.
        cells: the size of the domain.
        smallest, largest: tau_1 and tau_2, the smallest and the largest probability of a cell.
        delta, gamma: of the theorem.
        epsilon: of the histogram, and again of the averages.
        chernoff: c in the failure probability 3 gamma + e^(-c n), unknown, and positive by a step that is false.
        c_1, c_2: left open in the paper; its own proof gives 57/16 and 57/8.

    Raises:
        ValueError: a parameter is out of range.
    """
    needed, rows = _conditions(n_functions, delta, gamma, epsilon, None)
    tau = probability(smallest, "smallest", at_most_one=True)
    growth = delta * cells * (1 + largest * cells) * math.log(cells) / (gamma * math.log(n_functions / delta))
    needed["counts of the histogram"] = 8 / tau**2 * (cells + 2 * math.log(1 / gamma))
    needed["noise of the histogram"] = 8 * growth / tau
    records = whole(max(needed.values()))
    distance = math.sqrt(2 * math.log(1 / gamma) / records) + math.sqrt(cells / records)
    condition = math.sqrt((1 + c_1 * distance) * (1 + c_2 * growth / records))
    points = whole(2 * condition * n_functions / (delta**2 * gamma))
    failures = {"as printed": 3 * gamma + math.exp(-chernoff * records)}
    assumptions = (f"C_1 = {c_1:g}, C_2 = {c_2:g} and c = {chernoff:g} (not proved)",)
    return _printed(n_functions, needed, rows, points, condition, epsilon, 2, delta, failures, "III.1", assumptions)


def theorem_iii_1_sizes(
    n_functions: int, *, cells: int, smallest: float, delta: float, gamma: float, epsilon: float
) -> Sizes:
    """Theorem III.1 along the paper's own proof, with what that proof gives when its steps are right.

    (1) The noise of Algorithm 2 is 2 / epsilon, whereas the printed conditions use Algorithm 1's sigma, about
    epsilon delta / (2 log(F/gamma)) times as large. (2) No noise exceeds M but with probability gamma, M =
    (2/epsilon) log(N/gamma) at most, exactly (2/epsilon) log(1 / (1 - (1 - gamma)^(1/N))). (3) The histogram mu and the
    empirical nu_1 differ by at most 2 sum abs(omega) / n in L1, since sum (C_j + omega_j)_+ is within sum abs(omega) of
    n: delta_2 <= N M / n without tau_2, and so without the false step nu_1 <= tau_2 (`frequency_excess` has a right
    one). (4) n >= (8/tau_1^2)(N + 2 log(1/gamma)) gives delta_1 <= tau_1/4, min nu_1 >= tau_1/2, beta_1 >= 2/3;
    n >= 8 N M / tau_1 gives delta_2 <= tau_1/8, min mu >= tau_1/4, beta_2 >= 2/3. (5) Then

        K = sqrt((1 + C_1 (sqrt(2 log(1/gamma)/n) + sqrt(N/n))) (1 + C_2 N M / n)),  C_1 = 57/16, C_2 = 15/4

    (the printed exponent -3 of beta_2 is -2 for the order 3). (6) Both steps fail with gamma each, to which those of
    Theorem II.1 come: together at most 6 gamma. `histogram_reference` gets the same from far fewer records.

    Arguments as in `published_theorem_iii_1_sizes`; epsilon is spent twice.

    Raises:
        ValueError: a parameter is out of range.
    """
    needed, rows = _conditions(n_functions, delta, gamma, epsilon, None)
    tau = probability(smallest, "smallest", at_most_one=True)
    largest_noise = lemmas.largest_noise(2 / epsilon, n_answers=cells, failure_probability=gamma)
    needed["counts of the histogram"] = 8 / tau**2 * (cells + 2 * math.log(1 / gamma))
    needed["noise of the histogram"] = 8 * cells * largest_noise / tau
    records = whole(max(needed.values()))
    distance = lemmas.empirical_distance(records, cells=cells, failure_probability=gamma)
    condition = math.sqrt((1 + C_1 * distance) * (1 + C_2 * cells * largest_noise / records))
    events = {"counts of the histogram": gamma, "noise of the histogram": gamma}
    return _theorem_sizes(n_functions, delta, gamma, epsilon, condition, needed, rows, None, events, "Theorem III.1")


def published_theorem_iv_1_sizes(
    n_functions: int, *, dimension: int, smallest: float, delta: float, gamma: float, epsilon: float, constant: float
) -> Sizes:
    """Theorem IV.1 as printed, for densities of at least tau = `smallest` on [0, 1]^p. Not proved.

    Its condition on n has lost the bandwidth and the constant of its proof, (3 C / tau)^(p+1) / h; the condition that
    makes the bias small is missing; the claim's condition on log(n) / n points the wrong way; its noise is that of
    Algorithm 3, which is not private for p >= 2; Theorem II.1's own failure is left out; and see `density_reference`
    for the boundary. `constant` is C_1', unknown.

    Raises:
        ValueError: a parameter is out of range.
    """
    condition = 1 + positive(constant=constant) * positive(smallest=smallest)
    text = f"C_1' = {constant:g} (unknown)"
    return _published_iv_1(n_functions, dimension, smallest, delta, gamma, epsilon, condition, 2, text)


def published_corollary_iv_1_1_sizes(
    n_functions: int, *, dimension: int, delta: float, gamma: float, epsilon: float, constant: float
) -> Sizes:
    """Corollary IV.1.1 as printed: tau = 1, the uniform density, and m = C_0 F / (delta^2 gamma). Not proved.

    `constant` is C_0, unknown. It fails at the faces of the cube, where the kernel estimate is near 1/2: its distance
    from 1 is above the tau/3 = 1/3 that the proof needs, for any n.
    """
    text = f"C_0 = {constant:g} (unknown)"
    return _published_iv_1(n_functions, dimension, 1.0, delta, gamma, epsilon, positive(constant=constant), 1, text)


def theorem_iv_1_sizes(
    n_functions: int,
    *,
    deviation: float,
    smallest: float,
    density_failure: float,
    delta: float,
    gamma: float,
    epsilon: float,
    joint_sensitivity: float | None = None,
) -> Sizes:
    """Theorem IV.1 as far as it can be proved: from the error of the released density to n, k and m.

    K = (1 + d) / (1 - d/tau) by `density_reference`, and at most 4 gamma on top of `density_failure`. How many records
    the deviation d takes is left to the density's own analysis. epsilon is spent twice.

    Raises:
        ValueError: a parameter is out of range, or the deviation is not below `smallest`.
    """
    reference = lemmas.density_reference(deviation, smallest=smallest, failure_probability=density_failure)
    if not reference.condition < math.inf:
        raise ValueError(f"`deviation` must be below `smallest`, {smallest:g}. Found {deviation}: no K follows.")
    needed, rows = _conditions(n_functions, delta, gamma, epsilon, joint_sensitivity)
    return _theorem_sizes(
        n_functions, delta, gamma, epsilon, reference.condition, needed, rows, joint_sensitivity,
        dict(reference.failures or {}), "Theorem IV.1", reference.assumptions,
    )  # fmt: skip


def _published_iv_1(
    n_functions: int, dimension: int, smallest: float, delta: float, gamma: float, epsilon: float, condition: float,
    factor: int, constants: str,
) -> Sizes:  # fmt: skip
    needed, rows = _conditions(n_functions, delta, gamma, epsilon, None)
    spread = 2 / (epsilon * math.sqrt((2 * math.pi) ** at_least_one(dimension=dimension))) * math.log(1 / gamma)
    needed["estimate of the density"] = (3 / smallest) ** (dimension + 1) * spread
    points = whole(factor * condition * n_functions / (delta**2 * gamma))
    failures = {"as printed": gamma + 1 / whole(max(needed.values()))}
    return _printed(n_functions, needed, rows, points, condition, epsilon, 2, delta, failures, "IV.1", (constants,))


def _conditions(
    n_functions: int, delta: float, gamma: float, epsilon: float, joint_sensitivity: float | None
) -> tuple[dict[str, float], int]:
    """Theorem II.1's conditions on n, by name, and k."""
    moved = 2 * at_least_one(n_functions=n_functions)
    if joint_sensitivity is not None:
        moved = positive(joint_sensitivity=joint_sensitivity)
    log = math.log(n_functions / probability(gamma, "gamma"))
    drawn = log / positive(delta=delta) ** 2
    return {"noise": moved * log / (positive(epsilon=epsilon) * delta), "records": drawn}, whole(drawn)


def _theorem_sizes(
    n_functions: int,
    delta: float,
    gamma: float,
    epsilon: float,
    condition: float,
    needed: dict[str, float],
    rows: int,
    joint_sensitivity: float | None,
    failures: Mapping[str, float] | None = None,
    theorem: str = "Theorem II.1",
    assumptions: tuple[str, ...] = (),
) -> Sizes:
    """Sizes of a theorem that is proved, with a reference that fails by `failures` and then costs epsilon once more."""
    records = whole(max(needed.values()))
    points = whole(condition * n_functions / (delta**2 * gamma))
    scale = noise_scale(records, n_functions=n_functions, epsilon=epsilon, joint_sensitivity=joint_sensitivity)
    noise = scale.value
    bound = theorem_ii_1(
        n_functions, noise=noise, condition=condition, points=points, rows=rows, records=records, gamma=gamma
    )
    joined = AccuracyBound(
        bound.terms, 2.0, (*bound.assumptions, *assumptions), f"{PAPER}, {theorem}, corrected",
        {**bound.failures, **(failures or {})},
    )  # fmt: skip
    return Sizes(records, rows, points, noise, epsilon * (2 if failures else 1), condition, needed, joined)


def _printed(
    n_functions: int, needed: dict[str, float], rows: int, points: int, condition: float, epsilon: float, times: int,
    delta: float, failures: dict[str, float], theorem: str, assumptions: tuple[str, ...],
) -> Sizes:  # fmt: skip
    """Sizes of a theorem as printed, which has the noise of delta and gamma rather than of n and epsilon."""
    records = whole(max(needed.values()))
    bound = _eight_deltas(delta, failures, "data", f"Theorem {theorem}, as printed", assumptions)
    noise = 2 * n_functions / (needed["noise"] * epsilon)
    return Sizes(records, rows, points, noise, times * epsilon, condition, needed, bound)


def _eight_deltas(
    delta: float, failures: Mapping[str, float], against: Averages, theorem: str, assumptions: tuple[str, ...] = ()
) -> AccuracyBound:
    terms = {"noise": 2 * delta, "support": 2 * delta, "rows": 2 * delta, "records": 2 * delta}
    terms["records"] *= 2 if against == "population" else 1
    rests = (REPLACE_ONE, INDEPENDENT_RECORDS, INDEPENDENT_ROWS, INDEPENDENT_POINTS, OPTIMAL, "Laplace noise")
    return AccuracyBound(terms, 2.0, (*rests, *assumptions), f"{PAPER}, {theorem}", failures)
