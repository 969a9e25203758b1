"""Random parts: each record is in one, chosen by its own bits, and no part depends on the rows around its own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from counterfoil.curator.engines.engine import Block
from counterfoil.curator.parts import Part, random_parts
from counterfoil.curator.records import ExactRecords
from counterfoil.domain.domain import Domain
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.randomness import SeededRandomness
from known_bits import KnownBits, block_of
from sensitive_tables import ENGINES, Row, records_of, schema_of

DOMAIN = Domain(("a", "b", "y"), (3, 5, 3))
FEATURES = TrainingFeatures(schema_of(DOMAIN), ("y",))

rows_of = st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 2))
tables = st.lists(st.tuples(rows_of, st.integers(0, 2**64 - 1)), max_size=12)


def divided(table: list[tuple[Row, int]], count: int, *, cuts: list[int] | None = None) -> list[Part]:
    """The parts of rows with these bits, which lie in blocks that end at `cuts`."""
    ends = [*sorted(cuts or []), len(table)]
    starts = [0, *ends[:-1]]
    blocks = [block_of(DOMAIN, [row for row, _ in table[start:end]]) for start, end in zip(starts, ends, strict=True)]
    return list(random_parts(FEATURES, blocks, count, KnownBits([bits for _, bits in table])))


def content(part: Part) -> Counter:
    return Counter((*inputs, label) for inputs, label in zip(part.inputs.tolist(), part.classes.tolist(), strict=True))


def coded(row: Row) -> tuple[float, ...]:
    """What a model reads of a row, by hand: bounds become -1 and 1."""
    return (row[0] - 1.0, row[1] / 2 - 1.0, row[2])


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(1, 5))
def test_each_record_is_in_the_part_of_its_own_bits(table, count):
    parts = divided(table, count)
    assert len(parts) == count
    for number, part in enumerate(parts):
        own = [row for row, bits in table if bits % count == number]
        assert content(part) == Counter(map(coded, own))
        assert part.inputs.shape == (len(own), 2)
        assert (part.inputs.dtype, part.classes.dtype) == (np.float64, np.int64)


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(1, 5), st.randoms(use_true_random=False), st.lists(st.integers(0, 12), max_size=3))
def test_parts_are_the_same_to_the_last_bit_in_any_order_and_blocks(table, count, shuffler, cuts):
    moved = list(table)
    shuffler.shuffle(moved)
    for one, other in zip(
        divided(table, count), divided(moved, count, cuts=[min(cut, len(table)) for cut in cuts]), strict=True
    ):
        assert one.inputs.tobytes() == other.inputs.tobytes()
        assert one.classes.tobytes() == other.classes.tobytes()


@settings(max_examples=60, deadline=None)
@given(tables, st.tuples(rows_of, st.integers(0, 2**64 - 1)), rows_of, st.integers(0, 12), st.integers(1, 5))
def test_a_record_that_comes_or_is_exchanged_changes_its_own_part_alone(table, extra, exchanged, place, count):
    """The coupling of the guarantee: shared records keep their bits, and one in another's place takes over its bits."""
    whole = [*table[:place], extra, *table[place:]]
    replaced = [*table[:place], (exchanged, extra[1]), *table[place:]]
    without = divided(table, count)
    for other in (divided(whole, count), divided(replaced, count)):
        differ = [i for i, pair in enumerate(zip(without, other, strict=True)) if content(pair[0]) != content(pair[1])]
        assert differ == [extra[1] % count]


def test_missing_numbers_sort_and_split_as_others():
    """NaN is the one value that equals nothing, itself included."""
    from counterfoil.schema.integer import Integer
    from counterfoil.schema.schema import Schema

    features = TrainingFeatures(Schema((Integer("a", 0, 4, missing=True), Integer("y", 0, 1))), ("y",))
    values, labels = np.array([np.nan, 1.0, np.nan, 0.0]), np.array([1, 0, 0, 1], dtype=np.uint8)

    def part(order: list[int]) -> Part:
        numbers = {"a": values[order], "y": labels[order].astype(float)}
        return next(random_parts(features, [Block(4, {"y": labels[order]}, numbers)], 1, SeededRandomness(0)))

    one, other = part([0, 1, 2, 3]), part([2, 3, 0, 1])
    assert np.array_equal(one.inputs, other.inputs)
    assert np.array_equal(one.classes, other.classes)
    assert one.inputs[:, 1].sum() == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_divides_all_records_and_none_twice(engine):
    rows = [(i % 3, i % 5, (i * i) % 3) for i in range(41)]
    parts = list(records_of(DOMAIN, rows, engine=engine).parts(FEATURES, 6))
    assert sum((content(part) for part in parts), Counter()) == Counter(map(coded, rows))
    assert [len(part.classes) for part in records_of(DOMAIN, [], engine=engine).parts(FEATURES, 3)] == [0, 0, 0]


def test_parts_are_equally_likely_and_drawn_anew():
    """A chi-squared test of 20,000 records in 7 parts: a seed gives a false alarm with probability 2e-6."""
    rows = [(i % 3, i % 5, i % 2) for i in range(20_000)]
    engine = records_of(DOMAIN, rows)._engine
    records = ExactRecords(engine, DOMAIN, randomness=SeededRandomness(5))
    sizes = [np.array([len(part.classes) for part in records.parts(FEATURES, 7)]) for _ in range(2)]
    for found in sizes:
        assert ((found - 20_000 / 7) ** 2).sum() / (20_000 / 7) < chi2.isf(1e-6, 6)
    assert not np.array_equal(*sizes)
    again = ExactRecords(engine, DOMAIN, randomness=SeededRandomness(5))
    assert np.array_equal(sizes[0], [len(part.classes) for part in again.parts(FEATURES, 7)])
