"""Criteria of acceptance as a TOML text: what has to hold of a release before it is released.

    share = 0.05                 # of the budget, for the noisy measures that decide; 0.05 where it is left out

    [[bound]]
    measure = "pairs"            # the mean L1 error of all pairs of columns
    at_most = 0.1
    confidence = 0.95            # the confidence bound must keep the limit; without this key, the noisy estimate

    [[bound]]
    pair = ["age", "income"]
    at_most = 0.15

    [[bound]]
    model = "income"             # the linear model for this column
    accuracy_at_least = 0.8

    [[bound]]
    column = "age"
    w1_at_most = 2.5             # in the column's own units

A release is accepted where all bounds hold.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from counterfoil.inert import inert
from counterfoil.receipt.acceptance_bounds import Bound, UnknownKey
from counterfoil.schema.errors import did_you_mean

DEFAULT_SHARE = 0.05
MOST_BOUNDS = 64
LONGEST = 100_000
"""Characters of a criteria file, which goes on the receipt."""


@dataclass(frozen=True)
class Criteria:
    """What has to hold, as one text and as what it says.

    Args:
        text: the TOML.
        bounds: all of which have to hold.
        share: of the budget, that buys the measures.
    """

    text: str
    bounds: tuple[Bound, ...]
    share: float

    @property
    def sha256(self) -> str:
        """The hash of the text in UTF-8."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def questions(self) -> tuple[Bound, ...]:
        """One bound for each measure that has to be bought: several limits of one measure share its answer."""
        first: dict[tuple[str, frozenset[str]], Bound] = {}
        for bound in self.bounds:
            first.setdefault((bound.kind, frozenset(bound.columns)), bound)
        return tuple(first.values())

    def place(self, bound: Bound) -> int:
        """The index among `questions` of the measure that decides `bound`."""
        same = [(one.kind, frozenset(one.columns)) for one in self.questions]
        return same.index((bound.kind, frozenset(bound.columns)))


def read_criteria(text: str, where: str = "The criteria") -> Criteria:
    """What a criteria file says.

    Args:
        text: of the file.
        where: how sentences name it.

    Raises:
        ValueError: in one sentence, for text that is no TOML, or says something else.
    """
    where = inert(where)
    if len(text) > LONGEST:
        raise ValueError(f"{where} must have at most {LONGEST:,} characters. Found {len(text):,}.")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        raise ValueError(
            f"{where} must be TOML, such as [[bound]] with a measure and a limit. Found no TOML."
        ) from None
    known = ("share", "bound")
    for name in document:
        if name not in known:
            raise ValueError(f"{where} must not have the key {inert(name)!r}.{did_you_mean(name, known)}")
    entries = document.get("bound", [])
    if not (isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)):
        raise ValueError(f"{where} must have [[bound]] tables, at least one. Found none.")
    if len(entries) > MOST_BOUNDS:
        raise ValueError(
            f"{where} must have at most {MOST_BOUNDS} bounds, which share one budget. Found {len(entries)}."
        )
    bounds = tuple(_bound(entry, f"Bound {number} of {where}") for number, entry in enumerate(entries, 1))
    return Criteria(text, bounds, _share(document.get("share", DEFAULT_SHARE), where))


def _share(share: Any, where: str) -> float:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise ValueError(f"{where}: `share` must be above 0 and below 1, such as {DEFAULT_SHARE}. Found {share!r}.")
    return float(share)


def _bound(entry: dict[str, Any], where: str) -> Bound:
    try:
        return Bound.of_facts(entry)
    except UnknownKey as error:
        raise ValueError(
            f"{where} must not have the key {inert(error.key)!r}.{did_you_mean(error.key, error.known)}"
        ) from None
    except ValueError as error:
        raise ValueError(f"{where}: {inert(str(error))}") from None
