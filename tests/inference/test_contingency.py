"""The test of independence: its level over simulated releases, its power, and what it refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from counterfoil import synthesize
from counterfoil.inference import Evidence, Unanswerable, chi2
from counterfoil.inference.contingency import _shares, _statistic
from counterfoil.receipt.answers import RecordedMarginal
from counterfoil.schema import Categorical, Integer, Schema
from noisy_tables import GAUSSIAN, LAPLACE, evidence_of, noisy_marginal

TRIALS = 1000


def schema_of(rows: int, columns: int) -> Schema:
    names = [tuple(f"{letter}{i}" for i in range(size)) for letter, size in (("x", rows), ("y", columns))]
    return Schema((Categorical("a", names[0]), Categorical("b", names[1]), Integer("k", 0, 3)))


def rejections(cells: np.ndarray, n: int, kind: str, scale: float, public: bool, trials: int) -> int:
    rng = np.random.default_rng([n, cells.size, int(10 * scale)])
    schema, rejected = schema_of(*cells.shape), 0
    for trial in range(trials):
        counts = rng.multinomial(n, cells.ravel()).reshape(cells.shape)
        marginal = noisy_marginal(rng, ("a", "b"), counts, kind, scale, 1)
        release = evidence_of(schema, [marginal], records=n if public else None)
        rejected += chi2(release, "a", "b", seed=trial, simulations=99).p_value <= 0.05
    return rejected


@pytest.mark.parametrize(
    ("n", "shape", "ratio", "kind", "scale", "public"),
    [
        (100, (2, 2), 1.0, GAUSSIAN, 1, True),
        (100, (3, 4), 0.3, GAUSSIAN, 3, True),
        (1000, (8, 10), 0.5, GAUSSIAN, 1, True),
        (1000, (3, 4), 0.5, LAPLACE, 10, False),
        (20_000, (3, 4), 1.0, GAUSSIAN, 100, False),
    ],
)
def test_the_level_holds(n, shape, ratio, kind, scale, public):
    """At most 6% at the level 5%; a false alarm has probability 1e-6."""
    margins = [ratio ** np.arange(size) for size in shape]
    cells = np.outer(*(margin / margin.sum() for margin in margins))
    assert rejections(cells, n, kind, scale, public, TRIALS) <= binom.isf(1e-6, TRIALS, 0.06)


def test_dependence_is_found_through_the_noise():
    """A dependence of 3,000 records with noise of 20; and one that drowns in noise of 3,000."""
    cells = np.array([[0.3, 0.2], [0.2, 0.3]])
    assert rejections(cells, 3000, GAUSSIAN, 20, False, 50) == 50
    assert rejections(cells, 3000, LAPLACE, 20, True, 50) == 50
    assert rejections(cells, 3000, GAUSSIAN, 3000, True, 50) < 20


def test_pearsons_statistic_without_noise():
    table = np.array([[[30.0, 20], [10, 40]]])
    expected = table.sum(axis=2)[0][:, None] * table.sum(axis=1)[0] / 100
    assert _statistic(table, 0.0)[0] == pytest.approx(((table[0] - expected) ** 2 / expected).sum())


def test_what_it_rests_on():
    marginal = RecordedMarginal(("a", "b"), np.array([[300, 200], [100, 400]]), {}, GAUSSIAN, 5.0, 3)
    release = evidence_of(schema_of(2, 2), [marginal], records=1000)
    found = chi2(release, "b", "a")
    assert (found.p_value, found.charges) == (0.001, (3,))
    assert found == chi2(release, "b", "a")
    assert 0 < found.noise_share < 0.3
    assert any("independence is rejected, by 999 simulated tables" in sentence for sentence in found.basis)
    drowned = RecordedMarginal(("a", "b"), marginal.counts, {}, GAUSSIAN, 500.0, 3)
    lost = chi2(evidence_of(schema_of(2, 2), [drowned], records=1000), "a", "b")
    assert lost.noise_share > 0.9
    assert lost.p_value > 0.05


def test_margins_are_the_nearest_point_of_the_simplex():
    np.testing.assert_allclose(_shares(np.array([60.0, 30, -10]), 100), [0.65, 0.35, 0])
    np.testing.assert_allclose(_shares(np.array([60.0, 40, 20]), 100), [0.6 - 0.2 / 3, 0.4 - 0.2 / 3, 0.2 - 0.2 / 3])
    np.testing.assert_allclose(_shares(np.array([-5.0, -5]), 10), [0.5, 0.5])


def test_what_is_refused():
    schema = schema_of(2, 2)
    marginal = RecordedMarginal(("a", "b"), np.zeros((2, 2), dtype=np.int64), {}, GAUSSIAN, 5.0, 1)
    release = evidence_of(schema, [marginal])
    with pytest.raises(Unanswerable, match="relation of a and k was never measured"):
        chi2(release, "k", "a")
    with pytest.raises(Unanswerable, match="can't be distinguished from none"):
        chi2(release, "a", "b")
    with pytest.raises(ValueError, match="needs two columns"):
        chi2(release, "a", "a")
    with pytest.raises(ValueError, match="Did you mean"):
        chi2(release, "aa", "b")
    with pytest.raises(ValueError, match="at least 19"):
        chi2(release, "a", "b", simulations=9)
    merged = RecordedMarginal(("a", "b"), np.array([[50, 50]]), {"a": np.array([0, 0])}, GAUSSIAN, 5.0, 1)
    with pytest.raises(Unanswerable, match="relation of a and b was never measured"):
        chi2(evidence_of(schema, [merged], records=100), "a", "b")


def chosen_rejections(chosen: bool, columns: int = 6, trials: int = 300) -> tuple[int, int]:
    """Of independent columns the pair that looks most dependent is counted: how often it is called dependent.

    Second, how often it would be by its own p-value.
    """
    names = [f"c{i}" for i in range(columns)]
    schema = Schema(tuple(Integer(name, 0, 2) for name in names))
    rng, rejected, alone = np.random.default_rng(columns), 0, 0
    pairs = list(itertools.combinations(range(columns), 2))
    for trial in range(trials):
        rows = rng.integers(0, 3, (400, columns))
        tables = [np.bincount(rows[:, i] * 3 + rows[:, j], minlength=9).reshape(3, 3) for i, j in pairs]
        worst = int(np.argmax([_statistic(table[None].astype(float), 0.0)[0] for table in tables]))
        marginal = noisy_marginal(rng, tuple(names[i] for i in pairs[worst]), tables[worst], GAUSSIAN, 2, 3)
        release = evidence_of(schema, [marginal], records=400, first_look=2 if chosen else 3)
        found = chi2(release, *marginal.clique, seed=trial)
        rejected += found.p_value <= 0.05
        alone += found.parameters["p_value_alone"] <= 0.05
    return rejected, alone


def test_a_pair_that_was_chosen_for_looking_dependent_keeps_the_level() -> None:
    """At most 5% of all releases call a pair dependent; a false alarm has probability 1e-6."""
    rejected, alone = chosen_rejections(chosen=True)
    assert rejected <= binom.isf(1e-6, 300, 0.05)
    assert alone > 2 * binom.isf(1e-6, 300, 0.05), "by its own p-value the chosen pair looks dependent far too often"
    assert chosen_rejections(chosen=False, trials=40)[0] > 10, "counted before the first look, it is not corrected"


def test_a_pair_that_was_counted_again_for_how_it_looked_is_a_chosen_one() -> None:
    tables = [RecordedMarginal(("a", "b"), np.array([[300, 200], [100, 400]]), {}, GAUSSIAN, 5.0, i) for i in (1, 3)]
    chosen = {
        look: chi2(evidence_of(schema_of(2, 2), tables, records=1000, first_look=look), "a", "b") for look in (2, 4)
    }
    assert {look: found.parameters["chosen_among"] for look, found in chosen.items()} == {2: 3, 4: 1}


def test_what_is_said_of_a_chosen_pair() -> None:
    marginal = RecordedMarginal(("a", "b"), np.array([[300, 200], [100, 400]]), {}, GAUSSIAN, 5.0, 3)
    found = chi2(evidence_of(schema_of(2, 2), [marginal], records=1000, first_look=1), "a", "b")
    assert found.parameters["chosen_among"] == 3
    assert found.p_value == pytest.approx(3 * found.parameters["p_value_alone"])
    assert any("which of 3 pairs it counted" in sentence for sentence in found.basis)
    few = chi2(evidence_of(schema_of(2, 2), [marginal], records=1000, first_look=1), "a", "b", simulations=19)
    assert any("give more by `simulations`" in sentence for sentence in few.basis)
    assert not any("give more" in sentence for sentence in found.basis)


def test_a_receipt_says_where_its_first_look_was() -> None:
    people = {"a": ["x", "y"] * 200, "b": ["u", "u", "v", "v"] * 100, "k": [0, 1, 2, 3] * 100}
    schema = Schema((Categorical("a", ("x", "y")), Categorical("b", ("u", "v")), Integer("k", 0, 3)))
    names = ("mst", "aim", "direct")
    made = (synthesize(pa.table(people), schema=schema, epsilon=5.0, method=name) for name in names)
    mst, aim, direct = (Evidence.of(one).answers.first_look for one in made)
    assert direct is None
    assert mst is not None
    assert aim is not None
    assert min(mst, aim) > 1


def test_a_column_of_one_value_is_refused_as_such():
    schema = Schema((Integer("k", 0, 3), Integer("five", 5, 5), Categorical("one", ("a",))))
    for name in ("five", "one"):
        with pytest.raises(ValueError, match=f"Column '{name}' has one value, which depends on nothing"):
            chi2(evidence_of(schema, []), "k", name)
