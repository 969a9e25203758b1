"""Words for true and false beside texts that are neither: categories, and no boolean that misses all others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.discover import discover

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

ROWS = 20_000
COLUMNS = {
    "sex": {"F": 0.93, "M": 0.07},
    "default": {"N": 0.93, "J": 0.07},
    "consent": {"no": 0.7, "yes": 0.25, "refused": 0.05},
    "member": {"yes": 0.95, "no": 0.05},
    "smoker": {"yes": 0.6, "no": 0.35, "NA": 0.05},
}


def test_a_frequent_text_beside_truths_makes_categories_of_them(tmp_path):
    """A text is released where at least a thousand rows have it, forty times the noise; delta bounds all others."""
    rng = np.random.default_rng(4)
    drawn = {name: rng.choice(list(shares), ROWS, p=list(shares.values())) for name, shares in COLUMNS.items()}
    pd.DataFrame(drawn).to_csv(tmp_path / "t.csv", index=False)
    discovered, curator = discover(tmp_path / "t.csv", budget=Budget(2.0, 1e-9), seed=3)
    curator.close()
    columns = {column.name: column for column in discovered.columns}
    found = {name: (column.kind, {text for text, _ in column.categories}) for name, column in columns.items()}
    assert found == {
        "sex": ("text", {"F", "M"}),
        "default": ("text", {"N", "J"}),
        "consent": ("text", {"no", "yes", "refused"}),
        "member": ("boolean", {"yes", "no"}),
        "smoker": ("boolean", {"yes", "no"}),
    }
    assert columns["smoker"].missing_words == ("NA",)
    assert min(columns[name].read[0] for name in ("sex", "default", "consent")) > 0.98
