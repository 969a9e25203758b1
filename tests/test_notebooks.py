"""What a notebook shows of releases, receipts, schemas and ledgers: short, escaped, and right on any ground."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.pictures.notebook_table import LONGEST_CELL, MOST_ROWS, notebook_page, notebook_table
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.real import Real
from report_pages import HOSTILE, SCRIPT, hostile, people, release


class Seen(HTMLParser):
    """The tags and the texts of a page, and whether tags are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        assert {name for name, _ in attrs} <= {"style", "scope"}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


HARMLESS = {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.fixture(scope="module")
def made() -> cf.Synthesis:
    return release(*people())


def test_a_release_is_a_table_of_its_columns(made: cf.Synthesis) -> None:
    seen = Seen(made._repr_html_())
    assert set(seen.tags) <= HARMLESS
    assert [row[0] for row in seen.rows] == ["column", *made.schema.domain.attributes]
    assert f"{made.rows:,} synthetic rows" in seen.text
    assert "not real people" in seen.text
    assert "epsilon 1, delta 1e-06" in seen.text
    assert re.search(r"up to \d+\.\d%", seen.rows[1][-1]), "how far it may be off"
    assert len(made._repr_html_()) < 6000


def test_quantiles_are_shown_to_the_last_one() -> None:
    """They were cut off: `5% to 95%: 2024-01-19 09:...`."""
    days = pa.array(range(19724, 20024), pa.int32()).cast(pa.date32()).cast(pa.timestamp("us", "Europe/Zurich"))
    facts = '[columns.seen]\nkind = "datetime"\nzone = "Europe/Zurich"\nlower = 2024-01-01T00:00:00\n'
    schema = cf.Schema.from_toml(f'{facts}upper = 2024-12-31T23:59:59\nresolution = "7d"\n')
    seen = Seen(cf.synthesize(pa.table({"seen": days}), schema, epsilon=1, seed=1)._repr_html_())
    assert re.fullmatch(r"median .*, 5% to 95%: 2024-\S+ \S+ to 2024-\S+ [\d:]+\+0[12]:00", seen.rows[1][2])


def test_a_release_shows_what_its_receipt_warns_of() -> None:
    """Nothing said in a notebook that a copy's times of day are made up, or its columns as good as independent."""
    table, schema = people()
    made = release(table, schema)
    sentences = [f"Sentence {place} of <b>{SCRIPT}</b>." for place in range(11)]
    document = {**made.receipt.document, "warnings": sentences}
    seen = Seen(replace(made, receipt=Receipt(document))._repr_html_())
    assert set(seen.tags) <= HARMLESS
    assert "WARNING: Sentence 0 of <b>" in seen.text
    assert seen.text.count("WARNING: ") == 8
    assert "and 3 more warnings: see receipt.text()" in seen.text
    assert Seen(made._repr_html_()).text.count("WARNING: ") == len(made.receipt.document["warnings"])


def test_a_release_and_its_receipt_are_printed_in_one_line(made: cf.Synthesis) -> None:
    """All of the schema, the rows, the model and the receipt were printed, thousands of characters."""
    columns = len(made.column_names)
    assert (
        repr(made) == f"Synthesis({made.rows:,} rows of {columns} columns, method independent, epsilon 1, delta 1e-06)"
    )
    assert repr(made.receipt) == "Receipt(method independent, epsilon 1, delta 1e-06)"
    assert repr(Receipt({**made.receipt.document, "private": False})).endswith("delta 1e-06, NOT PRIVATE)")


def test_a_release_of_points_and_a_seeded_one() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.random(200), "y": rng.random(200)})
    schema = cf.Schema((Real("x", 0.0, 1.0, bins=8), Real("y", 0.0, 1.0, bins=8)))
    points = cf.synthesize(table, schema, epsilon=1.0, delta=1e-6, method="measure-tree", seed=1)
    seen = Seen(points._repr_html_())
    assert [row[0] for row in seen.rows] == ["column", "x", "y"]
    assert "off by" not in seen.text
    assert "NOT PRIVATE" in seen.text
    assert "NOT PRIVATE" in Seen(points.receipt._repr_html_()).text
    assert "a coin" not in Seen(points.receipt._repr_html_()).text, "no odds where there is no guarantee"


def test_a_receipt_says_what_it_cost(made: cf.Synthesis) -> None:
    seen = Seen(made.receipt._repr_html_())
    said = {row[0]: row[1] for row in seen.rows}
    assert said["guarantee"] == "epsilon 1 at delta 1e-06"
    assert said["asked"] == "1 marginal_counts, 1 schema_placement"
    assert said["protects"] == "each row (add_or_remove_one)"
    assert said["ledger"] == "none counts it"
    assert "73.2%" in said["in plain words"]
    older = Receipt({key: value for key, value in made.receipt.document.items() if key != "ledger"})
    assert "ledger" not in {row[0] for row in Seen(older._repr_html_()).rows}


def test_a_schema_is_a_table_of_facts_and_a_draft_says_what_is_open() -> None:
    _, schema = people(columns=30)
    seen = Seen(schema._repr_html_())
    assert len(seen.rows) == MOST_ROWS + 1
    assert f"and {30 - MOST_ROWS} more columns" in seen.text
    assert seen.rows[2] == ["age", "integer", "0 to 99", "20"]
    assert seen.rows[1] == ["sex", "categorical", "female, male", "2"]
    many = cf.Schema((Categorical("c", tuple(f"v{place}" for place in range(99)), other=True, missing=True),))
    assert Seen(many._repr_html_()).rows[1] == ["c", "categorical", "v0, v1, v2, v3 and 95 more, other, missing", "101"]
    draft = cf.Schema.from_toml('name = "d"\n[columns.a]\nkind = "?"\nconfirm = true\n')
    assert "still to be confirmed: a" in Seen(draft._repr_html_()).text


def test_a_ledger_shows_the_latest_releases_and_looks_first() -> None:
    with cf.Ledger.in_memory(cf.ledger.ledger.SourceIdentity("people", "here"), cf.Budget(100.0, 0.01)) as ledger:
        assert "No release yet." in Seen(ledger._repr_html_()).text
        for _ in range(MOST_ROWS + 3):
            ledger.open_release(
                budget=cf.Budget(0.5, 1e-6), relation="add_or_remove_one", composition="gaussian", description={}
            )
        seen = Seen(ledger._repr_html_())
        assert seen.rows[:4] == [
            ["", "epsilon", "delta"],
            ["total", "100", "0.01"],
            ["spent", "9", "1.8e-05"],
            ["left", "91", "0.009982"],
        ]
        assert [row[0] for row in seen.rows[5:8]] == ["18", "17", "16"]
        assert "and 3 more releases, opened earlier" in seen.text
        assert "LOOKS" not in seen.text
        ledger.record_reveal(SCRIPT)
        shown = ledger._repr_html_()
        assert SCRIPT not in shown
        assert f"LOOKS WITHOUT PRIVACY: 1, the last on {ledger.reveals()[0].time[:10]}: {SCRIPT}" in Seen(shown).text


def test_hostile_names_are_escaped_inert_and_short() -> None:
    table, schema = hostile()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = release(table, schema)
    for page in (made._repr_html_(), schema._repr_html_(), made.receipt._repr_html_()):
        seen = Seen(page)
        assert set(seen.tags) <= HARMLESS
        assert not set("\x1b\u202e") & set(page)
        assert max(len(cell) for row in seen.rows for cell in row) <= LONGEST_CELL * 6, "escapes may lengthen a text"
    assert SCRIPT in Seen(schema._repr_html_()).text


@pytest.mark.parametrize("text", HOSTILE)
def test_every_cell_heading_and_alarm_is_escaped(text: str) -> None:
    page = notebook_page(text, notebook_table((text,), [(text,)], of="rows"), alarm=text)
    seen = Seen(page)
    assert set(seen.tags) <= HARMLESS
    assert len(seen.rows[0][0]) <= LONGEST_CELL * 6


def test_colors_are_the_notebooks_own(made: cf.Synthesis) -> None:
    page = made._repr_html_()
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb|background|(?<!current)color:", page)
