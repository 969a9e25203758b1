"""Releases of versions before 0.13, where each day of a date had a code, as references of releases since then."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.methods import method_named
from counterfoil.schema import Schema

TEXT = """
[columns.born]
kind = "date"
lower = 1990-01-01
upper = 1999-12-31
missing = true
[columns.x]
kind = "integer"
lower = 0
upper = 3
"""
FIRST = date(1990, 1, 1)


def table() -> pa.Table:
    rng = np.random.default_rng(0)
    days = rng.integers(0, 400, 3000)
    born = [FIRST + timedelta(days=int(day)) if day else None for day in days]
    return pa.table({"born": pa.array(born, pa.date32()), "x": rng.integers(0, 4, 3000)})


@pytest.mark.parametrize("saved", ["folder", "table"])
@pytest.mark.parametrize("resolution", ["", 'upper = 1999-12-31\nresolution = "1d"'])
def test_a_release_with_a_code_for_each_day_is_still_a_reference(tmp_path, saved, resolution):
    """The schema of its user means other bins since, and `resolution = "1d"` the same that it meant: both use it."""
    former = Schema.from_release(TEXT)
    release = cf.synthesize(table(), former, epsilon=5.0, method="independent", seed=1, check_schema=0)
    path = tmp_path / "release"
    if saved == "folder":
        release.save(path)
    else:
        path = tmp_path / "release.csv"
        release.write(path)
        release.receipt.with_output(path, rows=release.rows).save(tmp_path / "release.receipt.json")
    schema = Schema.from_toml(TEXT.replace("upper = 1999-12-31", resolution or "upper = 1999-12-31"))
    assert schema != former
    method = method_named("reweighting", reference=str(path), queries="marginals:1")
    made = cf.synthesize(table(), schema, epsilon=5.0, delta=1e-6, method=method, seed=1, check_schema=0)
    drawn = made.to_arrow().column("born").drop_null().to_pylist()
    assert np.mean([day < date(1991, 3, 1) for day in drawn]) > 0.9
    other = Schema.from_toml(TEXT.replace("1990-01-01", "1989-01-01"))
    with pytest.raises(ValueError, match="made with another schema"):
        cf.synthesize(table(), other, epsilon=5.0, delta=1e-6, method=method, seed=1, check_schema=0)


def test_the_folder_of_such_a_release_has_its_schema(tmp_path):
    former = Schema.from_release(TEXT)
    cf.synthesize(table(), former, epsilon=5.0, method="independent", seed=1, check_schema=0).save(tmp_path / "release")
    assert Schema.from_toml(tmp_path / "release" / "schema.toml") == former
