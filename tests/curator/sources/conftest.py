"""Sources are tested with a DuckDB opened for each reading, as it is in use."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def duckdb_taken_again() -> None:
    """In place of that of all other tests."""
