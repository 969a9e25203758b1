"""Runs: planned within the budget, charged part by part, and continued without paying twice."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from counterfoil.accounting.budget import Budget  # noqa: E402
from counterfoil.accounting.plan import PrivacyLossPlan  # noqa: E402
from counterfoil.curator.curator import Curator  # noqa: E402
from counterfoil.curator.queries.loss_gradient import LossGradient  # noqa: E402
from counterfoil.curator.training import Training  # noqa: E402
from counterfoil.features.training_features import TrainingFeatures  # noqa: E402
from counterfoil.ledger.errors import LedgerError, ReleaseClosed  # noqa: E402
from counterfoil.ledger.ledger import Ledger  # noqa: E402
from counterfoil.networks.architectures import linear  # noqa: E402
from counterfoil.networks.penalized_gradient import LossTerm  # noqa: E402
from counterfoil.synthesis.progress import quiet  # noqa: E402
from counterfoil.training.checkpoint import TrainingCheckpoint  # noqa: E402
from counterfoil.training.descent import Descent, Optimizer  # noqa: E402
from counterfoil.training.private_run import Schedule, train  # noqa: E402
from training_tables import BUDGET, SCHEMA, curator_of, ledger_at  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

FEATURES = TrainingFeatures(SCHEMA, ("outcome",), ("sex",), ("sex",))
SCHEDULE = Schedule(10, 0.25, parts=4)
ADAM = Optimizer(learning_rate=0.1)


@pytest.fixture
def ledger(tmp_path):
    with ledger_at(tmp_path / "people.ledger") as opened:
        yield opened


def query_for(curator: Curator, schedule: Schedule = SCHEDULE, *, clip: float = 1.0) -> LossGradient:
    sizes = curator.group_sizes(FEATURES)
    network = linear(len(FEATURES.input_names), 1, seed=0)
    loss = LossTerm("logistic", (0, 1), clip, 3.0)
    return LossGradient(network, FEATURES, sizes, schedule.batch_sizes(sizes), loss)


def run(
    ledger: Ledger | None,
    path: Path | None,
    *,
    schedule: Schedule = SCHEDULE,
    optimizer: Optimizer = ADAM,
    clip: float = 1.0,
    model: str = "this one",
    progress=quiet,
    **options,
) -> Descent:
    with curator_of(ledger=ledger, **options) as curator:
        query = query_for(curator, schedule, clip=clip)
        known = {"draws": None, "made_by": {"model": model}, "checkpoint": path, "progress": progress}
        return train(curator, query, schedule, optimizer, **known)


class Stopped(Exception):
    """As if the process were killed."""


def stop_at(monkeypatch, step: int) -> None:
    """The step with this number, from 1, is not answered any more."""
    original, taken = Training.step, [0]

    def counted(self, parameters, draws=None):
        taken[0] += 1
        if taken[0] == step:
            raise Stopped
        return original(self, parameters, draws)

    monkeypatch.setattr(Training, "step", counted)


# The plan


@pytest.mark.parametrize("parts", [1, 3, 4, 10, 99])
@pytest.mark.parametrize("budget", [Budget(0.5, 1e-6), Budget(2.0, 1e-5)])
def test_all_parts_together_cost_the_budget_and_never_more(parts, budget):
    schedule = Schedule(10, 0.25, parts=parts)
    with curator_of(budget=budget) as curator:
        query = query_for(curator, schedule)
        noises = schedule.noises(query, curator)
    assert sum(noise.steps for noise in noises) == 10
    assert len(noises) == min(parts, 10)
    assert all(noise.sampling_probability == query.sampling_probability for noise in noises)
    cost = PrivacyLossPlan().epsilon([noise.event() for noise in noises], budget.delta)
    assert 0.999 * budget.epsilon < cost <= budget.epsilon


def test_a_batch_holds_the_share_of_each_group():
    assert Schedule(1, 0.25).batch_sizes((100, 0, 1, 6)) == (25, 0, 1, 2)
    assert Schedule(1, 1.0).batch_sizes((3, 7)) == (3, 7)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"iterations": 0}, "`iterations`"),
        ({"iterations": 2.0}, "`iterations`"),
        ({"iterations": True}, "`iterations`"),
        ({"parts": 0}, "`parts`"),
        ({"batch_share": 0.0}, "`batch_share`"),
        ({"batch_share": 1.01}, "`batch_share`"),
        ({"batch_share": math.nan}, "`batch_share`"),
        ({"batch_share": "a"}, "`batch_share`"),
    ],
)
def test_schedules_out_of_range_are_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        Schedule(**({"iterations": 5, "batch_share": 0.5} | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": "lbfgs"}, "`optimizer`"),
        ({"learning_rate": 0.0}, "`learning_rate`"),
        ({"learning_rate": math.inf}, "`learning_rate`"),
        ({"learning_rate": None}, "`learning_rate` must be a number"),
        ({"learning_rate": "fast"}, "`learning_rate` must be a number"),
        ({"learning_rate": 1e300}, "`learning_rate` must be a number from 1e-30 to 1e\\+30"),
        ({"gradient_clip": 1e-320}, "`gradient_clip` must be a number from 1e-30 to 1e\\+30"),
        ({"momentum": 1.0}, "`momentum`"),
        ({"averaged": -0.1}, "`averaged`"),
        ({"gradient_clip": 0.0}, "`gradient_clip`"),
    ],
)
def test_optimizers_out_of_range_are_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        Optimizer(**changes)


# Descent


def by_torch(name: str, gradients: list[np.ndarray], **options) -> np.ndarray:
    parameter = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    optimizer = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[name]([parameter], **options)
    for gradient in gradients:
        parameter.grad = torch.from_numpy(gradient.copy())
        optimizer.step()
    return parameter.detach().numpy()


@pytest.mark.parametrize(("name", "momentum"), [("adam", 0.0), ("sgd", 0.0), ("sgd", 0.9)])
def test_steps_are_those_of_torch(name, momentum):
    gradients = list(np.random.default_rng(1).normal(size=(30, 2)))
    descent = Descent.start(Optimizer(name, 0.1, momentum, averaged=0.0), 30, np.zeros(2))
    left = iter(gradients)
    for _ in range(30):
        descent.advance(lambda parameters: (next(left), 0.5))
    options = {"lr": 0.1} | ({"momentum": momentum} if name == "sgd" else {})
    np.testing.assert_allclose(descent.result, by_torch(name, gradients, **options), rtol=1e-10)
    assert descent.losses == [0.5] * 30


def test_the_result_is_the_mean_of_the_last_iterates():
    descent = Descent.start(Optimizer("sgd", 1.0, averaged=0.3), 10, np.zeros(1))
    for _ in range(10):
        descent.advance(lambda parameters: (np.array([-1.0]), 0.0))
    assert descent.result == pytest.approx([(8 + 9 + 10) / 3])


def test_long_gradients_are_shortened():
    descent = Descent.start(Optimizer("sgd", 1.0, gradient_clip=0.5, averaged=0.0), 2, np.zeros(2))
    descent.advance(lambda parameters: (np.array([3.0, 4.0]), 0.0))
    np.testing.assert_allclose(descent.parameters, [-0.3, -0.4])
    descent.advance(lambda parameters: (np.array([0.1, 0.0]), 0.0))
    np.testing.assert_allclose(descent.parameters, [-0.4, -0.4])


# Stopped and continued


def test_a_whole_run_charges_its_plan(ledger, tmp_path):
    shown: list[float] = []
    descent = run(ledger, tmp_path / "state", progress=lambda sentence, done: shown.append(done))
    assert descent.taken == len(descent.losses) == 10
    assert shown == sorted(shown)
    assert shown[-1] == 1.0
    record = ledger.releases()[0]
    assert [charge["event"]["steps"] for charge in record.charges] == [2, 3, 3, 2]
    assert record.status != "open"


@pytest.mark.parametrize(("step", "lost"), [(1, 2), (2, 2), (3, 3), (4, 3), (6, 3), (10, 2)])
def test_a_stopped_run_goes_on_and_loses_one_part_at_most(monkeypatch, ledger, tmp_path, step, lost):
    """Parts have 2, 3, 3 and 2 steps: the one that was stopped is charged, and not asked again."""
    path = tmp_path / "state"
    with monkeypatch.context() as patched:
        stop_at(patched, step)
        with pytest.raises(Stopped):
            run(ledger, path)
    before = len(ledger.releases()[0].charges)
    descent = run(ledger, path)
    assert descent.taken == 10
    assert len(descent.losses) == 10 - lost
    assert len(ledger.releases()) == 1, "no second release was paid for"
    charges = ledger.releases()[0].charges
    assert len(charges) == 4 >= before
    assert sum(charge["event"]["steps"] for charge in charges) == 10
    assert ledger.reserved().epsilon == BUDGET.epsilon


def test_what_was_kept_is_what_was_reached(monkeypatch, ledger, tmp_path):
    path = tmp_path / "state"
    stop_at(monkeypatch, 6)
    with pytest.raises(Stopped):
        run(ledger, path)
    kept = TrainingCheckpoint.load(path)
    assert kept.release == 1
    descent = kept.descent(ADAM, 10)
    assert descent.taken == len(descent.losses) == 5
    # The same steps again, from the same seed, without a stop.
    monkeypatch.undo()
    whole = run(None, None, schedule=SCHEDULE)
    assert descent.losses == whole.losses[:5]


def test_a_run_whose_last_part_was_lost_still_gives_its_model(monkeypatch, ledger, tmp_path):
    path = tmp_path / "state"
    with monkeypatch.context() as patched:
        stop_at(patched, 10)
        with pytest.raises(Stopped):
            run(ledger, path)
    descent = run(ledger, path)
    assert len(descent.losses) == 8
    assert np.isfinite(descent.result).all()
    assert descent.summed == 3  # of the last half, those that were kept


def test_a_run_that_another_one_continues_ends_before_it_takes_its_parts(monkeypatch, ledger, tmp_path):
    """As where the same command is started twice: each would be charged some parts, and none could be finished."""
    path, original, taken = tmp_path / "state", Training.step, [0]

    def overtaken(self, parameters, draws=None):
        taken[0] += 1
        if taken[0] == 4:  # within the second part
            with monkeypatch.context() as patched:
                patched.setattr(Training, "step", original)
                stop_at(patched, 2)
                with pytest.raises(Stopped):
                    run(ledger, path)
        return original(self, parameters, draws)

    with monkeypatch.context() as patched:
        patched.setattr(Training, "step", overtaken)
        with pytest.raises(LedgerError, match="Another process goes on with this release: its ledger has 3 charges"):
            run(ledger, path)
    assert len(ledger.releases()[0].charges) == 3, "the last part is left to whoever goes on"
    assert run(ledger, path).taken == 10


def test_steps_of_a_finished_run_are_not_asked_again(ledger, tmp_path):
    path = tmp_path / "state"
    run(ledger, path)
    with pytest.raises(ReleaseClosed):
        run(ledger, path)
    assert len(ledger.releases()) == 1


def test_a_run_of_which_nothing_was_kept_says_so(monkeypatch, ledger, tmp_path):
    path, schedule = tmp_path / "state", Schedule(3, 0.25, parts=1)
    with monkeypatch.context() as patched:
        stop_at(patched, 2)
        with pytest.raises(Stopped):
            run(ledger, path, schedule=schedule)
    with pytest.raises(ValueError, match="none was kept"):
        run(ledger, path, schedule=schedule)
    assert len(ledger.releases()[0].charges) == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"clip": 0.5}, "other parameters"),
        ({"model": "another"}, "other parameters"),
        ({"optimizer": Optimizer(learning_rate=0.2)}, "other parameters"),
        ({"schedule": Schedule(11, 0.25, parts=4)}, "other parameters"),
        ({"schedule": Schedule(10, 0.5, parts=4)}, "other parameters"),
        ({"schedule": Schedule(10, 0.25, parts=5)}, "other parameters"),
        ({"budget": Budget(1.0, 1e-5)}, "Continue it with the same"),
        ({"seed": None}, "another `private`"),
    ],
)
def test_only_the_same_run_is_continued(monkeypatch, ledger, tmp_path, changes, says):
    path = tmp_path / "state"
    with monkeypatch.context() as patched:
        stop_at(patched, 4)
        with pytest.raises(Stopped):
            run(ledger, path)
    before = ledger.entries()
    with pytest.raises(ValueError, match=says):
        run(ledger, path, **changes)
    assert ledger.entries() == before, "nothing was charged, opened or closed"
    assert run(ledger, path).taken == 10


def test_a_checkpoint_of_another_ledger_is_refused(monkeypatch, ledger, tmp_path):
    path = tmp_path / "state"
    with monkeypatch.context() as patched:
        stop_at(patched, 4)
        with pytest.raises(Stopped):
            run(ledger, path)
    with ledger_at(tmp_path / "other.ledger") as other, pytest.raises(LedgerError):
        run(other, path)
    with pytest.raises(LedgerError):
        run(None, path)


def test_a_path_that_cannot_be_written_is_found_out_before_anything_is_charged(ledger, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        run(ledger, tmp_path / "file" / "state")
    assert not ledger.releases()[0].charges
    assert ledger.reserved().epsilon == 0, "what was reserved is given back"


def test_parameters_that_are_not_finite_cost_nothing(ledger):
    with curator_of(ledger=ledger) as curator:
        query = query_for(curator)
        with torch.no_grad():
            for value in query.network._function.module.parameters():
                value.fill_(math.nan)
        with pytest.raises(ValueError, match="`vector` must be finite"):
            train(curator, query, SCHEDULE, ADAM, draws=None, made_by={}, checkpoint=None, progress=quiet)
    assert not ledger.releases()


def test_without_a_seed_the_noise_is_private_and_no_two_runs_are_the_same():
    one, other = (run(None, None, seed=None) for _ in range(2))
    assert one.losses != other.losses
    again = [run(None, None, seed=5).losses for _ in range(2)]
    assert again[0] == again[1]
