"""Which groups a fairness penalty compares, from public numbers alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from counterfoil.features.training_features import TrainingFeatures

PENALTIES = ("statistical_parity", "equality_of_odds")

FEWEST = 5
"""Records of a group in a batch, for a comparison of it to say anything."""

Pairs = tuple[tuple[int, int, float], ...]


def require_penalty(name: str) -> str:
    """`name`, if it is a penalty.

    Raises:
        ValueError: otherwise.
    """
    if name not in PENALTIES:
        raise ValueError(f"`penalty` must be one of {', '.join(PENALTIES)}. Found {name!r}.")
    return name


def group_columns(penalty: str, protected: Sequence[str], target: str | None) -> tuple[str, ...]:
    """The columns whose combinations are the public groups.

    Raises:
        ValueError: for equality of odds without one target with classes.
    """
    if require_penalty(penalty) == "statistical_parity":
        return tuple(protected)
    if target is None:
        raise ValueError("`equality_of_odds` compares groups within each class of one target. Found no such target.")
    return (target, *protected)


def pairs_to_compare(features: TrainingFeatures, batch_sizes: Sequence[int], *, within: int) -> Pairs:
    """(group, group, weight) for all pairs of groups of one stratum, the weights of all adding up to 1.

    Statistical parity has one stratum; equality of odds has one for each class of the target, all with the same weight
    (Rodriguez-Vitores, Lalanne and Loubes 2025, equations 5 and 6, for two groups). With more groups each is compared
    with each: a record moves the terms of its own group alone, which keeps the noise small. Compared with the pooled
    distribution it would move all terms.

    Args:
        features: whose groups are numbered stratum by stratum.
        batch_sizes: of each group; those without records are left out.
        within: the number of strata.

    Raises:
        ValueError: where a group is too small, or a stratum has fewer than two.
    """
    by_stratum = np.arange(features.group_count).reshape(within, -1)
    chosen = []
    for stratum in by_stratum:
        present = [int(group) for group in stratum if batch_sizes[group]]
        for group in present:
            if batch_sizes[group] < FEWEST:
                raise ValueError(
                    f"The group {features.group_names[group]!r} has {_counted(batch_sizes[group])} in a batch, of "
                    f"at least {FEWEST} that a comparison needs. Merge it with another in the schema, or raise "
                    "`batch_share`."
                )
        if len(present) > 1:
            chosen.append(list(itertools.combinations(present, 2)))
    if not chosen:
        raise ValueError("A penalty compares groups. Found records of one group alone: drop the penalty.")
    return tuple((one, other, 1 / len(chosen) / len(pairs)) for pairs in chosen for one, other in pairs)


def _counted(records: int) -> str:
    return f"{records} record{'s' * (records != 1)}"
