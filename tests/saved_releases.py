"""What tests of saved releases share: a schema of several kinds of columns, and changes that the index agrees to."""

from __future__ import annotations

import json
from pathlib import Path

from counterfoil.files import sha256_of

VISITS_TOML = """
name = "visits"

[columns.visit]
kind = "identifier"
replace = "uuid"

[columns.day]
kind = "date"
lower = 2024-01-01
upper = 2024-12-31
bins = 12
missing = true

[columns.cost]
kind = "real"
lower = 0.0
upper = 500.0
bins = 8

[columns.ward]
kind = "categorical"
values = ["north", "south"]
other = true
"""


def agree(saved: Path, name: str) -> None:
    """Has the index name the file as it is now."""
    index = json.loads((saved / "synthesis.json").read_text())
    index["files"][name] = sha256_of(saved / name)
    (saved / "synthesis.json").write_text(json.dumps(index))


def forge(saved: Path, name: str, text: str) -> None:
    """Writes a file and has the index agree."""
    (saved / name).write_text(text)
    agree(saved, name)
