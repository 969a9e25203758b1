"""Bought columns of texts and of truths: which are listed, and how they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from counterfoil.discovery.bought_facts import (
    CAUTION,
    STANDARD_ERRORS,
    TRUTHS,
    BoughtColumn,
    Facts,
    can_be_listed,
    coverage,
    coverage_range,
)
from counterfoil.discovery.bought_instants import clock_facts
from counterfoil.discovery.bought_missing import missing_facts, safe_words, why_missing, words_for_missing
from counterfoil.discovery.public_lists import public_list_of
from counterfoil.schema.discovered import DiscoveredColumn, percent
from counterfoil.schema.raw_cell import is_missing_word
from counterfoil.schema.written_numbers import are_written_numbers

LEAST_COVERAGE = 0.25
"""Of the cells of a text, in selected categories: below it the text is too various to be a column of categories."""


_CLOCKS_COVERED = 0.9
"""The same of times of day: those that are not listed count as `other`, and a column of moments loses none."""

_MOST_CLOCKS = 96
"""Quarters of an hour: of more times categories know no order."""

_OF_MISSING = {"missing", "missing_values"}
"""Facts that say nothing of what else a column is."""

_OF_STORAGE = "%H:%M:%S"
"""How times of day of a storage that has a type for them are read."""


def text_facts(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    """The categories that were seen, the names of a public list beside them, and a place for all others."""
    words = set(given.get("missing_values", ()))
    pairs = [(text, count) for text, count in column.categories if can_be_listed(text) and text not in words]
    listed = dict(pairs)
    covered, error = coverage(column, sum(listed.values()), len(listed))
    share = f"{percent(covered)} ({coverage_range(column, covered, error)})"
    typed = storage is not None and pa.types.is_time(storage)
    clock = column.clock or (_OF_STORAGE if typed else "")
    various = covered < _CLOCKS_COVERED or len(listed) > _MOST_CLOCKS
    if clock and various and given.keys() <= _OF_MISSING:
        return clock_facts(column, clock, given, typed=typed)
    if not listed or covered < LEAST_COVERAGE:
        frequent = "one frequent text covers" if len(listed) == 1 else f"{len(listed):,} frequent texts cover"
        seen = f"its {frequent} about {share} of the cells" if listed else _NO_TEXT
        return BoughtColumn(column.name, {}, seen + _mixed(column))
    rest = 1 - covered > STANDARD_ERRORS * error
    is_sure = 1 - covered * column.together > STANDARD_ERRORS * error
    why = f"bought: their noisy counts passed the threshold; they cover about {share}"
    why += _WRITTEN if are_written_numbers([*listed]) else ""
    why += "".join(f"; {text!r} is a name of their public list: {_MOVE}" for text in listed if is_missing_word(text))
    public, others = public_names(column) if rest else ("", [])
    if others := [name for name in others if name not in words]:
        why += f". The other {len(others)} are of a public list ({public}); no record was read for them"
    facts: Facts = {
        "values": ([*listed, *others], why),
        "other": (True, (_REST if is_sure else _ANY_REST) if rest else CAUTION),
    }
    absent = [text for text in column.missing_words if not text or (can_be_listed(text) and text not in listed)]
    shared = safe_words(column, [*listed, *others])
    if (any(absent) or shared) and given.get("missing", True) and "missing_values" not in given:
        facts["missing"] = (True, why_missing(column))
        facts |= words_for_missing(absent, shared)
    else:  # empty cells would count as `other`
        facts["missing"] = (True, why_missing(column))
    return BoughtColumn(column.name, facts)


def mostly(column: DiscoveredColumn) -> str:
    """What most cells of a column of texts are, where these are no texts; empty where most are."""
    votes = Counter[str]()
    for kind, name in _PLURALS.items():
        votes[name] += column.votes.get(kind, 0)
    best = max(votes, key=lambda name: votes[name])
    return best if 2 * votes[best] > max(column.records, 1) else ""


def mostly_beyond(column: DiscoveredColumn) -> bool:
    """Whether most cells of a column of texts are no texts, and many are none of its categories."""
    if column.kind != "text" or not mostly(column):
        return False
    covered, error = coverage(column, sum(count for _, count in column.categories), len(column.categories))
    return 1 - covered > max(_MANY, STANDARD_ERRORS * error)


_MANY = 0.1
"""Of the cells."""

_PLURALS = {"integer": "numbers", "real": "numbers", "date": "dates", "datetime": "moments"}


def _mixed(column: DiscoveredColumn) -> str:
    """What becomes of a column most of whose cells are no texts; empty where most are."""
    if not (most := mostly(column)):
        return ""
    return (
        f", while most of its cells are {most} beside about {column.votes.get('text', 0):,} texts: write all alike in "
        "the table, or state that kind, with `missing = true` for the texts"
    )


def public_names(column: DiscoveredColumn) -> tuple[str, list[str]]:
    """The name of the public list that its categories are of, and the other names of that list; nothing where none is.

    Post-processing of what was bought: who knows the categories knows the list.
    """
    found = [text for text, _ in column.categories if can_be_listed(text)]
    public = public_list_of(found)
    return ("", []) if public is None else (public.name, public.others([*found, *column.missing_words]))


_WRITTEN = "; they may be numbers, which are read with their `decimal_char` (--decimal-char) and `unit`"

_MOVE = "where it stands for missing, move it to `missing_values`, with missing = true"

_REST = "bought: the rest of the cells"

_ANY_REST = "bought: the rest of the cells, if any: there may be none where cells are empty in the same records"

_NO_TEXT = "none of its texts is frequent enough to be distinguished from noise"


def boolean_facts(column: DiscoveredColumn, given: Mapping[str, Any], storage: pa.DataType | None) -> BoughtColumn:
    """How a column writes true and false, and a place for missing cells."""
    facts: Facts = {}
    if (words := boolean_words(column)) not in (None, PLAIN_WORDS):
        assert words is not None
        frequent = {text for text, count in column.categories if count}
        shown = [_SHOWN if not frequent or str(word) in frequent else _OPPOSITE for word in words]
        facts = {"true": (words[0], shown[0]), "false": (words[1], shown[1])}
    return BoughtColumn(column.name, facts | missing_facts(column, given))


_SHOWN = "bought: a frequent one of its words; more words for the same, such as N beside no, count as it"

_OPPOSITE = (
    "proposed: the opposite of its one frequent word, and nothing shows that it occurs; where another text stands in "
    "its place it is read as missing: list both as the `values` of a categorical column"
)


def boolean_words(column: DiscoveredColumn) -> tuple[str | int, str | int] | None:
    """The words of a column for true and false: of those that are frequent, and of one alone with its opposite.

    Returns:
        None where no word is frequent; `PLAIN_WORDS` for these in any case, which need no labels.
    """
    seen: dict[float, str] = {}
    for text, _ in column.categories:
        if (truth := TRUTHS.get(text.casefold())) is not None:
            seen.setdefault(truth, text)
    if not seen:
        return None
    truth, first = next(iter(seen.items()))
    other = seen.get(1 - truth, _cased(_OPPOSITES[first.casefold()], first))
    true, false = (first, other) if truth else (other, first)
    if (true, false) == ("1", "0"):
        return 1, 0
    return PLAIN_WORDS if true.casefold() == "true" else (true, false)


PLAIN_WORDS = ("true", "false")

_PAIRS = {"true": "false", "t": "f", "yes": "no", "y": "n", "1": "0"}

_OPPOSITES: Mapping[str, str] = {**_PAIRS, **{false: true for true, false in _PAIRS.items()}}


def _cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word
