"""That relations of three columns follow from those of two is said where it is so, and there alone."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from counterfoil.marginals.record_classes import FEWEST_COLUMNS
from counterfoil.receipt.answers import AT_ONCE
from counterfoil.receipt.relations_kept import (
    FEWEST_LOOKED_AT,
    noisy_looks,
    pairs_counted_well,
    pairs_left_out,
    three_columns,
)

COLUMNS = [["age"], ["job"], ["pay"]]
PAIRS = [["age", "job"], ["age", "pay"]]


def receipt(
    method: str, *counted: list[list[str]], query: str = "marginal_counts", **parameters: Any
) -> dict[str, Any]:
    charges = [{"query": query, "parameters": {"cliques": cliques}} for cliques in counted]
    return {"method": {"name": method, "parameters": parameters}, "charges": charges}


@pytest.mark.parametrize(
    ("document", "flag"),
    [
        pytest.param(receipt("aim", COLUMNS, PAIRS, workload=2), "; `--workload 3` buys", id="aim"),
        pytest.param(receipt("aim", COLUMNS, PAIRS, workload=[["age", "job"]]), "; `--workload 3` buys", id="list"),
        pytest.param(receipt("mst", COLUMNS, PAIRS), "; `--method aim --workload 3` buys", id="mst"),
    ],
)
def test_it_is_said_with_the_flag_that_buys_them(document, flag):
    assert flag in three_columns(document)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(receipt("aim", COLUMNS, PAIRS, [["age", "job", "pay"]], workload=3), id="asked for"),
        pytest.param(receipt("aim", COLUMNS, PAIRS, [["age", "job", "pay"]], workload=2), id="counted"),
        pytest.param(receipt("aim", COLUMNS, workload=2), id="no pair"),
        pytest.param(receipt("aim", COLUMNS[:2], PAIRS[:1], workload=2), id="two columns"),
        pytest.param(receipt("reweighting", COLUMNS, PAIRS), id="another method"),
        pytest.param(receipt("aim", COLUMNS, PAIRS, query="fidelity_marginals", workload=2), id="not for the model"),
        pytest.param({}, id="nothing known"),
    ],
)
def test_it_is_not_said_where_it_is_not_so(document):
    assert three_columns(document) == ""


@pytest.mark.parametrize("workload", [3, 4, [["age", "job", "pay"], ["age"]]])
def test_it_is_said_where_larger_sets_were_asked_for_and_none_was_counted(workload):
    said = three_columns(receipt("aim", COLUMNS, PAIRS, workload=workload))
    assert "the workload has larger sets, and noisy scores chose none of them" in said
    assert "`--workload 3`" not in said
    counted = receipt("aim", COLUMNS, PAIRS, [["age", "job", "pay"]], workload=workload)
    assert three_columns(counted) == ""


WIDE = [[f"q{i}"] for i in range(20)]
CHAIN = [[f"q{i}", f"q{i + 1}"] for i in range(19)]


@pytest.mark.parametrize(
    ("method", "flag"), [("aim", "none. `--workload FILE` asks"), ("mst", "`--method aim --workload FILE`")]
)
def test_most_pairs_of_a_wide_table_were_not_counted(method, flag):
    said = pairs_left_out(receipt(method, WIDE, CHAIN, CHAIN[:3]))
    assert "Of 190 pairs of columns 19 were counted together" in said
    assert "or show where it has none" in said, (
        "of age, schooling and experience two pairs make a relation of the third"
    )
    assert flag in said
    together = pairs_left_out(receipt(method, WIDE, [["q0", "q1", "q2"]], CHAIN[:1]))
    assert "Of 190 pairs of columns 3 were" in together, "a triple counts its pairs"


MANY = [[f"q{i}"] for i in range(FEWEST_LOOKED_AT)]
EVERYTHING = [[one, other] for (one,), (other,) in combinations(MANY, 2)]
ONE_BY_ONE = [[pair] for pair in CHAIN]


def test_a_look_at_all_pairs_is_no_count_that_the_rows_follow():
    looked = receipt("aim", MANY, EVERYTHING, EVERYTHING, *ONE_BY_ONE, classes_taken=0)
    said = pairs_left_out(looked)
    assert "Of 190 pairs of columns 19 were counted by themselves. All were counted at once besides" in said
    assert "may be far weaker than in the table" in said
    assert noisy_looks(looked) == {2, 3}
    assert pairs_counted_well(looked) == {frozenset(pair) for pair in CHAIN}
    assert "190 pairs of columns none was counted by themselves" in pairs_left_out(receipt("aim", MANY, EVERYTHING))
    assert "left out 18 of" in pairs_left_out(receipt("aim", MANY, EVERYTHING, CHAIN[:1], workload=CHAIN))


def test_relations_that_classes_hold_are_called_so():
    said = pairs_left_out(receipt("aim", MANY, EVERYTHING, EVERYTHING, *ONE_BY_ONE, classes_taken=16))
    assert "190 pairs of columns 19 were counted by themselves: relations of the others are what 16 hidden" in said
    assert "far weaker" not in said
    of_three = three_columns(receipt("aim", MANY, EVERYTHING, *ONE_BY_ONE, classes_taken=16))
    assert "those of one and two columns, and 16 hidden classes of records, imply; `--workload 3` buys" in of_three


def test_pairs_that_were_all_counted_by_themselves_or_by_another_method_are_counted():
    assert pairs_left_out(receipt("aim", MANY, EVERYTHING, *[[pair] for pair in EVERYTHING])) == ""
    assert noisy_looks(receipt("direct", MANY, EVERYTHING)) == frozenset()
    assert noisy_looks(receipt("aim", MANY, EVERYTHING[: len(MANY) - 1])) == frozenset(), "of a focus with each other"


def test_aim_looks_at_tables_that_are_as_wide():
    assert FEWEST_COLUMNS == FEWEST_LOOKED_AT


def test_receipts_keep_no_look_before_what_was_counted_by_itself():
    assert len(EVERYTHING) >= AT_ONCE


def test_a_pair_that_was_left_out_is_said_where_most_were_counted():
    assert "Of 3 pairs of columns 2 were counted together" in pairs_left_out(receipt("aim", COLUMNS, PAIRS))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(receipt("aim", COLUMNS, [*PAIRS, ["job", "pay"]]), id="all of them"),
        pytest.param(receipt("independent", WIDE), id="another method"),
        pytest.param(receipt("mst", WIDE), id="none, of which others warn"),
        pytest.param({}, id="nothing known"),
    ],
)
def test_where_no_pair_is_left_out_nothing_is_said(document):
    assert pairs_left_out(document) == ""


def test_sets_that_a_workload_names_and_that_were_left_out_are_named():
    """To ask for those that matter, by the file that was given, is no advice."""
    asked = [["job", "pay"], ["age", "job"], ["age"]]
    said = pairs_left_out(receipt("aim", COLUMNS, PAIRS, workload=asked))
    assert "left out 1 of the 2 sets of the workload: job with pay. `--method direct --workload FILE` counts" in said
    assert "asks for those" not in said
    all_counted = pairs_left_out(receipt("aim", COLUMNS, PAIRS, workload=PAIRS))
    assert all_counted.endswith("All sets of the workload are among them.")


def test_of_many_sets_that_were_left_out_the_first_are_named():
    said = pairs_left_out(receipt("aim", WIDE, CHAIN[:1], workload=CHAIN))
    assert "left out 18 of the 19 sets of the workload: q1 with q2; " in said
    assert "q5 with q6 and 13 more." in said
