"""Sums of numbers beside their counts: what they cost, and what they do for means of long tails."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from counterfoil import AIM, MST, Budget, Curator, PrivacyUnit, Schema
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.domain.domain import Domain
from counterfoil.features.functions import UNIT
from counterfoil.graphical_model.clipped_sum import Clip
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.runs import runs_of
from counterfoil.graphical_model.smoothing import spread
from counterfoil.marginals import one_way, repeated_measurement
from counterfoil.marginals.column_sums import MOST_SHARE, ColumnSum, SumBuyer, part_of, settle
from counterfoil.marginals.unreliable import NumberColumn
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.schema.toml_text import toml_key

SCHEMA = Schema.from_toml("""
ignore = ["who"]
[columns.gain]
kind = "integer"
lower = 0
upper = 20000
missing = true

[columns.age]
kind = "integer"
lower = 0
upper = 99

[columns.group]
kind = "categorical"
values = ["a", "b", "c"]

[columns."flag_*"]
kind = "boolean"
""")
FLAGS = [f"flag_{i}" for i in range(9)]
NOISE = GaussianNoise(4.0)


def people(rows: int = 20_000) -> pd.DataFrame:
    """Gains of which three quarters are 0, with a long tail; some are missing. Twelve columns share the budget."""
    rng = np.random.default_rng(11)
    gain = np.where(rng.random(rows) < 0.25, np.rint(35 * rng.exponential(1, rows) ** 1.4), 0)
    return pd.DataFrame(
        {
            "gain": pd.array(np.where(rng.random(rows) < 0.02, np.nan, gain), dtype="Int64"),
            "age": np.clip(np.rint(rng.normal(45, 15, rows)), 0, 99).astype(int),
            "group": [*"abc"] * (rows // 3) + [*"abc"][: rows % 3],
            "who": [f"{i // 2}" for i in range(rows)],
        }
        | {name: rng.random(rows) < 0.5 for name in FLAGS}
    )


PEOPLE = people()


def measured(seed: int = 1, **options: object) -> tuple[one_way.OneWay, list]:
    with Curator(PEOPLE, SCHEMA, budget=Budget(20.0, 1e-6), seed=seed, **options) as curator:
        found = one_way.measure_one_way(curator, curator.filter(GaussianFilter()), NOISE, entropy_weight=1.0)
        return found, curator.charges()


def test_counts_and_sums_cost_what_one_query_does():
    found, charges = measured()
    assert [charge.query for charge in charges] == ["marginal_counts"] * 2 + ["function_averages"]
    assert list(found.sums) == ["gain"], "the mean age is known from its counts"
    parts = [(NOISE.noise_multiplier / charge.event.noise_multiplier) ** 2 for charge in charges]
    assert sum(parts) == pytest.approx(1.0, rel=1e-9)
    assert sum(parts) <= 1.0, "never more than what the caller planned"
    assert parts[0] == pytest.approx(0.5)
    assert 0 < parts[2] <= MOST_SHARE * (1 + 1e-9)


def test_no_sum_is_asked_for_where_counts_tell_the_means():
    """With little noise; and of a single short column, there is one query alone."""
    with Curator(PEOPLE, SCHEMA, budget=Budget(200.0, 1e-6), seed=1) as curator:
        found = one_way.measure_one_way(curator, curator.filter(GaussianFilter()), GaussianNoise(0.4))
        assert not found.sums
        halves = [charge.event.noise_multiplier for charge in curator.charges()]
    assert halves == [0.4 * (math.sqrt(2) * (1 + 1e-12))] * 2, "to the last digit as without sums"
    short = Schema.from_toml('[columns.group]\nkind = "categorical"\nvalues = ["a", "b", "c"]\n')
    with Curator(PEOPLE[["group"]], short, budget=Budget(20.0, 1e-6), seed=1) as curator:
        found = one_way.measure_one_way(curator, curator.filter(GaussianFilter()), NOISE)
        assert [charge.event.noise_multiplier for charge in curator.charges()] == [NOISE.noise_multiplier]


@pytest.mark.parametrize(
    ("options", "moved"),
    [
        ({}, 1.0),
        ({"relation": "replace_one"}, 1.0),  # from one end of the range to the other
        ({"privacy_unit": PrivacyUnit("who", 2)}, 2.0),
    ],
)
def test_the_sum_is_that_of_the_records_within_its_noise(options: dict, moved: float, monkeypatch: pytest.MonkeyPatch):
    asked = {}
    before = SumBuyer.ask

    def noted(self: SumBuyer, smoothed: dict, share: float) -> dict[str, ColumnSum]:
        asked.update(before(self, smoothed, share))
        return dict(asked)

    monkeypatch.setattr(SumBuyer, "ask", noted)
    found, charges = measured(**options)
    told, charge = asked["gain"], charges[-1]
    assert charge.sensitivity == pytest.approx(moved * UNIT)
    assert told.noise == pytest.approx(charge.noise["scale"] / UNIT * (told.clip.upper - told.clip.lower))
    gain = PEOPLE["gain"].dropna().to_numpy(float)
    if "privacy_unit" in options:  # two rows each, all of which are used
        assert (PEOPLE.groupby("who").size() <= 2).all()
    exact = (np.clip(gain, told.clip.lower, told.clip.upper) - told.clip.lower).sum()
    # Six deviations: a false alarm has probability 2e-9.
    assert abs(told.total - exact) < 6 * told.noise
    both = found.sums["gain"]
    assert both.noise < told.noise, "counts tell something too"
    assert abs(both.total - exact * both.records / len(gain)) < 6 * told.noise


def test_the_mean_of_a_long_tail_is_nearer(monkeypatch: pytest.MonkeyPatch):
    """Of counts alone, and with sums, over the same seeds."""
    real = PEOPLE["gain"].dropna().to_numpy(float).mean()
    column = SCHEMA["gain"]

    def errors() -> np.ndarray:
        off = []
        for seed in range(16):
            found = measured(seed)[0]
            counts = found.refine(found.coarse_estimator().fit([])).marginal(("gain",))
            off.append(counts[: column.n_bins] @ column.drawn_means(counts) / counts[: column.n_bins].sum() / real - 1)
        return np.array(off)

    with_sums = errors()
    monkeypatch.setattr(repeated_measurement, "MOST_SHARE", 0.0)
    without = errors()
    assert np.median(np.abs(with_sums)) < 0.67 * np.median(np.abs(without))
    assert np.sqrt(np.mean(with_sums**2)) < 0.8 * np.sqrt(np.mean(without**2)), "in 40 seeds .72"


def test_a_method_ends_with_the_mean_that_the_sum_tells():
    """Pairs that were measured since do not move it back."""
    for method in (AIM(rounds=2), MST()):
        with Curator(PEOPLE, SCHEMA, budget=Budget(2.0, 1e-6), seed=5) as curator:
            made = method.synthesize(curator)
            told = next(charge for charge in curator.charges() if charge.query == "function_averages")
        answer = next(one for one in made.receipt.document["answers"]["averages"])
        (described,) = answer["functions"]
        assert described["column"] == "gain"
        width = described["upper"] - described["lower"]
        noise = told.noise["scale"] / UNIT * width
        total = float(answer["values"].split()[0]) / UNIT * width
        drawn = made.to_pandas()["gain"].dropna().to_numpy(float)
        found = (np.clip(drawn, described["lower"], described["upper"]) - described["lower"]).sum()
        assert abs(found - total * len(drawn) / (0.98 * len(PEOPLE))) < 1.5 * noise


@pytest.mark.parametrize("name", ["gain\n(net)", "gain\u00a0net", "\u202egain"])
def test_a_column_of_any_name_has_its_sum(name: str):
    """Names as spreadsheets have them, with a line break or a space that breaks no line."""
    text = SCHEMA.resolved(PEOPLE.columns).to_toml()
    schema = Schema.from_toml(text.replace("[columns.gain]", f"[columns.{toml_key(name)}]"))
    with Curator(PEOPLE.rename(columns={"gain": name}), schema, budget=Budget(20.0, 1e-6), seed=1) as curator:
        found = one_way.measure_one_way(curator, curator.filter(GaussianFilter()), NOISE, entropy_weight=1.0)
        asked = [charge for charge in curator.charges() if charge.query == "function_averages"]
    assert list(found.sums) == [name]
    assert len(asked) == 1


def test_what_depends_on_a_moved_column_stays_given_it():
    """By enumeration: the column has the counts that follow the sum, and others the same shares given it."""
    counts = np.array([400.0, 120, 60, 20])
    column = Schema.from_toml('[columns.x]\nkind = "integer"\nlower = 0\nupper = 3\n')["x"]
    rng = np.random.default_rng(3)
    joint = rng.gamma(2, 1, (4, 3))
    joint *= (counts / joint.sum(axis=1))[:, None]
    domain = Domain(("x", "y"), (4, 3))
    model = GraphicalModel(domain, {("x", "y"): np.log(joint)}, float(joint.sum()))
    smoothed = {"x": spread(runs_of(counts, 8.0), np.ones(4))}
    sums = {"x": ColumnSum(column, Clip(0.0, 3.0), 360.0, 5.0, 600.0)}
    moved = settle(model, smoothed, sums).marginal(("x", "y"))
    assert moved.sum() == pytest.approx(joint.sum())
    assert moved / moved.sum(axis=1, keepdims=True) == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    before, after = counts @ np.arange(4), moved.sum(axis=1) @ np.arange(4)
    assert before < after
    assert after == pytest.approx(360.0, abs=10.0)
    assert settle(model, smoothed, {}) is model


def test_parts_of_a_budget_never_exceed_it():
    for share in (0.5, 0.35, 0.15, 0.02, 1 / 3):
        kept = part_of(NOISE, share)
        assert (NOISE.noise_multiplier / kept.noise_multiplier) ** 2 <= share


def test_a_mean_that_a_sum_tells_is_no_unreliable_one():
    centers = np.array([0.0, 10, 100, 1000])
    counts = np.array([5000.0, 300, 100, 60])
    scale = 20.0
    runs = runs_of(counts, scale)
    marginal = NoisyMarginal(("gain",), counts, scale)
    known = spread(runs, np.ones(4), centers)
    alone = NumberColumn(marginal, runs, known, centers)
    told = ColumnSum(SCHEMA["gain"], Clip(0.0, 1000.0), float(counts @ centers), 2000.0, 5460.0)
    summed = NumberColumn(marginal, runs, known, centers, told)
    spread_of = counts @ np.abs(centers - counts @ centers / counts.sum())
    assert alone.mean_error == pytest.approx(20.0 * math.hypot(986.6, 86.6, 3.4, 13.4) / spread_of, rel=0.01)
    assert summed.mean_error == pytest.approx(2000.0 / spread_of)
