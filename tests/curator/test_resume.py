"""Continuing a release that was stopped: charges stay, and only what remains is paid for."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.geometry.euclidean import Box, point_schema
from counterfoil.ledger.errors import LedgerError, ReleaseClosed
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise

BOX = Box(("x0",), (0.0,), (1.0,))
VOTES = NearestNeighborHistogram(BOX, np.array([[0.2], [0.8]]))
HALF, BUDGET = LaplaceNoise(0.5), Budget(1.0, 1e-6)
MEMORY = SourceIdentity("memory", "memory")


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "points.ledger", source=MEMORY, total=Budget(2.0, 1e-5)) as opened:
        yield opened


def curator_of(ledger, budget=BUDGET, **keywords) -> Curator:
    return Curator(np.array([[0.1], [0.9]]), point_schema([0], [1]), budget=budget, ledger=ledger, **keywords)


def stop(ledger, work) -> None:
    """Does `work` with a curator and is interrupted right after it."""

    def interrupted():
        with curator_of(ledger) as curator:
            work(curator)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_a_plan_goes_on_where_it_was_stopped(ledger):
    stop(ledger, lambda curator: curator.plan([HALF, HALF], PureFilter()).ask(VOTES, HALF))
    with curator_of(ledger) as second:
        second.resume(1)
        account = second.plan([HALF, HALF], PureFilter())
        account.ask(VOTES, HALF)
        assert len(second.charges()) == 2
        with pytest.raises(ValueError, match="nothing more"):
            account.ask(VOTES, HALF)
    assert len(ledger.releases()) == 1
    assert ledger.spent().epsilon == 1.0


def test_a_filter_goes_on_with_what_is_left(ledger):
    stop(ledger, lambda curator: curator.filter(GaussianFilter()).ask(VOTES, GaussianNoise(100.0)))
    with curator_of(ledger) as second:
        second.resume(1)
        account = second.filter(GaussianFilter())
        assert account.spent == pytest.approx(1e-4)
        assert second.release_id == 1


def test_a_release_goes_on_with_the_replacement_factor_that_it_declared(ledger):
    def opened(curator, factor):
        return curator.filter(GaussianFilter(), replacement_factor=factor)

    stop(ledger, lambda curator: opened(curator, 1.5).ask(VOTES, GaussianNoise(100.0)))
    (record,) = ledger.releases()
    assert record.description["replacement_factor"] == 1.5
    second = curator_of(ledger)
    second.resume(1)
    with pytest.raises(ValueError, match="opened with another `replacement_factor`"):
        opened(second, 2.0)
    assert opened(second, 1.5).replacement_factor == 1.5


def test_a_release_of_an_older_version_goes_on_as_if_anything_was_asked(ledger):
    older = ledger.open_release(
        budget=BUDGET, relation="add_or_remove_one", composition="gaussian", description={"attributes": ["x0"]}
    )
    curator = curator_of(ledger)
    curator.resume(older.id)
    assert curator.filter(GaussianFilter(), replacement_factor=1.5).replacement_factor == 2.0


def test_only_the_same_release_can_be_continued(ledger):
    first = curator_of(ledger)
    first.filter(GaussianFilter()).ask(VOTES, GaussianNoise(100.0))
    with pytest.raises(ValueError, match="Continue it with the same"):
        curator_of(ledger, Budget(0.5, 1e-6)).resume(1)
    with pytest.raises(ValueError, match="Continue it with the same"):
        curator_of(ledger, relation="replace_one").resume(1)
    with pytest.raises(LedgerError, match="7"):
        curator_of(ledger).resume(7)
    other = curator_of(ledger)
    other.resume(1)
    with pytest.raises(ValueError, match="composes by 'gaussian'"):
        other.plan([HALF], PureFilter())
    with pytest.raises(ValueError, match="open already"):
        first.resume(1)
    first.close()
    with pytest.raises(ReleaseClosed):
        curator_of(ledger).resume(1)


def test_an_error_before_the_first_charge_gives_the_reservation_back(ledger):
    stop(ledger, lambda curator: curator.filter(GaussianFilter()))
    assert ledger.spent().epsilon == 0.0
