"""What is wanted: how it is stated, and the smallest epsilon for it against closed forms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.evaluation.train_on_synthetic import Score
from counterfoil.planning.public_table import World
from counterfoil.planning.rehearsal import Rehearsal
from counterfoil.planning.search import LARGEST, SMALLEST, WIDTH, Search
from counterfoil.planning.want import MODEL, Want, own_epsilon

PAIRS = Want("pairs", 0.1)


def rehearsal(epsilon: float, run: int, error: float, *, auc: float = 0.5, world: World = World.STRONG) -> Rehearsal:
    scores = {MODEL: Score(auc - 0.1, auc, None)}
    return Rehearsal(world, run, epsilon, 10, {"a": error / 2}, {("a", "b"): error}, scores)


def found(want: Want, errors, *, given=(), runs: int = 1) -> tuple[Search, int]:
    """The search where run `r` has `errors(epsilon, r)`, and how many epsilons it asked for."""
    search, asked = Search(want, World.STRONG), 0

    def rehearse(epsilon: float) -> None:
        figures = [errors(epsilon, run) for run in range(runs)]
        search.add(rehearsal(epsilon, run, figure, auc=figure) for run, figure in enumerate(figures))

    for epsilon in given:
        rehearse(epsilon)
    while (epsilon := search.next_epsilon()) is not None:
        assert SMALLEST <= epsilon <= LARGEST
        rehearse(epsilon)
        asked += 1
        assert asked < 20
    return search, asked


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("pairs 0.08", Want("pairs", 0.08)),
        ("income auc 0.89", Want("auc", 0.89, "income")),
        ("'marital status' accuracy .7", Want("accuracy", 0.7, "marital status")),
        ("pairs auc 0.7", Want("auc", 0.7, "pairs")),
    ],
)
def test_wants_are_read(text: str, want: Want) -> None:
    assert Want.of(text) == Want.of(want) == want


@pytest.mark.parametrize(
    "text",
    [
        *("", "pairs", "pairs x", "pairs 0", "pairs 2", "pairs nan", "pairs inf", "pairs -1", "income auc", "auc 0.8"),
        *("income auc 1", "income auc 0", "income f1 0.5", "a b auc 0.5", "'income auc 0.5", "income pairs 0.5"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^`want` .*Found|^`want` .*: a column goes with") as refused:
        Want.of(text)
    assert "\n" not in str(refused.value)


def test_which_figure_is_wanted() -> None:
    one = rehearsal(1.0, 0, 0.3, auc=0.8)
    assert Want("pairs", 0.3).figure(one) == 0.3
    assert Want("auc", 0.3, "b").figure(one) == 0.8
    assert Want("accuracy", 0.3, "b").figure(one) == pytest.approx(0.7)
    assert [PAIRS.met(figure) for figure in (0.1, 0.1001, math.nan)] == [True, False, False]
    best = Want("auc", 0.8, "b")
    assert [best.met(figure) for figure in (0.8, 0.7999, math.nan)] == [True, False, False]


@given(st.floats(-4.4, 4.4), st.lists(st.floats(0.01, 100), max_size=3))
@settings(max_examples=100, deadline=None)
def test_the_search_finds_where_a_curve_crosses(log_crossing: float, given: list[float]) -> None:
    """error = bound (crossing / epsilon)**.8 crosses at `crossing`, which the answer exceeds by at most 5%."""
    crossing = math.exp(log_crossing)
    search, asked = found(PAIRS, lambda epsilon, run: 0.1 * (crossing / epsilon) ** 0.8, given=sorted(set(given)))
    answer = search.answer()
    assert answer.epsilon is not None
    assert crossing <= answer.epsilon * (1 + 1e-9)
    assert answer.epsilon <= crossing * WIDTH * (1 + 1e-9) or answer.already
    assert not answer.already or crossing <= SMALLEST * (1 + 1e-9)
    assert answer.figure is not None
    assert answer.figure.mean <= 0.1 + 1e-9
    assert asked <= 11


def test_a_score_rises_where_an_error_falls() -> None:
    want = Want("auc", 0.8, "b")
    search, _ = found(want, lambda epsilon, run: 0.9 - 0.05 / epsilon)
    answer = search.answer()
    assert answer.epsilon is not None
    assert 0.5 <= answer.epsilon <= 0.5 * WIDTH


def test_what_is_never_reached_and_what_is_reached_already() -> None:
    never = found(PAIRS, lambda epsilon, run: 0.2)[0].answer()
    assert (never.epsilon, never.already, never.least, never.most) == (None, False, None, None)
    assert never.figure is not None
    assert never.figure.mean == 0.2
    already = found(PAIRS, lambda epsilon, run: 0.05)[0].answer()
    assert (already.epsilon, already.already) == (SMALLEST, True)
    nothing = found(Want("auc", 0.8, "b"), lambda epsilon, run: math.nan)[0].answer()
    assert (nothing.epsilon, nothing.figure) == (None, None)


def test_rehearsals_are_ranged() -> None:
    """Runs cross at 1 and 4, both exactly on the lines between epsilons; their mean crosses at 2.5."""
    search, _ = found(PAIRS, lambda epsilon, run: 0.1 * (1, 4)[run] / epsilon, runs=2)
    answer = search.answer()
    assert answer.epsilon is not None
    assert 2.5 <= answer.epsilon <= 2.5 * WIDTH
    assert answer.least is not None
    assert answer.most is not None
    assert answer.least == pytest.approx(1.0, rel=1e-9)
    assert 4.0 <= answer.most <= 10.0, "between the epsilons that were tried, at or after its own crossing"


def test_a_run_that_never_does_has_no_largest_epsilon() -> None:
    answer = found(PAIRS, lambda epsilon, run: (0.001, 0.15)[run], runs=2)[0].answer()
    assert answer.already
    assert (answer.least, answer.most) == (SMALLEST, None)


def test_between_two_epsilons_the_figure_is_linear_in_their_logarithm() -> None:
    tried = [(0.1, 0.5), (1.0, 0.3), (10.0, 0.05), (100.0, 0.01)]
    assert own_epsilon(Want("pairs", 0.1), tried) == pytest.approx(10**0.8)
    assert own_epsilon(Want("pairs", 0.5), tried) == 0.1
    assert own_epsilon(Want("pairs", 0.001), tried) is None
    assert own_epsilon(Want("pairs", 0.4), [(0.1, 0.3), (1.0, 0.5), (10.0, 0.3)]) == pytest.approx(10**0.5)
    assert own_epsilon(Want("auc", 0.8, "b"), [(1.0, math.nan), (2.0, 0.9)]) == 2.0


def test_a_search_takes_the_rehearsals_of_its_own_world() -> None:
    search = Search(PAIRS, World.STRONG)
    search.add([rehearsal(1.0, 0, 0.5), rehearsal(1.0, 0, 0.0, world=World.WEAK)])
    assert [one.pair_error for one in search.tried[1.0]] == [0.5]
