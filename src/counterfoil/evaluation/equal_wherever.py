"""Numbers, dates and categories that are the same as another one's in some records alone: an amount in francs where the
currency is francs, a discharge on the day of admission. NOT PRIVATE.

A rule on three columns keeps to it by drawing rows again: of 20,000 payments, half of them in francs, 1% of the rows
were in francs then. What lies between the two has a code for 0, which a rule on two columns keeps to, and costs
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.code_conditions import shown
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.evaluation.stored_digits import stored_digits
from counterfoil.evaluation.sum_notes import MOST_COLUMNS
from counterfoil.evaluation.wherever_counts import Decided, Fact, Signs
from counterfoil.schema import Schema
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.expression import column_text
from counterfoil.schema.instant import Date
from counterfoil.schema.integer import Integer
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.placement import PlacedCells
from counterfoil.schema.real import Real
from counterfoil.schema.toml_text import toml_key, toml_table

Pair = tuple[str, str]


@dataclass(frozen=True)
class Same:
    """That two columns have the same value.

    Args:
        pair: their names, in the order of the schema.
    """

    pair: Pair

    @property
    def names(self) -> frozenset[str]:
        """The columns that it is about."""
        return frozenset(self.pair)


FEWEST_SHARED = 3
"""Categories of both columns; of fewer, it is one value that the other column says."""
_SAMPLED = 1000
"""Records of a batch, spread over it, that say which number most have."""


class EqualPairs:
    """Each two columns of numbers, of dates, or of categories that are listed for both, that no rule names together."""

    def __init__(self, schema: Schema):
        self._schema = schema
        self._fixed = kept_columns(schema) | _in_facts(schema)
        bound = [set(rule.columns) for rule in schema.bound_rules]
        self._pairs: list[Pair] = []
        for kinds in (Integer | Real, Date):
            names = pasted(column.name for column in schema.synthesized if isinstance(column, kinds))
            if len(names) <= MOST_COLUMNS:
                self._pairs += combinations(names, 2)
        self._labels = _numbered_labels(schema)
        self._pairs += [
            pair
            for pair in combinations(self._labels, 2)
            if len({*self._labels[pair[0]].tolist()} & {*self._labels[pair[1]].tolist()}) >= FEWEST_SHARED
        ]
        self._pairs = [pair for pair in self._pairs if not any({*pair} <= one for one in bound)]
        self._names = [*dict.fromkeys(name for pair in self._pairs for name in pair)]
        self._usual: dict[str, float] = {}
        self._orders = {*self._pairs, *(pair[::-1] for pair in self._pairs)}
        """Columns of which the first was never above the second."""
        self._alone = np.zeros((len(self._names), len(self._names)))
        """In how many records each column has a number and each other one has none."""

    def facts(self, batch: RawBatch) -> Mapping[Fact, Signs]:
        """Of each pair, which records have the same in both; a number that most have says nothing."""
        if not self._pairs:
            return {}
        readable = {name: self._numbers(name, batch.cells[name]) for name in self._names if name in batch.cells}
        numbers = {name: own for name, own in readable.items() if own is not None}
        some = slice(None, None, -(-batch.rows // _SAMPLED))
        for name, own in numbers.items():
            if name not in self._usual and (usual := most_frequent(own[some])) is not None:
                self._usual[name] = usual
        for part in (some, slice(None)):
            self._orders = {pair for pair in self._orders if _is_in_order(pair, numbers, part)}
        nothing = np.full(batch.rows, np.nan)
        known = np.stack([np.isfinite(numbers.get(name, nothing)) for name in self._names]).astype(np.float32)
        self._alone += known @ (1 - known).T
        return {Same(pair): self._signs(pair, numbers) for pair in self._pairs if {*pair} <= numbers.keys()}

    def _numbers(self, name: str, cells: PlacedCells) -> np.ndarray | None:
        """Of categories, one for each label that is the same in all columns; NaN for missing cells."""
        return self._labels[name][cells.codes] if name in self._labels else cells.numbers

    def _signs(self, pair: Pair, numbers: Mapping[str, np.ndarray]) -> Signs:
        first, last = (numbers[name] for name in pair)
        usual = [self._usual[name] for name in pair if name in self._usual]

        def signs(part: slice) -> np.ndarray:
            one, other = first[part], last[part]
            same = one == other
            known = np.isfinite(one) & np.isfinite(other)
            for number in usual:
                known &= ~(same & (one == number))
            return np.where(known, np.where(same, 1, -1), 0).astype(np.int8)

        return signs

    def notes(self, found: Sequence[Decided]) -> Iterator[ColumnNote]:
        """One for each column that is the same as another one somewhere, with the tables that keep to it where a schema
        can have them; none that follows from another such column."""
        derived, kept = set[str](), set[str]()
        for decided in found:
            assert isinstance(decided.fact, Same)
            pair = decided.fact.pair
            target, has_tables = self._target(pair)
            source = pair[1 - pair.index(target)]
            if target not in derived | kept and source not in derived:
                derived.add(target)
                kept.add(source)
                yield self._note(decided, pair, target, source, has_tables=has_tables)

    def _note(self, decided: Decided, pair: Pair, target: str, source: str, *, has_tables: bool) -> ColumnNote:
        text = (
            f"it is the same as {source} wherever {shown(decided.where)}, and elsewhere not always. Many rows of a "
            "copy will not keep to it. A rule on three columns draws rows again, and leaves few of these."
        )
        if target in self._labels:
            text += (
                f' Where that is so by its meaning, write a word of its own, such as "same", in place of what {source} '
                "says, and add the rule that it stands there."
            )
        if not has_tables:
            return ColumnNote(target, "same", text, decided.support, source=source, gate=decided.gate)
        lost = int(self._alone[self._names.index(target), self._names.index(source)])
        text += f" Where that is so by its meaning, have what lies between the two in place of {target}"
        text += f", which is missing then wherever {source} is ({lost:,} records more)" if lost else ""
        text += f"{self._ordered(pair, target, source)}:"
        tables = self._tables(pair, target, decided.where)
        return ColumnNote(target, "same", text, decided.support, source=source, gate=decided.gate, toml=tables)

    def _ordered(self, pair: Pair, target: str, source: str) -> str:
        """Words for a bound of 0, which the records alone say."""
        for one, bound in ((pair, "lower"), (pair[::-1], "upper")):
            if one in self._orders:
                way = "below" if one == (source, target) else "above"
                return f" (`{bound} = 0` as it is {way} {source} in no record; state another one if it may be)"
        return ""

    def _target(self, pair: Pair) -> tuple[str, bool]:
        """The column that is to be derived from the other one, and whether a schema may: the one that loses fewer,
        the later one first."""
        able = [name for name in pair if name not in self._fixed and not _has_sign(self._schema[name])]
        computed = {name for one in self._schema.between.values() for name in (one.column.name, *one.inputs)}
        if not able or computed & {*pair} or _length(pair) in self._schema.declared or pair[0] in self._labels:
            return pair[1], False
        places = {name: self._names.index(name) for name in pair}
        lost = {name: self._alone[places[name], places[pair[1 - pair.index(name)]]] for name in able}
        return min(reversed(able), key=lambda name: lost[name]), True

    def _tables(self, pair: Pair, derived: str, where: str) -> str:
        length, first, last = _length(pair), *(self._schema[name] for name in pair)
        assert isinstance(first, NumberColumn)
        assert isinstance(last, NumberColumn)
        digits = _decimals(first, last)
        whole = not isinstance(first, Real) and not isinstance(last, Real)
        stated = {} if whole or digits is None else {"decimals": digits}
        (low, high), (lower, upper) = first.bounds, last.bounds
        least = 0 if pair in self._orders else _plain(lower - high, whole=whole)
        most = 0 if pair[::-1] in self._orders else _plain(upper - low, whole=whole)
        own: NumberColumn = self._schema[derived]  # type: ignore[assignment]
        of_length = {
            "kind": "integer" if whole else "real",
            "between": list(pair),
            "lower": least,
            "upper": most,
            **stated,
            **({"missing": True} if first.missing or last.missing else {}),
            **({"missing_values": list(own.missing_values)} if own.missing_values else {}),
        }
        one, other = map(column_text, (pair[0] if derived == pair[1] else pair[1], length))
        notation = {key: value for key in _NOTATION if (value := getattr(own, key, ""))}
        of_derived = {
            "name": derived,
            "kind": own.kind,
            "expression": f"{one} {'+' if derived == pair[1] else '-'} {other}",
            **(stated if isinstance(own, Real) else {}),
            **notation,
        }
        rule = {"if": where, "then": f"{other} == 0"}
        return "\n".join(
            (
                toml_table(f"[columns.{toml_key(length)}]", of_length),
                toml_table("[[derived]]", of_derived),
                toml_table("[[rules]]", rule),
            )
        ).rstrip()


_NOTATION = ("format", "digits", "decimal_char")


def _numbered_labels(schema: Schema) -> dict[str, np.ndarray]:
    """By column of categories, float64 [codes]: a number for each label, and one of its own for `other`, which is not
    known to be the same; NaN for missing cells and, at the end, for those that have no place."""
    columns = [column for column in schema.synthesized if isinstance(column, Categorical)]
    names = pasted(column.name for column in columns)
    numbers: dict[str, int] = {}
    found: dict[str, np.ndarray] = {}
    for column in columns if len(names) <= MOST_COLUMNS else ():
        if column.name in names:
            own = [float(numbers.setdefault(label, len(numbers))) for label in column.labels]
            if column.other:
                own[len(column.values)] = -1.0 - len(found)
            if column.missing_code is not None:
                own[column.missing_code] = np.nan
            found[column.name] = np.array([*own, np.nan])
    return found


def _has_sign(column: object) -> bool:
    """Whether cells hold the sign of a unit, beside which no derived column is read."""
    return isinstance(column, Integer | Real) and bool(column.unit)


def _length(pair: Pair) -> str:
    return "_to_".join(pair)


def most_frequent(numbers: np.ndarray) -> float | None:
    """The number that most records have; None where none has any."""
    found, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    return float(found[np.argmax(counts)]) if len(found) else None


def _is_in_order(pair: Pair, numbers: Mapping[str, np.ndarray], part: slice) -> bool:
    """Whether in no record the first number is above the second, in columns that can be read."""
    return {*pair} <= numbers.keys() and not (numbers[pair[0]][part] > numbers[pair[1]][part]).any()


def _in_facts(schema: Schema) -> frozenset[str]:
    """Columns that rules and zeros name, which none that is derived may be."""
    named = {name for rule in schema.bound_rules for name in rule.columns}
    return frozenset(named | {name for zeros in schema.zeros for name in zeros.columns})


def _decimals(*columns: NumberColumn) -> int | None:
    """How many digits after the point what lies between two columns has; None where no schema says it."""
    digits = [_digits_of(column) for column in columns]
    known = [one for one in digits if one is not None]
    return max(known) if len(known) == len(digits) else None


def _digits_of(column: NumberColumn) -> int | None:
    if not isinstance(column, Real):
        return 0
    return column.decimals if not column.step else stored_digits(np.array([column.lower, column.step]))


def _plain(number: float, *, whole: bool) -> int | float:
    return int(number) if whole or number == int(number) else float(f"{number:.12g}")
