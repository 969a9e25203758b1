"""What pyproject.toml declares, and what is tested of it."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "pyproject.toml"


def lowest_versions() -> ModuleType:
    specification = importlib.util.spec_from_file_location("lowest_versions", ROOT / ".ci" / "lowest_versions.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_lowest_versions_are_those_declared():
    """Read a second time, line by line, without a parser of TOML or of requirements."""
    pins = lowest_versions().lowest_versions(PROJECT, "test")
    bounds = dict(re.findall(r'"([\w-]+)>=([\d.]+)[",]', PROJECT.read_text(encoding="utf-8")))
    assert pins == {name: bounds[name] for name in pins}
    declared = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    assert {re.split("[<>=]", text)[0] for text in declared} < set(pins)
    assert {"scikit-learn", "statsmodels", "faiss-cpu", "pot", "pytest"} < set(pins), "extras of extras, too"


@pytest.mark.parametrize("requirement", ["duckdb", "duckdb<2", "duckdb==1.5", "duckdb~=1.5", "duckdb>1.5"])
def test_a_dependency_without_a_lower_bound_is_refused(tmp_path: Path, requirement: str):
    project = tmp_path / "pyproject.toml"
    project.write_text(f'[project]\nname = "p"\ndependencies = ["{requirement}"]\noptional-dependencies.test = []\n')
    with pytest.raises(ValueError, match=re.escape(f"Found {requirement!r}")):
        lowest_versions().lowest_versions(project, "test")


def test_versions_are_equal_but_for_trailing_zeros():
    same = lowest_versions().same_release
    assert same("2.0", "2.0.0")
    assert same("16", "16.0.0")
    assert not same("2.0", "2.0.1")
    assert not same("1", "10")


def test_releases_of_opendp_whose_noise_is_wrong_are_ruled_out():
    """The discrete Laplace noise of 0.14.0 and 0.14.1 is not the law that is accounted for."""
    lowest = lowest_versions().lowest_versions(PROJECT, "test")["opendp"]
    assert tuple(map(int, lowest.split("."))) >= (0, 14, 2)
