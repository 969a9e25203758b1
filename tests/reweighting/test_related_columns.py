"""Receipts name the columns that are related by what was bought, and say that the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reweighting.test_column_doubts import POINTS, SCHEMA, people, released

from counterfoil.marginals.weak_relations import unrelated_but

ONLY = "Columns are related in these rows only by what was bought of them together: "
OTHERS = ". All others are unrelated."
TABLE = people(2000)


def test_columns_that_share_one_are_related():
    assert unrelated_but(SCHEMA, [("age", "wealth"), ("sex",), ("wealth", "job")]) == (
        f"{ONLY}age with job with wealth{OTHERS}",
    )
    assert unrelated_but(SCHEMA, [("age", "wealth"), ("job", "sex")]) == (
        f"{ONLY}age with wealth; job with sex{OTHERS}",
    )
    assert unrelated_but(SCHEMA, [("age", "wealth"), ("job", "sex"), ("age", "sex")]) == ()
    assert unrelated_but(SCHEMA, [("age",)]) == ("Columns are unrelated in these rows: this method keeps no relation.",)
    assert unrelated_but(POINTS, [("x", "y")]) == ()


@pytest.mark.parametrize("reference", ["product", "uniform"])
def test_losses_relate_their_columns_alone(reference):
    _, said = released(TABLE, reference=reference, queries="losses:squared:age~sex")
    assert f"{ONLY}age with sex{OTHERS}" in said


def test_functions_relate_the_columns_that_they_read(tmp_path: Path):
    wish = tmp_path / "F.toml"
    wish.write_text('[[functions]]\nname = "retired"\nwhere = "age >= 65 and not sex == \'f\'"\n')
    _, said = released(TABLE, queries=wish)
    assert f"{ONLY}age with sex{OTHERS}" in said


def test_functions_of_your_own_may_read_every_column():
    _, said = released(TABLE, queries=[("young", lambda row: row["age"] < 30, 0, 1)])
    assert not any("related in these rows" in words for words in said)


@pytest.mark.parametrize("reference", ["product", "uniform"])
def test_marginals_of_pairs_relate_all_and_those_of_columns_none(reference):
    for queries, words in (("marginals:2", False), ("marginals:1", True)):
        _, said = released(TABLE, reference=reference, queries=queries)
        assert any("Columns are unrelated in these rows" in one for one in said) is words
        assert not any(one.startswith(ONLY) for one in said)
