"""Whom a release protects, read from its relation's text, and whom several releases protect together.

Budgets add up for every pair of tables that are neighbors of *each* of the releases: for such a pair, each release by
itself keeps its epsilon and delta, so that basic composition applies to the pair (Dwork, Kenthapadi, McSherry, Mironov
and Naor 2006). The sum therefore protects the neighbors that all releases have in common.

**Rows kept of a unit.** Neighbors under a privacy unit differ in all rows that one value of the unit's column has,
however many these are. `max_rows` is no part of that: it says how many of them the mechanism keeps, in an order drawn
at random that does not look at other units, so that the tables it works on differ in at most `max_rows` rows of that
unit, and its noise is scaled by as many. A release that keeps 1 row and another that keeps 3 have their guarantees for
the same pairs of whole tables, and add up.

**Groups.** Neighbors within groups are those tables that differ by the replacement of a record with another of equal
values in the groups' columns. They are among the neighbors of `replace_one`, and the pairs within the groups of two
releases at once are those of equal values in the columns of both.

**What is not added up.** Tables with and without a record are no neighbors under `replace_one`, nor the other way
around: the common neighbors of the two are none, and a sum of budgets would bound nothing. Single rows and units, or
units of two columns, have in common only the tables that differ in a unit of a single row: a sum would leave out those
whom the unit is for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

_UNIT = re.compile(r"(add_or_remove_one|replace_one) of (.*) with at most \d+ rows", re.DOTALL)
_WITHIN = "replace_one within groups of equal "
_NAME = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s'"]+""")


@dataclass(frozen=True)
class Protection:
    """Between which tables a sum of budgets bounds what is revealed.

    Args:
        relation: the relation's text without its unit and groups.
        unit: the column whose values' rows are protected together; None where it is single rows.
        groups: the columns within whose combinations of values a record is replaced.
    """

    relation: str
    unit: str | None = None
    groups: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> Protection:
        """What `Neighbors.describe` says; any other text protects what it says, and nothing else."""
        if match := _UNIT.fullmatch(text):
            return cls(match[1], unit=match[2])
        if text.startswith(_WITHIN) and (groups := _names(text.removeprefix(_WITHIN))):
            return cls("replace_one", groups=groups)
        return cls(text)

    def with_release(self, other: Protection) -> Protection | None:
        """What both protect; None where their budgets don't add up."""
        if (self.relation, self.unit) != (other.relation, other.unit):
            return None
        return Protection(self.relation, self.unit, self.groups | other.groups)

    def __str__(self) -> str:
        if self.unit is not None:
            return f"{self.relation} of {self.unit}, with all of its rows"
        if self.groups:
            return f"{_WITHIN}{' and '.join(sorted(self.groups))}"
        return self.relation


def together(relations: Iterable[str]) -> Protection | None:
    """What releases of these relations protect together, which must add up; None for no release.

    Args:
        relations: as `Neighbors.describe` gives them.
    """
    common: Protection | None = None
    for text in relations:
        one = Protection.of(text)
        common = one if common is None else common.with_release(one)
        assert common is not None, "the ledger took only releases that add up"
    return common


def why_apart(asked: str, before: str) -> str:
    """The sentence that refuses a release whose budget does not add up with that of an earlier one.

    Args:
        asked: the relation of the release that is asked for.
        before: the relation of the earlier one.
    """
    one, other = Protection.of(asked), Protection.of(before)
    warning = ""
    if one.unit == other.unit:
        remedy = f"use {other.relation!r}"
    elif other.unit is None:
        remedy = f"use {other.relation!r} without a privacy unit"
        warning = f" Single rows are then protected, and not all rows of one {one.unit!r} together."
    else:
        remedy = f"use {other.relation!r} with the privacy unit {other.unit!r}, with any number of rows"
    return (
        "All releases of one ledger must have neighbors in common, or their budgets do not add up. Found "
        f"{asked!r} after {before!r}: {remedy}, for this release too.{warning}"
    )


def _names(text: str) -> frozenset[str]:
    """The columns that a text lists; empty where it is no such list."""
    names, place = set(), 0
    while match := _NAME.match(text, place):
        word = match[0]
        names.add(str(ast.literal_eval(word)) if word[0] in "'\"" else word)
        place = match.end()
        if place == len(text):
            return frozenset(names)
        if not text.startswith(" and ", place):
            break
        place += len(" and ")
    return frozenset()
