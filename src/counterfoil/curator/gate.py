"""Checks on exact answers: only those of the kind that the noise was proved for get noise and leave."""

from __future__ import annotations

import numpy as np

from counterfoil.curator.queries.query import Query


def require_whole(query: Query, exact: np.ndarray) -> np.ndarray:
    """`exact`, if it is int64 [cells]: discrete noise hides whole numbers, and fractions would show through it.

    Raises:
        ValueError: for anything else; nothing of it is shown.
    """
    if not isinstance(exact, np.ndarray) or exact.dtype != np.int64 or exact.ndim != 1:
        raise ValueError(f"The query {query.name} must answer with int64 [cells]: noise is proved for whole numbers.")
    return exact


def require_finite(query: Query, scores: np.ndarray) -> np.ndarray:
    """`scores`, if they are finite float64 [candidates].

    Raises:
        ValueError: for anything else; nothing of it is shown.
    """
    if not isinstance(scores, np.ndarray) or scores.dtype != np.float64 or scores.ndim != 1:
        raise ValueError(f"The query {query.name} must answer with float64 [candidates].")
    if not np.isfinite(scores).all():
        raise ValueError(f"The query {query.name} must answer with finite scores.")
    return scores
