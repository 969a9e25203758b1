"""Figure 13: a network that moves a normal sample onto a circle, private in both samples.

n = 100000 points of a circle of radius 3/4 and as many of the standard normal law of the plane; a network with hidden
layers of 128, 64 and 64 units, batches of 10000, rate 0.0075, 50 directions drawn anew for each step, M = 1,
L = 2 sqrt 2 with each row of a Jacobian clipped to 2, noisy gradients clipped again, as in appendix C. The gradient is
that of SW_2^2 between the moved points and the circle's. A record of the normal sample changes it by 8 M L / b at most
(the paper: 12 M L / b), one of the circle by 4 M L / b (in both): `counterfoil.transport.gradient_sensitivity` with one
Jacobian zero. So one run has two budgets, one for each sample.

The paper names neither the optimizer, nor how many steps were taken, how much noise was added and where gradients are
clipped again: Adam here (300 steps of plain descent at this rate end half-way), 200 steps, noise for epsilon 10 or 1 of
the normal sample, and a norm of 1.

Expected, with either noise: the squared sliced distance falls to a tenth or less of its first value, and the mean
radius of moved points comes within 0.1 of 3/4; the circle's epsilon is smaller than the normal sample's.

Takes 2 minutes of one core, half with --jobs 2; half a minute with --quick.
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch

from counterfoil.accounting.calibration import subsampled_noise_multiplier
from counterfoil.accounting.event import SubsampledGaussianEvent
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.networks.architectures import mlp
from counterfoil.networks.clipping import bounded_jacobians
from counterfoil.networks.network import Network
from counterfoil.training.descent import Descent, Optimizer
from counterfoil.transport.rank_gradient import random_directions, sliced_gradient
from reproductions.figure_style import drawn, legend_below
from reproductions.private_evolution.findings import Finding
from reproductions.wasserstein_gradients.findings import GROUP_COLORS, how_long, said
from reproductions.wasserstein_gradients.noisy_descent import NONE, OURS, PAPERS, SENSITIVITIES

RECORDS, BATCH, STEPS = 100_000, 10_000, 200
RADIUS, HIDDEN = 0.75, (128, 64, 64)
BOUND, JACOBIAN_NORM = 1.0, 2 * 2**0.5
LEARNING_RATE, PROJECTIONS, GRADIENT_CLIP = 0.0075, 50, 1.0
FALL, RADIUS_GAP = 0.1, 0.1
SHOWN, SNAPSHOTS = 1500, 4


@dataclass(frozen=True)
class Setting:
    """One run.

    Args:
        epsilon: of the normal sample; infinity without noise.
        noise: one of `SENSITIVITIES`, or "no noise".
        n, batch, steps: records of each sample, those of them in a batch, and steps.
    """

    epsilon: float
    noise: str
    n: int = RECORDS
    batch: int = BATCH
    steps: int = STEPS

    @property
    def name(self) -> str:
        return NONE if self.noise == NONE else f"epsilon {self.epsilon:g}, {self.noise}"

    @property
    def delta(self) -> float:
        return 0.1 / self.n

    @property
    def multiplier(self) -> float:
        """The deviation of the noise over what a record of the normal sample changes."""
        if self.noise == NONE:
            return 0.0
        return subsampled_noise_multiplier(self.epsilon, self.delta, self.batch / self.n, self.steps)

    def changes(self) -> tuple[float, float]:
        """The most that a record of the normal sample, and one of the circle, changes a gradient."""
        of = SENSITIVITIES[OURS if self.noise == NONE else self.noise]
        return of(BOUND, JACOBIAN_NORM, 0.0, self.batch), of(BOUND, 0.0, JACOBIAN_NORM, self.batch)

    def epsilons(self, taken: int) -> tuple[float, float]:
        """Of both samples after so many steps."""
        if self.noise == NONE or not taken:
            return (math.inf, math.inf) if taken else (0.0, 0.0)
        moved, fixed = self.changes()
        multipliers = self.multiplier, self.multiplier * moved / fixed
        events = (SubsampledGaussianEvent(m, self.batch / self.n, taken) for m in multipliers)
        first, second = (PrivacyLossPlan().epsilon([event], self.delta) for event in events)
        return first, second


@dataclass(frozen=True, eq=False)
class Snapshot:
    """After some steps: the squared distance, and moved points [SHOWN, 2]."""

    taken: int
    distance: float
    points: np.ndarray
    radius: float


@dataclass(frozen=True, eq=False)
class Generated:
    """A run and what it came to."""

    setting: Setting
    snapshots: tuple[Snapshot, ...]


@cache
def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The normal sample [n, 2] and the circle's [n, 2]."""
    rng = np.random.default_rng(3)
    angle = 2 * np.pi * rng.random(n)
    return rng.standard_normal((n, 2)), RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def step_gradient(network: Network, normal: np.ndarray, circle: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The gradient of SW_2^2 with points in the ball of radius M and Jacobians clipped row by row."""
    passed = network.forward(normal)
    norms: dict[str, str | float] = {"bound": JACOBIAN_NORM, "clipping": "components"}
    bounded = bounded_jacobians(passed.outputs, passed.gram(), **norms)  # type: ignore[arg-type]
    found = sliced_gradient(_in_ball(bounded.scores.numpy()), _in_ball(circle), directions)
    return passed.pull_back(bounded.pulled(torch.as_tensor(found.of_u)))


def _in_ball(points: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points * np.minimum(1.0, BOUND / np.maximum(lengths * (1 + 1e-12), 1e-300))


def generated(setting: Setting) -> Generated:
    """Runs one descent."""
    torch.set_num_threads(1)
    rng, (normal, circle) = np.random.default_rng(4), samples(setting.n)
    network = mlp(2, 2, hidden=HIDDEN, seed=0)
    deviation = setting.multiplier * setting.changes()[0]
    optimizer = Optimizer("adam", LEARNING_RATE, gradient_clip=GRADIENT_CLIP, averaged=0.0)
    descent = Descent.start(optimizer, setting.steps, network.parameters_vector())

    def step(parameters: np.ndarray) -> tuple[np.ndarray, float]:
        network.load_vector(parameters)
        rows, others = (rng.choice(setting.n, setting.batch, replace=False) for _ in range(2))
        gradient = step_gradient(network, normal[rows], circle[others], random_directions(rng, PROJECTIONS, 2))
        return gradient + deviation * rng.standard_normal(len(parameters)), math.nan

    taken_at = {round(share * setting.steps) for share in np.linspace(0, 1, SNAPSHOTS)}
    snapshots = []
    for taken in range(setting.steps + 1):
        if taken in taken_at:
            network.load_vector(descent.parameters)
            snapshots.append(_snapshot(taken, network.outputs(normal).numpy(), circle))
        if taken < setting.steps:
            descent.advance(step)
    return Generated(setting, tuple(snapshots))


def _snapshot(taken: int, moved: np.ndarray, circle: np.ndarray) -> Snapshot:
    directions = random_directions(np.random.default_rng(0), PROJECTIONS, 2)
    distance = sliced_gradient(moved, circle, directions).value
    return Snapshot(taken, distance, moved[:SHOWN], float(np.linalg.norm(moved, axis=1).mean()))


def settings(epsilons: Sequence[float], **size: int) -> list[Setting]:
    """With no noise, and at each epsilon with both kinds."""
    finite = [epsilon for epsilon in epsilons if epsilon < math.inf]
    private = [Setting(epsilon, noise, **size) for epsilon in finite for noise in (PAPERS, OURS)]
    return [Setting(math.inf, NONE, **size), *private]


def generation_findings(found: Sequence[Generated]) -> list[Finding]:
    """What the figure shows, in numbers that were chosen before any run."""
    concluded = []
    for one in found:
        first, last, setting = one.snapshots[0], one.snapshots[-1], one.setting
        name = setting.name
        ratio = last.distance / first.distance
        concluded += [
            Finding(
                f"{name}: SW_2^2 falls to a tenth or less",
                ratio <= FALL,
                f"{first.distance:.4f} to {last.distance:.4f}",
            ),
            Finding(
                f"{name}: the mean radius comes within {RADIUS_GAP:g} of {RADIUS:g}",
                abs(last.radius - RADIUS) <= RADIUS_GAP,
                f"{last.radius:.3f}",
            ),
        ]
    return concluded


def main(arguments: Sequence[str] | None = None, *, quick_size: dict[str, int] | None = None) -> list[Finding]:
    """Writes table and picture, and prints what they say."""
    told = "Figure 13 of the paper. NOT PRIVATE: made-up data and fixed seeds."
    parser = argparse.ArgumentParser(description=told, epilog=how_long(__doc__))
    parser.add_argument("--quick", action="store_true", help="80 steps, epsilon 10")
    parser.add_argument("--epsilons", nargs="+", type=float, default=None, help="of the normal sample")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    size = (quick_size or {"steps": 80}) if chosen.quick else {}
    wanted = settings(chosen.epsilons or ([10.0] if chosen.quick else [10.0, 1.0]), **size)
    chosen.out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(chosen.jobs, multiprocessing.get_context("spawn")) as pool:
        each: Callable = pool.map if chosen.jobs > 1 else map
        found = list(each(generated, wanted))
    _write_csv(chosen.out / "wasserstein_generation.csv", found)
    _draw(chosen.out / "wasserstein_generation_figure_13.png", found)
    return said(generation_findings(found))


def _write_csv(path: Path, found: Sequence[Generated]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["epsilon", "noise", "step", "squared_distance", "radius", "epsilon_normal", "epsilon_circle"])
        for one in found:
            for at in one.snapshots:
                figures = (f"{value:.5g}" for value in (at.distance, at.radius, *one.setting.epsilons(at.taken)))
                writer.writerow([one.setting.epsilon, one.setting.noise, at.taken, *figures])


def _draw(path: Path, found: Sequence[Generated]) -> None:
    """A row for each run, a panel for each snapshot."""
    title = (
        "Figure 13. A normal sample is moved onto a circle\n"
        f"delta {found[0].setting.delta:.2g}; SW2^2 is the squared sliced distance that is left"
    )
    size = {"rows": len(found), "columns": SNAPSHOTS, "panel": (2.8, 3.1)}
    with drawn(path, title, **size, sharex=True, sharey=True) as (figure, panels):
        for line, one in zip(panels, found, strict=True):
            _, circle = samples(one.setting.n)
            for axes, at in zip(line, one.snapshots, strict=True):
                shown = ((at.points, "moved points of X", 0.5), (circle[:SHOWN], "Z", 0.25))
                for (points, name, alpha), color in zip(shown, GROUP_COLORS, strict=True):
                    axes.scatter(*points.T, s=3, alpha=alpha, color=color, linewidths=0, label=name)
                of_x, of_z = one.setting.epsilons(at.taken)
                text = f"step {at.taken}, SW2^2 {at.distance:.4f}\nepsilon of X {of_x:.2f}, of Z {of_z:.2f}"
                axes.set_title(text, fontsize=8)
                axes.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
            line[0].set_ylabel(f"{one.setting.name}\nsecond coordinate")
        for axes in panels[-1]:
            axes.set_xlabel("first coordinate")
        legend_below(figure, panels, columns=2)


if __name__ == "__main__":
    main()
