"""A synthetic table beside the real one: NOT PRIVATE, for its steward alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.blocks import page_of, text_of
from counterfoil.curator.curator import Curator
from counterfoil.curator.given import ledger_given
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.evaluation.broken_facts import BrokenFact
from counterfoil.evaluation.comparison_blocks import said_of_comparison
from counterfoil.evaluation.marginals import MarginalComparison, compare_marginals
from counterfoil.evaluation.numbers import NumberComparison, compare_numbers, ordered_columns
from counterfoil.evaluation.raw_columns import ColumnComparison, columns_json, compare_columns
from counterfoil.evaluation.train_on_synthetic import Score, TrainedOnSynthetic, train_on_synthetic
from counterfoil.evaluation.whole_table import read_whole
from counterfoil.ledger.ledger import Ledger
from counterfoil.ledger.no_ledger import warn_of_unrecorded_look
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean

ORDERS = (1, 2, 3)


@dataclass(frozen=True)
class Comparison:
    """How far a synthetic table is from the real one. NOT PRIVATE: the figures are exact statistics of the records.

    `print` it, or show it in a notebook, for what `counterfoil evaluate` prints.

    Args:
        marginals: the errors of marginals of one, two and three columns, as far as there are so many columns.
        numbers: Wasserstein distances of ordered columns, where there are any.
        model: classifiers trained on each table, where a target was named.
        columns: each column in its own units, before the schema changes a value, in the schema's order.
        schema: the public facts about both tables.
        facts: its rules and lists of zeros, with the real records that break them.
        used: a sentence on the real rows that the release left out; empty where it used all, or where that is unknown.
    """

    real_rows: int
    synthetic_rows: int
    marginals: tuple[MarginalComparison, ...]
    numbers: NumberComparison | None
    model: TrainedOnSynthetic | None
    columns: tuple[ColumnComparison, ...]
    schema: Schema
    facts: tuple[BrokenFact, ...] = ()
    used: str = ""

    def __str__(self) -> str:
        return text_of(said_of_comparison(self))

    def __repr__(self) -> str:
        """Short, and without a figure: it may stand in a log."""
        return f"Comparison({len(self.columns):,} columns, NOT PRIVATE)"

    def _repr_html_(self) -> str:
        return page_of(str(self))

    def to_json(self, *, values: bool = False) -> dict[str, Any]:
        """The comparison as one JSON document, marked as not private; with names of categories where `values`."""
        return {
            "private": False,
            "warning": "NOT PRIVATE: exact statistics of the real records. DO NOT SHARE.",
            "rows": {"real": self.real_rows, "synthetic": self.synthetic_rows},
            **({"rows_used": self.used} if self.used else {}),
            "marginals": [
                {
                    "order": part.order,
                    "mean_error": part.mean,
                    "largest_error": part.largest,
                    "worst": list(part.worst),
                    "compared": len(part.errors),
                    "total": part.total,
                }
                for part in self.marginals
            ],
            "numbers": None if self.numbers is None else _numbers_json(self.numbers),
            "columns": columns_json(self.columns, values=values),
            "facts": [
                {"kind": fact.kind, "fact": fact.fact, "real_share_that_breaks_it": fact.count / self.real_rows}
                for fact in self.facts
            ],
            "train_on_synthetic": None if self.model is None else _model_json(self.model),
        }


def compare(
    real: Any,
    synthetic: Any,
    schema: Schema,
    *,
    target: str | None = None,
    protected: str | None = None,
    ignore: Sequence[str] = (),
    reason: str = "comparison of a synthetic table with the real one",
    ledger: Ledger | str | Path | None = None,
) -> Comparison:
    """Compares a synthetic table with the real one.

    The real table is read without privacy, which `ledger`, where given, records for good: a `Ledger`, or the path of
    one. Without it a `NoLedgerWarning` says that nothing records the look.

    Args:
        real: the sensitive table: a path or a frame, as `Curator` takes it.
        synthetic: the synthetic one, likewise.
        schema: the public facts about both.
        target: a column to predict from the others; no model is trained when None.
        protected: a column whose groups should be treated alike; how predictions of `target` differ between them is
            reported too.
        ignore: columns that models don't see, such as one that says the target in other words.

    Raises:
        ValueError: for a table that does not follow the schema or has no rows, or an unknown target.
        ModuleNotFoundError: with a target, without scikit-learn.
    """
    schema = schema_for(real, schema)
    attributes = schema.domain.attributes
    _require_ignorable(ignore, attributes, target=target, protected=protected)
    for name, column in (("target", target), ("protected", protected)):
        if column is not None and column not in attributes:
            raise ValueError(
                f"`{name}` must be a synthesized column of the schema. Found {column!r}."
                + did_you_mean(column, attributes)
            )
    if protected is not None and target is None:
        raise ValueError("`protected` goes with `target`: predictions of it are compared between groups.")
    drawn = read_whole(synthetic, schema, reason="a synthetic table, which is public")
    if not drawn.rows:
        raise ValueError("The synthetic table must have rows to be compared. Found none.")
    with ExitStack() as opened:
        known_ledger = ledger_given(ledger, opened)
        if known_ledger is None:
            warn_of_unrecorded_look()
        records = read_whole(real, schema, reason=reason, ledger=known_ledger)
    if not records.rows:
        raise ValueError("The real table must have rows to be compared. Found none.")
    orders = [order for order in ORDERS if order <= len(attributes)]
    model = None
    if target is not None:
        model = train_on_synthetic(
            records.codes,
            drawn.codes,
            schema.domain.project([name for name in attributes if name not in ignore]),
            target=target,
            protected=protected,
            rng=np.random.default_rng(0),
        )
    columns, numbers = compare_columns(records, drawn), None
    if ordered_columns(schema):
        known = {column.name: column.numbers.share for column in columns if column.numbers is not None}
        numbers = compare_numbers(
            records.numbers, drawn.numbers, schema, rng=np.random.default_rng(0), wasserstein_known=known
        )
    return Comparison(
        real_rows=records.rows,
        synthetic_rows=drawn.rows,
        marginals=tuple(compare_marginals(records.codes, drawn.codes, schema.domain, order=order) for order in orders),
        numbers=numbers,
        model=model,
        columns=columns,
        schema=schema,
        facts=records.facts,
    )


def _require_ignorable(
    ignore: Sequence[str], attributes: Sequence[str], *, target: str | None, protected: str | None
) -> None:
    for name in ignore:
        if name not in attributes:
            raise ValueError(
                f"`ignore` must name synthesized columns of the schema. Found {name!r}."
                + did_you_mean(name, attributes)
            )
        if name in (target, protected):
            raise ValueError(f"`ignore` must not name the target or the protected column. Found {name!r}.")
    if ignore and target is None:
        raise ValueError("`ignore` goes with `target`: models that predict it don't see these columns.")


def reveal(
    source: Any, schema: Schema, *, reason: str, ledger: Ledger | None = None
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The codes [n] of each attribute and the numbers [n] of each ordered one, NOT PRIVATE; recorded in `ledger`
    where one is given."""
    ordered = ordered_columns(schema)
    with Curator(source, schema, budget=Budget(1.0), ledger=ledger) as curator:
        table = curator.reveal_without_privacy(reason, numbers=ordered)
    columns = [column.to_numpy() for column in table.columns]
    attributes = schema.domain.attributes
    return (
        dict(zip(attributes, columns, strict=False)),
        dict(zip(ordered, columns[len(attributes) :], strict=True)),
    )


def _numbers_json(numbers: NumberComparison) -> dict[str, Any]:
    return {
        "wasserstein_1": {name: _or_none(value) for name, value in numbers.wasserstein.items()},
        "sliced_wasserstein_2": numbers.sliced,
    }


def _model_json(model: TrainedOnSynthetic) -> dict[str, Any]:
    return {
        "target": model.target,
        "protected": model.protected,
        "majority_accuracy": model.majority,
        "test_rows": model.test_rows,
        "parity_gap": {"synthetic": _or_none(model.synthetic_parity), "real": _or_none(model.real_parity)},
        "models": {
            name: {"synthetic": _score_json(scores.synthetic), "real": _score_json(scores.real)}
            for name, scores in model.models.items()
        },
    }


def _score_json(score: Score) -> dict[str, Any]:
    scores = {"accuracy": score.accuracy, "auc": _or_none(score.auc)}
    if score.fairness is not None:
        scores |= {"parity_gap": _or_none(score.fairness.parity), "odds_gap": _or_none(score.fairness.odds)}
    return scores


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
