"""Arrays that are kept come back as they were, from memory and from disk, and the file belongs to nobody else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.scratch.kept_arrays import ArrayKeeper, bits_of, packed, unpacked
from counterfoil.scratch.scratch_file import ScratchFile


@given(size=st.integers(1, 16), codes=st.lists(st.integers(0, 15), max_size=70))
def test_packed_codes_come_back(size: int, codes: list[int]) -> None:
    array = np.array(codes, dtype=np.uint8) % np.uint8(size)
    bits = bits_of(size)
    assert 1 << bits >= size
    assert bits in (1, 2, 4)
    stored = packed(array, bits)
    assert stored.nbytes == -(-len(codes) * bits // 8)
    # The oracle writes all bits out, one row after another.
    written = "".join(f"{code:0{bits}b}"[::-1] for code in array.tolist())
    assert stored.tolist() == [int(written[i : i + 8][::-1], 2) for i in range(0, len(written), 8)]
    np.testing.assert_array_equal(unpacked(stored, bits, len(array)), array)


def test_codes_that_need_a_byte_are_not_packed() -> None:
    assert [bits_of(size) for size in (2, 3, 4, 5, 16, 17, 256)] == [1, 2, 2, 4, 4, 0, 0]


@settings(max_examples=40, deadline=None)
@given(
    memory=st.integers(1, 200),
    arrays=st.lists(
        st.tuples(st.sampled_from([0, 2, 3, 12, 200, 60_000]), st.integers(0, 40), st.integers(0, 9)), max_size=12
    ),
)
def test_arrays_come_back_from_memory_and_from_disk(memory: int, arrays: list[tuple[int, int, int]]) -> None:
    keeper, originals, kept = ArrayKeeper(memory), [], []
    for size, rows, seed in arrays:
        rng = np.random.default_rng(seed)
        array = rng.random(rows) if size == 0 else rng.integers(0, size, rows).astype(np.min_scalar_type(size - 1))
        originals.append(array)
        kept.append(keeper.keep(array, size))
    assert sum(one.held.nbytes for one in kept if one is not None and isinstance(one.held, np.ndarray)) <= memory
    for array, one in zip(originals, kept, strict=True):
        assert one is not None
        assert one.rows == len(array)
        back = one.load()
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)


def test_without_memory_nothing_is_kept() -> None:
    keeper = ArrayKeeper(0)
    assert keeper.keep(np.arange(3), 0) is None
    assert keeper.disk_is_full


def test_a_full_disk_keeps_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = ArrayKeeper(8)
    first, second = keeper.keep(np.arange(1)), keeper.keep(np.arange(5))
    assert first is not None
    assert second is not None
    assert not keeper.disk_is_full

    def full(self: ScratchFile, array: np.ndarray) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ScratchFile, "append", full)
    assert keeper.keep(np.arange(5)) is None
    assert keeper.disk_is_full
    monkeypatch.undo()
    assert keeper.keep(np.arange(5)) is None, "what was full stays full"
    np.testing.assert_array_equal(second.load(), np.arange(5))


def test_the_file_has_no_name_and_no_other_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = ScratchFile()
    file.append(np.arange(1000))
    assert list(tmp_path.iterdir()) == []
    state = os.fstat(file._file.fileno())
    assert stat.S_IMODE(state.st_mode) == 0o600
    assert state.st_nlink == 0
    assert state.st_dev == tmp_path.stat().st_dev


def test_a_file_is_closed_with_its_last_reader() -> None:
    file = ScratchFile()
    inner = file._file
    del file
    assert inner.closed


def test_several_threads_read_at_once() -> None:
    file, rng = ScratchFile(), np.random.default_rng(3)
    arrays = [rng.integers(0, 255, rng.integers(1, 5000), dtype=np.uint8) for _ in range(60)]
    starts = [file.append(array) for array in arrays]

    def read(i: int) -> bool:
        return bool((file.read(starts[i], np.empty_like(arrays[i])) == arrays[i]).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, list(range(60)) * 5))


def test_a_file_that_was_cut_short_is_an_error() -> None:
    file = ScratchFile()
    start = file.append(np.arange(10))
    os.ftruncate(file._file.fileno(), 40)
    with pytest.raises(OSError, match="cut short"):
        file.read(start, np.empty(10, dtype=np.int64))


def test_a_process_that_is_killed_leaves_no_file(tmp_path: Path) -> None:
    program = (
        "import numpy as np, os, signal\n"
        "from counterfoil.scratch.scratch_file import ScratchFile\n"
        "file = ScratchFile(); file.append(np.zeros(1_000_000))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []
