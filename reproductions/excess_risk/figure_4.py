"""Figure 4, AIM's column: accuracy at epsilon 1 for all tables, beside that of real rows.

Expected: within a hundredth of the real rows' but for Heart, where it is within four. The columns of DP-SGD and PATE
are left out: private learning is not part of this package yet. Takes about 2 minutes of one core; seconds with --quick.
"""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.excess_risk.table_2 import REAL, Cell, cells, parsed, runs_of, table_text, write_csv

EPSILON = 1.0


def main(arguments: Sequence[str] | None = None) -> list[Cell]:
    """Writes figure_4_RELATION.csv and .png, prints ours beside the paper's."""
    chosen = parsed(arguments, "Figure 4 of the paper, without DP-SGD and PATE.")
    runs = runs_of(chosen)
    found = [
        cell
        for data in chosen.datasets
        for epsilon in (EPSILON, REAL)
        for cell in cells(data, epsilon, runs)
        if cell.metric == "accuracy"
    ]
    path = chosen.out / f"figure_4_{runs.suffix}"
    write_csv(path.with_suffix(".csv"), found, chosen.relation)
    _draw(str(path.with_suffix(".png")), found)
    print(table_text(found))
    return found


def _draw(path: str, found: Sequence[Cell]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    names = list(dict.fromkeys(cell.data for cell in found))
    for offset, epsilon, label in (
        (-0.3, REAL, "real rows"),
        (0.0, EPSILON, "AIM, epsilon 1"),
        (0.3, None, "AIM, paper"),
    ):
        at = EPSILON if epsilon is None else epsilon
        line = [next(cell for cell in found if (cell.data, cell.epsilon) == (data, at)) for data in names]
        heights = [cell.paper if epsilon is None else cell.ours for cell in line]
        axes.bar([i + offset for i in range(len(names))], heights, width=0.28, label=label)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0.5, 1.0)
    axes.set_ylabel("accuracy on real rows")
    axes.set_title("Figure 4: logistic regression trained on real and on copied rows")
    axes.legend()
    FigureCanvasAgg(figure).print_png(path)


if __name__ == "__main__":
    main()
