"""Words for missing that one column of a purchase surely has are those of its neighbors, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from counterfoil.accounting.budget import Budget
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.schema.placement import Placement, placements_of


def test_a_rare_word_is_missing_beside_a_column_where_it_is_frequent(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "job": rng.choice(["clerk", "cook", "NA"], 6000, p=[0.5, 0.3, 0.2]),
            "sex": rng.choice(["female", "male", "NA"], 6000, p=[0.5, 0.498, 0.002]),
            "age": np.where(rng.random(6000) < 0.002, "NA", rng.integers(18, 90, 6000).astype(str)),
            "region": rng.choice(["EU", "AS", "NA"], 6000, p=[0.6, 0.398, 0.002]),
        }
    )
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    made, curator = SchemaPurchase.of(path, Budget(2.0, 1e-9), "add_or_remove_one").make(None)
    curator.close()
    for name, way in (("sex", Placement.MISSING), ("age", Placement.MISSING), ("region", Placement.OTHER)):
        column = made.schema[name]
        found = placements_of(column, pa.array(table[name]))  # type: ignore[arg-type]
        assert set(found[table[name] == "NA"].tolist()) == {way}, name
        others = found[table[name] != "NA"]
        assert not np.isin(others, (Placement.MISSING, Placement.UNREADABLE, Placement.OTHER)).any(), name
