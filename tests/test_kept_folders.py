"""Nothing is written into a folder that is a sensitive table, as Spark reads one."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.kept_files import KeptFile, kept_source, require_apart


def test_a_table_of_many_files_gets_no_other_file(tmp_path: Path) -> None:
    table, beside = tmp_path / "people", tmp_path / "link"
    (table / "year=2020").mkdir(parents=True)
    beside.symlink_to(table)
    kept = kept_source(f"spark+parquet://{table}")
    for output in (table / "out.parquet", table / "year=2020" / "out.parquet", beside / "out.parquet"):
        with pytest.raises(ValueError, match="folder that is the sensitive table"):
            require_apart([output], kept)
    require_apart([tmp_path / "out.parquet", tmp_path / "people.parquet"], kept)


def test_files_beside_a_table_that_is_one_file_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a\n1\n")
    require_apart([tmp_path / "out.csv"], [KeptFile(tmp_path / "people.csv", "the sensitive table")])
