"""What all models that are trained with noisy gradients have in common: fitting, applying, saving, loading."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from counterfoil.accounting.budget import Budget, plain_number
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.callers import outside_the_package
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.gradient import GradientQuery
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.curator.unnoted import unnoted_at_worst
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.files import write_text
from counterfoil.json_text import json_file
from counterfoil.ledger.ledger import Ledger
from counterfoil.networks import require_torch
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.schema import Schema
from counterfoil.schema.unit_advice import warn_of_rows_alone
from counterfoil.synthesis.folder import ReleaseFolder
from counterfoil.synthesis.progress import Progress
from counterfoil.training.checkpoint import TrainingCheckpoint
from counterfoil.training.descent import Descent, Optimizer
from counterfoil.training.gradient_noise import noise_warnings
from counterfoil.training.model_folder import require_kind
from counterfoil.training.noise_warnings import NoisyGradientsWarning
from counterfoil.training.parameters import Parameters
from counterfoil.training.penalties import FEWEST
from counterfoil.training.private_run import DrawsOf, Schedule, train
from counterfoil.training.public_rows import coded_rows

if TYPE_CHECKING:
    from counterfoil.networks.network import Network

_FILES = ("network.json", "parameters.safetensors", "model.json", "schema.toml", "receipt.json")
_FOLDER = ReleaseFolder("counterfoil.model", 1, _FILES, "model")


@dataclass(kw_only=True)
class PrivateModel(Parameters, ABC):
    """A model that is trained on sensitive records with noisy gradients.

    Its parameters are public and fixed before `fit`; what `fit` learns is in attributes that end in an underscore, and
    `receipt` says what it cost. Neighboring tables have the same number of rows (`replace_one`), and the same number in
    each group of the columns that the model treats alike: those numbers are public.

    Args:
        epsilon, delta: of the guarantee, for the whole run.
        iterations: how many gradients are asked for.
        batch_share: the share of each group that a batch holds.
        clip_norm: C, the largest norm of the gradient of one record's loss.
        optimizer: "adam" or "sgd".
        learning_rate, momentum, gradient_clip, averaged: see `descent.Optimizer`.
        hidden: the widths of hidden layers; none gives a linear model.
        activation: "relu" or "tanh".
        network: a `torch.nn.Module` from [n, inputs] to [n, outputs], in place of `hidden`; it is copied.
        init_seed: of the initial parameters, which are public.
        seed: for tests and reproductions only: the model is then NOT PRIVATE, and its receipt says so.
        device: "cpu" or "cuda".
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    iterations: int = 500
    batch_share: float = 0.2
    clip_norm: float = 1.0
    optimizer: str = "adam"
    learning_rate: float = 0.05
    momentum: float = 0.0
    gradient_clip: float | None = None
    averaged: float = 0.5
    hidden: Sequence[int] = ()
    activation: str = "relu"
    network: Any = None
    init_seed: int = 0
    seed: int | None = None
    device: str = "cpu"

    kind: ClassVar[str]

    network_: Network = field(init=False, repr=False, compare=False)
    features_: TrainingFeatures = field(init=False, repr=False, compare=False)
    receipt: Receipt = field(init=False, repr=False, compare=False)
    losses_: np.ndarray = field(init=False, repr=False, compare=False)

    @abstractmethod
    def _features(self, schema: Schema, target: Any, protected: Sequence[str]) -> TrainingFeatures:
        """Which columns are inputs, targets and groups."""

    @abstractmethod
    def _network(self, features: TrainingFeatures) -> Network:
        """The network before training."""

    @abstractmethod
    def _query(
        self, network: Network, features: TrainingFeatures, sizes: tuple[int, ...], batches: tuple[int, ...]
    ) -> GradientQuery:
        """What each step asks."""

    def _draws(self, query: GradientQuery) -> DrawsOf | None:
        """What each step draws without a look at records; None for nothing."""
        return None

    def _fit(
        self,
        source: Any,
        schema: Schema | str | Path,
        *,
        target: Any,
        protected: str | Sequence[str] | None,
        ledger: Ledger | str | Path | None,
        checkpoint: str | os.PathLike[str] | None,
        progress: Progress,
    ) -> Self:
        require_torch()
        self._require_plain()
        facts = schema_for(source, schema)
        named = () if protected is None else (protected,) if isinstance(protected, str) else tuple(protected)
        features = self._features(facts, target, named)
        optimizer = self._optimizer()
        schedule = Schedule(self.iterations, self.batch_share, parts=1 if checkpoint is None else _PARTS)
        made_by = self._made_by(features)
        at = None if checkpoint is None else Path(checkpoint)
        before = TrainingCheckpoint.load(at) if at is not None and at.exists() else None
        budget = Budget(self.epsilon, self.delta)
        options: dict[str, Any] = {"relation": NeighboringRelation.REPLACE_ONE, "public_groups": features.groups}
        with Curator(source, facts, budget=budget, ledger=ledger, seed=self.seed, **options) as curator:
            if before is not None and self._taken_from(before, made_by, features, curator):
                return self
            warn_of_rows_alone(facts)
            network = self._network(features)
            self._require_askable(network, features)
            sizes = curator.group_sizes(features)
            if not any(sizes):
                raise ValueError(
                    f"{curator.source_name} must have rows to be learned from. Found a table without any: check it."
                )
            batches = schedule.batch_sizes(sizes)
            query = self._query(network, features, sizes, batches)
            (first, *_) = schedule.noises(query, curator)
            loud = noise_warnings(query, first.noise_multiplier, self.iterations)
            for words in loud:  # before the charge: where warnings are errors, nothing is spent
                warnings.warn(words, NoisyGradientsWarning, stacklevel=outside_the_package())
            descent = train(
                curator,
                query,
                schedule,
                optimizer,
                draws=self._draws(query),
                made_by=made_by,
                checkpoint=at,
                progress=progress,
            )
            self._keep(curator, features, descent, [*budget_warnings(budget, sum(sizes)), *loud])
            if at is not None:
                TrainingCheckpoint.load(at).finished(self.receipt.to_json()).save(at)
            with unnoted_at_worst(curator):
                curator.close()
        return self

    def _require_askable(self, network: Network, features: TrainingFeatures) -> None:
        """Refuses what no sizes of groups would make right, before they are read, which a ledger remembers for good.

        Raises:
            ValueError: with the parameter's name.
        """
        if self.delta == 0:
            raise ValueError("`delta` must be positive: the noise of training is Gaussian. Found 0.")
        network.load_vector(network.parameters_vector())  # refuses those that are not finite
        pretended = (FEWEST,) * features.group_count
        self._draws(self._query(network, features, pretended, pretended))

    def _made_by(self, features: TrainingFeatures) -> dict[str, Any]:
        """What a checkpoint says of the model that it is of."""
        schema = hashlib.sha256(features.schema.to_toml().encode()).hexdigest()
        columns = {name: list(getattr(features, name)) for name in _COLUMNS}
        return {"model": {"kind": self.kind, **self._public_parameters(), **columns, "schema_sha256": schema}}

    def _taken_from(
        self, before: TrainingCheckpoint, made_by: dict[str, Any], features: TrainingFeatures, curator: Curator
    ) -> bool:
        """Takes the model of a finished run, which is paid for; False where the run is not finished.

        Raises:
            ValueError: for the run of another model, or one that the ledger does not have.
        """
        if "receipt" not in before.state:
            return False
        if curator.recorded_charges(before.release) != before.state["receipt"]["charges"]:
            raise ValueError(
                "The checkpoint is of a run that is finished, and this ledger does not have it: it was of other "
                "records. Train without that checkpoint, or give the ledger that paid for it."
            )
        TrainingCheckpoint(before.release, {"model": before.settings.get("model")}, {}, {}).require_same(made_by)
        descent = before.descent(self._optimizer(), self.iterations)
        network = self._network(features)
        if network.describe() != before.settings["query"]["architecture"]:
            raise ValueError("The checkpoint is of another network. Continue it with the same, or train without it.")
        network.load_vector(descent.result)
        self.network_, self.features_ = network, features
        self.losses_ = np.array(descent.losses)
        self.receipt = Receipt(before.state["receipt"])
        return True

    def _optimizer(self) -> Optimizer:
        return Optimizer(self.optimizer, self.learning_rate, self.momentum, self.gradient_clip, self.averaged)

    def _keep(self, curator: Curator, features: TrainingFeatures, descent: Descent, said: list[str]) -> None:
        # A new one: a module of a user's own may have kept what it has seen.
        self.network_, self.features_ = self._network(features), features
        self.network_.load_vector(descent.result)
        self.losses_ = np.array(descent.losses)
        self.receipt = Receipt.from_curator(
            curator, method=self.kind, parameters=self._public_parameters(), rows=0, released="model", warnings=said
        )
        with unnoted_at_worst(curator):
            curator.record_receipt(self.receipt.digest)

    def _require_plain(self) -> None:
        """Refuses parameters that no receipt could hold, before the budget is spent.

        Raises:
            ValueError: with the parameter's name.
        """
        for name, value in self._public_parameters().items():
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError):
                found = f"{value!r}" if isinstance(value, float) else f"{type(value).__name__}: convert it"
                raise ValueError(
                    f"`{name}` must be made of Python's own finite numbers and texts, which a receipt can hold. "
                    f"Found {found}."
                ) from None

    def _public_parameters(self) -> dict[str, Any]:
        """The constructor's parameters, as JSON has them."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.init and each.name != "network"}
        given |= {name: plain_number(name, given[name]) for name in ("epsilon", "delta")}
        given["network"] = None if self.network is None else type(self.network).__qualname__
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    def _outputs(self, rows: Any) -> np.ndarray:
        """float64 [n, d]: what the trained network says of rows of the caller's own."""
        self._require_fitted()
        codes, numbers = coded_rows(rows, self.features_)
        return self.network_.outputs(self.features_.inputs(codes, numbers)).cpu().numpy()

    def _require_fitted(self) -> None:
        if not hasattr(self, "network_"):
            raise ValueError(f"This {type(self).__name__} is not trained yet: call `fit`, or `load` one that is.")

    def _module(self, features: TrainingFeatures, outputs: int) -> Network:
        """The network of a model with one output layer: `network`, or a perceptron."""
        from counterfoil.networks.architectures import linear, mlp
        from counterfoil.networks.network import Network

        inputs = len(features.input_names)
        if self.network is not None:
            made = Network.wrap(self.network, inputs=inputs, device=self.device)
            if made.outputs_count != outputs:
                raise ValueError(
                    f"`network` must have {outputs} output{'s' * (outputs > 1)} for these targets. "
                    f"Found {made.outputs_count}."
                )
            return made
        if not self.hidden:
            return linear(inputs, outputs, seed=self.init_seed, device=self.device)
        shape: dict[str, Any] = {"hidden": tuple(self.hidden), "activation": self.activation}
        return mlp(inputs, outputs, seed=self.init_seed, device=self.device, **shape)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the model to a new folder: weights (safetensors), parameters (JSON), schema and receipt.

        Raises:
            ValueError: where the folder exists, or the model is not trained, or its network is a module of your own,
                which only your code can make again: save `model.network_.parameters_vector()` then.
        """
        self._require_fitted()
        from counterfoil.networks import files

        if self.network is not None:
            raise ValueError(
                "A model with a network of your own can't be saved whole: its code is yours. Keep "
                "`model.network_.parameters_vector()` and `model.receipt` instead."
            )
        features = self.features_
        facts = {
            "kind": self.kind,
            "parameters": self._public_parameters(),
            "features": {name: list(getattr(features, name)) for name in _COLUMNS},
            "losses": [float(loss) for loss in self.losses_],
        }
        with _FOLDER.writing(folder) as draft:
            files.save(self.network_, draft)
            write_text(draft / "model.json", json.dumps(facts, indent=2) + "\n")
            write_text(draft / "schema.toml", features.schema.to_toml())
            self.receipt.save(draft / "receipt.json")

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, device: str | None = None) -> Self:
        """The model that `save` wrote, checked against the hashes in its folder.

        Args:
            folder: where it is.
            device: "cpu" or "cuda"; None takes the one that it was trained on where this machine has it, and the CPU
                elsewhere.

        Raises:
            ValueError: for another folder, a changed one, a model of another kind, or a device that is not here.
        """
        require_torch()
        from counterfoil.networks import files
        from counterfoil.networks.devices import device_or_cpu

        source = Path(folder)
        require_kind(source, cls.kind)
        _FOLDER.require_whole(source)
        facts = json_file(source / "model.json", "the description of a model", finite=False)
        place = device_or_cpu(facts["parameters"]["device"]) if device is None else device
        model = cls(**facts["parameters"] | {"device": place})
        schema = Schema.from_release(source / "schema.toml")
        model.features_ = TrainingFeatures(schema, **{name: tuple(v) for name, v in facts["features"].items()})
        model.network_ = files.load(source, device=model.device)
        model.losses_ = np.array(facts["losses"])
        model.receipt = Receipt.load(source / "receipt.json")
        _FOLDER.require_receipt(source, model.receipt)
        return model


_COLUMNS = ("targets", "groups", "leave_out")

_PARTS = 20
"""Charges of a run that keeps checkpoints."""
