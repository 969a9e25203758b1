"""AIM in all its variants: within budget, refused before it costs anything, right where noise is negligible."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from counterfoil.accounting.budget import Budget
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.marginals import aim_batched, aim_start
from counterfoil.marginals.aim_asked import Asked, Shares
from counterfoil.marginals.aim_batched import BatchedAIM
from counterfoil.marginals.marginal_selection import ExponentialChoice
from counterfoil.marginals.repeated_measurement import NO_MORE
from counterfoil.methods.aim import AIM, AIMVariant
from small_releases import (
    RELATIONS,
    Request,
    assert_within_budget,
    charges_of,
    counts_of,
    mu_squared_of,
    opened,
    released,
    requests,
)

TRIPLE = Domain(("a", "b", "c"), (3, 4, 2))
# a and b say the same, c says nothing of them.
DEPENDENT = [(i % 3, i % 3, (i // 3) % 2) for i in range(600)]
# All three say the same: a tree joins them.
JOINED = [(i % 3, i % 3, i % 3 // 2) for i in range(600)]


@pytest.mark.parametrize("variant", [*AIMVariant, "focused"])
@given(request_=requests())
@settings(max_examples=12, deadline=None)
def test_never_above_its_budget(variant: str, request_: Request):
    how = {"focus": request_.domain.attributes[-1]} if variant == "focused" else {"variant": variant}
    aim = AIM(request_.workload, rounds=3, batch=2, **how)
    made = released(aim, request_.domain, request_.rows, draw=5, **request_.keywords)
    assert_within_budget(made, request_.keywords["budget"])
    assert made.rows == 5


@pytest.mark.parametrize("variant", AIMVariant)
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_large_budget_gives_the_table_back(variant, relation):
    aim = AIM(variant=variant, entropy_weight=1e-3)
    made = released(aim, TRIPLE, DEPENDENT, budget=Budget(1e4, 1e-6), relation=relation)
    for pair in (("a", "b"), ("a", "c"), ("b", "c")):
        assert np.abs(made.marginal(pair) - counts_of(TRIPLE, DEPENDENT, pair)).sum() < 0.02 * len(DEPENDENT)


@pytest.mark.parametrize("variant", AIMVariant)
@pytest.mark.parametrize(
    ("aim", "budget", "rows", "message"),
    [
        ({}, Budget(1.0), None, "`delta` must be positive"),
        ({"workload": Workload({("a", "z"): 1.0})}, Budget(1.0, 1e-6), None, "Unknown: 'z'"),
        ({"workload": 0}, Budget(1.0, 1e-6), None, "`workload` must be .* Found 0"),
        ({"focus": "d"}, Budget(1.0, 1e-6), None, "`focus` must be a synthesized column|has no `focus`"),
        ({}, Budget(1.0, 1e-6), 0, "`rows` must be a whole number of at least 1. Found 0"),
        ({}, Budget(1.0, 1e-6), 2.5, "`rows` must be a whole number"),
    ],
)
def test_what_is_refused_costs_nothing(variant, aim, budget, rows, message):
    total = Budget(1.0, 1e-6)
    with Ledger.in_memory(SourceIdentity("memory", "memory"), total) as ledger:
        with opened(TRIPLE, DEPENDENT, budget=budget, ledger=ledger) as held, pytest.raises(ValueError, match=message):
            AIM(**aim, variant=variant).synthesize(held, rows=rows)
        assert held.charges() == []
        assert (ledger.left().epsilon, ledger.left().delta) == (total.epsilon, total.delta)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rounds": 0}, "`rounds` and `batch` must be at least 1"),
        ({"batch": 0}, "`rounds` and `batch` must be at least 1"),
        ({"rounds": 2.5}, "`rounds` must be a whole number. Found 2.5"),
        ({"batch": None}, "`batch` must be a whole number. Found None"),
        ({"classes": True}, "`classes` must be a whole number. Found True"),
        ({"max_model_size": 0.0}, "`max_model_size` must be positive and finite"),
        ({"max_model_size": "80"}, "`max_model_size` must be positive and finite. Found '80'"),
        ({"workload": "pairs"}, "`workload` must be a whole number of at least 1, or a `Workload`. Found 'pairs'"),
        ({"workload": 0}, "`workload` must be a whole number of at least 1, or a `Workload`. Found 0"),
        ({"focus": 3}, "`focus` must be the name of a column. Found 3"),
        ({"entropy_weight": float("inf")}, "`entropy_weight` must be positive and finite"),
        ({"variant": "adaptive"}, "adaptive"),
        ({"variant": "published", "focus": "a"}, "published variant has no `focus`"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(ValueError, match=message):
        AIM(**parameters)


def test_a_parameter_that_is_a_number_of_numpy_does_not_end_a_release_that_was_paid_for():
    made = released(AIM(rounds=2, max_model_size=np.float32(8.0)), TRIPLE, DEPENDENT)
    assert made.receipt.document["method"]["parameters"]["max_model_size"] == 8.0


@pytest.mark.parametrize("variant", AIMVariant)
def test_the_receipt_says_how(variant):
    workload = Workload({("a", "b"): 2.0})
    made = released(AIM(workload, variant=variant, rounds=2), TRIPLE, DEPENDENT)
    assert made.receipt.document["method"]["name"] == "aim"
    parameters = made.receipt.document["method"]["parameters"]
    assert parameters["variant"] == variant.value
    assert parameters["workload"] == [["a", "b"]]
    assert parameters["rounds"] == 2


@pytest.mark.parametrize("variant", AIMVariant)
def test_progress_rises(variant):
    messages: list[tuple[str, float]] = []
    with opened(TRIPLE, DEPENDENT) as curator:
        AIM(variant=variant).synthesize(curator, progress=lambda *said: messages.append(said))
    shares = [share for _, share in messages]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0.5 < shares[-1] < 1
    assert messages[0][0] == "measuring columns"


# The order of the batched variant's questions, and what each costs


def batched(variant: str = "batched", rows=DEPENDENT, epsilon: float = 2.0, **keywords):
    parameters = {"rounds": 3, "batch": 2} | keywords
    return released(AIM(variant=variant, **parameters), TRIPLE, rows, budget=Budget(epsilon, 1e-6))


def test_batched_asks_columns_then_rounds_then_errors():
    made = batched(rows=JOINED, epsilon=10.0)
    asked = [charge["query"] for charge in charges_of(made)]
    assert asked[:2] == ["marginal_counts"] * 2
    assert [charge["parameters"]["cliques"] for charge in charges_of(made)[:2]] == [[["a"], ["b"], ["c"]]] * 2
    assert asked[-1] == "marginal_errors"
    body = "".join({"worst_approximated_marginal": "c", "marginal_counts": "m"}[name] for name in asked[2:-1])
    assert body.startswith("ccmm"), "both are chosen before either is measured"
    assert set(body.split("m")) <= {"", "c", "cc"}


def test_gaussian_asks_for_all_errors_each_round():
    made = batched("gaussian")
    asked = [charge["query"] for charge in charges_of(made)]
    assert "worst_approximated_marginal" not in asked
    assert asked[2] == asked[-1] == "marginal_errors", "after columns, which are measured twice"
    tree, charge = charges_of(made, "marginal_errors")[:2]
    assert tree["parameters"]["cliques"] == [["a", "b"], ["a", "c"], ["b", "c"]], "the first round is a spanning tree"
    assert sorted(map(tuple, charge["parameters"]["cliques"])) == sorted(
        [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")]
    )


@pytest.mark.parametrize("variant", ["batched", "gaussian"])
def test_batched_shares(variant):
    made = batched(variant, JOINED, 10.0)
    costs = [(charge["query"], mu_squared_of(charge)) for charge in charges_of(made)]
    whole = (costs[0][1] + costs[1][1]) / Shares().columns
    assert costs[-1][1] == pytest.approx(Shares().error_bars * whole, rel=1e-6)
    a_round = Shares().choosing * whole / 3
    choices = [cost for name, cost in costs[2:-1] if name != "marginal_counts"]
    assert choices == pytest.approx([a_round / (2 if variant == "batched" else 1)] * len(choices), rel=1e-6)
    measured = sum(cost for name, cost in costs[2:-1] if name == "marginal_counts")
    rest = 1 - Shares().columns - Shares().choosing - Shares().error_bars
    assert measured == pytest.approx(rest * whole, rel=1e-6), "whatever rounds were left out"
    first = [cost for name, cost in costs[2 : 2 + 4] if name == "marginal_counts"]
    assert sum(first) == pytest.approx(rest * whole / 3, rel=1e-6), "the first round has an equal part"


def test_a_round_that_teaches_nothing_doubles_the_next(monkeypatch):
    equal = [(i % 3, (i // 3) % 4, (i // 12) % 2) for i in range(24)]  # uniform: nothing to be learnt
    monkeypatch.setattr(aim_start, "MORE_FOR_COLUMNS", NO_MORE)
    rounds = []
    original = aim_batched.measure_by_size
    monkeypatch.setattr(
        aim_batched, "measure_by_size", lambda *given: rounds.append(given[-1]) or original(*given), raising=True
    )
    released(AIM(rounds=9, batch=2), TRIPLE, equal, seed=2)
    parts = [cost / sum(rounds) for cost in rounds]  # with this seed the tree has no pair, and eight rounds follow
    twice, four_times = 2 * (7 / 8) / 7, 4 * (5 / 8) / 6
    assert parts == pytest.approx([1 / 8, twice, four_times, 5 / 8 - four_times], rel=1e-6), "of what is left, each"


@pytest.mark.parametrize("variant", ["batched", "gaussian"])
def test_a_focus_is_measured_with_every_column_before_any_choice(variant):
    made = batched(variant, focus="b")
    shares = Shares(columns=0.25, focus=0.4)
    costs = [mu_squared_of(charge) for charge in charges_of(made)]
    asked = charges_of(made, "marginal_counts")
    assert charges_of(made)[:2] == asked[:2]
    assert asked[1]["parameters"]["cliques"] == [["a", "b"], ["b", "c"]]
    assert costs[1] / costs[0] == pytest.approx(shares.focus / shares.columns, rel=1e-6)
    assert sum(mu_squared_of(charge) for charge in asked) == pytest.approx(
        (shares.columns + shares.focus + shares.marginals) / shares.columns * costs[0], rel=1e-6
    )
    assert made.receipt.document["method"]["parameters"]["focus"] == "b"


def test_a_focus_that_no_pair_can_hold_leaves_its_share_to_the_rounds():
    made = batched(focus="b", max_model_size=30 / 2**20)
    asked = charges_of(made, "marginal_counts")
    assert all(len(clique) == 1 for charge in asked for clique in charge["parameters"]["cliques"])
    shares = Shares(columns=0.25, focus=0.4)
    costs = [mu_squared_of(charge) for charge in asked]
    assert sum(costs[1:]) / costs[0] == pytest.approx((shares.focus + shares.marginals) / shares.columns, rel=1e-6)


def test_a_focus_keeps_its_pairs_better():
    """Eight columns that follow one, with noise: 28 pairs, of which seven matter. Seeds are fixed."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    others = [np.where(rng.random(400) < 0.3, label, rng.integers(0, 2, 400)) for _ in range(9)]
    domain = Domain(tuple("yabcdefghi"), (2,) * 10)
    rows = [tuple(int(code) for code in row) for row in np.stack([label, *others], axis=1)]
    errors = {focus: [] for focus in (None, "y")}
    for focus, seed in itertools.product(errors, range(5)):
        model = released(AIM(focus=focus), domain, rows, budget=Budget(0.5, 1e-6), seed=seed).model
        for i, name in enumerate(domain.attributes[1:]):
            counted = np.bincount(2 * label + others[i], minlength=4).reshape(2, 2)
            errors[focus].append(np.abs(model.marginal(("y", name)) - counted).sum())
    assert np.mean(errors["y"]) < 0.8 * np.mean(errors[None])


def test_shares_leave_something():
    with pytest.raises(ValueError, match="leave something of 1"):
        Shares(columns=0.9, choosing=0.09, error_bars=0.01)
    with pytest.raises(ValueError, match="positive"):
        Shares(error_bars=0.0)


# What the model may take


@pytest.mark.parametrize("variant", AIMVariant)
@pytest.mark.parametrize("cells", [9, 12, 21, 24])
def test_the_released_model_keeps_its_size(variant, cells):
    """Columns are 9 cells, (a, c) makes 6 + 4, (b, c) 8 + 3, (a, b) 12 + 2, two of them together up to 20."""
    size = cells * 8e-6
    made = released(AIM(variant=variant, max_model_size=size), TRIPLE, DEPENDENT, budget=Budget(200.0, 1e-6))
    assert made.model.tree.megabytes <= size * (1 + 1e-9)
    learnt = made.marginal(("a", "b"))
    knows = np.abs(learnt - counts_of(TRIPLE, DEPENDENT, ("a", "b"))).sum() < 0.3 * len(DEPENDENT)
    assert knows == (cells >= 14)


def test_merged_values_count_when_they_come_back():
    """Forty values, of which all but two are rare: merged, any pair has 9 cells; released, it has 1600."""
    wide = Domain(("a", "b"), (40, 40))
    rows = [(i % 2, i % 2) for i in range(3000)]
    merged = released(AIM(max_model_size=1000 * 8e-6), wide, rows)
    assert {tuple(q) for c in charges_of(merged, "marginal_counts") for q in c["parameters"]["cliques"]} == {
        ("a",),
        ("b",),
    }
    roomy = released(AIM(max_model_size=1700 * 8e-6), wide, rows)
    assert ["a", "b"] in [q for c in charges_of(roomy, "marginal_counts") for q in c["parameters"]["cliques"]]


@pytest.mark.parametrize(
    ("named", "rounds", "expected"), [(None, 8, (8, 4)), (None, 24, (24, 4)), (None, 40, (24, 7)), (40, 39, (39, 4))]
)
def test_many_choices_are_made_in_fewer_and_larger_rounds(named, rounds, expected):
    """Unless the user named a number of rounds."""
    asked = Asked(
        *(None, 2, 80.0, None), choice=ExponentialChoice(), rounds=named, pace=None
    )  # whom it asks is not needed
    few, choice = BatchedAIM(asked)._grouped(rounds)
    assert (few, choice.size) == expected
    assert few * choice.size >= 4 * rounds
