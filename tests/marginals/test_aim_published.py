"""AIM as published: noise parameters by the paper's formulas, annealing, the last round, both relations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import ConcentratedFilter
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model import junction_tree
from counterfoil.marginals import aim_published
from counterfoil.methods.aim import AIM
from counterfoil.noise.gaussian import SMOOTHING_VARIANCE
from sensitive_tables import UNIT
from small_releases import charges_of, opened, released, rho_of

TRIPLE = Domain(("a", "b", "c"), (3, 4, 2))
DEPENDENT = [(i % 3, i % 3, (i // 3) % 2) for i in range(600)]
BUDGET = Budget(1.0, 1e-6)
RHO = ConcentratedFilter().capacity(BUDGET)
PUBLISHED = AIM(variant="published")
SIGMA = math.sqrt(16 * 3 / (2 * 0.9 * RHO))
EPSILON = math.sqrt(8 * 0.1 * RHO / (16 * 3))


def rounds_of(charges: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """(epsilon of the choice, sigma of the measurement) of each round, in order."""
    assert [charge["query"] for charge in charges] == ["worst_approximated_marginal", "marginal_counts"] * (
        len(charges) // 2
    )
    return [
        (choice["noise"]["epsilon"], measured["noise"]["noise_multiplier"])
        for choice, measured in zip(charges[::2], charges[1::2], strict=True)
    ]


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("seed", [1, 2])
def test_noise_follows_the_formulas(relation, seed):
    charges = charges_of(released(PUBLISHED, TRIPLE, DEPENDENT, relation=relation, seed=seed))
    columns, *others = charges
    assert columns["parameters"]["cliques"] == [["a"], ["b"], ["c"]]
    # One question for three columns, each with the noise that it would have alone.
    assert columns["noise"]["noise_multiplier"] * math.sqrt(3) == pytest.approx(SIGMA, rel=1e-6)
    *rounds, last = rounds_of(others)
    assert len(rounds) > 2
    levels = [math.log2(SIGMA / sigma) for _, sigma in rounds]
    assert levels == pytest.approx(np.rint(levels), abs=1e-6)
    assert levels == sorted(levels)
    assert {level - earlier for earlier, level in zip([0.0, *np.rint(levels)], np.rint(levels), strict=False)} <= {0, 1}
    for (epsilon, _), level in zip(rounds, levels, strict=True):
        assert epsilon == pytest.approx(EPSILON * 2**level, rel=1e-6), "epsilon doubles when sigma halves"
    left = RHO - math.fsum(map(rho_of, charges[:-2]))
    assert last[1] == pytest.approx(math.sqrt(1 / (2 * 0.9 * left)), rel=1e-6)
    assert last[0] == pytest.approx(math.sqrt(8 * 0.1 * left), rel=1e-6)
    assert math.fsum(map(rho_of, charges)) == pytest.approx(RHO, rel=1e-8)


def test_the_last_round_begins_when_less_than_two_are_left():
    charges = charges_of(released(PUBLISHED, TRIPLE, DEPENDENT))
    costs = [rho_of(choice) + rho_of(measured) for choice, measured in zip(charges[1::2], charges[2::2], strict=True)]
    spent = rho_of(charges[0])
    for cost in costs[:-1]:
        assert RHO - spent >= 2 * cost * (1 - 1e-9)
        spent += cost
    levels = [costs[-2], 4 * costs[-2]]  # as it was, or annealed
    assert RHO - spent < 2 * max(levels)


@pytest.mark.parametrize("teaches", [True, False])
def test_noise_is_halved_exactly_where_the_model_did_not_move(monkeypatch, teaches):
    """Whether the fit moved is made up; what follows from it is not."""
    fit, ask = aim_published.WarmEstimator.fit, aim_published.PublishedAIM._round
    before: dict = {}

    def fake_fit(self, new, **keywords):
        model = fit(self, new, **keywords)
        if before:
            (measured,) = new
            by = 1.01 if teaches else 0.99
            moved = by * math.sqrt(2 / math.pi) * measured.scale
            monkeypatch.setattr(model, "marginal", lambda clique: before[clique] + moved)
        return model

    def remember(self, account, estimates, weights, noise):
        before.update(estimates)
        return ask(self, account, estimates, weights, noise)

    monkeypatch.setattr(aim_published.WarmEstimator, "fit", fake_fit)
    monkeypatch.setattr(aim_published.PublishedAIM, "_round", remember)
    _, *others = charges_of(released(PUBLISHED, TRIPLE, DEPENDENT, draw=3))
    sigmas = [sigma for _, sigma in rounds_of(others)]
    if teaches:
        # One round for the columns and one half of one saved on choosing them: 16 d rounds in all, the last of two.
        assert sigmas[:-1] == pytest.approx([SIGMA] * (len(sigmas) - 1), rel=1e-6)
        assert 16 * 3 - 3 - 1 <= len(sigmas) <= 16 * 3 - 3 + 1
    else:
        assert sigmas[:-1] == pytest.approx([SIGMA / 2**i for i in range(len(sigmas) - 1)], rel=1e-6)


@pytest.fixture
def asked(monkeypatch) -> list[tuple[WorstApproximatedMarginal, float]]:
    """The selection queries of a run, and what was spent before each."""
    seen = []
    choose = FilterAccount.choose

    def spy(self, query, noise):
        seen.append((query, self.spent))
        return choose(self, query, noise)

    monkeypatch.setattr(FilterAccount, "choose", spy)
    return seen


WEIGHTS = Workload({("a", "b"): 1.0, ("b", "c"): 3.0})


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("unit", [None, PrivacyUnit(UNIT, 2)])
def test_scores_and_their_scales(asked, relation, unit):
    units = None if unit is None else [str(i) for i in range(len(DEPENDENT))]
    aim = AIM(WEIGHTS, variant="published")
    made = released(aim, TRIPLE, DEPENDENT, relation=relation, privacy_unit=unit, units=units)
    choices, measured = charges_of(made, "worst_approximated_marginal"), charges_of(made, "marginal_counts")[1:]
    # w_r = sum_s c_s |r & s|: a 1, b 4, c 3, ab 1 * 2 + 3 * 1 = 5, bc 1 * 1 + 3 * 2 = 7.
    weights = {("a",): 1, ("b",): 4, ("c",): 3, ("a", "b"): 5, ("b", "c"): 7}
    # A record counts once in a marginal and a replaced one twice; a unit of two is two records added or removed.
    l1, l2 = {
        ("add_or_remove_one", True): (1, 1),
        ("replace_one", True): (2, math.sqrt(2)),
        ("add_or_remove_one", False): (2, 2),
        ("replace_one", False): (4, 2 * math.sqrt(2)),
    }[relation, unit is None]
    assert len(asked) == len(choices) == len(measured)
    for (query, _), choice, answer in zip(asked, choices, measured, strict=True):
        assert dict(zip(query.cliques, query.weights, strict=True)) == weights
        scale = math.sqrt((answer["noise"]["noise_multiplier"] * l2) ** 2 + SMOOTHING_VARIANCE)
        assert answer["noise"]["scale"] == pytest.approx(scale, rel=1e-9)
        cells = [TRIPLE.size(clique) for clique in query.cliques]
        assert query.penalties == pytest.approx(math.sqrt(2 / math.pi) * scale * np.array(cells), rel=1e-9)
        assert choice["noise"]["scale"] == pytest.approx(2 * l1 * 7 / choice["noise"]["epsilon"], rel=2e-6)


def test_replace_one_doubles_the_noise_of_choices_and_scales_counts_by_the_square_root_of_two():
    scales = {}
    for relation in ("add_or_remove_one", "replace_one"):
        made = released(PUBLISHED, TRIPLE, DEPENDENT, relation=relation)
        columns, choice = charges_of(made)[:2]
        scales[relation] = (math.sqrt(columns["noise"]["scale"] ** 2 - SMOOTHING_VARIANCE), choice["noise"]["scale"])
    ratio = np.divide(scales["replace_one"], scales["add_or_remove_one"])
    assert ratio == pytest.approx([math.sqrt(2), 2.0], rel=1e-9)


@pytest.mark.parametrize("cells", [12, 18, 24])
def test_candidates_fit_the_share_of_the_size_that_is_spent(asked, cells):
    """The share counts the round itself; what the model contains already is always a candidate."""
    size = cells * 8e-6
    made = released(AIM(variant="published", max_model_size=size), TRIPLE, DEPENDENT, budget=Budget(20.0, 1e-6))
    charges = charges_of(made)
    rho = ConcentratedFilter().capacity(Budget(20.0, 1e-6))
    known = [("a",), ("b",), ("c",)]
    for number, (query, spent) in enumerate(asked):
        choice, measured = charges[1 + 2 * number], charges[2 + 2 * number]
        share = (spent + rho_of(choice) + rho_of(measured)) / rho
        for clique in PUBLISHED_CANDIDATES:
            inside = any(set(clique) <= set(other) for other in known)
            fits = junction_tree.megabytes(TRIPLE, [*known, clique]) <= share * size
            assert (clique in query.cliques) == (inside or fits)
        known.append(tuple(measured["parameters"]["cliques"][0]))
    left_out = [query for query, _ in asked if len(query.cliques) < len(PUBLISHED_CANDIDATES)]
    assert left_out, "a limit that never binds tests nothing"


PUBLISHED_CANDIDATES = [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")]


def test_a_receipt_of_zcdp():
    made = released(PUBLISHED, TRIPLE, DEPENDENT)
    assert made.receipt.document["composition"]["rule"] == "zcdp"
    assert made.receipt.document["composition"]["adaptive"]


def test_one_column_is_measured_until_nothing_is_left():
    single = Domain(("a",), (3,))
    made = released(PUBLISHED, single, [(0,)] * 30 + [(2,)] * 10)
    assert {tuple(c) for charge in charges_of(made, "marginal_counts") for c in charge["parameters"]["cliques"]} == {
        ("a",)
    }
    assert math.fsum(map(rho_of, charges_of(made))) == pytest.approx(RHO, rel=1e-8)


def test_the_account_is_never_overdrawn_by_rounding():
    for seed in range(5):
        with opened(TRIPLE, DEPENDENT, seed=seed, budget=Budget(0.5 + seed, 1e-9)) as curator:
            PUBLISHED.synthesize(curator, rows=1)
            assert curator.account is not None
            assert curator.account.spent <= curator.account.capacity
