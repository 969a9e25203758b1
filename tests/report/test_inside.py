"""The inside view: exact, marked on all of it, and never a report to share."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.evaluation.comparison import Comparison, compare
from counterfoil.pictures.column_bars import share_text
from counterfoil.report.inside import BANNER, inside_report_of
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from report_pages import HOSTILE, hostile, people

SECRET = "Rumpelstilzchen"


def looked_at(real: pa.Table, synthetic: pa.Table, schema: cf.Schema, **options) -> Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare(real, synthetic, schema, **options)


@pytest.fixture(scope="module")
def compared() -> Comparison:
    real, schema = people(500)
    other, _ = people(400)
    return looked_at(real, other, schema, target="income", protected="sex")


def test_shares_are_those_of_the_tables(compared: Comparison) -> None:
    real, schema = people(500)
    sex = next(column for column in compared.columns if column.name == "sex")
    assert sex.shares is not None
    counted = real.column("sex").to_pylist()
    assert sex.shares[0] == pytest.approx([counted.count("female") / 500, counted.count("male") / 500])
    for column in compared.columns:
        assert column.shares is not None
        one, other = column.shares
        assert one.sum() == pytest.approx(1)
        assert np.abs(one - other).sum() == pytest.approx(column.distance)
        assert len(one) == schema[column.name].size
    assert "shares" not in str(compared.to_json()["columns"]), "the document of `evaluate` is as it was"


def test_the_page_has_all_of_it_and_its_banner(compared: Comparison) -> None:
    page = inside_report_of(compared, name="copy.parquet")
    assert 'class="inside"' in page
    assert page.count(BANNER) >= 1
    assert "NOT REAL PEOPLE" not in page
    for heading in ("Pairs of columns", "Each column", "Models trained on either table"):
        assert f">{heading}</h2>" in page
    for name in compared.schema.domain.attributes:
        assert f"<h3><bdi>{name}</bdi></h3>" in page
    assert f"{compared.real_rows:,}" in page
    assert compared.model is not None
    for scores in compared.model.models.values():
        assert f"{scores.real.accuracy:.3f}" in page
        assert f"{scores.synthetic.auc:.3f}" in page
    assert "between the groups of sex" in page
    worst = next(part for part in compared.marginals if part.order == 2)
    assert share_text(worst.largest / 2) in page


def test_equal_tables_are_off_by_nothing() -> None:
    real, schema = people(300)
    page = inside_report_of(looked_at(real, real, schema))
    assert set(re.findall(r"Off by ([\d.]+%)", page)) == {"0.0%"}
    assert "Models trained" not in page


def test_facts_of_raw_columns_are_told_and_no_value_of_a_record() -> None:
    schema = cf.Schema((Categorical("job", ("a", "b", "rare"), other=True), Integer("age", 0, 50)))
    real = pa.table({"job": ["a"] * 50 + ["b"] * 40 + ["rare"] * 5 + [SECRET] * 5, "age": [40] * 80 + [70] * 20})
    synthetic = pa.table({"job": ["a"] * 60 + ["b"] * 40, "age": [40] * 100})
    page = inside_report_of(looked_at(real, synthetic, schema))
    assert "age: 20.0% of the real cells are clamped or moved, and 0.0% of the synthetic ones." in page
    assert "job: 5.0% of the real cells are put to other" in page
    assert "job: never made, though real rows have it: rare." in page
    assert "job: 1 value of 5 real cells is not in the schema." in page
    assert SECRET not in page


def test_what_becomes_missing_is_not_said_to_be_put_to_other() -> None:
    schema = cf.Schema((Categorical("temp", (1, 2), missing=True), Integer("age", 0, 50, missing=True)))
    real = pa.table({"temp": ["1"] * 80 + ["3"] * 15 + [""] * 5, "age": ["40"] * 90 + ["forty"] * 10})
    synthetic = pa.table({"temp": ["1"] * 80 + [""] * 20, "age": ["40"] * 90 + [""] * 10})
    page = inside_report_of(looked_at(real, synthetic, schema))
    assert "temp: 15.0% of the real cells are read as missing, and 0.0% of the synthetic ones." in page
    assert "age: 10.0% of the real cells are read as missing" in page
    assert "Missing: 5.0% real, 20.0% synthetic. Read as missing: 15.0% real, 0.0% synthetic." in page
    assert "put to other" not in page
    assert "Other: " not in page


def test_one_column_has_no_pairs() -> None:
    schema = cf.Schema((Categorical("job", ("a", "b")),))
    page = inside_report_of(looked_at(pa.table({"job": ["a", "b"]}), pa.table({"job": ["a", "a"]}), schema))
    assert "Pairs of columns" not in page
    assert "Each column" in page


def test_hostile_names_are_escaped() -> None:
    table, schema = hostile()
    page = inside_report_of(looked_at(table, table, schema), name=HOSTILE[0])
    assert "<script" not in page
    assert "onerror=alert(2)>" not in page
    assert "\x1b" not in page
