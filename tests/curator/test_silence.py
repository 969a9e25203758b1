"""What is computed on records says nothing on the side, whatever other threads do."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

from counterfoil.curator.silence import silent


def test_what_is_computed_inside_says_nothing_and_what_follows_does(recwarn):
    with silent():
        np.float64(1e308) * 10
        warnings.warn("a record", stacklevel=1)
        with silent(), warnings.catch_warnings():
            warnings.simplefilter("error")
            with silent():
                warnings.warn("a record", stacklevel=1)
    assert not recwarn.list
    with pytest.warns(UserWarning, match="public"):
        warnings.warn("public", stacklevel=1)


def test_a_thread_that_leaves_lets_no_other_one_speak_and_the_last_one_gives_all_back(recwarn):
    """Filters were those that each thread had found: one let the other speak, and nothing was ever said again."""
    filters = list(warnings.filters)
    inside, first_left = threading.Event(), threading.Event()

    def second() -> None:
        with silent():
            inside.set()
            first_left.wait(10)
            warnings.warn("a record", stacklevel=1)

    thread = threading.Thread(target=second)
    with silent():
        thread.start()
        assert inside.wait(10)
    first_left.set()
    thread.join()
    assert not recwarn.list
    assert list(warnings.filters) == filters


def test_an_error_inside_gives_all_back():
    filters = list(warnings.filters)
    with pytest.raises(ZeroDivisionError), silent():
        raise ZeroDivisionError
    assert list(warnings.filters) == filters
