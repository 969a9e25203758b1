"""Teachers: models of a part of the records each, which vote on public rows and are then forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec

import numpy as np
from threadpoolctl import ThreadpoolController

from counterfoil.curator.parts import Part


def require_scikit_learn() -> None:
    """Call it before anything is charged: teachers are made by scikit-learn.

    Raises:
        ModuleNotFoundError: where it is missing.
    """
    if find_spec("sklearn") is None:
        raise ModuleNotFoundError(
            "Teachers need scikit-learn. Found none: install it with pip install 'counterfoil[evaluation]'.",
            name="sklearn",
        )


@cache
def _libraries() -> ThreadpoolController:
    """Those that scikit-learn computes with; looking for them takes milliseconds, so that it is done once."""
    import sklearn.linear_model  # noqa: F401 - they must be there when they are looked for

    return ThreadpoolController()


def count_votes(parts: Iterable[Part], rows: np.ndarray, classes: int) -> np.ndarray:
    """int64 [m, classes]: how many of the parts' teachers give each class to each of `rows`, float64 [m, inputs].

    A part without records has no teacher, and casts no vote: the votes of a row add up to the number of other parts.
    """
    votes = np.zeros((len(rows), classes), dtype=np.int64)
    with _libraries().limit(limits=1):  # problems this small take longer with threads
        for part in parts:
            if not len(part.classes):
                continue
            votes[np.arange(len(rows)), teacher_votes(part, rows)] += 1
    return votes


def teacher_votes(part: Part, rows: np.ndarray) -> np.ndarray:
    """int64 [m]: the class that the teacher of `part` gives to each of the public `rows`, float64 [m, inputs].

    A teacher is a logistic regression with scikit-learn's penalty. It depends on nothing but its part. One with records
    of a single class votes for that class, and one that can't be trained for its part's commonest class: an error that
    the caller saw would tell of the records.
    """
    counts = np.bincount(part.classes, minlength=1)
    commonest = np.full(len(rows), int(np.argmax(counts)), dtype=np.int64)
    if np.count_nonzero(counts) < 2:
        return commonest
    from sklearn.linear_model import LogisticRegression

    try:
        votes: np.ndarray = LogisticRegression(max_iter=100).fit(part.inputs, part.classes).predict(rows)
    except Exception:
        return commonest
    return votes.astype(np.int64)
