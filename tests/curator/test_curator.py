"""The curator's doors: what is refused before anything is charged, and what is marked as not private."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import Domain
from counterfoil.ledger.errors import BudgetExceeded, LedgerError, WrongSource
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.schema import Real, Schema
from sensitive_tables import UNIT, frame_of, schema_of

PAIR = Domain(("a", "b"), (2, 3))
ROWS = [(0, 1), (1, 2), (1, 0), (0, 1)]
COUNTS = MarginalCounts(PAIR, (("a",),))
MEMORY = SourceIdentity("memory", "memory")


def curator_of(**keywords) -> Curator:
    keywords = {"budget": Budget(1.0, 1e-9), **keywords}
    return Curator(frame_of(PAIR, ROWS), schema_of(PAIR), **keywords)


# The number of rows


def test_the_number_of_rows_is_public_under_replace_one_alone():
    with curator_of(relation="replace_one") as curator:
        assert curator.row_count_is_public
        assert curator.public_row_count() == len(ROWS)
        assert curator.charges() == []


def test_the_number_of_rows_is_private_otherwise():
    with curator_of() as curator, pytest.raises(ValueError, match="public only under `replace_one`"):
        curator.public_row_count()
    table = frame_of(PAIR, ROWS, ["p", "p", "q", "q"])
    unit = PrivacyUnit(UNIT, 2)
    with Curator(table, schema_of(PAIR), budget=Budget(1.0), relation="replace_one", privacy_unit=unit) as curator:
        assert not curator.row_count_is_public
        with pytest.raises(ValueError, match="one row a unit"):
            curator.public_row_count()


@pytest.mark.parametrize("ask", [Curator.public_row_count, Curator.require_rows])
def test_counting_rows_says_nothing_on_the_side(ask, recwarn):
    """Where a disk was too full to keep codes, a cell was read again, and numpy warned that it overflowed."""
    cells = pd.Series([1.0, np.longdouble("1e4000")], dtype=object)
    schema = Schema((Real("pay", 0.0, 1.0, bins=2),))
    frame = pd.DataFrame({"pay": cells})
    with Curator(frame, schema, budget=Budget(1.0), relation="replace_one", in_memory=False) as curator:
        curator._engine._kept.clear()
        ask(curator)
    assert not recwarn.list


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_seed_repeats_a_release_of_units_that_have_too_many_rows(in_memory):
    """Rows of a unit are told apart by their attribute: two choices agree by chance with 4^-300."""
    domain, noise = Domain(("a",), (1200,)), LaplaceNoise(40.0)  # noise is zero but for e^-40
    table = frame_of(domain, [(i,) for i in range(1200)], [str(i // 4) for i in range(1200)])

    def answer(seed: int) -> np.ndarray:
        facts = {"budget": Budget(40.0), "privacy_unit": PrivacyUnit(UNIT, 1), "in_memory": in_memory}
        with Curator(table, schema_of(domain), seed=seed, **facts) as curator:
            return curator.plan([noise], PureFilter()).ask(MarginalCounts(domain, (("a",),)), noise).values

    assert (answer(1) == answer(1)).all()
    assert (answer(1) != answer(2)).any()


def test_a_relation_must_be_one_of_two():
    with pytest.raises(ValueError, match="add_or_remove_two"):
        curator_of(relation="add_or_remove_two")


# Plans and filters


def test_a_plan_above_the_budget_is_refused_before_a_release_is_opened():
    with Ledger.in_memory(MEMORY, Budget(1.0, 1e-9)) as ledger:
        curator = curator_of(ledger=ledger)
        with pytest.raises(ValueError, match="above the budget"):
            curator.plan([GaussianNoise(1.0)], GaussianFilter())
        assert ledger.releases() == []
        curator.plan([GaussianNoise(100.0)], GaussianFilter())
        assert len(ledger.releases()) == 1


def test_a_rule_for_plans_is_no_filter():
    """Privacy-loss distributions of noise that depends on answers is a known way to undercount."""
    with curator_of() as curator:
        with pytest.raises(ValueError, match="needs a filter"):
            curator.filter(PrivacyLossPlan())
        assert curator.account is None
        curator.plan([GaussianNoise(100.0)], PrivacyLossPlan())


def test_a_curator_serves_one_release():
    with curator_of() as curator:
        curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match="one release"):
            curator.filter(ConcentratedFilter())
        with pytest.raises(ValueError, match="one release"):
            curator.plan([], GaussianFilter())


def test_pure_noise_needs_no_delta():
    with curator_of(budget=Budget(1.0)) as curator:
        account = curator.filter(PureFilter())
        account.ask(COUNTS, LaplaceNoise(1.0))
        with pytest.raises(BudgetExceeded):
            account.ask(COUNTS, LaplaceNoise(1e-6))


# The ledger


def test_a_ledger_of_another_source_is_refused_before_the_table_is_read(monkeypatch):
    monkeypatch.setattr(
        "counterfoil.curator.engines.memory.MemoryEngine.prepare", lambda *_: pytest.fail("the table was read")
    )
    other = SourceIdentity("others.csv", "/data/others.csv")
    with Ledger.in_memory(other, Budget(1.0, 1e-9)) as ledger, pytest.raises(WrongSource, match=r"others\.csv"):
        curator_of(ledger=ledger)


def test_a_release_without_charges_gives_its_reservation_back():
    with Ledger.in_memory(MEMORY, Budget(1.0, 1e-9)) as ledger:
        with curator_of(ledger=ledger) as curator:
            curator.filter(GaussianFilter())
        assert ledger.left().epsilon == 1.0
        with curator_of(ledger=ledger) as curator:
            curator.filter(GaussianFilter()).ask(COUNTS, GaussianNoise(1000.0))
        assert ledger.left().epsilon == 0.0, "what was reserved stays reserved, however little was used"
        with curator_of(ledger=ledger) as curator, pytest.raises(BudgetExceeded):
            curator.filter(GaussianFilter())


def test_relations_and_units_share_no_ledger():
    with Ledger.in_memory(MEMORY, Budget(2.0, 1e-8)) as ledger:
        with curator_of(ledger=ledger) as curator:
            curator.filter(GaussianFilter()).ask(COUNTS, GaussianNoise(100.0))
        with curator_of(ledger=ledger, relation="replace_one") as curator, pytest.raises(LedgerError):
            curator.filter(GaussianFilter())


def test_a_plan_is_continued_as_it_was_made():
    """Another second noise, chosen after the first answer, would be adaptive: the plan's accounting excludes it."""
    planned = [GaussianNoise(100.0), GaussianNoise(100.0)]
    with Ledger.in_memory(MEMORY, Budget(1.0, 1e-9)) as ledger:
        stopped = curator_of(ledger=ledger)
        stopped.plan(planned, PrivacyLossPlan()).ask(COUNTS, planned[0])
        for other in ([planned[0], GaussianNoise(90.0)], planned[:1], [*planned, planned[0]]):
            curator = curator_of(ledger=ledger)
            curator.resume(stopped.release_id)
            with pytest.raises(ValueError, match="another plan"):
                curator.plan(other, PrivacyLossPlan())
        curator = curator_of(ledger=ledger)
        curator.resume(stopped.release_id)
        account = curator.plan(planned, PrivacyLossPlan())
        account.ask(COUNTS, planned[1])
        assert len(account.events) == 2
        with pytest.raises(ValueError, match="nothing more"):
            account.ask(COUNTS, planned[1])


# What is not private


def test_a_seed_is_marked():
    with curator_of() as private, curator_of(seed=1) as seeded:
        assert private.randomness.private
        assert not seeded.randomness.private


def test_looking_at_the_table_is_recorded_for_ever():
    with Ledger.in_memory(MEMORY, Budget(1.0, 1e-9)) as ledger:
        curator = curator_of(ledger=ledger)
        with pytest.raises(ValueError, match="`reason`"):
            curator.reveal_without_privacy(" ")
        assert not ledger.revealed
        codes = curator.reveal_without_privacy("to compare")
        assert isinstance(codes, pa.Table)
        assert np.array_equal(np.column_stack([codes["a"], codes["b"]]), ROWS)
        assert ledger.revealed
        assert ledger.spent().epsilon == 0.0


def test_an_empty_table_is_answered_like_any_other():
    empty = Curator(frame_of(PAIR, []), schema_of(PAIR), budget=Budget(1.0, 1e-9))
    assert empty.filter(GaussianFilter()).ask(COUNTS, GaussianNoise(100.0)).values.shape == (2,)
    assert empty.reveal_without_privacy("to see nothing").num_rows == 0
