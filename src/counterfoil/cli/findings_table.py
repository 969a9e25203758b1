"""Findings as a table of at most 80 columns: names beside the numbers, or above them where numbers are wide."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from counterfoil.cli.terminal import WIDTH
from counterfoil.inert import inert

if TYPE_CHECKING:
    from counterfoil.inference.finding import Finding

_LEAST_NAME = 24
"""Characters of a name on a line; with fewer beside the numbers it stands above them."""

_APART = 2

_MANY_ALIKE = 20
"""So many groups with the same interval, the widest of all, are counted and not listed."""

_NAMED = 3
"""Of those that are counted."""


def table_of(found: Sequence[Finding], *, naive: bool = False) -> Any:
    """The findings as a table.

    Args:
        found: what was found, or what the synthetic rows would say.
        naive: whether it is the latter, which has no noise to show.
    """
    from rich.text import Text

    heading = common(found)
    names = [_name(one, under=heading) for one in found]
    parts = [] if naive else ["noise", "sampling", *(["bins"] if any(one.bins > 0 for one in found) else [])]
    heads = ["estimate", "interval", *parts]
    cells = [_cells(one, parts) for one in found]
    if _width(heads, cells) > WIDTH - _APART:
        cells = [[cell.replace(",", "") for cell in row] for row in cells]
    longest = max((len(name) for name in names), default=0)
    if WIDTH - _width(heads, cells) - _APART >= min(longest, _LEAST_NAME):
        return _beside("" if heading else "what", names, heads, cells)
    return Text("\n".join(_above(names, heads, cells)))


def common(found: Sequence[Finding]) -> str:
    """What all findings are about, where each is about one group of it; empty where there is no such thing."""
    starts = {one.about.partition(", where ")[0] for one in found}
    return next(iter(starts)) if len(starts) == 1 else ""


def without_many_alike(found: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Those to list, and groups that all have the widest interval, where they are many: nothing tells them apart.

    Of a country of birth, a release may know the few that are frequent, and of 190 others that a share is between 0 and
    1.
    """
    widest = max(found, key=lambda one: one.upper - one.lower if math.isfinite(one.upper - one.lower) else -1.0)

    def is_widest(one: Finding) -> bool:
        return (one.lower, one.upper) == (widest.lower, widest.upper) and not one.decided

    alike = [one for one in found if is_widest(one)]
    if len(alike) <= _MANY_ALIKE or not common(found):
        return list(found), []
    return [one for one in found if not is_widest(one)], alike


def sentence_of_alike(alike: Sequence[Finding], *, others: bool) -> str:
    """How many groups share one interval, and the names of the first.

    Args:
        alike: the groups, at least one.
        others: whether other groups are listed above.
    """
    named = ", ".join(_name(one, under=common(alike)) for one in alike[:_NAMED])
    interval = f"{_number(alike[0], alike[0].lower)} to {_number(alike[0], alike[0].upper)}"
    return f"{len(alike):,} {'more ' if others else ''}groups have the interval {interval}: {named} ..."


def _name(finding: Finding, *, under: str) -> str:
    return inert((finding.about.partition(", where ")[2] or "all records") if under else finding.about)


def _cells(finding: Finding, parts: Sequence[str]) -> list[str]:
    """The estimate, the interval and half the widths for its parts, such as noise and sampling."""
    if finding.decided:
        return [f"{finding.estimate:g}", "by the schema", *("none" for _ in parts)]
    interval = f"{_number(finding, finding.lower)} to {_number(finding, finding.upper)}"
    return [_number(finding, finding.estimate), interval, *(_half(finding, getattr(finding, part)) for part in parts)]


def _half(finding: Finding, value: float) -> str:
    """Half the width of an interval."""
    return f"±{_number(finding, value)}" if math.isfinite(value) else "unknown"


def _number(finding: Finding, value: float) -> str:
    """A number with as many places as half the interval needs for two digits that count."""
    if not math.isfinite(value):
        return "unknown"
    half = (finding.upper - finding.lower) / 2
    scale = half if math.isfinite(half) and half > 0 else max(abs(finding.estimate), 1e-3)
    scale = scale if math.isfinite(scale) else 1.0
    if not 1e-7 < scale < 1e9:
        return f"{value:.4g}"
    return f"{value:,.{min(max(1 - math.floor(math.log10(scale)), 0), 6)}f}"


def _widths(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(heads, *cells, strict=True)]


def _width(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """Of the numbers alone, and what is between them."""
    widths = _widths(heads, cells)
    return sum(widths) + _APART * (len(widths) - 1)


def _beside(head: str, names: Sequence[str], heads: Sequence[str], cells: Sequence[Sequence[str]]) -> Any:
    """A table with a line for each finding, or more where its name is folded."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column(head, overflow="fold")
    for one in heads:
        table.add_column(one, justify="right", no_wrap=True)
    for name, row in zip(names, cells, strict=True):
        table.add_row(Text(name), *row)
    return table


def _above(names: Sequence[str], heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines: the heads, and for each finding its name and below it the numbers."""
    widths = _widths(heads, cells)

    def line(row: Sequence[str]) -> str:
        return (" " * _APART).join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rjust(WIDTH)

    lines = [line(heads)]
    for name, row in zip(names, cells, strict=True):
        lines += [*textwrap.wrap(name, WIDTH), line(row)]
    return lines
