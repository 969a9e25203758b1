"""What a bought schema may have cut off, in a sentence for the receipts of releases that are made with it."""

from __future__ import annotations

from counterfoil.schema.schema import Schema

_MANY = 0.01
"""A share of the rows that changes a mean or a deviation where it is cut off a long tail."""


def hidden_by_bought(schema: Schema) -> list[str]:
    """One sentence where bounds were bought, and more than a hundredth of the rows may lie beyond each; else none.

    The number is public: it follows from the noise of the purchase.
    """
    bought = schema.bought
    if bought is None or bought.hides is None or bought.rows is None or bought.hides < _MANY * max(bought.rows, 1):
        return []
    bounded = [column.name for column in schema.columns if getattr(column, "lower", None) is not None]
    if not bounded:
        return []
    return [
        f"The schema was bought, and the noise hid what fewer than {bought.hides:,} of about {bought.rows:,} rows "
        "share. So many may lie beyond a bound that was bought, and count as it: the mean and the deviation of a "
        "column with a long tail may be too small. State bounds that the public knows, or buy with more epsilon."
    ]
