"""What the public must say about a table before it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from counterfoil.domain.domain import Clique, Domain
from counterfoil.kept_files import KeptFile
from counterfoil.schema.between import Between
from counterfoil.schema.between_facts import between_of
from counterfoil.schema.bought import Bought
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.encoding import UTF_8, encoding_named, require_letters
from counterfoil.schema.errors import SchemaError, Unconfirmed, UnconfirmedSchema, did_you_mean, open_facts
from counterfoil.schema.expression import names_column
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.named_values import with_codes_of_their_own, without_idle_points
from counterfoil.schema.notebook import schema_html
from counterfoil.schema.patterns import Pattern, resolve
from counterfoil.schema.rules import BoundRule, Rule, Zeros, impossible_cells
from counterfoil.schema.toml import read_schema
from counterfoil.schema.toml_text import schema_text


@dataclass(frozen=True)
class Schema:
    """Public facts about a table: its columns in order, and what holds for every record.

    Nothing here may come from the records but through noisy answers that were paid for: bounds, bins, categories and
    rules are what anybody could know, or were bought.
    `ignore` names columns of the table that are not described and never read. `confirm` lists what a draft
    still leaves open; such a schema can be shown, and nothing else. `patterns` declare the columns whose names match
    them: a schema with patterns becomes one of columns by `resolved`, which needs the names in the table. `files` are
    the lists that were read with the schema, by their absolute paths. Dates whose bins nobody stated get them here, and
    dates and numbers the values that rules and zeros name as bins of their own; not where the schema is `as_released`,
    so that columns say all about their bins. `bought` says what the schema cost, where noisy answers about the table
    made it: that adds to the cost of every release. `encoding` is that of the table's CSV files where their first bytes
    do not say another one, and of those that are written. `between` has the columns that are computed from two dates
    when the table is read, by name.

    Raises SchemaError when the facts contradict each other.
    """

    columns: tuple[Column | Identifier | Derived, ...]
    rules: tuple[Rule, ...] = ()
    name: str = ""
    _: KW_ONLY
    zeros: tuple[Zeros, ...] = ()
    ignore: tuple[str, ...] = ()
    confirm: tuple[Unconfirmed, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    bought: Bought | None = None
    encoding: str = UTF_8
    files: tuple[str, ...] = field(default=(), compare=False, repr=False)
    as_released: bool = field(default=False, compare=False, repr=False)
    between: Mapping[str, Between] = field(init=False, default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = [*(column.name for column in (*self.columns, *self.patterns)), *self.ignore]
        object.__setattr__(self, "encoding", encoding_named(self.encoding))
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise SchemaError(f"Column {repeated[0]!r} is declared twice.")
        if self.confirm or self.patterns:
            return
        named = ((), ()) if self.as_released else (self.rules, self.zeros)
        columns = self.columns if self.as_released else without_idle_points(self.columns)
        object.__setattr__(self, "columns", with_codes_of_their_own(columns, *named))
        if not self.synthesized:
            raise SchemaError("A schema must declare at least one column that is not an identifier.")
        for column in self.derived:
            self._require_not_derived_twice(column)
            column.require_known(self._by_name)
        object.__setattr__(self, "between", between_of(self._with_values()))
        if any(zero.all() for zero in self.structural_zeros.values()):
            clique = next(clique for clique, zero in self.structural_zeros.items() if zero.all())
            raise SchemaError(f"The rules on {', '.join(clique)} leave no record possible.")
        if self.encoding != UTF_8:
            require_letters(schema_text(self.columns, (), (), name="", ignore=()), self.encoding)

    @staticmethod
    def from_toml(source: str | Path, *, sensitive: Sequence[KeptFile] = ()) -> Schema:
        """Read a schema from a file, or from TOML text (anything with a line break or an equals sign).

        Lists in other files are read at once, relative to the folder of the schema's file. A schema with patterns has
        no columns for them yet: `resolved` makes them.

        Args:
            source: the path, or the text.
            sensitive: the files of the table that the schema is for, where that is known: one that a list is read from
                is refused without a word on what is in it.

        Raises SchemaError that names the file, the column, the key, and what is expected.
        """
        return read_schema(source, Schema, sensitive=sensitive)

    @staticmethod
    def from_release(source: str | Path) -> Schema:
        """Read the schema that a release keeps, a file or TOML text: it says everything itself.

        Names of columns are meant as they stand, also in releases of older versions, and no other file is read.

        Raises SchemaError as `from_toml` does.
        """
        return read_schema(source, Schema, released=True)

    def _repr_html_(self) -> str:
        return schema_html(self)

    def to_toml(self) -> str:
        """TOML text that `from_toml` reads back as an equal schema."""
        self.require_confirmed()
        return schema_text(
            self.columns,
            self.rules,
            self.zeros,
            name=self.name,
            ignore=self.ignore,
            bought=self.bought,
            encoding=self.encoding,
        )

    def resolved(self, names: Iterable[str], *, unit: str = "") -> Schema:
        """The schema with a column for each name that its patterns match; itself where it has none.

        What a receipt hashes, and what a release keeps, is the resolved schema.

        Args:
            names: the table's columns, in its order: public, as its header.
            unit: the column of the privacy unit, which no pattern declares: it would be synthesized.

        Raises:
            SchemaError: for a column that two patterns match, and for a pattern that matches none.
        """
        if not self.patterns or self.confirm:
            return self
        others = {column.name for column in self.columns} | {*self.ignore, unit}
        made = resolve(self.patterns, names, others)
        columns: list[Column | Identifier | Derived] = []
        for place in range(len(self.columns) + 1):
            for pattern in self.patterns:
                columns += made[pattern.name] if pattern.place == place else ()
            columns += self.columns[place : place + 1]
        return replace(self, columns=tuple(columns), patterns=())

    @property
    def declared(self) -> tuple[str, ...]:
        """The names of columns that the schema has in full, those that are ignored among them; no pattern."""
        return *(column.name for column in self.columns), *self.ignore

    def require_confirmed(self) -> None:
        """Raise UnconfirmedSchema, listing each column and fact that a draft leaves open.

        Raises SchemaError where the schema has patterns, and so does not say its columns yet.
        """
        if self.confirm:
            named = f"The schema {self.name!r}" if self.name else "This schema"
            bought = self.bought is not None and self.bought.document
            where = " in the TOML that `bought.document` of the schema holds," if bought else ""
            again = " and read it again with `Schema.from_toml`" if bought else ""
            raise UnconfirmedSchema(
                f"{named} is a draft. Say what is true of each column from public knowledge,{where}"
                f" then delete its line `confirm = true`{again}:\n" + "\n".join(open_facts(self.confirm))
            )

        if self.patterns:
            raise SchemaError(
                f"Which columns the pattern {self.patterns[0].name!r} declares depends on the table. Give the names of "
                "its columns, `schema.resolved(names)`; or where names are meant as they stand, write "
                "`exact_names = true` above the first column."
            )

    @cached_property
    def synthesized(self) -> tuple[Column, ...]:
        """The columns that have codes: all but identifiers and derived ones."""
        return tuple(column for column in self.columns if isinstance(column, Column))

    @cached_property
    def derived(self) -> tuple[Derived, ...]:
        """The columns that follow from others."""
        return tuple(column for column in self.columns if isinstance(column, Derived))

    def _with_values(self) -> dict[str, Column | Derived]:
        """The columns that are no identifiers, by name."""
        return {column.name: column for column in self.columns if not isinstance(column, Identifier)}

    @cached_property
    def _by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.synthesized}

    def __getitem__(self, name: str) -> Column:
        """The synthesized column of that name; raises KeyError with the closest name."""
        if name not in self._by_name:
            if any(column.name == name for column in self.derived):
                raise KeyError(f"Column {name!r} is derived: it has no codes, and follows from others in each row.")
            raise KeyError(f"The schema synthesizes no column {name!r}.{did_you_mean(name, self._by_name)}")
        return self._by_name[name]

    @cached_property
    def domain(self) -> Domain:
        """The number of codes of each synthesized column."""
        self.require_confirmed()
        return Domain(tuple(self._by_name), tuple(column.size for column in self.synthesized))

    @cached_property
    def _bound(self) -> tuple[BoundRule, ...]:
        self.require_confirmed()
        for rule in self.rules:
            self._require_no_derived(rule)
        return tuple(part for rule in self.rules for part in BoundRule(rule, self._by_name).parts())

    def _require_no_derived(self, rule: Rule) -> None:
        for column in self.derived:
            if any(names_column(text, column.name) for text in (rule.condition, rule.then) if text):
                raise SchemaError(
                    f"Rule `{rule.text}`: column {column.name!r} is derived, so that no rule can bind it. State the "
                    "rule on the columns that it follows from."
                )

    def _require_not_derived_twice(self, column: Derived) -> None:
        for other in self.derived:
            if other is not column and (other.name in column.on or names_column(column.expression, other.name)):
                raise column.mistake(
                    f"it can't follow from {other.name!r}, which is derived itself. Write what {other.name!r} follows "
                    "from in its place"
                )

    @cached_property
    def structural_zeros(self) -> Mapping[Clique, np.ndarray]:
        """Cells that no record can be in, by the one or two columns they are about, in the schema's order.

        Boolean arrays of the clique's shape, True where impossible. Exact where each code is a single value;
        a bin counts as impossible only when none of its values can satisfy the rule.
        """
        parts = [impossible_cells(zeros, self._by_name) for zeros in self.zeros]
        for rule in self._bound:
            if rule.cells is not None and rule.cells[0].any():
                parts.append((rule.columns, rule.cells[0]))
        joined: dict[Clique, np.ndarray] = {}
        for clique, impossible in parts:
            joined[clique] = joined[clique] | impossible if clique in joined else impossible
        return joined

    @property
    def bound_rules(self) -> tuple[BoundRule, ...]:
        """All rules, taken apart where they bind fewer columns so."""
        return self._bound

    @cached_property
    def row_rules(self) -> tuple[BoundRule, ...]:
        """The rules that structural zeros don't fully enforce: to be checked row by row on decoded values."""
        return tuple(rule for rule in self._bound if rule.cells is None or rule.cells[1].any())
