"""Acceptance: what is released and what is not, its law, its receipt, and what forgers and broken twins can't do."""

from __future__ import annotations

import copy
import gc
import json
import math
import traceback
from collections import Counter
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from accounting_laws import worst_gaussian_delta
from counterfoil import Acceptance, Bound, Curator, Ledger, Receipt, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter
from counterfoil.accounting.repeated import RepeatedGaussian
from counterfoil.curator.judged_runs import Withheld
from counterfoil.curator.paid_runs import PaidRuns, one_of
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.evaluation.comparison import reveal
from counterfoil.evaluation.marginals import compare_marginals
from counterfoil.fidelity.acceptance_runs import JudgedRuns, first_accepted
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.ledger.ledger import SourceIdentity
from counterfoil.methods.aim import AIM
from counterfoil.methods.direct import Direct
from counterfoil.methods.independent import Independent
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.transport.wasserstein import distance

SCHEMA = Schema(
    (
        Categorical("job", ("cook", "nurse", "smith")),
        Integer("age", 18, 80),
        Real("pay", 0.0, 1000.0, bins=20),
        Boolean("rich"),
    )
)
EASY = (
    Bound("pairs", 1.9, (), 0.9),
    Bound("pair", 1.9, ("rich", "job")),
    Bound("accuracy", 0.05, ("rich",), 0.99),
    Bound("w1", 600.0, ("pay",)),
)
HARD = (Bound("pair", 1e-6, ("job", "age"), 0.99),)


def people(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    job, age = rng.integers(0, 3, rows), rng.integers(18, 81, rows)
    pay = np.clip(200 * job + 3 * age + rng.normal(0, 60, rows), 0, 1000)
    names = np.array(["cook", "nurse", "smith"])[job]
    return pa.table({"job": names, "age": age, "pay": pay, "rich": pay > 500})


PEOPLE = people(2000)


def made(bounds: tuple[Bound, ...] = EASY, attempts: int = 1, seed: int | None = 1, **options: Any) -> Synthesis:
    options = {"method": Independent(), "epsilon": 2.0, "delta": 1e-6, **options}
    result = synthesize(PEOPLE, SCHEMA, seed=seed, accept=Acceptance(bounds, attempts=attempts), **options)
    assert isinstance(result, Synthesis)
    return result


@pytest.mark.parametrize("attempts", [1, 7])
@pytest.mark.parametrize("method", [Independent(), Direct(), AIM(), AIM(variant="published")])
def test_what_is_accepted_has_a_receipt_that_holds(method, attempts):
    release = made(method=method, attempts=attempts, fidelity=0.1, check_schema=0.01)
    found = release.receipt.verify()
    assert found.holds, found.problems
    document = release.receipt.document
    assert document["budget"] == {"epsilon": 2.0, "delta": 1e-6}
    assert found.recomputed_epsilon <= 2.0
    assert document["acceptance"]["attempts"] == attempts
    rule, noise = document["composition"]["rule"], [event_from_json(one["event"]) for one in document["charges"]]
    base = ConcentratedFilter() if "zcdp" in rule else GaussianFilter()
    assert rule == (base.name if attempts == 1 else f"{base.name}-repeated-{attempts}")
    # One run has less of the budget where there may be several: what all of them cost is what is stated.
    alone = base.epsilon(noise, 1e-6)
    assert alone <= 2.0 + 1e-6
    assert attempts == 1 or alone < 0.93 * 2.0
    assert "Accepted by criteria declared beforehand" in " ".join(release.receipt.text().split())
    assert "looks better than it is" in " ".join(release.receipt.text().split())
    assert any("noisy estimates of its quality kept limits" in line for line in document["warnings"])
    assert Receipt(json.loads(json.dumps(document))).verify().holds


def test_the_receipt_has_the_criteria_and_what_was_compared():
    release = made(attempts=3)
    section = release.receipt.document["acceptance"]
    assert section["criteria"] == Acceptance(EASY).text
    assert section["sha256"] == Acceptance(EASY).criteria.sha256
    assert [entry["limit"] for entry in section["bounds"]] == [bound.limit for bound in EASY]
    assert [one["charge"] for one in section["measures"]] == [3, 4, 5, 6], "after the columns, and the schema check"
    page = " ".join(release.receipt.text().split())
    assert "at most 3 runs on average were allowed, the first that passed was released" in page
    assert "charged before the first run" in page
    assert "with probability at most 0.3 for each such bound" in page  # 3 (1 - 0.9)


def test_measures_are_near_the_truth():
    """At epsilon 1000 their noise is next to nothing: compared with figures computed another way."""
    release = made(epsilon=1000.0)
    real = reveal(PEOPLE, SCHEMA, reason="a test")[0]
    entries = release.receipt.document["acceptance"]["measures"]
    found = {one["measure"]: one["estimate"] * one["length"] for one in entries}
    errors = compare_marginals(real, release.codes, SCHEMA.domain, order=2)
    assert found["mean_marginal_error"] == pytest.approx(errors.mean, abs=0.01)
    assert found["pair_error"] == pytest.approx(errors.errors["job", "rich"], abs=0.01)
    drawn = release.to_arrow().column("pay").to_numpy()
    assert found["wasserstein"] == pytest.approx(distance(PEOPLE.column("pay").to_numpy(), drawn), abs=0.6)


def forged(change) -> Receipt:
    document = made(attempts=4).receipt.to_json()
    change(document, document["acceptance"])
    return Receipt(document)


def _fewer(document, section):
    section["attempts"] = 2


def _as_one_run(document, section):
    section["attempts"] = 1
    document["composition"]["rule"] = "gaussian"
    document["composition"]["sentence"] = made().receipt.document["composition"]["sentence"]


def _no_section(document, section):
    del document["acceptance"]


def _stricter(document, section):
    section["criteria"] = section["criteria"].replace("1.9", "0.0001")


def _stricter_with_hash(document, section):
    _stricter(document, section)
    section["sha256"] = sha256(section["criteria"].encode()).hexdigest()
    for bound in section["bounds"][:2]:
        bound["limit"], bound["bound"] = 0.0001, bound["bound"].replace("1.9", "0.0001")


def _value(document, section):
    section["bounds"][0]["value"] = 0.0


def _answer(document, section):
    section["measures"][0]["told"] = 0


def _estimate(document, section):
    section["measures"][0]["estimate"] = 0.0


def _length(document, section):
    section["measures"][3]["length"] = 1.0


def _other_pair(document, section):
    section["measures"][1]["about"] = "age and pay"


def _share(document, section):
    section["share"] = 0.2


def _moved_charge(document, section):
    section["measures"][0]["charge"] = 1


def _no_measures(document, section):
    section["measures"] = []


def _junk(document, section):
    section["measures"] = [{} for _ in section["measures"]]


@pytest.mark.parametrize(
    "change",
    [
        _fewer,
        _as_one_run,
        _no_section,
        _stricter,
        _stricter_with_hash,
        _value,
        _answer,
        _estimate,
        _length,
        _other_pair,
        _share,
        _moved_charge,
        _no_measures,
        _junk,
    ],
)
def test_a_forged_acceptance_does_not_hold(change):
    receipt = forged(change)
    found = receipt.verify()
    assert not found.holds
    assert receipt.text()  # it can be read all the same


def test_what_is_withheld_leaves_one_sentence(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    with Ledger.create(tmp_path / "L", source=path, total=Budget(5.0, 1e-5)) as ledger:
        for attempts in (1, 4):
            before = {file.name for file in tmp_path.iterdir()}
            accept = Acceptance(HARD, attempts=attempts)
            with pytest.raises(Withheld) as raised:
                synthesize(path, SCHEMA, epsilon=2.0, delta=1e-6, method=Independent(), ledger=ledger, accept=accept)
            assert str(raised.value) == (
                "Withheld: no run met the criteria, and nothing is released. Epsilon 2 and delta 1e-06 are spent, for "
                "everything was computed from the records."
            )
            assert {file.name for file in tmp_path.iterdir()} == before
            _assert_nothing_leaks(raised.value)
        assert ledger.spent().epsilon == 4.0
        releases = ledger.releases()
    # What the ledger has of both is the same but for what was declared: one charge, before anything was known.
    assert [release.status for release in releases] == ["closed", "closed"]
    for release, attempts in zip(releases, (1, 4), strict=True):
        assert release.composition == "judged"
        parameters = {"criteria_sha256": Acceptance(HARD).criteria.sha256, "attempts": attempts}
        assert release.charges == [{"query": "judged_runs", "parameters": parameters}]


def _assert_nothing_leaks(error: BaseException) -> None:
    """No chained error, and no release or noisy answer in the local names of any frame, or alive at all."""
    assert error.__context__ is None
    assert error.__cause__ is None
    assert error.args == (str(error),)
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            assert not isinstance(value, (Synthesis, NoisyMeasure, Receipt)), frame.f_code.co_name
    gc.collect()
    secret = [one for one in gc.get_objects() if issubclass(type(one), Synthesis) and one.schema == SCHEMA]
    assert not [one for one in secret if "acceptance" not in one.receipt.document and one.receipt.private]


def test_an_accepted_release_shows_in_the_ledger_as_a_withheld_one_does(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    options: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "method": Independent()}
    with Ledger.create(tmp_path / "L", source=path, total=Budget(2.0, 1e-5)) as ledger:
        for bounds in (EASY, HARD):
            try:
                release = synthesize(path, SCHEMA, ledger=ledger, accept=Acceptance(bounds, attempts=3), **options)
                assert release.receipt.document["ledger"] is True
            except Withheld:
                assert bounds is HARD
        kinds = [(entry.kind, sorted(entry.details)) for entry in ledger.entries()]
        with pytest.raises(BudgetExceeded):
            synthesize(path, SCHEMA, ledger=ledger, accept=Acceptance(EASY), **options)
        assert len(ledger.releases()) == 2
    assert kinds[1:4] == kinds[4:7]
    assert len(kinds) == 7


def test_a_receipt_of_several_attempts_has_the_time_of_the_charge(monkeypatch):
    """Its own would tell how long the runs took, and so how many there were."""
    import counterfoil.fidelity.acceptance_runs as runs

    class Early(runs.datetime):
        @classmethod
        def now(cls, zone=None):
            return runs.datetime.fromisoformat("2001-02-03T04:05:06+00:00")

    monkeypatch.setattr(runs, "datetime", Early)
    assert made(attempts=2).receipt.document["created"] == "2001-02-03T04:05:06+00:00"
    assert made(attempts=1).receipt.document["created"] > "2020"


@pytest.mark.parametrize(
    ("bounds", "options", "said"),
    [
        ((Bound("w1", 1.0, ("agee",)),), {}, "Did you mean 'age'"),
        ((Bound("w1", 1.0, ("job",)),), {}, "W_1 is of columns of numbers"),
        ((Bound("accuracy", 0.5, ("jbo",)),), {}, "Did you mean 'job'"),
        (EASY, {"method": MeasureTree()}, "Acceptance needs a method for tables"),
        (EASY, {"method": "measure-tree"}, "Releases can be judged .* for the methods aim, .* Found"),
        (EASY, {"fidelity": 0.97}, "must together be below 1"),
        (EASY, {"delta": 0.0}, "`delta` must be positive"),
    ],
)
@pytest.mark.parametrize("attempts", [1, 5])
def test_what_can_not_be_judged_is_refused_before_anything_is_charged(bounds, options, said, attempts, tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    given: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "method": AIM(), **options}
    with Ledger.create(tmp_path / "L", source=path, total=Budget(2.0, 1e-5)) as ledger:
        with pytest.raises(ValueError, match=said):
            synthesize(path, SCHEMA, ledger=ledger, accept=Acceptance(bounds, attempts=attempts), **given)
        assert ledger.releases() == []
        assert ledger.spent().epsilon == 0


def test_what_a_receipt_says_of_several_runs_holds_in_the_words_of_earlier_versions_too():
    release = made(attempts=4)
    assert "however many there were, which is not released" in release.receipt.document["composition"]["sentence"]
    page = " ".join(release.receipt.text().split())
    assert "how many there were is not released" in page
    assert " told" not in page
    document = release.receipt.to_json()
    former = document["composition"]["sentence"].replace("which is not released", "which is not told")
    document["composition"] = document["composition"] | {"sentence": former}
    assert Receipt(document).verify().problems == release.receipt.verify().problems
    document["composition"] = document["composition"] | {"sentence": former.replace("not told", "not known")}
    assert any("`composition.sentence`" in problem for problem in Receipt(document).verify().problems)


def test_pure_privacy_is_repeated_too():
    from counterfoil.methods.reweighting import Reweighting

    release = made(attempts=3, delta=0.0, method=Reweighting(), epsilon=20.0)
    assert release.receipt.document["composition"]["rule"] == "pure-repeated-3"
    assert release.receipt.document["spent"]["delta"] == 0
    assert release.receipt.verify().holds, release.receipt.verify().problems


def test_that_the_records_refused_a_run_is_noted_where_the_release_is_counted(tmp_path, monkeypatch):
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    monkeypatch.setattr(MarginalCounts, "exact", lambda self, records: 1 / 0)
    with Ledger.create(tmp_path / "L", source=path, total=Budget(2.0, 1e-5)) as ledger:
        with pytest.raises(ZeroDivisionError):
            synthesize(
                path, SCHEMA, epsilon=1.0, delta=1e-6, method=Independent(), ledger=ledger, accept=Acceptance(EASY)
            )
        assert len(ledger.refusals()) == 1
        assert ledger.spent().epsilon == 1.0


class Words:
    """Randomness that gives these words, one by one."""

    def __init__(self, words: list[int]) -> None:
        self.left = list(words)

    def words(self, size: int) -> np.ndarray:
        return np.array([self.left.pop(0) for _ in range(size)], dtype=np.uint64)


def test_the_coin_is_exact():
    """Of the 2**64 words, the one beyond the last multiple of 3 is drawn again; every third of the others is a 1/3."""
    assert [one_of(3, Words([word])) for word in range(6)] == [True, False, False] * 2
    last = 2**64 - 1
    assert last % 3 == 0  # taken as it is, it would count for "end" once too often
    assert not one_of(3, Words([last, 1]))
    assert one_of(1, Words([last]))
    words = Words([2**64 - 1, 2**64 - 2, 7])
    assert not one_of(2**63 + 1, words)
    assert words.left == []


def coin(attempts: int, randomness):
    """Of the runs that were paid for, as a curator has it."""
    return PaidRuns(attempts, Budget(1.0, 1e-6), "replace_one", randomness).goes_on


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_the_first_that_passes_is_released_and_no_other(attempts):
    """With coins that never end the runs, and with one that ends them after the second failure."""
    runs = iter([None, None, "third", "fourth"])
    on = [1] * 10 if attempts > 1 else [0]
    released = first_accepted(lambda: next(runs), coin(attempts, Words(on)))
    assert released == ("third" if attempts > 1 else None)
    runs = iter([None, None, "third"])
    if attempts > 1:
        assert first_accepted(lambda: next(runs), coin(attempts, Words([1, attempts]))) is None


@pytest.mark.parametrize(("p", "attempts"), [(0.3, 4), (0.05, 10), (0.0, 3)])
def test_runs_follow_the_law_that_is_proved(p, attempts):
    """ "Withheld" has probability (1 - p) g(p) / K, and runs are g(p) <= K on average; Hoeffding, below 1e-6 each."""
    randomness, rng, counts = SeededRandomness(7), np.random.default_rng(8), Counter()
    draws, lengths = 20_000, []

    for _ in range(draws):
        made_runs = 0

        def run():
            nonlocal made_runs
            made_runs += 1
            return "passed" if rng.random() < p else None

        counts[first_accepted(run, coin(attempts, randomness))] += 1
        lengths.append(made_runs)
    growth = 1 / (1 / attempts + (1 - 1 / attempts) * p)
    wanted = (1 - p) * growth / attempts
    assert counts[None] / draws == pytest.approx(wanted, abs=math.sqrt(math.log(2e6) / (2 * draws)))
    # Lengths are geometric with mean g: their variance is below g**2, and 5.5 standard errors are far beyond 1e-6.
    assert np.mean(lengths) == pytest.approx(growth, abs=5.5 * growth / math.sqrt(draws) + 1e-12)


def test_every_run_charges_what_the_rule_foresees_and_a_twin_that_does_not_is_caught():
    """An audit of the real curator: one count with noise, released where it is above a limit.

    The law of what is released is exact, from the scale of the noise that the run got, and so is the worst of all
    limits: within the budget for the package, and beyond it for a twin whose runs each spend the whole budget.
    """
    budget, attempts = Budget(1.0, 1e-5), 10
    table = pa.table({"rich": [True] * 5})
    with (
        Curator(table, Schema((Boolean("rich"),)), budget=budget, seed=3) as curator,
        curator.run(attempts, lambda: curator.pay_for_runs("0f" * 32, attempts)) as one,
    ):
        account = one.filter(GaussianFilter())
        account.ask(MarginalCounts(one.domain, (("rich",),)), account.noise(account.capacity))
        (charge,) = account.charges
        assert isinstance(account.rule, RepeatedGaussian)
        multiplier = charge.event.noise_multiplier
    assert worst_gaussian_delta(1 / multiplier, attempts, budget.epsilon) <= budget.delta
    with Curator(table, Schema((Boolean("rich"),)), budget=budget, seed=3) as twin:
        account = twin.filter(GaussianFilter())
        uncharged = account.noise(account.capacity).event().noise_multiplier
    assert worst_gaussian_delta(1 / uncharged, attempts, budget.epsilon) > 1.2 * budget.delta


def test_runs_that_fail_are_followed_by_others():
    """A release of 7 rows fails where luck has it; with many attempts it passes in the end."""
    tries = 0

    class Lucky:
        def synthesize(self, curator, *, rows=None, progress):
            nonlocal tries
            tries += 1
            return Independent().synthesize(curator, rows=1 if tries < 3 else rows, progress=progress)

    release = synthesize(
        PEOPLE,
        SCHEMA,
        epsilon=50.0,
        delta=1e-6,
        method=Lucky(),
        seed=11,
        accept=Acceptance((Bound("pair", 1.0, ("job", "rich")),), attempts=1000),
    )
    assert tries == 3
    assert release.rows == 2000 or abs(release.rows - 2000) < 50


def test_a_text_that_says_something_else_is_refused():
    with pytest.raises(ValueError, match="must state the bounds"):
        Acceptance(EASY, text=Acceptance(HARD).text)
    with pytest.raises(ValueError, match="at least one"):
        Acceptance(())
    with pytest.raises(ValueError, match="tuple of `Bound`"):
        Acceptance([*EASY])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`attempts`"):
        Acceptance(EASY, attempts=0)


def test_a_curator_that_is_judged_twice_pays_twice():
    with Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6), seed=1) as curator:
        runs = JudgedRuns(curator, Acceptance(EASY))
        assert runs.release is None
        runs.first_accepted(Independent().synthesize)
        assert runs.release == 1
        with pytest.raises(BudgetExceeded):
            JudgedRuns(curator, Acceptance(EASY)).first_accepted(Independent().synthesize)


def test_a_run_that_nobody_paid_for_asks_nothing(tmp_path):
    """Nor one that was paid for otherwise, and no more of them than the coin allows."""
    ledger = Ledger.create(tmp_path / "p.ledger", source=SourceIdentity("memory", "memory"), total=(2, 1e-5))
    with Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6), ledger=ledger) as curator:
        with curator.run(1, lambda: None) as one, pytest.raises(ValueError, match="paid for by its curator's"):
            Independent().synthesize(one)
        assert not curator.another_run()
        with curator.run(1, lambda: None) as one:
            assert not one.has_ledger, "it is not paid for"
            with pytest.raises(ValueError, match="has no runs of its own"):
                one.pay_for_runs("0f" * 32, 1)
            with pytest.raises(ValueError, match="has no runs of its own"), one.run(1, lambda: None):
                pass
        curator.pay_for_runs("0f" * 32, 1)
        with curator.run(2, lambda: None) as one, pytest.raises(ValueError, match="that were paid for"):
            Independent().synthesize(one)
        with curator.run(1, lambda: None) as one:
            assert Independent().synthesize(one).receipt.document["ledger"] is True
        with curator.run(1, lambda: None) as one, pytest.raises(ValueError, match="All runs that were paid for"):
            Independent().synthesize(one)
        assert not curator.another_run(), "with one attempt the coin always ends them"
        assert [len(release.charges) for release in ledger.releases()] == [1]


def test_one_payment_gives_one_release():
    with Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        runs = JudgedRuns(curator, Acceptance(EASY))
        assert runs.first_accepted(Independent().synthesize) is not None
        for again in (runs, copy.copy(runs)):
            with pytest.raises(ValueError, match="Found a second call"):
                again.first_accepted(Independent().synthesize)
        with pytest.raises(TypeError, match="can't be copied"):
            copy.deepcopy(runs._once)


def test_a_run_shows_no_records_and_reads_sizes_only_for_its_curators_ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "p.ledger", source=SourceIdentity("memory", "memory"), total=(2, 1e-5))
    with Curator(PEOPLE, SCHEMA, budget=Budget(1.0, 1e-6), relation="replace_one", ledger=ledger) as curator:
        with curator.run(1, lambda: None) as one:
            with pytest.raises(ValueError, match="shows no records"):
                one.reveal_without_privacy("inside a run")
            one.public_row_count()
        assert (ledger.reveals(), ledger.sizes_read()) == ([], ["replace_one"])


def test_criteria_survive_copies():
    acceptance = Acceptance(EASY, attempts=2)
    assert copy.deepcopy(acceptance) == acceptance
