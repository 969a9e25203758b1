"""Tables of categories drawn at random, for tests of what a release of them looks like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from counterfoil.schema import Categorical, Schema


def categories_schema(names: Sequence[str], values: Sequence[str]) -> Schema:
    """Columns of these names, each with the same categories; the schema's own name is markup."""
    return Schema(tuple(Categorical(name, values=tuple(values)) for name in names), name="hostile <i>")


def categories_table(names: Sequence[str], values: Sequence[str], rows: int) -> pd.DataFrame:
    """Independent columns."""
    drawn = np.random.default_rng(0).choice(list(values), (rows, len(names)))
    return pd.DataFrame(drawn, columns=list(names))
