"""How far a method is, told within its fits, and when its clock ends them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.synthesis.pace import FEWEST_EVALUATIONS, FOR_ROUNDS, Pace
from counterfoil.synthesis.progress import quiet
from counterfoil.synthesis.time_limit import TimeLimit
from ticking import Ticks, stopped


class Kept:
    """Decisions of an earlier run, and those of this one."""

    def __init__(self, *before: tuple[str, int]) -> None:
        self.before, self.kept = list(before), []

    def kept_decision(self, kind: str) -> int | None:
        if not self.before:
            return None
        found, value = self.before.pop(0)
        assert found == kind
        return value

    def keep_decision(self, kind: str, value: int) -> None:
        self.kept.append((kind, value))


def pace_of(seconds: float | None, clock=stopped, *, keeper: Kept | None = None, progress=quiet) -> Pace:
    return Pace(keeper or Kept(), progress, None if seconds is None else TimeLimit(seconds, clock))  # type: ignore[arg-type]


def fit(pace: Pace, most: int, gap: float = 1.0) -> int:
    """How many evaluations a fit of `most` gets."""
    pace.begins(1e-2)
    done = 1
    while done < most and pace.may_go_on(done, gap):
        done += 1
    pace.ends(done, stopped=done < most)
    return done


@pytest.mark.parametrize(
    "seconds", [0, -1.0, math.inf, math.nan, True, "10m", 10**400], ids=lambda given: str(given)[:9]
)
def test_a_limit_is_a_positive_number_of_seconds(seconds):
    with pytest.raises(ValueError, match="`time_limit` must be a positive number of seconds"):
        TimeLimit.of(seconds)


def test_a_limit_as_it_is_given():
    limit = TimeLimit(3.0, stopped)
    assert TimeLimit.of(limit) is limit
    assert TimeLimit.of(2).seconds == 2
    assert TimeLimit.of(None) is None


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=30), st.floats(1e-6, 1.0))
def test_the_progress_rises_within_a_fit_and_stays_within_its_step(gaps, goal):
    told: list[tuple[str, float]] = []
    pace = pace_of(None, progress=lambda *said: told.append(said))
    pace.step("one", 0.2, 0.6)
    pace.begins(goal)
    for number, gap in enumerate(sorted(gaps, reverse=True)):
        assert pace.may_go_on(number + 1, gap)
    pace.ends(len(gaps), stopped=False)
    pace.step("two", 0.6)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert told[0] == ("one", 0.2)
    assert told[-1] == ("two", 0.6)
    assert {message for message, _ in told} == {"one", "two"}


def test_half_of_the_orders_of_magnitude_is_half_of_the_step():
    told: list[tuple[str, float]] = []
    pace = pace_of(None, progress=lambda *said: told.append(said))
    pace.step("fitting", 0.0, 1.0)
    pace.begins(1e-4)
    for gap in (1.0, 1e-2, 1e-3):
        pace.may_go_on(1, gap)
    assert [share for _, share in told] == pytest.approx([0.0, 0.5, 0.75])


def test_a_fit_that_stands_still_tells_nothing_more():
    told: list[float] = []
    pace = pace_of(None, progress=lambda _, share: told.append(share))
    pace.step("fitting", 0.1, 0.9)
    fit(pace, 50)
    assert told == [0.1]


def test_without_a_limit_nothing_is_kept_and_no_clock_is_read():
    keeper = Kept()
    pace = pace_of(None, keeper=keeper)
    assert fit(pace, 500) == 500
    assert not pace.ends_rounds()
    assert (pace.facts(), pace.warnings(), keeper.kept) == ({}, (), [])


def test_fits_of_rounds_end_after_their_part_and_the_last_one_at_the_limit():
    clock, keeper = Ticks(), Kept()
    pace = pace_of(200, clock, keeper=keeper)
    assert not pace.ends_rounds()
    done = fit(pace, 1000)
    assert done == pytest.approx(FOR_ROUNDS * 200, abs=2)
    assert pace.ends_rounds()
    pace.last_fit()
    again = fit(pace, 1000)
    assert done + again == pytest.approx(200, abs=4)
    assert keeper.kept == [("rounds", 0), ("fit", done), ("rounds", 1), ("fit", again)]
    assert pace.facts() == {"time_limit": {"seconds": 200.0, "rounds_ended": True}}
    (sentence,) = pace.warnings()
    assert "The time limit of 200 s ended the rounds early" in sentence


def test_a_fit_has_its_fewest_evaluations_however_short_the_limit():
    pace = pace_of(1e-9, Ticks())
    assert fit(pace, 1000) == FEWEST_EVALUATIONS
    assert fit(pace, FEWEST_EVALUATIONS - 5) == FEWEST_EVALUATIONS - 5


def test_the_clock_runs_in_fits_and_in_work_between_them_and_nowhere_else():
    clock = Ticks(step=0.0)
    pace = pace_of(10, clock)
    clock.now += 1e9  # counting, between fits
    fit(pace, 30)
    assert not pace.ends_rounds()
    with pace.working():
        clock.now += 4.9
    assert not pace.ends_rounds()
    with pace.working():
        clock.now += 0.2
    assert pace.ends_rounds()


def test_a_resumed_run_takes_the_decisions_that_were_kept_whatever_its_clock_says():
    keeper = Kept(("rounds", 0), ("fit", 33), ("fit", 0), ("rounds", 1))
    pace = pace_of(1e-9, Ticks(), keeper=keeper)
    assert not pace.ends_rounds()
    assert fit(pace, 1000) == 33
    assert fit(pace, 90) == 90, "it was not ended by the clock then"
    assert pace.ends_rounds()
    assert keeper.kept == [], "they are kept already"
    assert fit(pace, 1000) == FEWEST_EVALUATIONS
    assert keeper.kept == [("fit", FEWEST_EVALUATIONS)]
