"""Bounds on the quality of a release that are stated before its run, and whether noisy measures keep them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.receipt.certificate import count_slack
from counterfoil.receipt.noisy_measure import NoisyMeasure

PAIRS, PAIR, ACCURACY, TRANSPORT = "pairs", "pair", "accuracy", "w1"

MEASURE_OF = {
    PAIRS: "mean_marginal_error",
    PAIR: "pair_error",
    ACCURACY: "accuracy",
    TRANSPORT: "wasserstein",
}
"""What can be bounded, each with the noisy measure that decides it."""

_COLUMNS = {PAIRS: 0, PAIR: 2, ACCURACY: 1, TRANSPORT: 1}
_LARGEST = {PAIRS: 2.0, PAIR: 2.0, ACCURACY: 1.0, TRANSPORT: math.inf}
LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True)
class Bound:
    """One bound.

    Without a confidence, the noisy estimate has to keep the limit: of releases that are as good as the limit says,
    noise passes about half. With one, the end of a one-sided confidence interval has to keep it: a release that is
    worse than the limit then passes with probability at most 1 - confidence.

    Args:
        kind: a key of `MEASURE_OF`: "pairs" is the mean L1 error of all pairs of columns, "pair" that of one, both of
            normalized counts, from 0 to 2; "accuracy" that on the real rows of the linear model for a target which was
            trained on the synthetic ones; "w1" the distance W_1 of a column, in its own units (days of dates, seconds
            of datetimes), on the grid that measures of it have.
        limit: the most that an error may be, or the least that an accuracy may be.
        columns: what it is about: nothing for "pairs", else the two columns, the target or the column.
        confidence: from 0.5 to below 1, or None for the estimate itself.

    Raises:
        ValueError: for another kind, limit, number of columns or confidence.
    """

    kind: str
    limit: float
    columns: tuple[str, ...] = ()
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in MEASURE_OF:
            raise ValueError(f"`kind` of a bound must be one of {', '.join(MEASURE_OF)}. Found {self.kind!r}.")
        named = isinstance(self.columns, tuple) and all(isinstance(name, str) for name in self.columns)
        if not named or len(set(self.columns)) != _COLUMNS[self.kind] or len(self.columns) != _COLUMNS[self.kind]:
            raise ValueError(
                f"A bound of kind {self.kind!r} needs {_COLUMNS[self.kind]} different columns. Found "
                f"{', '.join(map(repr, self.columns)) if named else f'{self.columns!r}, which is no tuple of names'}."
            )
        if not _is_number(self.limit) or not 0 < self.limit <= _LARGEST[self.kind] or self.limit == math.inf:
            most = "" if _LARGEST[self.kind] == math.inf else f" and at most {_LARGEST[self.kind]:g}"
            raise ValueError(f"The limit of {self.words} must be a number above 0{most}. Found {self.limit!r}.")
        if self.confidence is not None and not (
            _is_number(self.confidence) and LEAST_CONFIDENCE <= self.confidence < 1
        ):
            raise ValueError(
                f"`confidence` must be at least {LEAST_CONFIDENCE} and below 1, such as 0.95, or be left out. Found "
                f"{self.confidence!r}."
            )

    @property
    def measure(self) -> str:
        """The noisy measure that decides it."""
        return MEASURE_OF[self.kind]

    @property
    def words(self) -> str:
        """What is bounded."""
        if self.kind == PAIRS:
            return "the mean L1 error of all pairs"
        if self.kind == PAIR:
            return f"the L1 error of the pair {self.columns[0]} and {self.columns[1]}"
        if self.kind == ACCURACY:
            return f"the accuracy of the model for {self.columns[0]}"
        return f"W_1 of {self.columns[0]}"

    @property
    def about(self) -> str:
        """What the noisy measure says that it is about."""
        return "2 columns" if self.kind == PAIRS else " and ".join(self.columns)

    @property
    def sentence(self) -> str:
        """The bound in words."""
        side = "at least" if self.kind == ACCURACY else "at most"
        of = "its noisy estimate" if self.confidence is None else f"with {100 * self.confidence:g}% confidence"
        return f"{self.words} is {side} {self.limit:g} ({of})"

    def value(self, noisy: NoisyMeasure, length: float = 1.0) -> float:
        """What is compared with the limit: the estimate, or the end of the interval.

        With N the noisy number of records, off by at most abs(n - N) with probability 1 - (1 - confidence) / 2, and
        the answer off by at most `off_by` with the same probability, the value for the n real records is within
        (off_by / unit + abs(n - N)) / N of answer / (unit N): `receipt.certificate` has the inequality for sums, whose
        proof holds for the number of correct predictions and for areas between cumulative counts too.

        Args:
            noisy: the measure of the same kind.
            length: of the column's range, in its own units, for W_1, whose measure is a share of it; else 1.
        """
        if self.confidence is None:
            return noisy.estimate * length
        share = (1 - self.confidence) / 2
        slack = (noisy.off_by(share) / noisy.unit + count_slack(noisy, share)) / noisy.records
        middle = noisy.answer / (noisy.unit * noisy.records)
        return max(middle - slack, 0.0) if self.kind == ACCURACY else max(middle + slack, 0.0) * length

    def kept_by(self, value: float) -> bool:
        """Whether `value` keeps the limit."""
        return value >= self.limit if self.kind == ACCURACY else value <= self.limit

    def facts(self) -> dict[str, Any]:
        """The bound as the keys of a criteria file."""
        keys: dict[str, dict[str, Any]] = {
            PAIRS: {"measure": PAIRS, "at_most": self.limit},
            PAIR: {"pair": list(self.columns), "at_most": self.limit},
            ACCURACY: {"model": "".join(self.columns), "accuracy_at_least": self.limit},
            TRANSPORT: {"column": "".join(self.columns), "w1_at_most": self.limit},
        }
        return keys[self.kind] | ({} if self.confidence is None else {"confidence": self.confidence})

    @staticmethod
    def of_facts(facts: Mapping[str, Any]) -> Bound:
        """The bound that the keys of a criteria file state.

        Raises:
            ValueError: in a sentence without a subject, for what is no bound.
        """
        kinds = [kind for kind, key in _KEY.items() if key in facts]
        known = (*_KEY.values(), *dict.fromkeys(_LIMIT.values()), "confidence")
        strange = [name for name in facts if name not in known]
        if strange:
            raise UnknownKey(strange[0], known)
        if len(kinds) != 1:
            raise ValueError(f"A bound has one of the keys {', '.join(_KEY.values())}. Found {_listed(facts)}.")
        kind, needed = kinds[0], _LIMIT[kinds[0]]
        strange = [name for name in facts if name not in (_KEY[kind], needed, "confidence")]
        if strange:
            raise UnknownKey(strange[0], (_KEY[kind], needed, "confidence"))
        if needed not in facts:
            raise ValueError(f"A bound with `{_KEY[kind]}` needs `{needed}`, a number. Found {_listed(facts)}.")
        about = facts[_KEY[kind]]
        if kind == PAIRS:
            if about != PAIRS:
                raise ValueError(f'`measure` must be "{PAIRS}", the mean error of all pairs. Found {about!r}.')
            columns: tuple[str, ...] = ()
        elif kind == PAIR:
            if not (isinstance(about, list) and len(about) == 2 and all(isinstance(name, str) for name in about)):
                raise ValueError(f"`pair` must be a list of two names of columns. Found {about!r}.")
            columns = (about[0], about[1])
        else:
            if not isinstance(about, str):
                raise ValueError(f"`{_KEY[kind]}` must be the name of a column. Found {about!r}.")
            columns = (about,)
        limit, confidence = facts[needed], facts.get("confidence")
        return Bound(kind, float(limit) if _is_number(limit) else limit, columns, confidence)


class UnknownKey(ValueError):
    """A key that no bound of its kind has; whoever reads the file says which was meant."""

    def __init__(self, key: str, known: tuple[str, ...]) -> None:
        super().__init__(f"A bound has no key {key!r}.")
        self.key, self.known = key, known


_KEY = {PAIRS: "measure", PAIR: "pair", ACCURACY: "model", TRANSPORT: "column"}
_LIMIT = {PAIRS: "at_most", PAIR: "at_most", ACCURACY: "accuracy_at_least", TRANSPORT: "w1_at_most"}


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, facts)) or "none"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
