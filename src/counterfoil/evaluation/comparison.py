"""A synthetic table beside the real one: NOT PRIVATE, for its steward alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.curator.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.ledger import Ledger
from counterfoil.evaluation.marginals import MarginalComparison, compare_marginals
from counterfoil.evaluation.train_on_synthetic import TrainedOnSynthetic, train_on_synthetic
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean

ORDERS = (1, 2, 3)


@dataclass(frozen=True)
class Comparison:
    """How far a synthetic table is from the real one. NOT PRIVATE: the figures are exact statistics of the records.

    Args:
        marginals: the errors of marginals of one, two and three columns, as far as there are so many columns.
        model: a classifier trained on each table, where a target was named.
    """

    real_rows: int
    synthetic_rows: int
    marginals: tuple[MarginalComparison, ...]
    model: TrainedOnSynthetic | None

    def to_json(self) -> dict[str, Any]:
        """The comparison as one JSON document, marked as not private."""
        return {
            "private": False,
            "warning": "NOT PRIVATE: exact statistics of the real records. DO NOT SHARE.",
            "rows": {"real": self.real_rows, "synthetic": self.synthetic_rows},
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
            "train_on_synthetic": None if self.model is None else _model_json(self.model),
        }


def compare(
    real: Any,
    synthetic: Any,
    schema: Schema,
    *,
    target: str | None = None,
    reason: str = "comparison of a synthetic table with the real one",
    ledger: Ledger | None = None,
) -> Comparison:
    """Compares a synthetic table with the real one.

    The real table is reached through `Curator.reveal_without_privacy`, which `ledger`, where given, records for good.

    Args:
        real: the sensitive table: a path or a frame, as `Curator` takes it.
        synthetic: the synthetic one, likewise.
        schema: the public facts about both.
        target: a column to predict from the others; no model is trained when None.

    Raises:
        ValueError: for a table that does not follow the schema or has no rows, or an unknown target.
        ModuleNotFoundError: with a target, without scikit-learn.
    """
    attributes = schema.domain.attributes
    if target is not None and target not in attributes:
        raise ValueError(
            f"`target` must be a synthesized column of the schema. Found {target!r}.{did_you_mean(target, attributes)}"
        )
    drawn = reveal(synthetic, schema, reason="a synthetic table, which is public")
    if not len(drawn[attributes[0]]):
        raise ValueError("The synthetic table must have rows to be compared. Found none.")
    records = reveal(real, schema, reason=reason, ledger=ledger)
    orders = [order for order in ORDERS if order <= len(attributes)]
    model = None
    if target is not None:
        model = train_on_synthetic(records, drawn, schema.domain, target=target, rng=np.random.default_rng(0))
    return Comparison(
        real_rows=len(records[attributes[0]]),
        synthetic_rows=len(drawn[attributes[0]]),
        marginals=tuple(compare_marginals(records, drawn, schema.domain, order=order) for order in orders),
        model=model,
    )


def reveal(source: Any, schema: Schema, *, reason: str, ledger: Ledger | None = None) -> Mapping[str, np.ndarray]:
    """The codes [n] of each attribute, NOT PRIVATE; recorded in `ledger` where one is given."""
    with Curator(source, schema, budget=Budget(1.0), ledger=ledger) as curator:
        table = curator.reveal_without_privacy(reason)
    return {name: table.column(name).to_numpy() for name in schema.domain.attributes}


def _model_json(model: TrainedOnSynthetic) -> dict[str, Any]:
    scores = {
        name: {"accuracy": score.accuracy, "auc": None if np.isnan(score.auc) else score.auc}
        for name, score in (("synthetic", model.synthetic), ("real", model.real))
    }
    return {"target": model.target, "majority_accuracy": model.majority, "test_rows": model.test_rows, **scores}
