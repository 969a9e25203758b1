"""What is said of relations that noise weakens or hides, and that it agrees with releases of tables whose are known."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.domain.coarsening import Coarsening
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.weak_relations import (
    UNRELATED,
    Blurred,
    Groups,
    blurred_average,
    blurred_counts,
    groups_of,
    weak_relations,
)
from counterfoil.schema import Categorical, Real, Schema

NAMES = ("a", "b", "c", "d")
NUMBERS = Schema(tuple(Real(name, -3.0, 3.0, bins=16) for name in NAMES))
EVEN = Groups(1.0, np.array([0.5, 0.5]), np.array([0.5, 0.5]))


def related(n: int, correlation: float) -> pa.Table:
    """Two pairs of normal columns."""
    drawn = np.random.default_rng(0).normal(size=(n, 4))
    for one in (0, 2):
        drawn[:, one + 1] = correlation * drawn[:, one] + math.sqrt(1 - correlation**2) * drawn[:, one + 1]
    return pa.table({name: np.clip(drawn[:, i], -3, 3) for i, name in enumerate(NAMES)})


def said(made: cf.Synthesis) -> list[str]:
    return [line for line in made.receipt.document["warnings"] if "orrelations" in line or "distinguished" in line]


def test_the_limit_is_what_noise_alone_hides():
    """At the limit, the statistic's mean is the 95% quantile under independence: for one degree of freedom it is
    exceeded with probability P(|z + sqrt(2.84)| > 1.96) = .39. 5 standard deviations of 2,000 tables."""
    n, scale = 1000.0, 20.0
    (found,) = blurred_counts([NoisyMarginal(("a", "b"), np.zeros((2, 2)), scale)], n, {"a": EVEN, "b": EVEN})
    rng = np.random.default_rng(1)
    signs = np.array([1, -1, -1, 1])
    # Residuals of independence by noise alone have the one direction `signs`.
    drawn = n * found.limit / 4 * signs + rng.normal(0, scale, (2000, 4))
    share = float(np.mean((drawn @ signs) ** 2 / 4 / scale**2 > 3.841))
    assert abs(share - 0.39) < 0.01 + 5 * math.sqrt(0.39 * 0.61 / 2000)


def test_values_counted_together_weaken_by_the_variance_between_them():
    """Halves of a normal column hold 2 / pi of its variance."""
    column = Real("a", -4.0, 4.0, bins=400)
    schema = Schema((column, Categorical("kind", ("x", "y", "z"))))
    normal = np.exp(-(column.centers**2) / 2)
    codes = {"a": (column.centers > 0).astype(int), "kind": np.array([0, 1, 1])}
    found = groups_of(schema, Coarsening(schema.domain, codes), {"a": normal, "kind": np.array([0.5, 0.25, 0.25])})
    assert found["a"].part == pytest.approx(2 / math.pi, abs=1e-3)
    assert found["a"].weights == pytest.approx([0.5, 0.5])
    # The indicators' variances sum to 5 / 8, of which 1 / 4 lies within the group of two.
    assert found["kind"].part == pytest.approx(1 - 0.25 / 0.625)


def test_a_column_of_one_value_has_no_correlation_to_weaken():
    schema = Schema((Categorical("kind", ("x", "y")), Categorical("const", ("only",)), Categorical("sex", ("f", "m"))))
    codes = {"kind": np.arange(2), "const": np.zeros(1, dtype=int), "sex": np.arange(2)}
    shares = {"kind": np.full(2, 0.5), "const": np.ones(1), "sex": np.full(2, 0.5)}
    groups = groups_of(schema, Coarsening(schema.domain, codes), shares)
    measured = [
        NoisyMarginal(("kind", "const"), np.full((2, 1), 50.0), 20.0),
        NoisyMarginal(("kind", "sex"), np.full((2, 2), 25.0), 20.0),
    ]
    assert [one.pair for one in blurred_counts(measured, 100.0, groups)] == [("kind", "sex")]


def test_a_prior_keeps_part_of_a_relation():
    assert blurred_average(("a", "b"), 0.5, 4.0, laplace=False).kept == pytest.approx(0.5)
    assert blurred_average(("a", "b"), 0.5, 8.0, laplace=True).kept == pytest.approx(0.5)
    assert blurred_average(("a", "b"), 0.1, 0.0, laplace=True).kept == 1.0


def test_one_short_sentence_names_at_most_three_pairs():
    assert weak_relations([]) == ()
    assert weak_relations([Blurred(("a", "b"), 0.95, 0.1), Blurred(("b", "c"), 0.9, 0.1)]) == ()
    pairs = [Blurred(("a", other), 0.4, 0.42) for other in "bcdef"]
    assert weak_relations(pairs) == (
        "Correlations weaker than about 0.4 can't be distinguished from noise at this budget, and those that "
        "show are likely weaker in these rows than in the table: a-b, a-c, a-d and 2 more.",
    )
    assert weak_relations(pairs[:1], columns=2)[0].startswith("Correlations weaker"), "no pair was left out"
    assert weak_relations(pairs[:2], columns=4) == (
        "Of the pairs that were counted, correlations weaker than about 0.4 can't be distinguished from noise at this "
        "budget, and those that show are likely weaker in these rows than in the table: a-b, a-c.",
    )
    (weakened,) = weak_relations([Blurred(("a", "b"), 0.4, 0.1)])
    assert weakened == "Correlations are likely weaker in these rows than in the table: a-b."
    (hidden,) = weak_relations([Blurred(("a", "b"), 0.95, math.inf)])
    assert hidden == "Correlations can't be distinguished from noise at this budget: a-b."


def test_a_reference_keeps_relations_of_its_own():
    pairs = [Blurred(("a", "b"), 0.3, 1.7)]
    assert weak_relations(pairs, related=True) == (
        "Noise hides all correlations from what was bought of pairs: these rows have those of their reference, which "
        "may be weaker than the table's: a-b.",
    )
    assert weak_relations([Blurred(("a", "b"), 0.3, 0.1)], related=True) == ()


@pytest.mark.parametrize(("n", "expected"), [(300, True), (20_000, False)])
def test_points_say_where_noise_hides_what_was_bought_of_pairs(n, expected):
    with cf.Curator(related(n, 0.86), NUMBERS, budget=cf.Budget(2.0), seed=0) as curator:
        made = cf.Reweighting(queries="moments:2", support=4000).synthesize(curator, rows=100)
    found = [line for line in made.receipt.document["warnings"] if line.startswith("Noise hides")]
    assert bool(found) is expected


@pytest.mark.parametrize("method", [cf.MST(), cf.Direct(), cf.Reweighting(queries="marginals:2")], ids=str)
def test_columns_of_one_value_have_no_relation_to_name(method):
    schema = Schema((*NUMBERS.columns[:3], Categorical("const", ("x",))))
    table = related(500, 0.8).drop_columns(["d"]).append_column("const", pa.array(["x"] * 500))
    with cf.Curator(table, schema, budget=cf.Budget(0.5, 1e-6), seed=1) as curator:
        sentences = said(method.synthesize(curator, rows=50))
    assert sentences
    assert "const" not in " ".join(sentences)


@pytest.mark.parametrize("method", ["mst", "aim", "marginals:2", "moments:2"])
def test_what_is_said_agrees_with_what_is_kept(method):
    def release(n: int, epsilon: float) -> tuple[float, list[str]]:
        table = related(n, 0.86)
        synthesizer = (
            cf.Reweighting(reference="product", queries=method, support=4000)
            if ":" in method
            else {"mst": cf.MST, "aim": cf.AIM}[method]()
        )
        with cf.Curator(table, NUMBERS, budget=cf.Budget(epsilon, 1e-9), seed=1) as curator:
            made = synthesizer.synthesize(curator, rows=5000)
        rows = made.to_arrow()
        kept = [
            np.corrcoef(rows[one], rows[other])[0, 1] / np.corrcoef(table[one], table[other])[0, 1]
            for one, other in (("a", "b"), ("c", "d"))
        ]
        return float(np.median(kept)), said(made)

    kept, sentences = release(220, 2.0)
    assert kept < 0.7
    assert len(sentences) == 1
    if method == "marginals:2":  # its prior weakens relations at any budget that a test can wait for
        return
    kept, sentences = release(20_000, 6.0)
    assert kept > 0.85
    assert not sentences


@pytest.mark.parametrize(
    "method", [cf.Independent(), cf.Reweighting(queries="moments:1", reference="product")], ids=str
)
def test_a_method_without_relations_says_so(method):
    with cf.Curator(related(500, 0.5), NUMBERS, budget=cf.Budget(1.0, 1e-6), seed=0) as curator:
        assert UNRELATED in method.synthesize(curator, rows=100).receipt.document["warnings"]
