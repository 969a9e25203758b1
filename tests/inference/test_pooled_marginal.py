"""Pooled tables against generalized least squares with the whole design matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.features.functions import Functions, Share
from counterfoil.features.moments import Moments
from counterfoil.inference.contingency import chi2
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.linear_answer import LinearAnswer, Source
from counterfoil.inference.pooled_marginal import counted_tables, pooled_marginals, total_of
from counterfoil.inference.proportions import proportion
from counterfoil.receipt.answers import RecordedAnswers, RecordedAverages, RecordedMarginal
from counterfoil.schema import Categorical, Integer, Schema
from noisy_tables import GAUSSIAN, LAPLACE, evidence_of

SCHEMA = Schema((Categorical("a", ("x", "y", "z")), Categorical("b", ("p", "q")), Integer("k", 0, 3)))
CLIQUES = [("a",), ("b",), ("k",), ("a", "b"), ("a", "k"), ("b", "k"), ("a", "b", "k")]


def recorded(seed: int, cliques: list[tuple[str, ...]], *, records: int | None = None) -> RecordedAnswers:
    rng = np.random.default_rng(seed)
    marginals = [
        RecordedMarginal(
            clique,
            rng.integers(-30, 300, SCHEMA.domain.shape(clique)),
            {},
            [GAUSSIAN, LAPLACE][int(rng.integers(2))],
            float(rng.uniform(0.5, 20)),
            charge,
        )
        for charge, clique in enumerate(cliques, 1)
    ]
    return RecordedAnswers(SCHEMA, tuple(marginals), (), (), records)


def least_squares(answers: RecordedAnswers, columns: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The estimates [m] of the cells of `columns` and their covariance [m, m], from tables that hold them, summed down
    to them, and the totals of the other tables; where the number of records is public, with that sum."""
    m = SCHEMA.domain.size(columns)
    rows, values, variances = [], [], []
    for one in answers.marginals:
        if set(columns) <= set(one.clique):
            axes = tuple(axis for axis, name in enumerate(one.clique) if name not in columns)
            rows += list(np.eye(m))
            values += list(one.counts.sum(axis=axes).ravel().astype(float))
            variances += [one.deviation**2 * one.counts.size / m] * m
        else:
            rows.append(np.ones(m))
            values.append(float(one.counts.sum()))
            variances.append(one.deviation**2 * one.counts.size)
    design, weights = np.array(rows), 1 / np.array(variances)
    normal, moment = design.T * weights @ design, design.T * weights @ np.array(values)
    if answers.records is None:
        return np.linalg.solve(normal, moment), np.linalg.inv(normal)
    bordered = np.block([[normal, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    inverse = np.linalg.inv(bordered)
    return (inverse @ np.append(moment, answers.records))[:m], inverse[:m, :m]


@given(
    st.integers(0, 2**31),
    st.lists(st.sampled_from(CLIQUES), min_size=0, max_size=5),
    st.sampled_from(CLIQUES),
    st.one_of(st.none(), st.integers(10, 5000)),
)
@settings(max_examples=60, deadline=None)
def test_a_pooled_table_is_the_best_linear_unbiased_estimate(seed, others, columns, records):
    answers = recorded(seed, [columns, *others], records=records)
    (pooled,) = pooled_marginals(answers, columns)
    estimate, covariance = least_squares(answers, columns)
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(2, *pooled.counts.shape))
    assert pooled.of(one).value == pytest.approx(float(one.ravel() @ estimate), rel=1e-7, abs=1e-6)
    exact = float(one.ravel() @ covariance @ other.ravel())
    assert pooled.of(one).covariance(pooled.of(other)) == pytest.approx(exact, rel=1e-7, abs=1e-6)
    law = pooled.of(one).law
    assert law.deviation**2 == pytest.approx(float(one.ravel() @ covariance @ one.ravel()), rel=1e-7, abs=1e-6)


def test_the_number_of_records_is_the_average_of_all_totals():
    answers = recorded(3, CLIQUES)
    precisions = [1 / (one.deviation**2 * one.counts.size) for one in answers.marginals]
    totals = [one.counts.sum() for one in answers.marginals]
    total = total_of(answers)
    assert total.value == pytest.approx(np.average(totals, weights=precisions))
    assert total.covariance(total) == pytest.approx(1 / sum(precisions))
    assert total.charges == tuple(range(1, 8))
    public = total_of(recorded(3, CLIQUES, records=77))
    assert (public.value, public.terms) == (77.0, {})


def test_tables_with_other_groups_are_not_pooled():
    groups = {"a": np.array([0, 1, 1])}
    fine = RecordedMarginal(("a",), np.array([10, 20, 30]), {}, GAUSSIAN, 2.0, 1)
    coarse = RecordedMarginal(("a", "b"), np.array([[4, 4], [26, 26]]), groups, GAUSSIAN, 2.0, 2)
    answers = RecordedAnswers(SCHEMA, (fine, coarse), (), (), 60)
    known = {pooled.charges: pooled for pooled in pooled_marginals(answers, ["a"])}
    assert set(known) == {(1,), (2,)}
    np.testing.assert_array_equal(known[2,].counts, [8, 52])
    assert known[2,].variance == 2 * 2.0**2
    # Columns that are summed away may have groups: b's table is pooled with nothing left of them.
    (only,) = pooled_marginals(answers, ["b"])
    assert (only.charges, only.variance) == ((2,), 2 * 2.0**2)


def test_indicators_among_moments_are_counts():
    codes = {"a": np.array([0, 0, 1, 2, 2, 2]), "b": np.array([0, 1, 1, 0, 0, 1]), "k": np.arange(6) % 4}
    numbers = {"k": codes["k"].astype(float)}
    for order, columns in ((1, [("a",), ("b",)]), (2, [("a",), ("b",), ("a", "b")])):
        family = Moments(SCHEMA, order, True)
        sums = family.sums(6, codes, numbers)
        averages = RecordedAverages(
            family, family.names, family.counted, sums, family.offsets, family.slopes, LAPLACE, 5.0 * family.unit, 1
        )
        answers = RecordedAnswers(SCHEMA, (), (averages,))
        tables = {table.columns: table for table in counted_tables(answers)}
        assert list(tables) == columns
        for clique, table in tables.items():
            exact = np.zeros(SCHEMA.domain.shape(clique))
            np.add.at(exact, tuple(codes[name] for name in clique), 1)
            np.testing.assert_array_equal(table.counts, exact)
            assert (table.source.scale, table.source.cells) == (5.0, exact.size)
        assert total_of(answers).value == pytest.approx(6)


def test_where_nothing_counts_the_records_there_is_no_total():
    family = Functions.of(SCHEMA, [Share.of_records(SCHEMA, "k > 1")], counted=False)
    averages = RecordedAverages(
        family, family.names, family.counted, np.array([9]), family.offsets, family.slopes, GAUSSIAN, 1.0, 1
    )
    with pytest.raises(Unanswerable, match="number of records was never measured"):
        total_of(RecordedAnswers(SCHEMA, (), (averages,)))
    assert pooled_marginals(RecordedAnswers(SCHEMA, (), (averages,)), ["a"]) == []


def test_linear_answers_add_up():
    one, two = Source(1, (0,), GAUSSIAN, 2.0, 6), Source(2, (1,), LAPLACE, 3.0)
    x = LinearAnswer(5.0, {one: np.array([1.0, -1.0])}) + LinearAnswer(1.0, {two: np.array(2.0)})
    y = x * 2 - LinearAnswer(1.0, {one: np.array(1.0)})
    assert (x.value, y.value) == (6.0, 11.0)
    assert x.covariance(x) == pytest.approx(4 * 6 + 18 * 4)
    assert x.covariance(y) == pytest.approx(2 * (4 * 6 + 18 * 4) - 4 * 6 * 0)
    assert y.covariance(y) == pytest.approx(4 * (3 * 1 + 3 * 9) + 18 * 16)
    assert y.law.deviation == pytest.approx(np.sqrt(y.covariance(y)))
    assert y.charges == (1, 2)


def test_what_was_counted_in_groups_is_said_with_how_many_groups_of_how_many_values():
    """The groups are of the counts at hand: of two kinds of counts of one column, each has its own sentence."""
    groups = {"a": np.array([0, 1, 1]), "k": np.array([0, 0, 0, 0])}
    merged = RecordedMarginal(("a", "b", "k"), np.full((2, 2, 1), 100), groups, GAUSSIAN, 3.0, 1)
    whole = RecordedMarginal(("a", "b"), np.full((3, 2), 60), {}, GAUSSIAN, 3.0, 2)
    answers = RecordedAnswers(SCHEMA, (merged, whole), (), (), None)
    end = "; counted in groups: a (3 values or bins in 2 groups), k (4 values or bins in 1 group)"
    (pooled,) = pooled_marginals(answers, ("a", "b", "k"))
    assert pooled.sentence.endswith(f"has standard deviation 3{end}")
    said = [one.sentence for one in pooled_marginals(answers, ("a", "b"))]
    assert sum(sentence.endswith("; counted in groups: a (3 values or bins in 2 groups)") for sentence in said) == 1
    assert sum("groups" in sentence for sentence in said) == 1
    assert "groups" not in pooled_marginals(answers, ("b",))[0].sentence


@pytest.mark.parametrize("merged", [True, False])
def test_a_test_and_a_share_say_which_columns_were_counted_in_groups(merged):
    counts = np.full((2 if merged else 3, 2), 100)
    groups = {"a": np.array([0, 1, 1])} if merged else {}
    release = evidence_of(SCHEMA, [RecordedMarginal(("a", "b"), counts, groups, GAUSSIAN, 3.0, 1)])
    test = chi2(release, "a", "b", simulations=19)
    (share,) = proportion(release, "a == 'x' and b == 'p'")
    for found in (test, share):
        said = [
            sentence for sentence in found.basis if "counted in groups: a (3 values or bins in 2 groups)." in sentence
        ]
        assert len(said) == merged
