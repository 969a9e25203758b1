"""Checks on exact answers: only those of the kind that the noise was proved for get noise and leave."""

from __future__ import annotations

import math

import numpy as np


def require_positive(query: str, sensitivity: float) -> float:
    """`sensitivity`, if noise can be scaled by it: by 0, there would be none.

    Raises:
        ValueError: for anything else.
    """
    if not 0 < sensitivity < math.inf:
        raise ValueError(f"A sensitivity must be positive and finite. The query {query} states {sensitivity!r}.")
    return sensitivity


def require_whole(query: str, exact: np.ndarray, *, cells: int | None = None) -> np.ndarray:
    """`exact`, if it is int64 [cells]: discrete noise hides whole numbers, and fractions would show through it.

    Args:
        query: the name of that which gave it.
        exact: its answer.
        cells: how many there must be, where a user's code decides it: noise does not hide a number of cells.

    Raises:
        ValueError: for anything else; nothing of it is shown.
    """
    if type(exact) is not np.ndarray or exact.dtype != np.int64 or exact.ndim != 1:
        raise ValueError(f"The query {query} must answer with int64 [cells]: noise is proved for whole numbers.")
    _require_as_many(query, exact, cells)
    return exact


def require_finite(query: str, scores: np.ndarray, *, candidates: int | None = None) -> np.ndarray:
    """`scores`, if they are finite float64 [candidates].

    Raises:
        ValueError: for anything else; nothing of it is shown.
    """
    if type(scores) is not np.ndarray or scores.dtype != np.float64 or scores.ndim != 1:
        raise ValueError(f"The query {query} must answer with float64 [candidates].")
    if not np.isfinite(scores).all():
        raise ValueError(f"The query {query} must answer with finite scores.")
    _require_as_many(query, scores, candidates)
    return scores


def _require_as_many(query: str, answer: np.ndarray, expected: int | None) -> None:
    if expected is not None and len(answer) != expected:
        raise ValueError(f"How many numbers the query {query} answers with must not depend on records.")
