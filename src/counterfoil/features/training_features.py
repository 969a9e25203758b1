"""What a model is trained on: the inputs, the target and the public group of each record, from declared facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.feature_map import UNIT, input_names_of, scaled_to_unit
from counterfoil.schema.column import Column
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.schema import Schema

MOST_INPUTS = 4096
MOST_GROUPS = 64


@dataclass(frozen=True)
class TrainingFeatures:
    """The public map from a record to the numbers that a model reads. Nothing is fitted on records.

    An ordered input is scaled to [-1, 1] by its declared bounds; one that may be missing counts as 0 there, and has an
    indicator. Any other input has an indicator, 0 or 1, for each of its codes.

    Args:
        schema: the public facts.
        targets: what is predicted: one column of any kind (its codes are the classes), or ordered ones (their scaled
            numbers); none for models of the inputs themselves.
        groups: columns whose combinations of codes are the groups.
        leave_out: further columns that are not inputs, such as the protected one.

    Raises:
        ValueError: for an unknown column, one that is both target and group twice over, no inputs, or too many.
    """

    schema: Schema
    targets: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = self.schema.domain.attributes
        for role in ("targets", "groups", "leave_out"):
            named = getattr(self, role)
            for name in named:
                if name not in known:
                    hint = did_you_mean(name, known)
                    raise ValueError(f"`{role}` must be synthesized columns of the schema. Found {name!r}.{hint}")
            if len({*named}) < len(named):
                raise ValueError(f"`{role}` must name each column once. Found {', '.join(named)}.")
        if not self.columns:
            raise ValueError("A model needs a column to learn from. Found none beside the targets and those left out.")
        if len(self.input_names) > MOST_INPUTS:
            raise ValueError(
                f"Models of at most {MOST_INPUTS:,} inputs are trained. The schema gives {len(self.input_names):,}: "
                "merge categories, or ignore columns."
            )
        if self.group_count > MOST_GROUPS:
            raise ValueError(
                f"At most {MOST_GROUPS} public groups are kept apart. Found {self.group_count:,} combinations of "
                f"{' and '.join(self.groups)}: name a column with fewer categories or bins."
            )

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns that inputs are made of."""
        out = {*self.targets, *self.leave_out}
        return tuple(column for column in self.schema.synthesized if column.name not in out)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """The name of each input."""
        return tuple(name for column in self.columns for name in input_names_of(column))

    @property
    def target_classes(self) -> int:
        """How many classes the one target has."""
        return self.schema.domain[self.targets[0]]

    @property
    def group_count(self) -> int:
        """How many groups there are, empty ones included."""
        return int(np.prod([self.schema.domain[name] for name in self.groups], dtype=np.int64))

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """Each group in words."""
        names = [""]
        for column in self.groups:
            labels = self.schema[column].labels
            names = [f"{before}, {column} = {label}".lstrip(", ") for before in names for label in labels]
        return tuple(names)

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns whose codes are needed."""
        listed = (column.name for column in self.columns if not column.is_ordered)
        return tuple(dict.fromkeys((*listed, *self.groups, *self.targets)))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns whose numbers are needed."""
        targets = (name for name in self.targets if self.schema[name].is_ordered)
        return tuple(dict.fromkeys((*(column.name for column in self.columns if column.is_ordered), *targets)))

    def inputs(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [n, inputs] in [-1, 1]; each row depends on its own record alone."""
        parts = [self._of_column(column, codes, numbers) for column in self.columns]
        return np.concatenate(parts, axis=1)

    def target_numbers(self, numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [n, targets] in [-1, 1]; a missing one counts as 0, the middle."""
        scaled = [scaled_to_unit(self.schema[name], numbers[name]) / UNIT for name in self.targets]
        return np.nan_to_num(np.stack(scaled, axis=1), nan=0.0)

    def group_of(self, codes: Mapping[str, np.ndarray]) -> np.ndarray:
        """int64 [n]: the group of each record."""
        group = np.zeros(len(next(iter(codes.values()))), dtype=np.int64)
        for name in self.groups:
            group = group * self.schema.domain[name] + codes[name].astype(np.int64)
        return group

    def _of_column(
        self, column: Column, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        if not column.is_ordered:
            return (codes[column.name][:, None] == np.arange(column.size)).astype(np.float64)
        scaled = scaled_to_unit(column, numbers[column.name]) / UNIT
        absent = np.isnan(scaled)
        value = np.where(absent, 0.0, scaled)[:, None]
        return np.concatenate([value, absent[:, None]], axis=1) if column.missing else value
