"""Private Evolution: presets, budgets, rates, checkpoints, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import linprog

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.evolution.noise_schedule import GaussianRounds
from counterfoil.evolution.survivors import Multiplicities, Resample
from counterfoil.geometry.euclidean import Ball, Box, point_schema
from counterfoil.geometry.table_space import TableSpace
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.measures.cleanup import Projection, Threshold
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.schema import Categorical, Integer, Real, Schema
from counterfoil.synthesis.resampling import independent, systematic
from counterfoil.theory import private_evolution as theory
from counterfoil.transport import bounded_lipschitz, wasserstein
from counterfoil.transport.nearest import assign

BALL = Ball(("x0", "x1"))
PLANE = point_schema((-1, -1), (1, 1))
BUDGET = Budget(1.0, 1e-4)
MEMORY = SourceIdentity("memory", "memory")
FAST = PrivateEvolution.preset("practical", space=BALL, iterations=4, population=20)


def corner(n: int, seed: int = 0) -> np.ndarray:
    """n uniform points of the ball's positive quarter, the data of the paper's simulations."""
    return np.abs(BALL.random(n, np.random.default_rng(seed)))


def curator_of(points, *, budget=BUDGET, seed=1, schema=PLANE, **keywords) -> Curator:
    return Curator(points, schema, budget=budget, seed=seed, **{"relation": "replace_one", **keywords})


@pytest.mark.parametrize("relation", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("preset", PrivateEvolution.presets)
def test_presets_stay_within_the_budget_and_near_the_records(preset, relation):
    points = 0.05 * BALL.random(3000, np.random.default_rng(0)) + 0.5
    method = PrivateEvolution.preset(preset, space=BALL, iterations=6)
    synthesis = method.synthesize(curator_of(points, relation=relation, budget=Budget(4.0, 1e-4)))
    document = synthesis.receipt.document
    assert synthesis.receipt.verify().holds
    assert document["spent"]["epsilon"] == pytest.approx(4.0, rel=2e-3)
    assert len(document["charges"]) == 6 + (relation == "add_or_remove_one")
    assert json.loads(json.dumps(document["method"]["parameters"]))["iterations"] == 6
    assert abs(synthesis.rows - 3000) < 300
    assert synthesis.weights.sum() == pytest.approx(1.0)
    assert len(synthesis.points) == len(synthesis.weights) == synthesis.support.num_rows
    random_distance = wasserstein.distance(points[:500], BALL.random(500, np.random.default_rng(1)))
    assert wasserstein.distance(points[:500], synthesis.points, weights_b=synthesis.weights) < 0.5 * random_distance


def test_defaults_are_those_of_the_theory():
    found = PrivateEvolution(space=BALL).synthesize(curator_of(corner(1000))).receipt.document["method"]["parameters"]
    plan = theory.plan(1.0, 1e-4, n=1000, dimension=2, diameter=2.0)
    assert found["iterations"] == plan.iterations.value == 14
    assert found["population"] == pytest.approx(plan.population.value, abs=1)
    assert found["resolution"] == pytest.approx(plan.resolution.value, rel=0.01)
    assert found["noise_by_round"][0] > found["noise_by_round"][-1], "later rounds get more of the budget"
    assert np.mean(np.array(found["noise_by_round"]) ** -2.0) ** -0.5 == pytest.approx(plan.noise.value, rel=0.01)
    alike = PrivateEvolution(space=BALL, rounds=GaussianRounds(by_theory=False))
    noise = alike.synthesize(curator_of(corner(1000))).receipt.document["method"]["parameters"]["noise_by_round"]
    assert noise == pytest.approx([noise[0]] * 14)


def test_errors_fall_at_the_rate_of_the_theory():
    """(n epsilon)**(-1/2) up to logarithms in the plane: slopes of log W_1 over log n between -0.75 and -0.2."""
    sizes, means = (250, 1000, 4000), []
    for n in sizes:
        points = corner(n)
        method = PrivateEvolution(space=BALL, iterations=6)
        found = [method.synthesize(curator_of(points, seed=seed), rows=1) for seed in range(4)]
        means.append(np.mean([wasserstein.distance(points, s.points, weights_b=s.weights) for s in found]))
    slope = np.polyfit(np.log(sizes), np.log(means), 1)[0]
    assert -0.75 < slope < -0.2, (slope, means)


def test_tables_on_disk_and_in_memory_get_the_same_votes(tmp_path):
    schema = Schema(
        (Real("height", lower=0, upper=2, bins=4), Integer("age", 0, 90), Categorical("color", ("red", "blue")))
    )
    rng = np.random.default_rng(0)
    lines = [f"{rng.uniform(0, 2):.3f},{rng.integers(0, 91)},{rng.choice(['red', 'blue'])}" for _ in range(300)]
    path = tmp_path / "people.csv"
    path.write_text("height,age,color\n" + "\n".join(lines) + "\n")
    tables = []
    for in_memory in (True, False):
        curator = curator_of(str(path), schema=schema, in_memory=in_memory)
        tables.append(PrivateEvolution(iterations=2).synthesize(curator).to_arrow())
    assert tables[0].equals(tables[1])
    assert tables[0].schema.types == [column.arrow_type for column in schema.synthesized]


def test_points_outside_of_the_space_count_at_its_edge():
    far = np.full((400, 2), 50.0)
    synthesis = FAST.synthesize(curator_of(far, budget=Budget(8.0, 1e-4)))
    middle = synthesis.weights @ synthesis.points
    assert np.linalg.norm(middle) > 0.7
    assert np.linalg.norm(synthesis.points, axis=1).max() <= 1 + 1e-9


def test_lookahead_and_given_starts_run_and_are_on_the_receipt():
    method = PrivateEvolution.preset("practical", space=BALL, iterations=2, population=8, lookahead=3)
    synthesis = method.synthesize(curator_of(corner(200)), initial=np.zeros((8, 2)))
    assert synthesis.receipt.document["method"]["parameters"]["lookahead"] == 3


# Stopping and continuing


def stopping_at(iteration: int):
    def progress(message: str, fraction: float) -> None:
        if message.startswith(f"iteration {iteration} "):
            raise KeyboardInterrupt

    return progress


def ledger_of(tmp_path) -> Ledger:
    return Ledger.create(tmp_path / "points.ledger", source=MEMORY, total=BUDGET)


def stopped_and_continued(tmp_path, method, *, seed=1, relation="replace_one"):
    path = tmp_path / "run.npz"
    with ledger_of(tmp_path) as ledger:
        with pytest.raises(KeyboardInterrupt):
            method.synthesize(
                curator_of(corner(300), ledger=ledger, seed=seed, relation=relation),
                checkpoint=path,
                progress=stopping_at(2),
            )
        again = curator_of(corner(300), ledger=ledger, seed=seed + 1000, relation=relation)
        return method.synthesize(again, checkpoint=path), ledger.spent().epsilon


@pytest.mark.parametrize("relation", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("preset", ["practical", "laplace-threshold"])
def test_a_stopped_run_pays_what_an_uninterrupted_one_does(tmp_path, preset, relation):
    method = PrivateEvolution.preset(preset, space=BALL, iterations=4, population=20)
    synthesis, spent = stopped_and_continued(tmp_path, method, relation=relation)
    whole = method.synthesize(curator_of(corner(300), relation=relation))
    mine, theirs = synthesis.receipt.document["charges"], whole.receipt.document["charges"]
    assert len(mine) == len(theirs) == 4 + (relation == "add_or_remove_one")
    for one, other in zip(mine, theirs, strict=True):
        for key in ("noise_multiplier", "epsilon", "delta"):
            assert one["event"].get(key, 0.0) == pytest.approx(other["event"].get(key, 0.0), rel=1e-6)
    assert synthesis.receipt.document["spent"]["epsilon"] <= spent == 1.0
    assert synthesis.receipt.verify().holds


def test_a_stopped_run_is_as_good_as_an_uninterrupted_one(tmp_path):
    """Means over 30 seeds differ by less than five of their standard errors: a false alarm in 1e-6."""
    points, distances = corner(300), {True: [], False: []}
    for seed in range(30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        continued, _ = stopped_and_continued(folder, FAST, seed=seed)
        for synthesis in (continued, FAST.synthesize(curator_of(points, seed=seed + 5000))):
            distance = wasserstein.distance(points, synthesis.points, weights_b=synthesis.weights)
            distances[synthesis is continued].append(distance)
    error = (np.var(distances[True]) / 30 + np.var(distances[False]) / 30) ** 0.5
    assert abs(np.mean(distances[True]) - np.mean(distances[False])) < 5 * error


@pytest.mark.parametrize("stop", [0, 2])
def test_a_lost_answer_leaves_less_for_the_rounds_that_remain(tmp_path, monkeypatch, stop):
    path = tmp_path / "run.npz"
    with ledger_of(tmp_path) as ledger:
        if stop:
            with pytest.raises(KeyboardInterrupt):
                FAST.synthesize(curator_of(corner(300), ledger=ledger), checkpoint=path, progress=stopping_at(stop))
        with monkeypatch.context() as patched:
            patched.setattr(Threshold, "weights", lambda *arguments: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                FAST.synthesize(curator_of(corner(300), ledger=ledger), checkpoint=path)
        synthesis = FAST.synthesize(curator_of(corner(300), ledger=ledger), checkpoint=path)
    noises = [charge["event"]["noise_multiplier"] for charge in synthesis.receipt.document["charges"]]
    assert len(noises) == 5
    assert noises[-1] > (1.1 if stop == 0 else 1.3) * noises[0]
    assert synthesis.receipt.document["spent"]["epsilon"] <= 1.0


def test_checkpoints_of_other_runs_and_other_files_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    with ledger_of(tmp_path) as ledger:
        with pytest.raises(KeyboardInterrupt):
            FAST.synthesize(curator_of(corner(300), ledger=ledger), checkpoint=path, progress=stopping_at(1))
        other = PrivateEvolution.preset("practical", space=BALL, iterations=5, population=20)
        with pytest.raises(ValueError, match="other settings"):
            other.synthesize(curator_of(corner(300), ledger=ledger), checkpoint=path)
        whole = path.read_bytes()
        for damaged in (whole[:100], b"not a checkpoint", b""):
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match="not a checkpoint, or it was cut short"):
                FAST.synthesize(curator_of(corner(300), ledger=ledger), checkpoint=path)


# What is refused, and what is said


def test_bad_input_is_one_sentence():
    for changes in ({"iterations": 0}, {"population": 0}, {"lookahead": -1}):
        with pytest.raises(ValueError, match="must be at least"):
            PrivateEvolution(**changes)
    with pytest.raises(ValueError, match="`preset` must be one of bounded-lipschitz"):
        PrivateEvolution.preset("best")
    with pytest.raises(ValueError, match="`delta` must be positive"):
        FAST.synthesize(curator_of(corner(10), budget=Budget(1.0)))
    with pytest.raises(ValueError, match="`delta` must be positive"):
        PrivateEvolution.preset("laplace-threshold").synthesize(curator_of(corner(10), budget=Budget(1.0)))
    with pytest.raises(ValueError, match="`population` must be at most"):
        PrivateEvolution(space=BALL, population=10**9).synthesize(curator_of(corner(10)))
    with pytest.raises(ValueError, match="x0"):
        curator_of(np.array([[np.nan, 0.0]]))


def test_iterations_that_depend_on_a_private_count_are_asked_for_before_anything_is_charged(tmp_path):
    method = PrivateEvolution.preset("laplace-threshold", space=BALL)
    with ledger_of(tmp_path) as ledger:
        with pytest.raises(ValueError, match="`iterations` must be given"):
            method.synthesize(curator_of(corner(20), relation="add_or_remove_one", ledger=ledger))
        assert (ledger.spent().epsilon, ledger.releases()) == (0.0, [])
    # Where the number of records is public, the theory needs nothing else.
    found = method.synthesize(curator_of(corner(20), budget=Budget(4.0, 1e-4))).receipt.document
    assert found["method"]["parameters"]["iterations"] == theory.iterations(20, 4.0).value


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        (Ball(("x0", "x9")), "only have columns that the schema synthesizes. Found 'x9'. Known: x0, x1"),
        (Ball(("x0",)), "Column 'x1' is no coordinate of the space"),
        (TableSpace(point_schema((-1, -1), (1, 2))), "for the columns of its own schema"),
        (TableSpace(point_schema((-1, -1, -1), (1, 1, 1))), "Found 'x2'. Known: x0, x1"),
    ],
)
@pytest.mark.parametrize("method", [PrivateEvolution, SignedMeasure])
def test_a_space_of_other_columns_is_refused_before_anything_is_charged(tmp_path, method, space, sentence):
    with ledger_of(tmp_path) as ledger:
        with pytest.raises(ValueError, match=sentence):
            method(space=space).synthesize(curator_of(corner(20), ledger=ledger))
        assert ledger.releases() == []


def test_one_record_and_an_epsilon_too_small_for_a_vote_give_a_warning_with_numbers():
    synthesis = PrivateEvolution(space=BALL, iterations=3).synthesize(curator_of(corner(1), budget=Budget(0.01, 1e-6)))
    assert "times the number of records" in synthesis.receipt.document["warnings"][0]
    rare = PrivateEvolution.preset("laplace-threshold", space=BALL, iterations=3, population=5)
    warnings = rare.synthesize(curator_of(corner(20), budget=Budget(0.1, 1e-6))).receipt.document["warnings"]
    assert any("no vote was left" in warning or "hardly depend" in warning for warning in warnings)


# Steps


def test_proposition_5_1_the_histogram_of_nearest_neighbors_minimizes_w1_over_all_weights():
    """Against the linear program over couplings with free second marginal."""
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        points, candidates = rng.standard_normal((12, d)), rng.standard_normal((7, d))
        costs = np.linalg.norm(points[:, None] - candidates[None], axis=2)
        rows = np.kron(np.eye(12), np.ones(7))
        best = linprog(costs.ravel(), A_eq=rows, b_eq=np.full(12, 1 / 12)).fun
        weights = np.bincount(assign(points, candidates), minlength=7) / 12
        assert wasserstein.distance(points, candidates, weights_b=weights) == pytest.approx(best, abs=1e-9)


def test_cleanups_give_probability_measures():
    rng = np.random.default_rng(1)
    candidates = BALL.random(30, rng)
    shares = rng.normal(1 / 30, 0.05, 30)
    projected = Projection().weights(shares, 0.05, candidates, BALL)
    cut = Threshold(1.0).weights(shares, 0.05, candidates, BALL)
    for weights in (projected, cut):
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0)
    assert (cut[shares < 0.05] == 0).all()
    distance = [bounded_lipschitz.distance(candidates, shares, candidates, w, diameter=2.0) for w in (projected, cut)]
    assert distance[0] <= distance[1]
    assert Threshold().weights(-np.abs(shares), 0.05, candidates, BALL) is None
    with pytest.raises(ValueError, match="`deviations`"):
        Threshold(-1.0)


def test_resampling_keeps_to_the_weights():
    rng = np.random.default_rng(2)
    weights = rng.random(20) * (rng.random(20) < 0.5)
    shares = 1000 * weights / weights.sum()
    counts = np.bincount(systematic(weights, 1000, rng), minlength=20)
    assert (np.abs(counts - shares) < 1 + 1e-9).all()
    drawn = np.bincount(independent(weights, 200_000, rng), minlength=20) / 200
    assert (drawn[weights == 0] == 0).all()
    # Each count is binomial with deviation below 0.5 of its scale of 1000 / 200; six of them, 20 counts: below 1e-6.
    assert np.abs(drawn - shares).max() < 6 * (shares.max() / 200) ** 0.5
    assert len(Resample(stratified=True).choose(weights, 7, rng)) == 7
    for wrong in (np.zeros(3), np.array([1.0, -0.1])):
        with pytest.raises(ValueError, match="non-negative"):
            systematic(wrong, 5, rng)


def test_multiplicities_are_rounded_to_copies():
    weights = np.array([0.52, 0.33, 0.14, 0.01])
    chosen = Multiplicities(10).choose(weights, 100, np.random.default_rng(0))
    assert np.bincount(chosen, minlength=4).tolist() == [50, 30, 10, 0]
    with pytest.raises(ValueError, match="`copies`"):
        Multiplicities(0)


def test_weighted_points_can_be_written(tmp_path):
    synthesis = FAST.synthesize(curator_of(corner(100)))
    synthesis.write(tmp_path / "rows.csv")
    synthesis.write_points(tmp_path / "points.csv")
    header, *lines = (tmp_path / "points.csv").read_text().splitlines()
    assert header == "x0,x1,weight"
    assert len(lines) == len(synthesis.weights)
    assert synthesis.to_numpy().shape == (100, 2)


def test_a_box_of_one_dimension_works():
    line = point_schema([0], [1])
    points = np.random.default_rng(0).beta(2, 5, (500, 1))
    synthesis = PrivateEvolution(space=Box.of(line), iterations=4).synthesize(
        curator_of(points, schema=line, budget=Budget(4.0, 1e-4))
    )
    assert wasserstein.distance(points, synthesis.points, weights_b=synthesis.weights) < 0.05
