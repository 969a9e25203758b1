"""What `counterfoil check` says alike of several columns, whose counts alone differ."""

from __future__ import annotations

from pathlib import Path

from command_line import Office
from counterfoil.alike import grouped
from counterfoil.evaluation.alike_notes import note_key, said_of
from counterfoil.evaluation.column_notes import ColumnNote


def said(notes: list[ColumnNote]) -> list[str]:
    return [said_of(alike) for alike in grouped(notes, note_key)]


def spelled(column: str, count: int, word: str = '"99"') -> ColumnNote:
    return ColumnNote(column, "missing_spellings", f"an empty cell ({count:,}), and come back as {word}.", count)


def test_notes_that_differ_in_counts_alone_are_said_once_with_their_range() -> None:
    notes = [spelled("a", 978), spelled("b", 1234), spelled("c", 1005)]
    assert said(notes) == ['in 3 columns: a, b, c: an empty cell (978 to 1,234), and come back as "99".']


def test_words_between_quotes_are_no_counts() -> None:
    notes = [spelled("a", 978), spelled("b", 1234, '"98"'), spelled("c", 1005)]
    assert len(said(notes)) == 3


def test_numbers_that_are_to_be_written_are_said_of_each_column() -> None:
    notes = [ColumnNote(f"c{step}", "grid", f"multiples of {step}: write `step = {step}`.", 9) for step in (2, 5, 10)]
    assert said(notes) == [f"{note.column}: {note.text}" for note in notes]


def test_cells_in_another_notation_have_a_range_and_what_is_to_be_written_has_none() -> None:
    write = "of its cells are written in another way: declare step = 1 and decimals = "
    counts = (320_498, 327_870, 326_132)
    notes = [ColumnNote(f"c{count}", "notation", f"{count:,} {write}1.", count) for count in counts]
    assert said(notes) == [f"in 3 columns: c320498, c327870, c326132: 320,498 to 327,870 {write}1."]
    finer = [ColumnNote(f"c{digits}", "notation", f"9 {write}{digits}.", 9) for digits in (1, 2, 3)]
    assert said(finer) == [f"{note.column}: {note.text}" for note in finer]


def test_columns_that_others_say_are_said_once_with_these() -> None:
    notes = [
        ColumnNote(f"label{place}", "follows", f"the {place} values of code{place}.", place, source=f"code{place}")
        for place in (3, 4, 5)
    ]
    (text,) = said(notes)
    assert text.startswith("in 3 columns: ")
    assert text.endswith(": label3 by code3, label4 by code4, label5 by code5.")


def test_the_months_of_a_table_have_one_paragraph(office: Office) -> None:
    months = [f"2021-{month:02d}" for month in range(1, 13)]
    rows = [",".join("" if row < 10 + place else str(row) for place in range(12)) for row in range(60)]
    Path("months.csv").write_text("\n".join([",".join(months), *rows]) + "\n")
    column = 'kind = "integer"\nlower = 0\nupper = 99\nmissing = true\nmissing_values = ["n/a"]\n'
    Path("months.toml").write_text('name = "t"\n' + "".join(f'[columns."{month}"]\n{column}' for month in months))
    shown = " ".join(office.run("check", "months.csv", "--schema", "months.toml").out.split())
    assert shown.count("missing values are spelled") == 1
    assert "an empty cell (10 to 21), and come back" in shown
