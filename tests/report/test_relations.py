"""Strengths of relations, which were measured, how far off they may be, and what noise alone could make."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats.contingency import association

from counterfoil import AIM, MST, Direct, Independent
from counterfoil.accounting.budget import Budget
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import graphical_model
from counterfoil.inference import pooled_marginal
from counterfoil.inference.contingency import chi2
from counterfoil.marginals.no_relations import independence
from counterfoil.receipt.answers import read_answers
from counterfoil.report import pairs as pairs_module
from counterfoil.report import relations as relations_module
from counterfoil.report.noisy_shares import noisy_shares
from counterfoil.report.relations import cramers_v, noise_tests, relations
from counterfoil.report.release import ReleaseFacts
from small_releases import released

DOMAIN = Domain(("a", "b", "c", "d"), (3, 3, 4, 2))


def rows_of(count: int, seed: int = 3) -> list[tuple[int, ...]]:
    """b follows a, the others nothing."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, count)
    b = np.where(rng.random(count) < 0.8, a, rng.integers(0, 3, count))
    return list(
        zip(*(part.tolist() for part in (a, b, rng.integers(0, 4, count), rng.integers(0, 2, count))), strict=True)
    )


@pytest.mark.parametrize("seed", range(5))
def test_cramers_v_is_that_of_scipy(seed):
    table = np.random.default_rng(seed).integers(1, 60, (4, 3))
    assert cramers_v(table.astype(float)) == pytest.approx(association(table, method="cramer"))
    assert cramers_v(table.T.astype(float)) == pytest.approx(association(table, method="cramer"))


def test_ends_of_the_scale():
    assert cramers_v(np.diag([4.0, 2.0, 9.0])) == pytest.approx(1)
    assert cramers_v(np.outer([1.0, 2.0], [3.0, 4.0, 5.0])) == pytest.approx(0, abs=1e-7)
    assert math.isnan(cramers_v(np.array([[3.0, 4.0], [0.0, 0.0]])))


def test_few_rows_make_no_relation_of_their_own():
    rng = np.random.default_rng(8)
    plain, corrected = [], []
    for _ in range(60):
        table = rng.multinomial(150, np.full(36, 1 / 36)).reshape(6, 6).astype(float)
        plain.append(cramers_v(table))
        corrected.append(cramers_v(table, rows=150))
    assert np.mean(plain) > 0.15
    assert np.mean(corrected) < 0.05
    assert cramers_v(np.diag([50.0, 50.0, 50.0]), rows=150) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("method", [AIM(), MST()])
def test_a_kept_model_says_strength_measurement_and_error(method):
    synthesis = released(method, DOMAIN, rows_of(2000))
    found = relations(ReleaseFacts.of(synthesis))
    assert found is not None
    cliques = [set(one.clique) for one in read_answers(synthesis.receipt.document).marginals]
    for i, j in itertools.combinations(range(4), 2):
        pair = found.names[i], found.names[j]
        assert found.strength[i, j] == found.strength[j, i] == pytest.approx(cramers_v(synthesis.model.marginal(pair)))
        assert found.measured[i, j] == found.measured[j, i] == any(set(pair) <= clique for clique in cliques)
        # The number is that of `counterfoil error-bar`: a pair is off by at least as much as either column.
        fraction = max(synthesis.error_bars.bar(clique, 0.05).fraction for clique in (pair, pair[:1], pair[1:]))
        assert fraction >= 2 or synthesis.error_bar(pair).fraction == fraction
        assert (fraction >= 2) if math.isnan(found.off_by[i, j]) else found.off_by[i, j] == pytest.approx(fraction / 2)
    assert "the model" in found.source
    assert found.pairs[0] == (0, 1), "a and b are the ones that are related"


def test_without_a_model_the_rows_say_it():
    synthesis = released(MST(), DOMAIN, rows_of(2000))
    facts = ReleaseFacts(synthesis.to_arrow(), synthesis.receipt, synthesis.schema)
    found = relations(facts)
    assert found is not None
    counts = np.zeros((3, 3))
    np.add.at(counts, (synthesis.codes["a"], synthesis.codes["b"]), 1)
    assert found.strength[0, 1] == pytest.approx(cramers_v(counts, rows=synthesis.rows))
    assert np.isnan(found.off_by).all()
    assert "synthetic rows" in found.source


def test_one_column_has_no_pairs():
    one = Domain(("a",), (3,))
    assert relations(ReleaseFacts.of(released(Independent(), one, [(0,), (1,), (2,)] * 20))) is None


@pytest.mark.parametrize("seed", range(4))
def test_what_noise_could_make_is_what_simulations_say(seed):
    """The approximate p-value is compared with that of `infer chi2`, which simulates a statistic with other weights."""
    synthesis = released(Direct(), DOMAIN, rows_of(1500, seed), seed=seed)
    tests = {one.pair: one for one in noise_tests(ReleaseFacts.of(synthesis))}
    assert len(tests) == 6
    for pair, test in tests.items():
        simulated = chi2(synthesis, *pair, simulations=1999)
        assert test.p_value == pytest.approx(simulated.p_value, abs=0.2)
        assert (test.p_value < 0.001) == (simulated.p_value < 0.001)
    assert tests["a", "b"].exceeds_noise


def test_independent_columns_are_rarely_told_from_noise():
    """One pair of six is real, so that 1/12 of the tables are expected to name one that is not: one in twelve, and more
    than 10 with probability below 1e-6 (of a Poisson variable of mean 1, 1e-8)."""
    told = 0
    for seed in range(12):
        synthesis = released(Direct(), DOMAIN, rows_of(400, seed), seed=seed)
        tests = [one for one in noise_tests(ReleaseFacts.of(synthesis)) if one.pair != ("a", "b")]
        told += sum(one.exceeds_noise for one in tests)
    assert told <= 10


@pytest.mark.parametrize(("delta", "excess"), [(0.0, 3.0), (1e-6, 0.0)])
def test_relations_are_tested_by_the_law_of_their_noise(delta, excess):
    facts = ReleaseFacts.of(released(Direct(), DOMAIN, rows_of(400), budget=Budget(3.0, delta)))
    for test in noise_tests(facts):
        (pooled,) = [one for one in facts.counted.pooled(test.pair) if one.columns == test.pair]
        assert pooled.excess == pytest.approx(excess)
        assert test.p_value == independence(pooled.counts, pooled.variance, excess)


def test_pairs_that_were_only_looked_at_are_not_shown_as_counted(monkeypatch):
    facts = ReleaseFacts.of(released(Direct(), DOMAIN, rows_of(400)))
    assert relations(facts).measured.sum() == 12
    everything = frozenset(table.source.charge for table in facts.counted.tables)
    for module in (relations_module, pairs_module):
        monkeypatch.setattr(module, "noisy_looks", lambda document: everything)
    assert relations(facts).measured.sum() == 0
    assert "0 were counted together" in pairs_module.pairs(facts).lead
    assert "the others only all at once, with so much noise" in pairs_module.pairs(facts).lead


def test_the_tables_of_a_receipt_are_read_once_for_all_pairs_and_columns(monkeypatch):
    """A release of 75 columns holds thousands of tables: reading them for each pair took ten minutes."""
    facts = ReleaseFacts.of(released(Direct(), DOMAIN, rows_of(400)))
    read, counted_tables = [], pooled_marginal.counted_tables
    monkeypatch.setattr(pooled_marginal, "counted_tables", lambda answers: read.append(1) or counted_tables(answers))
    assert len(noise_tests(facts)) == 6
    assert all(noisy_shares(facts.counted, name) for name in DOMAIN.attributes)
    assert len(read) == 1


def test_nothing_that_was_counted_alone_is_tested():
    assert noise_tests(ReleaseFacts.of(released(Independent(), DOMAIN, rows_of(300)))) == []


def test_pairs_are_asked_for_so_few_at_a_time_that_nothing_compiled_is_loaded():
    assert relations_module._AT_ONCE < graphical_model._MANY


def wide(columns: int = 34) -> tuple[Domain, list[tuple[int, ...]]]:
    """Each column follows the one before it in most rows."""
    rng = np.random.default_rng(4)
    made = [rng.integers(0, 2, 400)]
    while len(made) < columns:
        made.append(np.where(rng.random(400) < 0.8, made[-1], rng.integers(0, 2, 400)))
    return Domain(tuple(f"c{place}" for place in range(columns)), (2,) * columns), list(
        zip(*(part.tolist() for part in made), strict=True)
    )


@pytest.mark.parametrize("columns", [34, 12])
def test_many_pairs_are_computed_at_once_and_are_those_of_one_after_another(monkeypatch, columns):
    """Many of them, or of a small model."""
    synthesis = released(MST(), *wide(columns))
    asked: list[int] = []
    marginals = type(synthesis.model).marginals

    def counted(model, cliques):
        asked.append(len(cliques))
        return marginals(model, cliques)

    monkeypatch.setattr(type(synthesis.model), "marginals", counted)
    found = relations(ReleaseFacts.of(synthesis))
    assert max(asked) == len(found.pairs) == columns * (columns - 1) // 2
    for pair in [*found.pairs][::9]:
        alone = cramers_v(synthesis.model.marginal([found.names[place] for place in pair]))
        assert found.strength[pair] == pytest.approx(alone, abs=1e-9)


def test_no_more_pairs_are_asked_for_than_have_room():
    pairs = list(itertools.combinations(range(40), 2))
    for room, many in ((relations_module._CELLS_AT_ONCE, 8), (0, relations_module._AT_ONCE)):
        parts = list(relations_module._parts(pairs, [1000] * 40, room))
        assert [pair for part in parts for pair in part] == pairs
        assert {len(part) for part in parts[:-1]} == {many}
