"""Numbers with a unit or a fraction in a column that is declared as one of categories: what `check` advises."""

from __future__ import annotations

import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.schema_report import check_without_privacy

LISTED = '[columns.x]\nkind = "categorical"\nvalues = ["a", "50 J"]\n'
OTHER, NONE = "other = true\n", ""


def said(cells: list[str], more: str = OTHER) -> str:
    return " ".join(str(check_without_privacy(pd.DataFrame({"x": cells}), Schema.from_toml(LISTED + more))).split())


@pytest.mark.parametrize("more", [OTHER, NONE])
@pytest.mark.parametrize("cell", ["97 J", "0,9", "12.8", "1,5 Tage", "12 %", "12%", "-3.5"])
def test_numbers_with_a_unit_or_a_fraction_are_called_that(cell: str, more: str) -> None:
    text = said([*["a"] * 20, *[cell] * 20], more)
    assert "they look like numbers with a fraction or a unit" in text
    assert "add categories to `values`" not in text


@pytest.mark.parametrize("cell", ["2A", "5001", "C34.1", "12 rue du Lac", "01.02.2020", "b"])
def test_codes_words_and_dates_are_to_be_listed(cell: str) -> None:
    text = said([*["a"] * 20, *[cell] * 20])
    assert "add categories to `values`" in text
    assert "look like numbers" not in text


def test_some_among_others_are_counted_and_few_are_not_said() -> None:
    assert "30 of them look like numbers" in said([*["a"] * 20, *["97 J"] * 30, *["b"] * 10])
    assert "add categories to `values`" in said([*["a"] * 20, *["97 J"] * 3, *["b"] * 10])
