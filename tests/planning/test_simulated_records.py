"""Simulated records: a law that can be written down, and rules that all of them meet."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.planning.public_table import World
from counterfoil.planning.random_law import Link, RandomLaw, at_quantiles, normal_scores, scaled
from counterfoil.planning.simulated import drawn_by_rules, meets_rules, simulated
from counterfoil.planning.two_worlds import RELATIONS, SKEWS
from counterfoil.schema import Schema
from counterfoil.schema.errors import SchemaError
from counterfoil.synthesis.table import decode, encode

RULED = Schema.from_toml(
    """
rules = [
    { require = "low <= high" },
    { if = "kind == 'a'", then = "low + high <= 12" },
]

[columns.low]
kind = "integer"
lower = 0
upper = 9

[columns.high]
kind = "integer"
lower = 0
upper = 9
missing = true

[columns.kind]
kind = "categorical"
values = ["a", "b", "c"]

[columns.never]
kind = "categorical"
values = ["x", "y"]

[[zeros]]
columns = ["kind", "never"]
values = [["b", "x"], ["c", "y"]]

[columns.half]
kind = "real"
lower = 0.0
upper = 1.0
bins = 4
"""
)
PLAIN = Schema.from_toml(
    "\n".join(f"[columns.c{i}]\nkind = 'categorical'\nvalues = {[f'v{j}' for j in range(2 + i)]}" for i in range(5))
)
FALSE_ALARM = 1e-7


def law_of(schema: Schema, world: World, rng: np.random.Generator, *, target: str | None = None) -> RandomLaw:
    return RandomLaw.drawn(schema, rng, skew=SKEWS[world], relations=RELATIONS[world], target=target)


def law_with(shares: dict[str, np.ndarray], links=None, possible=None) -> RandomLaw:
    """A law of one kind."""
    by_kind = {name: own[None, :] for name, own in shares.items()}
    return RandomLaw(tuple(shares), shares, by_kind, links or {}, possible or {})


@pytest.mark.parametrize("world", [World.WEAK, World.STRONG])
@pytest.mark.parametrize("run", [0, 1, 2])
def test_every_record_meets_the_rules(world: World, run: int) -> None:
    table = simulated(RULED, 3000, world, run, seed=5, test_rows=500)
    for codes, rows in ((table.codes, 3000), (table.test, 500)):
        low, high, kind, never = (codes[name].astype(int) for name in ("low", "high", "kind", "never"))
        assert [len(column) for column in codes.values()] == [rows] * 5
        there = high < 10  # the last code is for missing values
        assert (low <= high)[there].all()
        assert ((low + high <= 12) | (kind != 0))[there].all()
        assert not ((kind == 1) & (never == 0)).any()
        assert not ((kind == 2) & (never == 1)).any()


def test_the_check_of_rules_finds_each_broken_one() -> None:
    codes = {
        "low": np.array([0, 5, 9, 0]),
        "high": np.array([9, 4, 9, 9]),
        "kind": np.array([0, 1, 0, 1]),
        "never": np.array([0, 1, 0, 0]),
        "half": np.array([0, 1, 2, 3]),
    }
    assert meets_rules(RULED, codes, np.random.default_rng(0)).tolist() == [True, False, False, False]


def test_codes_survive_being_values() -> None:
    table = simulated(RULED, 400, World.STRONG, 0, seed=1)
    again = encode(RULED, decode(RULED, table.codes, np.random.default_rng(0)))
    assert all(np.array_equal(again[name], table.codes[name]) for name in table.codes)


def test_a_table_is_repeated_by_its_seed_and_by_nothing_else() -> None:
    one, same, other_run, other_seed = (
        simulated(PLAIN, 200, World.STRONG, run, seed=seed) for run, seed in ((0, 3), (0, 3), (1, 3), (0, 4))
    )
    assert all(np.array_equal(one.codes[name], same.codes[name]) for name in one.codes)
    for other in (other_run, other_seed):
        assert any(not np.array_equal(one.codes[name], other.codes[name]) for name in one.codes)


def test_rules_that_are_hardly_ever_met_repeat_records_and_impossible_ones_are_refused() -> None:
    class Rare(RandomLaw):
        """Only a draw of ten records has one that meets the rules."""

        def draw(self, rows, rng):
            codes = {name: np.ones(rows, dtype=np.int64) for name in self.shares}
            return codes | {"never": ((np.arange(rows) == 3) & (rows == 10)).astype(np.int64)}

    shares = {column.name: np.full(column.size, 1 / column.size) for column in RULED.synthesized}
    rare = Rare(tuple(shares), shares, {}, {}, {})
    codes = drawn_by_rules(rare, RULED, 10, np.random.default_rng(0))  # kind b with never y
    assert codes["never"].tolist() == [1] * 10
    with pytest.raises(SchemaError, match=r"None of [\d,]+ did: give `like`"):
        drawn_by_rules(rare, RULED, 11, np.random.default_rng(0))


def test_columns_have_the_shares_of_the_law() -> None:
    """Hoeffding for each of the codes: a false alarm with probability 1e-7 in all."""
    rng, n = np.random.default_rng(11), 40_000
    for world in (World.WEAK, World.STRONG, World.STRONG):
        law = law_of(PLAIN, world, rng)
        codes = law.draw(n, rng)
        cells = sum(len(shares) for shares in law.shares.values())
        far = math.sqrt(math.log(2 * 3 * cells / FALSE_ALARM) / (2 * n))
        for name, shares in law.shares.items():
            assert np.abs(np.bincount(codes[name], minlength=len(shares)) / n - shares).max() <= far


def test_more_is_related_in_the_second_world() -> None:
    """The L1 distance of each pair from the product of its columns, in the mean over five laws.

    For independent columns its mean is at most sqrt(cells / n), and one record moves it by at most 6 / n (2 / n by the
    pair, 2 / n by each column), so that by McDiarmid's inequality it is beyond that by `slack` with probability 1e-7.
    """
    n = 20_000
    slack = math.sqrt(36 * math.log(100 / FALSE_ALARM) / (2 * n))

    def distances(world: World) -> list[float]:
        found = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            codes = law_of(PLAIN, world, rng).draw(n, rng)
            for one, other in itertools.combinations(codes, 2):
                joint = joint_of(codes, one, other)
                product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
                found.append(float(np.abs(joint - product).sum()) - 2 * math.sqrt(joint.size / n) - slack)
        return found

    weak, strong = distances(World.WEAK), distances(World.STRONG)
    assert sum(distance > 0 for distance in strong) > 20 > sum(distance > 0 for distance in weak)


def joint_of(codes: dict[str, np.ndarray], one: str, other: str) -> np.ndarray:
    sizes = PLAIN.domain[one], PLAIN.domain[other]
    cells = codes[one].astype(np.int64) * sizes[1] + codes[other]
    return np.bincount(cells, minlength=sizes[0] * sizes[1]).reshape(sizes) / len(cells)


def test_relations_are_left_beyond_every_tree() -> None:
    """Real tables have them. Each of the 125 trees of five columns foretells all pairs by the laws along its paths.

    The least mean error of any tree is above .02, in the mean of ten laws. Of a law that is a tree it would be that of
    chance, at most the mean of sqrt(cells / n): .011.
    """
    n, left = 100_000, []
    names = PLAIN.domain.attributes
    for seed in range(10):
        rng = np.random.default_rng(seed)
        codes = law_of(PLAIN, World.STRONG, rng).draw(n, rng)
        joints = {pair: joint_of(codes, *pair) for pair in itertools.permutations(names, 2)}
        left.append(min(tree_error(paths, joints) for paths in paths_of_trees(names)))
    assert np.mean(left) > 0.02


def paths_of_trees(names):
    """The paths between all pairs, for each tree: as many edges as keep everything within reach."""
    for edges in itertools.combinations(itertools.combinations(names, 2), len(names) - 1):
        paths = {(name, name): (name,) for name in names}
        for _ in names:
            for (start, end), path in list(paths.items()):
                for one, other in (*edges, *(edge[::-1] for edge in edges)):
                    if one == end:
                        paths.setdefault((start, other), (*path, other))
        if len(paths) == len(names) ** 2:
            yield [paths[pair] for pair in itertools.combinations(names, 2)]


def tree_error(paths, joints) -> float:
    errors = []
    for path in paths:
        told = joints[path[0], path[1]]
        for here, there in itertools.pairwise(path[1:]):
            joint = joints[here, there]
            sums = joint.sum(axis=1, keepdims=True)
            told = told @ np.divide(joint, sums, out=np.zeros_like(joint), where=sums > 0)
        errors.append(float(np.abs(told - joints[path[0], path[-1]]).sum()))
    return float(np.mean(errors))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda weights: sum(weights) > 0.1), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_quantiles_and_scores_against_brute_force(weights: list[float], seed: int) -> None:
    shares = np.array(weights) / sum(weights)
    uniform = np.random.default_rng(seed).random(50)
    for quantile, code in zip(uniform, at_quantiles(shares, uniform), strict=True):
        assert shares[code] > 0
        below = math.fsum(shares[:code])
        assert below - 1e-12 <= quantile <= below + shares[code] + 1e-12
    scores = normal_scores(shares)
    assert abs(float(shares @ scores)) < 1e-6
    assert float(shares @ np.square(scores)) == pytest.approx(1.0) or (shares > 0).sum() == 1 or not scores.any()
    assert (np.diff(scores) >= -1e-9).all()


def test_impossible_cells_leave_the_shares_of_the_others() -> None:
    """A column beside an earlier one with impossible cells: by Hoeffding, 1e-7 for all cells together."""
    n, rng = 60_000, np.random.default_rng(4)
    cells = np.array([[True, False, True], [True, True, False]])
    law = law_with({"a": np.array([0.3, 0.7]), "b": np.array([0.2, 0.3, 0.5])}, possible={"b": ("a", cells)})
    codes = law.draw(n, rng)
    far = math.sqrt(math.log(2 * 6 / FALSE_ALARM) / (2 * n))
    expected = np.array([[0.3 * 0.2 / 0.7, 0, 0.3 * 0.5 / 0.7], [0.7 * 0.2 / 0.5, 0.7 * 0.3 / 0.5, 0]])
    found = np.histogram2d(codes["a"], codes["b"], bins=[2, 3])[0] / n
    assert np.abs(found - expected).max() <= far
    assert found[~cells].sum() == 0


def test_a_column_follows_its_parent_as_the_link_says() -> None:
    """Signs of two normals agree with probability 1/2 + arcsin of their correlation / pi; by Hoeffding, 1e-7."""
    n, even = 60_000, np.array([0.5, 0.5])
    law = law_with({"a": even, "b": even}, links={"b": Link("a", 0.6)})
    codes = law.draw(n, np.random.default_rng(8))
    expected = 0.5 + math.asin(0.6) / math.pi
    assert abs(float(np.mean(codes["a"] == codes["b"])) - expected) <= math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n))


def test_columns_follow_the_kind_of_a_record() -> None:
    """Two kinds that decide two columns: both agree, and no cell between them has a record."""
    sure = np.eye(2)
    half = np.array([0.5, 0.5])
    law = RandomLaw(("a", "b"), {"a": half, "b": half}, {"a": sure, "b": sure[::-1]}, {}, {})
    codes = law.draw(500, np.random.default_rng(0))
    assert (codes["a"] != codes["b"]).all()
    assert 150 < codes["a"].sum() < 350  # of 500 coins; a false alarm with probability below 1e-17


@given(st.integers(1, 6), st.integers(1, 7), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_shares_by_kind_have_the_mean_that_is_asked_for(kinds: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(size, 0.5))
    found = scaled(np.exp(2 * rng.standard_normal((kinds, size))) * shares, shares)
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert found.mean(axis=0) == pytest.approx(shares, abs=1e-3)


@pytest.mark.parametrize("world", [World.WEAK, World.STRONG])
def test_links_leave_room_for_noise_and_follow_earlier_columns(world: World) -> None:
    wide = Schema.from_toml("\n".join(f"[columns.c{i}]\nkind = 'boolean'" for i in range(30)))
    for seed in range(20):
        law = law_of(wide, world, np.random.default_rng(seed), target="c7")
        assert sorted(law.order) == sorted(wide.domain.attributes)
        assert law.order[0 if world is World.STRONG else -1] == "c7"
        assert set(law.links) == set(law.order[1:])
        for name, link in law.links.items():
            assert law.order.index(link.parent) < law.order.index(name)
            assert abs(link.correlation) < 1
