"""Arrays that are read again, codes as bits: in memory as far as there is room, then in a file without a name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.scratch.scratch_file import ScratchFile


@dataclass(frozen=True, eq=False)
class KeptArray:
    """An array that was kept.

    Args:
        rows: how many there are.
        dtype: of the array that was kept.
        bits: of each code, where several lie in one byte; 0 where they are kept as they are.
        held: what is kept, or where it begins in `scratch`.
        scratch: the file; None where it is in memory.
    """

    rows: int
    dtype: np.dtype
    bits: int
    held: np.ndarray | int
    scratch: ScratchFile | None

    def load(self) -> np.ndarray:
        """The array [rows] that was kept.

        Raises:
            OSError: where the disk can't be read.
        """
        if isinstance(self.held, np.ndarray):
            stored = self.held
        else:
            assert self.scratch is not None
            shape, kind = (-(-self.rows * self.bits // 8), np.dtype(np.uint8)) if self.bits else (self.rows, self.dtype)
            stored = self.scratch.read(self.held, np.empty(shape, dtype=kind))
        return unpacked(stored, self.bits, self.rows) if self.bits else stored


class ArrayKeeper:
    """Keeps arrays in memory while there is room for them, then in a file.

    Args:
        memory: bytes in memory; where it is 0 nothing is kept, on disk neither.
    """

    def __init__(self, memory: int) -> None:
        self._free = memory
        self._on_disk = memory > 0
        self._scratch: ScratchFile | None = None

    def keep(self, array: np.ndarray, size: int = 0) -> KeptArray | None:
        """What gives the array back; None where there is no room for it, which is then so for all on disk.

        Args:
            array: [rows].
            size: how many codes there are, where the array holds codes; 0 for other numbers.
        """
        bits = bits_of(size) if size and array.dtype == np.uint8 else 0
        stored = packed(array, bits) if bits else array
        if stored.nbytes <= self._free:
            self._free -= stored.nbytes
            return KeptArray(len(array), array.dtype, bits, stored, None)
        if not self._on_disk:
            return None
        try:
            if self._scratch is None:
                self._scratch = ScratchFile()
            return KeptArray(len(array), array.dtype, bits, self._scratch.append(stored), self._scratch)
        except OSError:
            # A full disk is needed for the outputs more than for this: what is not kept is read again.
            self._on_disk, self._scratch = False, None
            return None

    @property
    def disk_is_full(self) -> bool:
        """Whether the file had to be given up: what lies in it should be forgotten, so that its room is freed."""
        return not self._on_disk


def bits_of(size: int) -> int:
    """How many bits hold a code below `size`, if two or more of them fit in a byte; else 0."""
    return next((bits for bits in (1, 2, 4) if size <= 1 << bits), 0)


def packed(codes: np.ndarray, bits: int) -> np.ndarray:
    """uint8 [n * bits / 8, rounded up]: uint8 codes [n] of `bits` bits each, the first in the lowest bits."""
    of_byte = 8 // bits
    result = np.zeros(-(-len(codes) // of_byte), dtype=np.uint8)
    for place in range(of_byte):
        part = codes[place::of_byte]
        result[: len(part)] |= part << np.uint8(place * bits)
    return result


def unpacked(stored: np.ndarray, bits: int, rows: int) -> np.ndarray:
    """uint8 [rows]: the codes that `packed` was given."""
    of_byte, mask = 8 // bits, np.uint8((1 << bits) - 1)
    codes = np.empty(rows, dtype=np.uint8)
    for place in range(of_byte):
        part = codes[place::of_byte]
        part[:] = (stored[: len(part)] >> np.uint8(place * bits)) & mask
    return codes
