"""An engine of one file: chosen for the source that it names, and summing where its records are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterfoil.curator.engines
from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.engines.registry import engine_for
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.trial import PublicRows
from counterfoil.domain.domain import Domain
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Grid
from counterfoil.methods.direct import Direct
from sensitive_tables import frame_of, schema_of

PAIR = Domain(("a", "b"), (3, 4))
ROWS = [(i % 3, (i * i) % 4) for i in range(50)]

# Two workers, one with a row more than the other; what they hold can be had from them as sums alone.
WORKERS = '''
"""Records that stay with workers."""

import numpy as np

from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.engines.reader import BlockReader
from counterfoil.curator.sources.frame_source import FrameSource


class Workers(Engine):
    reads = (FrameSource,)

    def __init__(self, source, schema, **bounds):
        self.schema = schema
        self._reader = BlockReader(source, schema, **bounds)
        self.sent = []

    def prepare(self, columns, numbers=()):
        for _ in self._reader.blocks(columns, numbers):
            pass

    def blocks(self, columns, numbers=()):
        raise AssertionError("these records do not travel")

    def fold(self, partial, columns, numbers=()):
        (block,) = self._reader.blocks(columns, numbers)
        sums = [partial(_half(block, first)) for first in (0, 1)]
        self.sent += sums
        return sums[0] + sums[1]


def _half(block, first):
    codes, numbers = ({name: part[first::2] for name, part in parts.items()} for parts in (block.codes, block.numbers))
    return Block(len(range(first, block.rows, 2)), codes, numbers)
'''


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file more in the folder of engines."""
    (tmp_path / "toy_workers.py").write_text(WORKERS)
    folder = counterfoil.curator.engines
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])


def test_files_are_streamed_and_frames_are_kept(tmp_path: Path):
    path = tmp_path / "pair.csv"
    path.write_text("a,b\n1,2\n")
    frame, file = open_source(frame_of(PAIR, ROWS)), open_source(path)
    assert engine_for(frame) is engine_for(frame, in_memory=True) is engine_for(file, in_memory=True) is MemoryEngine
    assert engine_for(file) is engine_for(file, in_memory=False) is engine_for(frame, in_memory=False) is DuckDBEngine


def test_an_engine_is_chosen_for_the_source_that_it_names(workers: None, tmp_path: Path):
    path = tmp_path / "pair.csv"
    path.write_text("a,b\n1,2\n")
    frame = open_source(frame_of(PAIR, ROWS))
    assert engine_for(frame).__name__ == "Workers"
    assert engine_for(frame, in_memory=True) is MemoryEngine
    assert engine_for(open_source(path)) is DuckDBEngine


def test_queries_are_summed_where_the_records_are(workers: None):
    """Nothing asks for blocks: not counts of cells, not sums over numbers."""
    source = open_source(frame_of(PAIR, ROWS))
    queries = [
        MarginalCounts(PAIR, ((), ("a",), ("a", "b"))),
        PartitionCounts(Grid(Box(PAIR.attributes, (0.0, 0.0), (2.0, 3.0)), (2, 2))),
    ]
    for query in queries:
        engine = engine_for(source)(source, schema_of(PAIR))
        reference = MemoryEngine(source, schema_of(PAIR))
        answer = query.exact(ExactRecords(engine, PAIR))
        assert np.array_equal(answer, query.exact(ExactRecords(reference, PAIR)))
        assert [len(part) for part in engine.sent] == [len(answer)] * 2


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_a_whole_release_is_the_same(workers: None, relation: str):
    released = []
    for in_memory in (None, True):
        facts = {"budget": Budget(2.0), "relation": relation, "seed": 3, "in_memory": in_memory}
        with Curator(frame_of(PAIR, ROWS), schema_of(PAIR), **facts) as curator:
            released.append(Direct(workload=2).synthesize(curator).to_arrow())
    assert released[0].equals(released[1])


def test_partial_sums_of_two_shapes_are_refused():
    """numpy would repeat the smaller one: its records would count once for each copy."""
    rows = PublicRows.random(schema_of(PAIR), 7, np.random.default_rng(0)).in_blocks(np.arange(3), np.arange(3, 7))
    with pytest.raises(ValueError, match="must have one shape"):
        rows.fold(lambda block: np.ones(block.rows - 3 if block.rows > 3 else 2, dtype=np.int64), ["a"])
