"""Names of columns that break their line: read as they are, or refused, and never taken for a table without rows."""

from __future__ import annotations

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.errors import SourceError
from counterfoil.schema import Categorical, Schema

BREAKS = ["\n", "\r\n", "\r"]


@pytest.mark.parametrize("within", BREAKS)
@pytest.mark.parametrize("end", BREAKS)
@pytest.mark.parametrize("public", [True, False])
def test_a_name_of_two_lines_is_read_or_refused(tmp_path, within, end, public):
    path = tmp_path / "t.csv"
    path.write_bytes(f'a,"new{within}line"{end}'.encode() + f"x,u{end}".encode() * 20)
    schema = Schema([Categorical("a", values=["x", "y"]), Categorical(f"new{within}line", values=["u", "v"])])
    if within != end:
        with pytest.raises(SourceError, match="breaks its line in another way"):
            Curator(path, schema, budget=Budget(1.0, 1e-9))
        return
    relation = "replace_one" if public else "add_or_remove_one"
    with Curator(path, schema, budget=Budget(1.0, 1e-9), relation=relation) as curator:
        curator.require_rows()
        if public:
            assert curator.public_row_count() == 20
