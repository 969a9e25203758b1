"""A time limit ends a release with the best model so far: within its budget, from its answers alone, and resumable."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil import api
from counterfoil.accounting.budget import Budget
from counterfoil.curator.account import Account
from counterfoil.curator.answer_log import AnswerLog, CantResume
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.marginals.candidates import Candidates
from counterfoil.methods.aim import AIM, AIMVariant
from counterfoil.methods.direct import Direct, Estimator
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.independent import Independent
from counterfoil.methods.mst import MST
from counterfoil.methods.registry import method_names, method_type
from counterfoil.methods.reweighting import Reweighting
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis import pace
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.time_limit import TimeLimit
from sensitive_tables import frame_of, schema_of
from small_releases import assert_within_budget, charges_of, mu_squared_of, opened, rho_of
from ticking import Ticks, stopped
from transcripts import recorded, replayed

DOMAIN = Domain(("a", "b", "c", "d"), (3, 4, 2, 3))
ROWS = [(i % 3, (i * i) % 4, (i // 3) % 2, (i % 3 + i // 50) % 3) for i in range(600)]
OTHERS = [(0, 3 - i % 2, i % 2, (i // 7) % 3) for i in range(431)]
BUDGET = Budget(2.0, 1e-6)

METHODS = {
    "batched": AIM(rounds=5, batch=2),
    "gaussian": AIM(variant=AIMVariant.GAUSSIAN, rounds=5, batch=2),
    "published": AIM(variant=AIMVariant.PUBLISHED),
    "focused": AIM(rounds=4, batch=2, focus="d"),
    "mst": MST(),
    "direct": Direct(2),
    "independent": Independent(),
}


@pytest.fixture(autouse=True)
def short_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits of so small a model are over before their fewest evaluations."""
    monkeypatch.setattr(pace, "FEWEST_EVALUATIONS", 1)


def released(method: Any, limit: TimeLimit | None, rows=ROWS, **keywords: Any) -> Synthesis:
    with opened(DOMAIN, rows, budget=BUDGET, **keywords) as curator:
        return method.synthesize(curator, rows=50, time_limit=limit)


def parameters_of(made: Synthesis) -> dict[str, Any]:
    return made.receipt.document["method"]["parameters"]


def fits_of(made: Synthesis) -> list[str]:
    return [fit["status"] for fit in parameters_of(made)["fits"]]


def ticks_of(method: Any) -> int:
    """How long a run is whose limit is far away, on a clock that moves at each reading."""
    clock = Ticks()
    made = released(method, TimeLimit(1e9, clock))
    assert set(fits_of(made)) == {"converged"}
    return clock.readings


def measured(made: Synthesis) -> float:
    """What the measurements cost, in the unit of the filter."""
    cost = rho_of if made.receipt.document["composition"]["rule"] == "zcdp" else mu_squared_of
    return math.fsum(cost(charge) for charge in charges_of(made, "marginal_counts"))


@pytest.mark.parametrize("name", METHODS)
def test_a_limit_at_any_point_gives_a_release_that_costs_what_was_asked(name):
    method, whole = METHODS[name], released(METHODS[name], None)
    ends = set()
    for seconds in np.unique(np.geomspace(0.5, 2.5 * ticks_of(method), 7).round(1)):
        made = released(method, TimeLimit(float(seconds), Ticks()))
        assert_within_budget(made, BUDGET)
        assert made.rows == 50
        # Published AIM divides rho by the cost of a round, which its own rounding decides.
        assert measured(made) == pytest.approx(measured(whole), rel=1e-6)
        assert parameters_of(made)["time_limit"]["seconds"] == seconds
        ended = parameters_of(made)["time_limit"]["rounds_ended"]
        ends.add((ended, fits_of(made)[-1]))
        told = " ".join(made.receipt.document["warnings"])
        assert ("ended the rounds early" in told) == ended
        assert ("The time limit ended the fit" in told) == ("time" in fits_of(made))
    assert {fit for _, fit in ends} >= ({"converged"} if name == "independent" else {"time", "converged"})
    assert {ended for ended, _ in ends} == ({True, False} if isinstance(method, AIM) else {False})


@pytest.mark.parametrize("name", METHODS)
def test_a_limit_that_is_not_reached_changes_nothing_but_that_it_is_told(name):
    plain, limited = released(METHODS[name], None), released(METHODS[name], TimeLimit(1e9, Ticks()))
    assert "time_limit" not in parameters_of(plain)
    assert parameters_of(limited).pop("time_limit") == {"seconds": 1e9, "rounds_ended": False}
    assert parameters_of(limited) == parameters_of(plain)
    assert charges_of(limited) == charges_of(plain)
    assert limited.to_arrow().equals(plain.to_arrow())
    assert limited.receipt.document["warnings"] == plain.receipt.document["warnings"]


@pytest.mark.parametrize("name", ["gaussian", "focused", "mst", "direct"])
def test_the_last_round_joins_all_columns_where_no_time_is_left(name):
    """The batched variant is not here: its tree ends where no pair is worth its noise."""
    made = released(METHODS[name], TimeLimit(1e-6, Ticks()))
    joined = [
        set(clique) for charge in charges_of(made, "marginal_counts") for clique in charge["parameters"]["cliques"]
    ]
    pairs = [clique for clique in joined if len(clique) == 2]
    group = {"a"}
    for _ in DOMAIN.attributes:
        group = group.union(*(pair for pair in pairs if pair & group))
    assert group == set(DOMAIN.attributes)


@pytest.mark.parametrize("name", METHODS)
def test_counting_is_not_on_the_clock(name, monkeypatch):
    """Each question takes a million seconds; the limit of a thousand is for what reads no record."""
    clock = Ticks(step=1e-3)

    def slowly(original: Callable) -> Callable:
        def asked(*given: Any, **keywords: Any) -> Any:
            clock.now += 1e6
            answer = original(*given, **keywords)
            clock.now += 1e6
            return answer

        return asked

    for door in ("ask", "choose"):
        monkeypatch.setattr(Account, door, slowly(getattr(Account, door)))
    made = released(METHODS[name], TimeLimit(1000.0, clock))
    assert clock.now > 1e6
    assert set(fits_of(made)) == {"converged"}
    assert not parameters_of(made)["time_limit"]["rounds_ended"]


@pytest.mark.parametrize("name", ["batched", "gaussian", "published"])
@pytest.mark.parametrize(("owner", "work"), [(GraphicalModel, "marginals"), (Candidates, "admitted")])
def test_what_a_round_asks_of_its_model_is_on_the_clock(name, owner, work, monkeypatch):
    clock, original = Ticks(step=1e-3), getattr(owner, work)

    def slowly(*given: Any, **keywords: Any) -> Any:
        clock.now += 1e6
        return original(*given, **keywords)

    monkeypatch.setattr(owner, work, slowly)
    made = released(METHODS[name], TimeLimit(1000.0, clock))
    assert parameters_of(made)["time_limit"]["rounds_ended"]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_what_is_released_follows_from_the_answers_and_the_clock(name, share, monkeypatch):
    """Another table with another number of rows, and the recorded answers in place of its own."""
    seconds = share * ticks_of(METHODS[name])

    def run_of(rows: list) -> Callable:
        def run(recording: Any) -> Synthesis:
            with opened(DOMAIN, rows, budget=BUDGET) as curator:
                limit = TimeLimit(seconds, Ticks())
                return METHODS[name].synthesize(curator, rows=50, progress=recording.progress, time_limit=limit)

        return run

    made, heard = recorded(monkeypatch, run_of(ROWS))
    again, heard_again = replayed(monkeypatch, heard, run_of(OTHERS))
    assert heard_again.told == heard.told
    assert again.to_arrow().equals(made.to_arrow())
    assert parameters_of(again) == parameters_of(made)
    assert again.receipt.document["warnings"] == made.receipt.document["warnings"]


@pytest.mark.parametrize("name", METHODS)
def test_the_progress_rises_within_fits(name):
    told: list[tuple[str, float]] = []
    with opened(DOMAIN, ROWS, budget=BUDGET) as curator:
        METHODS[name].synthesize(curator, rows=50, progress=lambda *said: told.append(said))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1] <= 1) == (0.0, True)
    steps = [message for message, _ in itertools.groupby(told, key=lambda said: said[0])]
    assert len(told) > len(steps)


# Resumed runs


class Stop(Exception):
    """What ends a run in these tests."""


def run(log: AnswerLog, ledger: Ledger, method: Any, limit: TimeLimit) -> Synthesis:
    """A run with real noise."""
    curator = Curator(frame_of(DOMAIN, ROWS, None), schema_of(DOMAIN), budget=BUDGET, ledger=ledger)
    curator.keep_answers(log)
    try:
        made = method.synthesize(curator, rows=50, time_limit=limit)
        curator.close()
        return made
    finally:
        log.close()


def stopped_run(path: Path, ledger: Ledger, method: Any, limit: TimeLimit, asked: int | None) -> None:
    """A run that ends after so many answers, or before its receipt is written."""
    left = itertools.count(1)
    ask = Account.ask

    def few(*given: Any, **keywords: Any) -> Any:
        answer = ask(*given, **keywords)
        if next(left) == asked:
            raise Stop
        return answer

    def none(*_: Any, **__: Any) -> None:
        raise Stop

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Account, "ask", few)
        patched.setattr(Receipt, "from_curator", none)
        with pytest.raises(Stop):
            run(AnswerLog.create(path, {}, decisions=True), ledger, method, limit)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.create(tmp_path / "l", source=SourceIdentity("memory", "memory"), total=Budget(9.0, 1e-3)) as opened:
        yield opened


@pytest.mark.parametrize("name", ["batched", "gaussian", "published", "mst"])
@pytest.mark.parametrize("asked", [1, 2, None])
def test_a_resumed_run_asks_what_was_asked_whatever_its_clock_says(name, asked, tmp_path, ledger):
    method, path = METHODS[name], tmp_path / "answers"
    seconds = 0.4 * ticks_of(method)
    stopped_run(path, ledger, method, TimeLimit(seconds, Ticks()), asked)
    (release,) = ledger.releases()
    before = release.charges
    made = run(AnswerLog.reopen(path, {}), ledger, method, TimeLimit(seconds, stopped))
    (release,) = ledger.releases()
    assert release.charges[: len(before)] == before
    assert len(charges_of(made)) == len(release.charges)
    assert (release.charges == before) == (asked is None)
    assert_within_budget(made, BUDGET)


def test_without_the_decisions_it_would_ask_something_else(tmp_path, ledger, monkeypatch):
    monkeypatch.setattr(Curator, "keep_decision", lambda *_: None)
    method, path = METHODS["batched"], tmp_path / "answers"
    stopped_run(path, ledger, method, TimeLimit(1e-6, Ticks()), None)
    with pytest.raises(CantResume):
        run(AnswerLog.reopen(path, {}), ledger, method, TimeLimit(1e-6, stopped))


def test_a_decision_at_another_place_is_refused(tmp_path, ledger):
    path = tmp_path / "answers"
    stopped_run(path, ledger, MST(), TimeLimit(1e9, Ticks()), 3)
    for kind in ("rounds", "fit"):  # a fit was decided on, but after an answer
        log = AnswerLog.reopen(path, {})
        with pytest.raises(CantResume, match=r"After 0 answers there is another decision in .*Nothing was charged"):
            log.next_decision(kind)
        log.close()


def test_older_versions_are_told_that_they_do_not_read_decisions(tmp_path):
    """The first answers of a release without a limit are in the form that 0.1 reads; with one, in another form."""
    forms = []
    for number, decisions in enumerate((False, True)):
        path = tmp_path / f"answers {number}"
        AnswerLog.create(path, {}, decisions=decisions).close()
        forms.append(b'"counterfoil.answers/1"' in path.read_bytes())
        AnswerLog.reopen(path, {}).close()
    assert forms == [True, False]


# Methods that take none


@pytest.mark.parametrize(
    "method",
    [Reweighting(), PrivateEvolution(), Direct(2, estimator=Estimator.MINIMAX)],
    ids=lambda one: type(one).__name__,
)
def test_methods_whose_work_is_bounded_otherwise_say_so_before_anything_is_charged(method):
    with opened(DOMAIN, ROWS, budget=BUDGET) as curator:
        with pytest.raises(ValueError, match=f"`time_limit` needs a method .*Found {type(method).__name__}"):
            api.release_from(curator, method, time_limit=5.0)
        assert curator.charges() == []
    with pytest.raises(ValueError, match="`time_limit` needs a method"):
        api.synthesize(frame_of(DOMAIN, ROWS, None), schema_of(DOMAIN), epsilon=1.0, method=method, time_limit=5.0)


def test_every_method_that_takes_one_is_tested():
    takes = {
        name for name in method_names() if name != "wasserstein-generator" and method_type(name)().takes_time_limit
    }
    assert takes == {"aim", "mst", "direct", "independent"}


def test_a_synthesizer_of_a_users_own_gets_a_limit_only_where_it_takes_one():
    got: list[Any] = []

    class Own:
        def synthesize(self, curator, *, rows=None, progress, **more):
            got.append(more)
            return Independent().synthesize(curator, rows=rows, progress=progress)

    with opened(DOMAIN, ROWS, budget=BUDGET) as curator:
        api.release_from(curator, Own(), rows=5)
    with opened(DOMAIN, ROWS, budget=BUDGET) as curator, pytest.raises(ValueError, match="Found Own"):
        api.release_from(curator, Own(), rows=5, time_limit=3)
    Own.takes_time_limit = True  # type: ignore[attr-defined]
    with opened(DOMAIN, ROWS, budget=BUDGET) as curator:
        api.release_from(curator, Own(), rows=5, time_limit=3)
    assert got == [{}, {"time_limit": TimeLimit(3)}]


def test_a_direct_call_that_takes_none_is_refused():
    with opened(DOMAIN, ROWS, budget=BUDGET) as curator, pytest.raises(ValueError, match="`time_limit` needs a method"):
        Direct(2, estimator="minimax").synthesize(curator, time_limit=1.0)


@pytest.mark.filterwarnings("ignore::counterfoil.NoLedgerWarning")
def test_synthesize_hands_it_on():
    given = {"method": AIM(rounds=3), "epsilon": 1.0, "rows": 5, "seed": 1, "time_limit": 1e-9}
    made = api.synthesize(frame_of(DOMAIN, ROWS, None), schema_of(DOMAIN), **given)
    assert parameters_of(made)["time_limit"] == {"seconds": 1e-9, "rounds_ended": True}
