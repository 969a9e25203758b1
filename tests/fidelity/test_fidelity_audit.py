"""The audit of a release with fidelity: the synthesizer's answers and then the plan's, under both relations.

See `tests/release_audits.py` for what is asked, and how the number of runs follows. The synthetic rows are always the
same ones, chosen so that one unit moves nearly every measure by all of its sensitivity at once, which rows that were
drawn would not do: what is drawn is post-processing, and privacy can't depend on it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from audit_tools import runs_needed
from counterfoil.accounting import filter as privacy_filter
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.fidelity import fidelity as module
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.methods import direct
from counterfoil.methods.direct import Direct
from counterfoil.methods.independent import Independent
from counterfoil.synthesis.synthesis import Synthesis
from release_audits import (
    ADD,
    NOT_CHARGED,
    REPLACE,
    Change,
    Tables,
    require_assumed,
    require_caught,
    require_fine,
    twin_delta,
)
from small_releases import released
from transcripts import Listener

PAIR = Domain(("a", "b"), (2, 2))
BOUGHT = Fidelity(0.5, "b")
MEASURES = 10
ROWS = 300
DELTAS = {1.0: 0.2, 4.0: 0.05}
"""By epsilon. Smaller ones need more runs; what is charged follows from the same formula."""
MEASURED = [
    *("total_marginal_error", "largest_marginal_error", "cumulative_area", "largest_moment_gap"),
    *("correct_predictions", "total_loss"),
]
COMMON = [(0, 1)] * ROWS
# The synthetic rows, and what one unit of 30 rows was and is.
CHANGES = {
    ADD: ((1, 1), Change(PAIR, COMMON, None, (0, 0), 30)),
    REPLACE: ((1, 0), Change(PAIR, COMMON, (0, 1), (1, 0), 30)),
}
CERTAIN = 0.5 + 0.5 * 9 / MEASURES
"""All columns, which half of the budget measures, and all measures but the log loss move as far as they can."""


def public_synthesis(row: tuple[int, int]) -> Synthesis:
    """Rows that are all `row`."""
    made = released(Direct(2), PAIR, [row] * ROWS, budget=Budget(1e4), relation=REPLACE)
    assert all((codes == value).all() for codes, value in zip(made.codes.values(), row, strict=True))
    return made


@pytest.fixture(params=[ADD, REPLACE])
def relation(request) -> NeighboringRelation:
    return request.param


@pytest.fixture
def ask(relation, monkeypatch) -> Callable[[Curator], None]:
    """One release: the columns, fixed rows, and the noisy measures of them. Certificates are post-processing."""
    synthesis = public_synthesis(CHANGES[relation][0])
    monkeypatch.setattr(direct, "_fitted", lambda *_: synthesis.model)
    monkeypatch.setattr(direct, "measured_bounds", lambda *_, **__: {})
    monkeypatch.setattr(direct, "release", lambda *_, **__: synthesis)
    questions = module.Measuring._questions
    asked: list = []

    def asked_once(measuring) -> list:
        # They follow from the rows, which are always the same.
        asked.extend([] if asked else questions(measuring))
        return asked

    monkeypatch.setattr(module.Measuring, "_questions", asked_once)
    monkeypatch.setattr(privacy_filter, "largest_mu", functools.cache(privacy_filter.largest_mu))

    def release(curator: Curator) -> None:
        BOUGHT.prepare(curator)
        made = Independent().synthesize(curator, rows=1)
        measures = module.Measuring(curator, curator.account, made, BOUGHT.target).run()
        assert len(measures) == MEASURES

    return release


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_a_release_with_fidelity_keeps_its_claim_and_half_the_noise_does_not(monkeypatch, relation, ask, epsilon):
    delta = DELTAS[epsilon]
    tables = Tables(CHANGES[relation][1], relation, Budget(epsilon, delta))
    mu_squared = NOT_CHARGED * CERTAIN * GaussianFilter().capacity(tables.budget)
    listener = Listener(monkeypatch)
    require_assumed(listener, tables, ask, certain=["marginal_counts", *MEASURED], mu_squared=mu_squared)
    require_fine(listener, tables, ask)
    require_caught(listener, tables, ask, runs=runs_needed(delta, twin_delta(epsilon, mu_squared)))


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_pure_privacy_with_fidelity_keeps_its_claim(monkeypatch, relation, ask, epsilon):
    """Losses add up: where no answer loses more than it was charged for, all together lose no more than epsilon."""
    require_fine(Listener(monkeypatch), Tables(CHANGES[relation][1], relation, Budget(epsilon)), ask)
