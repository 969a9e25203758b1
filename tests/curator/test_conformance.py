"""Every query, on every engine, under every relation and privacy unit: no neighbor moves it by more than it claims.

`REGISTRY` says how to make each query. A query that is missing from it fails `test_every_query_is_registered`.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.replacement import ANY_QUESTION, require_declared
from counterfoil.curator import queries
from counterfoil.curator.queries.apart import Apart, Dated
from counterfoil.curator.queries.column_places import ColumnPlaces
from counterfoil.curator.queries.column_ranges import ColumnRanges, Intervals
from counterfoil.curator.queries.decimal_signs import DecimalSigns
from counterfoil.curator.queries.fidelity_fairness import GroupPredictions
from counterfoil.curator.queries.fidelity_marginals import LargestMarginalDistance, TotalMarginalDistance
from counterfoil.curator.queries.fidelity_model import CorrectPredictions, TotalLoss
from counterfoil.curator.queries.fidelity_moments import LargestMomentGap
from counterfoil.curator.queries.fidelity_transport import ColumnWasserstein
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.curator.queries.gradient import GradientQuery
from counterfoil.curator.queries.lattice import LatticeKernelDensity
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.curator.queries.placement import SchemaPlacement
from counterfoil.curator.queries.registry import require_registered
from counterfoil.curator.queries.selection import MarginalDistances, WorstApproximatedMarginal
from counterfoil.curator.queries.text_counts import TextCounts
from counterfoil.curator.queries.unit_sizes import UnitSizes
from counterfoil.curator.queries.votes import TeacherVotes
from counterfoil.curator.queries.worst_of_many import WorstOfManyMarginals
from counterfoil.curator.records import ExactRecords
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.layout import Layout, StackedCounts
from counterfoil.features.feature_map import UNIT as ONE
from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.functions import Functions, Share, Value
from counterfoil.features.linear_model import LinearModel
from counterfoil.features.losses import LossNet
from counterfoil.features.moments import Moments
from counterfoil.features.one_against_rest import OneAgainstRest, OneAgainstRestModel
from counterfoil.features.public_predictor import DenseLayer, LayeredPredictor, LinearPredictor
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.geometry import grid as fidelity_grid
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.lattice import KernelLattice
from counterfoil.geometry.partition import Grid
from counterfoil.noise.noise import Norm
from sensitive_tables import ENGINES, UNIT, all_rows, all_tables, records_of, schema_of

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
TINY = Domain(("a", "b"), (2, 3))
COARSE = Coarsening(TINY, {"a": np.array([0, 1]), "b": np.array([0, 1, 1])})
LARGEST = 3
MAX_ROWS = 2


@dataclass(frozen=True)
class Registered:
    """How the conformance test makes one kind of query.

    Args:
        examples: queries on `TINY`, each with whether its claims are attained by some neighbors.
        random: any query on a domain.
    """

    examples: Callable[[], Iterator[tuple[object, bool]]]
    random: Callable[[Domain], st.SearchStrategy]


def cliques_of(domain: Domain, least: int = 1) -> st.SearchStrategy[tuple[Clique, ...]]:
    subsets = st.sets(st.sampled_from(domain.attributes), min_size=0).map(domain.canonical)
    return st.lists(subsets, min_size=least, max_size=5, unique=True).map(tuple)


def estimates_of(domain: Domain, cliques: tuple[Clique, ...]) -> st.SearchStrategy[tuple[np.ndarray, ...]]:
    def estimate(clique: Clique) -> st.SearchStrategy[np.ndarray]:
        cells = st.lists(st.integers(-3, 8), min_size=domain.size(clique), max_size=domain.size(clique))
        return cells.map(lambda values: np.array(values, dtype=np.int64).reshape(domain.shape(clique)))

    return st.tuples(*(estimate(clique) for clique in cliques))


def marginal_counts_examples() -> Iterator[tuple[object, bool]]:
    yield MarginalCounts(TINY, (("a",),)), True
    yield MarginalCounts(TINY, (("a",), ("b",), ("a", "b"))), True
    yield MarginalCounts(TINY, (("b",), ("a", "b")), COARSE), True
    yield MarginalCounts(TINY, (("a",), ("b",), ("a", "b")), None, (7, 1, 20)), True
    yield MarginalCounts(TINY, ((), ("a", "b"))), False  # the number of rows alone does not move when one is replaced


def marginal_counts_random(domain: Domain) -> st.SearchStrategy:
    def weighted(cliques: tuple[Clique, ...]) -> st.SearchStrategy:
        weights = st.just(()) | st.tuples(*(st.integers(1, 100) for _ in cliques))
        return weights.map(lambda chosen: MarginalCounts(domain, cliques, None, chosen))

    return cliques_of(domain).flatmap(weighted)


def high_at_the_end(domain: Domain, cliques: tuple[Clique, ...]) -> tuple[np.ndarray, ...]:
    """Estimates that expect the last record of the domain alone: replacing another by it moves all errors by 2."""
    estimates = []
    for clique in cliques:
        estimate = np.zeros(domain.shape(clique), dtype=np.int64)
        estimate[(-1,) * len(clique)] = LARGEST + 2
        estimates.append(estimate)
    return tuple(estimates)


def marginal_errors_examples() -> Iterator[tuple[object, bool]]:
    cliques = (("a",), ("b",), ("a", "b"))
    yield MarginalDistances(cliques, high_at_the_end(TINY, cliques)), True
    yield MarginalDistances(cliques[2:], high_at_the_end(TINY, cliques[2:])), True
    yield MarginalDistances(cliques[1:], high_at_the_end(COARSE.domain, cliques[1:]), COARSE), True
    yield MarginalDistances(((),), high_at_the_end(TINY, ((),))), False


def marginal_errors_random(domain: Domain) -> st.SearchStrategy:
    return cliques_of(domain).flatmap(
        lambda cliques: estimates_of(domain, cliques).map(lambda estimates: MarginalDistances(cliques, estimates))
    )


GAINS = np.array([[0.4, 900.0, 0.0], [0.0, 2.5, 1.0], [0.1, 0.0, 3.0]])


def worst_marginal_examples() -> Iterator[tuple[object, bool]]:
    cliques = (("a",), ("b",), ("a", "b"))
    penalties = np.array([0.3, 1.7, 1e6])
    weights = np.array([0.5, 1.0, 3.7])
    yield WorstApproximatedMarginal(cliques, high_at_the_end(TINY, cliques), weights, penalties), True
    merged = high_at_the_end(COARSE.domain, cliques)
    yield WorstApproximatedMarginal(cliques, merged, weights, penalties, COARSE), True
    with_gains = dict(zip(("noises", "floors", "cautions"), GAINS, strict=True))
    yield WorstApproximatedMarginal(cliques, merged, weights, penalties, COARSE, **with_gains), True


def worst_marginal_random(domain: Domain) -> st.SearchStrategy:
    def scored(cliques: tuple[Clique, ...], estimates: tuple[np.ndarray, ...]) -> st.SearchStrategy:
        numbers = st.lists(st.floats(0.01, 100.0), min_size=len(cliques), max_size=len(cliques)).map(np.array)
        plain = st.builds(WorstApproximatedMarginal, st.just(cliques), st.just(estimates), numbers, numbers)
        gains = st.builds(
            WorstApproximatedMarginal,
            st.just(cliques),
            st.just(estimates),
            numbers,
            numbers,
            noises=numbers,
            floors=numbers,
            cautions=numbers,
        )
        return plain | gains

    return cliques_of(domain).flatmap(
        lambda cliques: estimates_of(domain, cliques).flatmap(lambda estimates: scored(cliques, estimates))
    )


def stacked(domain: Domain, cliques: tuple[Clique, ...], estimates: tuple[np.ndarray, ...]) -> StackedCounts:
    tables = dict(zip(cliques, estimates, strict=True))
    layout = Layout.of(domain, cliques)
    return StackedCounts(layout, layout.stack(tables, cliques))


def worst_of_many_examples() -> Iterator[tuple[object, bool]]:
    cliques = (("a",), ("b",), ("a", "b"))
    penalties = np.array([0.3, 1.7, 1e6])
    weights = np.array([0.5, 9.0, 3.7])
    estimate = stacked(TINY, cliques, high_at_the_end(TINY, cliques))
    yield WorstOfManyMarginals(estimate, weights, penalties, np.arange(3)), True
    yield WorstOfManyMarginals(estimate, weights, penalties, np.array([0, 2])), True
    merged = stacked(COARSE.domain, cliques, high_at_the_end(COARSE.domain, cliques))
    yield WorstOfManyMarginals(merged, weights, penalties, np.array([1]), COARSE), True
    with_gains = dict(zip(("noises", "floors", "cautions"), GAINS, strict=True))
    yield WorstOfManyMarginals(merged, weights, penalties, np.arange(3), COARSE, **with_gains), True


def worst_of_many_random(domain: Domain) -> st.SearchStrategy:
    def scored(cliques: tuple[Clique, ...], estimates: tuple[np.ndarray, ...]) -> st.SearchStrategy:
        numbers = st.lists(st.floats(0.01, 100.0), min_size=len(cliques), max_size=len(cliques)).map(np.array)
        among = st.sets(st.integers(0, len(cliques) - 1), min_size=1).map(lambda chosen: np.array(sorted(chosen)))
        estimate = st.just(stacked(domain, cliques, estimates))
        plain = st.builds(WorstOfManyMarginals, estimate, numbers, numbers, among)
        gains = st.builds(WorstOfManyMarginals, estimate, numbers, numbers, among, st.none(), numbers, numbers, numbers)
        return plain | gains

    return cliques_of(domain).flatmap(
        lambda drawn: st.just(tuple(clique for clique in drawn if clique) or ((domain.attributes[0],),)).flatmap(
            lambda cliques: estimates_of(domain, cliques).flatmap(lambda estimates: scored(cliques, estimates))
        )
    )


def function_averages_examples() -> Iterator[tuple[object, bool]]:
    schema = schema_of(TINY)
    for counted in (False, True):
        yield FunctionAverages(Moments(schema, 1, counted)), True
        # Three units have no two sign patterns without an inner product: replacing comes near, and no nearer.
        yield FunctionAverages(Moments(schema, 2, counted)), False
        functions = (Share.of_records(schema, "a == 1"), Value("b", 0.0, 2.0, "b"))
        # Where rows are counted too, no unit of two rows moves all sums as far as two single rows do.
        yield FunctionAverages(Functions(schema, functions, counted)), not counted
        # Bounds on families of losses are proved for all records at once, and near what is attained at best.
        for loss, target, column in (("logistic", "a", "b"), ("squared", "b", "a"), ("huber", "a", "b")):
            yield FunctionAverages(LossNet.of(schema, loss, target, [column], points=30, counted=counted)), False


def function_averages_random(domain: Domain) -> st.SearchStrategy:
    schema = schema_of(domain)
    moments = st.builds(Moments, st.just(schema), st.sampled_from((1, 2)), st.booleans())
    first = domain.attributes[0]
    functions = st.tuples(st.integers(0, 3), st.floats(-2, 1), st.floats(1.5, 4)).map(
        lambda ends: (Share.of_records(schema, f"`{first}` >= {ends[0]}"), Value("value", ends[1], ends[2], first))
    )
    kinds = [moments, st.builds(Functions, st.just(schema), functions, st.booleans())]
    wide = [name for name, size in zip(domain.attributes, domain.sizes, strict=True) if size > 1]
    if len(wide) > 1:
        chosen = st.tuples(st.sampled_from(["squared", "absolute", "huber"]), st.permutations(wide), st.floats(0.1, 4))
        kinds.append(
            st.builds(
                lambda asked, counted: LossNet.of(
                    schema, asked[0], asked[1][0], asked[1][1:], radius=asked[2], points=50, counted=counted
                ),
                chosen,
                st.booleans(),
            )
        )
    return st.one_of(kinds).map(FunctionAverages)


def box_of(domain: Domain) -> Box:
    """The domain's codes as points of a box."""
    sides = tuple(float(max(size - 1, 1)) for size in domain.sizes)
    return Box(domain.attributes, (0.0,) * len(sides), sides)


def nearest_examples() -> Iterator[tuple[object, bool]]:
    candidates = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, 1.0], [0.5, 1.0]])  # two are equal; some records are ties
    yield NearestNeighborHistogram(box_of(TINY), candidates), True
    yield NearestNeighborHistogram(box_of(TINY), candidates[2:]), False


def nearest_random(domain: Domain) -> st.SearchStrategy:
    point = st.tuples(*(st.integers(0, 8).map(lambda x: x / 2) for _ in domain.attributes))
    candidates = st.lists(point, min_size=1, max_size=6).map(np.array)
    return candidates.map(lambda points: NearestNeighborHistogram(box_of(domain), points))


def partition_examples() -> Iterator[tuple[object, bool]]:
    yield PartitionCounts(Grid(box_of(TINY), (2, 3))), True
    yield PartitionCounts(Grid(box_of(TINY), (1, 1))), False


def partition_random(domain: Domain) -> st.SearchStrategy:
    shapes = st.tuples(*(st.integers(1, 3) for _ in domain.attributes))
    return shapes.map(lambda shape: PartitionCounts(Grid(box_of(domain), shape)))


def lattice_examples() -> Iterator[tuple[object, bool]]:
    narrow = KernelLattice(box_of(TINY), (1, 2), bandwidth=0.05)  # records lie on it, and no two kernels overlap
    yield LatticeKernelDensity(narrow), True
    yield LatticeKernelDensity(KernelLattice(box_of(TINY), (3, 2), bandwidth=0.5)), False


def lattice_random(domain: Domain) -> st.SearchStrategy:
    some = box_of(domain.project(domain.attributes[:3]))
    steps = st.tuples(*(st.integers(1, 4) for _ in some.numbers))
    kernels = st.builds(KernelLattice, st.just(some), steps, st.sampled_from([0.1, 0.4, 2.0]), st.just(81))
    return kernels.map(LatticeKernelDensity)


def of_errors(kind: type) -> Registered:
    """A query that is made of a `MarginalDistances`; every one of its claims is attained where that one's are."""

    def examples() -> Iterator[tuple[object, bool]]:
        yield from ((kind(errors), attained) for errors, attained in marginal_errors_examples())

    return Registered(examples, lambda domain: marginal_errors_random(domain).map(kind))


def area_examples() -> Iterator[tuple[object, bool]]:
    for points, high in ((3, 10), (5, 10), (3, -10), (4, 1)):
        grid = fidelity_grid.SnapGrid("b", 0.0, 2.0, points)
        expected = np.full(points - 1, high, dtype=np.int64)
        # Expecting one record, a second brings no less than the first took: what moves depends on the others.
        yield ColumnWasserstein(grid, expected), abs(high) > LARGEST


def area_random(domain: Domain) -> st.SearchStrategy:
    def of(column: tuple[str, int], points: int, level: int) -> ColumnWasserstein:
        grid = fidelity_grid.SnapGrid(column[0], 0.0, float(max(column[1] - 1, 1)), points)
        return ColumnWasserstein(grid, np.arange(points - 1, dtype=np.int64) * level)

    columns = st.sampled_from(list(zip(domain.attributes, domain.sizes, strict=True)))
    return st.builds(of, columns, st.integers(2, 9), st.integers(-3, 8))


def moment_examples() -> Iterator[tuple[object, bool]]:
    features = FeatureMap(schema_of(TINY), "a", 1)  # a constant and b, which goes from -1 to 1
    far = 100 * ONE * ONE
    yield LargestMomentGap(features, 1, np.array([far, 0])), True
    yield LargestMomentGap(features, 1, np.array([0, -far])), True
    yield LargestMomentGap(features, 2, np.array([[0, far], [far, 0]])), True
    yield (
        LargestMomentGap(features, 2, np.array([[far, 0], [0, 0]])),
        False,
    )  # the number of records stays when replaced
    each = OneAgainstRest(schema_of(TINY), "b")
    expected = np.zeros((each.values, len(each.names)), dtype=np.int64)
    expected[2, 0] = far
    yield LargestMomentGap(each, 1, expected), True
    yield LargestMomentGap(each, 2, np.full((len(each.names),) * 2, far)), False


def features_of(domain: Domain) -> st.SearchStrategy[FeatureMap]:
    target = st.sampled_from(list(zip(domain.attributes, domain.sizes, strict=True)))
    coded = target.flatmap(lambda column: st.tuples(st.just(column[0]), st.integers(0, column[1] - 1)))
    return coded.map(lambda chosen: FeatureMap(schema_of(domain), *chosen))


def moment_random(domain: Domain) -> st.SearchStrategy:
    def of(features: FeatureMap, order: int, level: int) -> LargestMomentGap:
        shape = (len(features.names),) * order
        return LargestMomentGap(features, order, np.full(shape, level * ONE**order, dtype=np.int64))

    return st.builds(of, features_of(domain), st.integers(1, 2), st.integers(-5, 20))


def linear_model(features: FeatureMap, weights: list[int]) -> LinearModel:
    return LinearModel(features, np.array(weights, dtype=np.int64))


def model_examples(kind: type) -> Registered:
    def examples() -> Iterator[tuple[object, bool]]:
        features = FeatureMap(schema_of(TINY), "a", 1)
        yield kind(linear_model(features, [2**20, 2**19])), True  # sure of 1: right or badly wrong
        yield kind(linear_model(features, [0, 40_000])), kind is CorrectPredictions
        yield kind(linear_model(features, [0, 0])), kind is CorrectPredictions
        if kind is CorrectPredictions:
            each = OneAgainstRest(schema_of(TINY), "b")
            weights = [[2**16, 5], [0, 2**20], [-3, 7]]
            models = tuple(
                linear_model(one, own[: len(one.names)]) for one, own in zip(each.maps, weights, strict=True)
            )
            yield kind(OneAgainstRestModel(each, models)), True

    def random(domain: Domain) -> st.SearchStrategy:
        def weights(features: FeatureMap) -> st.SearchStrategy:
            size = len(features.names)
            numbers = st.lists(st.integers(-(2**20), 2**20), min_size=size, max_size=size)
            return numbers.map(lambda chosen: kind(linear_model(features, chosen)))

        return features_of(domain).flatmap(weights)

    return Registered(examples, random)


def layered_predictor(domain: Domain, target: str, seed: int) -> LayeredPredictor:
    """A small network whose weights are few enough numbers that scores lie at the threshold."""
    features = TrainingFeatures(schema_of(domain), (target,))
    classes, inputs, rng = features.target_classes, len(features.input_names), np.random.default_rng(seed)
    shapes = [(2, inputs), (1 if classes == 2 else classes, 2)]
    parts = [rng.integers(-2, 3, shape) * 0.1 for shape in shapes]
    layers = [DenseLayer(part, np.zeros(len(part)), rng.choice(["relu", "tanh", "sigmoid"])) for part in parts[:1]]
    return LayeredPredictor(features, (*layers, DenseLayer(parts[1], np.zeros(len(parts[1])))), classes - 1)


def group_predictions_examples() -> Iterator[tuple[object, bool]]:
    model = linear_model(FeatureMap(schema_of(TINY), "a", 1), [0, 40_000])
    yield GroupPredictions(LinearPredictor(model), ("b",)), True
    yield GroupPredictions(layered_predictor(TINY, "a", 0), ("b",)), True
    yield GroupPredictions(layered_predictor(TINY, "b", 1), ("a",)), True


def group_predictions_random(domain: Domain) -> st.SearchStrategy:
    if len(domain.attributes) < 2:
        return st.nothing()  # a group is not what is predicted
    pairs = st.permutations(domain.attributes).map(lambda names: (names[0], tuple(names[1:3])))
    layered = st.tuples(pairs, st.integers(0, 99)).map(
        lambda drawn: GroupPredictions(layered_predictor(domain, drawn[0][0], drawn[1]), drawn[0][1])
    )

    def linear(features: FeatureMap) -> st.SearchStrategy:
        size = len(features.names)
        others = tuple(name for name in domain.attributes if name != features.target)
        weights = st.lists(st.integers(-(2**20), 2**20), min_size=size, max_size=size)
        return weights.map(lambda chosen: GroupPredictions(LinearPredictor(linear_model(features, chosen)), others[:1]))

    return st.one_of(layered, features_of(domain).flatmap(linear))


def votes_examples() -> Iterator[tuple[object, bool]]:
    """One teacher: with more, `test_votes.py` gives neighbors the same random bits.

    A unit of two rows moves no further than one row where there is one teacher alone, so that claims are not attained.
    """
    schema = schema_of(TINY)
    yield TeacherVotes(TrainingFeatures(schema, ("a",)), np.array([[-1.0], [0.0], [0.5]]), 1), False
    yield TeacherVotes(TrainingFeatures(schema, ("b",)), np.array([[1.0]]), 1), False


def votes_random(domain: Domain) -> st.SearchStrategy:
    targets = [name for name, size in zip(domain.attributes, domain.sizes, strict=True) if size > 1]
    assume(len(domain.attributes) > 1 and targets)
    rows = st.integers(1, 6).map(lambda m: np.linspace(-1, 1, m * (len(domain.attributes) - 1)).reshape(m, -1))
    features = st.sampled_from(targets).map(lambda name: TrainingFeatures(schema_of(domain), (name,)))
    return st.builds(TeacherVotes, features, rows, st.just(1))


def placement_examples() -> Iterator[tuple[object, bool]]:
    """Codes are placed as declared, all of them: `test_placement_query.py` has cells that are not."""
    yield SchemaPlacement.of(schema_of(TINY)), False


def unit_sizes_examples() -> Iterator[tuple[object, bool]]:
    """In the l2 norm more is charged than a unit can move; `test_unit_sizes.py` attains the l1 norm."""
    yield UnitSizes(MAX_ROWS), False


def places_examples() -> Iterator[tuple[object, bool]]:
    """The codes of `TINY` are those of three classes; `test_discovery_queries.py` has cells of all."""
    yield ColumnPlaces(("a", "b")), True
    yield ColumnPlaces(("b",)), True
    yield ColumnPlaces(("a", "b"), ","), True
    yield ColumnPlaces(("a", "b"), with_units=("b",)), True


def places_random(domain: Domain) -> st.SearchStrategy:
    return st.sets(st.sampled_from(domain.attributes), min_size=1).map(lambda names: ColumnPlaces(tuple(sorted(names))))


def signs_examples() -> Iterator[tuple[object, bool]]:
    """No code of `TINY` is that of a number with either sign; `test_discovery_queries.py` has cells of all."""
    yield DecimalSigns(("a", "b")), False


def signs_random(domain: Domain) -> st.SearchStrategy:
    return st.sets(st.sampled_from(domain.attributes), min_size=1).map(lambda names: DecimalSigns(tuple(sorted(names))))


def ranges_examples() -> Iterator[tuple[object, bool]]:
    yield ColumnRanges((Intervals("a", (0, 1), (0.5,)), Intervals("b", (0, 1, 2), (0.5, 1.5)))), True
    yield ColumnRanges((Intervals("b", (0, 2), (-1.0, 1.0)),)), True
    yield ColumnRanges((Intervals("b", (0, 2), (-1.0, 1.0), (0.0, 0.5)),)), True
    yield ColumnRanges((Intervals("b", (0, 2), (-1.0, 1.0)),), ","), True
    yield ColumnRanges((Intervals("b", (2,), (0.0,)),)), False  # none but one number is counted
    pair = Apart(Dated("a", (0, 1)), Dated("b", (0, 1, 2)), (-0.5, 0.5))
    yield ColumnRanges((Intervals("b", (0, 2), (-1.0, 1.0)),), apart=(pair,)), True
    swapped = Apart(pair.last, pair.first, pair.edges)
    yield ColumnRanges((Intervals("a", (0, 1), (0.5,)),), None, (pair, swapped)), True


def ranges_random(domain: Domain) -> st.SearchStrategy:
    edges = st.sets(st.integers(-1, 8), min_size=1).map(lambda drawn: tuple(sorted(edge / 2 for edge in drawn)))
    codes = st.sets(st.integers(0, 3), min_size=1).map(lambda drawn: tuple(sorted(drawn)))
    points = st.just(()) | edges
    columns = st.tuples(*(st.builds(Intervals, st.just(name), codes, edges, points) for name in domain.attributes))
    ends = st.permutations([*domain.attributes]).map(lambda names: names[:2]).filter(lambda names: len(names) == 2)
    pairs = st.builds(
        lambda names, of, cuts: (Apart(Dated(names[0], of), Dated(names[1], of), cuts),), ends, codes, edges
    )
    if len(domain.attributes) < 2:
        pairs = st.just(())
    return st.builds(ColumnRanges, columns, st.none(), st.just(()) | pairs)


REGISTRY: dict[type, Registered] = {
    ColumnPlaces: Registered(places_examples, places_random),
    ColumnRanges: Registered(ranges_examples, ranges_random),
    DecimalSigns: Registered(signs_examples, signs_random),
    UnitSizes: Registered(unit_sizes_examples, lambda domain: st.integers(1, 4).map(UnitSizes)),
    SchemaPlacement: Registered(placement_examples, lambda domain: st.just(SchemaPlacement.of(schema_of(domain)))),
    GroupPredictions: Registered(group_predictions_examples, group_predictions_random),
    CorrectPredictions: model_examples(CorrectPredictions),
    ColumnWasserstein: Registered(area_examples, area_random),
    LargestMarginalDistance: of_errors(LargestMarginalDistance),
    LargestMomentGap: Registered(moment_examples, moment_random),
    TotalLoss: model_examples(TotalLoss),
    TotalMarginalDistance: of_errors(TotalMarginalDistance),
    FunctionAverages: Registered(function_averages_examples, function_averages_random),
    LatticeKernelDensity: Registered(lattice_examples, lattice_random),
    NearestNeighborHistogram: Registered(nearest_examples, nearest_random),
    PartitionCounts: Registered(partition_examples, partition_random),
    MarginalCounts: Registered(marginal_counts_examples, marginal_counts_random),
    MarginalDistances: Registered(marginal_errors_examples, marginal_errors_random),
    TeacherVotes: Registered(votes_examples, votes_random),
    WorstApproximatedMarginal: Registered(worst_marginal_examples, worst_marginal_random),
    WorstOfManyMarginals: Registered(worst_of_many_examples, worst_of_many_random),
}


def query_classes() -> set[type]:
    """Every dataclass with an exact answer in the package of queries."""
    found = set()
    for module_info in pkgutil.walk_packages(queries.__path__, queries.__name__ + "."):
        module = importlib.import_module(module_info.name)
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if kind.__module__ == module.__name__ and hasattr(kind, "exact") and is_dataclass(kind):
                found.add(kind)
    return found


def test_every_query_is_registered():
    """Those of batches, and of texts, have their own: test_gradient_queries.py and test_discovery_queries.py."""
    own = {kind for kind in query_classes() if issubclass(kind, (GradientQuery, TextCounts))}
    assert query_classes() - own == set(REGISTRY)


@pytest.mark.parametrize("kind", REGISTRY, ids=lambda kind: kind.__name__)
def test_every_query_is_frozen_and_states_its_guarantee(kind):
    assert kind.__dataclass_params__.frozen
    assert "Formal guarantee:" in kind.__doc__
    assert isinstance(kind.name, str)


@pytest.mark.parametrize("kind", REGISTRY, ids=lambda kind: kind.__name__)
def test_nobody_has_to_vouch_for_what_is_shipped(kind):
    """Nothing of this package, and no plain data, is taken for a user's (`test_gate.py` has what is)."""
    for query, _ in REGISTRY[kind].examples():
        assert require_registered(query) == []


def largest_changes(query: object, before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """The most that answers [pairs, cells] differ, in each norm that the query makes a claim on."""
    moved = np.abs(after - before).astype(float)  # squares of whole numbers could overflow
    if hasattr(query, "score_sensitivity"):
        return {"score_sensitivity": float(moved.max())}
    return {
        "l1_sensitivity": float(moved.sum(axis=1).max()),
        "l2_sensitivity": float(np.sqrt((moved**2).sum(axis=1).max())),
    }


def assert_claims_hold(query, neighbors: Neighbors, pairs, answers: dict, *, attained: bool) -> None:
    every, place = np.stack(list(answers.values())), {table: i for i, table in enumerate(answers)}
    before, after = (every[[place[pair[side]] for pair in pairs]] for side in (0, 1))
    for norm, change in largest_changes(query, before, after).items():
        claim = neighbors.sensitivity(getattr(query, norm), neighbors.relation)
        assert change <= claim * (1 + 1e-9), f"{query.name}: {norm} is {change}, above {claim} under {neighbors}"
        if attained:
            assert change == pytest.approx(claim), f"{query.name}: {norm} is {change}, below {claim}: wasteful"


def examples() -> list:
    made = [(kind, query, attained) for kind, entry in REGISTRY.items() for query, attained in entry.examples()]
    return [
        pytest.param(query, attained, id=f"{kind.__name__}-{number}")
        for number, (kind, query, attained) in enumerate(made)
    ]


@cache
def neighboring_pairs(relation: NeighboringRelation) -> list[tuple]:
    """All pairs of tables of up to three rows that differ in one record."""
    records, pairs = all_rows(TINY), []
    for table in all_tables(TINY, LARGEST - 1):
        larger = [tuple(sorted([*table, record])) for record in records]
        if relation is ADD:
            pairs += [(table, other) for other in larger]
        else:
            pairs += list(product(larger, larger))
    return pairs


@cache
def kept_records(engine: str, rows: tuple, privacy_unit: PrivacyUnit | None = None) -> ExactRecords:
    """The same table for every query: with a unit, two rows of another stay, and all `rows` are of one that changes."""
    if privacy_unit is None:
        return records_of(TINY, rows, engine=engine)
    others = [(0, 0), (1, 1)]
    units = ["stays"] * len(others) + ["changes"] * len(rows)
    return records_of(TINY, [*others, *rows], engine=engine, units=units, privacy_unit=privacy_unit)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("query", "attained"), examples())
def test_sensitivity_holds_on_all_neighbors_and_is_attained(query, attained, engine):
    answers = {table: query.exact(kept_records(engine, table)) for table in all_tables(TINY, LARGEST)}
    for relation in NeighboringRelation:
        assert_claims_hold(query, Neighbors(relation), neighboring_pairs(relation), answers, attained=attained)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("query", "attained"), examples())
def test_sensitivity_holds_for_a_privacy_unit(query, attained, engine):
    """One unit comes, goes or is replaced, with more rows than it may keep; another unit stays.

    Of the unit's rows at most two are kept, whichever they are: all choices are covered, because every table of two
    rows is among those enumerated.
    """
    unit = PrivacyUnit(UNIT, MAX_ROWS)
    answers = {rows: query.exact(kept_records(engine, rows, unit)) for rows in all_tables(TINY, LARGEST)}
    present = [rows for rows in answers if rows]
    assert_claims_hold(query, Neighbors(ADD, unit), [((), rows) for rows in present], answers, attained=attained)
    pairs = list(product(present, present))
    assert_claims_hold(query, Neighbors(REPLACE, unit), pairs, answers, attained=attained)


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return Domain(tuple("abcd"[: len(sizes)]), tuple(sizes))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(REGISTRY, key=lambda kind: kind.__name__)), domains())
def test_sensitivity_holds_on_random_tables(data, kind, domain):
    query = data.draw(REGISTRY[kind].random(domain))
    row = st.tuples(*(st.integers(0, size - 1) for size in domain.sizes))
    rows = data.draw(st.lists(row, max_size=30))
    one, other = data.draw(row), data.draw(row)
    tables = {"without": rows, "one": [*rows, one], "other": [other, *rows]}
    answers = {name: query.exact(records_of(domain, table)) for name, table in tables.items()}
    assert_claims_hold(query, Neighbors(ADD), [("without", "one"), ("without", "other")], answers, attained=False)
    assert_claims_hold(query, Neighbors(REPLACE), [("one", "other")], answers, attained=False)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from(sorted(REGISTRY, key=lambda kind: kind.__name__)), domains())
def test_engines_agree_to_the_last_count(data, kind, domain):
    query = data.draw(REGISTRY[kind].random(domain))
    rows = data.draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in domain.sizes)), max_size=20))
    reference, *others = (query.exact(records_of(domain, rows, engine=engine)) for engine in ENGINES)
    for answer in others:
        assert np.array_equal(answer, reference)


@pytest.mark.parametrize("kind", sorted(REGISTRY, key=lambda kind: kind.__name__))
def test_replacing_a_record_moves_no_answer_further_than_two_steps(kind):
    """Else a claim would be refused by an account that allows any question."""
    for query, _ in REGISTRY[kind].examples():
        for norm in ("l1_sensitivity", "l2_sensitivity", "score_sensitivity"):
            if hasattr(query, norm):
                require_declared(query.name, getattr(query, norm), ANY_QUESTION)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize(("query", "attained"), examples())
def test_receipts_restate_the_sensitivities(query, attained, relation):
    """Written down twice, on purpose: a receipt is checked by the second, from what is on it alone."""
    described = json.loads(json.dumps(query.describe()))
    moved = {ADD: 1.0, REPLACE: 2.0}[relation]
    for claim, norm in (("l1_sensitivity", Norm.L1), ("l2_sensitivity", Norm.L2), ("score_sensitivity", None)):
        if hasattr(query, claim):
            assert query.restated_sensitivity(described, moved, norm) == pytest.approx(getattr(query, claim)(relation))


# The constants that papers get wrong


def test_replacing_a_record_doubles_the_selection_score_of_aim():
    """An L1 error moves by 2, not 1: the constant of the published algorithm holds for adding or removing alone."""
    query = WorstApproximatedMarginal((("a",),), (np.array([0, 9]),), np.array([1.0]), np.array([0.0]))
    assert query.score_sensitivity(ADD) == 1
    assert query.score_sensitivity(REPLACE) == 2
    before, after = (query.exact(records_of(TINY, [row])) for row in ((0, 0), (1, 0)))
    assert abs(after - before) == 2


def test_the_number_of_marginals_is_counted_and_not_bounded_by_a_power():
    """With m = 2 attributes the marginals of order up to d = 1 are 3, above the m**d = 2 of a published lemma."""
    query = MarginalCounts(TINY, ((), ("a",), ("b",)))
    assert query.l2_sensitivity(ADD) == pytest.approx(math.sqrt(3))
    assert query.l2_sensitivity(REPLACE) == pytest.approx(math.sqrt(6))
    empty, one = (query.exact(records_of(TINY, rows)) for rows in ([], [(0, 1)]))
    assert (one - empty).sum() == 3


# What a query refuses


def test_an_estimate_of_another_shape_is_refused():
    """numpy would stretch it, and count each record as often as it is stretched: the sensitivity would be wrong."""
    records = records_of(TINY, [(0, 0)])
    for shape in ((2, 1), (1,), (3, 2)):
        query = MarginalDistances((("a", "b"),), (np.zeros(shape, dtype=np.int64),))
        with pytest.raises(ValueError, match="must have the shape"):
            query.exact(records)


def test_queries_refuse_parameters_that_would_break_their_claims():
    whole, clique = np.zeros(2, dtype=np.int64), (("a",),)
    one = np.ones(1)
    with pytest.raises(ValueError, match="must be rounded to int64"):
        MarginalDistances(clique, (np.zeros(2),))
    with pytest.raises(ValueError, match="one array for each clique"):
        MarginalDistances(clique, ())
    with pytest.raises(ValueError, match="one array for each clique"):
        MarginalDistances((), ())
    with pytest.raises(ValueError, match="records in all"):
        MarginalDistances(clique, (np.full(2, 2**62),))
    with pytest.raises(ValueError, match="one number for each clique"):
        WorstApproximatedMarginal(clique, (whole,), np.ones((1, 1)), one)
    with pytest.raises(ValueError, match="one number for each clique"):
        WorstApproximatedMarginal(clique, (whole,), np.ones(2), np.ones(2))
    for weights, penalties in [
        (-one, one),
        (0 * one, one),
        (one * math.nan, one),
        (one * math.inf, one),
        (one * 1e-101, one),
        (one * 1e101, one),
    ]:
        with pytest.raises(ValueError, match="`weights` must be positive and finite, the largest"):
            WorstApproximatedMarginal(clique, (whole,), weights, penalties)
    for penalty in (math.nan, math.inf, -1.0, 2.1e9):
        for wrong in ("penalties", "noises", "floors", "cautions"):
            numbers = dict.fromkeys(("weights", "penalties", "noises", "floors", "cautions"), one)
            with pytest.raises(ValueError, match=r"must be finite, from 0 to (2,0|4)00,000,"):
                WorstApproximatedMarginal(clique, (whole,), **numbers | {wrong: penalty * one})
    with pytest.raises(ValueError, match="must be given together"):
        WorstApproximatedMarginal(clique, (whole,), one, one, noises=one)
    with pytest.raises(ValueError, match="one number for each clique"):
        WorstApproximatedMarginal(clique, (whole,), one, one, None, one, one, np.ones(2))
    with pytest.raises(ValueError, match=r"must be float64\. Found float32"):
        WorstApproximatedMarginal(clique, (whole,), one.astype(np.float32), one)
    with pytest.raises(ValueError, match="at least one set"):
        MarginalCounts(TINY, ())
    with pytest.raises(ValueError, match="in the domain's order"):
        MarginalCounts(TINY, (("b", "a"),))
    with pytest.raises(ValueError, match="must be distinct"):
        MarginalCounts(TINY, (("a",), ("a",)))
    with pytest.raises(ValueError, match="Unknown"):
        MarginalCounts(TINY, (("z",),))
    for weights in ((0,), (-1,), (1.5,), (True,), (1, 1), (65_537,)):
        with pytest.raises(ValueError, match="one whole number from 1 to 65,536 for each of 1 cliques"):
            MarginalCounts(TINY, (("a",),), None, weights)
    with pytest.raises(ValueError, match="must be a tuple, which never changes"):
        MarginalCounts(TINY, (("a",),), None, [1])


def test_what_a_query_describes_is_public():
    """Nothing that a receipt shows of a query was computed from records: it is there before any are."""
    for entry in REGISTRY.values():
        for query, _ in entry.examples():
            described = query.describe()
            query.exact(records_of(TINY, [(1, 2), (0, 0)]))
            assert query.describe() == described
