"""Figure 1: polynomials of degree 4 in place of the logistic loss on [-5, 5].

Expected: Bernstein's and its iterates have the caption's coefficients and errors. The minimax polynomial has not: the
one that the caption prints errs by 0.062, the best possible one by 0.020, so that no iterate outperforms it. The loss
is -log(sigmoid), not log(sigmoid). Chebyshev's, which the paper does not draw, and the polynomials that the certificate
uses are shown beside them. Takes a second.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from counterfoil.pictures.style import INK
from counterfoil.theory.loss import LOGISTIC
from counterfoil.theory.polynomials import PolynomialApproximation, bernstein, chebyshev, minimax, tailored
from reproductions.figure_style import drawn, legend_beside, reference_line

DEGREE, RADIUS = 4, 5.0

CAPTION = {
    "minimax": ((0.71, -0.5, 0.1096, 0.0, -0.0015), 0.061),
    "Bernstein, 1 time": ((1.2377, -0.5, 0.0544, 0.0, -0.0001), 0.545),
    "Bernstein, 4 times": ((0.7934, -0.5, 0.0812, 0.0, -0.0005), 0.100),
    "Bernstein, 9 times": ((0.7504, -0.5, 0.0931, 0.0, -0.0009), 0.057),
}
"""The caption's coefficients a_0 to a_4, and its errors."""


def polynomials() -> dict[str, PolynomialApproximation]:
    """Those of the figure, then two more."""
    return {
        "minimax": minimax(LOGISTIC, DEGREE, RADIUS),
        **{
            f"Bernstein, {times} time{'s' if times > 1 else ''}": bernstein(LOGISTIC, DEGREE, RADIUS, iterations=times)
            for times in (1, 4, 9)
        },
        "Chebyshev series": chebyshev(LOGISTIC, DEGREE, RADIUS),
        "tailored to gaps of 0.02": tailored(LOGISTIC, RADIUS, [0.02] * DEGREE),
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, PolynomialApproximation]:
    """Writes figure_1.csv and .png, prints ours beside the caption's."""
    parser = argparse.ArgumentParser(description="Figure 1 of the paper.")
    parser.add_argument("--quick", action="store_true", help="no different: it takes a second")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    out = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    found = polynomials()
    with (out / "figure_1.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["polynomial", "error", "caption's error", *(f"a_{k}" for k in range(DEGREE + 1))])
        for name, polynomial in found.items():
            printed = CAPTION[name][1] if name in CAPTION else ""
            writer.writerow([name, f"{polynomial.error:.5f}", printed, *(f"{a:.5f}" for a in polynomial.coefficients)])
    _draw(out / "figure_1.png", found)
    for name, polynomial in found.items():
        ours = " ".join(f"{a:8.4f}" for a in polynomial.coefficients)
        print(f"{name:<26} error {polynomial.error:.4f}  {ours}")
        if name in CAPTION:
            printed, error = CAPTION[name]
            print(f"{'  the caption':<26} error {error:.4f}  {' '.join(f'{a:8.4f}' for a in printed)}")
    return found


def _draw(path: Path, found: dict[str, PolynomialApproximation]) -> None:
    margins = np.linspace(-RADIUS, RADIUS, 501)
    title = f"Figure 1. Polynomials of degree {DEGREE} in place of the logistic loss\non margins from -5 to 5"
    with drawn(path, title, columns=2, panel=(4.2, 3.2), sharex=True) as (figure, panels):
        left, right = panels[0]
        left.plot(margins, LOGISTIC(margins), color=INK, linewidth=2, label="the loss, -log(sigmoid)")
        reference_line(right, y=0)
        for name, polynomial in found.items():
            style = {"linestyle": "--", "zorder": 3} if name == "minimax" else {}  # another one lies upon it
            left.plot(margins, polynomial(margins), label=name, **style)
            right.plot(margins, LOGISTIC(margins) - polynomial(margins), label=name, **style)
        left.set(title="the loss and what replaces it", ylabel="loss in nats")
        right.set(title="what is left over", ylabel="loss less polynomial, in nats")
        for axes in (left, right):
            axes.set_xlabel("margin, y times the score")
        legend_beside(figure, panels)


if __name__ == "__main__":
    main()
