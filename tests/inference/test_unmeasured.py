"""What an error bar tells of columns that were never counted together: against all distributions that it allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from counterfoil.inference import Evidence, Unanswerable, mean, proportion
from counterfoil.receipt.answers import ErrorBarEntry, RecordedAnswers
from counterfoil.schema import Categorical, Integer, Schema
from noisy_tables import UNMARKED

SCHEMA = Schema((Categorical("a", ("x", "y")), Categorical("b", ("p", "q")), Integer("k", 0, 4)))
MANY = 10**14


def release(counts: np.ndarray, fraction: float, *, beta: float = 0.04, records: int = MANY) -> Evidence:
    """Rows with those counts of a and b, or of b and k, and an error bar on the two."""
    names = ("a", "b") if counts.shape == (2, 2) else ("b", "k")
    codes = np.array([code for code in np.ndindex(counts.shape) for _ in range(int(counts[code]))])
    columns = {name: np.zeros(len(codes), dtype=int) for name in ("a", "b", "k")} | dict(
        zip(names, codes.T, strict=True)
    )
    table = pa.table(
        {"a": np.array(["x", "y"])[columns["a"]], "b": np.array(["p", "q"])[columns["b"]], "k": columns["k"]}
    )
    bars = (ErrorBarEntry(names, beta, fraction, "its test"), ErrorBarEntry(("a", "b", "k"), beta, 1.9, "another"))
    return Evidence(table, UNMARKED, RecordedAnswers(SCHEMA, (), (), bars, records))  # type: ignore[arg-type]


def farthest(shares: np.ndarray, values: np.ndarray, group: np.ndarray, fraction: float) -> tuple[float, float]:
    """The least and greatest mean of `values` [m] within `group` [m] of any distribution within L1 distance `fraction`
    of `shares` [m], by a linear program for each: the Charnes-Cooper form, with t the inverse of the group's share."""
    m = len(shares)
    # Variables: y = t q [m], slacks s = t abs(q - shares) [m], and t.
    identity, column = np.eye(m), shares[:, None]
    above = np.block([[identity, -identity, -column], [-identity, -identity, column]])
    above = np.vstack([above, np.concatenate([np.zeros(m), np.ones(m), [-fraction]])])
    equal = np.vstack([np.concatenate([np.ones(m), np.zeros(m), [-1.0]]), np.concatenate([group, np.zeros(m), [0.0]])])
    ends = []
    for sign in (1, -1):
        cost = sign * np.concatenate([values * group, np.zeros(m + 1)])
        solved = linprog(cost, above, np.zeros(2 * m + 1), equal, [0.0, 1.0], bounds=(0, None))
        assert solved.success
        ends.append(sign * solved.fun)
    return ends[0], ends[1]


@given(
    st.lists(st.integers(1, 30), min_size=4, max_size=4),
    st.floats(0.01, 0.5),
)
@settings(max_examples=25, deadline=None)
def test_shares_within_groups_lie_where_the_bar_allows(counts, fraction):
    """With no sampling to speak of, the ends are those of the linear program, and attained."""
    table = np.array(counts).reshape(2, 2)
    shares = table.ravel() / table.sum()
    values, groups = np.array([1.0, 1, 0, 0]), np.array([[1.0, 0, 1, 0], [0, 1.0, 0, 1]])
    for found, group in zip(proportion(release(table, fraction), "a == 'x'", by="b"), groups, strict=True):
        if fraction / 2 >= 0.999 * shares @ group:
            continue  # the group may be empty
        assert (found.lower, found.upper) == pytest.approx(farthest(shares, values, group, fraction), abs=1e-5)
        assert found.estimate == pytest.approx((shares * values) @ group / (shares @ group))
        assert not found.measured


def test_means_lie_where_the_bar_allows():
    table = np.array([[9, 3, 2, 2, 4], [1, 5, 5, 9, 10]])
    shares, values = table.ravel() / table.sum(), np.tile(np.arange(5.0), 2)
    for found, code in zip(mean(release(table, 0.1), "k", by="b"), (0, 1), strict=True):
        least, most = farthest(shares, values, np.repeat([1.0 - code, code], 5), 0.1)
        assert found.lower == pytest.approx(least, abs=1e-4)
        # Of the second group fewer rows have the least number than the bar lets move: there it is on the safe side.
        assert found.upper == pytest.approx(most, abs=1e-4) if code == 0 else found.upper > most
        assert found.noise == pytest.approx((found.upper - found.lower) / 2, abs=1e-4)
        assert found.sampling < 1e-4


def test_the_level_that_is_stated_holds():
    """beta for the bar and the rest for sampling; where beta leaves nothing, 0.001 is spent beyond it, and said."""
    table, event = np.array([[30, 20], [25, 25]]), "a == 'x' and b == 'p'"
    for beta, level, stated in ((0.04, 0.95, 0.95), (0.04, 0.9, 0.9), (0.05, 0.95, 0.949), (0.05, 0.99, 0.949)):
        (found,) = proportion(release(table, 0.1, beta=beta, records=400), event, level=level)
        assert found.level == pytest.approx(stated)
    (wide,), (narrow,) = (proportion(release(table, 0.1, records=n), event) for n in (400, MANY))
    assert narrow.upper - narrow.lower == pytest.approx(0.1, abs=1e-6)
    assert wide.lower < narrow.lower
    assert narrow.upper < wide.upper
    assert wide.noise == pytest.approx(0.05)
    assert any("never counted together" in sentence and "0.1 in all" in sentence for sentence in wide.basis)


def test_a_group_that_no_row_is_in_is_not_told_about():
    _, empty = proportion(release(np.array([[30, 0], [25, 0]]), 0.1), "a == 'x'", by="b")
    assert (empty.lower, empty.upper) == (0.0, 1.0)
    assert np.isnan(empty.estimate)
    assert any("There are no synthetic rows with b = " in sentence for sentence in empty.basis)
    assert "The estimate is the synthetic rows' own." not in empty.basis


def test_the_bar_on_the_columns_themselves_counts_however_narrow_others_are():
    """The narrowest of three whose half widths are off by independent chances fails nearly three times as often."""
    made = release(np.array([[30, 20], [25, 25]]), 0.3)
    bars = (*made.answers.error_bars, ErrorBarEntry(("a", "b", "k"), 0.04, 0.1, "a third"))
    for order in (bars, bars[::-1]):
        asked = replace(made, answers=replace(made.answers, error_bars=order))
        (found,) = proportion(asked, "a == 'x' and b == 'p'")
        assert found.upper - found.lower == pytest.approx(0.3, abs=1e-6)


def test_a_bar_on_other_columns_says_nothing():
    both = release(np.array([[30, 20], [25, 25]]), 0.1)
    alone = Evidence(both.table, both.receipt, RecordedAnswers(SCHEMA, (), (), both.answers.error_bars[:1], MANY))
    with pytest.raises(Unanswerable, match="relation of a and k was never measured"):
        proportion(alone, "a == 'x'", by="k")
    assert proportion(both, "a == 'x'", by="k")[0].upper == pytest.approx(1.0)
