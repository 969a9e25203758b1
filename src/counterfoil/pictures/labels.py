"""Names and values as pictures show them: inert, short, and different where they are different."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.inert import inert

LONGEST = 26
"""Characters of a label in a picture; tables beside it have more."""


def short(text: str, longest: int = LONGEST) -> str:
    """`text` inert, on one line, and cut with an ellipsis where it is longer than `longest` characters."""
    shown = inert(" ".join(text.split())) or "(empty)"
    return shown if len(shown) <= longest else f"{shown[: longest - 1].rstrip()}…"


def distinct(texts: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Each text short; those that would look alike get numbers, so that no two marks share a place."""
    made: list[str] = []
    taken: set[str] = set()
    for text in texts:
        label, number = short(text, longest), 1
        while label in taken:
            number += 1
            label = f"{short(text, longest - len(str(number)) - 3)} ({number})"
        taken.add(label)
        made.append(label)
    return made
