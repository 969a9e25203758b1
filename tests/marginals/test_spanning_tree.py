"""The tree that joins all columns: Kruskal's, chosen privately, and what AIM measures first."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.account import Choice
from counterfoil.domain.coarsening import identity
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.marginals.aim_asked import Shares
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.marginal_selection import ExponentialChoice, GaussianChoice, Round
from counterfoil.marginals.rank_blocks import single_codes
from counterfoil.marginals.spanning_tree import choose_tree, count_parts, parts_of
from counterfoil.methods.aim import AIM
from counterfoil.noise.scores import LARGEST_PENALTY
from small_releases import charges_of, mu_squared_of, opened, released

NAMES = tuple("abcdefg")
SEVEN = Domain(NAMES, (2,) * 7)
pairs_of_some = st.lists(
    st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True).map(SEVEN.canonical), unique=True
)


def graph_of(cliques) -> coo_matrix:
    ends = np.array([SEVEN.axes(clique) for clique in cliques], dtype=int).reshape(-1, 2)
    return coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(7, 7))


@given(pairs_of_some, pairs_of_some)
def test_parts_are_connected_components(pairs, before):
    part = parts_of(SEVEN, pairs, parts_of(SEVEN, before))
    count, labels = connected_components(graph_of([*pairs, *before]), directed=False)
    assert count_parts(part) == count
    assert np.array_equal(part[:, None] == part, labels[:, None] == labels)


@given(pairs_of_some, st.randoms(use_true_random=False))
def test_the_best_pick_each_time_makes_the_maximum_spanning_forest(pairs, random):
    weights = np.array([random.random() + 0.1 for _ in pairs])
    tree = choose_tree(SEVEN, pairs, lambda joining: int(joining[np.argmax(weights[joining])]))
    graph = graph_of(pairs)
    graph.data = -weights
    assert math.fsum(weights[pairs.index(pair)] for pair in tree) == pytest.approx(-minimum_spanning_tree(graph).sum())


@given(pairs_of_some, pairs_of_some)
def test_parts_that_are_joined_already_are_not_joined_again(pairs, before):
    part = parts_of(SEVEN, before)
    tree = choose_tree(SEVEN, pairs, lambda joining: int(joining[0]), part=part)
    assert count_parts(part) - len(tree) == count_parts(parts_of(SEVEN, [*pairs, *before]))


@given(pairs_of_some, st.integers(0, 7))
def test_a_tree_that_ends_early_is_the_beginning_of_the_whole_one(pairs, most):
    whole = choose_tree(SEVEN, pairs, lambda joining: int(joining[0]))
    left = iter(range(most))
    part = choose_tree(SEVEN, pairs, lambda joining: None if next(left, None) is None else int(joining[0]))
    assert part == whole[:most]


def test_what_does_not_fit_is_left_out():
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    tree = choose_tree(
        SEVEN,
        pairs,
        lambda joining: int(joining[0]),
        fits=lambda places, asked: np.array([True, not places, True])[asked],
    )
    assert tree == [("a", "b"), ("a", "c")]


# A chain a - b - ... - g in which each column copies the one before in 19 rows of 20.
RNG = np.random.default_rng(3)
CHAIN_ROWS = np.empty((4000, 7), dtype=int)
CHAIN_ROWS[:, 0] = RNG.integers(0, 2, 4000)
for _column in range(1, 7):
    CHAIN_ROWS[:, _column] = CHAIN_ROWS[:, _column - 1] ^ (RNG.random(4000) < 0.05)
CHAIN = [tuple(map(int, row)) for row in CHAIN_ROWS]
LINKS = set(itertools.pairwise(NAMES))


def first_round(
    domain: Domain = SEVEN,
    *,
    deviation: float = 5.0,
    sensitivity: float = 1.0,
    ending: float = 1.0,
    column_error: float = 0.0,
):
    """Before anything but columns is known, which are uniform; choices cost 50 in all."""
    candidates = Candidates.of(2, domain, 1.0)
    pairs = [clique for clique in candidates.weights if len(clique) == 2]
    return Round(
        candidates,
        single_codes(identity(domain)),
        model_cliques=[(name,) for name in domain.attributes],
        estimates=GraphicalModel(domain, {}, 4000.0).marginals(pairs),
        deviation=deviation,
        size_share=1.0,
        mu_squared=50.0,
        column_errors=dict.fromkeys(domain.attributes, column_error),
        sensitivity=sensitivity,
        ending=ending,
    )


def joined(choice, part: np.ndarray, rows=CHAIN, deviation: float = 5.0, column_error: float = 0.0):
    now = first_round(deviation=deviation, column_error=column_error)
    with opened(SEVEN, rows, budget=Budget(500.0, 1e-6)) as curator:
        tree = choice.join(curator.filter(GaussianFilter()), now, part)
        return set(tree.estimates), curator.charges()


@pytest.mark.parametrize("choice", [ExponentialChoice(), GaussianChoice()])
def test_a_chain_is_found_and_costs_what_it_was_given(choice):
    tree, charges = joined(choice, np.arange(7))
    assert tree == LINKS
    costs = [mu_squared_of(charge) for charge in charges]
    assert math.fsum(costs) <= 50.0
    assert costs == pytest.approx([50.0 / len(costs)] * len(costs), rel=1e-6)
    assert len(costs) == (6 if isinstance(choice, ExponentialChoice) else 1)


@pytest.mark.parametrize("choice", [ExponentialChoice(), GaussianChoice()])
def test_nothing_is_charged_where_nothing_is_to_join(choice):
    assert joined(choice, np.zeros(7, dtype=int)) == (set(), [])


def test_one_record_moves_no_score_by_more_than_the_charge_says():
    """Weights of 1: the sensitivity that each choice of an edge is charged with."""
    _, charges = joined(ExponentialChoice(), np.arange(7))
    assert [charge.sensitivity for charge in charges] == [1.0] * 6


def test_a_tree_ends_where_noise_would_hide_what_is_left():
    """a, b, c and d are a chain, the others independent of all.

    With a deviation of 50 a pair's noise is 160 records; a link's error is above 3,000, and the others' below 160, as
    is asserted of the table, which is no more than what the errors of two columns explain. A choice costs 50 / 6 (mu
    squared), with Gumbel noise of scale below 1 record. Against the margin the other pairs' odds together are below 1,
    so that the tree ends with odds of at least 1 / 2 each time; the seed is fixed. The choice to end is charged like
    the others.
    """
    rows = np.array(CHAIN)
    rows[:, 4:] = np.random.default_rng(4).integers(0, 2, (4000, 3))
    for one, other in itertools.combinations(range(7), 2):
        counts = np.bincount(2 * rows[:, one] + rows[:, other], minlength=4)
        assert np.abs(counts - 1000).sum() < 160 or other < 4
    tree, charges = joined(
        ExponentialChoice(), np.arange(7), list(map(tuple, rows.tolist())), deviation=50.0, column_error=114.0
    )
    assert tree == {("a", "b"), ("b", "c"), ("c", "d")}
    assert [mu_squared_of(charge) for charge in charges] == pytest.approx([50.0 / 6] * 4, rel=1e-6)


class Asked:
    """In place of an account: keeps what is asked, and always ends."""

    def __init__(self) -> None:
        self.questions = []

    def choose(self, query, noise):
        self.questions.append((query, noise))
        return Choice(query.describe()["candidates"] - 1, 1.0)


@pytest.mark.parametrize(("columns", "sensitivity", "ending"), [(7, 1.0, 1.0), (7, 2.0, 0.5), (46, 3.0, 1.0)])
def test_pairs_without_gain_have_together_the_odds_of_the_end(columns, sensitivity, ending):
    """Odds are exp(score / scale): with scores of -margin the m pairs have m exp(-margin / scale) in all, the end 1."""
    domain = Domain(tuple(f"c{i:02d}" for i in range(columns)), (2,) * columns)
    account, now = Asked(), first_round(domain, sensitivity=sensitivity, ending=ending)
    assert not ExponentialChoice().join(account, now, np.arange(columns)).estimates
    ((query, noise),) = account.questions
    pairs = columns * (columns - 1) // 2
    assert query.describe() == {"candidates": pairs + 1, "largest_weight": 1.0}
    # Four cells of 1,000 records, each with noise of deviation 5; a column's cells are two.
    margins = query.penalties - np.array([4.0] * pairs + [2.0]) * 5.0 * math.sqrt(2 / math.pi)
    scores = -query.weights * margins
    odds = np.exp(scores / noise.scale(sensitivity))
    assert odds[-1] == pytest.approx(1.0, abs=1e-9)
    assert odds[:-1].sum() == pytest.approx(pairs ** (1 - ending), rel=1e-9)
    assert query.weights[-1] * LARGEST_PENALTY < 0.01, "whatever the error of the end, its score is 0"


def measured_first(synthesis, columns: int) -> list[list[str]]:
    """The cliques of the measurements that follow the columns, in order."""
    asked = [charge["parameters"]["cliques"] for charge in charges_of(synthesis, "marginal_counts")]
    after = itertools.dropwhile(lambda cliques: all(len(clique) == 1 for clique in cliques), asked)
    return [clique for cliques in after for clique in cliques][: columns - 1]


@pytest.mark.parametrize(("variant", "epsilon"), [("gaussian", 0.1), ("gaussian", 3.0), ("batched", 3.0)])
def test_aim_joins_every_column(variant, epsilon):
    """With one query for all errors for sure; else where a pair is worth its noise."""
    made = released(AIM(variant=variant), SEVEN, CHAIN, budget=Budget(epsilon, 1e-6), draw=5)
    first = [tuple(clique) for clique in measured_first(made, 7)]
    assert all(len(clique) == 2 for clique in first)
    assert count_parts(parts_of(SEVEN, first)) == 1


def test_aim_finds_the_links_of_a_chain_of_more_columns_than_its_rounds_had_choices():
    """36 columns, of which the 32 choices of 8 rounds would leave some alone.

    A choice among links is between scores of about 2,000 * 0.9 and, two columns apart, 2,000 * 0.81 records, with
    Gumbel noise of scale below 9 records: 180 records are 20 scales, so that 630 pairs in 35 choices err with
    probability below 35 * 630 * exp(-20) = 5e-5 over seeds; the seed is fixed.
    """
    columns = 36
    names = tuple(f"c{i:02d}" for i in range(columns))
    domain = Domain(names, (2,) * columns)
    rng = np.random.default_rng(5)
    rows = np.cumsum(rng.random((2000, columns)) < np.array([0.5] + [0.05] * (columns - 1)), axis=1) % 2
    method, budget = AIM(rounds=1, classes=0), Budget(20.0, 1e-6)
    made = released(method, domain, list(map(tuple, rows.tolist())), budget=budget, draw=5)
    assert {tuple(clique) for clique in measured_first(made, columns)} == set(itertools.pairwise(names))


def test_what_a_wide_table_has_no_pairs_for_measures_its_columns_again():
    """36 independent columns: with this seed some choice ends the tree.

    The first query is half of what was planned for columns, and the others are more, because noise hides them. A tree
    of 35 pairs was to take the place of all rounds but one, with 35 parts of 39 of the rest; so much of it as was not
    used is what columns cost in the query behind the choices.
    """
    columns = 36
    domain = Domain(tuple(f"c{i:02d}" for i in range(columns)), (2,) * columns)
    rows = np.random.default_rng(6).integers(0, 2, (2000, columns))
    made = released(AIM(), domain, list(map(tuple, rows.tolist())), budget=Budget(0.3, 1e-6), draw=5)
    charges, shares = charges_of(made), Shares()
    first, once, more, again, *marginals = charges_of(made, "marginal_counts")
    for charge in (first, once, more, again):
        assert charge["parameters"]["cliques"] == [[name] for name in domain.attributes]
    edges = charges.index(again) - charges.index(more) - 2  # the last choice was to end
    planned = 2 * mu_squared_of(first)
    left = shares.marginals * planned / shares.columns - (sum(map(mu_squared_of, (first, once, more))) - planned)
    assert mu_squared_of(again) == pytest.approx((35 - edges) / 39 * left, rel=1e-6)
    measured = math.fsum(mu_squared_of(charge) for charge in marginals)
    assert measured == pytest.approx((edges + 4) / 39 * left, rel=1e-6)
    assert made.receipt.document["spent"]["epsilon"] == pytest.approx(0.3, rel=1e-4)


def test_what_other_tables_have_no_pairs_for_is_left_to_rounds():
    """20 independent columns: with this seed a choice ends the tree, and rounds measure with all that is left."""
    domain = Domain(tuple(f"c{i:02d}" for i in range(20)), (2,) * 20)
    rows = np.random.default_rng(6).integers(0, 2, (2000, 20))
    made = released(AIM(), domain, list(map(tuple, rows.tolist())), budget=Budget(0.3, 1e-6), draw=5)
    charges = charges_of(made)
    first, once, more, *marginals = charges_of(made, "marginal_counts")
    assert charges.index(marginals[0]) - 2 < 19, "choices come before what they choose is measured"
    assert all(len(charge["parameters"]["cliques"]) == 1 for charge in marginals)
    measured = math.fsum(mu_squared_of(charge) for charge in (first, once, more, *marginals))
    assert measured == pytest.approx((Shares().marginals / Shares().columns + 1) * 2 * mu_squared_of(first), rel=1e-6)


def test_a_workload_that_names_some_pairs_is_joined_within_them():
    workload = Workload({("a", "b"): 1.0, ("b", "c"): 1.0, ("e", "f"): 1.0})
    made = released(AIM(workload), SEVEN, CHAIN, budget=Budget(1.0, 1e-6), draw=5)
    assert {tuple(clique) for clique in measured_first(made, 4)} == {("a", "b"), ("b", "c"), ("e", "f")}


def test_with_a_focus_its_pairs_join_all_columns_and_nothing_is_spent_on_a_tree():
    made = released(AIM(focus="d", rounds=1), SEVEN, CHAIN, budget=Budget(1.0, 1e-6), draw=5)
    asked = [charge["parameters"]["cliques"] for charge in charges_of(made, "marginal_counts")]
    assert len(asked[1]) == 6
    assert all("d" in clique for clique in asked[1])
    assert len(charges_of(made, "worst_approximated_marginal")) <= 4


def test_one_round_is_the_tree_alone_and_spends_everything():
    made = released(AIM(rounds=1), SEVEN, CHAIN, budget=Budget(1.0, 1e-6), draw=5)
    assert len(charges_of(made, "worst_approximated_marginal")) == 6
    spent = made.receipt.document["spent"]["epsilon"]
    assert spent == pytest.approx(1.0, rel=1e-4)
