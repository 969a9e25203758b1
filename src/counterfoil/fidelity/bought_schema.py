"""A schema that is bought: from a table that nobody has described to a document and its receipt."""

from __future__ import annotations

import math
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.curator import Curator
from counterfoil.curator.fingerprint import fingerprint
from counterfoil.curator.release_facts import place_of_source
from counterfoil.curator.source_facts import columns_stated
from counterfoil.discovery.bought_text import schema_of
from counterfoil.discovery.discover import discover, need_foreseen
from counterfoil.discovery.plan import SHARES
from counterfoil.kept_files import kept_source
from counterfoil.ledger.ledger import Ledger
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.bought import Bought, ShareOf
from counterfoil.schema.code_lists import CodeLists
from counterfoil.schema.discovered import Discovered, Length, Need
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.header import hint_of_names, require_names
from counterfoil.schema.partial import NOTHING, Partial, encoding_of, read_partial, require_bounds_can_be_bought
from counterfoil.schema.schema import Schema
from counterfoil.schema.stated import Stated
from counterfoil.schema.toml import read_facts

_ARGUMENTS = {"rows": "`rows`", "epsilon": "`epsilon`", "stated": "`stated`"}
METHOD = "schema"
"""What its receipt says that it was made by."""


@dataclass(frozen=True)
class BoughtSchema:
    """A schema, what was seen, and what it cost.

    Args:
        text: the TOML, each fact with a comment on where it is from.
        schema: what it says.
        receipt: of the answers; the text has its SHA-256.
        discovered: the answers.
    """

    text: str
    schema: Schema
    receipt: Receipt
    discovered: Discovered

    @property
    def lengths(self) -> dict[str, Length]:
        """By column of the schema, what it counts between two dates that were found to follow one another.

        By its text: where columns are to be confirmed, the schema has no derived ones yet, and computes nothing.
        """
        tables: dict[str, Any] = tomllib.loads(self.text).get("columns", {})
        ends = {tuple(table["between"]): name for name, table in tables.items() if "between" in table}
        found = {(length.first, length.last): length for length in self.discovered.lengths}
        return {name: found[pair] for pair, name in ends.items() if pair in found}


@dataclass(frozen=True)
class SchemaPurchase:
    """What is to be bought about which table: all of it public, and checked before anything is charged.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        budget: the most that it may cost.
        relation: which tables are neighbors.
        unit: whose records are protected together; a single row when None.
        names: the table's columns, in its order.
        types: of the columns, where the storage has types.
        partial: what is stated by hand.
        name: what the schema is to be called.
        share: of the budget, for the schema; what is left of it is for one release (`RestOfBudget`).
        objects: the columns of a frame whose cells are Python objects.
    """

    source: Any
    budget: Budget
    relation: str
    unit: PrivacyUnit | None
    names: Sequence[str]
    types: Mapping[str, pa.DataType]
    partial: Partial = NOTHING
    name: str = ""
    share: float = 1.0
    objects: frozenset[str] = frozenset()

    @staticmethod
    def of(
        source: Any,
        budget: Budget,
        relation: str,
        unit: PrivacyUnit | None = None,
        *,
        stated: str | Path | None = None,
        name: str = "",
        share: float = 1.0,
        decimal_char: str | None = None,
        encoding: str | None = None,
    ) -> SchemaPurchase:
        """What is open about the columns of `source`, of which the header and the types are read.

        Args:
            source: as above.
            budget: as above.
            relation: as above.
            unit: as above.
            stated: the path of a TOML file with facts that are stated by hand, or its text.
            name: as above.
            share: as above.
            decimal_char: the decimal sign of the numbers in its texts, "," or "."; None where nothing is said.
            encoding: of a CSV file whose first bytes do not say it; UTF-8 where None, if nothing is `stated`.

        Raises:
            ValueError: when there is no such table or column, what is stated is wrong, or the share is none.
        """
        require_share(share)
        encoded = encoding_of(stated, encoding)
        columns = columns_stated(source, encoded)
        names = tuple(columns.types)
        if unit is not None and unit.column not in names:
            hint = hint_of_names(unit.column, names)
            raise ValueError(f"The privacy unit must be a column of the table. Found {unit.column!r}.{hint}")
        kept = kept_source(str(source)) if isinstance(source, (str, os.PathLike)) else ()
        partial = NOTHING if stated is None else read_partial(stated, names, sensitive=kept)
        partial = (partial if decimal_char is None else partial.with_decimal_char(decimal_char)).with_encoding(encoded)
        require_names(names, (*partial.columns, *partial.facts.get("ignore", ())))
        types = columns.types if columns.typed else {}
        require_bounds_can_be_bought(partial, types)
        return SchemaPurchase(
            source, budget, relation, unit, names, types, partial, name, float(share), columns.objects
        )

    @property
    def protects(self) -> str:
        """Whose rows the guarantee protects together, in words."""
        if self.unit is None:
            return "each row by itself"
        return f"all rows with one {self.unit.column}, of which at most {self.unit.max_rows} are used"

    def foreseen(self, rows: int) -> Need:
        """What the noise will hide of a table of `rows` rows, a public number; no record is read.

        Raises:
            ValueError: where nothing is left to ask, or the budget has no delta.
        """
        return need_foreseen(
            self.source,
            rows,
            stated=self._stated(),
            budget=self.budget,
            share=self.share,
            relation=self.relation,
            privacy_unit=self.unit,
            encoding=self.partial.encoding,
        )

    def require_enough(self, rows: int, *, said: Mapping[str, str] = _ARGUMENTS) -> str:
        """What to warn of where so many rows are few for the budget; empty where they are not.

        Args:
            rows: about how many there are, a public number.
            said: what `rows`, `epsilon` and `stated` are called where they are given.

        Raises:
            ValueError: where even all questions together would not tell from noise what all of them share, or there are
                none.
        """
        if rows < 1:
            raise ValueError(f"{said['rows']} must be the number of rows of the table, at least 1. Found {rows:,}.")
        need = self.foreseen(rows)
        enough = (
            "" if need.epsilon is None else f" About epsilon {need.epsilon:g} would show what a fifth of them share."
        )
        hides = f"the noise will hide what fewer than {need.hidden:,.0f} rows share.{enough}"
        if rows < need.hidden * SHARES["places"] ** 0.5:
            raise ValueError(
                f"{said['epsilon']} must be large enough for something to show of {rows:,} rows. Found "
                f"{self.budget.epsilon:g}, and {hides} Spend more, or state columns with {said['stated']}."
            )
        return "" if need.epsilon is None else f"of {rows:,} rows {hides}"

    def facts(self, *, has_ledger: bool) -> dict[str, Any]:
        """The public facts of the purchase, for its file of answers; a run that finishes it must state the same.

        Args:
            has_ledger: whether charges are recorded in a file.
        """
        return {
            "method": METHOD,
            "columns": fingerprint([(name, str(self.types.get(name, ""))) for name in self.names]),
            "stated facts": fingerprint(self._stated()),
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "relation": self.relation,
            "privacy unit": None if self.unit is None else [self.unit.column, self.unit.max_rows],
            "source": sha256(place_of_source(self.source).encode("utf-8", "surrogateescape")).hexdigest(),
            "time limit": None,
            "ledger": "in a file" if has_ledger else "none",
            **({} if self.share == 1 else {"share": self.share}),
            **({} if self.partial.encoding == UTF_8 else {"encoding": self.partial.encoding}),
        }

    def _stated(self) -> dict[str, Stated]:
        return self.partial.stated([name for name in self.names if self.unit is None or name != self.unit.column])

    def make(
        self, ledger: Ledger | None, *, ready: Callable[[Curator], None] | None = None
    ) -> tuple[BoughtSchema, Curator]:
        """Asks, and writes down what was answered; the curator stays open, for its receipt to be recorded.

        Args:
            ledger: where it is charged.
            ready: as for `discover`: called right before the first charge.

        Raises:
            ValueError: in one sentence, before anything is charged.
            LedgerError: when the ledger refuses.
        """
        discovered, curator = discover(
            self.source,
            stated=self._stated(),
            budget=self.budget,
            share=self.share,
            relation=self.relation,
            privacy_unit=self.unit,
            ledger=ledger,
            encoding=self.partial.encoding,
            ready=ready,
        )
        try:
            return self._written(discovered, curator), curator
        except BaseException:
            curator.__exit__(*sys.exc_info())
            raise

    def _written(self, discovered: Discovered, curator: Curator) -> BoughtSchema:
        receipt = Receipt.from_curator(
            curator,
            method=METHOD,
            parameters={"shares": dict(discovered.shares)} | ({} if self.share == 1 else {"share": self.share}),
            rows=0,
            released="measures",
            warnings=budget_warnings(curator.budget, None),
        )
        of = None if self.share == 1 else self._share_of(curator)
        # By the rule that a reader of the schema has, so that the two agree to the last digit for any budget.
        epsilon = self.budget.epsilon if of is None else of.rule.epsilon_of(0.0, self.budget.delta)
        need = discovered.need
        seen = (None, None) if need is None else (math.ceil(need.hidden), max(round(need.rows), 0))
        bought = Bought(epsilon, self.budget.delta, self.relation, receipt.digest, self.unit, of, *seen)
        text = schema_of(
            discovered,
            bought,
            name=self.name,
            columns=self.names,
            types=self.types,
            partial=self.partial,
            unit=self.unit.column if self.unit else "",
        )
        lists = CodeLists(self.partial.folder)
        schema = read_facts(tomllib.loads(text), Schema, lists, exact=False)
        assert schema.bought is not None, "the text says what it cost"
        schema = replace(schema, bought=replace(schema.bought, document=text))
        return BoughtSchema(text, schema, receipt, discovered)

    def _share_of(self, curator: Curator) -> ShareOf:
        """What the whole plan takes, whatever of it was asked."""
        assert curator.account is not None, "a purchase has asked something"
        assert curator.account.plan is not None, "and planned all of it"
        rule = RestOfBudget.after([noise.event() for noise in curator.account.plan])
        return ShareOf(float(self.budget.epsilon), rule.mu_squared, rule.threshold_delta)


def require_share(share: float) -> float:
    """The share of a budget that a schema is bought with.

    Raises:
        ValueError: for one that is not above 0 and at most 1.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ValueError(f"The share for the schema must be above 0 and at most 1, such as 0.1. Found {share!r}.")
    return float(share)
