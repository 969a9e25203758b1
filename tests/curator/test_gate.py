"""What may be asked, and what may run on records: read as an attacker would who can pass any object.

Out of scope, because it can replace the gate as well: code that sets attributes of this package's classes, modules or
objects.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, make_dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries import registry
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.curator.queries.query import CountQuery, SelectionQuery
from counterfoil.curator.queries.registry import require_registered, shipped, vouch_for
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Grid, Halving, Intervals
from counterfoil.geometry.table_space import TableSpace
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Boolean, Categorical, Real

ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
SCHEMA = cf.Schema((Real("x", 0.0, 1.0, bins=8), Real("y", 0.0, 1.0, bins=8)))
TABLE = pa.table({name: np.random.default_rng(i).random(200) for i, name in enumerate("xy")})
POINTS = np.random.default_rng(2).random((10, 2))
SIDES: Any = (("x", "y"), (0.0, 0.0), (1.0, 1.0))
NOISE = GaussianNoise(10.0)
COMPANY = "depends on which rows are read together"


@pytest.fixture
def account() -> Iterator[Any]:
    with cf.Curator(TABLE, SCHEMA, budget=cf.Budget(1.0, 1e-6), seed=1) as curator:
        yield curator.filter(GaussianFilter())


@pytest.fixture(autouse=True)
def nobody_vouches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_VOUCHED_FOR", {})


def assert_refused(account: Any, query: Any, sentence: str) -> None:
    """Before anything is charged."""
    with pytest.raises(ValueError, match=sentence):
        account.ask(query, NOISE)
    assert account.charges == []


# Queries


class Duck:
    """Looks like a query whose answers hardly need noise."""

    name, question = "marginal_counts", "how many"

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1e-9

    l2_sensitivity = score_sensitivity = l1_sensitivity

    def exact(self, records: Any) -> np.ndarray:
        return np.array([1.5])

    def describe(self) -> dict[str, Any]:
        return {}


class Quieter(MarginalCounts):
    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1e-9


class Otherwise(MarginalCounts):
    def exact(self, records: Any) -> np.ndarray:
        return 1000 * super().exact(records)


class Impostor(MarginalCounts):
    """Says of itself that it is the shipped query."""


Impostor.__module__, Impostor.__name__, Impostor.__qualname__ = MarginalCounts.__module__, *["MarginalCounts"] * 2


@pytest.mark.parametrize("kind", [Quieter, Otherwise, Impostor], ids=["sensitivity", "answer", "name"])
def test_a_subclass_of_a_shipped_query_is_another_query(account, kind):
    assert_refused(account, kind(SCHEMA.domain, (("x",),)), "Only registered queries may be asked")


def test_what_looks_like_a_query_is_none(account):
    assert_refused(account, Duck(), "Only registered queries may be asked")
    with pytest.raises(ValueError, match="Only registered queries"):
        account.choose(Duck(), ExponentialSelection(0.01))
    assert account.charges == []


def test_nothing_is_shipped_from_elsewhere():
    @dataclass(frozen=True)
    class Elsewhere(Mine):
        name: ClassVar[str] = "elsewhere"

    with pytest.raises(AssertionError, match="vouch_for"):
        shipped(Elsewhere)


# Queries that somebody vouches for


@dataclass(frozen=True)
class Mine(CountQuery):
    """The number of records, times `step`, as `kind`, in one cell; in two where `longer` records are reached."""

    name: ClassVar[str] = "mine"
    question: ClassVar[str] = "how many"
    step: int = 1
    stated: float = 1.0
    kind: str = "int64"
    longer: int = 2**40

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.stated * (1 if relation is ADD else 2)

    l2_sensitivity = l1_sensitivity

    def exact(self, records: Any) -> np.ndarray:
        rows = int(records.fold(lambda block: np.array([block.rows]), ("x",))[0])
        return np.full(1 + (rows >= self.longer), self.step * rows, dtype=self.kind)

    def describe(self) -> dict[str, Any]:
        return {}

    @staticmethod
    def restated_sensitivity(parameters: Any, moved: float, norm: Any) -> float:
        return moved


@dataclass(frozen=True)
class Scores(SelectionQuery):
    """Two scores; the second is `second` times the number of records."""

    name: ClassVar[str] = "scores"
    question: ClassVar[str] = "which"
    second: float = 1.0

    def score_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0

    def exact(self, records: Any) -> np.ndarray:
        rows = records.fold(lambda block: np.array([block.rows]), ("x",))[0]
        return np.array([0.0, self.second * rows])

    describe, restated_sensitivity = Mine.describe, Mine.restated_sensitivity


def test_a_query_that_somebody_vouches_for_is_asked_and_named(account):
    vouch_for(Mine, proof="our wiki")
    assert account.ask(Mine(), NOISE).values.shape == (1,)
    assert account.vouched_for == ("the query mine (our wiki)",)
    assert len(account.charges) == 1


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (Mine(step=3), "one row moves its answer by 3 .* above the l1 sensitivity of 1"),
        (Mine(stated=1e-9), "one row moves its answer by 1 .* above the l1 sensitivity of 1e-09"),
        (Mine(stated=float("nan")), "above the l1 sensitivity of nan"),
        (Mine(kind="float64"), "must answer with int64"),
        (Mine(kind="int32"), "must answer with int64"),
        (Mine(step=0, stated=0.0), "must be positive and finite. The query mine states 0"),
        (Mine(step=0, stated=float("inf")), "must be positive and finite. The query mine states inf"),
        (Mine(longer=24), "how many numbers it answers with depends on the rows"),
        (Mine(longer=100), "how many numbers it answers with depends on the rows"),
    ],
)
def test_what_a_trial_finds_costs_nothing(account, query, sentence):
    vouch_for(Mine, proof="a slip")
    assert_refused(account, query, sentence)


def test_each_query_is_tried_and_not_each_type(account):
    vouch_for(Mine, proof="our wiki")
    account.ask(Mine(), NOISE)
    with pytest.raises(ValueError, match="above the l1 sensitivity"):
        account.ask(Mine(step=3), NOISE)
    assert len(account.charges) == 1


def test_scores_are_tried_too(account):
    vouch_for(Scores, proof="our wiki")
    for second, sentence in ((2.0, "above the score sensitivity of 1"), (np.nan, "finite scores")):
        with pytest.raises(ValueError, match=sentence):
            account.choose(Scores(second), ExponentialSelection(0.01))
    assert account.charges == []
    assert account.choose(Scores(), ExponentialSelection(0.01)).index in (0, 1)


@pytest.mark.parametrize(
    ("late", "sentence"),
    [
        ({"kind": lambda rows: np.float64 if rows == 200 else np.int64}, "must answer with int64"),
        ({"cells": lambda rows: 2 if rows == 200 else 1}, "must not depend on records"),
    ],
)
def test_what_shows_on_the_records_alone_never_leaves(account, late, sentence):
    """No trial finds what happens at 200 records only: it is charged, refused and noted."""

    @dataclass(frozen=True)
    class Late(Mine):
        name: ClassVar[str] = "late"

        def exact(self, records: Any) -> np.ndarray:
            rows = int(super().exact(records)[0])
            kind, cells = late.get("kind", lambda _: np.int64)(rows), late.get("cells", lambda _: 1)(rows)
            return np.full(cells, rows, dtype=kind)

    vouch_for(Late, proof="our wiki")
    with pytest.raises(ValueError, match=sentence) as refused:
        account.ask(Late(), NOISE)
    assert "200" not in str(refused.value)
    assert len(account.charges) == 1


def test_a_subclass_needs_a_proof_of_its_own(account):
    vouch_for(Mine, proof="our wiki")
    assert_refused(account, make_dataclass("Less", [], bases=(Mine,), frozen=True)(), "Only registered queries")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Duck, "frozen dataclass"),
        (Quieter, "'marginal_counts' is taken"),
        (make_dataclass("Thawed", [], bases=(CountQuery,)), "frozen dataclass"),
        (make_dataclass("Nameless", [], bases=(CountQuery,), frozen=True), "`name`"),
        (Mine(), "frozen dataclass"),
        (len, "frozen dataclass"),
    ],
)
def test_what_can_not_be_vouched_for(kind, sentence):
    with pytest.raises(ValueError, match=sentence):
        vouch_for(kind, proof="our wiki")


def test_a_proof_is_named():
    with pytest.raises(ValueError, match="must say where"):
        vouch_for(Mine, proof=" ")


def test_a_receipt_says_that_nobody_can_check_such_a_query():
    vouch_for(Mine, proof="our wiki")
    with cf.Curator(TABLE, SCHEMA, budget=cf.Budget(1.0, 1e-6), seed=1) as curator:
        curator.filter(GaussianFilter()).ask(Mine(), NOISE)
        receipt = Receipt.from_curator(curator, method="ours", parameters={}, rows=1)
    (warning,) = receipt.document["warnings"]
    assert "the query mine (our wiki)" in warning
    assert "vouches for" in warning
    checked = receipt.verify()
    assert not checked.holds
    assert "Charge 1 (mine): this version does not know such a query and can't check it." in checked.problems


# Spaces, metrics and partitions


@dataclass(frozen=True)
class Centered(Box):
    """Looks at records in company: the mean of those that are read together becomes the middle."""

    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        points = super().locate(codes, numbers)
        return points - points.mean(axis=0) + 0.5 if len(points) else points


@dataclass(frozen=True)
class Crowded(Box):
    """The same, where many are."""

    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        points = super().locate(codes, numbers)
        return points if len(points) < 1000 else points - points.mean(axis=0) + 0.5


@dataclass(frozen=True)
class Sorted(Box):
    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        return np.sort(super().locate(codes, numbers), axis=0)[:, ::-1]


@dataclass(frozen=True)
class Random(Box):
    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        return np.random.default_rng().random((len(numbers["x"]), 2))


@dataclass(frozen=True)
class Ranked(Box):
    """An honest space whose metric ranks the points that it is given."""

    @property
    def metric(self) -> Any:
        return lambda points, others: np.abs(points.argsort(axis=0)[:, None] - others[None]).sum(axis=-1)


@dataclass(frozen=True)
class Squared(Box):
    """Honest: each record by itself, in its own way. `together` makes it dishonest."""

    together: bool = False

    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        points = super().locate(codes, numbers)
        return points - points.mean(axis=0) if self.together and len(points) else points**2


class Halves:
    """A partition of a user's, in two at the mean of what it is given, or at a public point."""

    box, size = Box(*SIDES), 2

    def __init__(self, middle: float | None) -> None:
        self.middle = middle

    def assign(self, points: np.ndarray) -> np.ndarray:
        middle = self.middle if self.middle is not None or not len(points) else points[:, 0].mean()
        return (points[:, 0] > middle).astype(np.int64) if len(points) else np.zeros(0, dtype=np.int64)

    def describe(self) -> dict[str, Any]:
        return {"partition": "halves"}


SHAPES: dict[str, Callable[[Box], CountQuery]] = {
    "nearest": lambda box: NearestNeighborHistogram(box, POINTS),
    "grid": lambda box: PartitionCounts(Grid(box, (4, 4))),
    "halving": lambda box: PartitionCounts(Intervals(Halving(box, 6), np.arange(64))),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [Centered, Crowded, Sorted, Random])
def test_a_space_that_looks_at_records_in_company_is_found_out(account, shape, kind):
    assert_refused(account, SHAPES[shape](kind(*SIDES)), COMPANY)


def test_a_metric_that_does_is_found_out(account):
    assert_refused(account, SHAPES["nearest"](Ranked(*SIDES)), COMPANY)


def test_a_partition_that_does_is_found_out(account):
    assert_refused(account, PartitionCounts(Halves(None)), COMPANY)
    account.ask(PartitionCounts(Halves(0.5)), NOISE)
    assert account.vouched_for == (f"Halves of {__name__}",)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_honest_space_passes_and_is_named_on_the_receipt(shape):
    with cf.Curator(TABLE, SCHEMA, budget=cf.Budget(1.0, 1e-6), seed=1) as curator:
        curator.filter(GaussianFilter()).ask(SHAPES[shape](Squared(*SIDES)), NOISE)
        receipt = Receipt.from_curator(curator, method="ours", parameters={}, rows=1)
    (warning,) = receipt.document["warnings"]
    assert f"rests on Squared of {__name__}, which the maker of this release brought and vouches for" in warning
    assert receipt.verify().holds, "the query is a shipped one"


def test_each_space_is_tried_and_not_each_type(account):
    account.ask(SHAPES["grid"](Squared(*SIDES)), NOISE)
    with pytest.raises(ValueError, match=COMPANY):
        account.ask(SHAPES["grid"](Squared(*SIDES, together=True)), NOISE)
    namesake = make_dataclass("Squared", [], bases=(Centered,), frozen=True)
    namesake.__module__, namesake.__qualname__ = __name__, "Squared"
    with pytest.raises(ValueError, match=COMPANY):
        account.ask(SHAPES["grid"](namesake(*SIDES)), NOISE)
    assert len(account.charges) == 1


def test_one_space_is_tried_once(account, monkeypatch):
    tried = []
    monkeypatch.setattr(account._admission, "_trial", lambda query: tried.append(query) or 1)
    space = Squared(*SIDES)
    for candidates in (POINTS, POINTS[:3]):
        account.ask(NearestNeighborHistogram(space, candidates), NOISE)
    account.ask(SHAPES["grid"](space), NOISE)
    assert len(tried) == 2, "once for each kind of query"
    account.ask(SHAPES["grid"](Squared(*SIDES)), NOISE)
    assert len(tried) == 3
    assert account.vouched_for == (f"Squared of {__name__}",)


def says_it_is_a_box(kind: type) -> type:
    kind.__module__, kind.__name__, kind.__qualname__ = Box.__module__, "Box", "Box"
    return kind


@pytest.mark.parametrize(
    "module", ["__main__", "builtins", "numpy", "datetime", "counterfoil", "counterfoil.ours", None]
)
def test_what_a_type_says_of_itself_is_not_believed(account, module, monkeypatch):
    kind = make_dataclass("Spoof", [], bases=(Centered,), frozen=True)
    if module is None:
        says_it_is_a_box(kind)
    else:
        kind.__module__ = module
    if module == "counterfoil.ours":
        invented = types.ModuleType(module)
        invented.Spoof = kind
        monkeypatch.setitem(sys.modules, module, invented)
    assert_refused(account, SHAPES["halving"](kind(*SIDES)), COMPANY)


class Watchful(tuple):
    """Plain data that computes."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        first, *others = (np.asarray(given) for given in inputs)
        if ufunc is np.subtract and first.ndim == 2 and len(first):
            return first - first.mean(axis=0) + 0.5
        return getattr(ufunc, method)(first, *others, **options)


class WatchfulArray(np.ndarray):
    def __rsub__(self, points: np.ndarray) -> np.ndarray:
        return points


class WatchfulFloat(float):
    def __rsub__(self, point: float) -> float:
        return point


def test_plain_data_that_computes_is_a_users(account):
    assert_refused(account, SHAPES["grid"](Box(("x", "y"), Watchful((0.0, 0.0)), (1.0, 1.0))), COMPANY)
    for brought in (
        NearestNeighborHistogram(Box(*SIDES), POINTS.view(WatchfulArray)),
        SHAPES["grid"](Box(("x", "y"), (WatchfulFloat(0.0), 0.0), (1.0, 1.0))),
        PartitionCounts(Intervals(Halving(Box(*SIDES), 1), np.array([0, WatchfulFloat(1)], dtype=object))),
    ):
        (one,) = require_registered(brought)
        assert one.words.startswith("Watchful")


# What a space can get wrong


@dataclass(frozen=True)
class Missing(Box):
    """Some records have no place."""

    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        points = super().locate(codes, numbers).copy()
        points[points[:, 0] > 0.5] = np.nan
        return points


@dataclass(frozen=True)
class Fewer(Box):
    """Records without a place are left out."""

    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        points = super().locate(codes, numbers)
        return points[points[:, 0] < 0.5]


@dataclass(frozen=True)
class Partial(Box):
    """Reads a column that it does not name in `numbers`."""

    def locate(self, codes: Any, numbers: Any) -> np.ndarray:
        return np.stack([numbers["x"], numbers["z"]], axis=1)


@dataclass(frozen=True)
class Codes(Box):
    """Wants numbers of a column that has none."""

    columns: ClassVar[tuple[str, ...]] = ()


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        (Missing(*SIDES), "failed there: ValueError: `points` must be finite"),
        (Fewer(*SIDES), "failed there: WrongPlaces: Each record has one place, from 0 to 9"),
        (Partial(*SIDES), "failed there: KeyError: 'z'"),
        (Codes(("x", "job"), *SIDES[1:]), "failed there: KeyError: 'job'"),
    ],
)
def test_a_space_that_has_no_place_for_some_is_refused_before_it_costs_anything(account, space, sentence):
    assert_refused(account, NearestNeighborHistogram(space, POINTS), sentence)


def test_a_partition_with_a_cell_too_many_is_refused():
    """Only a record that no trial makes up lies there: the length of the answer would give it away."""

    class Far(Halves):
        def assign(self, points: np.ndarray) -> np.ndarray:
            return np.where((points == 1.0).all(axis=1), 7, super().assign(points))

    table = pa.table({"x": [0.2, 1.0], "y": [0.3, 1.0]})
    with cf.Curator(table, SCHEMA, budget=cf.Budget(1.0, 1e-6), seed=1) as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match="Each record has one place, from 0 to 1"):
            account.ask(PartitionCounts(Far(0.5)), NOISE)


def test_missing_numbers_are_the_table_spaces_own():
    """They are points like others there, and nobody has to vouch."""
    schema = cf.Schema((Real("x", 0.0, 1.0, bins=4, missing=True), Categorical("job", ("a", "b")), Boolean("b")))
    space = TableSpace(schema)
    rng = np.random.default_rng(0)
    query = NearestNeighborHistogram(space, space.embed(space.random(5, rng)))
    assert require_registered(query) == []


def test_a_selection_of_ours_holds_nothing_of_a_users():
    estimates = (np.zeros(8, dtype=np.int64),)
    assert require_registered(WorstApproximatedMarginal((("x",),), estimates, np.ones(1), np.zeros(1))) == []
