"""The warning of a release with fewer rows than were requested, because few meet the schema's rules."""

from __future__ import annotations

from counterfoil.schema import Schema
from counterfoil.schema.possibility import rule_texts


def shortfall(schema: Schema, *, drawn: int, requested: int) -> list[str]:
    """The warnings of a release of `drawn` rows: it is delivered, however few they are, because the budget is spent.

    The warnings are public: they depend on the released model, and on randomness that is independent of the records.

    Raises:
        ValueError: where rows were requested and none could be drawn.
    """
    if drawn >= requested:
        return []
    if drawn == 0:
        raise ValueError(
            f"None of the rows that were drawn met the rules ({rule_texts(schema)}): there is nothing to release. "
            f"{_REMEDY}"
        )
    return [
        f"Only {drawn:,} of {requested:,} rows could be drawn: the others broke the rules ({rule_texts(schema)}), "
        f"however often they were drawn again. {_REMEDY}"
    ]


_REMEDY = (
    "Leave out a column that follows from others and compute it later, or state rules on one or two columns, which "
    "methods that count marginals follow by themselves."
)
