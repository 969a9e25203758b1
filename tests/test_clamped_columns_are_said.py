"""A schema that clamps most of a column is said by whatever states a number of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import make_office

SCHEMA = """
[columns.age]
kind = "integer"
lower = 0
upper = 17

[columns.sex]
kind = "categorical"
values = ["f", "m"]
"""


@pytest.fixture
def office(tmp_path, capsys, monkeypatch):
    made = make_office(tmp_path, capsys, monkeypatch)
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(0, 90)},{'fm'[rng.integers(2)]}" for _ in range(4000)]
    (tmp_path / "old.csv").write_text("age,sex\n" + "\n".join(lines) + "\n")
    (tmp_path / "old.toml").write_text(SCHEMA)
    done = made.run(
        "synth", "old.csv", "--schema", "old.toml", "--method", "direct", "--epsilon", "5", "--out", "release/"
    )
    assert done.status == 0, done.err
    return made


WORDS = "lie above 17"


def test_the_folder_says_so(office):
    assert WORDS in " ".join((office.path / "release" / "README.md").read_text().split())
    page = (office.path / "release" / "report.html").read_text()
    assert page.count(WORDS) == 2, "beside the column, and among what it cannot be used for"


def test_describe_and_infer_say_so_of_the_columns_that_are_asked_about(office):
    shown = office.run("describe", "release")
    assert WORDS in " ".join((shown.out + shown.err).split())
    for asked in (
        ["chi2", "age", "sex"],
        ["mean", "age"],
        ["proportion", "age == 17"],
        ["proportion", "sex == 'f'", "--by", "age"],
    ):
        found = office.run("infer", "release", *asked)
        assert found.status == 0, found.err
        assert WORDS in " ".join((found.out + found.err).split())
    other = office.run("infer", "release", "proportion", "sex == 'f'", "--json")
    assert json.loads(other.out)["warnings"] == []
    assert len(json.loads(office.run("infer", "release", "mean", "age", "--json").out)["warnings"]) == 1
