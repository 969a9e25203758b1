"""Columns that name a person or a record: never read, regenerated or left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.errors import SchemaError, closest
from counterfoil.schema.plain_arrays import array_of

REPLACEMENTS = ("drop", "sequence", "uuid")


@dataclass(frozen=True)
class Identifier:
    """A column whose values are not synthesized.

    `replace` says what stands in its place: "drop" nothing, "sequence" the numbers 1, 2, …, "uuid" random
    version-4 identifiers (RFC 9562).
    """

    kind: ClassVar[str] = "identifier"

    name: str
    replace: str = "drop"

    def __post_init__(self) -> None:
        if self.replace not in REPLACEMENTS:
            raise SchemaError(
                f"Column {self.name!r} (identifier): `replace` must be one of {', '.join(REPLACEMENTS)};"
                f" found {self.replace!r}.{closest(self.replace, REPLACEMENTS)}"
            )

    def generate(self, n_rows: int, rng: np.random.Generator, *, before: int = 0) -> pa.Array | None:
        """Fresh identifiers [n_rows], after the first `before` numbers, or None where the column is dropped."""
        if self.replace == "drop":
            return None
        if self.replace == "sequence":
            return array_of(np.arange(before + 1, before + n_rows + 1), pa.int64())
        octets = rng.integers(0, 256, (n_rows, 16), dtype=np.uint8)
        octets[:, 6] = octets[:, 6] & 0x0F | 0x40
        octets[:, 8] = octets[:, 8] & 0x3F | 0x80
        digits = [row.tobytes().hex() for row in octets]
        return array_of([f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}" for d in digits], pa.string())

    def facts(self) -> dict[str, Any]:
        """The facts of this kind, as TOML keys and values."""
        return {"replace": self.replace}
