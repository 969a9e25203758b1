"""Utility of `Gen_{d, sigma}`: every marginal up to order d, measured with Gaussian noise.

Zhou et al., "Bounding the Excess Risk for Linear Models Trained on Marginal-Preserving, Differentially-Private,
Synthetic Data" (2024), Algorithm 1, Lemmas 3.3 and 3.4, Corollaries 3.5 and 3.6, with the exact number of marginals,
exact calibration and a smaller tail. Neighbors replace one row, so the number of rows is public; under
`add_or_remove_one` the sensitivity is smaller by sqrt(2) and the number of rows must be bought.
Proofs: docs/theory/excess_risk.md, sections 10 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dp_accounting.pld import common, privacy_loss_mechanism

from counterfoil.theory.bound import Bound
from counterfoil.theory.loss import LOGISTIC, Loss
from counterfoil.theory.published_bounds import theorem_3_1, theorem_3_2


def n_marginals(n_attributes: int, order: int) -> int:
    """Marginals of 1 to `order` of `n_attributes` attributes, the label among them.

    The paper bounds it by m^d for m = n_attributes - 1, which is false for small m: 6 > 4 at m = d = 2.
    """
    if not 1 <= order <= n_attributes:
        raise ValueError(f"`order` must be in 1..{n_attributes}, the number of attributes. Found {order}.")
    return sum(math.comb(n_attributes, size) for size in range(1, order + 1))


def sigma(n_attributes: int, order: int, *, epsilon: float, delta: float) -> float:
    """The smallest deviation of the noise on every count that makes `Gen_{d, sigma}` (epsilon, delta)-private.

    Formal guarantee: replacing one row moves at most two counts by one in each marginal, so all counts together move
    by at most sqrt(2 n_marginals) in L2, and by as much if the two rows share no value. The deviation solves the
    exact trade-off of the Gaussian mechanism (Balle and Wang 2018, Theorem 8), rounded towards privacy.

    Raises:
      ValueError: `order` is out of range, `epsilon` is not positive, or `delta` is not in (0, 1).
    """
    if not 0 < epsilon < math.inf:
        raise ValueError(f"`epsilon` must be positive and finite. Found {epsilon}.")
    if not 0 < delta < 1:
        raise ValueError(f"`delta` must be in (0, 1). Found {delta}.")
    guarantee = common.DifferentialPrivacyParameters(epsilon, delta)
    sensitivity = math.sqrt(2 * n_marginals(n_attributes, order))
    loss = privacy_loss_mechanism.GaussianPrivacyLoss.from_privacy_guarantee(guarantee, sensitivity=sensitivity)
    return float(loss.standard_deviation)


def marginal_gap(sizes: Sequence[int], order: int, *, noise: float, failure_probability: float, rows: int) -> Bound:
    """Lemma 3.4, sharper: no marginal of the synthetic table is off by more, in rows and L1.

    2 noise max_q sqrt(2 n_q (n_q ln 2 + ln(Q / beta))) over the Q marginals q with n_q cells. The norm of the noise
    is its largest scalar product with the 2^n_q sign vectors, each sub-Gaussian with variance n_q noise^2; the
    synthetic table is at least as close to the noisy counts as the real one is, hence the 2. It holds for continuous
    and for discrete Gaussian noise, and is never above the lemma's 2 l^d sqrt(2 ln(2 C / beta)) noise, where C is the
    number of all cells (bounded in the paper by (m l)^d, which is false for small m).

    Args:
      sizes: number of values of each attribute, the label included.
      order: d.
      noise: sigma.
      failure_probability: beta; the paper's 2^-lambda.
      rows: n.

    Raises:
      ValueError: a parameter is out of range.
    """
    if not sizes or min(sizes) < 1:
        raise ValueError(f"`sizes` must be positive numbers of values. Found {list(sizes)}.")
    cells = math.prod(sorted(sizes)[-order:])
    count = n_marginals(len(sizes), order)
    return _gap(cells, count, noise=noise, failure_probability=failure_probability, rows=rows)


def measured_gap(cells: Sequence[int], *, noise: float, failure_probability: float, rows: int) -> Bound:
    """`marginal_gap` for any marginals that were measured together.

    Args:
        cells: how many cells each of them has.
        noise, failure_probability, rows: as in `marginal_gap`.

    Raises:
        ValueError: a parameter is out of range.
    """
    if not cells or min(cells) < 1:
        raise ValueError(f"`cells` must be positive numbers of cells. Found {list(cells)}.")
    return _gap(max(cells), len(cells), noise=noise, failure_probability=failure_probability, rows=rows)


def _gap(largest: int, marginals: int, *, noise: float, failure_probability: float, rows: int) -> Bound:
    if not noise >= 0:
        raise ValueError(f"`noise` must not be negative. Found {noise}.")
    if not 0 < failure_probability < 1:
        raise ValueError(f"`failure_probability` must be in (0, 1). Found {failure_probability}.")
    log_union = math.log(marginals / failure_probability)
    noise_norm = noise * math.sqrt(2 * largest * (largest * math.log(2) + log_union))
    return Bound(
        terms={"noise on the measured counts": noise_norm, "distance of the synthesis from them": noise_norm},
        trivial=2.0 * rows,
        assumptions=(
            f"holds with probability at least 1 - {failure_probability:g}",
            "independent Gaussian or discrete Gaussian noise on every count",
            "no table of the same number of rows has a smaller largest L1 distance to the noisy marginals",
        ),
        source="docs/theory/excess_risk.md, section 11, after Lemma 3.4 of Zhou et al. (2024)",
    )


def corollary_3_5(
    sizes: Sequence[int],
    order: int,
    *,
    rows: int,
    radius: float,
    epsilon: float,
    delta: float,
    failure_probability: float,
    loss: Loss = LOGISTIC,
) -> Bound:
    """Theorem 3.1 on the output of `Gen_{d, sigma}`: from (epsilon, delta) to the excess risk, all constants given.

    Args:
      sizes: number of values of each attribute, the label last.
      order: d.
      rows: n.
      radius: tau, the bound on norm2(w).
      epsilon, delta: the privacy guarantee, for neighbors that replace one row.
      failure_probability: of the noise.
      loss: phi.

    Raises:
      ValueError: a parameter is out of range.
    """
    noise = sigma(len(sizes), order, epsilon=epsilon, delta=delta)
    gap = marginal_gap(sizes, order, noise=noise, failure_probability=failure_probability, rows=rows)
    bound = theorem_3_1(gap.value, rows=rows, features=len(sizes) - 1, order=order, radius=radius, loss=loss)
    return _joined(bound, gap)


def corollary_3_6(
    sizes: Sequence[int],
    order: int,
    *,
    rows: int,
    radius: float,
    epsilon: float,
    delta: float,
    failure_probability: float,
    loss: Loss = LOGISTIC,
) -> Bound:
    """Theorem 3.2 on the output of `Gen_{d, sigma}`. Arguments and errors as in `corollary_3_5` and `theorem_3_2`."""
    noise = sigma(len(sizes), order, epsilon=epsilon, delta=delta)
    gap = marginal_gap(sizes, order, noise=noise, failure_probability=failure_probability, rows=rows)
    bound = theorem_3_2(gap.value, rows=rows, features=len(sizes) - 1, order=order, radius=radius, loss=loss)
    return _joined(bound, gap)


def _joined(bound: Bound, gap: Bound) -> Bound:
    assumptions = (*bound.assumptions, *gap.assumptions)
    return Bound(bound.terms, bound.trivial, assumptions, f"{bound.source}; {gap.source}")
