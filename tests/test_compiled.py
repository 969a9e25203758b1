"""Loops are compiled where nothing can be cached, too."""

from __future__ import annotations

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numba
import pytest

from counterfoil.compiled import Kept, compiled


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


def test_nothing_is_compiled_before_a_loop_is_called() -> None:
    script = (
        "import sys, numpy as np; from counterfoil.graphical_model import sampling, tensor_product as t;"
        "from counterfoil.domain import counting; assert 'numba' not in sys.modules;"
        "t._compiled_products(*np.ones((3, 2, 1, 1))); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_loops_that_call_loops_are_compiled_together_once_by_many_threads(tmp_path, monkeypatch) -> None:
    (tmp_path / "loops_of_loops.py").write_text(
        "from counterfoil.compiled import compiled\n"
        "@compiled\ndef outer(number):\n    return middle(number) + 1\n"
        "@compiled\ndef middle(number):\n    return inner(number) * 2\n"
        "@compiled\ndef inner(number):\n    return number + 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    loops = importlib.import_module("loops_of_loops")
    outer = loops.outer
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(outer, range(4))) == [7, 9, 11, 13]
    assert outer.is_ready
    assert outer.machine_code() is outer.machine_code()
    assert (outer.__name__, outer.__wrapped__(1)) == ("outer", 9)


def test_a_loop_says_whether_a_process_before_this_one_has_compiled_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "kept_loops.py").write_text(
        "from counterfoil.compiled import compiled\n@compiled\ndef loop(number):\n    return number + 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    loops = importlib.import_module("kept_loops")
    assert loops.loop.kept is Kept.ONCE
    assert not loops.loop.is_ready
    assert loops.loop(1) == 2
    assert loops.loop.kept is Kept.READY
    assert compiled(loops.loop.interpreted).kept is Kept.READY, "in a later process, the file of the cache says so"


def test_a_loop_that_no_cache_can_hold_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_a_place(*functions, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'twice': no locator available for file 'x.py'")
        return original(*functions, **options)

    original = numba.njit
    monkeypatch.setattr(numba, "njit", without_a_place)
    assert compiled(lambda number: 2 * number).kept is Kept.NOWHERE
