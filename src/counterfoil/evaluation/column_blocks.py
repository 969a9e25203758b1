"""Columns of two tables side by side, as paragraphs and tables: those that differ most first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from counterfoil.blocks import IN_JSON, Block, wrapped
from counterfoil.listing import first_few

if TYPE_CHECKING:
    from counterfoil.evaluation.comparison import Comparison
    from counterfoil.evaluation.raw_columns import ColumnComparison, Distribution
    from counterfoil.schema.column import Column

_MOST_COLUMNS = 12
_MOST_NUMBERS = 6
_MOST_CATEGORIES = 8
_WIDEST_HEAD = 14
"""Characters; a longer name of a column stands above its statistics, in a line of its own."""
_UNITS = (("days", 86_400), ("hours", 3600), ("minutes", 60))


def columns_of(comparison: Comparison, *, values: bool) -> Iterator[Block]:
    """The shares of each column, the numbers of some in their own units, and the categories that differ."""
    columns = sorted(comparison.columns, key=lambda column: -column.difference)
    yield from _moved(columns)
    yield "\nReal columns as they stand / synthetic ones; those that differ most come first."
    yield "L1: of the coded columns. W_1: in deviations of the real numbers."
    if _unread(columns):
        yield "missing %: with the cells that are read as missing."
    yield _shares(columns[:_MOST_COLUMNS])
    if len(columns) > _MOST_COLUMNS:
        yield f"{_further(len(columns) - _MOST_COLUMNS)}; {IN_JSON} has all."
    numbers = [column for column in columns if column.numbers is not None]
    for column in numbers[:_MOST_NUMBERS]:
        yield "" if len(column.name) <= _WIDEST_HEAD else "\n" + wrapped(column.name, further="")
        yield _statistics(column, comparison.schema[column.name])
    if len(numbers) > _MOST_NUMBERS:
        yield f"\n{_further(len(numbers) - _MOST_NUMBERS, ' of numbers')}; {IN_JSON} has all."
    yield from _all_categories(columns, values=values)


def _further(count: int, what: str = "") -> str:
    """How many columns, of which kind, are not shown."""
    return f"1 more column{what} differs less" if count == 1 else f"{count:,} more columns{what} differ less"


def _moved(columns: list[ColumnComparison]) -> Iterator[str]:
    """What the schema itself changes, which no comparison of codes shows."""
    named = _named({column.name: column.clamped[0] + column.other[0] for column in columns})
    unread = _unread(columns)
    ways = [f"clamps or merges real values of {named}"] if named else []
    ways += [f"reads real values as missing: {unread}"] if unread else []
    if ways:
        remedy = "`counterfoil check` (in Python `check_without_privacy`) says how to mend it."
        text = f"The schema itself {'; it '.join(ways)}. {remedy}"
        yield "\n" + wrapped(text, further="")


def _unread(columns: list[ColumnComparison]) -> str:
    """Of which columns real cells are read as missing that hold something; empty where none are."""
    return _named({column.name: column.unread[0] for column in columns})


def _named(shares: dict[str, float]) -> str:
    """Columns with their shares above 0, the largest first."""
    most = sorted((name for name in shares if shares[name]), key=lambda name: -shares[name])
    return first_few([f"{name} {100 * shares[name]:.3g}%" for name in most], _MOST_CATEGORIES, of="columns")


def _shares(columns: list[ColumnComparison]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("column", overflow="fold", max_width=30)
    for heading in ("L1", "clamped %", "other %", "missing %", "W_1"):
        table.add_column(heading, justify="right", no_wrap=True)
    for column in columns:
        missing = column.missing[0] + column.unread[0], column.missing[1] + column.unread[1]
        pairs = (column.clamped, column.other, missing)
        share = "" if column.numbers is None else _figure(column.numbers.deviations)
        table.add_row(column.name, f"{column.distance:.3f}", *map(_pair, pairs), share)
    return table


def _pair(shares: tuple[float, float]) -> str:
    return "" if not any(shares) else " / ".join(f"{100 * share:.3g}" for share in shares)


def _figure(deviations: float) -> str:
    return f"{deviations:.4g}" if math.isfinite(deviations) else "-"


def _statistics(column: ColumnComparison, facts: Column) -> Any:
    """Mean, deviation and quantiles of one column: two statistics in each line."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(column.name if len(column.name) <= _WIDEST_HEAD else "", max_width=_WIDEST_HEAD)
    for heading in ("real", "synthetic"):
        table.add_column(heading, justify="right", max_width=16)
    table.add_column("", max_width=9)
    for heading in ("real", "synthetic"):
        table.add_column(heading, justify="right", max_width=16)
    assert column.numbers is not None
    lines = [_statistics_of(side, facts) for side in (column.numbers.real, column.numbers.synthetic)]
    names = list(lines[0])
    for first, second in (("mean", "deviation"), ("1%", "99%"), ("5%", "95%"), ("25%", "75%")):
        assert {first, second} <= set(names)
        table.add_row(first, lines[0][first], lines[1][first], second, lines[0][second], lines[1][second])
    distance = column.numbers.wasserstein
    apart = "-" if math.isnan(distance) else _length(distance, facts)
    table.add_row("50%", lines[0]["50%"], lines[1]["50%"], "W_1", "", apart)
    return table


def _statistics_of(found: Distribution | None, facts: Column) -> dict[str, str]:
    from counterfoil.evaluation.raw_columns import QUANTILES, in_units

    names = ["mean", "deviation", *(f"{level:.0%}" for level in QUANTILES)]
    if found is None:
        return dict.fromkeys(names, "-")
    spread = _length(found.deviation, facts)
    return dict(
        zip(names, [in_units(facts, found.mean), spread, *(in_units(facts, q) for q in found.quantiles)], strict=True)
    )


def _length(number: float, facts: Column) -> str:
    """A distance between two values: of moments in the largest unit of time that it has one of."""
    if facts.kind == "date":
        return f"{number:.5g} days"
    if facts.kind != "datetime":
        return f"{number:.5g}"
    unit, seconds = next(((unit, length) for unit, length in _UNITS if abs(number) >= length), ("seconds", 1))
    return f"{number / seconds:.4g} {unit}"


def _all_categories(columns: list[ColumnComparison], *, values: bool) -> Iterator[str]:
    lines = [line for column in columns for line in _categories(column, values)]
    if not lines:
        return
    yield ""
    for line in lines[: 2 * _MOST_CATEGORIES]:
        yield wrapped(line)
    if len(lines) > 2 * _MOST_CATEGORIES:
        yield f"{len(lines) - 2 * _MOST_CATEGORIES:,} more lines of this kind are in {IN_JSON}."


def _categories(column: ColumnComparison, values: bool) -> Iterator[str]:
    if (categories := column.categories) is None:
        return
    if never := categories.never_made:
        named = f": {first_few(list(never), _MOST_CATEGORIES)}" if values else ""
        yield f"{column.name}: {_counted(len(never))} of real rows never made{named}."
    if outside := categories.outside:
        most = sorted(outside, key=lambda text: -outside[text])
        counted = [f"{text} ({outside[text]:,})" for text in most]
        named = f": {first_few(counted, _MOST_CATEGORIES)}" if values else ""
        cells = sum(outside.values())
        yield f"{column.name}: {_counted(len(outside))} of {cells:,} real rows not in the schema{named}."


def _counted(categories: int) -> str:
    return "1 category" if categories == 1 else f"{categories:,} categories"
