"""What executors tell of a failure: a number, of which the driver makes a sentence."""

from __future__ import annotations

from enum import IntEnum


class Trouble(IntEnum):
    """Why a part of the table was not stored, or could not be summed."""

    NONE = 0
    UNPLACED = 1
    UNREADABLE = 2
    NOT_SHARED = 3
    NOT_WRITTEN = 4
    NOT_READ = 5
    FAILED = 6
    SHAPES = 7
    CHANGED = 8
    LEFT_TO_SPARK = 9


class Troubled(Exception):
    """Holds nothing but a number and the place of a column: Spark would log an exception with all that it says."""

    def __init__(self, trouble: Trouble, column: int = -1) -> None:
        super().__init__()
        self.trouble, self.column = trouble, column
