"""What was bought about the columns of a table, as `counterfoil schema` prints it: a line for each column."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from counterfoil.discovery.bought_categories import mostly
from counterfoil.discovery.bought_facts import counted, coverage, coverage_range
from counterfoil.discovery.bought_lengths import UNITS as LENGTHS
from counterfoil.discovery.bought_missing import misread
from counterfoil.discovery.bought_numbers import ROOM_BESIDE_ZERO, code_text, may_be_rare
from counterfoil.listing import first_few
from counterfoil.schema.discovered import count_range, percent
from counterfoil.schema.toml import UNKNOWN, unsaid_facts

if TYPE_CHECKING:
    from counterfoil.fidelity.bought_schema import BoughtSchema, SchemaPurchase
    from counterfoil.schema.discovered import DiscoveredColumn
    from counterfoil.schema.schema import Schema

_MOST_NAMES = 3
_LONGEST_NAME = 12


def findings(made: BoughtSchema, purchase: SchemaPurchase) -> Any:
    """A table of 80 columns, in the order of the sensitive one."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("column", overflow="fold", max_width=22)
    table.add_column("kind", no_wrap=True)
    table.add_column("what was found", overflow="fold", max_width=30)
    table.add_column("missing", justify="right", no_wrap=True)
    answers = {column.name: column for column in made.discovered.columns}
    tables = tomllib.loads(made.text).get("columns", {})
    follow = {length.last: length for length in made.lengths.values()}
    for name in purchase.names:
        if name in follow:
            length = follow[name]
            far = f"0 to {length.upper:,} {LENGTHS[length.kind]} after {length.first}"
            table.add_row(name, length.kind, far, _missing(answers[name]))
        elif name in answers:
            line = _line(answers[name], tables.get(name, {}), made.schema, open_=name in purchase.partial.open)
            table.add_row(name, *line)
        else:
            known = "privacy unit" if purchase.unit is not None and name == purchase.unit.column else "not asked"
            table.add_row(name, "", "stated" if purchase.partial.covers(name) else known, "")
    return table


def _line(answers: DiscoveredColumn, facts: Mapping[str, Any], schema: Schema, *, open_: bool) -> tuple[str, str, str]:
    """Of one column; its kind is `UNKNOWN` where the schema asks for it, or noise alone would say it."""
    column = next((one for one in schema.columns if one.name == answers.name), None)
    missing = _missing(answers)
    if facts.get("confirm"):
        kind = str(facts["kind"])
        return kind, "to be stated" if unsaid_facts(facts) else _to_confirm(answers, facts), missing
    kind = column.kind if column is not None else answers.kind
    if column is None or kind == "identifier":
        most = mostly(answers)
        return UNKNOWN if answers.unknown else answers.kind, f"left out{f': mostly {most}' if most else ''}", missing
    found = _categories(answers) if kind == "categorical" else _above_zero(answers, column) or _range(column)
    lost = misread(answers, kind, facts.get("words", {})) if kind != "categorical" else ()
    read = f"; {counted(lost)} read as missing" if lost else ""
    return kind, f"{found}{', beside what was stated' if open_ else ''}{read}", missing


def _missing(answers: DiscoveredColumn) -> str:
    """How many cells surely are, with the interval."""
    if answers.missing is None or not answers.shows_missing:
        return ""
    return f"{answers.missing:,.0f} ({count_range(answers.missing, answers.missing_error)})"


def _to_confirm(answers: DiscoveredColumn, facts: Mapping[str, Any]) -> str:
    if not answers.grouped:
        return f"{facts['lower']} alone: to be confirmed"
    ends = f"{_number(facts['lower'])} to {_number(facts['upper'])}: " if "lower" in facts and "upper" in facts else ""
    return f"{ends}to be confirmed"


def _above_zero(answers: DiscoveredColumn, column: Any) -> str:
    """Of a column of which zero alone shows: its upper bound was not found; empty for all others."""
    roomy = column.kind == "integer" and column.upper == ROOM_BESIDE_ZERO and may_be_rare(answers)
    return f"0 alone; codes up to {column.upper}" if roomy else ""


def _range(column: Any) -> str:
    low, high = getattr(column, "lower", None), getattr(column, "upper", None)
    if getattr(column, "is_clock", False):
        return "times of day"
    if low is None:
        return "" if column.true is None else f"{column.true} or {column.false}"
    points = len(getattr(column, "points", ()))
    apart = f", {points} point{'s' if points > 1 else ''}" if points else ""
    digits = getattr(column, "digits", 0)
    words = "".join(f", {word}" for word, _ in getattr(column, "words", ()))
    return f"{_number(low, digits)} to {_number(high, digits)}{apart}{words}"


def _number(value: Any, digits: int = 0) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).zfill(digits)


def _categories(answers: DiscoveredColumn) -> str:
    codes = tuple((code_text(code, answers.digits), count) for code, count in answers.codes)
    listed = answers.categories or codes
    names = [text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…" for text, _ in listed]
    covered, error = coverage(answers, sum(count for _, count in listed), len(names))
    noise = "" if answers.categories else "; some may be noise"
    within = coverage_range(answers, covered, error)
    return f"{first_few(names, _MOST_NAMES)}: {percent(covered)} ({within}){noise}"
