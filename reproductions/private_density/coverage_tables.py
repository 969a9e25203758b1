"""The tables of the coverage experiment as populations: what is asked of them, and what is true. NOT PRIVATE.

A population is a public table whose rows are drawn with replacement, but for one column that is drawn by itself: it is
independent of all others, for the level of tests. Shares of the population are then shares of the table, or products of
two of them. Regressions are asked of the table's own rows, with nothing made independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from counterfoil.inference.event import Event
from counterfoil.schema import Schema
from counterfoil.synthesis.table import encode

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
FILES = {"compas": "compas.csv", "adult": "adult.csv.gz"}

Conditions = dict[str, str]
"""An event: for each column, what is asked of it; a record has the event if all are met."""


@dataclass(frozen=True)
class Regression:
    """Least squares of `target` by `predictors`, which are ordered or of two categories."""

    target: str
    predictors: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """What is asked of a table.

    Args:
        independent: the column that is drawn by itself.
        against: columns that it is tested against.
        columns: events of single columns.
        pairs: events of two.
        regressions: of a release of these columns alone.
    """

    independent: str
    against: tuple[str, ...]
    columns: tuple[Conditions, ...]
    pairs: tuple[Conditions, ...]
    regressions: tuple[Regression, ...]


def _events(*conditions: tuple[str, ...]) -> tuple[Conditions, ...]:
    """Each condition begins with its column."""
    return tuple({one.split()[0].strip("`"): one for one in each} for each in conditions)


ASKED = {
    "compas": Asked(
        independent="sex",
        against=("race", "c_charge_degree", "two_year_recid", "priors_count"),
        columns=_events(
            ("sex == 'Male'",), ("race == 'Caucasian'",), ("race == 'Hispanic'",), ("age < 25",), ("age == 40",),
            ("priors_count == 0",), ("priors_count > 10",), ("juv_fel_count >= 1",), ("c_charge_degree == 'F'",),
            ("two_year_recid == 1",),
        ),
        pairs=_events(
            ("race == 'African-American'", "two_year_recid == 1"), ("race == 'Caucasian'", "c_charge_degree == 'M'"),
            ("race == 'Hispanic'", "two_year_recid == 1"), ("age < 25", "two_year_recid == 1"),
            ("age >= 45", "c_charge_degree == 'F'"), ("priors_count == 0", "two_year_recid == 0"),
            ("priors_count == 1", "two_year_recid == 1"), ("priors_count == 0", "race == 'Caucasian'"),
            ("sex == 'Female'", "priors_count == 0"), ("juv_misd_count >= 1", "two_year_recid == 1"),
        ),
        regressions=(
            Regression("priors_count", ("age", "sex", "c_charge_degree")),
            Regression("two_year_recid", ("age", "priors_count", "sex")),
        ),
    ),
    "adult": Asked(
        independent="race",
        against=("sex", "income", "marital-status", "occupation"),
        columns=_events(
            ("race == 'Black'",), ("sex == 'Female'",), ("age < 25",), ("workclass == 'Private'",),
            ("education == 'Bachelors'",), ("`marital-status` == 'Divorced'",), ("occupation == 'Sales'",),
            ("`hours-per-week` == 40",), ("`native-country` == 'Mexico'",), ("income == '>50K'",),
        ),
        pairs=_events(
            ("education == 'Bachelors'", "income == '>50K'"), ("`marital-status` == 'Divorced'", "sex == 'Female'"),
            ("relationship == 'Husband'", "income == '>50K'"), ("age < 25", "`marital-status` == 'Never-married'"),
            ("occupation == 'Sales'", "workclass == 'Private'"), ("occupation == 'Adm-clerical'", "sex == 'Female'"),
            ("`hours-per-week` == 40", "income == '>50K'"), ("age >= 60", "income == '>50K'"),
            ("race == 'Black'", "income == '>50K'"), ("education == 'HS-grad'", "`marital-status` == 'Never-married'"),
        ),
        regressions=(
            Regression("hours-per-week", ("age", "education-num", "sex")),
            Regression("income", ("age", "education-num", "hours-per-week")),
        ),
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Population:
    """A table that records are drawn from."""

    name: str
    schema: Schema
    table: pa.Table

    @property
    def asked(self) -> Asked:
        """What is asked of it."""
        return ASKED[self.name]

    @cached_property
    def codes(self) -> dict[str, np.ndarray]:
        """The codes [n] of each column."""
        return encode(self.schema, self.table)

    def records(self, rng: np.random.Generator) -> pa.Table:
        """As many records as the table has rows, the independent column drawn by itself."""
        n, column = self.table.num_rows, self.asked.independent
        drawn = self.table.take(rng.integers(n, size=n))
        alone = self.table.column(column).take(pa.array(rng.integers(n, size=n)))
        return drawn.set_column(drawn.column_names.index(column), column, alone)

    def share(self, event: Conditions) -> float:
        """The share of the population that has an event."""
        joint = {name: one for name, one in event.items() if name != self.asked.independent}
        alone = {name: one for name, one in event.items() if name == self.asked.independent}
        return float(np.prod([self._met(part).mean() for part in (joint, alone) if part]))

    def _met(self, event: Conditions) -> np.ndarray:
        return Event(self.schema, text_of(event)).rows(self.codes)[0]

    @cached_property
    def numbers(self) -> Population:
        """The columns of the regressions alone, without rules."""
        named = {name for one in self.asked.regressions for name in (one.target, *one.predictors)}
        columns = tuple(replace(column) for column in self.schema.columns if column.name in named)
        return Population(self.name, Schema(columns, name=self.name), self.table.select([one.name for one in columns]))

    def resampled(self, rng: np.random.Generator) -> pa.Table:
        """As many records as the table has rows, drawn whole."""
        n = self.table.num_rows
        return self.table.take(rng.integers(n, size=n))


def text_of(event: Conditions) -> str:
    """The event as inference takes it."""
    return " and ".join(event.values())


@cache
def population(name: str) -> Population:
    """One of `FILES`.

    Raises:
        FileNotFoundError: where the table is not.
    """
    path = DATA / FILES[name]
    if not path.is_file():
        raise FileNotFoundError(
            f"The coverage experiment needs the table {path}. Found none: see its module docstring."
        )
    schema = Schema.from_toml(ROOT / "benchmarks" / "schemas" / f"{name}.schema.toml")
    return Population(name, schema, csv.read_csv(path))
