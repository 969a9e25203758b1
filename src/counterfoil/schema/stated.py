"""Which facts of a column its user stated by hand: nothing is bought about these."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.schema.discovered import Kind


@dataclass(frozen=True)
class Stated:
    """What is known of one column already.

    Args:
        kind: what its cells are, or None where that is to be asked.
        ranged: whether the bounds of a number or a date are stated.
        listed: whether the categories of a text are stated.
        ignored: whether the column is not described at all, an identifier for one.
        decimal_char: the decimal sign of its texts, as columns of numbers state it.
        unit: what stands beside the numbers of its texts.
    """

    kind: Kind | None = None
    ranged: bool = False
    listed: bool = False
    ignored: bool = False
    decimal_char: str = ""
    unit: str = ""

    @property
    def closed(self) -> bool:
        """Whether nothing is left to ask."""
        if self.ignored or self.kind == "boolean":
            return True
        return self.listed if self.kind == "text" else self.kind is not None and self.ranged
