"""Rights that were paid for: each use once, by whatever thread, process or copy."""

from __future__ import annotations

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from counterfoil.curator.right import Right


def taken(right: Right) -> bool:
    try:
        right.take()
    except ValueError:
        return False
    return True


def test_each_use_is_taken_once_by_any_number_of_threads():
    right = Right(50, "gone")
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: taken(right), range(200)))
    assert (sum(outcomes), right.left) == (50, 0)
    with pytest.raises(ValueError, match="gone"):
        right.take()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_there_is_no_copy(copied):
    with pytest.raises(TypeError, match="can't be copied or stored"):
        copied(Right(1, "gone"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes don't fork here")
def test_it_ends_at_a_fork():
    right = Right(1, "gone")
    child = os.fork()
    if child == 0:
        os._exit(1 if taken(right) else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert taken(right), "the process that paid has it still"
