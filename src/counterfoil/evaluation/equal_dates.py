"""Two dates that are the same in every record that has both: the day of death is that of the last visit. NOT PRIVATE.

A copy draws each by itself, and hardly one row keeps to it. What lies between the two, which is always 0 or missing,
has a code of its own and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.equal_wherever import most_frequent
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.order_notes import FEWEST
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.evaluation.sum_notes import MOST_COLUMNS
from counterfoil.schema import Schema
from counterfoil.schema.expression import column_text
from counterfoil.schema.instant import Date
from counterfoil.schema.toml_text import toml_key, toml_table

Pair = tuple[str, str]


class EqualDates:
    """Which dates were the same wherever both were there so far, batch by batch."""

    def __init__(self, schema: Schema):
        self._schema = schema
        self._named = {name for rule in schema.bound_rules for name in rule.columns}
        self._named |= {name for zeros in schema.zeros for name in zeros.columns}
        self._kept = kept_columns(schema)
        names = pasted(column.name for column in schema.synthesized if isinstance(column, Date))
        pairs = combinations(names if len(names) <= MOST_COLUMNS else (), 2)
        self._telling = dict.fromkeys(pairs, 0)
        """In how many records each two are the same, on another day than most records have."""
        self._usual: dict[str, float] = {}
        self._alone: dict[Pair, int] = {}
        """In how many records the first one is there, and the second one is not."""

    def add(self, batch: RawBatch) -> None:
        """Compares the records of a batch; a column that can't be read is compared with none."""
        numbers = {name: cells.numbers for name, cells in batch.cells.items() if cells.numbers is not None}
        self._telling = {pair: count for pair, count in self._telling.items() if {*pair} <= numbers.keys()}
        for pair in [*self._telling]:
            one, other = (numbers[name] for name in pair)
            known = np.isfinite(one), np.isfinite(other)
            both = known[0] & known[1]
            if (one[both] != other[both]).any():
                del self._telling[pair]
                continue
            if pair[0] not in self._usual and (usual := most_frequent(one[both])) is not None:
                self._usual[pair[0]] = usual
            self._telling[pair] += int(np.count_nonzero(one[both] != self._usual.get(pair[0])))
            for way, some in ((pair, known[0] & ~known[1]), (pair[::-1], known[1] & ~known[0])):
                self._alone[way] = self._alone.get(way, 0) + int(np.count_nonzero(some))

    def notes(self) -> Iterator[ColumnNote]:
        """One for each date that is an earlier column's, or that of one which more records have."""
        said = set[str]()
        for pair, count in self._telling.items():
            if count < FEWEST:  # also of a table without records, of which nothing was counted
                continue
            source, target = sorted(pair, key=lambda name: self._alone[name, pair[1 - pair.index(name)]], reverse=True)
            if not {*pair} & said:
                said.add(target)
                yield self._note(source, target, count)

    def _note(self, source: str, target: str, count: int) -> ColumnNote:
        text = f"it is the same as {source} in all records that have both, and hardly a row of a copy will keep to it."
        computed = {name for one in self._schema.between.values() for name in (one.column.name, *one.inputs)}
        if {source, target} & computed or target in self._named | self._kept:
            return ColumnNote(target, "same", text, count, source=source)
        lost = self._alone[target, source]
        text += f" Where that is so by its meaning, have what lies between the two in place of {target}"
        text += f", which is missing then wherever {source} is ({lost:,} records more)" if lost else ""
        return ColumnNote(target, "same", f"{text}:", count, source=source, toml=self._tables(source, target))

    def _tables(self, source: str, target: str) -> str:
        length, own = f"{source}_to_{target}", self._schema[target]
        of_length = {
            "kind": "integer",
            "between": [source, target],
            "lower": 0,
            "upper": 0,
            **({"missing": True} if own.missing or self._schema[source].missing else {}),
            **({"missing_values": list(own.missing_values)} if own.missing_values else {}),
        }
        of_derived = {
            "name": target,
            "kind": own.kind,
            "expression": f"{column_text(source)} + {column_text(length)}",
            **({key: fact for key, fact in own.facts().items() if key in ("format", "zone")}),
        }
        columns = toml_table(f"[columns.{toml_key(length)}]", of_length)
        return f"{columns}\n{toml_table('[[derived]]', of_derived)}".rstrip()
