"""What attackers and new users found, each as it was shown."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import reduce
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.brought import brought_within
from counterfoil.curator.answer_log import AnswerLog
from counterfoil.curator.curator import Curator
from counterfoil.curator.engines.engine import LARGEST_SUM, added
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.curator.queries.lattice import LatticeKernelDensity
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.curator.source_facts import identity_of
from counterfoil.curator.sources.source import BATCH_ROWS
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.counting import count_marginals
from counterfoil.domain.domain import Domain
from counterfoil.features.functions import Functions, Share, Value
from counterfoil.features.losses import LossNet
from counterfoil.features.moments import Moments
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.lattice import KernelLattice
from counterfoil.ledger.ledger import Ledger, Release, SourceIdentity
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.reweighting import Reweighting
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.noise import randomness
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.noise import LARGEST_ANSWER, bounded_sum
from counterfoil.noise.sampler import FINER, USUAL, Precision
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise
from counterfoil.receipt.receipt import Receipt
from counterfoil.reweighting.reference import Uniform
from counterfoil.schema import Categorical, Integer, Real, Schema
from sensitive_tables import frame_of, schema_of

DOMAIN = Domain(("a",), (2,))
ROWS = [(0,)] * 777 + [(1,)] * 223
TABLE, SCHEMA = frame_of(DOMAIN, ROWS), schema_of(DOMAIN)
COUNTS = MarginalCounts(DOMAIN, (("a",),))
LARGEST, SMALLEST = np.iinfo(np.int64).max, np.iinfo(np.int64).min


@pytest.mark.parametrize("noise", [GaussianNoise(1e20), GaussianNoise(1e30), LaplaceNoise(1e-19), LaplaceNoise(1e-30)])
def test_noise_beyond_whole_numbers_shows_nothing_below_it(noise):
    """Saturated noise that wrapped around left the exact counts in the last digits."""
    pure = isinstance(noise, LaplaceNoise)
    with Curator(TABLE, SCHEMA, budget=Budget(0.001, 0.0 if pure else 1e-9)) as curator:
        account = curator.filter(PureFilter() if pure else GaussianFilter())
        answers = np.array([account.ask(COUNTS, noise).values for _ in range(4)])
    assert (np.abs(answers) <= LARGEST_ANSWER).all()
    beyond = np.abs(answers) == LARGEST_ANSWER
    assert beyond.any(), "such noise seldom lies within"
    assert not np.isin(np.abs(answers[~beyond]) % 2**40, [777, 223]).any()


@pytest.mark.parametrize(
    ("budget", "unit", "tables"),
    [
        (Budget(1, 1e-70), None, FINER),
        (Budget(60, 1e-9), ("who", 200), FINER),
        (Budget(150, 1e-9), ("who", 200), None),
        (Budget(1, 1e-250), None, None),
        (Budget(1, 1e-9), ("who", 200), USUAL),
    ],
)
@pytest.mark.parametrize("kept", [False, True])
def test_no_answer_lies_beyond_the_end_of_a_table_of_noise(tmp_path, monkeypatch, budget, unit, tables, kept):
    """A unit of 200 rows moved a count by 12 deviations: with 5e-8, at a delta of 1e-9, it lay where no table of its
    neighbor's noise reaches. At a delta of 1e-70 one row was enough."""
    drawn: list[Precision] = []
    for sampler in ("gaussian_sampler", "wide_gaussian_sampler"):
        monkeypatch.setattr(randomness, sampler, lambda _, precision: drawn.append(precision))
    schema = Schema((Integer("a", 0, 2999, bins=3000),), ignore=("who",))
    counts = MarginalCounts(schema.domain, (("a",),))
    with Curator(pa.table({"a": [0] * 3, "who": [1] * 3}), schema, budget=budget, privacy_unit=unit) as curator:
        if kept:
            curator.keep_answers(AnswerLog.create(tmp_path / "kept.answers", {}))
        account = curator.filter(GaussianFilter())
        account.ask(counts, account.noise(account.divisible))
    assert {*drawn} == ({tables} if tables else set())


def test_sums_over_blocks_do_not_wrap_around():
    """The squared loss of the model 0 in a net of radius 100 is up to 2**39: of 2**24 records one turned the largest
    sum of int64 into the most negative one."""
    schema = Schema((Real("x", -1, 1, bins=2), Real("y", -1, 1, bins=2)))
    net = LossNet.of(schema, "squared", "y", ["x"], radius=100, points=20_000, counted=False)
    one = net.sums(1, {}, {"x": np.zeros(1), "y": np.ones(1)})[: net.first]
    assert one.tolist() == [2**39]
    blocks = [one * BATCH_ROWS] * (2**24 // BATCH_ROWS)
    without, with_it = (reduce(added, [*blocks[1:], one * (BATCH_ROWS - 1), *more]) for more in ([], [one]))
    assert 0 <= with_it - without <= 2**39
    assert without == LARGEST_SUM
    shuffled = reduce(added, [reduce(added, blocks[:90]), one, reduce(added, blocks[90:] * 3)])
    assert shuffled == LARGEST_SUM
    assert added(-without, -with_it) == -LARGEST_SUM


def test_a_bounded_sum_is_that_of_unbounded_noise():
    """By Python's whole numbers of any size, also where the sampler's answer was cut off at 64 bits."""
    rng = np.random.default_rng(5)
    noises = [*(sign * (1 << k) + int(rng.integers(-3, 4)) for k in range(80) for sign in (-1, 1)), 0]
    for exact in (0, 1, -5, 10**15, LARGEST_ANSWER, LARGEST, SMALLEST):
        sampled = np.array([min(max(z, SMALLEST), LARGEST) for z in noises], dtype=np.int64)
        near = min(max(exact, -LARGEST_ANSWER), LARGEST_ANSWER)
        expected = [min(max(near + z, -LARGEST_ANSWER), LARGEST_ANSWER) for z in noises]
        assert bounded_sum(np.full(len(noises), exact, dtype=np.int64), sampled).tolist() == expected


@pytest.mark.parametrize("rows", [sys.maxsize, 10**30, True, 0])
def test_a_unit_of_unbounded_rows_is_refused(rows):
    with pytest.raises(ValueError, match="from 1 to 1,000,000,000"):
        PrivacyUnit("id", rows)


@dataclass(frozen=True)
class FastNoise(GaussianNoise):
    """Calls itself Gaussian, and adds nothing."""

    def add(self, exact, sensitivity, randomness):
        return exact


@dataclass(frozen=True)
class OwnNoise(GaussianNoise):
    kind: ClassVar[str] = "own_noise"


def test_a_noise_under_the_name_of_another_is_refused_and_one_of_its_own_is_named():
    with Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-9)) as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match="has that of another"):
            account.ask(COUNTS, FastNoise(100.0))
        assert account.charges == []
        account.ask(COUNTS, OwnNoise(100.0))
        receipt = Receipt.from_curator(curator, method="own", parameters={}, rows=1)
    assert any("OwnNoise" in warning for warning in receipt.document["warnings"])


class QuantileReal(Real):
    """Bins by the rows that are read together."""

    def _bin(self, numbers):
        return np.searchsorted(np.quantile(numbers, [0.25, 0.5, 0.75]), numbers)


def test_kinds_of_columns_of_a_users_own_are_refused():
    schema = Schema((QuantileReal("a", 0.0, 1.0, bins=4),))
    with pytest.raises(ValueError, match="QuantileReal"):
        Curator(TABLE, schema, budget=Budget(1.0, 1e-9))


def test_a_release_that_began_with_a_seed_is_not_continued_without(tmp_path):
    total = Budget(2.0, 1e-6)
    with Ledger.create(tmp_path / "x.ledger", source=SourceIdentity("memory", "memory"), total=total) as ledger:
        first = Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-9), ledger=ledger, seed=1)
        first.filter(GaussianFilter()).ask(COUNTS, GaussianNoise(100.0))
        second = Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-9), ledger=ledger)
        second.resume(first.release_id)
        with pytest.raises(ValueError, match="another `private`"):
            second.filter(GaussianFilter())


def test_a_resumed_release_names_what_was_vouched_for_before(tmp_path):
    total = Budget(2.0, 1e-6)
    with Ledger.create(tmp_path / "x.ledger", source=SourceIdentity("memory", "memory"), total=total) as ledger:
        first = Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-9), ledger=ledger)
        first.filter(GaussianFilter()).ask(COUNTS, OwnNoise(100.0))
        second = Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-9), ledger=ledger)
        second.resume(first.release_id)
        second.filter(GaussianFilter()).ask(COUNTS, GaussianNoise(100.0))
        receipt = Receipt.from_curator(second, method="own", parameters={}, rows=1)
    assert any("OwnNoise" in warning for warning in receipt.document["warnings"])


def test_arrays_that_changed_since_a_query_was_made_are_checked_again():
    weights, penalties = np.ones(1), np.zeros(1)
    query = WorstApproximatedMarginal((("a",),), (np.zeros(2, dtype=np.int64),), weights, penalties)
    with Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-9)) as curator:
        account = curator.filter(GaussianFilter())
        weights[0] = -1000.0
        with pytest.raises(ValueError, match="`weights` must be positive"):
            account.choose(query, ExponentialSelection(0.01))
        weights[0], penalties[0] = 1.0, 2.0**60
        with pytest.raises(ValueError, match="`penalties` must be"):
            account.choose(query, ExponentialSelection(0.01))
        assert account.charges == []


def test_a_file_is_one_source_by_whatever_path(tmp_path, monkeypatch):
    """A second ledger for the same records would have a fresh budget."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "people.csv").write_text("a\n0\n1\n")
    (tmp_path / "other.csv").symlink_to(tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path / "folder")
    names = ["../people.csv", str(tmp_path / "people.csv"), "../folder/../people.csv", "../other.csv"]
    places = [identity_of(name) for name in names]
    assert all(one.is_the_same_as(other) for one in places for other in places)
    assert len({str(place) for place in places}) > 1
    (tmp_path / "else.csv").write_text("a\n0\n1\n")
    assert not identity_of("../else.csv").is_the_same_as(places[0])
    tables = [SourceIdentity(f"x::{table}", f"{tmp_path}/x.db::{table}") for table in ("one", "two")]
    assert not tables[0].is_the_same_as(tables[1])


@pytest.mark.parametrize("method", [SignedMeasure(cells=4), PrivateEvolution(iterations=1)])
def test_a_package_that_is_missing_is_said_before_anything_is_charged(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "ot", None)
    with Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        with pytest.raises(ModuleNotFoundError, match="counterfoil\\[transport\\]"):
            method.synthesize(curator)
        assert curator.account is None


def test_what_was_charged_is_known_where_the_ledger_can_not_be_read(monkeypatch):
    curator = Curator(TABLE, SCHEMA, budget=Budget(1.0, 1e-9))
    assert curator.charged == 0
    curator.filter(GaussianFilter()).ask(COUNTS, GaussianNoise(100.0))
    monkeypatch.setattr(Release, "records", lambda _: 1 / 0)
    assert curator.charged == 1


def test_durations_are_no_numbers():
    """As whole numbers they are nanoseconds."""
    days = pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="D")})
    with pytest.raises(ValueError, match="can't be read as text or numbers"):
        Curator(days, Schema((Integer("a", 0, 97),)), budget=Budget(1.0, 1e-9))


@pytest.fixture
def ledger():
    return Ledger.in_memory(source=SourceIdentity("memory", "memory"), total=Budget(10, 1e-6))


def curator_with(ledger: Ledger) -> Curator:
    return Curator(TABLE, SCHEMA, budget=Budget(1, 1e-6), ledger=ledger)


def test_an_interrupt_right_after_a_charge_stays_an_interrupt_and_is_counted(ledger, monkeypatch):
    charge = Release.charge

    def interrupted(*arguments, **keywords):
        charge(*arguments, **keywords)
        raise KeyboardInterrupt

    monkeypatch.setattr(Release, "charge", interrupted)
    with pytest.raises(KeyboardInterrupt), curator_with(ledger) as curator:
        curator.filter(PureFilter()).ask(COUNTS, LaplaceNoise(0.5))
    assert curator.charged == len(ledger.releases()[0].charges) == 1
    assert ledger.releases()[0].status == "open", "it can be continued"


def test_a_resumed_release_counts_what_was_charged_before(ledger):
    first = curator_with(ledger)
    first.filter(PureFilter()).ask(COUNTS, LaplaceNoise(0.5))
    with curator_with(ledger) as second:
        second.resume(1)
        assert second.charged == 1
    assert ledger.releases()[0].status == "closed"


def test_a_refused_resume_leaves_the_release_to_who_opened_it(ledger):
    account = curator_with(ledger).filter(PureFilter())
    other = curator_with(ledger)
    other.resume(1)
    with pytest.raises(ValueError, match="another plan"), other:
        other.plan([LaplaceNoise(0.5)], PureFilter())
    account.ask(COUNTS, LaplaceNoise(0.5))


def test_a_release_that_another_curator_charged_is_closed(ledger):
    first, second = curator_with(ledger), curator_with(ledger)
    account = first.filter(PureFilter())
    second.resume(1)
    account.ask(COUNTS, LaplaceNoise(0.5))
    second.close()
    assert ledger.releases()[0].status == "closed"


class Watching(dict):
    """A mapping that would see the codes of records."""


def test_a_coarsening_keeps_arrays_of_its_own():
    codes = Watching(a=np.array([0, 1]))
    coarsening = Coarsening(DOMAIN, MappingProxyType(codes))
    assert type(coarsening.codes) is dict
    codes["a"][:] = -100_000_000
    assert coarsening.codes["a"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        coarsening.codes["a"][0] = 1


def test_what_a_read_only_view_holds_is_named():
    assert [one.words for one in brought_within(MappingProxyType(Watching()))]


@pytest.mark.parametrize("code", [-1, 2])
def test_codes_outside_a_table_are_never_counted(code):
    with pytest.raises(ValueError, match="between 0 and 1"):
        count_marginals({"a": np.array([0, code])}, 2, (("a",),), DOMAIN)


@pytest.mark.parametrize("scale", [1e7, 1e10, 1e12 / 2])
def test_the_other_relations_delta_is_no_less_than_the_truth_at_large_scales(scale):
    """Against 60 digits: q(c) = r**(H - c) / (1 + r), the probability that a count c is released."""
    noise = ThresholdedLaplaceNoise(1 / scale, 0.4 / scale)
    with localcontext() as context:
        context.prec = 60
        ratio = (-1 / Decimal(noise.scale(1))).exp()
        of_one, of_two = (ratio ** (noise.threshold(1) - count) / (1 + ratio) for count in (1, 2))
        assert Decimal(noise.event_under(1, 2).delta) >= max(2 * of_one, of_two)


def test_a_scale_whose_threshold_floats_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="at most 1e\\+12"):
        ThresholdedLaplaceNoise(1e-13, 1e-14).threshold(1)


def test_a_hard_link_is_the_same_table(tmp_path):
    (tmp_path / "a.csv").write_text("a\n0\n")
    (tmp_path / "b.csv").hardlink_to(tmp_path / "a.csv")
    assert identity_of(tmp_path / "a.csv").is_the_same_as(identity_of(tmp_path / "b.csv"))


# What an attack on averages of functions, and on what is released with them, found


class TestFamilies:
    SCHEMA = Schema((Categorical("c", ("a", "b")), Real("x", 0.0, 1e6, bins=4)))
    OTHER = Schema((Categorical("c", ("b", "a")), Real("x", 0.0, 1e6, bins=4)))

    def curator(self, rows=300, **more):
        table = pa.table({"c": ["a", "b"] * (rows // 2), "x": np.linspace(1.0, 5.0, rows)})
        return Curator(more.pop("table", table), self.SCHEMA, budget=Budget(1.0, 1e-6), **more)

    @pytest.mark.parametrize("counted", [2, 1000, -1, 1, None])
    def test_a_count_is_asked_for_once_or_not_at_all(self, counted):
        """`counted=1000` gave n a thousand times over, charged as once."""
        for make in (
            lambda: Moments(self.SCHEMA, 2, counted),
            lambda: Functions(self.SCHEMA, (Share.of_records(self.SCHEMA, "x > 3"),), counted),
        ):
            with pytest.raises(ValueError, match="`counted` must be True or False"):
                make()

    def test_a_family_that_was_changed_since_is_refused(self):
        family = Functions(self.SCHEMA, (Share.of_records(self.SCHEMA, "x > 3"),), False)
        query = FunctionAverages(family)
        object.__setattr__(family, "counted", 1000)
        with self.curator() as curator:
            account = curator.filter(GaussianFilter())
            with pytest.raises(ValueError, match="`counted` must be True or False"):
                account.ask(query, account.noise(account.divisible))
            assert not curator.charged

    @pytest.mark.parametrize(
        "wish",
        [
            [("log", lambda record: np.log(record["x"] - 1.0), -10.0, 10.0)],
            (Share.of_records(SCHEMA, "x * 2e302 > 1"),),
            (Value("v", 0.0, 1e-99, "x"),),
            [("loud", lambda record: (warnings.warn(str(record["x"].sum()), stacklevel=1), record["x"])[1], 0.0, 1.0)],
        ],
    )
    def test_nothing_is_said_on_the_side(self, wish):
        """Overflows, logarithms of 0 and a user's own warnings showed that some record has a certain number."""
        table = pa.table({"c": ["a"] * 300, "x": np.append(np.linspace(1.0, 5.0, 299), 900_000.0)})
        family = Functions.of(self.SCHEMA, wish, counted=True)
        with self.curator(table=table) as curator, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            account = curator.filter(GaussianFilter())
            account.ask(FunctionAverages(family), account.noise(account.divisible))
        assert {warning.category for warning in said} <= {cf.NoLedgerWarning}

    @pytest.mark.parametrize("family", [Moments(OTHER, 1, True), Functions(OTHER, (Value("v", 0, 1, "x"),), True)])
    def test_a_family_of_another_schema_is_refused_before_it_is_charged(self, family):
        """Codes mean other values there: the share of one was answered with that of another."""
        with self.curator() as curator:
            account = curator.filter(GaussianFilter())
            with pytest.raises(ValueError, match="another schema"):
                account.ask(FunctionAverages(family), account.noise(account.divisible))
            assert not curator.charged

    def test_what_a_function_raises_is_not_repeated(self):
        def revealing(record):
            if len(record["x"]) == 300 and record["x"].max() > 4.9:
                raise KeyError(f"record: {record['x'].max()}")
            return record["x"]

        family = Functions.of(self.SCHEMA, [("f", revealing, 0.0, 1.0)], counted=True)
        with self.curator() as curator:
            account = curator.filter(GaussianFilter())
            with pytest.raises(ValueError, match=r"^The function 'f' failed: KeyError\.$"):
                account.ask(FunctionAverages(family), account.noise(account.divisible))

    def test_functions_never_see_more_rows_than_they_are_tried_on(self):
        seen = []
        family = Functions.of(
            self.SCHEMA, [("f", lambda r: (seen.append(len(r["x"])), r["x"])[1], 0.0, 1.0)], counted=True
        )
        with self.curator(rows=10_000) as curator:
            account = curator.filter(GaussianFilter())
            account.ask(FunctionAverages(family), account.noise(account.divisible))
        assert max(seen) <= 4096

    def test_a_reference_of_a_users_own_is_named(self):
        class Copied(Uniform):
            pass

        with self.curator() as curator:
            made = Reweighting(reference=Copied(), support=50).synthesize(curator)
        assert any("Copied" in sentence and "vouches for" in sentence for sentence in made.receipt.document["warnings"])

    def test_a_reference_whose_receipt_does_not_hold_is_refused(self):
        with self.curator() as curator:
            prior = Reweighting(support=50).synthesize(curator)
        document = prior.receipt.to_json()
        document["budget"]["epsilon"] = 0.001
        forged = replace(prior, receipt=Receipt(document))
        with self.curator() as curator:
            with pytest.raises(ValueError, match="does not hold"):
                Reweighting(reference=forged).synthesize(curator)
            assert not curator.charged

    def test_the_references_of_references_are_counted(self):
        made = None
        for epsilon in (8.0, 0.5, 0.25):
            table = pa.table({"c": ["a", "b"] * 50, "x": np.linspace(1.0, 5.0, 100)})
            with Curator(table, self.SCHEMA, budget=Budget(epsilon, 1e-9)) as curator:
                made = Reweighting(reference=made, support=50).synthesize(curator)
        (sentence,) = [said for said in made.receipt.document["warnings"] if "releases, which cost" in said]
        assert "2 releases, which cost epsilon 8.5" in sentence
        assert made.receipt.document["method"]["parameters"]["release"]["release"]["budget"]["epsilon"] == 8.0

    def test_a_column_called_1_is_no_count(self):
        schema = Schema((Real("1", 0.0, 10.0, bins=4), Real("y", 0.0, 10.0, bins=4)))
        table = pa.table({"1": np.full(2000, 9.0), "y": np.full(2000, 5.0)})
        with Curator(table, schema, budget=Budget(20.0), relation="replace_one") as curator:
            made = Reweighting(reference="uniform", queries="moments:1").synthesize(curator)
        assert made.to_arrow()["1"].to_numpy().mean() == pytest.approx(9.0, abs=0.3)

    def test_a_missing_coordinate_does_not_show(self):
        schema = Schema((Real("x", 0.0, 1.0, bins=4, missing=True),))
        lattice = KernelLattice(Box(("x",), (0.0,), (1.0,)), (4,), 0.3)
        with Curator(pa.table({"x": [0.5, None]}), schema, budget=Budget(1.0)) as curator:
            account = curator.filter(PureFilter())
            with pytest.raises(ValueError, match="never missing"):
                account.ask(LatticeKernelDensity(lattice), account.noise(account.capacity))
            assert not curator.charged
