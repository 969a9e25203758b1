"""What a training step costs whose records are bounded one by one, beside an ordinary step, in one run.

Run: OMP_NUM_THREADS=1 python -m benchmarks.private_step [--rows 6000] [--repeats 15]

An ordinary step is the forward and backward pass of a scalar loss through the same network, by PyTorch; with the
penalty, of a loss and the sliced distance between the two halves of the batch along 50 directions, by sorting. A whole
private step answers the same with clipped losses, scores and Jacobians, and noise. Ours without the penalty computes
Gram matrices of the Jacobians of all records, clips by them, and pulls the clipped gradient back; once in closed form
(layered), once for the same layers combined by code of a user's (leafwise), once with a parameter besides that belongs
to no layer (mixed; in ordinary steps of the network without it), and once from explicit Jacobians of all parameters by
torch.func (general). A loop runs one backward pass for each record and output. Medians of CPU times on one thread, in
turn, so that a busy machine slows all alike; beside each, how many ordinary steps it takes, without and with the
penalty.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from counterfoil.networks.architectures import mlp
from counterfoil.networks.clipping import bounded_jacobians, clipped_loss_gradients
from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.network import Network
from counterfoil.networks.passes import Pass
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm, penalized_gradient
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.randomness import SystemRandomness
from counterfoil.transport.rank_gradient import sliced_gradient

FEATURES, HIDDEN, OUTPUTS, PROJECTIONS, LOOPED = 16, (64,), 2, 50, 300


class Brought(nn.Module):
    """The same network, as code of a user's."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(FEATURES, *HIDDEN), nn.Linear(*HIDDEN, OUTPUTS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.first(x)))


class Scaled(Brought):
    """The same with a scale of each hidden unit, which no layer in closed form has."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(*HIDDEN))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.first(x)) * self.scale)


class Unknown(nn.Module):
    """The same without a layer that has a closed form."""

    def __init__(self) -> None:
        super().__init__()
        first, last = nn.Linear(FEATURES, *HIDDEN), nn.Linear(*HIDDEN, OUTPUTS)
        self.w, self.b = nn.Parameter(first.weight.detach()), nn.Parameter(first.bias.detach())
        self.v, self.c = nn.Parameter(last.weight.detach()), nn.Parameter(last.bias.detach())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.w.T + self.b) @ self.v.T + self.c


def main(rows: int, repeats: int) -> None:
    """Prints a line for each way: CPU milliseconds a step, and times an ordinary step."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(rows, FEATURES, dtype=torch.float64, generator=generator)
    network = mlp(FEATURES, OUTPUTS, hidden=HIDDEN, seed=2)
    brought = Network.wrap(Brought(), inputs=FEATURES)
    scaled = Network.wrap(Scaled(), inputs=FEATURES)
    unknown = Network.wrap(Unknown(), inputs=FEATURES)
    assert (network.way, brought.way, scaled.way, unknown.way) == ("layered", "leafwise", "mixed", "general")
    steps: dict[str, Callable[[], object]] = {
        "ordinary, float64": ordinary(x, torch.float64),
        "ordinary, float32": ordinary(x, torch.float32),
        "ordinary, float64, with the penalty": penalized(x),
        "a whole private step": private(network, x),
        "a whole private step, leafwise": private(brought, x),
        "a whole private step, mixed": private(scaled, x),
        "a whole private step, general": private(unknown, x),
        "Gram and pull-back, layered": lambda: ours(network.forward(x)),
        "  its forward pass": lambda: network.forward(x),
        "  and clipped loss gradients": lambda: clipped_loss(network.forward(x)),
        "  and spectral clipping": lambda: spectral(network.forward(x), None),
        "  and 50 projections besides": lambda: spectral(network.forward(x), directions(OUTPUTS)),
        "50 projections of outputs alone": lambda: projected(network.outputs(x).numpy(), directions(OUTPUTS)),
        "Gram and pull-back, leafwise": lambda: ours(brought.forward(x)),
        "Gram and pull-back, mixed": lambda: ours(scaled.forward(x)),
        "Gram and pull-back, general": lambda: ours(unknown.forward(x)),
    }
    looped = min(rows, LOOPED)
    times: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        step()
    for _ in range(repeats):
        for name, step in steps.items():
            times[name].append(seconds(step))
    # Each record costs the same.
    times["loop over records"] = [seconds(lambda: loop(network, x[:looped])) * rows / looped]
    units = [statistics.median(times[f"ordinary, float64{with_it}"]) for with_it in ("", ", with the penalty")]
    print(f"{rows} records, {FEATURES} features, hidden {HIDDEN}, {OUTPUTS} outputs; one thread, {repeats} repeats")
    for name, found in times.items():
        median = statistics.median(found)
        plain, with_penalty = (median / unit for unit in units)
        print(f"{name:36s} {1e3 * median:9.2f} ms  {plain:7.2f} ordinary steps, {with_penalty:7.2f} with the penalty")


def ordinary(x: torch.Tensor, dtype: torch.dtype) -> Callable[[], object]:
    """A step of PyTorch's own, without its optimizer."""
    module = nn.Sequential(nn.Linear(FEATURES, *HIDDEN), nn.ReLU(), nn.Linear(*HIDDEN, OUTPUTS)).to(dtype)
    rows = x.to(dtype)

    def step() -> None:
        module.zero_grad()
        module(rows).square().mean().backward()

    return step


def penalized(x: torch.Tensor) -> Callable[[], object]:
    """A step of PyTorch's own on half a loss and half a sliced distance between halves, by sorted projections."""
    module = nn.Sequential(nn.Linear(FEATURES, *HIDDEN), nn.ReLU(), nn.Linear(*HIDDEN, OUTPUTS)).to(torch.float64)
    along = torch.from_numpy(directions(OUTPUTS)).T

    def step() -> None:
        module.zero_grad()
        outputs = module(x)
        sorted_halves = [torch.sort(half @ along, dim=0).values for half in outputs.chunk(2)]
        distance = (sorted_halves[0] - sorted_halves[1]).square().mean()
        (0.5 * outputs.square().mean() + 0.5 * distance).backward()

    return step


def private(network: Network, x: torch.Tensor) -> Callable[[], object]:
    """What `Training.step` does once a batch is drawn: the bounded gradient of loss and penalty, rounded, and noise."""
    rows = x.numpy()
    half, along = len(rows) // 2, directions(OUTPUTS)
    targets = np.zeros((len(rows), OUTPUTS))
    loss = LossTerm("squared", (0, OUTPUTS), 1.0, 4.0)
    penalty = TransportTerm(((0, 1, 1.0),), (0, OUTPUTS), "identity", 0.0, 1.0, 1.0, "spectral")
    noise, randomness = GaussianNoise(6.0), SystemRandomness()

    def step() -> object:
        terms = {"alpha": 0.5, "loss": loss, "transport": penalty, "directions": along}
        found = penalized_gradient(network, rows, targets, (0, half, len(rows)), **terms)
        return noise.add(np.rint(found.gradient * 2.0**30).astype(np.int64), 2.0**25, randomness)

    return step


def ours(passed: Pass) -> object:
    """Gram matrices, and the gradient of the mean of squares as it is."""
    passed.gram()
    return passed.pull_back(2 * passed.outputs / passed.outputs.numel())


def clipped_loss(passed: Pass) -> object:
    """The sum of the gradients of |z_i|^2, each clipped to 1."""
    return passed.pull_back(clipped_loss_gradients(passed.gram(), 2 * passed.outputs, 1.0))


def spectral(passed: Pass, along: np.ndarray | None) -> object:
    """Jacobians clipped to 1; with directions, the gradient of the sliced distance between halves of the batch."""
    bounded = bounded_jacobians(passed.outputs, passed.gram(), bound=1.0)
    of_scores = bounded.scores if along is None else torch.from_numpy(projected(bounded.scores.numpy(), along))
    return passed.pull_back(bounded.pulled(of_scores))


def projected(scores: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The gradient of the sliced distance between the halves of `scores` [n, d], by the scores."""
    half = len(scores) // 2
    found = sliced_gradient(scores[:half], scores[half:], along)
    return np.concatenate([found.of_u, found.of_v])


def directions(d: int) -> np.ndarray:
    """Unit vectors [k, d]."""
    found = np.random.default_rng(3).normal(size=(PROJECTIONS, d))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def loop(network: Network, x: torch.Tensor) -> object:
    """Jacobians one record after another, by ordinary backward passes, and a backward pass of the whole."""
    function = Differentiable(network._function.module, OUTPUTS, vectorized=False)
    return function.gram(x), network.forward_general(x).pull_back(np.ones((len(x), OUTPUTS)))


def seconds(step: Callable[[], object]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--repeats", type=int, default=15)
    main(**vars(parser.parse_args()))
