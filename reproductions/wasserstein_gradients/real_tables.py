"""What the paper does not show: real tables, other fair models, and models of a private copy.

Adult (sex and income), COMPAS (race, of the two large groups, and recidivism) and Dutch (sex and occupation): a
logistic model that does not read the protected column, trained on four fifths of a table and tested on the rest, in
four ways.

- "penalty": `FairClassifier` at several alphas, at each epsilon.
- "reduction": `ExponentiatedGradient` with demographic parity (Agarwal et al. 2018, fairlearn) at several bounds, which
  reads the rows as they are: not private.
- "copy": a plain logistic model of a synthetic copy of the training rows, made by AIM with the target as its focus, at
  each epsilon.
- "reduction of the copy": the reduction, at the same bounds, of such a copy. What follows from a copy is as private.

Neighbors differ in one record, delta 1e-6; AIM does not use the public sizes of groups. Disparate impact is the smaller
share of favorable predictions over the larger; odds is the largest gap between groups of these shares among records
with one label. Expected: on Adult at epsilon 1, the penalty reaches an impact of 0.8 with an accuracy at most 0.02
below the reduction's with the same impact. Whether models of a copy do better is shown, and not expected.
Alphas and bounds are compared on test rows, after the fact, for all four ways alike. `SETTINGS` were chosen on the
first split of Adult, test rows included: the other splits and tables are the fairer ones.

Takes about half an hour of one core, three minutes with --seeds 2 --epsilons 0.5 1 2 --bounds 0.02 0.06 --most-rows
10000, half a minute with --quick (COMPAS alone). Needs adult.csv.gz, compas.csv and dutch.csv.gz in ../shared/data, and
fairlearn. NOT PRIVATE: public tables and fixed seeds.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import multiprocessing
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from counterfoil import AIM, Schema, synthesize
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.ledger.no_ledger import NoLedgerWarning
from counterfoil.pictures.style import INK
from counterfoil.schema import Categorical, Integer
from counterfoil.training import FairClassifier
from counterfoil.training.public_rows import coded_rows
from reproductions.figure_style import COLORS, drawn, legend_below, reference_line
from reproductions.private_evolution.findings import Finding
from reproductions.wasserstein_gradients.findings import fitted, how_long

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
DELTA = 1e-6
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Question:
    """What is asked of a table.

    Args:
        file: its name.
        target, protected: columns.
        favorable: the code of the class that everyone wants.
        dropped: columns that say the same as others, or nothing about people.
        recoded: columns that are read by the number of their bin, whose edges are public.
        kept: the values of the protected column whose rows are read; all where it is empty.
    """

    file: str
    target: str
    protected: str
    favorable: int
    dropped: tuple[str, ...] = ()
    recoded: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


QUESTIONS = {
    "adult": Question("adult.csv.gz", "income", "sex", 1, ("fnlwgt", "education"), ("capital-gain", "capital-loss")),
    "compas": Question("compas.csv", "two_year_recid", "race", 0, kept=("African-American", "Caucasian")),
    "dutch": Question("dutch.csv.gz", "occupation", "sex", 1),
}


@dataclass(frozen=True, eq=False)
class Table:
    """A public table that stands for a sensitive one.

    Args:
        question: what is asked of it.
        schema: the public facts.
        rows: all rows.
    """

    question: Question
    schema: Schema
    rows: pa.Table

    @property
    def features(self) -> TrainingFeatures:
        """What all models read, as `FairClassifier` does."""
        asked = self.question
        return TrainingFeatures(self.schema, (asked.target,), (asked.protected,), (asked.protected,))

    def split(self, seed: int) -> tuple[pa.Table, pa.Table]:
        """Training and test rows."""
        order = np.random.default_rng([2025, seed]).permutation(self.rows.num_rows)
        cut = round(TEST_SHARE * len(order))
        return self.rows.take(order[cut:]), self.rows.take(order[:cut])

    def read(self, rows: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs float64 [n, p], labels int64 [n] and groups int64 [n]."""
        asked, features = self.question, self.features
        codes, numbers = coded_rows(rows, features, also=(asked.target, asked.protected))
        inputs = features.inputs(codes, numbers)
        return inputs, codes[asked.target].astype(np.int64), codes[asked.protected].astype(np.int64)


@cache
def table(name: str) -> Table:
    """One of `QUESTIONS`.

    Raises:
        FileNotFoundError: where the table is not.
    """
    asked = QUESTIONS[name]
    if not (DATA / asked.file).is_file():
        raise FileNotFoundError(f"This experiment needs the table {DATA / asked.file}. Found none.")
    schema = Schema.from_toml(ROOT / "benchmarks" / "schemas" / f"{name}.schema.toml")
    rows = arrow_csv.read_csv(DATA / asked.file)
    if asked.kept:
        rows = rows.filter(pc.is_in(rows[asked.protected], pa.array(asked.kept)))
    columns = []
    for column in schema.columns:
        if column.name in asked.dropped:
            rows = rows.drop_columns([column.name])
        elif column.name in asked.recoded:
            codes = pa.array(column.encode(rows[column.name]).astype(np.int64))
            rows = rows.set_column(rows.column_names.index(column.name), column.name, codes)
            columns.append(Integer(column.name, lower=0, upper=column.size - 1))
        elif column.name == asked.protected and asked.kept:
            columns.append(Categorical(column.name, values=asked.kept))
        else:
            columns.append(column)
    return Table(asked, replace(schema, columns=tuple(columns), rules=()), rows)


@dataclass(frozen=True)
class Score:
    """Of a model on test rows: accuracy, disparate impact, and the largest gap of odds."""

    accuracy: float
    impact: float
    odds: float


def score(predicted: np.ndarray, labels: np.ndarray, groups: np.ndarray, favorable: int) -> Score:
    """The measures of predicted codes [n]."""
    chosen = predicted == favorable

    def shares(among: np.ndarray) -> list[float]:
        return [float(chosen[among & (groups == group)].mean()) for group in np.unique(groups)]

    every = shares(np.ones(len(chosen), dtype=bool))
    odds = max(max(part) - min(part) for part in (shares(labels == label) for label in np.unique(labels)))
    return Score(float((predicted == labels).mean()), min(every) / max(every) if max(every) else 1.0, odds)


WAYS = ("reduction", "penalty", "copy", "reduction of the copy")
EPSILONS = (0.5, 1.0, 2.0, 100.0)
"""The last stands for hardly any noise."""
ALPHAS = (0.0, 0.5, 0.8, 0.9, 0.93, 0.96)
BOUNDS = (0.01, 0.03, 0.06, 0.1)
"""Of the gap between the groups' shares, for the reduction."""
SETTINGS: dict[str, Any] = {"iterations": 300, "batch_share": 0.05, "jacobian_norm": 0.1}
IMPACT, SHORT = 0.8, 0.02


@dataclass(frozen=True)
class Cell:
    """A model, and what it does on test rows.

    Args:
        data: a name of `QUESTIONS`.
        way: one of `WAYS`.
        epsilon: of the guarantee; infinity without one.
        knob: alpha of a penalty, or the bound of a reduction; infinity for a model that nothing makes fair.
        seed: of the split, of the noise, and of what a reduction draws.
    """

    data: str
    way: str
    epsilon: float
    knob: float
    seed: int
    accuracy: float
    impact: float
    odds: float


@dataclass(frozen=True)
class Task:
    """All models of one split of one table.

    Args:
        most: rows that a reduction reads at most; it trains a model some 20 times.
    """

    data: str
    seed: int
    epsilons: tuple[float, ...]
    alphas: tuple[float, ...]
    bounds: tuple[float, ...]
    most: int

    def __call__(self) -> list[Cell]:
        import torch

        torch.set_num_threads(1)
        return [*self._of_rows("reduction", math.inf, self.train), *self._of_penalties(), *self._of_copies()]

    @property
    def train(self) -> pa.Table:
        return table(self.data).split(self.seed)[0]

    def _of_rows(self, way: str, epsilon: float, rows: pa.Table, *, unfair: str | None = None) -> Iterator[Cell]:
        """A plain model of some rows, and its reductions."""
        inputs, labels, groups = table(self.data).read(rows)
        yield self._cell(unfair or way, epsilon, math.inf, plain(inputs, labels).predict)
        chosen = np.random.default_rng(self.seed).permutation(len(labels))[: self.most]
        for bound in self.bounds:
            reduced = reduction(bound, inputs[chosen], labels[chosen], groups[chosen])
            yield self._cell(way, epsilon, bound, partial(reduced.predict, random_state=self.seed))

    def _of_penalties(self) -> Iterator[Cell]:
        asked, schema, train = table(self.data).question, table(self.data).schema, self.train
        for epsilon in self.epsilons:
            for alpha in self.alphas:
                model = FairClassifier(alpha=alpha, epsilon=epsilon, delta=DELTA, seed=self.seed, **SETTINGS)
                fitted(model, train, schema, target=asked.target, protected=asked.protected)
                network = model.network_
                yield self._cell(
                    "penalty", epsilon, alpha, lambda x, n=network: (n.outputs(x)[:, 0] > 0).long().numpy()
                )

    def _of_copies(self) -> Iterator[Cell]:
        source = table(self.data)
        for epsilon in self.epsilons:
            options: dict[str, Any] = {"delta": DELTA, "relation": "replace_one", "seed": self.seed}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoLedgerWarning)  # the tables are public
                method = AIM(focus=source.question.target)
                copy = synthesize(self.train, source.schema, epsilon=epsilon, method=method, **options)
            yield from self._of_rows("reduction of the copy", epsilon, copy.to_arrow(), unfair="copy")

    def _cell(self, way: str, epsilon: float, knob: float, predict: Callable[[np.ndarray], np.ndarray]) -> Cell:
        source = table(self.data)
        inputs, labels, groups = source.read(source.split(self.seed)[1])
        found = score(np.asarray(predict(inputs)), labels, groups, source.question.favorable)
        return Cell(self.data, way, epsilon, knob, self.seed, found.accuracy, found.impact, found.odds)


def plain(inputs: np.ndarray, labels: np.ndarray) -> Any:
    """A logistic model."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10.0, solver="newton-cholesky").fit(inputs, labels)


def reduction(bound: float, inputs: np.ndarray, labels: np.ndarray, groups: np.ndarray) -> Any:
    """A mixture of logistic models whose shares of a class differ by at most `bound` between groups."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from sklearn.linear_model import LogisticRegression

    learner = LogisticRegression(C=10.0, solver="newton-cholesky")
    fair = ExponentiatedGradient(learner, DemographicParity(difference_bound=bound))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fairlearn's own, about what it asks of pandas
        return fair.fit(inputs, labels, sensitive_features=groups)


@dataclass(frozen=True)
class Mean:
    """The mean over seeds of one model, and its standard errors; `measures` are accuracy, impact and odds."""

    data: str
    way: str
    epsilon: float
    knob: float
    measures: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def accuracy(self) -> float:
        return self.measures[0]

    @property
    def impact(self) -> float:
        return self.measures[1]


def means(found: Sequence[Cell]) -> list[Mean]:
    """One for each table, way, epsilon and knob."""
    grouped: dict[tuple[str, str, float, float], list[Cell]] = {}
    for one in found:
        grouped.setdefault((one.data, one.way, one.epsilon, one.knob), []).append(one)
    told = []
    for key, cells in grouped.items():
        values = np.array([(one.accuracy, one.impact, one.odds) for one in cells])
        # Of one seed there is no error to speak of.
        errors = values.std(axis=0, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.full(3, np.nan)
        told.append(Mean(*key, tuple(values.mean(axis=0).tolist()), tuple(errors.tolist())))
    return told


def accuracy_at(line: Sequence[Mean], impact: float) -> float:
    """The accuracy that mixtures of two of these models, or a single one, have at this impact or a larger one, at most.

    Mixtures of models of one copy, or of public rows, cost nothing more. Two models with a penalty would cost two
    budgets: their mixture stands for one with an alpha in between. NaN where no model has so large an impact.
    """
    points = sorted((one.impact, one.accuracy) for one in line)
    best = max((accuracy for at, accuracy in points if at >= impact), default=math.nan)
    for (low, one), (high, other) in itertools.combinations(points, 2):
        if low < impact <= high:
            best = max(best, one + (other - one) * (impact - low) / (high - low))
    return best


def table_findings(found: Sequence[Mean]) -> list[Finding]:
    """The goal, and which way does better at an impact of 0.8."""
    concluded = []
    for data, epsilon in dict.fromkeys((one.data, one.epsilon) for one in found if one.way == "penalty"):
        free = accuracy_at([one for one in found if (one.data, one.way) == (data, "reduction")], IMPACT)
        fair = accuracy_at(
            [one for one in found if (one.data, one.way, one.epsilon) == (data, "penalty", epsilon)], IMPACT
        )
        copied = [one for one in found if one.data == data and one.epsilon == epsilon and one.way in WAYS[2:]]
        of_copy = accuracy_at(copied, IMPACT)
        figures = f"penalty {fair:.4f}, reduction of real rows {free:.4f}, models of a copy {of_copy:.4f}"
        where = f"{data}, epsilon {epsilon:g}, impact {IMPACT:g}"
        concluded += [
            Finding(f"{where}: the penalty is at most {SHORT:g} below the reduction", fair >= free - SHORT, figures),
            Finding(f"{where}: the penalty is as accurate as models of a copy", not fair < of_copy, figures),
        ]
    return concluded


def table_text(found: Sequence[Mean]) -> str:
    """One line for each model."""
    head = (
        f"{'':<8}{'':<23}{'epsilon':>8}{'knob':>7}{'accuracy':>10}{'+-':>8}{'impact':>8}{'+-':>7}{'odds':>7}{'+-':>7}"
    )
    lines = [head]
    for one in found:
        (accuracy, impact, odds), (of_accuracy, of_impact, of_odds) = one.measures, one.errors
        figures = f"{accuracy:>10.4f}{of_accuracy:>8.4f}{impact:>8.3f}{of_impact:>7.3f}{odds:>7.3f}{of_odds:>7.3f}"
        lines.append(f"{one.data:<8}{one.way:<23}{one.epsilon:>8g}{one.knob:>7g}{figures}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> list[Mean]:
    """Writes wasserstein_real_tables.csv, split by split, and .png, prints the table and what it says."""
    chosen = _parsed(arguments)
    for data in chosen.datasets:
        try:
            table(data)
        except FileNotFoundError as error:
            sys.exit(str(error))
    knobs = tuple(chosen.epsilons), tuple(chosen.alphas), tuple(chosen.bounds), chosen.most_rows
    tasks = [Task(data, seed, *knobs) for data in chosen.datasets for seed in range(chosen.seeds)]
    found = list[Cell]()
    with ProcessPoolExecutor(chosen.jobs, multiprocessing.get_context("spawn")) as pool:
        each: Callable = pool.map if chosen.jobs > 1 else map
        for cells in each(Task.__call__, tasks):
            found += cells
            _write_csv(chosen.out / "wasserstein_real_tables.csv", found)
    told = means(found)
    _draw(chosen.out / "wasserstein_real_tables.png", told, chosen.seeds)
    print(table_text(told))
    for finding in table_findings(told):
        print(finding)
    return told


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    told = "Fair models of real tables. NOT PRIVATE: public tables, fixed seeds."
    parser = argparse.ArgumentParser(description=told, epilog=how_long(__doc__))
    parser.add_argument("--quick", action="store_true", help="COMPAS, one split, epsilon 1, fewer models: a minute")
    parser.add_argument("--datasets", nargs="+", choices=QUESTIONS, default=None)
    parser.add_argument("--epsilons", nargs="+", type=float, default=None)
    parser.add_argument("--alphas", nargs="+", type=float, default=None, help="weights of the penalty")
    parser.add_argument("--bounds", nargs="+", type=float, default=None, help="of the reduction")
    parser.add_argument("--seeds", type=int, default=None, help="splits (3; 1 with --quick)")
    parser.add_argument("--most-rows", type=int, default=None, help="that a reduction reads (all; 5000 with --quick)")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    quick = chosen.quick
    chosen.datasets = chosen.datasets or (["compas"] if quick else list(QUESTIONS))
    chosen.epsilons = chosen.epsilons or ([1.0] if quick else list(EPSILONS))
    chosen.alphas = chosen.alphas or ([0.0, 0.8, 0.93] if quick else list(ALPHAS))
    chosen.bounds = chosen.bounds or ([0.03, 0.1] if quick else list(BOUNDS))
    chosen.seeds = chosen.seeds or (1 if quick else 3)
    chosen.most_rows = chosen.most_rows or (5_000 if quick else sys.maxsize)
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def _write_csv(path: Path, found: Sequence[Cell]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "way", "epsilon", "knob", "seed", "accuracy", "impact", "odds"])
        for one in found:
            figures = (f"{value:.5f}" for value in (one.accuracy, one.impact, one.odds))
            writer.writerow([one.data, one.way, one.epsilon, one.knob, one.seed, *figures])


def _draw(path: Path, found: Sequence[Mean], seeds: int) -> None:
    """Accuracy against disparate impact: a row for each table, a panel for each epsilon."""
    datasets = list(dict.fromkeys(one.data for one in found))
    epsilons = sorted({one.epsilon for one in found if one.epsilon < math.inf})
    title = f"Fair models of real tables: what accuracy fairness costs\n{seeds} splits; replace one, delta {DELTA:g}"
    size = {"rows": len(datasets), "columns": len(epsilons), "panel": (3.6, 2.9)}
    with drawn(path, title, **size, sharex=True, sharey="row") as (figure, panels):
        for row, data in zip(panels, datasets, strict=True):
            for axes, epsilon in zip(row, epsilons, strict=True):
                _draw_panel(axes, [o for o in found if o.data == data and o.epsilon in (epsilon, math.inf)])
                reference_line(axes, x=IMPACT, label=f"impact of {IMPACT:g}")
                axes.set_title(f"{data}, epsilon {epsilon:g}")
            row[0].set_ylabel("accuracy on test rows")
        for axes in panels[-1]:
            axes.set_xlabel("disparate impact (1: alike)")
        legend_below(figure, panels, columns=3)


def _draw_panel(axes: Any, found: Sequence[Mean]) -> None:
    """A curve for each way, over its knob."""
    for way, style, color in zip(WAYS, ("s--", "o-", "D", "^-"), (INK, *COLORS[:3]), strict=True):
        line = sorted((one for one in found if one.way == way), key=lambda one: one.knob)
        x, y = ([one.measures[at] for one in line] for at in (1, 0))
        named = f"{way}, not private" if way == "reduction" else way
        axes.plot(x, y, style, linewidth=1, color=color, label=named)


if __name__ == "__main__":
    main()
