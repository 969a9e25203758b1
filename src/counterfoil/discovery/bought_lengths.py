"""Bought lengths: a column that lies between two dates, in place of the later one, which is derived from it.

A rule says that no row has a length without the date that it begins at: a model that has not seen the two together
draws such rows, and their later date is lost.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from counterfoil.discovery.bought_bounds import bounds_facts
from counterfoil.discovery.bought_facts import BoughtColumn, Facts
from counterfoil.inert import inert_toml
from counterfoil.schema.discovered import Discovered, DiscoveredColumn, Length
from counterfoil.schema.expression import column_text
from counterfoil.schema.instant import SECONDS_OF_A_MINUTE
from counterfoil.schema.notation import directives
from counterfoil.schema.toml_text import toml_value

UNITS = {"date": "days", "datetime": "seconds"}
"""What lengths are counted in, by the kind of both columns."""
_WRITTEN = ("format", "zone")
"""Facts of the later date that say how it is written."""
_MISSING = ("missing", "missing_values")
_PATTERN_SIGNS = re.compile(r"[*?]")
"""Of names that stand for many columns (`schema.patterns`)."""


@dataclass(frozen=True)
class BoughtLength:
    """What goes into the schema in the place of a later date.

    Args:
        length: the answers about both.
        column: the same, as about a column of whole numbers.
        made: the facts of that column.
        terms: the column that the date is counted from, and all lengths up to it.
        written: how the date is written, by key.
    """

    length: Length
    column: DiscoveredColumn
    made: BoughtColumn
    terms: tuple[str, ...]
    written: Mapping[str, str]

    @property
    def derived(self) -> str:
        """The table of the later date, and the rule, as TOML."""
        facts = {
            "name": self.length.last,
            "kind": self.length.kind,
            "expression": " + ".join(map(column_text, self.terms)),
            **self.written,
            "after": self.made.name,
        }
        *_, before, length = map(column_text, self.terms)
        rule = {"if": f"{before} is missing", "then": f"{length} is missing"}
        return inert_toml(_table("derived", facts) + "\n" + _table("rules", rule))


def bought_lengths(
    discovered: Discovered, made: Mapping[str, BoughtColumn], names: Collection[str], stated: Collection[str]
) -> dict[str, BoughtLength]:
    """By the later date, what lies between two columns that were bought.

    Args:
        discovered: the answers.
        made: the facts of the columns.
        names: that are taken: of all columns of the table and of the schema.
        stated: the columns of which the user said something: they stay.
    """
    answers, taken = {column.name: column for column in discovered.columns}, {*names}
    found: dict[str, BoughtLength] = {}
    for length in _in_order(discovered.lengths):
        first, last = made[length.first], made[length.last]
        if length.first in stated or length.last in stated or not _are_alike(first, last, length):
            continue
        name = _unused(_PATTERN_SIGNS.sub("_", f"{length.first}_to_{length.last}"), taken)
        taken.add(name)
        origin = found[length.first].terms if length.first in found else (length.first,)
        column = _answers(name, length, answers[length.last])
        written = {key: str(last.facts[key][0]) for key in _WRITTEN if key in last.facts}
        minutes = length.kind == "datetime" and all(map(_lacks_seconds, (first, last)))
        facts = BoughtColumn(name, _facts(length, column, last, minutes=minutes))
        found[length.last] = BoughtLength(length, column, facts, (*origin, name), written)
    return found


def _table(name: str, facts: Mapping[str, str]) -> str:
    """One of several tables, as TOML."""
    return f"[[{name}]]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in facts.items())


def _in_order(lengths: Iterable[Length]) -> Iterator[Length]:
    """Each after the one that its first column follows from."""
    left = list(lengths)
    while left:
        lasts = {one.last for one in left}
        ready = [one for one in left if one.first not in lasts]
        yield from ready
        left = [one for one in left if one.first in lasts]


def _are_alike(first: BoughtColumn, last: BoughtColumn, length: Length) -> bool:
    """Whether both are columns of the same kind and zone, which an expression can name, and the later one as fine.

    Written without the seconds of the earlier one it could come before that.
    """
    kinds = [one.facts.get("kind", ("", ""))[0] for one in (first, last)]
    zones = [one.facts.get("zone", ("", ""))[0] for one in (first, last)]
    named = not any("`" in one.name for one in (first, last))
    as_fine = length.kind != "datetime" or _lacks_seconds(first) or not _lacks_seconds(last)
    return kinds == [length.kind] * 2 and zones[0] == zones[1] and named and as_fine


def _unused(name: str, taken: Collection[str]) -> str:
    folded = {one.casefold() for one in taken}
    while name.casefold() in folded:
        name += "_"
    return name


def _answers(name: str, length: Length, last: DiscoveredColumn) -> DiscoveredColumn:
    """The length as a column of whole numbers."""
    return DiscoveredColumn(
        name=name,
        kind="integer",
        votes={},
        lower=0.0,
        upper=float(length.upper),
        tails=(0.0, 0.0),
        categories=(),
        records=max(round(length.records), 0),
        missing=last.missing,
        edges=(),
        deviation=length.deviation,
        outside=(length.below, length.above),
    )


def _lacks_seconds(column: BoughtColumn) -> bool:
    """Whether moments are written without seconds, so that only whole minutes lie between two of them."""
    text_format = str(column.facts.get("format", ("", ""))[0])
    return bool(text_format) and not directives(text_format) & SECONDS_OF_A_MINUTE


def _facts(length: Length, column: DiscoveredColumn, last: BoughtColumn, *, minutes: bool) -> Facts:
    """The facts of a length, on a grid of whole minutes where both moments are written so."""
    step = 60 if minutes else 1
    unit = UNITS[length.kind]
    kind = f"bought: {unit}, for most of these are few beside all the time that either date spans"
    alone = max(min(length.alone, column.records), 1)
    between = f"bought: few rows or none have the second one first; up to {alone:,.0f} may have it alone, and lose it"
    return {
        "kind": ("integer", kind),
        "between": ([length.first, length.last], between),
        **bounds_facts(column, 0, -(-length.upper // step) * step),
        **({"step": (step, "both are written without seconds: whole minutes lie between them")} if minutes else {}),
        **{key: last.facts[key] for key in _MISSING if key in last.facts},
    }
