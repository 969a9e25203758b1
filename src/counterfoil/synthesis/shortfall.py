"""What is said where fewer rows meet the schema's rules than were asked for."""

from __future__ import annotations

from counterfoil.schema import Schema
from counterfoil.schema.possibility import rule_texts


def shortfall(schema: Schema, *, found: int, asked: int) -> list[str]:
    """The warnings of a release of `found` rows: what the budget bought is handed over, however little it is.

    Public: it depends on the released model, and on chance that is independent of the records.

    Raises:
        ValueError: where rows were asked for and none was found.
    """
    if found >= asked:
        return []
    if found == 0:
        raise ValueError(
            f"None of the rows that were drawn met the rules ({rule_texts(schema)}): there is nothing to release. "
            f"{_REMEDY}"
        )
    return [
        f"Only {found:,} of {asked:,} rows could be drawn: the others broke the rules ({rule_texts(schema)}), however "
        f"often they were drawn again. {_REMEDY}"
    ]


_REMEDY = (
    "Leave out a column that follows from others and compute it later, or state rules on one or two columns, which "
    "methods that count marginals follow by themselves."
)
