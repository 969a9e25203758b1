"""Where classes of records start a model: on tables whose columns all go together, and at what cost."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations

import numpy as np
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.classed_model import ClassedModel
from counterfoil.marginals.rank_blocks import rank_blocks
from counterfoil.marginals.record_classes import FEWEST_COLUMNS, _fits
from counterfoil.methods.aim import AIM
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.synthesis import Synthesis
from small_releases import opened

COLUMNS, ROWS = 26, 6000
WIDE = Domain(tuple(f"c{i}" for i in range(COLUMNS)), (2,) * COLUMNS)
ALL_PAIRS = COLUMNS * (COLUMNS - 1) // 2


def moved_together(columns: int = COLUMNS, seed: int = 0) -> np.ndarray:
    """Two hidden numbers move all columns."""
    rng = np.random.default_rng(seed)
    hidden, loadings = rng.normal(size=(ROWS, 2)), rng.normal(size=(2, columns))
    return (hidden @ loadings + 0.7 * rng.normal(size=(ROWS, columns)) > 0).astype(np.int64)


def twins() -> np.ndarray:
    """Each column with one other, which says nearly all of it."""
    rng = np.random.default_rng(1)
    half = rng.integers(0, 2, (ROWS, COLUMNS // 2))
    return np.concatenate([half, half ^ (rng.random(half.shape) < 0.02)], axis=1)


def released(table: np.ndarray, epsilon: float = 10.0, **parameters) -> tuple[Synthesis, list]:
    domain = Domain(WIDE.attributes[: table.shape[1]], (2,) * table.shape[1])
    rows = [tuple(row) for row in table.tolist()]
    with opened(domain, rows, budget=Budget(epsilon, 1e-9)) as curator:
        return AIM(**parameters).synthesize(curator), curator.charges()


def looks(charges) -> int:
    """How often all pairs were counted."""
    return sum(
        charge.query == "marginal_counts" and len(charge.parameters["cliques"]) == ALL_PAIRS for charge in charges
    )


def error(synthesis: Synthesis, table: np.ndarray) -> float:
    """The mean L1 distance of pairs."""
    codes = np.column_stack([synthesis.codes[name] for name in WIDE.attributes[: table.shape[1]]])
    found = []
    for i, j in combinations(range(table.shape[1]), 2):
        one = np.bincount(2 * table[:, i] + table[:, j], minlength=4) / len(table)
        other = np.bincount(2 * codes[:, i] + codes[:, j], minlength=4) / len(codes)
        found.append(np.abs(one - other).sum())
    return float(np.mean(found))


def test_columns_that_all_go_together_are_explained_by_classes():
    """Two rounds measure 25 pairs; without classes 300 others have but what a tree of pairs says of them."""
    table = moved_together()
    with_classes, charges = released(table, 3.0, rounds=2)
    without, none = released(table, 3.0, rounds=2, classes=0)
    assert looks(charges) == 3
    assert not looks(none)
    assert error(with_classes, table) < 0.3 * error(without, table)


def test_where_single_pairs_say_all_the_rounds_go_on():
    table = twins()
    with_look, charges = released(table, 3.0, rounds=2)
    without, _ = released(table, 3.0, rounds=2, classes=0)
    assert looks(charges) == 2
    assert error(with_look, table) < 1.2 * error(without, table)


def test_nothing_is_asked_of_few_columns_nor_where_noise_hides_all_nor_of_a_model_that_has_no_room():
    assert not looks(released(moved_together(FEWEST_COLUMNS - 1), 3.0, rounds=2)[1])
    assert not looks(released(moved_together(), 0.05, rounds=2)[1])
    assert not looks(released(moved_together(), 3.0, rounds=2, max_model_size=0.05)[1])


def test_a_release_with_classes_can_be_kept_asked_and_drawn_from(tmp_path):
    table = moved_together()
    synthesis, _ = released(table, 3.0, rounds=2)
    assert isinstance(synthesis.model, ClassedModel)
    assert tuple(synthesis.codes) == WIDE.attributes
    synthesis.save(tmp_path / "kept")
    kept = Synthesis.load(tmp_path / "kept")
    assert isinstance(kept.model, ClassedModel)
    assert kept.model.digest == synthesis.model.digest
    pair = kept.marginal(("c0", "c1"))
    np.testing.assert_allclose(pair.counts, synthesis.marginal(("c0", "c1")).counts)
    assert kept.to_pandas().shape == (len(synthesis.to_pandas()), COLUMNS)


def test_a_negative_number_of_classes_is_refused():
    with pytest.raises(ValueError, match="`classes` must not be negative"):
        AIM(classes=-1)


def test_classes_that_rules_leave_no_room_for_are_not_looked_at():
    """A rule on three columns of 60 codes has a table of 1.7 MB, and of 28 MB with sixteen classes beside it."""
    domain = Domain(tuple(f"c{i}" for i in range(COLUMNS)), (60,) * 3 + (2,) * (COLUMNS - 3))
    blocks = rank_blocks(Coarsening(domain, {name: np.arange(domain[name]) for name in domain.attributes}), {}, {})
    assert _fits(domain, blocks, [], 16, 80.0)
    assert _fits(domain, blocks, [("c3", "c4", "c5")], 16, 80.0)
    assert not _fits(domain, blocks, [("c0", "c1", "c2")], 16, 80.0)


def test_the_time_of_counting_records_is_not_counted(monkeypatch):
    """It depends on the records, and would decide how a release with a time limit ends."""
    inside, asked = [0], []

    @contextmanager
    def working(_pace):
        inside[0] += 1
        yield
        inside[0] -= 1

    ask = FilterAccount.ask
    monkeypatch.setattr(Pace, "working", working)
    monkeypatch.setattr(FilterAccount, "ask", lambda *each, **named: asked.append(inside[0]) or ask(*each, **named))
    _, charges = released(moved_together(), 3.0, rounds=1)
    assert looks(charges) == 3
    assert asked
    assert not any(asked)
