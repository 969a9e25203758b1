"""Arrays and frames that their owner writes to between two passes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from counterfoil import Budget, Curator
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.errors import SourceError
from counterfoil.curator.queries.fidelity_transport import ColumnWasserstein
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.curator.sources.frame_source import FrameSource
from counterfoil.features.moments import Moments
from counterfoil.geometry.euclidean import point_schema
from counterfoil.geometry.grid import SnapGrid
from counterfoil.schema.values import texts_of

SCHEMA = point_schema((0.0, 0.0), (1.0, 1.0))


def second_answer(points, between):
    """The exact second moments, after a question about one column and what its owner does to the array meanwhile."""
    with Curator(points, SCHEMA, budget=Budget(1, 1e-6), seed=1) as curator:
        grid = SnapGrid.of(SCHEMA["x0"])
        ColumnWasserstein(grid, np.zeros(grid.points - 1, np.int64)).exact(curator._records)
        between(points)
        return MOMENTS.exact(curator._records)


MOMENTS = FunctionAverages(Moments(SCHEMA, 2, True))


def reverse(points):
    points[:] = points[::-1].copy()


def test_no_record_is_put_together_of_two():
    # Of 1,000 rows each 0 would meet a 1, and of 999 each its like: one row less would turn the sign of all products.
    table = np.repeat([[0.0, 1.0] * 500], 2, axis=0).T.copy()
    limit = MOMENTS.l2_sensitivity(NeighboringRelation.ADD_OR_REMOVE_ONE)
    apart = second_answer(table.copy(), len) - second_answer(table[1:].copy(), len)
    assert np.sqrt((apart.astype(float) ** 2).sum()) <= limit
    with pytest.raises(SourceError, match="has changed since it was first read"):
        second_answer(table, reverse)


@pytest.mark.parametrize(
    "array",
    [np.arange(6.0).reshape(3, 2), np.array([["a", "b"], ["c", "d"]]), np.zeros((0, 2)), np.ones((4, 4))[:, ::2]],
)
def test_an_array_that_is_left_alone_is_read_again(array):
    source = FrameSource.of(array)
    first, again = (sum(batch.num_rows for batch in source.batches(["x0"])) for _ in range(2))
    assert first == again == len(array)


def test_a_pass_during_which_the_array_changes_is_refused():
    array = np.zeros((4, 1))
    batches = FrameSource.of(array).batches(["x0"], 2)
    next(batches)
    array[3] = 1
    with pytest.raises(SourceError, match="two tables must not be mixed"):
        list(batches)


def shared_with_pandas(columns):
    return pd.DataFrame(columns, copy=False)


def read_again(source):
    """The cells of the first column, or why they are refused."""
    try:
        (batch,) = source.batches(["x"])
    except SourceError as error:
        return str(error)
    return batch.column("x").cast(pa.int64()).to_pylist()


@pytest.mark.parametrize("made", [pl.DataFrame, pa.table, shared_with_pandas])
@pytest.mark.parametrize("kind", ["float64", "datetime64[ms]", "bool"])
def test_an_array_under_a_frame_is_watched(made, kind):
    columns = {name: np.arange(6).astype(kind) for name in ("x", "y")}
    source = FrameSource.of(made(columns))
    assert [sum(batch.num_rows for batch in source.batches(names)) for names in (["x"], ["y"], ["x", "y"])] == [6, 6, 6]
    before = columns["x"].astype("int64").tolist()
    columns["x"][:] = columns["x"][::-1].copy()
    found = read_again(source)  # where the frame has its own copy, that is read
    assert found == before or "has changed since it was first read" in found


def test_only_what_is_read_must_be_readable():
    frame = pd.DataFrame({"x": [1, 2], "complex": [1j, 2j], "sparse": pd.arrays.SparseArray([0, 1])})
    source = FrameSource.of(frame)
    assert [sum(batch.num_rows for batch in source.batches(["x"])) for _ in range(2)] == [2, 2]
    with pytest.raises(SourceError, match="complex"):
        list(source.batches(["complex"]))


def test_a_column_that_was_not_read_is_watched_from_the_first_pass_on():
    columns = {name: np.arange(4.0) for name in ("x", "y")}
    source = FrameSource.of(shared_with_pandas(columns))
    list(source.batches(["x"]))
    columns["y"][:] = columns["y"][::-1].copy()
    with pytest.raises(SourceError, match="has changed since it was first read"):
        list(source.batches(["y"]))


@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="older frames share what is written to them")
def test_a_frame_is_read_as_it_was_when_it_was_given():
    frame = pd.DataFrame({"g": ["a"] * 4, "x": [0.0, 1.0, 2.0, 3.0]})
    source = FrameSource.of(frame)
    list(source.batches(["x"]))
    frame.loc[:, "x"] = frame["x"].to_numpy()[::-1].copy()
    frame.loc[:, "g"] = "b"
    (batch,) = source.batches(["x", "g"])
    assert batch.column("x").to_pylist() == [0.0, 1.0, 2.0, 3.0]
    assert texts_of(batch.column("g"))[0] == ["a"]
