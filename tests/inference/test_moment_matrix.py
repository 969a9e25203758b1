"""Second moments of columns against products summed row by row, and generalized least squares solved by brute force."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.moment_basis import MomentBasis
from counterfoil.inference.moment_matrix import MomentMatrix
from counterfoil.receipt.answers import RecordedAnswers, RecordedMarginal
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from noisy_moments import bought_marginal, bought_moments, evidence_of, noised, noiseless

SCHEMA = Schema(
    (
        Categorical("sex", ("F", "M")),
        Integer("age", 0, 100, bins=10),
        Categorical("race", ("a", "b", "c")),
        Real("income", -1.0, 1.0, bins=4, missing=True),
        Boolean("rich"),
        Categorical("kind", ("x", "y", "z")),
    )
)
COLUMNS = ("race", "age", "sex", "income", "rich")


def table_of(rng, rows=60):
    income = [
        None if absent else value
        for absent, value in zip(rng.random(rows) < 0.3, rng.uniform(-1, 1, rows), strict=True)
    ]
    return pa.table(
        {
            "sex": np.array(["F", "M"])[rng.integers(0, 2, rows)],
            "age": rng.integers(0, 101, rows),
            "race": np.array(["a", "b", "c"])[rng.integers(0, 3, rows)],
            "income": income,
            "rich": rng.random(rows) < 0.4,
            "kind": np.array(["x", "y", "z"])[rng.integers(0, 3, rows)],
        }
    )


def by_hand(table, columns):
    """The features as the basis names them, computed from the values: float64 [rows, p], and their names."""
    features, names = [np.ones(table.num_rows)], ["1"]
    for name in columns:
        values = table.column(name).to_pylist()
        if name == "age":
            found = {"age": [np.rint((value - 50) / 50 * 4096) / 4096 for value in values]}
        elif name == "income":
            found = {
                "income": [0.0 if value is None else np.rint(value * 4096) / 4096 for value in values],
                "income is missing": [float(value is None) for value in values],
            }
        elif name == "rich":
            found = {"rich": [1.0 if value else -1.0 for value in values]}
        else:
            labels = SCHEMA[name].labels[1:]
            found = {f"{name} = {label}": [float(value == label) for value in values] for label in labels}
        names += found
        features += [np.array(column) for column in found.values()]
    return np.column_stack(features), tuple(names)


def distinct(moments, products):
    """The distinct sums [K] in a matrix of products."""
    place = moments.basis.place
    return np.array([products[tuple(np.argwhere(place == index)[0])] for index in range(moments.basis.size)])


def answers_of(table, *, deviations=(0.0,), counted=False, marginals=(), seed=0, noise="discrete_gaussian"):
    rng = np.random.default_rng(seed)
    bought = [bought_moments(SCHEMA, table, one, rng, counted=counted, noise=noise) for one in deviations]
    return evidence_of(
        SCHEMA, bought, records=None if counted else table.num_rows, marginals=[one(rng) for one in marginals]
    ).answers


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    columns=st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True),
    counted=st.booleans(),
)
def test_without_noise_the_sums_are_those_of_the_products_of_features(seed, columns, counted):
    table = table_of(np.random.default_rng(seed))
    moments = MomentMatrix.of(answers_of(table, counted=counted), columns)
    features, names = by_hand(table, columns)
    assert moments.basis.names == names
    np.testing.assert_allclose(moments.matrix, features.T @ features, atol=1e-6)


def pairs(rng_table, deviation):
    return lambda rng: bought_marginal(SCHEMA, rng_table, ("race", "sex", "age"), deviation, rng, charge=3)


def functions_of(table, counted):
    """Every noisy number that holds something about COLUMNS, computed row by row: float64 [functions]."""
    features, names = by_hand(table, COLUMNS)
    by_name = dict(zip(names, features.T, strict=True))
    by_name["sex = F"] = 1 - by_name["sex = M"]
    by_name["race = a"] = 1 - by_name["race = b"] - by_name["race = c"]
    groups = {
        "race": ["race = a", "race = b", "race = c"],
        "age": ["age"],
        "sex": ["sex = F", "sex = M"],
        "income": ["income", "income is missing"],
        "rich": ["rich"],
    }
    values = [by_name["1"].sum()] if counted else []
    values += [by_name[one].sum() for group in groups.values() for one in group]
    squares = [by_name[name] @ by_name[name] for name in ("age", "income", "rich")]
    names = list(groups)
    products = [
        by_name[one] @ by_name[other]
        for place, first in enumerate(names)
        for second in names[place + 1 :]
        for one in groups[first]
        for other in groups[second]
    ]
    return np.array(values + squares + products), [
        by_name[one] @ by_name[other] for one in groups["sex"] for other in groups["race"]
    ]


@pytest.mark.parametrize("counted", [False, True])
def test_pooling_is_the_best_linear_unbiased_estimate(counted):
    """Against least squares on whitened rows, with the linear map found from many random tables."""
    rng = np.random.default_rng(1)
    target = table_of(rng)
    answers = answers_of(target, deviations=(2.0, 5.0), counted=counted, marginals=[pairs(target, 0.5)], seed=3)
    moments = MomentMatrix.of(answers, COLUMNS)
    inputs, outputs = [], []
    for _ in range(200):
        table = table_of(rng, rows=int(rng.integers(1, 30)))
        features, _ = by_hand(table, COLUMNS)
        once, counts = functions_of(table, counted)
        inputs.append(distinct(moments, features.T @ features))
        outputs.append(np.concatenate([once, once, counts]))
    design = np.linalg.lstsq(np.array(inputs), np.array(outputs), rcond=None)[0].T
    np.testing.assert_allclose(np.array(inputs) @ design.T, np.array(outputs), atol=1e-5)
    # What was bought differs from what the target holds by noise that its own exact values tell.
    exact = answers_of(target, deviations=(0.0, 0.0), counted=counted, marginals=[pairs(target, 1e-9)])
    noise = [
        (noisy.sums - clean.sums) / noisy.family.unit
        for noisy, clean in zip(answers.averages, exact.averages, strict=True)
    ]
    kept = kept_places(answers.averages[0].family, counted)
    cells = (answers.marginals[0].counts - exact.marginals[0].counts).sum(axis=1).ravel()
    features, _ = by_hand(target, COLUMNS)
    once, counts = functions_of(target, counted)
    observed = np.concatenate([once + noise[0][kept], once + noise[1][kept], np.array(counts) + cells])
    once_size = len(once)
    deviations = np.concatenate([np.full(once_size, 2.0), np.full(once_size, 5.0), np.full(6, 0.5 * np.sqrt(10))])
    free = slice(0 if counted else 1, None)
    moved = observed if counted else observed - design[:, 0] * target.num_rows
    whitened = design[:, free] / deviations[:, None]
    expected = np.linalg.lstsq(whitened, moved / deviations, rcond=None)[0]
    np.testing.assert_allclose(moments.sums[free], expected, atol=1e-4)
    np.testing.assert_allclose(moments.covariance[free, free], np.linalg.inv(whitened.T @ whitened), atol=1e-6)
    assert moments.charges == (1, 3)
    assert moments.counted is counted


def kept_places(family, counted):
    """Where the family keeps the functions in the order of `functions_of`."""
    names = [column.name for column in family.features.columns]
    sizes = dict(zip(names, family.features.sizes, strict=True))
    where = {name: names.index(name) for name in names}
    places = [0] if counted else []
    places += [family.place((where[name], i)) for name in COLUMNS for i in range(sizes[name])]
    places += [family.place((where[name], 0), (where[name], 0)) for name in ("age", "income", "rich")]
    for start, first in enumerate(COLUMNS):
        for second in COLUMNS[start + 1 :]:
            for i in range(sizes[first]):
                places += [family.place((where[first], i), (where[second], j)) for j in range(sizes[second])]
    return places


@pytest.mark.parametrize("noise", ["discrete_gaussian", "discrete_laplace"])
def test_the_law_of_the_noise_is_that_of_repeated_answers(noise):
    """Shares more than 5.5 standard errors from .95 fail: false-alarm probability below 1e-7."""
    table, rng = table_of(np.random.default_rng(2)), np.random.default_rng(5)
    exact = noiseless(bought_moments(SCHEMA, table, 0.0, rng), 3.0, noise)

    def moments_with(bought):
        return MomentMatrix.of(evidence_of(SCHEMA, [bought], records=60).answers, ("sex", "income"))

    truth = moments_with(exact)
    weights = rng.normal(size=truth.basis.size)
    quantile = truth.law(weights).quantile(0.95)
    errors = np.array([weights @ (moments_with(noised(exact, rng)).sums - truth.sums) for _ in range(4000)])
    for share, trials in (
        (np.mean(np.abs(errors) <= quantile), 4000),
        (np.mean(np.abs(truth.draws(40_000, rng) @ weights) <= quantile), 40_000),
    ):
        assert abs(share - 0.95) < 5.5 * np.sqrt(0.95 * 0.05 / trials)


def test_draws_of_a_summed_marginal_have_the_variance_of_the_sum():
    table = table_of(np.random.default_rng(2))
    one = RecordedMarginal(("sex", "age"), np.full((2, 10), 7), {}, "discrete_laplace", 3.0, 4)
    moments = MomentMatrix.of(RecordedAnswers(SCHEMA, (one,), (), (), None), ("sex",))
    assert moments.sums.tolist() == pytest.approx([140.0, 70.0])
    np.testing.assert_allclose(moments.covariance, 10 * 18.0 * np.array([[2, 1], [1, 1]]))
    draws = moments.draws(100_000, np.random.default_rng(0))
    # The relative error of a variance from 1e5 draws has a standard deviation below .006.
    np.testing.assert_allclose(np.cov(draws.T), moments.covariance, rtol=0.035)
    assert table.num_rows == 60


def test_pairs_of_categories_are_known_from_marginals_alone():
    table = table_of(np.random.default_rng(4), rows=300)
    rng = np.random.default_rng(0)
    marginals = [bought_marginal(SCHEMA, table, pair, 1e-9, rng) for pair in (("sex", "race"), ("sex", "kind"))]
    answers = evidence_of(SCHEMA, [], records=300, marginals=marginals).answers
    moments = MomentMatrix.of(answers, ("race", "sex"))
    features, _ = by_hand(table, ("race", "sex"))
    np.testing.assert_allclose(moments.matrix, features.T @ features, atol=1e-6)
    with pytest.raises(Unanswerable, match="'race' and 'kind' was never measured"):
        MomentMatrix.of(answers, ("race", "kind"))


def test_of_a_marginal_of_three_columns_a_pair_that_is_not_known_yet_is_used():
    table = table_of(np.random.default_rng(4), rows=300)
    rng = np.random.default_rng(0)
    cliques = (("sex", "race"), ("sex", "race", "kind"), ("sex", "race", "kind"))
    marginals = [bought_marginal(SCHEMA, table, clique, 1e-9, rng) for clique in cliques]
    answers = evidence_of(SCHEMA, [], records=300, marginals=marginals).answers
    moments = MomentMatrix.of(answers, ("race", "sex", "kind"))
    features, _ = by_hand(table, ("race", "sex", "kind"))
    np.testing.assert_allclose(moments.matrix, features.T @ features, atol=1e-6)


def test_codes_counted_in_groups_are_not_used():
    groups = {"race": np.array([0, 1, 1])}
    one = RecordedMarginal(("race",), np.array([30, 30]), groups, "discrete_gaussian", 1.0, 1)
    with pytest.raises(Unanswerable, match="'race'"):
        MomentMatrix.of(RecordedAnswers(SCHEMA, (one,), (), (), 60), ("race",))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            ("age", "rich"),
            "The product of 'age' and 'rich' was never measured: counts in bins do not give it. Buy second moments",
        ),
        (("age",), "The mean and the mean square of 'age' were never measured"),
    ],
)
def test_what_was_never_measured_is_refused(columns, sentence):
    table = table_of(np.random.default_rng(0))
    bought = bought_moments(SCHEMA, table, 1.0, np.random.default_rng(0), order=1)
    with pytest.raises(Unanswerable, match=sentence):
        MomentMatrix.of(RecordedAnswers(SCHEMA, (), (bought,), (), 60), columns)


def test_a_number_of_records_that_nothing_tells_is_refused():
    table = table_of(np.random.default_rng(0))
    bought = bought_moments(SCHEMA, table, 1.0, np.random.default_rng(0))
    with pytest.raises(Unanswerable, match="number of records was never measured"):
        MomentMatrix.of(RecordedAnswers(SCHEMA, (), (bought,), (), None), ("age", "income"))


def test_columns_are_known_and_distinct():
    with pytest.raises(ValueError, match=r"Found 'agee'\. Did you mean 'age'"):
        MomentBasis.of(SCHEMA, ["agee"])
    with pytest.raises(ValueError, match=r"must be distinct\. Found 'age' twice"):
        MomentBasis.of(SCHEMA, ["age", "sex", "age"])


def test_too_many_products_are_refused():
    many = Schema(tuple(Categorical(f"c{i}", tuple(range(30))) for i in range(3)))
    with pytest.raises(ValueError, match=r"at most 2,500 products of features\. Found 2,6"):
        MomentMatrix.of(RecordedAnswers(many, (), (), (), 10), ("c0", "c1", "c2"))
