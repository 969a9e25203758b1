"""What receipts of evolution say of columns that noise in the votes may have moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.evolution.leftover_noise import affordable, leftover_noise, many_columns, simulated_errors
from counterfoil.measures.cleanup import Projection, Threshold
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.schema import Real, Schema

N_EMPTY = 4000


def clean(shares: np.ndarray) -> np.ndarray | None:
    return Threshold().weights(shares, 0.0, np.empty(0), None)  # type: ignore[arg-type]


def test_errors_are_those_of_the_noise_that_is_left_on_candidates_without_votes() -> None:
    """Cut at 0, noise of deviation s leaves s / sqrt(2 pi) on each of k candidates without votes, in the mean.

    All records are at 0 and these candidates at 1, so that f / (1 + f) of the weight moves there, f = k s / sqrt(2 pi),
    and a column of zeros gets the deviation sqrt(p (1 - p)) of this share p, by which the error is divided.
    The deviation of f in one simulation is .58 s sqrt(k) = .0073 of .32; the tolerance is 4.4 times that, and the root
    mean square of 8 strays a third as far: beyond 12 of its deviations, a false alarm below 1e-30.
    """
    noise = 2e-4
    p = N_EMPTY * noise / np.sqrt(2 * np.pi)
    p /= 1 + p
    weights = np.concatenate([[1 - p], np.full(N_EMPTY, p / N_EMPTY)])  # as released: all p of it are below the noise
    numbers = {"x": np.concatenate([[0.0], np.ones(N_EMPTY)])}
    error = simulated_errors(weights, noise, clean, numbers, np.random.default_rng(1))["x"]
    assert error == pytest.approx(max(p / np.sqrt(p * (1 - p)), 1.0), rel=0.1)


def test_no_noise_moves_nothing_and_only_noise_moves_without_bound() -> None:
    weights, numbers = np.array([0.5, 0.3, 0.2]), {"x": np.array([0.0, 1.0, np.nan]), "one": np.full(3, 7.0)}
    rng = np.random.default_rng(0)
    assert simulated_errors(weights, 0.0, clean, numbers, rng) == pytest.approx({"x": 0.0, "one": 0.0}, abs=1e-12)
    assert simulated_errors(weights, 0.6, clean, numbers, rng) == {"x": np.inf, "one": np.inf}
    assert simulated_errors(weights, 0.1, lambda _: None, numbers, rng)["x"] == np.inf


def test_the_sentences() -> None:
    assert leftover_noise({"x": 0.15, "y": 0.0}) == []
    [one] = leftover_noise({"x": 0.16, "y": 0.0})
    assert "the points of x lie. Its mean, deviation and outer quantiles may be far off" in one
    [both] = leftover_noise({"x": 0.16, "y": np.inf})
    assert "the points of x, y lie. Their means" in both
    assert many_columns(4) == []
    assert "whole rows of 5 columns" in many_columns(5)[0]


def release_of(columns: dict[str, np.ndarray], upper: float, preset: str = "practical") -> list[str]:
    schema = Schema(tuple(Real(name, lower=0.0, upper=upper) for name in columns))
    curator = Curator(pa.table(columns), schema, budget=Budget(1.0, 1e-6), seed=3)
    method = PrivateEvolution.preset(preset, iterations=8)
    return [w for w in method.synthesize(curator).receipt.document["warnings"] if "far off" in w]


@pytest.mark.parametrize("preset", ["practical", "bounded-lipschitz"])
def test_a_receipt_names_a_column_with_a_tail_and_no_column_without(preset: str) -> None:
    """Incomes that came back with a deviation up to twice theirs, and nothing said so."""
    rng = np.random.default_rng(0)
    skewed = np.minimum(np.exp(rng.normal(10.3, 0.8, 2000)), 1e6)
    even = np.clip(rng.normal(0.5, 0.2, 20_000), 0, 1)
    [said] = release_of({"income": skewed}, 1e6, preset)
    assert "the points of income lie" in said
    assert release_of({"even": even}, 1.0, "practical") == []


def test_a_receipt_says_that_no_column_of_many_was_counted() -> None:
    rng = np.random.default_rng(0)
    [said] = release_of({f"x{i}": rng.random(500) for i in range(5)}, 1.0)
    assert "no column was counted" in said


def test_a_costly_step_is_simulated_once_for_four_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two rounds the eight simulations took three quarters of the run."""
    calls = 0
    project = Projection.weights

    def counted(self: Projection, *args: Any) -> np.ndarray | None:
        nonlocal calls
        calls += 1
        return project(self, *args)

    monkeypatch.setattr(Projection, "weights", counted)
    monkeypatch.setattr("counterfoil.evolution.leftover_noise._FEW", 0)
    schema = Schema((Real("x", lower=0.0, upper=1.0),))
    table = pa.table({"x": np.random.default_rng(0).random(300)})
    for rounds, simulated in ((2, 0), (4, 1), (9, 2), (40, 8)):
        calls = 0

        curator = Curator(table, schema, budget=Budget(5.0, 1e-6), seed=3)
        method = PrivateEvolution.preset("bounded-lipschitz", iterations=rounds, population=5)
        said = method.synthesize(curator).receipt.document["warnings"]
        assert calls == rounds + simulated
        assert any("was not simulated: with 2 iterations" in one for one in said) == (rounds == 2)
    monkeypatch.undo()
    assert (affordable(2, 1000), affordable(2, 1001), affordable(12, 10**5)) == (8, 0, 3)
