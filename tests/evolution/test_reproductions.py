"""The scripts that reproduce figures run, write their files, and find what they can at a tiny size."""

from __future__ import annotations

import csv
from functools import partial

import pytest
from reproductions.private_evolution import figure_2, figure_3, figure_4
from reproductions.private_evolution.findings import main

TINY = {
    "figure_2": partial(figure_2.experiment, n=60),
    "figure_3": partial(figure_3.experiment, sizes=(60,)),
    "figure_4": partial(figure_4.experiment, n=600),
}


@pytest.mark.parametrize("name", TINY)
def test_a_figure_writes_its_files_and_says_what_holds(name, tmp_path, capsys):
    findings = main(name, TINY[name], ["--quick", "--runs", "2", "--out", str(tmp_path)])
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(float(row["mean_w1"]) >= 0 for row in rows)
    assert len(capsys.readouterr().out.splitlines()) == len(findings) >= 2
    if name != "figure_3":
        assert findings[0].holds, findings[0]
