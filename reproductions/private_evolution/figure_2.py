"""Figure 2: how many steps are best depends on where Random_API starts.

Expected: left, from S_0 = S, no step is best; middle, from the origin alone, many steps are; right, from
S_0 = (1 - 2 beta) S, steps help exactly where the start is far, and all ends are alike. Shown with the histogram cut at
zero, as in the paper, and with the true projection, which the paper did not run.
Takes about 2 minutes of one core; under a minute with --quick.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterfoil.measures.cleanup import Cleanup, Projection, Threshold
from reproductions.private_evolution.findings import Curve, Finding, main
from reproductions.private_evolution.simulation import Setting, errors, quarter

CLEANUPS: dict[str, Cleanup] = {"cut at 0": Threshold(), "projection": Projection()}
BETAS = (0.0, 0.1, 0.25, 0.5)


def experiment(runs: int, quick: bool, n: int | None = None) -> tuple[list[Curve], list[Finding]]:
    """The curves and what they say; `n` records, 400 by default, 250 when quick."""
    n = (250 if quick else 400) if n is None else n
    curves, findings = [], []
    for label, cleanup in CLEANUPS.items():
        setting = Setting(n, cleanup=cleanup)
        kept = _curve(setting, runs, lambda records: records)
        origin = _curve(setting, runs, lambda records, size=setting.size: np.zeros((size, 2)))
        curves += [_line("S_0 = S", label, *kept), _line("S_0 = {(0, 0)}", label, *origin)]
        best = [int(np.argmin(mean)) for mean, _ in (kept, origin)]
        findings.append(Finding(f"{label}: from S itself, T = 0 is best", best[0] == 0, f"best T = {best[0]}"))
        gain = origin[0][0] / origin[0].min()
        findings.append(
            Finding(
                f"{label}: from the origin, steps help", best[1] >= 2 and gain > 2, f"best T = {best[1]}, {gain:.1f}x"
            )
        )
        ends = []
        for beta in BETAS:
            mean, error = _curve(setting, runs, lambda records, beta=beta: (1 - 2 * beta) * records)
            curves.append(_line("S_0 = (1 - 2 beta) S", f"beta {beta}, {label}", mean, error))
            ends.append((mean[0], mean[-1]))
        improved, worst = [bool(last < first) for first, last in ends], max(last for _, last in ends)
        findings.append(
            Finding(f"{label}: steps help far starts, harm near ones", improved[-1] and not improved[0], str(improved))
        )
        spread = worst / min(last for _, last in ends)
        findings.append(Finding(f"{label}: all starts end alike", spread < 1.5, f"largest over smallest {spread:.2f}"))
    return curves, findings


def _curve(setting: Setting, runs: int, start: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    found = []
    for seed in range(runs):
        records = quarter(setting.n, np.random.default_rng(10_000 + seed))
        found.append(errors(setting, records, start(records), seed))
    return np.mean(found, axis=0), np.std(found, axis=0) / runs**0.5


def _line(panel: str, label: str, mean: np.ndarray, error: np.ndarray) -> Curve:
    return Curve(panel, label, tuple(range(len(mean))), tuple(mean), tuple(error))


if __name__ == "__main__":
    main("figure_2", experiment, title="Figure 2. How many steps are best depends on where the population starts")
