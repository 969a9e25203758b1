"""What holds for all tests, and what several of them use."""

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# Tests never depend on the clock: an example may take longer on a busy machine, or where it compiles something.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="module")
def master(made, tmp_path_factory) -> Path:
    """Where `made`, a fixture of the module that asks, was saved once."""
    path = tmp_path_factory.mktemp("saved") / "release"
    made.save(path)
    return path


@pytest.fixture
def saved(master, tmp_path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(master, tmp_path / "release"))
