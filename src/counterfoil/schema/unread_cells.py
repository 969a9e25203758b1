"""What the cells of a column look like that can't be read, where somebody has looked at them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class UnreadCells:
    """How many of the cells are what.

    Args:
        offsets: texts that state an offset from UTC where no `zone` is declared.
        clocks: times of day or lengths of time, such as 20:05:00, in a column of numbers or of dates.
        impossible: dates in the declared notation of days that no calendar has, such as 31/02/2019.
        limits: limits of detection, such as <0.5, and numbers that are cut off, such as 90+, in a column of numbers; by
            how they are written.
        negatives: negative numbers that are not written with a hyphen before their digits, such as 12.50- and (12.50).
        words: words that many tables have for missing, such as NA.
        codes: texts with a letter or two beside digits, as 2A has, in a column of integers.
        notations: numbers with another `decimal_char`, of categories listed ones, by each that reads some; "" for none.
        measures: of a column of categories, numbers with a fraction or with a sign behind them, such as 0,9 and 97 J.
        units: numbers with a sign of their unit, by the sign and each `decimal_char` that reads some.
        unit: the sign beside numbers that the column declares; empty for none.
    """

    offsets: int = 0
    clocks: int = 0
    impossible: int = 0
    limits: Counter[str] = field(default_factory=Counter)
    negatives: int = 0
    words: int = 0
    codes: int = 0
    measures: int = 0
    notations: Counter[str] = field(default_factory=Counter)
    units: Counter[tuple[str, str]] = field(default_factory=Counter)
    unit: str = ""
