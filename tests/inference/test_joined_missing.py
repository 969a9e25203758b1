"""Means of numbers with which missing cells were counted: against all ways to be missing, and by simulated answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.inference import mean, proportion
from counterfoil.inference.joined_missing import JoinedInMean, JoinedInShare
from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.receipt.answers import RecordedMarginal
from counterfoil.schema import Categorical, Integer, Schema
from noisy_tables import GAUSSIAN, evidence_of, noisy_marginal, require_coverage, require_held

SCHEMA = Schema((Categorical("sex", ("F", "M")), Integer("k", 0, 9, missing=True)))
JOINED = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5])
"""The groups in which k was counted: missing cells with 5."""
TRIALS = 1000


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), min_size=1, max_size=30),
    st.tuples(st.integers(0, 40), st.integers(0, 30)),
    st.integers(0, 10),
)
def test_the_widened_ends_hold_the_mean_of_those_with_a_number(counted, among, missing):
    """Without noise: cells of numbers with least and greatest ones, and missing cells that count as one of them."""
    cells = np.array([*counted, among], dtype=float)
    least, most = cells[:, 0] / 70, (cells[:, 0] + cells[:, 1]) / 70
    records = len(cells)
    ends = (least.sum() + missing * least[-1], most.sum() + missing * most[-1])
    of_all = tuple(end / (records + missing) for end in ends)
    joined = JoinedInMean(LinearAnswer(float(missing), {}), 1, least[-1], most[-1])
    counts = LinearAnswer(float(records + missing), {})
    found = joined.widened(of_all, counts, 0.95, 1, noise=True, sampling=False)
    assert found[0] <= least.mean() + 1e-12
    assert most.mean() - 1e-12 <= found[1]
    if 3 * missing > records + missing:
        assert found == (0.0, 1.0), "so many missing ones leave nothing to say"
    elif missing == 0:
        assert found == pytest.approx(of_all)


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 20))
def test_the_widened_ends_hold_the_share_wherever_missing_cells_count(having, others, missing):
    records = having + others + missing
    for as_if, truth in ((having + missing, having), (having, having + missing)):
        joined = JoinedInShare(LinearAnswer(float(missing), {}), 1)
        ends = (as_if / records, as_if / records)
        counts = LinearAnswer(float(records), {})
        low, high = joined.widened(ends, counts, 0.95, 1, noise=True, sampling=False)
        assert low - 1e-12 <= truth / records <= high + 1e-12


@pytest.mark.parametrize("share", [0.0, 0.004, 0.08])
@pytest.mark.parametrize("event", ["k == 5", "k >= 5", "k in [5, 6] or k < 2", "k == 3"])
def test_shares_of_groups_hold_where_missing_cells_were_counted_with_values(share, event):
    """Of all M, also those that miss it, who do not have the event. False alarms: 1e-6 each."""
    rng = np.random.default_rng([len(event), int(1000 * share)])
    numbers = np.array([4, 1, 1, 1, 2, 5, 1, 2, 3, 5]) / 25
    cells = np.array([[*(0.6 * numbers[::-1]), 0.0], [*(0.4 * (1 - share) * numbers), 0.4 * share]])
    has = np.array([eval(event, {"k": k}) for k in range(10)], dtype=float)  # noqa: S307 - ours
    truth, seen = (1 - share) * float(has @ numbers), []

    def held() -> Iterator[bool]:
        while True:
            counts = rng.multinomial(6000, cells.ravel()).reshape(2, 11)
            together = np.array([np.bincount(JOINED, weights=row, minlength=10) for row in counts]).astype(int)
            marginals = [
                noisy_marginal(rng, ("k",), counts.sum(axis=0), GAUSSIAN, 10, 1),
                noisy_marginal(rng, ("sex", "k"), together, GAUSSIAN, 10, 2, {"k": JOINED}),
            ]
            seen.append(proportion(evidence_of(SCHEMA, marginals, records=6000), event, by="sex")[1])
            yield seen[-1].lower <= truth <= seen[-1].upper

    require_held(held(), 400, at_least=0.94, at_most=1.0)
    assert np.mean([one.estimate for one in seen]) == pytest.approx(truth, abs=share + 0.01), (
        "it was the middle between 0 and all that may be"
    )
    said = any("Missing cells of k" in sentence for sentence in seen[-1].basis)
    assert said == (event != "k == 3"), "where they have no part in the event nothing is added"


@pytest.mark.parametrize("share", [0.0, 0.004, 0.08])
@pytest.mark.parametrize("scale", [3, 30])
def test_intervals_of_groups_hold_where_missing_cells_were_counted_with_numbers(share, scale):
    """Of k among M with a number, who are older than F, and miss it more often. False alarms: 1e-6 each."""
    rng = np.random.default_rng([scale, int(1000 * share)])
    numbers = np.array([4, 1, 1, 1, 2, 5, 1, 2, 3, 5]) / 25
    numbers_of_f = numbers[::-1]
    cells = np.array([[*(0.6 * numbers_of_f), 0.0], [*(0.4 * (1 - share) * numbers), 0.4 * share]])
    truth, seen = float(np.arange(10) @ numbers), []

    def held() -> Iterator[bool]:
        while True:
            counts = rng.multinomial(6000, cells.ravel()).reshape(2, 11)
            together = np.array([np.bincount(JOINED, weights=row, minlength=10) for row in counts]).astype(int)
            marginals = [
                noisy_marginal(rng, ("k",), counts.sum(axis=0), GAUSSIAN, scale, 1),
                noisy_marginal(rng, ("sex", "k"), together, GAUSSIAN, scale, 2, {"k": JOINED}),
            ]
            seen.append(found := mean(evidence_of(SCHEMA, marginals, records=6000), "k", by="sex")[1])
            assert found.upper - found.lower < 2, "so few missing ones hardly widen an interval"
            assert found.level == 0.95
            yield found.lower <= truth <= found.upper

    require_held(held(), TRIALS, at_least=0.94, at_most=1.0)
    assert any("Missing cells of k" in sentence and "with numbers of 5:" in sentence for sentence in seen[-1].basis)


def test_what_was_counted_apart_is_preferred_and_a_group_of_missing_cells_says_so():
    rng, counts = np.random.default_rng(1), np.array([[100] * 11, [2] * 10 + [40]])
    together = np.array([np.bincount(JOINED, weights=row, minlength=10) for row in counts]).astype(int)
    one = noisy_marginal(rng, ("k",), counts.sum(axis=0), GAUSSIAN, 1, 1)
    joined = noisy_marginal(rng, ("sex", "k"), together, GAUSSIAN, 1, 2, {"k": JOINED})
    apart = noisy_marginal(rng, ("sex", "k"), counts, GAUSSIAN, 5, 3)
    known = mean(evidence_of(SCHEMA, [one, joined, apart], records=1160), "k", by="sex")
    assert {charge for finding in known for charge in finding.charges} == {3}
    assert not any("Missing cells" in sentence for finding in known for sentence in finding.basis)
    of_m = mean(evidence_of(SCHEMA, [one, joined], records=1160), "k", by="sex")[1]
    assert np.isnan(of_m.estimate)
    assert (of_m.lower, of_m.upper) == (0.0, 9.0)
    assert any("or from missing cells" in sentence for sentence in of_m.basis)


def test_the_rows_tell_a_share_that_a_table_leaves_open() -> None:
    """Of whole numbers 1 to 3 that were counted together the share of ones was half of theirs: the rows know better."""
    schema = Schema((Categorical("sex", ("F", "M")), Integer("k", 0, 3)))
    together = RecordedMarginal(
        ("sex", "k"), np.array([[100, 200], [300, 400]]), {"k": np.array([0, 1, 1, 1])}, GAUSSIAN, 1.0, 1
    )
    rows = pa.table({"sex": ["F"] * 10 + ["M"] * 10, "k": [0, 0, 0, 1, 1, 1, 1, 1, 1, 2] + [0] * 10})
    (women, men) = proportion(evidence_of(schema, [together], records=1000, rows=rows), "k == 1", by="sex")
    assert women.estimate == pytest.approx(0.6)
    assert any("the estimate is the synthetic rows' own, moved into the interval" in line for line in women.basis)
    assert (men.lower, men.estimate) == (0.0, 0.0)
    assert men.upper > 0.5


@pytest.mark.parametrize("joined", [[0, 1, 2, 0, 3], [0, 1, 2, 0, 0], [0, 1, 2, 1, 0]], ids=["other", "both", "apart"])
@pytest.mark.parametrize("share", [0.0, 0.01])
def test_shares_hold_where_cells_that_count_as_other_were_counted_with_a_category(joined, share):
    """Half of what may be was given for a share of .31: the interval began at 0. False alarms: 1e-6 each."""
    schema = Schema((Categorical("sex", ("F", "M")), Categorical("phase", ("a", "b", "c"), other=True, missing=True)))
    rng, groups = np.random.default_rng([*joined, int(100 * share)]), np.array(joined)
    cells = np.outer([0.6, 0.4], [*((1 - 2 * share) * np.array([0.5, 0.3, 0.2])), share, share])
    truth, seen = 0.5 * (1 - 2 * share), []

    def held() -> Iterator[bool]:
        while True:
            counts = rng.multinomial(6000, cells.ravel()).reshape(2, 5)
            together = np.array([np.bincount(groups, weights=row) for row in counts]).astype(int)
            marginals = [
                noisy_marginal(rng, ("phase",), counts.sum(axis=0), GAUSSIAN, 10, 1),
                noisy_marginal(rng, ("sex", "phase"), together, GAUSSIAN, 10, 2, {"phase": groups}),
            ]
            seen.append(proportion(evidence_of(schema, marginals, records=6000), "phase == 'a'", by="sex")[1])
            yield seen[-1].lower <= truth <= seen[-1].upper

    require_held(held(), 300, at_least=0.94, at_most=1.0)
    assert np.mean([one.upper - one.lower for one in seen]) < 0.25
    said = [sentence for sentence in seen[-1].basis if "were counted with others of its values" in sentence]
    assert sorted(sentence.split(" of phase")[0] for sentence in said) == sorted(
        name for name, code in (("Cells that count as `other`", 3), ("Missing cells", 4)) if joined[code] == 0
    )


def test_missing_cells_of_several_columns_may_be_in_the_same_records():
    """Of 1% of the records eight cells are missing: they vary eight times as much as as many independent ones."""
    rng, columns, hits = np.random.default_rng(3), 8, 0
    for _ in range(TRIALS):
        missing = LinearAnswer(float(columns * rng.binomial(5000, 0.01)), {})
        counted, joined = LinearAnswer(5000.0, {}), JoinedInShare(missing, columns)
        low, _ = joined.widened((0.5, 0.5), counted, 0.95, 1, noise=False, sampling=True)
        hits += 0.5 - low >= columns * 0.01
    require_coverage(hits, TRIALS, at_least=0.95, at_most=1.0)
