"""What a bought schema may have cut off, in a sentence for the receipts of releases that are made with it."""

from __future__ import annotations

from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.schema import Schema

_MANY = 0.01
"""A share of the rows that changes a mean, a deviation or a share where it is cut off, or read as something else."""


def hidden_by_bought(schema: Schema) -> list[str]:
    """What a purchase of which the noise hides more than a hundredth of the rows may have left out; else nothing.

    The number is public: it follows from the noise of the purchase. Which facts were bought and which stated a schema
    does not say, so that nothing is said of a column by name.
    """
    bought = schema.bought
    if bought is None or bought.hides is None or bought.rows is None or bought.hides < _MANY * max(bought.rows, 1):
        return []
    shared = f"what fewer than {bought.hides:,} of about {bought.rows:,} rows share"
    said = []
    if any(getattr(column, "lower", None) is not None for column in schema.columns):
        said.append(
            f"The schema was bought, and the noise hid {shared}. So many may lie beyond a bound that was bought, or "
            "more where a long tail grows ever thinner, and count as it: the mean and the deviation of a column with a "
            "long tail may be too small. State bounds that the public knows, or buy with more epsilon."
        )
    if any(isinstance(column, Categorical | Boolean) for column in schema.columns):
        too = "Values" if said else f"The schema was bought, and the noise hid {shared}. Values"
        empty = _EMPTY if any(map(_takes_empty_cells, schema.columns)) else ""
        said.append(
            f"{too} that so few rows have may be in no list that was bought: they count as `other`, or as missing "
            f"where a column has none, as one of true and false.{empty} State the values that the public knows."
        )
    return [" ".join(said)] if said else []


_EMPTY = " Where a column has no place for missing cells, empty ones count as `other`, too, which no reader can tell."


def _takes_empty_cells(column: object) -> bool:
    """Whether its `other` holds empty cells, too: a share of people whose sex is `other`, say, who gave no answer."""
    return isinstance(column, Categorical) and column.other and not column.missing
