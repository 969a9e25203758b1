"""`counterfoil error-bar`: what is said where the bounds that there are say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import make_office


def test_columns_that_were_counted_vaguely_are_not_said_to_be_uncounted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    office = make_office(tmp_path, capsys, monkeypatch)
    made = office.synth("--out", "s.csv", "--keep-model", "--workload", "2", method="direct", epsilon="0.01")
    assert made.status == 0, made.err
    shown = " ".join(office.run("error-bar", "s.csv", "sex", "age", "income").out.split())
    assert "Nothing that was released" not in shown
    assert "leaves any difference of sex, age, income possible" in shown
    assert "sex and age; sex and income; age and income" in shown
    assert "larger epsilon" in shown


def test_a_release_with_laplace_noise_has_bounds_of_what_it_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    office = make_office(tmp_path, capsys, monkeypatch)
    made = office.synth(
        "--out", "s.csv", "--keep-model", "--workload", "2", "--delta", "0", method="direct", epsilon="500"
    )
    assert made.status == 0, made.err
    shown = " ".join(office.run("error-bar", "s.csv", "sex", "age").out.split())
    assert "its own noisy counts" in shown
