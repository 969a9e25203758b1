"""Reports of small releases for tests: ordinary ones, hostile names and values, many columns, and the inside view."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

import counterfoil as cf
from counterfoil.evaluation.comparison import compare
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.report.inside import inside_report_of
from counterfoil.report.page import page_of
from counterfoil.report.release import ReleaseFacts
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

SCRIPT = "<script>alert(1)</script>"
HOSTILE = (
    SCRIPT,
    '"><img src=x onerror=alert(2)>',
    "a|b\\|c",
    "line one\nline two",
    "=cmd|' /C calc'!A0",
    "\x1b[31mred\x1b[0m",
    "‮gnirts\u202c",
    "שלום עולם",
    "family 👨\u200d👩\u200d👧",
    "</svg></style></title>",
    "{{ 7*7 }} {% raw %}",
    "&lt;b&gt;",
    "x" * 5000,
)
"""Texts that a page must show as texts."""


def people(rows: int = 600, columns: int = 4) -> tuple[pa.Table, cf.Schema]:
    """A table of related columns with categories, whole numbers, reals and dates, and its schema."""
    rng = np.random.default_rng(5)
    age = rng.integers(0, 100, rows)
    facts: list[tuple[object, np.ndarray]] = [
        (Categorical("sex", ("female", "male")), np.where(rng.random(rows) < 0.5, "female", "male")),
        (Integer("age", 0, 99, bins=20), age),
        (Categorical("income", ("low", "high")), np.where(age + rng.normal(0, 10, rows) > 45, "high", "low")),
        (Real("height in meters", 0.0, 2.5, bins=25), np.clip(0.6 + age / 60 + rng.normal(0, 0.2, rows), 0, 2.5)),
    ]
    while len(facts) < columns:
        number = len(facts)
        values = tuple(f"value {place} of column {number}" for place in range(3 + number % 9))
        chosen = rng.choice(len(values), rows, p=rng.dirichlet(np.ones(len(values))))
        facts.append((Categorical(f"a rather long name of a column {number}", values), np.array(values)[chosen]))
    columns_made = tuple(column for column, _ in facts[:columns])
    table = pa.table({column.name: values for column, values in facts[:columns]})
    return table, cf.Schema(columns_made, name="people")


def hostile() -> tuple[pa.Table, cf.Schema]:
    """A table whose names and categories are what pages, terminals and spreadsheets could obey."""
    rng, rows = np.random.default_rng(7), 400
    columns = [
        Categorical(SCRIPT, HOSTILE),
        Categorical('"><svg onload=alert(3)>', ("yes", "no")),
        Categorical("a name that goes on " * 20, tuple(f"{SCRIPT}{place}" for place in range(40))),
        Integer("‮redro {{ 7*7 }}\x1b[2J", 0, 500, bins=50),
    ]
    cells = [
        np.array(HOSTILE, dtype=object)[rng.integers(0, len(HOSTILE), rows)],
        np.where(rng.random(rows) < 0.3, "yes", "no"),
        np.array([f"{SCRIPT}{place}" for place in rng.integers(0, 40, rows)], dtype=object),
        rng.integers(0, 500, rows),
    ]
    named = {column.name: pa.array(values) for column, values in zip(columns, cells, strict=True)}
    return pa.table(named), cf.Schema(tuple(columns), name=SCRIPT)


def release(table: pa.Table, schema: cf.Schema, **options: object) -> cf.Synthesis:
    """The table by independent columns at epsilon 1, from whatever budget a ledger has."""
    return cf.synthesize(table, schema, **({"epsilon": 1.0, "delta": 1e-6, "method": "independent"} | options))  # type: ignore[arg-type]


def ledger_page(folder: Path) -> str:
    """A report with all of its sections: a ledger with looks, bought fidelity, certificates."""
    table, schema = people()
    source = folder / "people.parquet"
    import pyarrow.parquet as pq

    pq.write_table(table, source)
    with cf.Ledger.create(folder / "people.ledger", source=source, total=(3.0, 1e-5)) as ledger:
        release(source, schema, ledger=ledger, epsilon=0.5)
        ledger.record_reveal(f"{SCRIPT} because I can")
        made = release(source, schema, ledger=ledger, fidelity=Fidelity(0.3, target="income"), check_schema=0.05)
        ledger.record_receipt(2, made.receipt.digest)
        return page_of(ReleaseFacts.of(made, ledger=ledger))


def inside_page(table: pa.Table, schema: cf.Schema, *, target: str | None = None) -> str:
    """The inside view of a release of the table."""
    made = release(table, schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return inside_report_of(compare(table, made.to_arrow(), schema, target=target), name=f"{SCRIPT}.parquet")


def page(table: pa.Table, schema: cf.Schema) -> str:
    """The report of a release of the table, its model kept."""
    return page_of(ReleaseFacts.of(release(table, schema)))
