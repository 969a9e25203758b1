"""Sentences for the receipt on rows that broke a rule and were drawn again, and on what that moved.

Post-processing: rows are drawn from the model, and no record is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.schema.rules import BoundRule
from counterfoil.schema.toml_text import toml_value
from counterfoil.synthesis.row_sampling import RowMaker

_TRIED = 4096
_MANY = 0.1
"""A larger share of rows that are drawn again is said even where it moves no column far: it may move relations."""
_FAR = 0.1
"""A mean that moves by more of its column's deviation is said."""
_MANY_MOVED = 0.05
"""A larger share of a column's rows that are moved to other categories is said."""
_SECONDS_PER_DAY = 86_400
_DEVIATIONS = 4.0
"""What chance alone moves by so many standard errors is no finding: rules name few columns, of many releases."""


@dataclass(frozen=True, eq=False)
class TriedRows:
    """Rows as the model draws them, before any is drawn again.

    Args:
        schema: with the rules.
        values: of the synthesized columns.
        good: bool [rows]: which meet all rules. Those are distributed as the rows of the release.
        mended: the share of them that first had other values within their codes, which broke a rule.
        loose: the rules that many rows broke with these first values.
    """

    schema: Schema
    values: pa.Table
    good: np.ndarray
    mended: float = 0.0
    loose: tuple[BoundRule, ...] = ()

    @staticmethod
    def of(model: TableModel, schema: Schema) -> TriedRows:
        """Rows of their own, so that those of the release stay what they are."""
        rng = np.random.default_rng(0)
        maker = RowMaker.of(model, schema)
        codes = maker.sample(_TRIED, rng)
        values, good, mended = maker.meeting(codes, rng)
        first = maker.values(codes, np.random.default_rng(0))
        loose = tuple(rule for rule in schema.row_rules if 1 - rule.holds(first).mean() > _MANY)
        return TriedRows(schema, values, good, float(mended.mean()), loose)

    @property
    def share(self) -> float:
        """The share of the rows that are drawn again."""
        return 1 - float(self.good.mean())

    @property
    def broken(self) -> list[BoundRule]:
        """The rules that some of the rows break."""
        return [rule for rule in self.schema.row_rules if not rule.holds(self.values).all()]

    def numbers(self, name: str) -> np.ndarray:
        """float64 [rows]: of a column, NaN where missing."""
        return self.schema[name].positions(self.values.column(name))


def redrawn_rows(tried: TriedRows) -> list[str]:
    """The sentences; none where few rows are drawn again, and no column of the rules is moved far by that.

    Args:
        tried: rows of the model.
    """
    names = _columns_of(tried.broken)
    moves = [move for name in names if (move := _move(tried, name))]
    mended = _mended(tried)
    if tried.share <= _MANY and not moves:
        return mended
    moved = f" That moved {', '.join(moves)}." if moves else ""
    return [
        *mended,
        f"About {tried.share:.0%} of the rows that the model draws break a rule about {', '.join(names)}, and were "
        f"drawn again, which moves counts, means and relations of these columns.{moved}{_causes(tried)}",
    ]


def _columns_of(rules: Sequence[BoundRule]) -> list[str]:
    return list(dict.fromkeys(name for rule in rules for name in rule.columns))


def _mended(tried: TriedRows) -> list[str]:
    """The sentence on values that were drawn anew within their bins, where these are many."""
    names = _columns_of(tried.loose)
    if tried.mended <= _MANY or not names:
        return []
    return [
        f"About {tried.mended:.0%} of the rows got other values of {', '.join(names)} within the same bins, because "
        "the first broke a rule. Within a bin values are drawn without a look at other columns, as far as rules allow: "
        "differences that are shorter than a bin say nothing."
    ]


def measured_by(column: Column) -> bool:
    """Whether its values have a mean: numbers, dates and moments."""
    return isinstance(column, Instant) or column.comparable == "number"


def amount(column: Column, number: float) -> str:
    """How far apart two values of a column are, in its units."""
    if not isinstance(column, Instant):
        return f"{number:,.3g}"
    days = number * column.unit / _SECONDS_PER_DAY
    return f"{days:,.0f} days" if abs(days) >= 10 else f"{days:,.2g} days"


def _move(tried: TriedRows, name: str) -> str:
    """How far a column moved; the empty text where it did not move far."""
    column = tried.schema[name]
    if tried.good.all() or not tried.good.any():
        return ""
    if not measured_by(column):
        return _moved_words(tried, name)
    numbers = tried.numbers(name)
    there = ~np.isnan(numbers)
    kept = there & tried.good
    if not kept.any() or not (deviation := float(numbers[there].std())):
        return ""
    by = float(numbers[kept].mean() - numbers[there].mean())
    # Of the rows that are kept, those that were lost would have said as much: a part of them decides the difference.
    chance = deviation * np.sqrt(tried.share / kept.sum())
    if abs(by) <= max(_FAR * deviation, _DEVIATIONS * chance):
        return ""
    return f"the mean of {name} by {amount(column, by)} ({by / deviation:+.2f} of its deviation)"


def _moved_words(tried: TriedRows, name: str) -> str:
    codes = tried.schema[name].encode(tried.values.column(name))
    size = tried.schema[name].size
    before = np.bincount(codes, minlength=size) / len(codes)
    kept = np.bincount(codes[tried.good], minlength=size) / tried.good.sum()
    moved = float(np.abs(kept - before).sum()) / 2
    # The mean absolute error of each share, and half the sum of them.
    chance = float(np.sqrt(2 / np.pi * before * tried.share / tried.good.sum()).sum()) / 2
    return f"{moved:.0%} of the rows to other values of {name}" if moved > _MANY_MOVED + 2 * chance else ""


def _causes(tried: TriedRows) -> str:
    """Why rows break the rules, and what helps, for each kind of rule."""
    return "".join(f" {sentence}" for sentence in dict.fromkeys(_cause(rule, tried.schema) for rule in tried.broken))


def _cause(rule: BoundRule, schema: Schema) -> str:
    if len(rule.columns) > 2:
        return (
            "A model of marginals can't hold rules on three columns and more: a `[[derived]]` column, or rules on two "
            "columns in place of three, move less."
        )
    first, last = rule.columns[0], rule.columns[-1]
    if rule.cells is None:
        return (
            f"{first} and {last} have too many cells together for the model to hold `{rule.rule.text}`, and "
            "differences between them are unreliable. Fewer bins, such as by a coarser `resolution`, help; or "
            f"{one_less(rule, schema)}."
        )
    if first == last:
        return f"Few values within some bins of {first} meet the rule."
    return (
        f"Few values within some bins of {first} and {last} meet the rule: differences that are shorter than a bin say "
        "nothing."
    )


def one_less(rule: BoundRule, schema: Schema) -> str:
    """What keeps the difference of two columns, or does without it."""
    first, last = rule.columns[0], rule.columns[-1]
    if all(isinstance(schema[name], Integer | Real | Instant) for name in (first, last)):
        what = {"date": "the days", "datetime": "the seconds"}.get(schema[first].kind, "what lies")
        return (
            f"leave out one of the two, or count {what} between them: a column with `between = "
            f"{toml_value([first, last])}`, from which {last} is derived"
        )
    return (
        f"leave out one of the two, or store their difference ({last} - {first}) in place of one of them before the "
        "table is read"
    )


def pairs_of(rules: Sequence[BoundRule], schema: Schema) -> Iterator[BoundRule]:
    """The rules that say which of two columns is larger, where both are dates, or both are numbers."""
    for rule in rules:
        columns = [schema[name] for name in rule.columns]
        if len(columns) == 2 and rule.orders_columns and measured_by(columns[0]) and measured_by(columns[1]):
            yield rule
