"""Lists in sentences: the first few, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence


def first_few(texts: Sequence[str], most: int, *, of: str = "", between: str = ", ") -> str:
    """The first `most` texts, and the number of those that are left: "age, sex and 3 more".

    Args:
        texts: all of them.
        most: how many to write.
        of: what they are, after the number, such as "columns".
        between: what separates them.
    """
    left = len(texts) - most
    more = f" and {left:,} more {of}".rstrip() if left > 0 else ""
    return between.join(texts[:most]) + more
