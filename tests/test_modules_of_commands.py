"""Commands that only look at a release import no module that they can do without and that takes long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import make_office

HEAVY = {"dp_accounting", "duckdb", "numba", "opendp", "pandas", "pydantic"}
HEAVY |= {"scipy.linalg", "scipy.optimize", "scipy.special", "scipy.spatial", "sklearn"}
FITS = {"duckdb", "numba", "opendp", "scipy.linalg", "scipy.special", "dp_accounting", "scipy.optimize"}
"""What a release is made with."""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    made = Path(folder, "release")
    with pytest.MonkeyPatch.context() as patch:
        office = make_office(folder, _NoCapture(), patch)
        assert office.synth("--out", f"{made}/", method="mst", epsilon="2").status == 0
    return made


class _NoCapture:
    def readouterr(self) -> subprocess.CompletedProcess[str]:
        done = subprocess.CompletedProcess[str]([], 0)
        done.out = done.err = ""
        return done


@pytest.mark.parametrize(
    ("arguments", "further", "needed"),
    [
        (("--help",), {"numpy", "pyarrow", "scipy", "cryptography", "altair"}, set()),
        (("plan", "--help"), {"numpy", "pyarrow", "scipy", "cryptography", "altair"}, set()),
        (("check", "people.csv", "--schema", "people.toml"), {"altair", "scipy"}, {"duckdb"}),
        (("schema", "people.csv"), {"altair", "scipy"}, set()),
        (("ledger", "show", "people.ledger"), {"altair", "pyarrow", "scipy"}, set()),
        (("synth", "people.csv", "--schema", "people.toml", "--epsilon", ".1", "--out", "again/"), {"altair"}, FITS),
        (("sample", "release", "--rows", "10", "--out", "more.csv"), {"altair"}, FITS - {"duckdb"}),
        (("receipt", "show", "release/receipt.json"), {"altair", "narwhals"}, {"scipy.special"}),
        (("receipt", "verify", "release/receipt.json"), {"altair"}, {"scipy.special"}),
        (("describe", "release"), {"altair"}, {"scipy.special"}),
        (("error-bar", "release", "sex", "age"), {"altair"}, {"scipy.special"}),
        (("report", "release", "--out", "page.html", "--force"), {"altair", "narwhals"}, {"scipy.special"}),
    ],
)
def test_a_command_imports_what_it_needs(
    release: Path, arguments: tuple[str, ...], further: set[str], needed: set[str]
) -> None:
    if "report" in arguments:
        pytest.importorskip("vl_convert", reason="pages are drawn by the extra `report`")
    script = (
        "import sys; from counterfoil.cli.app import run; ended = run(sys.argv[2:]);"
        "found = set(sys.argv[1].split()) & set(sys.modules);"
        "sys.exit(f'imported {sorted(found)}' if found else ended)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, " ".join((HEAVY | further) - needed), *arguments],
        cwd=release.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
