"""Figure 4: noise on positive votes with a threshold is better for tight clusters, worse for spread points.

Expected: left, records within 0.02 of the origin, the histogram of section 4.2 ends nearer than Gaussian noise cut at
zero; right, within 0.5, it ends farther. Both noises are composed over all rounds, which the paper does for the
Gaussian alone. Takes about 2 minutes of one core; under a minute with --quick.
"""

from __future__ import annotations

import numpy as np

from reproductions.private_evolution.findings import Curve, Finding, main
from reproductions.private_evolution.simulation import BALL, Setting, disk, errors

RADII = {"clustered (radius 0.02)": 0.02, "spread (radius 0.5)": 0.5}


def experiment(runs: int, quick: bool, n: int | None = None) -> tuple[list[Curve], list[Finding]]:
    """The curves and what they say; `n` records, 2000 by default, 1000 when quick."""
    n = (1000 if quick else 2000) if n is None else n
    curves, ends = [], {}
    for panel, radius in RADII.items():
        for label, laplace in (("PE", False), ("PE with Laplace noise and threshold", True)):
            setting, found = Setting(n, laplace=laplace), []
            for seed in range(runs):
                rng = np.random.default_rng(30_000 + seed)
                found.append(errors(setting, disk(n, radius, rng), BALL.random(setting.size, rng), seed))
            mean, error = np.mean(found, axis=0), np.std(found, axis=0) / runs**0.5
            curves.append(Curve(panel, label, tuple(range(len(mean))), tuple(mean), tuple(error)))
            ends[panel, laplace] = mean[-1]
    findings = []
    for panel, better in zip(RADII, (True, False), strict=True):
        gaussian, laplace = ends[panel, False], ends[panel, True]
        word = "better" if better else "worse"
        figures = f"{laplace:.4f} against {gaussian:.4f}"
        findings.append(Finding(f"{panel}: the threshold is {word}", bool((laplace < gaussian) == better), figures))
    return curves, findings


if __name__ == "__main__":
    main("figure_4", experiment, title="Figure 4. A threshold helps tight clusters and harms spread points")
