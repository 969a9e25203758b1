"""Labels are short, inert, and differ where the texts do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterfoil.pictures.labels import distinct, short


@given(st.lists(st.text(alphabet="ab \n\x1b<", max_size=40), max_size=30), st.integers(8, 30))
def test_labels_are_short_inert_and_distinct(texts, longest):
    labels = distinct(texts, longest)
    assert len(set(labels)) == len(texts)
    assert all(len(label) <= longest and label.isprintable() for label in labels)


def test_a_text_that_fits_stays():
    assert short("Married-civ-spouse") == "Married-civ-spouse"
    assert short("x" * 300, 10) == "x" * 9 + "…"
    assert short("") == "(empty)"
    assert distinct(["y" * 300, "y" * 299 + "z"], 12) == ["y" * 11 + "…", "y" * 7 + "… (2)"]
