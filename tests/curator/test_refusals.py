"""A refusal that the records cause is in the ledger before anybody hears of it; one that public facts cause is not."""

from __future__ import annotations

import ast
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfoil
from counterfoil import Budget, Curator, Independent, Ledger, PrivacyUnit, Schema
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.curator.raw_reading import read_without_privacy
from counterfoil.curator.source_facts import identity_of
from counterfoil.curator.sources.source import SourceError, TableBatch
from counterfoil.ledger.errors import BudgetExceeded, LedgerError, WrongSource
from counterfoil.ledger.ledger import SourceIdentity
from counterfoil.ledger.refusals import UNNOTED, note_of, noting_refusals
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.schema import Boolean, Categorical, Integer

SCHEMA = Schema((Categorical("sex", ("female", "male")), Integer("age", 0, 9)))
GOOD = "sex,age\nfemale,3\nmale,4\n"
BUDGET, TOTAL = Budget(1.0, 1e-6), Budget(3.0, 1e-5)


def people(folder: Path, text: str | bytes = GOOD) -> str:
    path = folder / "people.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def ledger_of(source: Any, path: Path) -> Ledger:
    return Ledger.create(path, source=identity_of(source), total=TOTAL, timeout=0.0)


def noted(ledger: Ledger) -> int:
    """How many refusals a new reader of the file finds."""
    assert ledger._file.path is not None
    with Ledger.open(ledger._file.path, source=None) as again:
        return len(again.refusals())


# What the records cause

BY_RECORDS: dict[str, Any] = {
    "a value of no category": "sex,age\nfemale,3\nsecret,4\n",
    "a value that is no number": "sex,age\nfemale,secret\n",
    "a missing value": "sex,age\nfemale,\n",
    "too few cells": "sex,age\nfemale,3\nsecret\n",
    "too many cells": "sex,age\nfemale,3,secret\n",
    "an open quote": 'sex,age\nfemale,"3\n',
    "no text": b"sex,age\nfemale,3\n\xff\xfe,4\n",
    "a frame": pa.table({"sex": ["female", "secret"], "age": [1, 2]}),
    "a frame of objects": pd.DataFrame({"sex": ["female", "male"], "age": [1, "secret"]}),
    "lists": pa.table({"sex": ["female"], "age": [[1, 2]]}),
}


@pytest.mark.parametrize("unit", [None, PrivacyUnit("sex", 1)], ids=["rows", "units"])
@pytest.mark.parametrize("cause", BY_RECORDS)
def test_a_table_that_can_not_be_read_is_noted(tmp_path, cause, unit):
    source = BY_RECORDS[cause]
    source = people(tmp_path, source) if isinstance(source, (str, bytes)) else source
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        for count in (1, 2):
            with pytest.raises(ValueError) as refusal:
                Curator(source, SCHEMA, budget=BUDGET, privacy_unit=unit, ledger=ledger)
            assert noted(ledger) == count
            assert not note_of(refusal.value)
        *_, last = ledger.entries()
        assert (last.kind, last.details) == ("refused", {})
        assert ledger.reserved().epsilon == 0
    with closing(sqlite3.connect(tmp_path / "people.ledger")) as connection:
        (body,) = connection.execute("SELECT body FROM entries ORDER BY number DESC LIMIT 1").fetchone()
    assert json.loads(body).keys() == {"kind", "time", "version"}, "nothing of what was refused"


def test_a_table_without_rows_is_noted_where_rows_are_required(tmp_path):
    source = people(tmp_path, "sex,age\n")
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        curator = Curator(source, SCHEMA, budget=BUDGET, ledger=ledger)
        assert noted(ledger) == 0, "the curator answers for an empty table as for any other"
        with pytest.raises(ValueError, match=r"people\.csv must have rows to be copied\. Found a table without any"):
            curator.require_rows()
        assert noted(ledger) == 1
    Curator(people(tmp_path), SCHEMA, budget=BUDGET).require_rows()


def test_a_column_that_no_array_can_hold_is_noted_where_it_is_read_without_privacy(tmp_path, monkeypatch):
    def column(self, i):
        raise SourceError("Column 'sex' has more text than one batch of rows can hold.")

    source = people(tmp_path)
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        table = read_without_privacy(source, SCHEMA, reason="a look", ledger=ledger)
        monkeypatch.setattr(TableBatch, "column", column)
        with pytest.raises(SourceError, match="more text"):
            list(table.batches())
        assert noted(ledger) == 1


@given(cells=st.lists(st.sampled_from(["female", "male", "other", "", None]), min_size=1, max_size=5))
def test_it_is_noted_where_it_is_refused_and_nowhere_else(cells):
    frame = pa.table({"sex": pa.array(cells, pa.string()), "age": [1] * len(cells)})
    ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), TOTAL)
    misplaced = not {*cells} <= {"female", "male"}
    try:
        Curator(frame, SCHEMA, budget=BUDGET, ledger=ledger)
        refused = False
    except ValueError:
        refused = True
    assert refused == misplaced
    assert len(ledger.refusals()) == misplaced


ATTRIBUTE = SCHEMA.domain.attributes[:1]
COUNTS = MarginalCounts(SCHEMA.domain, (ATTRIBUTE,))
WORST = WorstApproximatedMarginal(
    (ATTRIBUTE,), (np.zeros(SCHEMA.domain.shape(ATTRIBUTE), dtype=np.int64),), np.ones(1), np.zeros(1)
)


def fail(*_: Any) -> np.ndarray:
    raise OSError("the disk")


@pytest.mark.parametrize("noise", [GaussianNoise(50.0), ExponentialSelection(0.01)])
def test_a_question_that_fails_on_the_records_is_charged_and_noted(monkeypatch, tmp_path, noise):
    for kind in (MarginalCounts, WorstApproximatedMarginal):
        monkeypatch.setattr(kind, "exact", fail)
    source = people(tmp_path)
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        account = Curator(source, SCHEMA, budget=BUDGET, ledger=ledger).filter(GaussianFilter())
        ask = account.choose if isinstance(noise, ExponentialSelection) else account.ask
        with pytest.raises(OSError, match="the disk"):
            ask(WORST if isinstance(noise, ExponentialSelection) else COUNTS, noise)
        assert len(account.events) == 1
        assert noted(ledger) == 1


def test_a_table_that_changed_since_is_noted_at_every_door(tmp_path):
    source = people(tmp_path)
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        keywords: dict[str, Any] = {"budget": BUDGET, "ledger": ledger, "relation": "replace_one"}
        curators = [Curator(source, SCHEMA, **keywords) for _ in range(3)]
        for curator in curators:
            curator._engine._kept.clear()  # as for a table that does not fit in memory
            curator._engine._n_blocks = None
        people(tmp_path, GOOD + "male,5\n")
        os.utime(source, ns=(0, 0))
        doors = [
            lambda: curators[0].public_row_count(),
            lambda: curators[1].reveal_without_privacy("to compare"),
            lambda: curators[2].filter(PureFilter()).ask(MarginalCounts(SCHEMA.domain, (("sex",),)), LaplaceNoise(0.1)),
        ]
        for count, door in enumerate(doors, 1):
            with pytest.raises(ValueError, match="has changed since"):
                door()
            assert noted(ledger) == count


# What public facts cause


def plan_another(curator: Curator) -> None:
    curator.plan([LaplaceNoise(0.5)], PureFilter()).ask(COUNTS, LaplaceNoise(0.1))


BY_PUBLIC_FACTS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "no file": ({"source": "absent.csv"}, None, "There is no file"),
    "a column in excess": ({"schema": Schema(SCHEMA.columns[:1])}, None, "is not in the schema"),
    "a column too few": ({"schema": Schema((*SCHEMA.columns, Boolean("more")))}, None, "has no column 'more'"),
    "no such unit": ({"privacy_unit": PrivacyUnit("who", 1)}, None, "to be the privacy unit"),
    "no such relation": ({"relation": "neighbors"}, None, "neighbors"),
    "a plan above the budget": ({}, lambda it: it.plan([LaplaceNoise(1.5)], PureFilter()), "above the budget"),
    "a filter without delta": ({"budget": Budget(1.0)}, lambda it: it.filter(GaussianFilter()), "delta"),
    "a charge above the budget": (
        {},
        lambda it: it.filter(PureFilter()).ask(COUNTS, LaplaceNoise(1.5)),
        "can't afford",
    ),
    "noise that was not planned": ({}, plan_another, "foresees"),
    "a private number of rows": ({}, lambda it: it.public_row_count(), "public only under"),
    "a look without a reason": ({}, lambda it: it.reveal_without_privacy(" "), "must say why"),
    "more than there is": ({"budget": Budget(3.5)}, lambda it: it.filter(PureFilter()), "at most what is left"),
    "another release": ({}, lambda it: it.resume(7), "must be one of"),
}


@pytest.mark.parametrize("cause", BY_PUBLIC_FACTS)
def test_what_public_facts_decide_is_not_noted(tmp_path, cause):
    change, ask, message = BY_PUBLIC_FACTS[cause]
    source = people(tmp_path)

    def attempt(source: str, schema: Schema, **keywords: Any) -> None:
        ask(Curator(source, schema, **keywords))

    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        given = {"source": source, "schema": SCHEMA, "budget": BUDGET, "ledger": ledger} | change
        with pytest.raises((ValueError, LedgerError), match=message):
            attempt(**given)
        assert noted(ledger) == 0


def test_the_ledger_of_another_table_is_left_alone(tmp_path):
    bad = people(tmp_path, BY_RECORDS["a value of no category"])
    with ledger_of(np.zeros((1, 1)), tmp_path / "other.ledger") as other:
        with pytest.raises(WrongSource):
            Curator(bad, SCHEMA, budget=BUDGET, ledger=other)
        assert noted(other) == 0


def test_what_there_is_no_room_for_is_refused_before_anything_is_read(tmp_path):
    """So that a ledger with nothing left tells nothing for free."""
    source = people(tmp_path, BY_RECORDS["a value of no category"])
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        with pytest.raises(BudgetExceeded):
            counterfoil.synthesize(source, SCHEMA, epsilon=3.5, method="independent", ledger=ledger)
        assert noted(ledger) == 0
        with pytest.raises(ValueError, match="'sex'"):
            counterfoil.synthesize(source, SCHEMA, epsilon=3.0, method="independent", ledger=ledger)
        assert noted(ledger) == 1


def test_a_good_release_notes_nothing(tmp_path):
    source = people(tmp_path, GOOD + "male,5\n" * 20)
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        with Curator(source, SCHEMA, budget=BUDGET, ledger=ledger) as curator:
            curator.require_rows()
            Independent().synthesize(curator)
        assert noted(ledger) == 0


# A ledger that can't be written


def test_a_refusal_that_can_not_be_noted_is_told_and_says_so(tmp_path):
    source = people(tmp_path, BY_RECORDS["a value of no category"])
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        with closing(sqlite3.connect(tmp_path / "people.ledger", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(ValueError, match=r"^Column 'sex', line 3 of people\.csv") as refusal:
                Curator(source, SCHEMA, budget=BUDGET, ledger=ledger)
            other.execute("ROLLBACK")
        assert "is in use by another process" in note_of(refusal.value)
        assert noted(ledger) == 0


def test_a_full_disk_keeps_no_refusal_back(tmp_path):
    source = people(tmp_path, BY_RECORDS["a value of no category"])
    with ledger_of(source, tmp_path / "people.ledger") as ledger:
        (pages,) = ledger._file._connection.execute("PRAGMA page_count").fetchone()
        ledger._file._connection.execute(f"PRAGMA max_page_count = {pages}")
        told = [""]
        while not told[-1] and len(told) < 200:
            with pytest.raises(ValueError, match="'sex'") as refusal:
                Curator(source, SCHEMA, budget=BUDGET, ledger=ledger)
            told.append(note_of(refusal.value))
        assert "the disk is full" in told[-1]
        assert noted(ledger) == told.count("") - 1 >= 1


def test_every_error_is_noted_before_it_gets_out_and_an_interrupt_is_none():
    ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), TOTAL)
    errors = (KeyError("secret"), MemoryError(), OSError("the disk"), BaseException("a panic"))
    for count, error in enumerate(errors, 1):
        with pytest.raises(type(error)), noting_refusals(ledger):
            raise error
        assert len(ledger.refusals()) == count
    for interrupt in (KeyboardInterrupt, SystemExit, GeneratorExit):
        with pytest.raises(interrupt), noting_refusals(ledger):
            raise interrupt
    with noting_refusals(ledger):
        pass
    assert len(ledger.refusals()) == len(errors)


def test_other_notes_are_not_shown():
    error = ValueError("x")
    error.add_note("secret")
    assert note_of(error) == ""
    error.add_note(f"{UNNOTED} the disk is full.")
    assert note_of(error) == f"{UNNOTED} the disk is full."


# Every door


def reads_outside(text: str) -> list[int]:
    """Lines that read records and are not inside `with noting_refusals(...)`."""
    tree = ast.parse(text)
    inside = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.With) and "noting_refusals" in ast.unparse(block.items[0])
        for statement in block.body
        for node in ast.walk(statement)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in ("exact", "fold", "marginals") or ast.unparse(node.func).startswith("self._engine."))
        and id(node) not in inside
    ]


def test_every_door_notes_refusals():
    home = Path(counterfoil.__file__).parent / "curator"
    for name, doors in (("account.py", 1), ("noisy_answers.py", 3), ("curator.py", 2)):
        text = (home / name).read_text(encoding="utf-8")
        assert text.count("noting_refusals(") >= doors
        assert not reads_outside(text), name


@pytest.mark.parametrize(
    "text", ["self._engine.prepare(x)", "with other():\n    query.exact(records)", "f(self._engine.blocks(a))"]
)
def test_the_check_of_doors_can_fail(text):
    assert reads_outside(text) == [text.count("\n") + 1]
