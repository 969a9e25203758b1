"""Scores of candidates, of how far a model is from the counts of each: what the noise of a choice is drawn for."""

from __future__ import annotations

import numpy as np

LARGEST_TOTAL = 1e9
"""Records of an estimate: errors are exact integers below that."""

LARGEST_PENALTY = 2 * int(LARGEST_TOTAL)
"""The most that an error or a penalty of a score may be; `selection` says what rests on it."""

LARGEST_GAIN = 400_000_000
"""The most that an error and what it is compared with are within a gain, whose steps are more and round more."""

_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100


def gains_of(errors: np.ndarray, noises: np.ndarray) -> np.ndarray:
    """By how much the error of a marginal falls if it is measured, and its noise weighed against what is known.

    Of deviations from an estimate that are as large as the noise, a posterior mean takes half, and leaves 1 / sqrt(2)
    of the error: deviations with the variance v and noise with the variance s leave v s / (v + s). With errors e and q
    of the estimate and of the noise that leaves e q / sqrt(e^2 + q^2). The gain lies between max(e - q, 0) and e, and
    rises with e by at most as much as e: its derivative is 1 - (q / sqrt(e^2 + q^2))^3.

    Args:
        errors: float64 [candidates], of the estimate.
        noises: float64 [candidates], what noise alone would leave.
    """
    distances = np.hypot(errors, noises)
    return np.asarray(errors * (1 - noises / np.where(distances > 0, distances, 1.0)))


def require_scores(weights: np.ndarray, penalties: np.ndarray, *of_gains: np.ndarray) -> None:
    """Refuses weights of candidates, and numbers of records, with which scores would be rounded too much.

    Raises:
        ValueError: naming the range.
    """
    if not all(numbers.dtype == np.float64 for numbers in (weights, penalties, *of_gains)):
        found = ", ".join(sorted({str(numbers.dtype) for numbers in (weights, penalties, *of_gains)}))
        raise ValueError(f"`weights`, `penalties` and what gains take must be float64. Found {found}.")
    if not ((weights > 0).all() and _SMALLEST_WEIGHT <= weights.max() <= _LARGEST_WEIGHT):
        raise ValueError(
            f"`weights` must be positive and finite, the largest of them between {_SMALLEST_WEIGHT:g} and "
            f"{_LARGEST_WEIGHT:g}. Found {weights.min()} to {weights.max()}: scale them."
        )
    limited = [("`penalties`", LARGEST_PENALTY, penalties)]
    limited += [("What gains take", LARGEST_GAIN, numbers) for numbers in of_gains]
    for what, most, numbers in limited:
        if not ((numbers >= 0) & (numbers <= most)).all():
            raise ValueError(
                f"{what} must be finite, from 0 to {most:,}: scores are rounded too much beyond. Found "
                f"{numbers.min()} to {numbers.max()}."
            )


def records_of_scores(penalties: np.ndarray, *of_gains: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Those of the arguments of `WorstApproximatedMarginal` in records that are given, `penalties` first.

    Raises:
        ValueError: where some of those about gains are, without others.
    """
    given = tuple(numbers for numbers in of_gains if numbers is not None)
    if given and len(given) < len(of_gains):
        raise ValueError("`noises`, `floors` and `cautions` must be given together.")
    return penalties, *given


def scores_of_errors(
    errors: np.ndarray, weights: np.ndarray, penalties: np.ndarray, *of_gains: np.ndarray
) -> np.ndarray:
    """float64 [candidates]: the scores of `WorstApproximatedMarginal`, whose arguments these are, in their order."""
    errors = np.minimum(errors, LARGEST_PENALTY).astype(np.float64)
    scores = errors - penalties
    if of_gains:
        noises, floors, cautions = of_gains
        beyond = np.maximum(np.minimum(errors, LARGEST_GAIN) - floors, 0.0)
        scores = np.maximum(scores, gains_of(beyond, noises) - cautions)
    return np.asarray(weights * scores)
