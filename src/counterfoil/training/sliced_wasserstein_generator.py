"""A network that moves one sample onto another, where either of them, or both, are sensitive records."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa

from counterfoil.curator.queries.generator_gradient import GeneratorGradient, Protected
from counterfoil.curator.queries.gradient import GradientQuery, PublicDraws
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.geometry.decoding import values
from counterfoil.ledger.ledger import Ledger
from counterfoil.networks import require_torch
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.schema import Schema
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.training.model import PrivateModel
from counterfoil.training.private_run import DrawsOf
from counterfoil.training.public_rows import advising, coded_rows, require_other_rows
from counterfoil.transport.rank_gradient import random_directions, require_projections

if TYPE_CHECKING:
    from counterfoil.networks.network import Network

_NEVER_MISSING = "Correct the data or leave the row out: what a generator moves are numbers that are never missing."


@dataclass(kw_only=True)
class SlicedWassersteinGenerator(PrivateModel):
    """A network g, trained so that SW_2^2(g(X), Z) falls: what it makes of X is distributed as Z is.

    X and Z have the same columns, which are numbers that are never missing. Neighboring tables differ in one record of
    what is protected. What g makes of a record is as private as that record is; g itself may be given to anyone. (Where
    X is standard normal numbers, `counterfoil.methods.WassersteinGenerator` makes points, and protects Z.)

        generator = SlicedWassersteinGenerator(protects="both", sides=("clinic", "old", "new"), epsilon=4)
        generator.fit("patients.csv", "patients.schema.toml").transform("more patients of the old clinic.csv")

    Source: Rodriguez-Vitores, Lalanne and Loubes 2025, "Learning with differentially private (sliced) Wasserstein
    gradients", appendix C, which names X and Z so.

    Args:
        protects: "Z": the sensitive table is Z, and X is public rows. "X": the table is X, and Z is public rows.
            "both": the table has the records of both.
        sides: with "both", a column and the two labels in it of X and of Z. It is no input of g. On which side a person
            is, is not protected, and how many rows have each label is public.
        bound: M: points count as at most this far from the middle of the columns' bounds, which are -1 and 1; None
            takes the corner, the square root of the number of columns.
        jacobian_norm: L, the largest norm of the Jacobian of a point of g. The noise is in proportion to it.
        clipping: "spectral" clips Jacobians by their spectral norm, "components" row by row, as the paper did.
        projections: directions of the sliced distance, drawn anew for each step.
    """

    kind: ClassVar[str] = "sliced-wasserstein-generator"

    protects: Protected = "Z"
    sides: Sequence[str] | None = None
    hidden: Sequence[int] = (64, 64)
    iterations: int = 200
    batch_share: float = 0.1
    learning_rate: float = 0.01
    gradient_clip: float | None = 1.0
    averaged: float = 0.2
    bound: float | None = None
    jacobian_norm: float = 2.0
    clipping: Literal["spectral", "components"] = "spectral"
    projections: int = 50
    clip_norm: float = field(default=1.0, init=False)  # a distance has no losses of single records

    _public: np.ndarray | None = field(default=None, init=False, repr=False, compare=False)

    def fit(
        self,
        source: Any,
        schema: Schema | str | Path,
        *,
        public: Any = None,
        ledger: Ledger | str | Path | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """Trains on a sensitive table, and spends the whole budget.

        Args:
            source: a path or a frame, as `Curator` takes it: the records of what is protected.
            schema: the public facts about it, or the path of the TOML file that states them.
            public: rows of the side that is not protected, a path or a frame with the same columns; none with "both".
            ledger: where the cost is recorded.
            checkpoint: a file for the state of the run, which then goes on after it was stopped.
            progress: called with the noisy distance so far.

        Raises:
            ValueError: in one sentence, before anything is charged.
            ImportError: without PyTorch.
        """
        require_torch()
        self._require_options(public)
        require_other_rows(source, public)
        features = self._features(schema_for(source, schema), None, ())
        self._public = None if public is None else self._rows(public, features)
        if self._public is not None and not len(self._public):
            raise ValueError("`public` must have rows of the side that is not protected. Found none.")
        with advising(_NEVER_MISSING):
            return self._fit(
                source, schema, target=None, protected=None, ledger=ledger, checkpoint=checkpoint, progress=progress
            )

    def transform(self, rows: Any) -> np.ndarray:
        """float64 [n, columns]: g of rows of the caller's own, in the columns' units and within their bounds."""
        self._require_fitted()
        made = np.clip(self.network_.outputs(self._rows(rows, self.features_)).cpu().numpy(), -1, 1)
        ranges = [column.ranges for column in self.features_.columns]
        lower = np.array([np.nanmin(lows) for lows, _ in ranges])
        upper = np.array([np.nanmax(highs) for _, highs in ranges])
        return lower + (made + 1) / 2 * (upper - lower)

    def moved(self, rows: Any) -> pa.Table:
        """`transform`, as the nearest values that the columns may have: whole numbers, days, declared decimals."""
        made = self.transform(rows)
        columns = enumerate(self.features_.columns)
        return pa.table({c.name: values(c, made[:, i]) for i, c in columns if isinstance(c, NumberColumn)})

    @property
    def transformed_names(self) -> list[str]:
        """What `transform` returns in each of its columns."""
        self._require_fitted()
        return [column.name for column in self.features_.columns]

    @property
    def public_groups(self) -> tuple[str, ...]:
        """The columns whose groups have public sizes."""
        return () if self.sides is None else (self.sides[0],)

    def _require_options(self, public: Any) -> None:
        """Refuses what could only fail later, or would go by without a word.

        Raises:
            ValueError: with the parameter's name.
        """
        for name in ("bound", "jacobian_norm"):
            value = getattr(self, name)
            none = value is None and name == "bound"
            if not none and not (isinstance(value, (int, float)) and 1e-29 <= value <= 1e29):
                raise ValueError(f"`{name}` must be from 1e-29 to 1e29. Found {value!r}: give a number, such as 2.")
        if self.protects not in ("Z", "X", "both"):
            raise ValueError(f'`protects` must be "Z", "X" or "both". Found {self.protects!r}.')
        both = self.protects == "both"
        if both != (self.sides is not None):
            raise ValueError(
                '`sides` goes with `protects` = "both". Found '
                + ("none: name a column and its labels of X and of Z." if both else f"it with {self.protects!r}.")
            )
        if both != (public is None):
            raise ValueError(
                "`public` is the rows of the side that `protects` does not name, which need no protection. Found "
                + ('some with "both": leave them out.' if both else f"none with {self.protects!r}: give them.")
            )

    def _features(self, schema: Schema, target: Any, protected: Sequence[str]) -> TrainingFeatures:
        groups = self.public_groups
        for name in groups:
            if name not in schema.domain.attributes:
                hint = did_you_mean(name, schema.domain.attributes)
                raise ValueError(f"`sides` must name a synthesized column of the schema. Found {name!r}.{hint}")
        features = TrainingFeatures(schema, (), groups, groups)
        for column in features.columns:
            if not isinstance(column, NumberColumn) or column.missing:
                raise ValueError(
                    f"Column {column.name!r} must be a number that is never missing, to be moved: ignore it in the "
                    "schema, or declare it as one and leave out the rows without it."
                )
        if self.sides is not None:
            self._groups(features)
        return features

    def _groups(self, features: TrainingFeatures) -> tuple[int, int]:
        """The groups of X and of Z.

        Raises:
            ValueError: for labels that the column does not have.
        """
        column, *labels = self.sides or ("",)
        known = [str(label) for label in features.schema[column].labels]
        for label in labels:
            if label not in known:
                raise ValueError(
                    f"`sides` must name two labels of {column!r}. Found {label!r}.{did_you_mean(label, known)}"
                )
        if len({*labels}) != 2 or len(labels) != 2:
            raise ValueError(f"`sides` must be a column and two labels of it, of X and of Z. Found {self.sides!r}.")
        return known.index(labels[0]), known.index(labels[1])

    def _rows(self, rows: Any, features: TrainingFeatures) -> np.ndarray:
        """float64 [n, columns] in [-1, 1]: rows of the caller's own."""
        with advising(_NEVER_MISSING):
            return features.inputs(*coded_rows(rows, features))

    def _made_by(self, features: TrainingFeatures) -> dict[str, Any]:
        made = super()._made_by(features)
        rows = None if self._public is None else hashlib.sha256(self._public.tobytes()).hexdigest()
        return {"model": made["model"] | {"public_sha256": rows}}

    def _network(self, features: TrainingFeatures) -> Network:
        return self._module(features, len(features.input_names))

    def _query(
        self, network: Network, features: TrainingFeatures, sizes: tuple[int, ...], batches: tuple[int, ...]
    ) -> GradientQuery:
        from counterfoil.networks.penalized_gradient import LossTerm

        count = network.outputs_count
        bound = math.sqrt(count) if self.bound is None else self.bound
        # No gradient of the distance is longer than 4 M L.
        loss = LossTerm("sliced_wasserstein", (0, count), 4 * bound * self.jacobian_norm, 4 * bound**2)
        groups = None if self.sides is None else self._groups(features)
        if groups is not None:
            batches = tuple(batch if group in groups else 0 for group, batch in enumerate(batches))
        limits: dict[str, Any] = {"clipping": self.clipping, "protects": self.protects, "sides": groups}
        return GeneratorGradient(network, features, sizes, batches, loss, bound, self.jacobian_norm, **limits)

    def _draws(self, query: GradientQuery) -> DrawsOf | None:
        count, batch, public = query.network.outputs_count, sum(query.batch_sizes), self._public
        along = require_projections(self.projections) if count > 1 else 1

        def draws(rng: np.random.Generator) -> PublicDraws:
            directions = random_directions(rng, along, count)
            if public is None:
                return PublicDraws(directions)
            rows = public[rng.integers(len(public), size=batch)]
            return PublicDraws(directions, points=rows) if self.protects == "X" else PublicDraws(directions, rows)

        return draws
