"""Which of several declared spellings of a missing value is written: the first alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_MOST_NAMED = 8


def one_spelling(words: Mapping[str, Sequence[str]]) -> str:
    """A sentence on the columns whose several words for missing come back as one; empty where there are none.

    Args:
        words: the `missing_values` of columns, by name.
    """
    several = {name: list(dict.fromkeys(listed)) for name, listed in words.items() if len({*listed}) > 1}
    if not several:
        return ""
    named = "; ".join(_said(name, listed) for name, listed in [*several.items()][:_MOST_NAMED])
    more = f"; and so on for {len(several) - _MOST_NAMED:,} more" if len(several) > _MOST_NAMED else ""
    return f"Missing values are written in one spelling, the first of `missing_values`: {named}{more}."


def _said(name: str, words: Sequence[str]) -> str:
    first, *others = map(spelled, words)
    return f"{name} as {first}, never as {' or '.join(others)}"


def spelled(word: str) -> str:
    """A word for missing in a sentence."""
    return f'"{word}"' if word else "an empty cell"
