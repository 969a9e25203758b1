"""Loops are compiled where nothing can be cached, too."""

from __future__ import annotations

import numba
import pytest

from counterfoil.compiled import compiled


def test_a_loop_runs_where_no_cache_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    original = numba.njit

    def without_a_place(*functions, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'twice': no locator available for file 'x.py'")
        return original(*functions, **options)

    monkeypatch.setattr(numba, "njit", without_a_place)

    def twice(number: int) -> int:
        return 2 * number

    assert compiled(twice)(21) == 42
