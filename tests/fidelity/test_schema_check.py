"""The private check of a schema: what it buys, what it says, and that it costs its share and no more."""

from __future__ import annotations

import copy
import datetime as dt
import math
import re

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtri

from counterfoil import Curator, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.api import schema_check_share
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.fidelity.schema_check import DEFAULT_SHARE, SchemaCheck, buy_schema_check
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.methods.independent import Independent
from counterfoil.methods.registry import method_named, method_names
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.schema_check import NoisyColumn, NoisyPlacements, check_sentences, check_warnings
from counterfoil.schema import Boolean, Categorical, Date, Integer, Real, Schema
from counterfoil.schema.placement import Placement
from counterfoil.schema.placement_words import ColumnWords

SCHEMA = Schema(
    (
        Integer("rank", 1, 6),
        Categorical("job", ("cook", "nurse"), other=True),
        Date("day", dt.date(2020, 1, 1), dt.date(2020, 12, 31), "1mo", missing=True),
        Real("pay", 0.0, 100.0, bins=10, missing=True),
    )
)
ROWS = 20_000


def people() -> pa.Table:
    """40% of ranks lie above the upper bound, a third of jobs are not listed, no date is in ISO 8601."""
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "rank": rng.integers(1, 11, ROWS),
            "job": np.array(["cook", "nurse", "smith"])[rng.integers(0, 3, ROWS)],
            "day": ["31.12.2020"] * ROWS,
            "pay": pa.array(rng.uniform(0, 100, ROWS), mask=rng.random(ROWS) < 0.3),
        }
    )


PEOPLE = people()


def made(**options):
    given = {"epsilon": 2.0, "delta": 1e-6, "method": Independent(), "seed": 1, "check_schema": 0.05} | options
    return synthesize(PEOPLE, SCHEMA, **given)


def shares_of(document) -> dict[tuple[str, str], tuple[float, float]]:
    return {
        (column["column"], cell["placement"]): (cell["share"], cell["standard_error"])
        for column in document["schema_check"]["columns"]
        for cell in column["cells"]
    }


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_the_shares_are_true_up_to_their_standard_errors(relation):
    """False alarms: 1e-6 in all, and the seed is fixed."""
    document = made(relation=relation).receipt.document
    found = shares_of(document)
    rank, job = PEOPLE.column("rank").to_numpy(), np.array(PEOPLE.column("job").to_pylist())
    exact = {("rank", "above"): np.mean(rank > 6), ("job", "other"): np.mean(job == "smith")}
    exact |= {("day", "unreadable"): 1.0, ("pay", "missing"): PEOPLE.column("pay").null_count / ROWS}
    for key in found:
        share, error = found[key]
        expected = exact.get(key, 1 - sum(v for k, v in exact.items() if k[0] == key[0]) if "declared" in key else 0.0)
        assert abs(share - expected) <= -ndtri(5e-7 / len(found)) * error, key
        assert 0 < error < 0.01
    records = document["schema_check"]["records"]
    assert abs(records["count"] - ROWS) < 6 * records["standard_error"]


def test_the_warnings_name_the_column_the_share_and_what_to_do():
    receipt = made().receipt
    rank, job, day = receipt.document["schema_check"]["warnings"]
    assert rank.startswith("About 40")
    assert "of rank lie above 6, the upper bound" in rank
    assert rank.endswith("raise `upper`.")
    assert "of job are none of the listed categories" in job
    assert "add categories to `values`" in job
    assert "of day are no dates in the declared notation and count as missing" in day
    assert "`format`" in day
    page = " ".join(receipt.text().split())
    assert page.index("WHAT IT IS GOOD FOR") < page.index(" ".join(rank.split())) < page.index("HOW MANY ROWS")
    assert "pay missing 30" in page  # as declared: told, and no warning
    assert max(map(len, receipt.text().splitlines())) <= 80


def test_what_many_columns_have_in_common_is_said_once():
    """Fourteen questions whose missing answers are written as no word that is declared had fourteen warnings."""
    rng = np.random.default_rng(5)
    names = [f"q{number:02}" for number in range(14)]
    answered = pa.table({name: np.array(["yes", "no", "n.s."])[rng.integers(0, 3, ROWS)] for name in names})
    asked = pa.table({**{name: answered[name] for name in names}, "rank": PEOPLE["rank"]})
    schema = Schema((*(Boolean(name, missing=True) for name in names), SCHEMA["rank"]))
    document = synthesize(
        asked, schema, epsilon=2.0, delta=1e-6, method=Independent(), seed=1, check_schema=0.05
    ).receipt.document
    assert len(document["schema_check"]["warnings"]) == 15, "the receipt has each"
    questions, rank = check_warnings(document)
    named = r"In 14 columns: q00, .*, q11 and 2 others, about 3[0-3]\.?\d* ?% to 3[3-7]\.?\d*% of the cells are neither"
    assert re.match(named, questions)
    assert "list the words that mean missing" in questions
    assert rank.startswith("About 40")
    assert check_sentences(document)[:2] == [questions, rank]


def test_shares_have_95_percent_intervals_and_one_standard_error_is_read_still():
    receipt = made().receipt
    document = receipt.to_json()
    section = document["schema_check"]
    assert all(re.match(r"About \d[\d.]*% \(\d[\d.]*% to \d[\d.]*%\) of ", warning) for warning in section["warnings"])
    section["warnings"] = NoisyPlacements.from_json(section).former_warnings()[0]
    assert "(+- " in section["warnings"][0]
    assert Receipt(document).verify().holds
    section["warnings"][0] = section["warnings"][0].replace("(+- ", "(+- 1")
    assert not Receipt(document).verify().holds
    for former in NoisyPlacements.from_json(section).former_warnings():
        section["warnings"] = former
        assert Receipt(document).verify().holds


@pytest.mark.parametrize("noise", ["discrete_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("scale", [0.7, 1.0, 3.0, 20.0, 150.0])
@pytest.mark.parametrize("above", [4120, 22_710, 74_600])
def test_intervals_of_shares_hold_in_95_percent(noise, scale, above):
    """The exact probability, by the law of the noise. With 1.96 standard errors, Laplace noise of scale 20 had .934."""
    noises = np.arange(-int(12 * scale) - 3, int(12 * scale) + 4)
    weights = np.exp(-(np.abs(noises) / scale if noise == "discrete_laplace" else (noises / scale) ** 2 / 2))
    words, held, rows = ColumnWords("c", "integer", "0", "9"), 0.0, 100_000
    for off, weight in zip(noises.tolist(), (weights / weights.sum()).tolist(), strict=True):
        cells = {Placement.DECLARED: rows - above - off, Placement.ABOVE: above + off}
        (said,) = NoisyPlacements(0.01, 1, noise, scale, (NoisyColumn(words, cells),)).warnings()
        low, high = map(float, re.match(r"About [\d.]+% \(([\d.]+)% to ([\d.]+)%\) of ", said).groups())
        held += weight * (low - 1e-9 <= 100 * above / rows <= high + 1e-9)
    assert held >= 0.95


def test_no_sum_of_laplace_noise_is_further_off_than_one():
    """By the law of sums, of which a number of records is one; normal noise is among them."""
    rng, scales = np.random.default_rng(0), [np.ones(1), np.ones(2)]
    scales += [rng.dirichlet(np.full(size, spread)) ** 0.5 for size in (2, 3, 6) for spread in (0.1, 0.5, 2.0) * 10]
    single = math.log(20) / math.sqrt(2)
    for each in scales:
        for normal in (0.0, rng.random()):
            law = NoiseLaw(normal, each, np.ones(len(each)))
            assert law.quantile(0.95) <= single * law.deviation * (1 + 1e-6)


def test_a_table_as_declared_gets_no_warning():
    table = pa.table({"rank": np.arange(ROWS) % 6 + 1, "pay": np.full(ROWS, 5.0)})
    schema = Schema((Integer("rank", 1, 6), Real("pay", 0.0, 10.0, bins=2)))
    section = synthesize(table, schema, epsilon=2.0, method="independent", seed=0, check_schema=0.05).receipt.document[
        "schema_check"
    ]
    assert section["warnings"] == []
    assert section["columns"]


def test_noise_alone_warns_of_next_to_nothing_however_many_columns_there_are():
    """Of 40 tables with 200 columns as declared, each is warned of with probability 0.001 at most.

    Five or more warnings, which fail here, have probability below 1e-9; the seed is fixed.
    """
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(40):
        columns = tuple(
            NoisyColumn(
                ColumnWords(f"c{i}", "integer", "0", "9"),
                {Placement.DECLARED: 5_000, Placement.ABOVE: int(rng.normal(0, 100)), Placement.BELOW: 0},
            )
            for i in range(200)
        )
        alarms += bool(NoisyPlacements(0.01, 1, "discrete_gaussian", 100.0, columns).warnings())
    assert alarms < 5


@pytest.mark.parametrize("method", ["aim", "mst", "direct", "independent"])
def test_every_method_leaves_both_shares_and_the_receipt_holds(method):
    synthesis = made(seed=None, method=method, fidelity=Fidelity(0.1))
    document, checked = synthesis.receipt.document, synthesis.receipt.verify()
    assert checked.holds, checked.problems
    assert 1.9 < checked.recomputed_epsilon <= 2.0
    assert document["schema_check"]["share"] == 0.05
    assert document["fidelity"]
    assert document["charges"][document["schema_check"]["charge"] - 1]["query"] == "schema_placement"


def test_pure_privacy_stays_pure_and_units_are_bounded():
    table = PEOPLE.append_column("who", pa.array([f"p{i // 4}" for i in range(ROWS)]))
    synthesis = synthesize(
        table,
        SCHEMA,
        epsilon=20.0,
        delta=0.0,
        method="independent",
        check_schema=0.5,
        privacy_unit=PrivacyUnit("who", 2),
    )
    assert synthesis.receipt.verify().holds
    section = synthesis.receipt.document["schema_check"]
    assert section["noise"] == "discrete_laplace"
    # Four columns, of which a unit may have two rows: l1 sensitivity 8, for half of the budget.
    assert section["scale"] == pytest.approx(8 / 10, rel=1e-6)
    assert section["standard_error"] == pytest.approx(math.sqrt(2) * section["scale"])
    assert abs(section["records"]["count"] - ROWS / 2) < 20


def test_points_are_checked_too_and_who_plans_everything_is_refused_before_a_charge():
    able = {name for name in method_names() if method_named(name).can_reserve}
    assert {"aim", "mst", "direct", "independent", "reweighting", "evolution"} <= able
    assert able.isdisjoint({"measure-tree", "signed-measure", "wasserstein-generator"})
    assert schema_check_share(None, method_named("aim")) == DEFAULT_SHARE
    assert schema_check_share(None, method_named("measure-tree")) == 0
    assert schema_check_share(0, method_named("aim")) == 0
    with pytest.raises(ValueError, match="leaves a share of its budget"):
        schema_check_share(0.01, method_named("measure-tree"))
    table, schema = pa.table({"x": np.linspace(-1, 2, 500)}), Schema((Real("x", 0.0, 1.0, bins=8),))
    with pytest.raises(ValueError, match="leaves a share of its budget"):
        synthesize(table, schema, epsilon=1.0, delta=0.0, method="measure-tree", check_schema=0.01)
    release = synthesize(table, schema, epsilon=50.0, delta=1e-6, method="evolution", check_schema=0.3, seed=0, rows=10)
    assert any("of x lie above 1.0" in warning for warning in release.receipt.document["schema_check"]["warnings"])
    assert release.receipt.verify().holds
    for share in (1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="above 0 and below 1"):
            schema_check_share(share, method_named("aim"))


def test_without_a_check_the_receipt_says_so():
    receipt = made(check_schema=0).receipt
    assert "schema_check" not in receipt.document
    assert "The schema was not checked" in " ".join(receipt.text().split())


def test_a_schema_that_leaves_nothing_open_costs_nothing():
    schema = Schema((Boolean("ill"), Categorical("sex", ("f", "m"))))
    table = pa.table({"ill": [True, False] * 50, "sex": ["f", "m"] * 50})
    receipt = synthesize(table, schema, epsilon=1.0, method="independent", check_schema=0.1, seed=0).receipt
    assert [charge["query"] for charge in receipt.document["charges"]] == ["marginal_counts"]
    assert receipt.document["spent"]["epsilon"] > 0.99
    assert receipt.verify().problems == made(check_schema=0).receipt.verify().problems
    assert "needs no check" in receipt.text()
    with Curator(table, schema, budget=Budget(1.0, 1e-6)) as curator:
        with pytest.raises(ValueError, match="needs no check"):
            buy_schema_check(curator)
        assert curator.charges() == []


def test_too_small_a_share_says_so_instead_of_warning():
    section = made(epsilon=0.001, check_schema=0.01, rows=100).receipt.document["schema_check"]
    assert section["warnings"] == []
    assert all("share" not in cell for column in section["columns"] for cell in column["cells"])
    assert "tell nothing about a table of this size" in check_sentences({"schema_check": section})[0]


@pytest.mark.parametrize("epsilon_delta", [(1.0, 1e-6), (5.0, 0.0)])
def test_the_counts_alone_are_a_release_of_their_own(epsilon_delta, tmp_path):
    with Curator(PEOPLE, SCHEMA, budget=Budget(*epsilon_delta)) as curator:
        receipt = buy_schema_check(curator)
    document = receipt.document
    assert document["released"] == "measures"
    assert len(document["charges"]) == 1
    assert document["schema_check"]["share"] == 1
    assert len(document["schema_check"]["warnings"]) == 3
    receipt.save(tmp_path / "r.json")
    assert Receipt.load(tmp_path / "r.json").verify().holds
    page = " ".join(receipt.text().split())
    assert "raise `upper`" in page
    assert "of a model" not in page


FORGED = {
    "a warning": lambda section: section["warnings"].clear(),
    "a kinder warning": lambda section: section["warnings"].__setitem__(0, "All is well."),
    "a count": lambda section: section["columns"][0]["cells"][0].__setitem__("count", 1),
    "a share": lambda section: section["columns"][0]["cells"][0].__setitem__("share", 0.99),
    "an error": lambda section: section.__setitem__("standard_error", 1.0),
    "a scale": lambda section: section.__setitem__("scale", section["scale"] / 2),
    "the budget's share": lambda section: section.__setitem__("share", 0.5),
    "the records": lambda section: section["records"].__setitem__("count", 1.0),
    "another charge": lambda section: section.__setitem__("charge", 1),
    "no such charge": lambda section: section.__setitem__("charge", 99),
    "a bound, and what follows from it": lambda section: (
        section["columns"][0].__setitem__("upper", "600"),
        section["warnings"].__setitem__(0, section["warnings"][0].replace("above 6,", "above 600,")),
    ),
    "a column less": lambda section: section["columns"].pop(),
    "no column": lambda section: section["columns"].clear(),
}


@pytest.mark.parametrize("forged", FORGED)
def test_verification_finds_what_does_not_follow(forged):
    document = copy.deepcopy(made(seed=None).receipt.to_json())
    assert Receipt(document).verify().holds
    FORGED[forged](document["schema_check"])
    assert not Receipt(document).verify().holds


def test_receipts_with_the_advice_of_earlier_versions_hold():
    document = copy.deepcopy(made(seed=None).receipt.to_json())
    warnings = NoisyPlacements.from_json(document["schema_check"]).former_warnings()[0]
    now = ", declare `zone` where they state an offset from UTC and none is declared, or list"
    assert sum(now in warning for warning in warnings) == 1
    document["schema_check"]["warnings"] = [warning.replace(now, ", or list") for warning in warnings]
    assert Receipt(document).verify().holds
    document["schema_check"]["warnings"] = [warning.replace(now, ", or look at") for warning in warnings]
    assert not Receipt(document).verify().holds


def test_receipts_of_steps_say_what_earlier_versions_advised():
    counts = {Placement.DECLARED: 900, Placement.MOVED: 100}
    words = ColumnWords.of(Real("rooms", 0.0, 20.0, step=0.5))
    noisy = NoisyPlacements(0.01, 1, "gaussian", 1.0, (NoisyColumn(words, counts),))
    (now,) = noisy.warnings()
    assert now.endswith(": give more `decimals` or a finer `step`, or leave these out.")
    in_words, _, _ = now.partition(" of rooms")
    former = now.replace(in_words, "About 10% (+- 0.1%)")
    then = [former.partition(": give")[0] + ": give a finer `step`, or leave it out."]
    every = [[former], then, then]
    nearest, outwards = (
        [[warning.replace("About 10% (+- 0.1%)", words)] for (warning,) in every]
        for words in ("About 10% (9.8% to 10%)", in_words)
    )
    assert noisy.former_warnings() == [*every, *nearest, *outwards]


def test_receipts_with_intervals_and_the_advice_of_earlier_versions_hold():
    document = copy.deepcopy(made(seed=None).receipt.to_json())
    section = document["schema_check"]
    former = NoisyPlacements.from_json(section).former_warnings()[-1]
    changed = [then != now for then, now in zip(former, section["warnings"], strict=True)]
    assert any(changed)
    assert not all(changed)
    assert not any("(+- " in warning for warning in former)
    section["warnings"] = former
    assert Receipt(document).verify().holds
    section["warnings"] = former[1:]
    assert not Receipt(document).verify().holds
    section["warnings"] = [former[0].replace("About", "Some"), *former[1:]]
    assert not Receipt(document).verify().holds


CLOSED_SECTION = {"share": 0.0, "columns": [], "warnings": []}


@pytest.mark.parametrize("change", [lambda d: d.pop("schema_check"), lambda d: d.update(schema_check=CLOSED_SECTION)])
def test_a_check_that_was_bought_can_not_be_dropped(change):
    for receipt in (made(seed=None).receipt, counted_alone()):
        document = copy.deepcopy(receipt.to_json())
        number = document["schema_check"]["charge"]
        change(document)
        said = f"Charge {number} bought a schema check, and its counts are missing from this receipt."
        assert Receipt(document).verify().problems == (said,)
        page = " ".join(Receipt(document).text().split())
        assert said in page
        assert "needs no check" not in page
        assert "was not checked" not in page
        assert ("Counts of cells in" in page) == (document.get("released") == "measures")


def test_no_check_is_needed_only_where_the_schema_leaves_nothing_open():
    document = copy.deepcopy(made(seed=None, check_schema=0).receipt.to_json())
    assert Receipt(document).verify().holds
    document["schema_check"] = CLOSED_SECTION
    (problem,) = Receipt(document).verify().problems
    assert "its schema has columns that clamp" in problem
    page = " ".join(Receipt(document).text().split())
    assert problem in page
    assert "a value that is not as declared would have been refused" not in page


def test_without_its_schema_nobody_vouches_that_no_check_was_needed():
    schema = Schema((Boolean("ill"), Categorical("sex", ("f", "m"))))
    table = pa.table({"ill": [True, False] * 50, "sex": ["f", "m"] * 50})
    document = synthesize(table, schema, epsilon=1.0, method="independent", check_schema=0.1).receipt.to_json()
    listed = "schema_check: that none was needed"
    assert document["schema_check"] == CLOSED_SECTION
    assert Receipt(document).verify().holds
    assert listed not in Receipt(document).verify().unvouched
    del document["answers"]
    assert listed in Receipt(document).verify().unvouched


def counted_alone():
    with Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        return buy_schema_check(curator)


def test_without_its_schema_nobody_vouches_for_bounds():
    listed = "schema_check: bounds and notations"
    assert listed not in made(seed=None).receipt.verify().unvouched
    document = copy.deepcopy(counted_alone().to_json())
    section = document["schema_check"]
    section["columns"][0]["upper"] = "600"
    section["warnings"][0] = section["warnings"][0].replace("above 6,", "above 600,")
    found = Receipt(document).verify()
    assert found.holds
    assert listed in found.unvouched


def test_bounds_of_a_column_whose_name_has_a_star_are_compared():
    """A release's names are meant as they stand: a star, which makes a pattern in a user's schema, is part of one."""
    table, schema = pa.table({"rank*": np.arange(ROWS) % 9}), Schema((Integer("rank*", 0, 6),))
    receipt = synthesize(table, schema, epsilon=2.0, method="independent", check_schema=0.05).receipt
    assert receipt.verify().holds
    document = copy.deepcopy(receipt.to_json())
    section = document["schema_check"]
    section["columns"][0]["upper"] = "600"
    section["warnings"][0] = section["warnings"][0].replace("above 6,", "above 600,")
    assert "states other facts of column 'rank*'" in " ".join(Receipt(document).verify().problems)


def test_two_reserves_are_opened_apart_and_can_not_be_spent_before():
    with Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        curator.reserve(0.25, "one")
        curator.reserve(0.5, "other")
        assert curator.reserved == 0.75
        assert (curator.reserved_for("one"), curator.reserved_for("none")) == (0.25, 0)
        with pytest.raises(ValueError, match=r"below 1. Found 0.3 beside 0.75"):
            curator.reserve(0.3, "third")
        account = curator.filter(GaussianFilter())
        whole = GaussianFilter().capacity(curator.budget)
        assert account.capacity == whole * 0.25
        assert account.open_reserve("one") == pytest.approx(whole / 4)
        assert account.capacity == whole * 0.5
        assert account.open_reserve("one") == 0
        query = MarginalCounts(SCHEMA.domain, (("rank",),))
        with pytest.raises(BudgetExceeded):
            account.ask(query, account.noise(0.6 * whole))
        account.ask(query, account.noise(0.5 * whole * (1 - 1e-9)))
        assert account.open_reserve("other") == pytest.approx(whole / 2)


def test_counts_alone_do_not_worsen_the_guarantee_under_the_other_relation():
    plain, checked, measured = (
        made(check_schema=share, fidelity=fidelity).receipt.document["other_relation"]["epsilon"]
        for share, fidelity in ((0, None), (0.05, None), (0.05, 0.05))
    )
    assert checked == plain < measured
    for rule, factor in ((GaussianFilter(), COUNTS_WITH_GAUSSIAN_NOISE), (PureFilter(), ANY_QUESTION)):
        budget = Budget(1.0, 1e-6) if factor < 2 else Budget(1.0, 0.0)
        with Curator(PEOPLE, SCHEMA, budget=budget) as curator:
            SchemaCheck(0.1).prepare(curator)
            assert curator.filter(rule, replacement_factor=1.0).replacement_factor == factor
