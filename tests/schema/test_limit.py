"""Texts that are limits of numbers, as offices, surveys and laboratories write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema.limit import Limit, limit_of
from counterfoil.schema.number_words import advised


def test_limits_are_told_from_other_texts_and_get_a_number() -> None:
    texts = ("90+", "90 +", "100 or more", "65 and over", "80 und mehr", "<0.5", "< 1", "<=0,05", ">200", "≥ 3.5")
    assert all(map(limit_of, texts))
    assert list(advised(texts).values()) == [90, 90, 100, 65, 80, 0.2, 0, 0.02, 200, 3.5]
    assert not limit_of(f"<{'9' * 5000}")  # more digits than Python makes an integer of
    assert not any(map(limit_of, ("90", "+90", "n.d.", "A+", "1-2", "<", "more", "90+5")))


def test_a_limit_with_a_separator_of_thousands_is_no_number_with_decimals() -> None:
    """The mean would be that of numbers a thousand times smaller."""
    texts = (">1,000", "1.000+", ">=12,500", "<0,125", "<1,25")
    assert list(advised(texts).values()) == [1000, 1, 12500, 0.062, 0.62]
    assert list(advised(texts, decimal_char=".").values()) == [1000, 1, 12500, 0.062, 0.62]
    assert list(advised(texts, decimal_char=",").values()) == [1, 1000, 12.5, 0.062, 0.62]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("85 years and over", Limit(85, 0, below=False, signed=False)),
        ("90+ years", Limit(90, 0, below=False, signed=False)),
        ("75 & over", Limit(75, 0, below=False, signed=False)),
        ("Under 1 year", Limit(1, 0, below=True, signed=True)),
        ("less than 5", Limit(5, 0, below=True, signed=True)),
        ("4 or fewer", Limit(4, 0, below=True, signed=False)),
        ("moins de 5 ans", Limit(5, 0, below=True, signed=True)),
        ("Over 90", Limit(90, 0, below=False, signed=True, strict=True)),
        (">= 90", Limit(90, 0, below=False, signed=True)),
        ("$250,000+", Limit(250_000, 0, below=False, signed=False)),
        ("$1,000,000 or more", Limit(1_000_000, 0, below=False, signed=False)),
        ("more than \u20ac 1 000", Limit(1000, 0, below=False, signed=True, strict=True)),
        ("1'000+", Limit(1000, 0, below=False, signed=False)),
        ("<0.5 mg/dL", Limit(0.5, 1, below=True, signed=True)),
        ("< 5%", Limit(5, 0, below=True, signed=True)),
        ("<-10 \u00b0C", Limit(-10, 0, below=True, signed=True)),
    ],
)
def test_limits_are_read_with_words_separators_and_units(text: str, limit: Limit) -> None:
    assert limit_of(text) == limit


@pytest.mark.parametrize("text", ["5 and", "over", "over the hill", "<1 mg 5", "$5+ kg", "1,00,0+", "over 5 or 6", "+"])
def test_other_texts_are_no_limits(text: str) -> None:
    assert limit_of(text) is None


def test_a_limit_with_another_unit_is_none_of_a_column() -> None:
    """200 g are no 200 kg; where the column's numbers stand alone, its limits say in what they are."""
    assert limit_of(">200 g", unit="kg") is None
    assert limit_of("200 grams or more", unit="kg") is None
    for unit in ("kg", ""):
        assert limit_of(">200 kg", unit=unit) == limit_of(">200", unit=unit) == Limit(200, 0, False, True, strict=True)


@given(st.text(alphabet="<>+0123456789.,' omrearvyskg$-", max_size=80))
def test_a_limit_is_finite_and_its_stand_in_on_its_side(text: str) -> None:
    if (limit := limit_of(text)) is None:
        return
    assert abs(limit.number) < 1e15
    stand_in = limit.stand_in()
    assert stand_in <= limit.number if limit.below else stand_in == pytest.approx(limit.number)


@pytest.mark.parametrize("text", ["more than 1 million", ">1M", ">100 k", "> 5 Mio. €", "5 Mrd. oder mehr", ">2 k€"])
def test_what_multiplies_a_number_is_no_unit(text: str) -> None:
    """2 stood for "more than 1 million" among incomes."""
    assert limit_of(text) is None


def test_a_letter_that_multiplies_may_be_the_unit_of_a_column() -> None:
    """In any case, as words are compared."""
    assert limit_of("<5 m", unit="m") == limit_of("<5 M", unit="m") == Limit(5, 0, below=True, signed=True)
    assert limit_of("<5 m") is None


def test_a_unit_in_singular_is_that_of_its_plural() -> None:
    assert limit_of("1 year or less", unit="years") is not None
    assert limit_of("90 years of age and over", unit="years") is not None
    assert limit_of("<5 g/L", unit="g") is None
    assert limit_of("<5 mmHg", unit="mm") is None
