"""`counterfoil demo`, as a newcomer runs it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from command_line import Office
from counterfoil.cli.app import run
from counterfoil.receipt.receipt import Receipt


def test_the_demo_leaves_a_release_that_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("statsmodels", reason="the survey ships with statsmodels")
    monkeypatch.chdir(tmp_path)
    office = Office(tmp_path, capsys)
    ended = office.run("demo")
    assert ended.status == 0, ended.err
    folder = tmp_path / "counterfoil-demo"
    assert {path.name for path in folder.iterdir()} == {
        "affairs.report.html",
        "affairs.schema.toml",
        "affairs.synthetic.parquet",
        "affairs.synthetic.receipt.json",
    }
    table = pyarrow.parquet.read_table(folder / "affairs.synthetic.parquet")
    # The noisy number of rows: its standard deviation is far below 100 at epsilon 1.
    assert abs(table.num_rows - 6366) < 1000
    assert Receipt.load(folder / "affairs.synthetic.receipt.json").verify(folder).holds
    lines = ended.out.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    for said in ("PRIVACY RECEIPT", "NOT PRIVATE", "affairs.synthetic.parquet", str(folder)):
        assert said in ended.out
    page = folder / "affairs.report.html"
    assert lines[-1].strip() == page.as_uri(), "it ends with what to open"
    before = page.read_text(encoding="utf-8")
    assert "<svg" in before
    assert "rate_marriage" in before
    assert office.run("demo", "--out", "counterfoil-demo", "--quiet").status == 0, "it can be run again"
    assert page.read_text(encoding="utf-8") != before, "the report is that of the new release"


def test_without_the_packages_of_reports_none_of_an_earlier_release_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("statsmodels", reason="the survey ships with statsmodels")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "counterfoil-demo"
    folder.mkdir()
    (folder / "affairs.report.html").write_text("of an earlier release")
    found = importlib.util.find_spec
    monkeypatch.setattr("counterfoil.pictures.svg.find_spec", lambda name: None if name == "jinja2" else found(name))
    ended = Office(tmp_path, capsys).run("demo")
    assert ended.status == 0, ended.err
    assert not (folder / "affairs.report.html").exists()
    assert "pip install 'counterfoil[report]'" in ended.out


def test_without_statsmodels_the_remedy_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    found = importlib.util.find_spec
    monkeypatch.setattr("counterfoil.demo.find_spec", lambda name: None if name == "statsmodels" else found(name))
    assert run(["demo"]) == 2
    assert "pip install 'counterfoil[demo]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_statsmodels_is_not_imported() -> None:
    pytest.importorskip("statsmodels", reason="the survey ships with statsmodels")
    import subprocess

    script = "import sys; from counterfoil.demo import Demo; Demo.find(); sys.exit('statsmodels' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
