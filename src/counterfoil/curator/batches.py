"""Random batches of the sensitive records, for steps that read a few of them at a time. Never leaves the curator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.curator.engines.engine import Block
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.randomness import Randomness

_KEPT_ENCODED = 2**25
"""Numbers, of 8 bytes, up to which the inputs of all records are kept; of more, those of a batch are made each time."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some records as a model reads them, group by group.

    Args:
        inputs: float64 [b, inputs].
        classes: int64 [b], the codes of the one target; empty where there is none.
        numbers: float64 [b, targets], the scaled numbers of ordered targets; no columns where there are none.
        starts: where each group begins; the last entry is b.
    """

    inputs: np.ndarray
    classes: np.ndarray
    numbers: np.ndarray
    starts: tuple[int, ...]

    @staticmethod
    def of_zeros(features: TrainingFeatures, sizes: Sequence[int]) -> Batch:
        """A batch of no record: so many rows of each group, whose numbers and class are 0."""
        rows = sum(sizes)
        classes = np.zeros(rows if len(features.targets) == 1 else 0, dtype=np.int64)
        numbers = np.zeros((rows, len(features.targets) if _are_ordered(features) else 0))
        starts = (0, *np.cumsum(sizes).tolist())
        return Batch(np.zeros((rows, len(features.input_names))), classes, numbers, starts)

    def group(self, group: int) -> slice:
        """Where the records of a group lie."""
        return slice(self.starts[group], self.starts[group + 1])


class GroupedRecords:
    """All records of a table as a model reads them, divided into their groups.

    Args:
        features: the public map from a record to numbers.
        blocks: each record once, with the codes and numbers that `features` names.
    """

    def __init__(self, features: TrainingFeatures, blocks: Iterable[Block]) -> None:
        self._features = features
        parts = list(blocks)
        self._codes = {name: np.concatenate([part.codes[name] for part in parts]) for name in features.codes}
        self._numbers = {name: np.concatenate([part.numbers[name] for part in parts]) for name in features.numbers}
        rows = sum(part.rows for part in parts)
        group = features.group_of(self._codes) if features.groups else np.zeros(rows, dtype=np.int64)
        self.sizes = tuple(int(size) for size in np.bincount(group, minlength=features.group_count))
        self._pools = np.split(np.argsort(group, kind="stable"), np.cumsum(self.sizes)[:-1])
        # Parts of a run share the records: two threads that reorder one pool leave a record in it twice.
        self._drawing = Lock()
        keep = rows * len(features.input_names) <= _KEPT_ENCODED
        self._inputs = features.inputs(self._codes, self._numbers) if keep else None

    def draw(self, sizes: Sequence[int], randomness: Randomness) -> Batch:
        """A uniform sample of `sizes[j]` records of each group j, without replacement, independent of all others."""
        with self._drawing:
            chosen = [_sample(pool, size, randomness) for pool, size in zip(self._pools, sizes, strict=True)]
        starts = (0, *np.cumsum(sizes).tolist())
        return self._batch(np.concatenate(chosen), starts)

    def _batch(self, rows: np.ndarray, starts: tuple[int, ...]) -> Batch:
        features = self._features
        codes = {name: values[rows] for name, values in self._codes.items()}
        numbers = {name: values[rows] for name, values in self._numbers.items()}
        inputs = features.inputs(codes, numbers) if self._inputs is None else self._inputs[rows]
        classes = codes[features.targets[0]].astype(np.int64) if len(features.targets) == 1 else np.empty(0, np.int64)
        targets = features.target_numbers(numbers) if _are_ordered(features) else np.empty((len(rows), 0))
        return Batch(inputs, classes, targets, starts)


def _are_ordered(features: TrainingFeatures) -> bool:
    """Whether the targets are numbers."""
    return bool(features.targets) and all(features.schema[name].is_ordered for name in features.targets)


def _sample(pool: np.ndarray, size: int, randomness: Randomness) -> np.ndarray:
    """`size` of the positions in `pool`, uniformly without replacement; `pool` is reordered in place.

    The first steps of a Fisher-Yates shuffle, which makes every ordered choice equally likely whatever order the pool
    is in before. A place is a uniform word modulo the number of places left; words beyond the largest multiple of that
    number are drawn again, so that no place is more likely than another.
    """
    done, spare = 0, size
    while done < size:
        done = _shuffle(pool, done, size, randomness.words(spare))
        spare = size - done
    return pool[:size].copy()


@compiled
def _shuffle(pool: np.ndarray, start: int, size: int, words: np.ndarray) -> int:
    """Continues at `start`, as far as `words` reach; returns how far."""
    done = start
    for word in words:
        places = np.uint64(len(pool) - done)
        excess = (np.uint64(0) - places) % places  # 2**64 modulo the number of places
        if word >= np.uint64(0) - excess and excess > 0:
            continue
        other = done + np.int64(word % places)
        pool[done], pool[other] = pool[other], pool[done]
        done += 1
        if done == size:
            break
    return done
