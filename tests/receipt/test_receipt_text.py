"""The page for a privacy officer."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

from counterfoil import Reweighting, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.queries.fidelity_moments import LargestMomentGap
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.curator.queries.lattice import LatticeKernelDensity
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.query import CountQuery
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.trial import PublicRows
from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.functions import Functions, Share, Value
from counterfoil.features.moments import Moments
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.lattice import KernelLattice
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.text import odds, receipt_text
from counterfoil.schema import Categorical, Real, Schema
from receipt_pages import epsilons

MakeReceipt = Callable[..., Receipt]


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 8.0, 50.0])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.1])
def test_the_odds_are_the_best_that_any_guess_can_have(epsilon: float, delta: float) -> None:
    """Against a linear program over the guess's two error rates."""
    if epsilon == 50.0:
        assert odds(epsilon, delta) <= 1
        return
    growth = math.exp(epsilon)
    # t: right where the row is in; f: wrong where it is not. Right on average: (t + 1 - f) / 2.
    best = linprog([-0.5, 0.5], A_ub=[[1, -growth], [growth, -1]], b_ub=[delta, growth - 1 + delta], bounds=(0, 1))
    assert odds(epsilon, delta) == pytest.approx(0.5 - best.fun, rel=1e-9)


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("rule", ["zcdp", "pure"])
@pytest.mark.parametrize("unit", [None, PrivacyUnit("person", 3)])
def test_a_page_fits_and_says_what_matters(
    receipt_of: MakeReceipt, rule: str, relation: str, unit: PrivacyUnit | None
) -> None:
    text = receipt_of(rule, relation=relation, unit=unit).text()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60, "a page"
    flat = " ".join(text.split())
    for said in (
        "epsilon 1 at delta",
        "73.2%",
        relation,
        "people.csv",
        "7 synthetic rows",
        "Few rows.",
        "marginal_counts, 2",
    ):
        assert said in flat
    assert ("'person'" in flat) == (unit is not None)
    assert "NOT PRIVATE" not in text


def test_a_page_of_a_receipt_that_was_tampered_with_is_still_printed(receipt_of: MakeReceipt) -> None:
    document = receipt_of().to_json()
    document["other_relation"] = {"relation": "replace_one", "holds": True}
    document["charges"].clear()
    assert "No guarantee under replace_one" in Receipt(document).text()


@pytest.mark.parametrize("unit", [None, PrivacyUnit("person", 3)])
@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("rule", ["zcdp", "gaussian", "pure"])
def test_no_page_of_a_filter_claims_less_than_its_budget(
    receipt_of: MakeReceipt, rule: str, relation: str, unit: PrivacyUnit | None
) -> None:
    """What was spent depends on the answers: only the budget is a guarantee, and a page may be quoted line by line."""
    receipt = receipt_of(rule, relation=relation, unit=unit)
    assert receipt.document["spent"]["epsilon"] < 0.99
    found = epsilons(receipt.text())
    assert min(found) >= 1.0
    assert 1.0 in found
    assert "stay within this budget" in " ".join(receipt.text().split())


@pytest.mark.parametrize("rule", ["gaussian", "pure", "privacy_loss_distribution"])
def test_a_page_of_a_plan_says_what_the_plan_costs(receipt_of: MakeReceipt, rule: str) -> None:
    """All of its noise was fixed before the first answer, so that its sum holds for every run."""
    receipt = receipt_of(rule, adaptive=False)
    spent = receipt.document["spent"]["epsilon"]
    assert any(0 <= epsilon - spent < 1e-4 for epsilon in epsilons(receipt.text()))
    document = receipt.to_json()
    document["charges"].pop()
    assert min(epsilons(Receipt(document).text())) >= 1.0, "a part of a plan is no guarantee"


def test_a_seeded_release_is_not_private_first_and_last(receipt_of: MakeReceipt) -> None:
    lines = [line for line in receipt_of(seed=1).text().splitlines() if line]
    assert lines[2].startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in " ".join(lines[-2:])


SCHEMA = Schema((Real("x", 0.0, 1.0, bins=4), Real("y", -3.0, 5.0, bins=4), Categorical("c", ("no", "yes"))))
FEATURES = FeatureMap(SCHEMA, "c", 1)
LATTICE = KernelLattice(Box(("x", "y"), (0.0, -3.0), (1.0, 5.0)), (2, 3), bandwidth=0.1)


@pytest.mark.parametrize(
    "query",
    [
        FunctionAverages(Moments(SCHEMA, 1, True)),
        FunctionAverages(Moments(SCHEMA, 2, True)),
        FunctionAverages(Functions(SCHEMA, (Value("y", -3.0, 5.0, "y"), Share.of_records(SCHEMA, "x > 0.5")), False)),
        LargestMomentGap(FEATURES, 1, np.zeros(len(FEATURES.names), dtype=np.int64)),
        LatticeKernelDensity(LATTICE),
        MarginalCounts(SCHEMA.domain, (("x", "c"),)),
    ],
    ids=lambda query: query.name,
)
def test_a_record_counts_at_most_the_unit_in_one_number(query: CountQuery) -> None:
    """Of 400 random records, and of one at all upper ends, which counts it fully."""
    rng = np.random.default_rng(1)
    x, y = (np.r_[highest, rng.uniform(lowest, highest, 400)] for lowest, highest in ((0.0, 1.0), (-3.0, 5.0)))
    codes = {"x": np.minimum(4 * x, 3).astype(np.int64), "y": np.minimum((y + 3) / 2, 3).astype(np.int64)}
    rows = PublicRows(SCHEMA, codes | {"c": np.r_[1, rng.integers(0, 2, 400)]}, {"x": x, "y": y})
    counted = [
        np.abs(query.exact(ExactRecords(rows.in_blocks(np.array([i])), SCHEMA.domain))).max() for i in range(401)
    ]
    unit = type(query).unit(query.describe())
    assert counted[0] == unit
    assert max(counted) == unit


def test_the_page_gives_the_noise_of_averages_in_their_own_unit() -> None:
    """Moments of order 2 are sums of whole numbers up to 4096 squared, which mean nothing to a reader."""
    rng = np.random.default_rng(2)
    table = pa.table({"x": rng.random(50), "y": rng.uniform(-3, 5, 50), "c": rng.choice(["no", "yes"], 50)})
    method = Reweighting(queries="moments:2", support=200)
    release = synthesize(table, SCHEMA, epsilon=2.0, delta=1e-6, method=method, seed=3)
    charges = {charge["query"]: charge for charge in release.receipt.document["charges"]}
    scale = charges["function_averages"]["noise"]["scale"]
    assert scale > 1e7
    text = " ".join(release.receipt.text().split())
    assert f"with noise; scale of the noise {scale / 4096**2:.3g}, where a record counts at most 1." in text
    assert f"scale of the noise {charges['marginal_counts']['noise']['scale']:.3g}. " in text
    document = release.receipt.to_json()
    for wrong in ({}, {"unit": "many"}, {"unit": 0}, {"unit": -5}, {"unit": float("inf")}, {"unit": [1]}):
        next(one for one in document["charges"] if one["query"] == "function_averages")["parameters"] = wrong
        assert f"scale of the noise {scale:,.0f}." in " ".join(receipt_text(document).split())


def test_a_budget_that_protects_nobody_is_said_even_where_the_line_was_taken_out(receipt_of: MakeReceipt) -> None:
    document = receipt_of().to_json()
    assert "protects hardly anybody" not in " ".join(receipt_text(document).split())
    document["budget"]["epsilon"] = 1e9
    page = " ".join(receipt_text(document).split())
    assert page.count("protects hardly anybody") == 1
    document["warnings"] += budget_warnings(Budget(**document["budget"]), None)
    assert " ".join(receipt_text(document).split()).count("protects hardly anybody") == 1
