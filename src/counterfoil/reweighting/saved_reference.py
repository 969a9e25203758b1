"""Another release as the reference density: its model, its weighted points, or its rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from counterfoil.curator.curator import Curator
from counterfoil.files import sha256_of
from counterfoil.receipt.receipt import Receipt
from counterfoil.reweighting.reference import Asking, Density, Reference
from counterfoil.synthesis.folder import INDEX, load_csv, load_parquet
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.table import encode

_POINTS = '"counterfoil.points"'


@dataclass(frozen=True, eq=False)
class SavedRelease(Reference):
    """A release of this package, which was paid for when it was made. What both cost together adds up.

    Args:
        release: a `Synthesis`, of whose model records are drawn, or a `PointSynthesis`, of its rows.
        receipt_sha256: of the receipt of a release that was read from files.

    Source: any density that is private may be the reference of Bojkovic and Loh's Algorithm 1.
    """

    name: ClassVar[str] = "release"

    release: Synthesis | PointSynthesis | None
    codes: np.ndarray | None
    receipt: Receipt
    columns: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, release: Synthesis | PointSynthesis) -> SavedRelease:
        """The reference of a release that is at hand."""
        codes = None if isinstance(release, Synthesis) else _codes(release.schema, release.to_arrow())
        return cls(release, codes, release.receipt, _columns(release.schema))

    @classmethod
    def load(cls, path: str | Path, curator_schema: Any) -> SavedRelease:
        """The reference of a saved folder, or of a table as `synth` wrote it, whose receipt lies beside it.

        Raises:
            ValueError: for anything else, or a table that is not its receipt's.
            OSError: when a file can't be read.
        """
        source = Path(path)
        if source.is_dir():
            index = source / INDEX
            points = index.is_file() and _POINTS in index.read_text(encoding="utf-8", errors="replace")
            return cls.of(PointSynthesis.load(source) if points else Synthesis.load(source))
        receipt = Receipt.load(source.with_name(f"{source.stem}.receipt.json"))
        if sha256_of(source) not in {output["sha256"] for output in receipt.document["outputs"]}:
            raise ValueError(f"{source} is not the table that its receipt was made for: its SHA-256 differs.")
        table = load_parquet(source) if source.suffix == ".parquet" else load_csv(source)
        return cls(None, _codes(curator_schema, table), receipt, _columns(curator_schema))

    def require_possible(self, curator: Curator) -> None:
        if not self.receipt.private and curator.randomness.private:
            raise ValueError("The reference release was made with a seed, and protects nobody: use another one.")
        if self.columns != _columns(curator.schema):
            raise ValueError("The reference release has other columns or codes than the schema: use one of this table.")

    def estimate(self, asking: Asking) -> Density:
        def draw(m: int, rng: np.random.Generator) -> np.ndarray:
            if isinstance(self.release, Synthesis):
                return self.release.model.sample(m, rng)
            assert self.codes is not None, "releases without a model have rows"
            order = rng.permutation(len(self.codes))
            return self.codes[np.resize(order, max(m, len(order)))[:m]]

        budget = self.receipt.document["budget"]
        return Density(
            draw,
            warnings=(
                f"The reference is another release, with a budget of epsilon {budget['epsilon']:g} and delta "
                f"{budget['delta']:g}. Where it was made from records of the same people, both budgets add up.",
            ),
        )

    def describe(self) -> dict[str, Any]:
        document = self.receipt.document
        return {
            "reference": self.name,
            "release": {
                "method": document["method"]["name"],
                "source": document["source"],
                "created": document["created"],
                "budget": dict(document["budget"]),
                "neighboring_relation": document["neighboring_relation"],
            },
        }


def _codes(schema: Any, table: Any) -> np.ndarray:
    codes = encode(schema, table)
    return np.column_stack([codes[name] for name in schema.domain.attributes]).astype(np.int32)


def _columns(schema: Any) -> tuple[tuple[str, int], ...]:
    return tuple(zip(schema.domain.attributes, schema.domain.sizes, strict=True))
