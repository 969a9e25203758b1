"""The sensitive records, divided at random into parts, for what is learned from each part by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.engines.engine import Block
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.randomness import Randomness


@dataclass(frozen=True, eq=False)
class Part:
    """Some records as a model reads them. Never leaves the curator.

    Args:
        inputs: float64 [n, inputs].
        classes: int64 [n], the codes of the one target.
    """

    inputs: np.ndarray
    classes: np.ndarray


def random_parts(
    features: TrainingFeatures, blocks: Iterable[Block], count: int, randomness: Randomness
) -> Iterator[Part]:
    """All records, each in one of `count` parts, which are drawn anew in each call; a part may be empty.

    Formal guarantee: a record's part is the remainder of 64 random bits of its own, drawn without a look at any record.
    So two tables that differ in one record can be given parts by the same bits for each record that they share, and for
    the one that is replaced and the one in its place; each table then has the law of parts that it has here. All parts
    are equal but one, which has a record more, a record less, or another record. Within a part records are sorted by
    their values, so that a part is the same whatever rows surround its own. Remainders are uniform but for 2**-64 times
    `count`, which matters for nobody's privacy: only their independence of the records does.

    Args:
        features: how records are read, with one target.
        blocks: each record once, with the codes and numbers that `features` names.
        count: at least 1.
        randomness: the curator's.
    """
    read = list(blocks)
    part = np.concatenate([randomness.words(block.rows) % np.uint64(count) for block in read]).astype(np.int64)
    codes = {name: np.concatenate([block.codes[name] for block in read]) for name in features.codes}
    numbers = {name: np.concatenate([block.numbers[name] for block in read]) for name in features.numbers}
    order = np.lexsort((*codes.values(), *numbers.values(), part))
    for rows in np.split(order, np.cumsum(np.bincount(part, minlength=count))[:-1]):
        own = {name: values[rows] for name, values in codes.items()}
        inputs = features.inputs(own, {name: values[rows] for name, values in numbers.items()})
        yield Part(inputs, own[features.targets[0]].astype(np.int64))
