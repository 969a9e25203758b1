"""The private-density paper's figures, its continuous case and the coverage of intervals: what a quick run can show."""

from __future__ import annotations

import csv
import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from reproductions.private_density import (
    continuous,
    coverage,
    coverage_releases,
    coverage_tables,
    figure_1,
    figure_2,
    simulation,
)
from reproductions.private_density.coverage_releases import Task, Verdict, verdicts
from reproductions.private_density.simulation import Setting, run
from scipy.optimize import linprog
from scipy.stats import binomtest, linregress

from counterfoil import Reweighting, synthesize

pytest.importorskip("matplotlib")
HAS_TABLES = all((coverage_tables.DATA / name).is_file() for name in coverage_tables.FILES.values())
needs_tables = pytest.mark.skipif(not HAS_TABLES, reason="the tables are not in the repository")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("p", [2, 3, 5, 8])
def test_sizes_are_the_papers(p):
    """Theorem B.1 and Corollary III.1.1 as printed, with d = 2, epsilon = .2, delta = .5, gamma = .25."""
    cells, f = 2**p, 1 + p + p * (p - 1) // 2
    log = math.log(f / 0.25)
    uniform, histogram = (Setting(p, name).sizes for name in simulation.REFERENCES)
    by_noise = 2 * f * log / (0.2 * 0.5)
    assert uniform.records == math.ceil(by_noise)
    assert uniform.points == math.ceil(16 * cells * f)
    of_counts = 8 * cells**3 + 16 * cells**2 * math.log(4)
    of_noise = 16 * 0.5 * cells**2 * math.log(cells) / (0.25 * math.log(f / 0.5))
    assert histogram.records == pytest.approx(max(by_noise, of_counts, of_noise), abs=1)
    n, c_1, c_2 = histogram.records, 57 / 16, 57 / 8
    first = 1 + c_1 * (math.sqrt(2 * math.log(4) / n) + math.sqrt(cells / n))
    second = 1 + 2 * c_2 * 0.5 * cells * math.log(cells) / (0.25 * n * math.log(f / 0.5))
    assert histogram.points == pytest.approx(2 * math.sqrt(first * second) * f * 16, abs=1)
    assert uniform.rows == histogram.rows == math.ceil(4 * log)
    assert Setting(p, "uniform").noise == pytest.approx(0.5 / log)
    # At the least n the printed noise is the private one, for uniform points alone.
    assert Setting(p, "uniform", calibrated=True).noise == pytest.approx(0.5 / log, rel=0.01)
    assert Setting(p, "histogram", calibrated=True).noise < 0.5 * 0.5 / log


def test_the_constants_of_the_corollary_can_be_given():
    assert Setting(4, "histogram", c_1=0.0, c_2=0.0).sizes.condition == 1
    assert Setting(4, "histogram", c_1=9.0).sizes.points > Setting(4, "histogram").sizes.points


def test_marginals_by_enumeration():
    functions = Setting(4, "uniform").functions
    assert functions.shape == (11, 16)
    expected = sorted(
        tuple(float(all(value >> bit & 1 for bit in pick)) for value in range(16))
        for size in range(3)
        for pick in itertools.combinations(range(4), size)
    )
    assert sorted(map(tuple, functions.tolist())) == expected


@pytest.mark.parametrize("reference", simulation.REFERENCES)
@pytest.mark.parametrize("solver", ["ours", "cbc"])
def test_optimum_by_a_linear_program_with_and_without_merging(reference, solver, monkeypatch):
    if solver == "cbc":
        pytest.importorskip("pulp")
    programs = []
    solved = simulation._solved
    monkeypatch.setattr(
        simulation, "_solved", lambda program, name: (programs.append(program), solved(program, name))[1]
    )
    outcomes = [run(Setting(3, reference, solver, merged), 5) for merged in (False, True)]
    for program in programs:
        table, ones = program.values, np.ones((program.n_functions, 1))
        above = np.block([[table, -ones], [-table, -ones]])
        cost = np.append(np.zeros(program.n_points), 1.0)
        whole = np.append(np.ones(program.n_points), 0.0)[None, :]
        least = linprog(cost, above, np.concatenate([program.targets, -program.targets]), whole, [1.0]).fun
        assert all(least - 1e-9 <= one.optimum <= least * 1.0015 for one in outcomes)
    assert outcomes[0].columns == Setting(3, reference).sizes.points
    assert outcomes[1].columns <= 8
    assert all(0 <= error <= 1 for one in outcomes for error in (one.rows, one.density, one.blind))


def test_equal_points_are_merged_with_their_shares():
    distinct, prior = simulation._support(np.array([3, 0, 3, 3, 1]), True)
    assert distinct.tolist() == [0, 1, 3]
    assert prior.tolist() == [0.2, 0.2, 0.6]


def test_a_histogram_of_nothing_but_noise_below_zero_is_uniform():
    class Below:
        def laplace(self, scale, size):
            assert scale == 2 / simulation.EPSILON
            return np.full(size, -scale)

    setting = Setting(2, "histogram")
    assert simulation._reference(setting, np.zeros(4), Below()).tolist() == [0.25] * 4
    np.testing.assert_allclose(simulation._reference(setting, np.array([0, 30, 20, 10]), Below()), [0, 2 / 3, 1 / 3, 0])


def test_figure_1_quickly(tmp_path, capsys):
    found = figure_1.main(["--quick", "--out", str(tmp_path)])
    solvers = 2 if simulation.has_pulp() else 1
    rows = rows_of(tmp_path / "density_figure_1.csv")
    assert len(rows) == 3 * 2 * 2 * solvers
    assert {int(row["m"]) for row in rows if row["p"] == "4" and row["reference"] == "uniform"} == {16 * 16 * 11}
    assert all(float(row["variables"]) <= 2 ** int(row["p"]) for row in rows if row["merged"] == "True")
    assert (tmp_path / "density_figure_1.png").stat().st_size > 10_000
    by_statement = {finding.statement: finding for finding in found}
    assert by_statement["the histogram needs fewer points"].holds
    assert by_statement["for which it needs more records"].holds
    assert (simulation.NEEDS_PULP in capsys.readouterr().out) == (solvers == 1)


def test_figure_1_judges_ratios_and_optima():
    def timing(p, reference, merged, seconds, solver="ours", optimum=0.1):
        return figure_1.Timing(Setting(p, reference, solver, merged), 9, seconds, 0.0, (optimum,))

    fast = [timing(5, "uniform", False, 8.0), timing(5, "histogram", False, 1.0)]
    like = [timing(5, "uniform", True, 1.0), timing(5, "histogram", True, 1.0)]
    assert [finding.holds for finding in figure_1.findings([*fast, *like])[:2]] == [True, True]
    unlike = [timing(5, "uniform", True, 5.0), timing(5, "histogram", True, 1.0)]
    slow = [timing(5, "uniform", False, 1.0), timing(5, "histogram", False, 2.0)]
    assert [finding.holds for finding in figure_1.findings([*fast, *unlike])[:2]] == [True, False]
    assert not figure_1.findings([*slow, *like])[0].holds
    other = [timing(5, one.setting.reference, False, 1.0, "cbc", 0.11) for one in fast]
    assert not figure_1.findings(
        [*fast, *like, *other, *[timing(5, r, True, 1.0, "cbc") for r in simulation.REFERENCES]]
    )[-1].holds


def test_figure_2_quickly(tmp_path):
    """Seeds are fixed: what holds holds in every run."""
    found = figure_2.main(["--quick", "--out", str(tmp_path)])
    assert [finding.holds for finding in found] == [True] * 4
    solvers = 2 if simulation.has_pulp() else 1
    rows = rows_of(tmp_path / "density_figure_2.csv")
    assert len(rows) == 3 * 2 * (1 + solvers)
    assert (tmp_path / "density_figure_2.png").stat().st_size > 10_000
    density = {(row["p"], row["noise"]): float(row["density"]) for row in rows if row["reference"] == "histogram"}
    assert density["4", "calibrated"] < density["4", "as printed"] / 5


def test_products_of_cosines():
    assert [len(continuous.frequencies(p)) for p in (1, 2, 3)] == [8, 14, 19]
    points = continuous.records(50, 3, np.random.default_rng(1))
    assert points.shape == (50, 3)
    assert 0 < points.min() < points.max() < 1
    columns = dict(zip("xyz", points.T, strict=True))
    own = np.stack([function(columns) for _, function, _, _ in continuous.family(3)])
    np.testing.assert_allclose(own, continuous.cosines(points), atol=1e-12)
    assert all((lower, upper) == (-1, 1) for *_, lower, upper in continuous.family(3))


def test_continuous_quickly(tmp_path, capsys):
    found = continuous.main(["--quick", "--out", str(tmp_path)])
    assert len(found) == len(rows_of(tmp_path / "density_continuous.csv")) == 2 * 4 * 2
    assert (tmp_path / "density_continuous.png").stat().st_size > 10_000
    by_case = {one.case: one for one in found}
    for one in found:
        assert abs(one.rows - one.points) < 0.03
        assert one.points < 2 * one.case.noise  # the mean over seeds of the largest noise
        if one.case.fit == "minimax":
            likely = by_case[replace(one.case, fit="likelihood")]
            assert likely.points < 1.1 * one.points
            assert likely.effective > 0.95 * one.effective
    assert min(found, key=lambda one: one.effective).case == continuous.Case(2, 2000, 1.0, "bernstein", "minimax")
    printed = capsys.readouterr().out
    assert "[holds] errors of the minimax fit are below 2 times the largest noise" in printed
    # A program has many solutions, of which another processor's last digits find others.
    fewest = re.search(r"the fewest of the minimax fit are (\d+) with bernstein at p = 2", printed)
    assert fewest, printed
    assert 130 < int(fewest[1]) < 200


def test_errors_of_a_release_by_hand():
    """The largest error of points and of rows, effective points and W1, from the release itself."""
    case = continuous.Case(1, 500, 1.0, "uniform")
    points, rows, effective, distance, _ = continuous.release(case, 3, support=400)
    real = continuous.records(500, 1, np.random.default_rng([500, 1, 3]))
    made = synthesize(
        pa.table({"x": real[:, 0]}),
        case.schema,
        epsilon=1.0,
        delta=0.0,
        relation="replace_one",
        method=Reweighting("uniform", continuous.family(1), "minimax", support=400),
        seed=3,
    )
    x, w, own = made.points[:, 0], made.weights, made.to_numpy()[:, 0]
    errors = [
        [abs(np.average(np.cos(np.pi * a * at), weights=by) - np.cos(np.pi * a * real).mean()) for a in range(1, 9)]
        for at, by in ((x, w), (own, None))
    ]
    assert [points, rows] == pytest.approx([max(one) for one in errors], abs=1e-12)
    assert effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    grid = np.sort(np.concatenate([x, real[:, 0]]))
    below = (real[:, 0] <= grid[:-1, None]).mean(axis=1) - (w * (x <= grid[:-1, None])).sum(axis=1)
    assert distance == pytest.approx((np.abs(below) * np.diff(grid)).sum(), abs=1e-12)


def test_wilsons_interval():
    for hits, rows, level in ((0, 40, 0.95), (13, 40, 0.8), (40, 40, 0.99)):
        ours = coverage_releases.wilson(hits / rows, rows, level)
        theirs = binomtest(hits, rows).proportion_ci(level, method="wilson")
        np.testing.assert_allclose(ours, (theirs.low, theirs.high), atol=1e-12)


@needs_tables
def test_shares_of_populations():
    people = coverage_tables.population("compas")
    table = {name: people.table.column(name).to_numpy(zero_copy_only=False) for name in people.table.column_names}
    hispanic = (table["race"] == "Hispanic") & (table["two_year_recid"] == 1)
    assert people.share({"race": "race == 'Hispanic'", "two_year_recid": "two_year_recid == 1"}) == hispanic.mean()
    apart = (table["sex"] == "Female").mean() * (table["priors_count"] == 0).mean()
    found = people.share({"sex": "sex == 'Female'", "priors_count": "priors_count == 0"})
    assert found == pytest.approx(apart, abs=1e-12)
    together = ((table["sex"] == "Female") & (table["priors_count"] == 0)).mean()
    assert abs(found - together) > 0.005


@needs_tables
def test_records_of_populations():
    people = coverage_tables.population("adult")
    records = people.records(np.random.default_rng(0))
    assert records.num_rows == people.table.num_rows
    assert records.column_names == people.table.column_names
    others = [name for name in records.column_names if name != people.asked.independent]
    rows = {tuple(row.values()) for row in people.table.select(others).to_pylist()}
    assert {tuple(row.values()) for row in records.select(others).slice(0, 3000).to_pylist()} <= rows
    whole = people.numbers.resampled(np.random.default_rng(0))
    assert set(whole.column_names) == {column.name for column in people.numbers.schema.columns}


@needs_tables
def test_least_squares_of_one_number():
    people = coverage_tables.population("compas").numbers
    asked = coverage_tables.Regression("priors_count", ("age",))
    coefficients, errors, freedom = coverage_releases.least_squares(people.table, people.schema, asked)
    line = linregress(people.table.column("age").to_numpy(), people.table.column("priors_count").to_numpy())
    np.testing.assert_allclose(coefficients, [line.intercept, line.slope], rtol=1e-8)
    np.testing.assert_allclose(errors, [line.intercept_stderr, line.stderr], rtol=1e-8)
    assert freedom == people.table.num_rows - 2


def test_rates_of_verdicts():
    def verdict(hit, width=0.1):
        return Verdict("pairs", "a", "ours", 0.95, hit, width)

    releases = [[verdict(True), verdict(True)], [verdict(False), verdict(None, math.nan)]]
    (rate,) = coverage.rates(("compas", 1.0, "aim"), releases)
    assert (rate.rate, rate.answers, rate.refused, rate.width) == (pytest.approx(2 / 3), 3, 1, pytest.approx(0.1))
    # Residuals 2 - 2 * 2/3 and 0 - 2/3 over 3 answers; independent answers would give sqrt(.6 * .4 / 3) = .283.
    assert rate.error == pytest.approx(math.hypot(2 / 3, 2 / 3) / 3)
    (certain,) = coverage.rates(("compas", 1.0, "aim"), [[verdict(True)]] * 8)
    assert certain.rate == 1
    assert certain.error == pytest.approx(math.sqrt(0.9 * 0.1 / 8))


def test_findings_name_what_is_wrong():
    def rate(quantity, side, level, value):
        return coverage.Rate("compas", 1.0, "aim", quantity, side, level, value, 0.001, 1000, 0, 0.1)

    good = [rate("pairs", "ours", 0.95, 0.951), rate("pairs", "naive", 0.95, 0.4), rate("chi2", "ours", 0.05, 0.049)]
    assert [finding.holds for finding in coverage.findings(good)] == [True, True]
    low, high, loose = (
        rate("pairs", "ours", 0.95, 0.92),
        rate("ols", "ours", 0.95, 0.99),
        rate("chi2", "ours", 0.05, 0.07),
    )
    bars = rate("unmeasured", "ours", 0.95, 0.94)
    found = coverage.findings([low, high, loose, bars])
    assert [finding.holds for finding in found] == [False] * 4
    assert all("not compas aim 1" in finding.figures for finding in found)
    assert coverage.findings([coverage.Rate("adult", 1.0, "mst", "pairs", "ours", 0.95, 0.5, 0.1, 10, 0, 0.1)]) == []


@needs_tables
def test_verdicts_of_a_release_are_repeatable():
    first, second = (verdicts(Task("compas", 1.0, "mst", 3)) for _ in range(2))
    assert [(one.subject, one.side, one.level, one.hit) for one in first] == [
        (one.subject, one.side, one.level, one.hit) for one in second
    ]
    events = len(coverage_tables.ASKED["compas"].columns) + len(coverage_tables.ASKED["compas"].pairs)
    levels, tests = len(coverage_releases.LEVELS), len(coverage_tables.ASKED["compas"].against)
    assert len(first) == 2 * (events * levels + tests)


@needs_tables
def test_coverage_quickly(tmp_path, capsys):
    """Two releases of each method, whose seeds are fixed."""
    found = coverage.main(["--releases", "2", "--datasets", "compas", "--epsilons", "1", "--out", str(tmp_path)])
    assert len(rows_of(tmp_path / "density_coverage.csv")) == len(found)
    assert (tmp_path / "density_coverage.png").stat().st_size > 10_000
    by_key = {(one.method, one.quantity, one.side): one for one in found if one.level == coverage_releases.LEVEL}
    for method in coverage_releases.METHODS:
        ours, naive = (by_key[method, "columns", side] for side in coverage.SIDES)
        assert ours.answers == naive.answers == 20
        assert ours.rate > 0.75
        assert ours.rate > naive.rate
        assert ours.width > naive.width
    assert by_key["moments", "ols", "ours"].rate > 0.8 > by_key["moments", "ols", "naive"].rate
    assert by_key["mst", "unmeasured", "ours"].rate >= 0.8
    assert "columns: ours at nominal 0.95" in capsys.readouterr().out


def test_without_the_tables_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage_tables, "DATA", tmp_path)
    coverage_tables.population.cache_clear()
    with pytest.raises(SystemExit, match=r"needs the table .*compas\.csv"):
        coverage.main(["--quick", "--out", str(tmp_path)])
