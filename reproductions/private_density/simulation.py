"""The simulation of appendix C-C: uniform records of {0, 1}^p, all marginals of up to two attributes. NOT PRIVATE.

Seeds are fixed. Algorithm 1 step by step: points from a reference density, noise on averages, the smallest largest
error, independent rows. The histogram needs n >= 8 * 2^(3 p) records, 134 million at p = 8: what the algorithm reads of
them are the counts of the 2^p values, and those are drawn from their multinomial law instead.

A marginal is the share of records that have 1 in all of a set of attributes, so that a function has values 0 and 1; the
empty set is one of the F = C(p, <= 2), with noise on its average as on the others.
"""

from __future__ import annotations

import importlib.util
import itertools
import resource
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.reweighting.minimax_fit import fit_minimax
from counterfoil.reweighting.program import WeightProgram
from counterfoil.theory.reweighting import Sizes, n_boolean_marginals
from counterfoil.theory.reweighting_theorems import published_theorem_b_1_sizes, published_theorem_iii_1_sizes

EPSILON, DELTA, GAMMA, ORDER = 0.2, 0.5, 0.25, 2
C_1, C_2 = 57 / 16, 57 / 8
"""Of Corollary III.1.1, which leaves them open, by its own proof."""
REFERENCES = ("uniform", "histogram")
NEEDS_PULP = "CBC is left out: it needs the package pulp. Run: pip install pulp"


@dataclass(frozen=True)
class Setting:
    """One way to run Algorithm 1.

    Args:
        attributes: p.
        reference: what points are drawn from, one of `REFERENCES`.
        solver: "ours", which returns the densest of the optima, or "cbc", the default of PuLP, which returns a vertex.
        merged: whether equal points are one variable of the program, as any presolve makes them.
        calibrated: whether noise has the scale 2 F / (n epsilon) that privacy needs; else the paper's
            delta / log(F / gamma), whatever n is.
        c_1, c_2: the constants of Corollary III.1.1.
    """

    attributes: int
    reference: str
    solver: str = "ours"
    merged: bool = True
    calibrated: bool = False
    c_1: float = C_1
    c_2: float = C_2

    @property
    def cells(self) -> int:
        """N = 2^p."""
        return 2**self.attributes

    @property
    def n_functions(self) -> int:
        """F."""
        return n_boolean_marginals(self.attributes, ORDER)

    @cached_property
    def sizes(self) -> Sizes:
        """n, k and m: the lower bounds of Theorem B.1, or of Corollary III.1.1."""
        wished = {"delta": DELTA, "gamma": GAMMA, "epsilon": EPSILON}
        if self.reference == "uniform":
            return published_theorem_b_1_sizes(self.n_functions, cells=self.cells, **wished)
        each = {"smallest": 1 / self.cells, "largest": 1 / self.cells, "c_1": self.c_1, "c_2": self.c_2}
        return published_theorem_iii_1_sizes(self.n_functions, cells=self.cells, chernoff=1.0, **each, **wished)

    @property
    def noise(self) -> float:
        """The scale of the Laplace noise on every average."""
        if self.calibrated:
            return 2 * self.n_functions / (self.sizes.records * EPSILON)
        return DELTA / float(np.log(self.n_functions / GAMMA))

    @cached_property
    def functions(self) -> np.ndarray:
        """float64 [F, N]: the value of each function at each value of a record."""
        bits = (np.arange(self.cells)[None, :] >> np.arange(self.attributes)[:, None]) & 1
        chosen = [pick for size in range(ORDER + 1) for pick in itertools.combinations(range(self.attributes), size)]
        return np.stack([bits[list(pick)].prod(axis=0) for pick in chosen]).astype(np.float64)


@dataclass(frozen=True)
class Outcome:
    """One run.

    Args:
        columns: how many points are variables of the program.
        seconds: CPU seconds of the points, the program and its solution, PuLP's own work included.
        optimum: the smallest largest distance from the noisy averages.
        rows: the largest error of the k rows against the n records, of 1 at most.
        density: that of the density that they are drawn from.
        blind: that of k rows of the uniform density, which saw no record.
    """

    columns: int
    seconds: float
    optimum: float
    rows: float
    density: float
    blind: float


def run(setting: Setting, seed: int) -> Outcome:
    """Algorithm 1 once."""
    rng = np.random.default_rng([setting.attributes, seed])
    functions, cells, sizes = setting.functions, setting.cells, setting.sizes
    counts = rng.multinomial(sizes.records, np.full(cells, 1 / cells))
    real = functions @ counts / sizes.records
    targets = real + rng.laplace(scale=setting.noise, size=len(real))
    started = cpu()
    points = rng.choice(cells, size=sizes.points, p=_reference(setting, counts, rng))
    distinct, prior = _support(points, setting.merged)
    program = WeightProgram(functions[:, distinct], targets, setting.noise, prior, laplace=True)
    weights, optimum = _solved(program, setting.solver)
    seconds = cpu() - started
    drawn = distinct[rng.choice(len(distinct), size=sizes.rows, p=weights)]
    blind = rng.integers(cells, size=sizes.rows)
    averages = {
        "rows": functions[:, drawn].mean(axis=1),
        "density": functions[:, distinct] @ weights,
        "blind": functions[:, blind].mean(axis=1),
    }
    errors = {name: float(np.abs(of - real).max()) for name, of in averages.items()}
    return Outcome(len(distinct), seconds, optimum, **errors)


def has_pulp() -> bool:
    """Whether PuLP is installed."""
    return importlib.util.find_spec("pulp") is not None


def cpu() -> float:
    """CPU seconds of this process and of those that it started: CBC is one."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _reference(setting: Setting, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The density [N] that points are drawn from: uniform, or Algorithm 2 with noise of scale 2 / epsilon."""
    if setting.reference == "uniform":
        return np.full(setting.cells, 1 / setting.cells)
    noisy = np.maximum(counts + rng.laplace(scale=2 / EPSILON, size=setting.cells), 0.0)
    return noisy / noisy.sum() if noisy.sum() > 0 else np.full(setting.cells, 1 / setting.cells)


def _support(points: np.ndarray, merged: bool) -> tuple[np.ndarray, np.ndarray]:
    """The points that are variables of the program, and the share of the draws that each stands for."""
    if not merged:
        return points, np.full(len(points), 1 / len(points))
    distinct, drawn = np.unique(points, return_counts=True)
    return distinct, drawn / drawn.sum()


def _solved(program: WeightProgram, solver: str) -> tuple[np.ndarray, float]:
    """Weights [m], and their largest distance from the noisy averages."""
    weights = fit_minimax(program).weights if solver == "ours" else _by_cbc(program)
    return weights, float(np.abs(program.averages(weights) - program.targets).max())


def _by_cbc(program: WeightProgram) -> np.ndarray:
    """The weights [m] by PuLP and its default solver, the simplex method of CBC, on one thread."""
    import pulp

    table = np.asarray(program.values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PuLP 3 announces what 4 renames
        problem = pulp.LpProblem("minimax", pulp.LpMinimize)
        weights = [pulp.LpVariable(f"w{i}", 0) for i in range(program.n_points)]
        error = pulp.LpVariable("t", 0)
        problem += error
        for values, target in zip(table, program.targets.tolist(), strict=True):
            used = np.flatnonzero(values)
            average = pulp.LpAffineExpression([(weights[i], float(values[i])) for i in used])
            problem += average - error <= target
            problem += average + error >= target
        problem += pulp.lpSum(weights) == 1
        problem.solve(pulp.PULP_CBC_CMD(msg=False, threads=1))
    found = np.maximum([weight.value() or 0.0 for weight in weights], 0.0)
    return found / found.sum()
