"""Where classes of records start a model: on tables whose columns all go together, and at what cost."""

from __future__ import annotations

import math
from contextlib import contextmanager
from itertools import combinations

import numpy as np
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import CLASS, Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model.classed_model import ClassedModel
from counterfoil.graphical_model.hidden_classes import energies
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.rank_blocks import rank_blocks
from counterfoil.marginals.record_classes import (
    FEWEST_COLUMNS,
    LEAST_LOOK,
    MOST_LOOK,
    SHARE,
    _Compared,
    _deviation,
    _fits,
)
from counterfoil.methods.aim import AIM
from counterfoil.synthesis.pace import FEWEST_EVALUATIONS, Pace
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.time_limit import TimeLimit
from small_releases import opened
from ticking import Ticks

COLUMNS, ROWS = 26, 6000
WIDE = Domain(tuple(f"c{i}" for i in range(COLUMNS)), (2,) * COLUMNS)
ALL_PAIRS = COLUMNS * (COLUMNS - 1) // 2


def moved_together(columns: int = COLUMNS, seed: int = 0) -> np.ndarray:
    """Two hidden numbers move all columns."""
    rng = np.random.default_rng(seed)
    hidden, loadings = rng.normal(size=(ROWS, 2)), rng.normal(size=(2, columns))
    return (hidden @ loadings + 0.7 * rng.normal(size=(ROWS, columns)) > 0).astype(np.int64)


def twins() -> np.ndarray:
    """Each column with one other, which says nearly all of it."""
    rng = np.random.default_rng(1)
    half = rng.integers(0, 2, (ROWS, COLUMNS // 2))
    return np.concatenate([half, half ^ (rng.random(half.shape) < 0.02)], axis=1)


def released(table: np.ndarray, epsilon: float = 10.0, **parameters) -> tuple[Synthesis, list]:
    domain = Domain(WIDE.attributes[: table.shape[1]], (2,) * table.shape[1])
    rows = [tuple(row) for row in table.tolist()]
    with opened(domain, rows, budget=Budget(epsilon, 1e-9)) as curator:
        return AIM(**parameters).synthesize(curator), curator.charges()


def looks(charges) -> int:
    """How often all pairs were counted, of however many columns."""
    counted = [charge.parameters["cliques"] for charge in charges if charge.query == "marginal_counts"]
    columns = len({name for cliques in counted for clique in cliques for name in clique})
    pairs = [cliques for cliques in counted if len(cliques) > 1 and all(len(clique) == 2 for clique in cliques)]
    return sum(len(cliques) == math.comb(columns, 2) for cliques in pairs)


def looked(charges) -> list[float]:
    """What each count of all pairs cost (mu squared)."""
    counts = [one for one in charges if one.query == "marginal_counts" and len(one.parameters["cliques"]) == ALL_PAIRS]
    return [one.noise["noise_multiplier"] ** -2 for one in counts]


def taken(synthesis: Synthesis) -> int:
    """How many classes the receipt says that the model has."""
    return synthesis.receipt.document["method"]["parameters"]["classes_taken"]


def error(synthesis: Synthesis, table: np.ndarray) -> float:
    """The mean L1 distance of pairs."""
    codes = np.column_stack([synthesis.codes[name] for name in WIDE.attributes[: table.shape[1]]])
    found = []
    for i, j in combinations(range(table.shape[1]), 2):
        one = np.bincount(2 * table[:, i] + table[:, j], minlength=4) / len(table)
        other = np.bincount(2 * codes[:, i] + codes[:, j], minlength=4) / len(codes)
        found.append(np.abs(one - other).sum())
    return float(np.mean(found))


def error_of_focus(synthesis: Synthesis, table: np.ndarray) -> float:
    """That of the pairs of the first column."""
    codes = np.column_stack([synthesis.codes[name] for name in WIDE.attributes])
    found = []
    for other in range(1, COLUMNS):
        one, two = (np.bincount(2 * rows[:, 0] + rows[:, other], minlength=4) / len(rows) for rows in (table, codes))
        found.append(np.abs(one - two).sum())
    return float(np.mean(found))


def test_columns_that_all_go_together_are_explained_by_classes():
    """Two rounds measure 25 pairs; without classes 300 others have but what a tree of pairs says of them."""
    table = moved_together()
    with_classes, charges = released(table, 3.0, rounds=2)
    without, none = released(table, 3.0, rounds=2, classes=0)
    assert looks(charges) == 3
    assert not looks(none)
    assert error(with_classes, table) < 0.3 * error(without, table)
    assert (taken(with_classes), taken(without)) == (16, 0)


def test_where_single_pairs_say_all_the_rounds_go_on():
    table = twins()
    with_look, charges = released(table, 3.0, rounds=2)
    without, _ = released(table, 3.0, rounds=2, classes=0)
    assert looks(charges) == 2
    assert error(with_look, table) < 1.2 * error(without, table)
    assert taken(with_look) == 0


def test_nothing_is_asked_of_few_columns_nor_where_noise_hides_all_nor_of_a_model_that_has_no_room_nor_of_one_class():
    assert not looks(released(moved_together(FEWEST_COLUMNS - 1), 3.0, rounds=2)[1])
    assert not looks(released(moved_together(), 0.05, rounds=2)[1])
    assert not looks(released(moved_together(), 3.0, rounds=2, max_model_size=0.05)[1])
    assert not looks(released(moved_together(), 3.0, rounds=1, classes=1)[1])


def test_nothing_is_asked_of_all_pairs_where_the_workload_has_few():
    table = moved_together()
    assert not looks(released(table, 3.0, rounds=1, workload=1)[1])
    assert not looks(released(table, 3.0, rounds=1, workload=Workload({("c0",): 1.0, ("c1",): 1.0}))[1])
    assert not looks(released(table, 3.0, rounds=1, workload=Workload({("c0", "c1"): 1.0}))[1])
    everything = Workload(dict.fromkeys(combinations(WIDE.attributes, 2), 1.0))
    assert looks(released(table, 3.0, rounds=1, workload=everything)[1])


def test_a_look_costs_less_where_noise_is_small():
    """Of what all pairs may cost, for which the third count spends the rest."""
    spent = {epsilon: looked(released(moved_together(), epsilon, rounds=2)[1]) for epsilon in (1.0, 3.0, 30.0)}
    parts = {epsilon: (costs[0] + costs[1]) / sum(costs) * SHARE for epsilon, costs in spent.items()}
    assert parts[1.0] == pytest.approx(MOST_LOOK)
    assert parts[30.0] == pytest.approx(LEAST_LOOK)
    assert LEAST_LOOK < parts[3.0] < MOST_LOOK


@pytest.mark.parametrize(
    ("seen", "ahead", "unclear"),
    [
        (_Compared(classes=0.5, pairs=0.2, whole=1.0, of_classes=0.01, of_pairs=0.1, of_whole=0.1), True, False),
        (_Compared(classes=0.42, pairs=0.3, whole=1.0, of_classes=0.01, of_pairs=0.1, of_whole=0.1), False, True),
        (_Compared(classes=0.25, pairs=0.3, whole=1.0, of_classes=0.01, of_pairs=0.1, of_whole=0.1), False, True),
        (_Compared(classes=0.15, pairs=0.3, whole=1.0, of_classes=0.01, of_pairs=0.1, of_whole=0.1), False, False),
        # Pairs leave .1 and classes .04; of that .1 the noise may be most.
        (_Compared(classes=0.96, pairs=0.9, whole=1.0, of_classes=0.01, of_pairs=0.01, of_whole=0.02), True, False),
        (_Compared(classes=0.96, pairs=0.9, whole=1.0, of_classes=0.01, of_pairs=0.01, of_whole=0.06), False, True),
        # What classes explain is noise, however far below zero the pairs are.
        (_Compared(classes=0.02, pairs=-3.0, whole=0.1, of_classes=0.01, of_pairs=5.0, of_whole=9.0), False, False),
    ],
)
def test_classes_are_ahead_or_not_or_it_is_unclear(seen, ahead, unclear):
    assert (seen.is_ahead, seen.is_unclear) == (ahead, unclear)


def test_how_far_the_energies_of_noise_go():
    """Of 400 draws the sample deviation is within a fifth of the stated one: further with a probability below 1e-7."""
    rng = np.random.default_rng(0)
    truth = {("a", "b"): 20 * rng.normal(size=(6, 6)), ("a", "c"): 20 * rng.normal(size=(6, 4))}
    nothing = {pair: np.zeros(table.shape) for pair, table in truth.items()}

    def draw() -> list[NoisyMarginal]:
        return [NoisyMarginal(pair, table + 15 * rng.normal(size=table.shape), 15.0) for pair, table in truth.items()]

    sums = [energies(draw(), nothing).sum() for _ in range(400)]
    real = sum((table**2).sum() for table in truth.values())
    assert np.std(sums) == pytest.approx(_deviation(draw(), real), rel=0.2)
    assert np.mean(sums) == pytest.approx(real, abs=6 * _deviation(draw(), real) / 20)


def test_a_release_with_classes_can_be_kept_asked_and_drawn_from(tmp_path):
    table = moved_together()
    synthesis, _ = released(table, 3.0, rounds=2)
    assert isinstance(synthesis.model, ClassedModel)
    assert tuple(synthesis.codes) == WIDE.attributes
    synthesis.save(tmp_path / "kept")
    kept = Synthesis.load(tmp_path / "kept")
    assert isinstance(kept.model, ClassedModel)
    assert kept.model.digest == synthesis.model.digest
    pair = kept.marginal(("c0", "c1"))
    np.testing.assert_allclose(pair.counts, synthesis.marginal(("c0", "c1")).counts)
    assert kept.to_pandas().shape == (len(synthesis.to_pandas()), COLUMNS)


@pytest.mark.parametrize("parameters", [{"focus": "c0"}, {"variant": "published"}], ids=["focus", "published"])
def test_a_receipt_says_that_no_classes_were_taken_where_none_are_looked_for(parameters):
    """It said `classes: 16` alone, which is what would have been allowed."""
    synthesis, charges = released(moved_together(3), 3.0, **parameters)
    assert (taken(synthesis), looks(charges)) == (0, 0)


def test_a_negative_number_of_classes_is_refused():
    with pytest.raises(ValueError, match="`classes` must not be negative"):
        AIM(classes=-1)


def test_classes_that_rules_leave_no_room_for_are_not_looked_at():
    """A rule on three columns of 60 codes has a table of 1.7 MB, and of 28 MB with sixteen classes beside it."""
    domain = Domain(tuple(f"c{i}" for i in range(COLUMNS)), (60,) * 3 + (2,) * (COLUMNS - 3))
    blocks = rank_blocks(Coarsening(domain, {name: np.arange(domain[name]) for name in domain.attributes}), {}, {})
    classed = [(name, CLASS) for name in domain.attributes]
    assert _fits(domain, blocks, [], classed, 16, 80.0)
    assert _fits(domain, blocks, [("c3", "c4", "c5")], classed, 16, 80.0)
    assert not _fits(domain, blocks, [("c0", "c1", "c2")], classed, 16, 80.0)


def test_classes_that_the_pairs_of_a_focus_leave_no_room_for_are_not_looked_at():
    """Each pair of a focus of 120 codes has the class beside it, in a table of .46 MB; all together may have 10 MB."""
    domain = Domain(tuple(f"c{i}" for i in range(COLUMNS)), (120,) + (30,) * (COLUMNS - 1))
    blocks = rank_blocks(Coarsening(domain, {name: np.arange(domain[name]) for name in domain.attributes}), {}, {})
    classed = [(name, CLASS) for name in domain.attributes[1:]]
    assert _fits(domain, blocks, [], classed, 16, 80.0)
    assert not _fits(domain, blocks, [], [*classed, *(("c0", name) for name in domain.attributes[1:])], 16, 80.0)


def test_the_time_of_counting_records_is_not_counted(monkeypatch):
    """It depends on the records, and would decide how a release with a time limit ends."""
    inside, asked = [0], []

    @contextmanager
    def working(_pace):
        inside[0] += 1
        yield
        inside[0] -= 1

    ask = FilterAccount.ask
    monkeypatch.setattr(Pace, "working", working)
    monkeypatch.setattr(FilterAccount, "ask", lambda *each, **named: asked.append(inside[0]) or ask(*each, **named))
    _, charges = released(moved_together(), 3.0, rounds=1)
    assert looks(charges) == 3
    assert asked
    assert not any(asked)


@pytest.mark.parametrize("limit", [1.0, None])
def test_a_time_limit_ends_the_fits_of_the_classes(monkeypatch, limit):
    """The search has no certified gap. A clock that moves at each reading leaves it the fewest steps of a fit."""
    rows, steps = [tuple(row) for row in moved_together().tolist()], []
    may_go_on = Pace.may_go_on

    def counted(pace, evaluations, gap):
        if gap == math.inf:
            steps.append(evaluations)
        return may_go_on(pace, evaluations, gap)

    monkeypatch.setattr(Pace, "may_go_on", counted)
    with opened(WIDE, rows, budget=Budget(3.0, 1e-9)) as curator:
        made = AIM(rounds=2).synthesize(curator, time_limit=limit and TimeLimit(limit, Ticks()))
        assert looks(curator.charges()) >= 2
    assert (max(steps) == FEWEST_EVALUATIONS) == (limit is not None)
    if limit:
        assert made.receipt.document["method"]["parameters"]["time_limit"]["rounds_ended"]


def test_with_a_focus_classes_explain_the_other_columns_and_its_pairs_are_measured_all_the_same():
    """No relation of the focus is lost for those of the others: its pairs are as near as without classes."""
    table, focus = moved_together(), "c0"
    with_classes, charges = released(table, 6.0, rounds=2, focus=focus)
    without, none = released(table, 6.0, rounds=2, focus=focus, classes=0)
    assert (taken(with_classes), taken(without)) == (16, 0)
    assert (looks(charges), looks(none)) == (3, 0)
    of_focus = sorted((focus, f"c{i}") for i in range(1, COLUMNS))
    assert any(sorted(map(tuple, one.parameters.get("cliques", ()))) == of_focus for one in charges)
    assert error(with_classes, table) < 0.5 * error(without, table)
    assert error_of_focus(with_classes, table) < error_of_focus(without, table) + 0.005
