"""`--rows` as people write numbers."""

from __future__ import annotations

import pytest
import typer

from command_line import Office, make_office
from counterfoil.cli.row_count import row_count

WRITTEN = {"5000": 5000, "1e8": 10**8, "2.5e6": 2_500_000, "1_000_000": 10**6, " 12 ": 12, "-3": -3, "1E+3": 1000}
REFUSED = ["1e-3", "0.5", "1,000", "many", "", "1e", "nan", "inf", "0x10", "\uff11\uff12", "1__0", "9" * 200, "1e999"]


@pytest.mark.parametrize("text", WRITTEN)
def test_whole_numbers_are_read_as_they_are_written(text):
    assert row_count(text) == WRITTEN[text]


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_refused_with_the_remedy(text):
    with pytest.raises(typer.BadParameter, match="whole number, such as 5000 or 1e8"):
        row_count(text)


@pytest.fixture
def office(tmp_path, capsys, monkeypatch) -> Office:
    return make_office(tmp_path, capsys, monkeypatch)


def test_the_command_draws_so_many_rows(office):
    made = office.synth("--rows", "1.2e2", "--out", "made.csv", method="mst")
    assert made.status == 0, made.err
    assert (office.path / "made.csv").read_text().count("\n") == 121


def test_the_command_says_what_it_takes(office):
    before = office.files()
    refused = office.synth("--rows", "1.5", "--out", "made.csv", method="mst")
    assert refused.status == 2
    assert "whole number, such as 5000 or 1e8" in " ".join(refused.err.split())
    assert office.files() == before
