"""The language of rules: comparisons and arithmetic between columns and constants, on single values or ranges.

    age >= education_years + 5
    `marital status` in ["Husband", "Wife"] and not pregnant
    income is missing or 0 <= income < 10_000

Columns are named as they are, or between backticks where the name is not an identifier. Operators: `+ - *`,
division by a constant, `== != < <= > >=`, `in` and `not in` a list of constants, `is missing`, `is not missing`,
`and`, `or`, `not`. A boolean column stands for itself. Dates are compared with texts such as "2020-01-31", and the days
between two of them with a number: `discharged - admitted <= 60`. A column's word for missing (`missing_values`) is no
value: `workclass == "?"` is `workclass is missing`.

Text is parsed with Python's own grammar and only the nodes above are accepted; nothing is ever executed.

Evaluation is interval arithmetic with Kleene's three values, so that one evaluator serves two purposes. On
single values (low = high) it is exact. On bins it says which of true, false and unknown *can* occur, and never
leaves out one that does: each floating-point operation is monotone in each argument, so its values over a box
lie between those at the corners. As in an SQL check constraint, what is compared with a missing value is
unknown, and a rule is broken only where it is false.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from keyword import iskeyword
from unicodedata import normalize

import numpy as np

from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError, did_you_mean

_TOKENS = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`([^`]+)`""")
_SLIPS: Mapping[str, str] = {
    r"\b\d{4}-\d\d-\d\d\b": 'dates go between quotes, as texts do, such as "2020-01-31"',
    r"(?<![=!<>])=(?!=)": "equality is written `==`",
    r"<>": "inequality is written `!=`",
    r"\bif\b.*\bthen\b": "a rule for some records has two lines, `if` with the condition and `then`, not `require`",
    r"&&|\|\||!(?!=)|\b(?:AND|OR|NOT|IN|IS)\b": "conditions are joined by `and`, `or`, `not`, in small letters",
}
"""What other languages write, by a pattern of it outside of quotes."""
_ARITHMETIC: Mapping[type, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_MIRRORED: Mapping[type, type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}


@dataclass(frozen=True)
class Range:
    """Numbers between `low` and `high`, both included; NaN in both where the value is missing."""

    low: np.ndarray
    high: np.ndarray


class CodeRange(Range):
    """The same of a column's codes: a number that has a code of its own is in no bin beside it."""

    def beside(self, number: float, column: Column) -> Range:
        """Ranges that do not hold `number`, where it has a code of its own, but for that code."""
        lows, highs = column.ranges
        if not ((lows == number) & (highs == number)).any():
            return self
        holds = (self.low < self.high) & (self.low <= number) & (number <= self.high)
        return Range(*(np.where(holds, np.nextafter(number, np.inf), end) for end in (self.low, self.high)))


_SIGNS: Mapping[type, tuple[str, str]] = {ast.BitAnd: ("&", "and"), ast.BitOr: ("|", "or"), ast.Invert: ("~", "not")}


@dataclass(frozen=True)
class Truth:
    """Which truth values can occur: boolean arrays of one shape."""

    true: np.ndarray
    false: np.ndarray
    unknown: np.ndarray

    def __invert__(self) -> Truth:
        return Truth(self.false, self.true, self.unknown)

    def __and__(self, other: Truth) -> Truth:
        unknown = (self.unknown & (other.true | other.unknown)) | (self.true & other.unknown)
        return Truth(self.true & other.true, self.false | other.false, unknown)

    def __or__(self, other: Truth) -> Truth:
        return ~(~self & ~other)


class Expression:
    """One parsed expression over named columns.

    Args:
        text: the expression.
        columns: those that it may name, by name.
        place: what the expression is, at the beginning of sentences.

    Raises SchemaError when the text can't be parsed, names an unknown column, or compares unlike things.
    """

    def __init__(self, text: str, columns: Mapping[str, Column], *, place: str = "Rule"):
        self.text = text
        self._place = place
        self._known = columns
        self._used: dict[str, None] = {}
        self._compared: dict[tuple[str, float, bool], None] = {}
        self._tree, self._quoted = parse(text, self._mistake)
        self._require_words()
        # One evaluation on a value of each column finds every mistake before any row is seen.
        self._truth(self._tree, {name: Range(np.zeros(1), np.zeros(1)) for name in columns})

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the expression names, in order of appearance."""
        return tuple(self._used)

    @property
    def compared(self) -> tuple[tuple[str, float, bool], ...]:
        """The constants that a column by itself is compared with, in order of appearance: its name, the constant as
        rules read it (`Column.constant`), and whether equality is asked, also by `!=` and `in`.

        Where arithmetic is done on a column, as in `age >= years + 5`, no constant is a value of it.
        """
        return tuple(self._compared)

    @property
    def orders_columns(self) -> bool:
        """Whether it says which of two columns is larger: one stands on each side of `<`, `<=`, `>` or `>=`."""
        return any(
            isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and self._names(left) and self._names(right)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Compare)
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        )

    def _names(self, side: ast.expr) -> bool:
        return any(isinstance(node, ast.Name) and self._column(node) is not None for node in ast.walk(side))

    def __call__(self, ranges: Mapping[str, Range]) -> Truth:
        """The truth values that can occur when each column lies anywhere in its range (arrays broadcast)."""
        return self._truth(self._tree, ranges)

    def conjuncts(self) -> tuple[Expression, ...]:
        """Parts of which at least one is false exactly where the whole is: those that `and` joins."""
        return tuple(self._part(tree) for tree in _joined_by(ast.And, self._tree))

    def disjuncts(self) -> tuple[Expression, ...]:
        """Parts of which at least one is true exactly where the whole is: those that `or` joins."""
        return tuple(self._part(tree) for tree in _joined_by(ast.Or, self._tree))

    def _part(self, tree: ast.expr) -> Expression:
        part = copy(self)
        part._tree, part._used = tree, {}
        part._truth(tree, {name: Range(np.zeros(1), np.zeros(1)) for name in self._known})  # which columns it names
        return part

    def _mistake(self, problem: str) -> SchemaError:
        return SchemaError(f"{self._place} `{self.text}`: {problem}")

    def _require_words(self) -> None:
        """Refuses the signs that join conditions on frames: they bind closer than comparisons."""
        for node in ast.walk(self._tree):
            if (op := getattr(node, "op", None)) is not None and (pair := _SIGNS.get(type(op))) is not None:
                raise self._mistake(f"conditions are joined by and, or, not. Found `{pair[0]}`: write `{pair[1]}`.")

    def _truth(self, node: ast.expr, ranges: Mapping[str, Range]) -> Truth:
        if isinstance(node, ast.BoolOp):
            truth = self._truth(node.values[0], ranges)
            for value in node.values[1:]:
                other = self._truth(value, ranges)
                truth = truth & other if isinstance(node.op, ast.And) else truth | other
            return truth
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self._truth(node.operand, ranges)
        if isinstance(node, ast.Compare):
            return self._comparisons(node, ranges)
        column = self._column(node)
        if column is not None and column.comparable == "boolean":
            return _compared(ast.Eq(), ranges[column.name], _point(1.0))
        raise self._mistake("it must be made of comparisons, joined by and, or, not.")

    def _comparisons(self, node: ast.Compare, ranges: Mapping[str, Range]) -> Truth:
        truth: Truth | None = None
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            part = self._comparison(op, left, right, ranges)
            truth = part if truth is None else truth & part
            left = right
        assert truth is not None
        return truth

    def _comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr, ranges: Mapping[str, Range]) -> Truth:
        if isinstance(op, ast.Is | ast.IsNot):
            return self._missing(op, left, right, ranges)
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple) or not right.elts:
                raise self._mistake('`in` needs a list of constants, such as ["a", "b"].')
            parts = [self._comparison(ast.Eq(), left, constant, ranges) for constant in right.elts]
            truth = parts[0]
            for part in parts[1:]:
                truth = truth | part
            return truth if isinstance(op, ast.In) else ~truth
        for side, other in ((left, right), (right, left)):
            if (days := self._days_between(side, ranges)) is not None:
                number = self._number_of_days(other)
                return _compared(op, days, number) if side is left else _compared(op, number, days)
        owner = self._owner(left, right)
        if not owner.is_ordered and not isinstance(op, ast.Eq | ast.NotEq):
            raise self._mistake(f"the categories of column {owner.name!r} are not `ordered`.")
        equal = isinstance(op, ast.Eq | ast.NotEq)
        for side, constant in ((left, right), (right, left)):
            if (column := self._column(side)) is None or not _is_constant(constant):
                continue
            if equal and column.is_missing_word(self._literal(constant, column, ranges)):
                absent = _absent(ranges[column.name])
                return absent if isinstance(op, ast.Eq) else ~absent
            number = self._range(constant, owner, ranges)
            self._compared[column.name, float(number.low), equal] = None
            if equal and isinstance(values := ranges[column.name], CodeRange):
                return _compared(op, values.beside(float(number.low), column), number)
        return _compared(op, self._range(left, owner, ranges), self._range(right, owner, ranges))

    def _days_between(self, node: ast.expr, ranges: Mapping[str, Range]) -> Range | None:
        """The number of days between two dates, None where the node is no difference of columns of dates."""
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
            return None
        last, first = self._column(node.left), self._column(node.right)
        if last is None or first is None or not last.comparable == first.comparable == "date":
            return None
        return Range(ranges[last.name].low - ranges[first.name].high, ranges[last.name].high - ranges[first.name].low)

    def _number_of_days(self, node: ast.expr) -> Range:
        value = _written(node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._mistake(f"the days between two dates are compared with a number; found `{ast.unparse(node)}`.")
        try:
            return _point(float(value))
        except OverflowError:
            raise self._mistake("it compares with an integer of too many digits.") from None

    def _missing(self, op: ast.cmpop, left: ast.expr, right: ast.expr, ranges: Mapping[str, Range]) -> Truth:
        column = self._column(left)
        if column is None or not (isinstance(right, ast.Name) and right.id == "missing"):
            raise self._mistake("`is` is only for `COLUMN is missing` and `COLUMN is not missing`.")
        absent = _absent(ranges[column.name])
        return absent if isinstance(op, ast.Is) else ~absent

    def _literal(self, node: ast.expr, column: Column, ranges: Mapping[str, Range]) -> object:
        """A constant as it was written; where it is computed, such as 5 - 14, the number."""
        written = _written(node)
        return float(self._range(node, column, ranges).low) if written is None else written

    def _column(self, node: ast.expr) -> Column | None:
        """The column that a name stands for, None where the node is no name."""
        if not isinstance(node, ast.Name) or node.id in _TRUTHS:
            return None
        name = self._quoted.get(node.id, node.id)
        if name not in self._known:
            meant = next((known for known in self._known if known.startswith(name) and column_text(known) != known), "")
            quoted = f", and {column_text(meant)} between backticks" if meant else ""
            raise self._mistake(
                f"there is no synthesized column {name!r} (texts go between quotes{quoted})."
                + did_you_mean(name, self._known)
            )
        self._used[name] = None
        return self._known[name]

    def _owner(self, left: ast.expr, right: ast.expr) -> Column:
        """The column that says how the constants on either side are read."""
        named = [
            column
            for side in (left, right)
            for node in ast.walk(side)
            if isinstance(node, ast.expr) and (column := self._column(node)) is not None
        ]
        if not named:
            raise self._mistake("each comparison must name a column.")
        unlike = [column for column in named if column.comparable != named[0].comparable]
        if unlike:
            raise self._mistake(
                f"columns {named[0].name!r} and {unlike[0].name!r} can't be compared." + _alike(named[0], unlike[0])
            )
        return named[0]

    def _range(self, node: ast.expr, owner: Column, ranges: Mapping[str, Range]) -> Range:
        column = self._column(node)
        if column is not None:
            return ranges[column.name]
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            return self._arithmetic(node, owner, ranges)
        if isinstance(node, ast.Name):
            return _point(owner.constant(node.id == "true"))
        if (written := _written(node)) is not None:
            return _point(owner.constant(written))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._require_numbers(owner)
            inner = self._range(node.operand, owner, ranges)
            return Range(-inner.high, -inner.low)
        raise self._mistake(f"`{ast.unparse(node)}` is neither a column, a constant nor arithmetic.")

    def _require_numbers(self, owner: Column) -> None:
        if owner.comparable != "number":
            raise self._mistake(
                f"there is no arithmetic on column {owner.name!r} ({owner.kind}).{_counted_in_days(owner)}"
            )

    def _arithmetic(self, node: ast.BinOp, owner: Column, ranges: Mapping[str, Range]) -> Range:
        self._require_numbers(owner)
        left, right = (self._range(side, owner, ranges) for side in (node.left, node.right))
        if isinstance(node.op, ast.Div) and not (right.low.size == 1 and _is_constant(node.right) and right.low):
            raise self._mistake("it may divide only by a constant that is not zero.")
        work = _ARITHMETIC[type(node.op)]
        corners = [work(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        return Range(np.minimum.reduce(np.broadcast_arrays(*corners)), np.maximum.reduce(np.broadcast_arrays(*corners)))


def parse(text: str, mistake: Callable[[str], SchemaError]) -> tuple[ast.expr, dict[str, str]]:
    """The syntax tree of an expression, and the columns that stand between backticks by the names that the tree has.

    Raises:
        SchemaError: what `mistake` makes of a sentence, when the text can't be parsed.
    """
    quoted: dict[str, str] = {}

    def unquote(match: re.Match) -> str:
        if match[1] is None:
            return match[0]
        placeholder = f"_quoted_{len(quoted)}"
        quoted[placeholder] = match[1]
        return f" {placeholder} "

    try:
        return ast.parse(_TOKENS.sub(unquote, text).strip(), mode="eval").body, quoted
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise mistake(f"it is not an expression{slip(text)}") from None


def slip(text: str) -> str:
    """What in a text is written as other languages write it, after a colon; empty where nothing is."""
    outside = _TOKENS.sub(" ", text)
    return next((f": {words}." for pattern, words in _SLIPS.items() if re.search(pattern, outside)), "")


def _joined_by(kind: type[ast.And | ast.Or], node: ast.expr) -> list[ast.expr]:
    """What `and`, or `or`, joins at the top of a tree, `not` moved inwards; the tree itself where nothing does.

    In Kleene's logic too, `not (a or b)` is `not a and not b`, and `a < b < c` is `a < b and b < c`.
    """
    if isinstance(node, ast.BoolOp) and isinstance(node.op, kind):
        return [part for value in node.values for part in _joined_by(kind, value)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _joined_by(ast.Or if kind is ast.And else ast.And, node.operand)
        return [ast.UnaryOp(ast.Not(), part) for part in inner]
    if isinstance(node, ast.Compare) and kind is ast.And:
        sides = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        return [ast.Compare(left, [op], [right]) for left, op, right in sides]
    return [node]


_TRUTHS = ("true", "false")
_WORDS = (*_TRUTHS, "missing")


def column_text(name: str) -> str:
    """How an expression names a column: between backticks where Python would read something else."""
    plain = name.isidentifier() and not iskeyword(name) and normalize("NFKC", name) == name
    return name if plain and name not in _WORDS else f"`{name}`"


def names_column(text: str, name: str) -> bool:
    """Whether an expression has `name` where a column may stand; False for what is no expression."""
    try:
        tree, quoted = parse(text, SchemaError)
    except SchemaError:
        return False
    nodes = [*ast.walk(tree)]
    absent = {id(one.comparators[0]) for one in nodes if isinstance(one, ast.Compare) and _asks_for_missing(one)}
    names = [one.id for one in nodes if isinstance(one, ast.Name) and id(one) not in absent]
    return name in {quoted.get(one, one) for one in names if one not in _TRUTHS}


def _asks_for_missing(node: ast.Compare) -> bool:
    """Whether it is `COLUMN is missing`, or `is not`, of which the word is no column of that name."""
    return len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot)


def _alike(one: Column, other: Column) -> str:
    """How to declare two columns of moments so that they can be compared; empty for other columns.

    A date is no moment: `day <= seen` may mean the day of `seen` or midnight, so that nothing is chosen for the user.
    """
    kinds = {column.comparable: column.name for column in (one, other)}
    if "date" in kinds and len(kinds) == 2 and any(kind.startswith("datetime") for kind in kinds):
        day, moment = kinds.pop("date"), *kinds.values()
        written = getattr(one if one.comparable == "date" else other, "format", "") or "%Y-%m-%d"
        return (
            f' {day!r} holds dates, {moment!r} times of day too. Declare {moment!r} with `kind = "date"` if its day '
            f'alone matters, or {day!r} with `kind = "datetime"`, `resolution = "1d"` and `format = "{written}"` for '
            "dates that count as their midnight."
        )
    if set(kinds) == {"datetime", "datetime with a zone"}:
        return f" Only {kinds['datetime with a zone']!r} has a `zone`: declare one for both, or for none."
    return ""


def _counted_in_days(owner: Column) -> str:
    if not owner.comparable.startswith("date"):
        return ""
    remedy = ': declare them with `kind = "date"`' if owner.comparable != "date" else ""
    return (
        ' Compare it with a text between quotes, such as "2020-01-31". The days between two columns of dates are '
        f"compared with a number, as in `discharged - admitted <= 60`{remedy}."
    )


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))


def _written(node: ast.expr) -> object:
    """A constant as it stands, a minus in front of a number included; None for what is computed or no constant."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return -number if isinstance(number, int | float) and not isinstance(number, bool) else None
    return None


def _point(value: float) -> Range:
    return Range(np.array(value), np.array(value))


def _absent(values: Range) -> Truth:
    """Whether values are missing, which is always known."""
    absent = np.isnan(values.low)
    return Truth(absent, ~absent, np.zeros_like(absent))


def _compared(op: ast.cmpop, left: Range, right: Range) -> Truth:
    if type(op) in _MIRRORED:
        return _compared(_MIRRORED[type(op)](), right, left)
    if isinstance(op, ast.NotEq):
        return ~_compared(ast.Eq(), left, right)
    unknown = np.isnan(left.low) | np.isnan(right.low)
    if isinstance(op, ast.Lt):
        true, false = left.low < right.high, left.high >= right.low
    elif isinstance(op, ast.LtE):
        true, false = left.low <= right.high, left.high > right.low
    else:
        true = (left.low <= right.high) & (right.low <= left.high)
        false = ~((left.low == right.high) & (left.high == right.low))
    return Truth(true & ~unknown, false & ~unknown, unknown)
