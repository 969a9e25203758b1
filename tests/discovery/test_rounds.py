"""What later questions of a discovery are about: rounds for rare texts, and integers that are codes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.curator.queries.column_places import GRIDS, PLACES
from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.discovery.bought_categories import text_facts
from counterfoil.discovery.codes import codes_of
from counterfoil.discovery.discover import discover
from counterfoil.discovery.plan import plan_discovery
from counterfoil.discovery.ranges import Bounds, Counted, again, bounds_from
from counterfoil.discovery.steps import FEW, next_step
from counterfoil.discovery.texts import TextRounds
from counterfoil.discovery.votes import Votes
from counterfoil.noise.answer import FrequentTexts
from counterfoil.noise.open_domain_gaussian import PARTS, OpenDomainGaussianNoise
from counterfoil.noise.shown_counts import sure_of
from counterfoil.schema.raw_cell import CLASSES, CODES
from counterfoil.schema.value_grid import CELLS, fine_edges, places_of

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

BUDGET = Budget(0.18, 1e-9)


# Steps


@pytest.mark.parametrize(
    ("numbers", "texts", "uncovered", "expected"),
    [
        (3, 4, [True] * 4, ["texts", "ranges", "texts"]),
        (3, 4, [False] * 4, ["texts", "ranges", "texts"]),
        (11, 1, [False], ["texts", "ranges", "ranges"]),
        (11, 1, [True], ["texts", "ranges", "texts"]),
        (FEW * 2, 2, [False] * 2, ["texts", "ranges", "texts"]),
        (0, 2, [False] * 2, ["texts"] * 3),
        (5, 0, [], ["ranges"] * 3),
        (0, 0, [], ["places"] * 3),
    ],
)
def test_the_budget_goes_to_what_the_answers_show(numbers, texts, uncovered, expected):
    assert [next_step(number, numbers, texts, uncovered) for number in (1, 2, 3)] == expected


# Rounds


def rare_places(rows: int = 40_000) -> pd.DataFrame:
    """Eight columns of which one has rare texts, in records whose other texts are all frequent."""
    rng = np.random.default_rng(2)
    table = {f"plain{i}": rng.choice(["a", "b"], rows) for i in range(7)}
    return pd.DataFrame(
        table | {"place": rng.choice(["here", *(f"far{i}" for i in range(10))], rows, p=[0.9, *[0.01] * 10])}
    )


def test_texts_are_found_that_one_question_with_all_of_the_budget_would_not_tell(tmp_path):
    """Each of ten texts has about 400 records; one round of all columns at once has a higher threshold than that."""
    path = tmp_path / "places.csv"
    rare_places().to_csv(path, index=False)
    discovered, curator = discover(path, budget=BUDGET, seed=4)
    with curator:
        charges = [charge.query for charge in curator.account.charges]
    assert charges == ["column_places", "rest_of_texts", "rest_of_texts", "rest_of_texts"]
    plan = plan_discovery(BUDGET, ranges=True, texts=True)
    whole = sum(noise.noise_multiplier**-2 for noise in plan.noises) ** -0.5
    delta = sum(noise.delta for noise in plan.later)
    threshold = OpenDomainGaussianNoise(whole, delta).threshold(PARTS * math.sqrt(8)) / PARTS
    counts = rare_places()["place"].value_counts()
    assert counts.iloc[1:].max() < 0.9 * threshold
    found = {column.name: dict(column.categories) for column in discovered.columns}
    assert set(found["place"]) == set(counts.index)
    for text, count in counts.items():
        assert found["place"][text] == pytest.approx(count, abs=550), "about as many"
    assert all(set(found[f"plain{i}"]) == {"a", "b"} for i in range(7))


def test_what_is_told_once_is_not_asked_again(tmp_path):
    path = tmp_path / "places.csv"
    rare_places(4000).to_csv(path, index=False)
    _, curator = discover(path, budget=Budget(50.0, 1e-6), seed=4)
    with curator:
        known = [charge.parameters["known"] for charge in curator.account.charges if charge.query == "rest_of_texts"]
    assert known == [0, 25, 25], "14 plain ones and all eleven places"


@given(st.integers(1, 8), st.integers(0, 7), st.integers(10, 10**6))
def test_counts_are_estimated_from_parts_where_columns_have_nothing_to_do_with_each_other(columns, others, count):
    """Records that each have k texts left count PARTS sqrt(d / k), which is what is undone."""
    left = dict.fromkeys([f"c{i}" for i in range(columns)], 0.0)
    left |= {f"c{i}": 1.0 for i in range(1, 1 + min(others, columns - 1))}
    left["c0"] = 0.3
    several = 1 + min(others, columns - 1)
    parts = round(count * PARTS * math.sqrt(columns / several))
    rounds = TextRounds()
    noise = OpenDomainGaussianNoise(1.0, 1e-9)
    rounds.add(FrequentTexts((("c0", "x", parts),), noise, 1, 50.0), tuple(left), left)
    assert dict(rounds.released("c0"))["x"] == pytest.approx(count, abs=1)
    assert rounds.deviation("c0") == pytest.approx(50.0 / (PARTS * math.sqrt(columns / several)))
    assert rounds.known == (("c0", "x"),)
    assert rounds.left("c0", 2.0 * count, 4.0 * count) == pytest.approx(0.25, abs=0.03)
    assert rounds.is_uncovered("c0", 2.0 * count)
    assert not rounds.is_uncovered("c0", 1.01 * count - 1)


def test_words_for_missing_are_texts_that_records_have(tmp_path):
    """Where 30% of ten columns were NA, "they cover about 86% (85% to 86%)" was said of the only two texts of a column.

    The seed is fixed. The noise of these sums is below 1% of each, so that one beyond 3% has a chance below 1e-6.
    """
    rng, rows = np.random.default_rng(3), 20_000
    table = {f"c{i}": np.where(rng.random(rows) < 0.3, "NA", rng.choice(["a", "b"], rows)) for i in range(10)}
    path = tmp_path / "words.csv"
    pd.DataFrame(table | {"k": rng.choice(["x", "y"], rows)}).to_csv(path, index=False)
    discovered, curator = discover(path, budget=Budget(3.0, 1e-9), seed=4)
    curator.close()
    for column in discovered.columns:
        assert sum(count for _, count in column.categories) == pytest.approx(column.records, rel=0.03), column.name
        assert column.missing_words == (() if column.name == "k" else ("NA",))


def test_lists_may_cover_more_where_cells_are_empty_in_the_same_records(tmp_path):
    """Half of the records were empty in ten columns: "they cover about 77% (77% to 78%)", and `other` the rest.

    The seed is fixed; noise is below 1% of each count.
    """
    rng, rows = np.random.default_rng(3), 20_000
    gone = rng.random(rows) < 0.5
    table = {f"c{i}": np.where(gone, "", rng.choice(["a", "b"], rows)) for i in range(10)}
    path = tmp_path / "together.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    discovered, curator = discover(path, budget=Budget(3.0, 1e-9), seed=4)
    curator.close()
    for column in discovered.columns:
        facts = text_facts(column, {}, None).facts
        assert "to 100%)" in facts["values"][1]
        assert "if any" in facts["other"][1]


def test_texts_beside_words_for_missing_are_left_until_they_are_released():
    """Of 1,000 records 300 have NA, 500 one text and 200 others: words made up for these, so that none was asked."""
    rounds = TextRounds()
    answer = FrequentTexts(
        (("c", "x", 500 * PARTS), ("c", "NA", 300 * PARTS)), OpenDomainGaussianNoise(1.0, 1e-9), 1, 5
    )
    rounds.add(answer, ("c",), {"c": 0.7}, {"c": 0.3}, 1000.0)
    assert rounds.released("c") == [("x", 500), ("NA", 300)]
    assert rounds.left("c", 700.0, 1000.0) == pytest.approx(0.2)
    assert rounds.is_uncovered("c", 700.0)


# Codes


def vote_of(numbers: np.ndarray, deviation: float, rng: np.random.Generator) -> Votes:
    counts = rng.normal(0, deviation, PLACES)
    start = len(CLASSES) + GRIDS.index("integer") * CELLS
    counts[start : start + CELLS] += np.bincount(places_of(numbers), minlength=CELLS)
    return Votes(counts, deviation, 4.7)


def found_codes(numbers: np.ndarray, ends: tuple[int, int], deviation: float, seed: int = 0) -> list[int]:
    rng = np.random.default_rng(seed)
    coarse = places_of(np.array(ends, dtype=float))
    edges = fine_edges(int(coarse[0]), int(coarse[1]), 1, whole=True, singles=True)
    intervals = Intervals("a", (CODES["integer"],), edges)
    exact = intervals.counts(np.full(len(numbers), CODES["integer"]), numbers.astype(float))
    counts = exact + rng.normal(0, deviation, len(exact)).round()
    vote, least = vote_of(numbers.astype(float), 2 * deviation, rng), sure_of(len(counts))
    found = codes_of(intervals, counts, deviation, (float(ends[0]), float(ends[1])), vote, len(numbers), least)
    return [code for code, _ in found]


def test_sparse_integers_are_codes_and_rare_ones_beyond_the_bounds_are_among_them():
    numbers = np.repeat([1, 5, 111, 120, 125], [20_000, 9000, 20_000, 10_000, 700])
    found = [codes for seed in range(20) if (codes := found_codes(numbers, (1, 120), 100.0, seed))]
    # Of four tables about one has a place whose noise makes it seem to hold more: 17 of 20 have with less than 1e-7.
    assert len(found) > 3
    assert all({1, 5, 111, 120, 125} <= set(codes) for codes in found)
    assert all(len(codes) < 25 for codes in found), "five by noise are expected"


@pytest.mark.parametrize(
    ("numbers", "ends", "why"),
    [
        (np.arange(60_000) % 16, (0, 15), "dense: each has a code of its own already"),
        (np.arange(60_000) % 90, (0, 89), "ages"),
        (np.append(np.zeros(57_000), np.arange(1400, 2600).repeat(3)), (0, 2600), "amounts, of which most are zero"),
        (np.append(np.repeat([40, 200], 25_000), np.arange(1, 99).repeat(150)), (1, 200), "hours"),
        (np.repeat([0, 1], [58_000, 150]), (0, 15), "a flag that few have, of which 0 alone shows"),
        (np.append(np.arange(1, 13).repeat(4500), np.zeros(150)), (0, 24), "months, however wide the bounds are"),
    ],
)
def test_other_integers_are_not_taken_for_codes(numbers, ends, why):
    for seed in range(20):
        assert found_codes(numbers, ends, 100.0, seed) == [], why


def test_codes_of_a_wide_range_are_counted_once_more_one_by_one():
    """Nothing that is lost here was in the bounds: these come from the first answer, and codes from the second."""
    rng = np.random.default_rng(6)
    numbers = np.repeat([1110.0, 1121, 1122, 1210], [7000, 10_000, 26_000, 6000])
    edges = fine_edges(*places_of(np.array([1110.0, 1210.0])).tolist(), 64, whole=True)
    wide = Intervals("a", (CODES["integer"],), edges)
    vote = vote_of(numbers, 200.0, rng)
    kinds = np.full(len(numbers), CODES["integer"])
    first = Counted(wide, wide.counts(kinds, numbers) + rng.normal(0, 100, wide.size).round(), 100.0)
    bounds = bounds_from(first, "integer", vote, len(numbers), sure_of(wide.size))
    assert bounds.lower <= 1110 < 1210 <= bounds.upper
    assert bounds.codes == ()
    fine = again(first, "integer", bounds, len(numbers), 100.0, 5.0)
    assert set(np.diff(fine.edges)) == {1.0}
    assert fine.edges[0] < bounds.lower < bounds.upper < fine.edges[-1]
    second = Counted(fine, fine.counts(kinds, numbers) + rng.normal(0, 100, fine.size).round(), 100.0)
    both = first.beside(second)
    found = bounds_from(both, "integer", vote, len(numbers), sure_of(wide.size))
    assert {1110, 1121, 1122, 1210} <= {code for code, _ in found.codes}
    assert again(both, "integer", bounds, len(numbers), 100.0, 5.0) == fine
    third = both.beside(second)
    assert third.singles.deviation == pytest.approx(100.0 / math.sqrt(2))
    assert third.singles.counts == pytest.approx(second.counts)
    assert again(first, "integer", bounds, len(numbers), 3000.0, 20.0) == wide, "too noisy for integers one by one"
    assert again(first, "real", bounds, len(numbers), 100.0, 5.0) == wide
    assert again(first, "integer", Bounds(), len(numbers), 100.0, 5.0) == wide


def test_a_few_far_numbers_that_the_coarse_answer_hides_move_the_bounds():
    """Of 50,000 records 2,400 lie between 256 and 4,096, where none showed; their sum is sure in the finer answer."""
    numbers = np.append(np.zeros(47_600), np.full(2400, 1902.0))
    kinds = np.full(len(numbers), CODES["integer"])
    zero = int(places_of(np.zeros(1))[0])
    near = Intervals("a", (CODES["integer"],), fine_edges(zero, zero, 16, whole=True))
    counts = near.counts(kinds, numbers)
    blind = vote_of(numbers[numbers == 0], 500.0, np.random.default_rng(1))
    found = bounds_from(Counted(near, counts, 200.0), "integer", blind, len(numbers), 4.9)
    assert (found.lower, found.upper) == (0, 4095)
    few = np.where(counts == 2400, 600, counts)
    assert bounds_from(Counted(near, few, 200.0), "integer", blind, len(numbers), 4.9).upper < 256


def test_integer_categories_of_a_table_are_bought_as_categories(tmp_path):
    rng = np.random.default_rng(8)
    table = pd.DataFrame(
        {
            "sector": rng.choice([111, 122, 124, 139], 20_000, p=[0.4, 0.3, 0.2, 0.1]),
            "place": rng.choice([1, 5, 111, 1001], 20_000, p=[0.4, 0.3, 0.2, 0.1]),
            "grade": rng.integers(0, 16, 20_000),
            "age": rng.integers(17, 91, 20_000),
        }
    )
    table.to_csv(tmp_path / "codes.csv", index=False)
    discovered, curator = discover(tmp_path / "codes.csv", budget=Budget(1.0, 1e-9), seed=3)
    with curator:
        assert [charge.query for charge in curator.account.charges] == ["column_places", *["column_ranges"] * 3]
    found = {column.name: {code for code, _ in column.codes} for column in discovered.columns}
    assert {111, 122, 124, 139} <= found["sector"]
    assert {1, 5, 111, 1001} <= found["place"]
    assert found["grade"] == found["age"] == set()
    assert all(column.categories == () for column in discovered.columns)
