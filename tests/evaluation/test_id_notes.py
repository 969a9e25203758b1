"""How identifiers of privacy units are written: what `check` says of them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.curator import raw_reading
from counterfoil.evaluation import id_notes
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.id_notes import plain_id
from counterfoil.evaluation.schema_report import check_without_privacy

SCHEMA = Schema.from_toml('ignore = ["person"]\n[columns.day]\nkind = "integer"\nlower = 0\nupper = 9\n')


def said_of(ids: Sequence[object], unit: str | None = "person") -> dict[str, ColumnNote]:
    table = pd.DataFrame({"person": pd.Series(ids, dtype=object), "day": [place % 10 for place in range(len(ids))]})
    notes = check_without_privacy(table, SCHEMA, privacy_unit=unit).notes
    return {note.kind: note for note in notes if note.kind in ("no_id", "spellings")}


@pytest.mark.parametrize("rows", [2, 131_072])
def test_words_for_missing_identifiers_are_one_person_and_said(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_reading, "BATCH_ROWS", rows)
    found = said_of(["a", "NA", "b", "NA", None, "null", "", "c"])
    assert found.keys() == {"no_id"}
    assert (found["no_id"].column, found["no_id"].count) == ("person", 3)
    assert "3 rows have a word that tables write for a missing value" in found["no_id"].text


def test_one_row_with_such_a_word_is_protected_as_any_other() -> None:
    assert said_of(["a", "NA", "b"]) == {}


@pytest.mark.parametrize("rows", [1, 131_072])
@pytest.mark.parametrize(
    "pair",
    [("Ann", "ann"), ("7", "007"), ("7", "7.0"), ("\u00e9", "e\u0301"), ("A1", "\uff21\uff11"), ("x", "x\u200b")],
)
def test_an_identifier_in_two_spellings_is_two_persons_and_said(
    pair: tuple[str, str], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_reading, "BATCH_ROWS", rows)
    found = said_of(["z", pair[0], "y", pair[1], pair[0]])
    assert found.keys() == {"spellings"}
    assert found["spellings"].count == 1
    assert "1 identifier is written in several ways" in found["spellings"].text
    assert not any(one in found["spellings"].text for one in pair if len(one) > 2)


def test_identifiers_that_are_one_to_a_release_are_not_said_to_be_several() -> None:
    assert said_of([1, 1.0, "1", " 1 ", "10", "a", "b"]) == {}


def test_nothing_is_said_without_a_unit() -> None:
    assert said_of(["NA", "NA", "a", "A"], unit=None) == {}


def test_of_too_many_identifiers_the_first_ones_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(id_notes, "MOST_IDS", 2)
    found = said_of(["a", "b", "c", "C", "B"])
    assert found["spellings"].count == 1
    assert "of the first 2 is written" in found["spellings"].text


@pytest.mark.parametrize("apart", [("A 1", "A1"), ("10", "100"), ("0", "00.5"), ("1.5", "15"), ("a-1", "a1")])
def test_others_are_told_apart(apart: tuple[str, str]) -> None:
    assert plain_id(apart[0]) != plain_id(apart[1])
