"""Whether any record can meet a schema's rules: decided from public facts alone, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.errors import SchemaError
from counterfoil.schema.lookup_gaps import require_lookups_met
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.schema import Schema

TRIED_AT_ONCE = 1000
MOST_REPAIRS = 300
RARE = 1e-4
"""A share of uniformly drawn records below which rules count as hardly ever met."""


def require_possible(schema: Schema) -> None:
    """Refuses rules that no record meets, as far as a search can tell.

    Records are drawn uniformly from the declared values. As long as all break a rule, each draws one of the columns of
    a rule that it breaks anew, and keeps that if no more rules are broken. So a long chain of rules is met, of which
    uniform records hardly ever meet all; an exact equation between columns with fractions is not.

    Lookup tables whose rows are met by chance alone are refused too.

    Raises:
        SchemaError: naming the rules, or the columns of the lookup table.
    """
    require_lookups_met(schema)
    facts = _Facts.of(schema)
    if not facts.names:
        return
    rng = np.random.default_rng(0)  # so that a schema is refused always or never
    table = facts.draw(TRIED_AT_ONCE, rng)
    broken = facts.broken(table)
    for _ in range(MOST_REPAIRS):
        if not broken.any(axis=1).all():
            return
        blamed = broken @ facts.incidence * rng.random((TRIED_AT_ONCE, len(facts.names)))
        tried = facts.redrawn(table, blamed.argmax(axis=1), rng)
        broken_now = facts.broken(tried)
        kept = broken_now.sum(axis=1) <= broken.sum(axis=1)
        table = _choose(kept, tried, table)
        broken = np.where(kept[:, None], broken_now, broken)
    raise SchemaError(
        f"Some record must meet all rules of the schema. Found none among {TRIED_AT_ONCE * MOST_REPAIRS:,} tries: "
        f"{rule_texts(schema)}. Correct them; where a column follows from others, leave it out and compute it later."
    )


def rarely_met(schema: Schema, *, zeros_followed: bool) -> str | None:
    """A sentence where fewer than about `RARE` of uniformly drawn records meet the rules; else None.

    Args:
        schema: has the rules.
        zeros_followed: whether rows are only drawn where no structural zeros are, so that the others' share counts.
    """
    facts = _Facts.of(schema)
    if not facts.names:
        return None
    rng, drawn, considered = np.random.default_rng(0), round(1 / RARE), 0
    for _ in range(10):
        broken = facts.broken(facts.draw(drawn, rng))
        if not broken.any(axis=1).all():
            return None
        considered += drawn if not zeros_followed else int((~broken[:, len(schema.row_rules) :].any(axis=1)).sum())
    if considered < drawn:
        return None
    return (
        f"None of {considered:,} records drawn evenly from the declared values meets all rules ({rule_texts(schema)}): "
        "the release may have fewer rows than asked for, or none, and would cost the same."
    )


def rule_texts(schema: Schema) -> str:
    """The rules and the lists of zeros, as one phrase."""
    lists = [f"zeros of {' and '.join(zeros.columns)}" for zeros in schema.zeros]
    return "; ".join([*(rule.text for rule in schema.rules), *lists])


@dataclass(frozen=True)
class _Facts:
    """Rules and structural zeros, and the columns that they are about.

    Args:
        schema: has them.
        names: the c columns.
        incidence: bool [facts, c]: which of the columns each is about.
    """

    schema: Schema
    names: tuple[str, ...]
    incidence: np.ndarray

    @classmethod
    def of(cls, schema: Schema) -> _Facts:
        about = [*(rule.columns for rule in schema.row_rules), *schema.structural_zeros]
        names = tuple(name for name in schema.domain.attributes if any(name in columns for columns in about))
        return cls(schema, names, np.array([[name in columns for name in names] for columns in about]))

    def draw(self, n: int, rng: np.random.Generator) -> pa.Table:
        """`n` rows with independent columns, uniform over their codes."""
        columns = [self.schema[name] for name in self.names]
        return pa.table({c.name: c.decode(rng.integers(0, c.size, n), rng) for c in columns})

    def broken(self, table: pa.Table) -> np.ndarray:
        """bool [n, facts]: which of them each row breaks."""
        rules = [~rule.holds(table) for rule in self.schema.row_rules]
        zeros = [
            impossible[tuple(self.schema[name].encode(table.column(name)) for name in clique)]
            for clique, impossible in self.schema.structural_zeros.items()
        ]
        return np.stack([*rules, *zeros], axis=1)

    def redrawn(self, table: pa.Table, which: np.ndarray, rng: np.random.Generator) -> pa.Table:
        """The rows, each with its column number `which` [n] drawn anew."""
        fresh = self.draw(table.num_rows, rng)
        columns = [_choose(which == i, fresh.select([i]), table.select([i])) for i in range(len(self.names))]
        return pa.table({name: column.column(0) for name, column in zip(self.names, columns, strict=True)})


def _choose(which: np.ndarray, one: pa.Table, other: pa.Table) -> pa.Table:
    """The rows of `one` where `which`, else those of `other`."""
    mask = array_of(which)
    return pa.table({name: pc.if_else(mask, one.column(name), other.column(name)) for name in one.column_names})
