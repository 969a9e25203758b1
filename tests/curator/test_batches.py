"""Random batches: uniform, without replacement, independent, of exact sizes.

False alarms: all draws come from seeds, so that every outcome is the same each time. For fresh seeds each chi-square
test would fail by chance with probability 1e-7, and there are fewer than ten.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.curator import batches
from counterfoil.curator.batches import GroupedRecords, _sample, _shuffle
from counterfoil.curator.engines.engine import Block
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.randomness import SeededRandomness, SystemRandomness
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
from statistics_tools import chi_square_p_value

FALSE_ALARM = 1e-7
SCHEMA = Schema((Integer("x", 0, 200), Integer("g", 0, 3), Integer("y", 0, 2)))
BY_GROUP = TrainingFeatures(SCHEMA, ("y",), ("g",), ("g",))


def records_of(groups, x=None, *, features=BY_GROUP, parts=1) -> GroupedRecords:
    """Records of these groups, each with a number of its own."""
    group = np.array(groups, dtype=np.uint8)
    numbers = np.arange(len(group), dtype=np.float64) if x is None else np.array(x, dtype=np.float64)
    classes = (np.arange(len(group)) % 3).astype(np.uint8)
    blocks = [
        Block(len(rows), {"g": group[rows], "y": classes[rows]}, {"x": numbers[rows], "y": classes[rows].astype(float)})
        for rows in np.array_split(np.arange(len(group)), parts)
    ]
    return GroupedRecords(features, blocks)


def named(batch) -> list[int]:
    """Which records are in a batch, by their numbers, which are scaled from 0 to 200."""
    return np.rint((batch.inputs[:, 0] + 1) * 100).astype(int).tolist()


def p_value(found: Counter, outcomes: list) -> float:
    assert found.keys() <= set(outcomes)
    return chi_square_p_value(np.array([found[one] for one in outcomes]), np.full(len(outcomes), 1 / len(outcomes)))


@pytest.mark.parametrize(("pool", "size"), [(5, 2), (6, 3), (4, 4), (7, 1)])
def test_all_ordered_choices_are_equally_likely(pool, size):
    """In whatever order the pool was left by the draws before."""
    randomness, places = SeededRandomness(pool), np.arange(pool)
    found = Counter(tuple(_sample(places, size, randomness).tolist()) for _ in range(40_000))
    assert p_value(found, list(itertools.permutations(range(pool), size))) > FALSE_ALARM


def test_two_steps_are_independent():
    records, randomness = records_of([0] * 5), SeededRandomness(3)
    subsets = list(itertools.combinations(range(5), 2))
    steps = [tuple(sorted(named(records.draw((2, 0, 0, 0), randomness)))) for _ in range(40_000)]
    assert p_value(Counter(zip(steps[::2], steps[1::2], strict=True)), list(itertools.product(subsets, subsets))) > (
        FALSE_ALARM
    )


def test_groups_are_drawn_independently():
    records, randomness = records_of([1, 0, 1, 0, 1, 0]), SeededRandomness(4)
    found = Counter(
        (tuple(sorted(chosen[:1])), tuple(sorted(chosen[1:])))
        for chosen in (named(records.draw((1, 2, 0, 0), randomness)) for _ in range(30_000))
    )
    ones = [(place,) for place in (1, 3, 5)]
    assert p_value(found, list(itertools.product(ones, itertools.combinations((0, 2, 4), 2)))) > FALSE_ALARM


def test_a_biased_draw_would_be_seen():
    """The power of the tests above: an exchange with any place, drawn ones included, is the classical mistake."""
    rng = np.random.default_rng(1)

    def biased() -> tuple:
        places = np.arange(4)
        for place in range(4):
            other = rng.integers(4)
            places[[place, other]] = places[[other, place]]
        return tuple(places.tolist())

    found = Counter(biased() for _ in range(40_000))
    assert p_value(found, list(itertools.permutations(range(4)))) < FALSE_ALARM


@settings(max_examples=60, derandomize=True)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 3), st.integers(0, 2**31), st.data())
def test_a_batch_holds_records_of_each_group_as_asked(groups, parts, seed, data):
    records = records_of(groups, parts=parts)
    counts = tuple(groups.count(group) for group in range(4))
    assert records.sizes == counts
    sizes = tuple(data.draw(st.integers(0, count)) for count in counts)
    randomness = SeededRandomness(seed)
    for _ in range(3):
        batch = records.draw(sizes, randomness)
        assert batch.starts == (0, *np.cumsum(sizes).tolist())
        chosen = named(batch)
        assert len(set(chosen)) == len(chosen) == sum(sizes), "without replacement"
        for group in range(4):
            assert all(groups[record] == group for record in chosen[batch.group(group)])
        assert batch.classes.tolist() == [record % 3 for record in chosen]
        assert batch.classes.dtype == np.int64
        assert batch.numbers[:, 0].tolist() == [record % 3 - 1 for record in chosen]


def test_without_groups_all_records_are_one():
    features = TrainingFeatures(SCHEMA, ("y",), (), ("g",))
    records = records_of([3, 1, 2], features=features)
    assert records.sizes == (3,)
    assert sorted(named(records.draw((3,), SeededRandomness(0)))) == [0, 1, 2]


def test_inputs_are_the_same_where_they_are_not_kept(monkeypatch):
    whole = records_of([0, 1] * 10).draw((4, 3, 0, 0), SeededRandomness(9))
    monkeypatch.setattr(batches, "_KEPT_ENCODED", 3)
    again = records_of([0, 1] * 10).draw((4, 3, 0, 0), SeededRandomness(9))
    assert np.array_equal(whole.inputs, again.inputs)
    assert np.array_equal(whole.classes, again.classes)


# Words that are rejected


class Words(SeededRandomness):
    """A source whose next words are these, one call after another."""

    def __init__(self, *calls: list[int]) -> None:
        super().__init__(0)
        self.calls = list(calls)

    def words(self, size: int) -> np.ndarray:
        assert size == len(self.calls[0]), "as many as are missing"
        return np.array(self.calls.pop(0), dtype=np.uint64)


def by_hand(pool: list[int], size: int, words: list[int]) -> list[int]:
    """The definition, in whole numbers of any size."""
    pool, done = list(pool), 0
    for word in words:
        places = len(pool) - done
        if word >= 2**64 // places * places:
            continue
        other = done + word % places
        pool[done], pool[other] = pool[other], pool[done]
        done += 1
        if done == size:
            break
    return pool[:done]


def test_words_beyond_the_last_multiple_are_drawn_again():
    """2**64 is 1 modulo 3 and 1 modulo 5: the largest word is rejected for 3 and 5 places, and for no power of two."""
    last = 2**64 - 1
    assert _sample(np.arange(3), 2, Words([last, last], [last, 1], [4])).tolist() == by_hand(
        [0, 1, 2], 2, [last, last, last, 1, 4]
    )
    assert _sample(np.arange(4), 1, Words([last])).tolist() == [3]
    assert _sample(np.arange(3), 1, Words([last - 1])).tolist() == [(last - 1) % 3]
    assert _sample(np.arange(1), 1, Words([last])).tolist() == [0]


@settings(max_examples=200, derandomize=True)
@given(st.integers(1, 12), st.data())
def test_places_follow_from_words_as_defined(count, data):
    size = data.draw(st.integers(1, count))
    near_the_end = st.integers(2**64 - 12, 2**64 - 1)
    words = data.draw(st.lists(near_the_end | st.integers(0, 2**64 - 1), min_size=1, max_size=20))
    pool = np.arange(count)
    done = _shuffle(pool, 0, size, np.array(words, dtype=np.uint64))
    assert pool[:done].tolist() == by_hand(list(range(count)), size, words)
    assert sorted(pool.tolist()) == list(range(count))


@pytest.mark.parametrize("places", [3, 5, 6, 7, 10, 1000])
def test_every_place_has_as_many_words(places):
    """Words are kept up to a multiple of the number of places, and none beyond."""
    kept = 2**64 // places * places
    for word, done in ((kept - 1, 1), (kept, 0)):
        assert _shuffle(np.arange(places), 0, 1, np.array([word], dtype=np.uint64)) == done


def test_system_words_serve_as_well():
    chosen = _sample(np.arange(50), 20, SystemRandomness())
    assert len(set(chosen.tolist())) == 20


# What is kept of it


def test_a_batch_is_a_copy():
    """Nothing that is done to a batch reaches the records."""
    records = records_of([0] * 6)
    first = records.draw((6, 0, 0, 0), SeededRandomness(0))
    first.inputs[:] = 7.0
    again = records.draw((6, 0, 0, 0), SeededRandomness(1))
    assert sorted(named(again)) == list(range(6))


def test_threads_draw_one_after_another():
    """Parts of one run share the records: two that reorder one pool at once leave a record in it twice."""

    class Slow(SeededRandomness):
        """Lets other threads come while a batch is drawn."""

        drawing = most = 0

        def words(self, size):
            Slow.drawing += 1
            Slow.most = max(Slow.most, Slow.drawing)
            time.sleep(0.005)
            Slow.drawing -= 1
            return super().words(size)

    records, randomness = records_of([0] * 30), [Slow(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: [records.draw((20, 0, 0, 0), one) for _ in range(5)], randomness))
    assert Slow.most == 1
    assert sorted(records._pools[0]) == list(range(30))
