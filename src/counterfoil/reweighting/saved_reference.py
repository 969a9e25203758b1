"""Another release as the reference density: its model, or its rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.curator.curator import Curator
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.receipt.receipt import Receipt
from counterfoil.reweighting.reference import Asking, Density, Reference
from counterfoil.schema import Schema
from counterfoil.schema.former_bins import in_bins_of, in_former_bins
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.saved import load_folder, load_table, receipt_beside
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.table import encode


@dataclass(frozen=True, eq=False)
class SavedRelease(Reference):
    """A release of this package, which was paid for when it was made: what releases of the same people cost adds up.

    Args:
        receipt: its receipt.
        model: what records are drawn from; the rows where None.
        codes: int32 [rows, attributes]: its rows, where there is no model, by the schema that it was made with.

    Source: any density that is private may be the reference of Bojkovic and Loh's Algorithm 1.
    """

    name: ClassVar[str] = "release"

    receipt: Receipt
    model: TableModel | None
    codes: np.ndarray | None

    @classmethod
    def of(cls, release: Synthesis | PointSynthesis) -> SavedRelease:
        """The reference of a release that is at hand."""
        if isinstance(release, Synthesis):
            return cls(release.receipt, release.model, None)
        return cls(release.receipt, None, _codes(release.schema, release.to_arrow()))

    @classmethod
    def load(cls, path: str | Path, schema: Schema) -> SavedRelease:
        """The reference of a saved folder, or of a table as `synth` wrote it, whose receipt lies beside it.

        Raises:
            ValueError: for anything else, a table that is not its receipt's, or one without rows.
            OSError: when a file can't be read.
        """
        source = Path(path)
        if source.is_dir():
            return cls.of(load_folder(source))
        receipt = Receipt.load(receipt_beside(source))
        table = load_table(source, receipt)
        return cls(receipt, None, _codes(_released_schema(receipt, schema), table))

    def require_possible(self, curator: Curator) -> None:
        if not self.receipt.private and curator.randomness.private:
            raise ValueError("The reference release was made with a seed, and protects nobody: use another one.")
        if problems := self.receipt.verify().problems:
            raise ValueError(f"The receipt of the reference release does not hold: {problems[0]}")
        _released_schema(self.receipt, curator.schema)
        if self.model is None and not (self.codes is not None and len(self.codes)):
            raise ValueError("The reference release has no rows: use another one.")

    def estimate(self, asking: Asking) -> Density:
        schema = asking.curator.schema
        released = _released_schema(self.receipt, schema)

        def draw(m: int, rng: np.random.Generator) -> np.ndarray:
            codes = self._drawn(m, rng)
            return codes if released is schema else in_bins_of(schema, codes, released, rng)

        return Density(draw, warnings=(self._warning(asking.curator),))

    def _drawn(self, m: int, rng: np.random.Generator) -> np.ndarray:
        """Int [m, attributes]: by the schema that the release was made with."""
        if self.model is not None:
            return self.model.sample(m, rng)
        assert self.codes is not None, "releases without a model have rows"
        order = rng.permutation(len(self.codes))
        return self.codes[np.resize(order, max(m, len(order)))[:m]]

    def describe(self) -> dict[str, Any]:
        document = self.receipt.document
        text = json.dumps(document, sort_keys=True, allow_nan=False)
        described = {
            "method": document["method"]["name"],
            "source": document["source"],
            "created": document["created"],
            "budget": dict(document["budget"]),
            "neighboring_relation": document["neighboring_relation"],
            "privacy_unit": document["privacy_unit"],
            "receipt_sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
        inner = document["method"]["parameters"].get("release")
        return {"reference": self.name, "release": described | ({"release": inner} if inner else {})}

    def _warning(self, curator: Curator) -> str:
        """What the releases that this one builds on cost, and whether that adds up."""
        chain = list(_chain(self.describe()["release"]))
        budgets = [one["budget"] for one in chain]
        epsilon, delta = (sum(float(budget[name]) for budget in budgets) for name in ("epsilon", "delta"))
        unit = curator.neighbors.unit
        here = (curator.relation.value, None if unit is None else (unit.column, unit.max_rows))
        alike = all(_protects(one) == here for one in chain)
        spent = f"epsilon {epsilon:g} and delta {delta:g}"
        releases = "another release, which cost" if len(chain) == 1 else f"{len(chain)} releases, which cost"
        return f"The reference rests on {releases} {spent}" + (
            ": where it was made from records of the same people, that is to be added to what this one costs."
            if alike
            else ", in part for another relation or privacy unit than this one: such budgets can't simply be added."
        )


def _chain(release: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A release, and those that its references were."""
    yield release
    if isinstance(inner := release.get("release"), Mapping):
        yield from _chain(inner)


def _protects(release: Mapping[str, Any]) -> tuple[str, tuple[str, int] | None]:
    unit = release["privacy_unit"]
    return release["neighboring_relation"], None if unit is None else (unit["column"], unit["max_rows"])


def _released_schema(receipt: Receipt, schema: Schema) -> Schema:
    """This schema, or what a version before 0.13 made of it (`in_former_bins`), as the release was made with one.

    Codes of one schema mean other values under another, though there be as many.
    """
    for one in (schema, in_former_bins(schema)):
        if receipt.document["schema_sha256"] == hashlib.sha256(one.to_toml().encode()).hexdigest():
            return one
    raise ValueError("The reference release was made with another schema: use one of this schema.")


def _codes(schema: Schema, table: pa.Table) -> np.ndarray:
    codes = encode(schema, table)
    return np.column_stack([codes[name] for name in schema.domain.attributes]).astype(np.int32)
