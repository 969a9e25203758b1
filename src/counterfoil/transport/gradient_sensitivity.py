"""By how much the gradient of W_2^2 through two models moves where one record is replaced."""

from __future__ import annotations

import math


def gradient_sensitivity(bound: float, lipschitz_u: float, lipschitz_v: float, n: int) -> float:
    """The l2 sensitivity of sum_i a_i g_i + sum_j b_j h_j to replacing one record of the first sample.

    a_i and b_j are the derivatives of W_2^2 in the scores u_i and v_j, averaged over ties, as
    `rank_gradient.squared_wasserstein_gradient` gives them; g_i and h_j are the gradients of the scores in the models'
    parameters. It is (4 M / n) max(2 L1, L1 + L2), and no smaller number will do. Where a record of the second sample
    may be replaced as well, take the larger of this and `gradient_sensitivity(bound, lipschitz_v, lipschitz_u, m)`.

    Args:
        bound: M; all scores lie in [-M, M].
        lipschitz_u: L1, which the l2 norm of each g_i does not exceed.
        lipschitz_v: L2, which that of each h_j does not exceed.
        n: the number of records in the first sample, which is public. (A batch of it, where the scores are a batch's.)

    Formal guarantee: record r with score u and gradient g is replaced by one with score u' <= u and g' (else exchange
    the two data sets), all else is kept. First fix an order of ties: each record has a priority, which the new record
    inherits, and the points are ranked by score, then by priority. Let w_k be the mean of v's quantile function over
    ((k-1)/n, k/n], which grows with k, so that a = (2/n)(u - w_k) for the point of rank k. The rank of r falls from k
    to some k' <= k, the points of ranks k' to k - 1 rise by one each, and no other moves. With w = w_k, w' = w_k':

        the points that rise           change by (2/n) sum_{k' <= l < k} (w_{l+1} - w_l) = (2/n)(w - w') in all;
        the replaced record            changes its term by at most (2/n) L1 (abs(u - w) + abs(u' - w'));
        the points of v                have b_j = (2/m)(v_j - z_j), z_j the mean of u's quantile function over the
                                       interval of j. That function falls nowhere from u' to u, loses (u - u')/n in
                                       mean, and sum_j abs(change of b_j) = (2/n)(u - u').

    The sum changes by at most (2/n) (L1 (abs(u - w) + abs(u' - w') + w - w') + L2 (u - u')). That is convex in
    (u, u', w, w'), hence largest at a vertex of -M <= u' <= u <= M, -M <= w' <= w <= M: 4 M L1 inside the bracket for
    u = u' = M, w = w' = -M, for which g' = -g attains it; 2 M (L1 + L2) for u = w = M, u' = -M, whatever w', which is
    attained where all v are M; never more. Both times 2/n give the bound.

    Now the ties. The average over all orders of priorities, in u and in v, of the sum with a fixed order is the sum
    with the derivatives averaged over ties, in both data sets; each order obeys the bound, and the norm is convex. The
    average does not depend on how records are numbered, so that the bound holds for multisets. A sort that orders ties
    by the place in the array, or anyhow, gives no such bound: there all points of a tie may move at once.

    For the sliced form let M bound the Euclidean norms of the points, and L1, L2 the spectral norms of their Jacobians:
    each unit direction t gives scores in [-M, M] and gradients J^T t no longer than that, and a mean over directions
    that do not depend on the data obeys the bound of each.

    Rounding: the errors of a_i and b_j add at most 12 n 2^-53 of this number to it, for up to 2^24 points; sums with
    g_i and h_j are the caller's. Source: Rodriguez-Vitores, Lalanne and Loubes, "Learning with differentially private
    (sliced) Wasserstein gradients", Theorems 4.1 and A.1, whose constant is `published_sensitivity`.

    Raises:
        ValueError: for a bound that is negative or not finite, or n below 1.
    """
    _check(bound, lipschitz_u, lipschitz_v, n)
    return 4 * bound * max(2 * lipschitz_u, lipschitz_u + lipschitz_v) / n


def published_sensitivity(bound: float, lipschitz_u: float, lipschitz_v: float, n: int) -> float:
    """4 M (3 L1 + L2) / n, as in Theorem 4.1: valid, and twice `gradient_sensitivity` where L1 = L2.

    Its proof bounds each of four changes by its own worst case, which cannot all occur together.

    Raises:
        ValueError: for a bound that is negative or not finite, or n below 1.
    """
    _check(bound, lipschitz_u, lipschitz_v, n)
    return 4 * bound * (3 * lipschitz_u + lipschitz_v) / n


def _check(bound: float, lipschitz_u: float, lipschitz_v: float, n: int) -> None:
    for name, value in (("bound", bound), ("lipschitz_u", lipschitz_u), ("lipschitz_v", lipschitz_v)):
        if not 0 <= value < math.inf:
            raise ValueError(
                f"`{name}` must be finite and not negative. Found {value}. Clip to a number chosen before."
            )
    if n < 1:
        raise ValueError(f"`n` must be the number of records, at least 1. Found {n}.")
