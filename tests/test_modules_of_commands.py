"""Commands that only look at a release import no module that they can do without and that takes long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import make_office

HEAVY = ("dp_accounting", "duckdb", "numba", "opendp", "pydantic")
HEAVY += ("scipy.linalg", "scipy.optimize", "scipy.spatial", "sklearn")


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
    ("arguments", "further"),
    [
        (("--help",), ("numpy", "pyarrow", "scipy", "cryptography", "altair")),
        (("plan", "--help"), ("numpy", "pyarrow", "scipy", "cryptography", "altair")),
        (("receipt", "show", "{release}/receipt.json"), ("altair", "pandas", "narwhals")),
        (("receipt", "verify", "{release}/receipt.json"), ("altair",)),
        (("describe", "{release}"), ("altair",)),
        (("error-bar", "{release}", "sex", "age"), ("altair",)),
        (("report", "{release}", "--out", "{release}/../page.html", "--force"), ("altair", "narwhals")),
    ],
)
def test_a_command_imports_what_it_needs(release: Path, arguments: tuple[str, ...], further: tuple[str, ...]) -> None:
    if "report" in arguments:
        pytest.importorskip("vl_convert", reason="pages are drawn by the extra `report`")
    script = (
        "import sys; from counterfoil.cli.app import run; ended = run(sys.argv[2:]);"
        "found = set(sys.argv[1].split()) & set(sys.modules);"
        "sys.exit(f'imported {sorted(found)}' if found else ended)"
    )
    given = [one.format(release=release) for one in arguments]
    done = subprocess.run(
        [sys.executable, "-c", script, " ".join((*HEAVY, *further)), *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
