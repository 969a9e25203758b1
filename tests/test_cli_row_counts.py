"""`--rows` as people write numbers, and what is said before the charge where it is not given."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
import typer

import counterfoil as cf
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


SPEND = ("--out", "made.csv", "--ledger", "people.ledger", "--delta", "1e-6")


ROUGH, NOISE = "0.004", "0.001"
"""Epsilons at which the rows of the office's table are counted to within some 2,300 and 9,300, by the plan alone."""


def spent(office) -> dict:
    return office.run("ledger", "show", "people.ledger", "--json").document["spent"]


def test_a_number_of_rows_that_would_be_noise_is_refused_and_costs_nothing(office):
    before = spent(office)
    refused = office.synth(*SPEND, epsilon=NOISE)
    assert refused.status == 2
    assert "must be off by at most 3,000 (with a confidence of 95%)" in " ".join(refused.err.split())
    assert "`--rows`" in refused.err
    assert not (office.path / "made.csv").exists()
    assert spent(office) == before
    drawn = office.synth(*SPEND, "--rows", "300", epsilon=NOISE)
    assert drawn.status == 0, drawn.err
    assert (office.path / "made.csv").read_text().count("\n") == 301
    assert spent(office) != before


@pytest.mark.parametrize(
    ("epsilon", "rows", "noted"), [(ROUGH, (), True), (ROUGH, ("--rows", "300"), False), ("0.05", (), False)]
)
def test_a_rough_number_of_rows_is_noted_once_before_the_charge(office, epsilon, rows, noted):
    made = office.synth(*SPEND, *rows, epsilon=epsilon)
    assert made.status == 0, made.err
    assert " ".join(made.err.split()).count("The number of records will be known to within 2,") == noted
    warnings = json.loads((office.path / "made.receipt.json").read_text())["warnings"]
    assert any(one.startswith("The number of records is") for one in warnings) or not noted


def test_the_note_comes_before_the_charge(office):
    """Where the warning is an error, which ends the release, nothing was spent."""
    before = spent(office)
    with warnings.catch_warnings():
        warnings.simplefilter("error", cf.RowCountWarning)
        with pytest.raises(cf.RowCountWarning, match="Say how many rows to draw with `--rows`"):
            cf.synthesize(
                "people.csv",
                cf.Schema.from_toml(Path("people.toml").read_text()),
                epsilon=float(ROUGH),
                delta=1e-6,
                ledger="people.ledger",
                method="independent",
            )
    assert spent(office) == before


def test_a_plan_at_such_an_epsilon_draws_as_many_rows_as_it_is_given(office):
    planned = office.run(
        *("plan", "--schema", "people.toml", "--rows", "200", "--jobs", "1", "--runs", "1", "--method", "independent"),
        *("--epsilon", f"{NOISE},{ROUGH}"),
    )
    assert planned.status == 0, planned.err
    assert "RowCountWarning" not in planned.err
