"""What a plan says: the figures of all rehearsals, put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.blocks import text_of, wrapped
from counterfoil.domain.domain import Clique
from counterfoil.evaluation.train_on_synthetic import Score
from counterfoil.pictures.notebook_table import notebook_line, notebook_page, notebook_table
from counterfoil.planning.public_table import World
from counterfoil.planning.rehearsal import TRAINED, Reference, Rehearsal
from counterfoil.planning.spread import Spread
from counterfoil.planning.want import Answer

WORST_PAIRS = 5


@dataclass(frozen=True)
class Outlook:
    """What to expect of a release at each epsilon, by rehearsals on public or simulated records.

    Errors are L1 distances between shares, as `evaluate` has them: 0 for equal, 2 for nothing in common.

    Args:
        schema: the name of the schema.
        rows: how many records a rehearsal copies.
        columns: how many columns they have.
        method: how a release is made.
        delta: of the guarantee.
        relation: which tables are neighbors.
        target: the column that models predict, or None.
        worlds: where the records come from.
        epsilons: those that were asked for, rising.
        runs: how many rehearsals there are at each epsilon in each world.
        seed: repeats the simulation, and the noise of the rehearsals.
        rehearsals: all of them, also those of the search for what is wanted.
        references: what models reach that are trained on the public records themselves.
        answers: to what is wanted, one in each world.
        notes: what to know about the records, in sentences.
        max_rows: how many records of each person are protected together; None for a single record.
    """

    schema: str
    rows: int
    columns: int
    method: str
    delta: float
    relation: str
    target: str | None
    worlds: tuple[World, ...]
    epsilons: tuple[float, ...]
    runs: int
    seed: int
    rehearsals: tuple[Rehearsal, ...]
    references: tuple[Reference, ...] = ()
    answers: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    max_rows: int | None = None

    def at(self, epsilon: float, world: World) -> list[Rehearsal]:
        """The rehearsals at one epsilon in one world, by their number."""
        found = [one for one in self.rehearsals if one.epsilon == epsilon and one.world is world]
        return sorted(found, key=lambda one: one.run)

    def pair_error(self, epsilon: float, world: World) -> Spread:
        """The mean error over pairs of columns."""
        return self._spread(epsilon, world, lambda one: one.pair_error)

    def column_error(self, epsilon: float, world: World) -> Spread:
        """The mean error over columns."""
        return self._spread(epsilon, world, lambda one: one.column_error)

    def _spread(self, epsilon: float, world: World, figure: Callable[[Rehearsal], float]) -> Spread:
        spread = Spread.of(figure(one) for one in self.at(epsilon, world))
        if spread is None:
            raise ValueError(
                f"`epsilon` must be one that was rehearsed on the records of `world`. Found {epsilon:g} and "
                f"{str(world)!r}: plan it first."
            )
        return spread

    def columns_at(self, epsilon: float, world: World) -> dict[str, Spread]:
        """The error of each column."""
        return _by_key([one.columns for one in self.at(epsilon, world)])

    def pairs_at(self, epsilon: float, world: World) -> dict[Clique, Spread]:
        """The error of each pair of columns."""
        return _by_key([one.pairs for one in self.at(epsilon, world)])

    def worst_pairs(self, epsilon: float) -> dict[Clique, dict[World, Spread]]:
        """The pairs with the largest error in any world, the worst first."""
        found = {world: self.pairs_at(epsilon, world) for world in self.worlds}
        together: dict[Clique, dict[World, Spread]] = {}
        for world, pairs in found.items():
            for pair, spread in pairs.items():
                together.setdefault(pair, {})[world] = spread
        worst = sorted(together, key=lambda pair: -max(spread.mean for spread in together[pair].values()))
        return {pair: together[pair] for pair in worst[:WORST_PAIRS]}

    def scores_at(self, epsilon: float | None, world: World) -> dict[str, dict[str, Spread | None]]:
        """For each model, its AUC and accuracy on records that were not copied; of the reference where None.

        Returns:
            by the model's name the spreads of "auc" and "accuracy"; None where no rehearsal has the figure.
        """
        own: list[Rehearsal] | list[Reference] = (
            [one for one in self.references if one.world is world] if epsilon is None else self.at(epsilon, world)
        )
        scored: list[Mapping[str, Score]] = [one.scores for one in own if one.scores]
        return {
            model: {
                "auc": Spread.of(scores[model].auc for scores in scored),
                "accuracy": Spread.of(scores[model].accuracy for scores in scored),
            }
            for model in (TRAINED if scored else ())
        }

    def to_json(self) -> dict[str, Any]:
        """All figures as one JSON document."""
        return {
            "format": "counterfoil.outlook",
            "schema": self.schema,
            "rows": self.rows,
            "columns": self.columns,
            "method": self.method,
            "delta": self.delta,
            "relation": self.relation,
            "max_rows": self.max_rows,
            "target": self.target,
            "runs": self.runs,
            "seed": self.seed,
            "notes": list(self.notes),
            "outlook": [self._json_at(epsilon, world) for epsilon in self.epsilons for world in self.worlds],
            "references": [
                {"records": str(world), "models": _scores_json(self.scores_at(None, world))}
                for world in self.worlds
                if self.references
            ],
            "wanted": [answer.to_json() for answer in self.answers],
        }

    def _json_at(self, epsilon: float, world: World) -> dict[str, Any]:
        return {
            "epsilon": epsilon,
            "records": str(world),
            "mean_pair_error": self.pair_error(epsilon, world).to_json(),
            "mean_column_error": self.column_error(epsilon, world).to_json(),
            "columns": [
                {"column": name, "error": spread.to_json()} for name, spread in self.columns_at(epsilon, world).items()
            ],
            "pairs": [
                {"columns": list(pair), "error": spread.to_json()}
                for pair, spread in self.pairs_at(epsilon, world).items()
            ],
            "models": _scores_json(self.scores_at(epsilon, world)),
        }

    def __str__(self) -> str:
        """The same as notebooks show, for scripts."""
        heading, headings, rows, sentences = self._said()
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (headings, *rows)]
        return text_of([heading, *(lines if rows else []), *(wrapped(sentence, further="") for sentence in sentences)])

    def __repr__(self) -> str:
        epsilons = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons) or "none"
        return f"Outlook(method {self.method}, {self.rows:,} records, epsilons {epsilons})"

    def _repr_html_(self) -> str:
        """A plain table for notebooks."""
        heading, headings, rows, sentences = self._said()
        return notebook_page(heading, notebook_table(headings, rows) if rows else "", *map(notebook_line, sentences))

    def _said(self) -> tuple[str, list[str], list[list[str]], list[str]]:
        """The heading, a table with its headings, and sentences."""
        headings = ["epsilon", "records", "mean pair error", "from", "to", "mean column error"]
        headings += [f"{model}: AUC" for model in TRAINED] if self.target else []
        rows = []
        for epsilon in self.epsilons:
            for world in self.worlds:
                pair = self.pair_error(epsilon, world)
                figures = [pair.mean, pair.least, pair.most, self.column_error(epsilon, world).mean]
                scores = self.scores_at(epsilon, world)
                aucs = [_shown(scores[model]["auc"]) for model in TRAINED] if self.target else []
                rows.append([f"{epsilon:g}", str(world), *(f"{figure:.4f}" for figure in figures), *aucs])
        heading = f"Rehearsed with {self.method} on {self.rows:,} records of {self.columns} columns"
        return heading, headings, rows, [*map(said, self.answers), *self.notes]


def said(answer: Answer) -> str:
    """An answer as a sentence."""
    want, reached = answer.want, answer.figure
    figure = "no figure" if reached is None else f"{reached.mean:.3g} ({reached.least:.3g} to {reached.most:.3g})"
    opening = f"{answer.world}: {want}"
    if answer.epsilon is None:
        return f"{opening} is not reached at epsilon 100, where rehearsals have {figure}."
    if answer.already:
        return f"{opening} is reached at epsilon {answer.epsilon:g} already, where rehearsals have {figure}."
    takes = f"takes epsilon {_epsilon(answer.epsilon)} in the mean"
    return f"{opening} {takes}, where rehearsals have {figure}: about half of all releases keep it. {_singly(answer)}"


def _singly(answer: Answer) -> str:
    """From which epsilon on rehearsals keep a bound, each by itself."""
    if answer.least is None:
        return "By itself, no rehearsal keeps that at the largest epsilon that was tried."
    least = _epsilon(answer.least)
    if answer.most is None:
        return (
            f"By itself, one rehearsal keeps that from epsilon {least} on, and at least one does not at the largest "
            "that was tried."
        )
    most = _epsilon(answer.most)
    if least == most:
        return f"By itself, each rehearsal keeps that from epsilon {least} on."
    return f"By itself, the first rehearsal keeps that from epsilon {least} on, and the last from {most} on."


def _epsilon(epsilon: float) -> str:
    """Rounded up to three digits, so that what is shown reaches the bound too."""
    step = 10.0 ** (math.floor(math.log10(epsilon)) - 2)
    return f"{math.ceil(epsilon / step - 1e-9) * step:.3g}"


def _by_key(parts: list[Mapping[Any, float]]) -> dict[Any, Spread]:
    spreads = {key: Spread.of(part[key] for part in parts) for key in parts[0]} if parts else {}
    return {key: spread for key, spread in spreads.items() if spread is not None}


def _scores_json(scores: Mapping[str, Mapping[str, Spread | None]]) -> dict[str, Any]:
    return {
        model: {name: None if spread is None else spread.to_json() for name, spread in figures.items()}
        for model, figures in scores.items()
    }


def _shown(spread: Spread | None) -> str:
    return "-" if spread is None else f"{spread.mean:.3f}"
