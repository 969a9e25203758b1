"""What a user wants of a release, as "pairs 0.08" or "income auc 0.89"."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from typing import Any

from counterfoil.planning.rehearsal import TRAINED, Rehearsal
from counterfoil.planning.spread import Spread
from counterfoil.schema.errors import did_you_mean

MODEL = TRAINED[0]
"""The model whose score is meant: logistic regression."""

_FORMS = "'pairs 0.08', 'COLUMN auc 0.89' or 'COLUMN accuracy 0.8', with quotes around a name with spaces"
_SCORES = ("auc", "accuracy")


@dataclass(frozen=True)
class Want:
    """A bound that a release should keep.

    Args:
        measure: "pairs", the mean L1 distance between shares over all pairs, which should be at most `bound`; or the
            "auc" or "accuracy" of logistic regression trained on the synthetic rows, which should be at least that.
        bound: between 0 and 2 for pairs, else between 0 and 1.
        column: what the model predicts; None for pairs.

    Raises:
        ValueError: for another measure, a bound outside its range, or a column that is missing or not needed.
    """

    measure: str
    bound: float
    column: str | None = None

    def __post_init__(self) -> None:
        if self.measure not in ("pairs", *_SCORES):
            hint = did_you_mean(self.measure, ("pairs", *_SCORES))
            raise ValueError(f"`want` must be {_FORMS}. Found the measure {self.measure!r}.{hint}")
        if (self.column is None) != (self.measure == "pairs"):
            raise ValueError(f"`want` must be {_FORMS}: a column goes with a score and with no other measure.")
        most = 2 if self.measure == "pairs" else 1
        if not (isinstance(self.bound, (int, float)) and 0 < self.bound < most):
            raise ValueError(f"`want` for {self.measure} must be a number between 0 and {most}. Found {self.bound!r}.")

    @classmethod
    def of(cls, want: Want | str) -> Want:
        """The want, or the one that a text states.

        Raises:
            ValueError: for a text of another form.
        """
        if isinstance(want, Want):
            return want
        try:
            words = shlex.split(want)
            bound = float(words[-1])
        except (ValueError, IndexError):
            raise ValueError(f"`want` must be {_FORMS}. Found {want!r}.") from None
        if len(words) == 2 and words[0] == "pairs":
            return cls("pairs", bound)
        if len(words) == 3:
            return cls(words[1], bound, words[0])
        raise ValueError(f"`want` must be {_FORMS}. Found {want!r}.")

    def __str__(self) -> str:
        if self.column is None:
            return f"mean pair error of at most {self.bound:g}"
        return f"{self.measure} for {self.column} of at least {self.bound:g}"

    def figure(self, rehearsal: Rehearsal) -> float:
        """What one rehearsal reached; NaN for the AUC of a test whose records are all of one class."""
        if self.column is None:
            return rehearsal.pair_error
        score = rehearsal.scores[MODEL]
        return score.auc if self.measure == "auc" else score.accuracy

    def met(self, figure: float) -> bool:
        """Whether a figure keeps the bound; NaN does not."""
        return figure <= self.bound if self.column is None else figure >= self.bound


@dataclass(frozen=True)
class Answer:
    """The smallest epsilon at which rehearsals keep a bound in the mean.

    Args:
        want: the bound.
        world: where the records of the rehearsals come from.
        epsilon: the smallest one, to within 5%; None where not even `LARGEST` reaches the bound.
        already: whether the smallest epsilon that was tried reaches it, so that a smaller one may do.
        figure: what was reached there in the mean, and how far rehearsals differ; at the largest one where none does.
        least: the epsilon at which the first rehearsal keeps the bound by itself; None where none does at any that was
            tried.
        most: the same for the last rehearsal.
    """

    want: Want
    world: str
    epsilon: float | None
    already: bool
    figure: Spread | None
    least: float | None
    most: float | None

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "want": {"measure": self.want.measure, "bound": self.want.bound, "column": self.want.column},
            "records": self.world,
            "epsilon": self.epsilon,
            "reached": self.epsilon is not None,
            "reached_at_the_smallest_tried": self.already,
            "figure": None if self.figure is None else self.figure.to_json(),
            "epsilon_by_rehearsal": {"least": self.least, "most": self.most},
        }


def own_epsilon(want: Want, tried: list[tuple[float, float]]) -> float | None:
    """Where one rehearsal begins to keep the bound.

    Between two epsilons its figure is taken to be linear in log epsilon.

    Args:
        want: the bound.
        tried: (epsilon, figure), by rising epsilon.

    Returns:
        the first epsilon from which on every larger one that was tried keeps the bound; None where the last does not.
    """
    failing = [place for place, (_, figure) in enumerate(tried) if not want.met(figure)]
    first = failing[-1] + 1 if failing else 0
    if first == len(tried):
        return None
    if first == 0 or math.isnan(tried[first - 1][1]):
        return tried[first][0]
    (low, before), (high, after) = tried[first - 1], tried[first]
    share = (want.bound - before) / (after - before)
    return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
