"""How fairly a trained classifier treats groups of sensitive records, bought with a budget of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.fidelity_fairness import GroupPredictions
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.curator.unnoted import unnoted_at_worst
from counterfoil.features.public_predictor import DenseLayer, LayeredPredictor
from counterfoil.ledger.ledger import Ledger
from counterfoil.receipt.noisy_groups import NoisyGroups, NoisyRatio, noisy_groups
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.schema import Schema
from counterfoil.training.classification import Classifier

if TYPE_CHECKING:
    from torch import Tensor, nn

    from counterfoil.networks.network import Network


@dataclass(frozen=True, eq=False)
class BoughtFairness:
    """Measures of a classifier between groups of the sensitive records, with their errors.

    Args:
        groups: the noisy counts that the measures follow from.
        receipt: what they cost.
    """

    groups: NoisyGroups
    receipt: Receipt

    @property
    def disparate_impact(self) -> NoisyRatio:
        """The smallest share predicted positive over the largest (DI)."""
        return self.groups.ratio("disparate_impact")

    @property
    def false_positive_ratio(self) -> NoisyRatio:
        """The same among records that are not positive (EO_0)."""
        return self.groups.ratio("false_positive_ratio")

    @property
    def true_positive_ratio(self) -> NoisyRatio:
        """The same among records that are positive (EO_1)."""
        return self.groups.ratio("true_positive_ratio")


def fairness_of(
    model: Classifier,
    source: Any,
    schema: Schema | str | Path,
    epsilon: float,
    delta: float = 0.0,
    *,
    protected: str | Sequence[str] | None = None,
    ledger: Ledger | str | Path | None = None,
    seed: int | None = None,
) -> BoughtFairness:
    """Buys counts of a trained classifier's predictions by group and class, with the whole of a budget.

    Neighboring tables are those that the model was trained for, so that one ledger counts both.

    Args:
        model: a trained classifier; its second class counts as positive.
        source: a path or a frame, as `Curator` takes it.
        schema: the public facts, the same as the model's.
        epsilon: of the budget.
        delta: of the budget; discrete Laplace noise where it is 0, else discrete Gaussian noise.
        protected: the column, or columns, of the groups; None for those that the model was trained to treat alike or
            without.
        ledger: where the cost is recorded.
        seed: for tests and reproductions only: the answer is then NOT PRIVATE, and the receipt says so.

    Raises:
        ValueError: in one sentence, before anything is charged: for a model that is not trained, a layer whose value
            for a record is not known to be the same in any company, or columns that are no groups.
    """
    facts = schema_for(source, schema)
    query = GroupPredictions(public_predictor(model), _protected_columns(model, protected))
    query.require_fits(facts)
    options: dict[str, Any] = {"relation": NeighboringRelation.REPLACE_ONE, "public_groups": model.features_.groups}
    with Curator(source, facts, budget=Budget(epsilon, delta), ledger=ledger, seed=seed, **options) as curator:
        account = curator.filter(PureFilter() if delta == 0 else GaussianFilter())
        groups = noisy_groups(query, account.ask(query, account.noise(account.capacity)), model=f"trained {model.kind}")
        receipt = Receipt.from_curator(
            curator,
            method="fairness",
            parameters={"of": model.kind, **query.describe()},
            rows=0,
            released="measures",
            warnings=budget_warnings(curator.budget, None),
        ).with_fidelity([groups.to_json()], [])
        with unnoted_at_worst(curator):
            curator.record_receipt(receipt.digest)
            curator.close()
    return BoughtFairness(groups, receipt)


def public_predictor(model: Classifier) -> LayeredPredictor:
    """A trained classifier as a predictor that gives a record the same answer in any company.

    Raises:
        ValueError: for a model that is not trained, or whose network has other layers than dense ones with ReLU, tanh
            or sigmoid between them.
    """
    if not isinstance(model, Classifier) or not hasattr(model, "network_"):
        raise ValueError(
            "`model` must be a trained classifier, `FairClassifier` or `DPSGDClassifier`, of which predictions can be "
            f"counted exactly. Found {type(model).__name__}."
        )
    return LayeredPredictor(model.features_, dense_layers(model.network_))


def dense_layers(network: Network) -> tuple[DenseLayer, ...]:
    """The weights of a network, layer by layer.

    Raises:
        ValueError: for a layer of another kind.
    """
    from torch import nn

    layers: list[DenseLayer] = []
    for part in _parts(network._function.module):
        if type(part) is nn.Linear:
            weights = _numbers(part.weight)
            layers.append(DenseLayer(weights, np.zeros(len(weights)) if part.bias is None else _numbers(part.bias)))
        elif (name := type(part).__name__.lower()) in _ACTIVATIONS and _is_own(part) and layers:
            last = layers[-1]
            if last.activation != "identity":
                raise ValueError(_refusal(part))
            layers[-1] = DenseLayer(last.weights, last.bias, name)
        elif type(part) is not nn.Identity:
            raise ValueError(_refusal(part))
    return tuple(layers)


_ACTIVATIONS = ("relu", "tanh", "sigmoid")


def _numbers(tensor: Tensor) -> np.ndarray:
    """A copy, in float64."""
    return tensor.detach().cpu().numpy().astype(np.float64)


def _parts(module: nn.Module) -> list[nn.Module]:
    """The steps of a module in their order; a module that is no plain sequence is one step."""
    from torch import nn

    if type(module) is not nn.Sequential:
        return [module]
    return [part for child in module for part in _parts(child)]


def _is_own(part: nn.Module) -> bool:
    """Whether the class is PyTorch's, and not one of the same name."""
    from torch import nn

    return getattr(nn, type(part).__name__, None) is type(part)


def _refusal(part: nn.Module) -> str:
    return (
        "Fairness can be bought for networks of linear layers, each with at most one ReLU, tanh or sigmoid after it, "
        f"whose value for a record is the same beside any others. Found {type(part).__name__}: train a model with "
        "`hidden` layers, or compare its predictions on public rows by `evaluation.fairness.group_fairness`."
    )


def _protected_columns(model: Classifier, protected: str | Sequence[str] | None) -> tuple[str, ...]:
    if protected is not None:
        return (protected,) if isinstance(protected, str) else tuple(protected)
    features = model.features_
    named = dict.fromkeys((*features.groups, *features.leave_out))
    return tuple(name for name in named if name not in features.targets)
