"""Texts that are numbers in a notation that is not read."""

from __future__ import annotations

import pytest

from counterfoil.schema.written_numbers import are_stored_as_texts, are_stored_dates, are_written_numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["0,90", "1,07", "12,5"],
        ["1.234,50", "17,00", "1.000.000,00"],
        ["91 %", "100%", "7,5 %"],
        ["<0,5", "0,7", "> 200,0"],
        ["1 234", "12\u00a0345", "1'234'567"],
        [*[f"{n},5" for n in range(9)], "unbekannt"],
        ["75.0 kg", "49.6 kg", "1.204,5 kg"],
        ["$1,234.50", "$ 12", "$3.20"],
        ["12.8 g/dL", "9.7 g/dL", "13 g/dL"],
        ["\u22120,5", "\u22121,8", "0,6"],
        ["\u22120.5", "\u22121.8", "\u221212"],
    ],
)
def test_numbers_with_commas_separators_and_signs(texts):
    assert are_written_numbers(texts)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["1,2", "1"],  # two answers of a form
        ["0.90", "1.07", "12.5"],
        ["18-25", "26-40", "over 40"],
        ["I10.0", "E11.9", "J44.1"],
        ["0,5", "low", "high", "1,5", "2,5"],
        ["01/02", "03/04", "05/06"],
        ["5 kg", "3 g", "7 %", "20 m"],
        ["m1", "m2", "m3"],
        ["12 A", "13 A", "14 A"],
        ["1 child", "2 children", "3 or more"],
        ["1. Quartal", "2. Quartal", "3. Quartal", "4. Quartal"],
    ],
)
def test_other_texts_and_numbers_that_are_read(texts):
    assert not are_written_numbers(texts)


def test_numbers_that_are_stored_as_texts() -> None:
    """A column of texts in Parquet is one of categories, whatever they say."""
    assert are_stored_as_texts(["<0.6", "0.8", "1.0", "12.5", "-.5"])
    assert not are_stored_as_texts(["1", "2", "30", "4"]), "codes have no fractions"
    assert not are_stored_as_texts(["I10.0", "E11.9", "J44.1"])
    assert not are_stored_as_texts(["0.5", "low", "high", "1.5", "2.5"])


def test_days_that_are_stored_as_texts() -> None:
    """As SQLite keeps them."""
    assert are_stored_dates(["2024-01-31", "2024-02-01", "2024-02-02 12:30:00", "1.2.2024", "01/31/2024"])
    assert not are_stored_dates(["2024", "2025", "2026"])
    assert not are_stored_dates(["2024-01-31", "2024-02-01"]), "two may be the two waves of a survey"
    assert not are_stored_dates(["2024-1", "1.2-2024", "2024-01-31x", "31.01.24"])
