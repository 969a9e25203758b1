"""Words for missing that one column of a purchase surely has are those of its neighbors, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.texts import TextRounds
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.noise.answer import FrequentTexts
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.schema.placement import Placement, placements_of


def test_a_rare_word_is_missing_beside_a_column_where_it_is_frequent(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "job": rng.choice(["clerk", "cook", "NA"], 6000, p=[0.5, 0.3, 0.2]),
            "sex": rng.choice(["female", "male", "NA"], 6000, p=[0.5, 0.498, 0.002]),
            "age": np.where(rng.random(6000) < 0.002, "NA", rng.integers(18, 90, 6000).astype(str)),
            "region": rng.choice(["EU", "AS", "NA"], 6000, p=[0.6, 0.398, 0.002]),
        }
    )
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    made, curator = SchemaPurchase.of(path, Budget(2.0, 1e-9), "add_or_remove_one").make(None)
    curator.close()
    for name, way in (("sex", Placement.MISSING), ("age", Placement.MISSING), ("region", Placement.OTHER)):
        column = made.schema[name]
        found = placements_of(column, pa.array(table[name]))  # type: ignore[arg-type]
        assert set(found[table[name] == "NA"].tolist()) == {way}, name
        others = found[table[name] != "NA"]
        assert not np.isin(others, (Placement.MISSING, Placement.UNREADABLE, Placement.OTHER)).any(), name


def test_na_is_namibia_beside_codes_of_countries(tmp_path: Path) -> None:
    """It was missing there and, as a word that one column surely has, in all others."""
    rng = np.random.default_rng(4)
    codes = ["DE", "FR", "NL", "AT", "NA"]
    table = pd.DataFrame(
        {
            "country": rng.choice([*codes, ""], 6000, p=[0.4, 0.1, 0.1, 0.1, 0.1, 0.2]),
            "channel": rng.choice(["POS", "online"], 6000),
            "amount": rng.integers(18, 90, 6000),
            "state": rng.choice(["TX", "NY", "OH", "NA"], 6000, p=[0.3, 0.3, 0.3, 0.1]),
        }
    )
    path = tmp_path / "card.csv"
    table[["country", "channel", "amount"]].to_csv(path, index=False)
    made, curator = SchemaPurchase.of(path, Budget(4.0, 1e-9), "add_or_remove_one").make(None)
    curator.close()
    found = {column.name: column for column in made.discovered.columns}["country"]
    assert {text for text, _ in found.categories} == set(codes)
    assert found.missing_words == ("",)
    assert found.missing is not None
    assert abs(found.missing - 1200) < 5 * found.missing_error
    assert abs(found.records - 4800) < 5 * found.records_error
    assert [column.missing_values for column in made.schema.synthesized] == [()] * 3
    assert made.text.count("'NA' is a name of their public list: where it stands for missing") == 1
    table[["state"]].assign(channel=table.channel).to_csv(path, index=False)
    made, curator = SchemaPurchase.of(path, Budget(4.0, 1e-9), "add_or_remove_one").make(None)
    curator.close()
    assert made.schema["state"].missing_values == ("NA",), "no state of the US is called so"


@pytest.mark.parametrize(("word", "written"), [("n/a", ""), ("N/A", ""), ("k.A.", ""), ("NA", "NA"), ("?", "?")])
def test_a_word_of_forms_is_not_written_for_missing_numbers(word: str, written: str, tmp_path: Path) -> None:
    """Of a shop's weights 73% came back as n/a, which were empty and no numbers then, as 3% of payments were n/a."""
    rng = np.random.default_rng(5)
    weights = np.where(rng.random(6000) < 0.7, "", rng.integers(1, 90, 6000).astype(str))
    table = pd.DataFrame({"payment": rng.choice(["cash", "card", word], 6000, p=[0.5, 0.4, 0.1]), "weight": weights})
    table.to_csv(tmp_path / "shop.csv", index=False)
    made, curator = SchemaPurchase.of(tmp_path / "shop.csv", Budget(4.0, 1e-9), "add_or_remove_one").make(None)
    curator.close()
    assert made.schema["weight"].missing_word == written
    assert made.schema["payment"].missing_word == word
    assert word in made.schema["weight"].missing_values


@pytest.mark.parametrize("epsilon", [2.0, 8.0])
def test_cells_that_are_surely_empty_come_back_empty_beside_columns_with_words(epsilon: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    hidden = rng.random(6000) < 0.2
    table = pd.DataFrame(
        {
            "job": np.where(hidden, "NA", rng.choice(["clerk", "cook"], 6000)),
            "sex": np.where(hidden, "", rng.choice(["female", "male"], 6000)),
            "flat": rng.choice(["owned", "rented", "NA", ""], 6000, p=[0.5, 0.25, 0.05, 0.2]),
            "pet": rng.choice(["cat", "dog", "NA", ""], 6000, p=[0.5, 0.25, 0.2, 0.05]),
            "smokes": np.where(hidden, "", rng.choice(["yes", "no"], 6000)),
            "age": np.where(hidden, "", rng.integers(18, 90, 6000).astype(str)),
        }
    )
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    made, curator = SchemaPurchase.of(path, Budget(epsilon, 1e-9), "add_or_remove_one").make(None)
    curator.close()
    words = {column.name: column.missing_values for column in made.schema.synthesized}
    assert {name for name, found in words.items() if found[0] == ""} == {"sex", "flat", "smokes", "age"}
    assert all("NA" in found for found in words.values())


def test_one_word_in_the_same_records_of_many_columns_is_not_taken_for_empty_cells(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    hidden = rng.random(4000) < 0.1
    table = pd.DataFrame({f"c{i}": np.where(hidden, "NA", rng.choice(["u", "v", "w"], 4000)) for i in range(8)})
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    made, curator = SchemaPurchase.of(path, Budget(2.0, 1e-9), "add_or_remove_one").make(None)
    curator.close()
    assert {column.missing_values for column in made.schema.synthesized} == {("NA",)}


def test_words_that_may_hide_are_told_from_empty_cells_by_how_many_would_show() -> None:
    rounds, noise = TextRounds(), OpenDomainGaussianNoise(5.0, 1e-9)
    assert rounds.missing_words("a", 500.0, 1.0) == (), "no round was about it"
    rounds.add(FrequentTexts((("a", "x", 100_000),), noise, 4000, 500.0), ("a", "b"), {"a": 1.0, "b": 1.0})
    for name in "ab":
        assert rounds.missing_words(name, 57.0, 1.0) == (), "a word in 55 cells shows, and one in 54 may hide"
        assert rounds.missing_words(name, 59.0, 1.0) == ("",)
    rounds.add(FrequentTexts((("a", "NA", 10_000),), noise, 4000, 500.0), ("a",), {"a": 0.1})
    assert rounds.missing_words("a", 150.0, 1.0) == ("NA",)
    assert rounds.missing_words("a", 900.0, 1.0) == ("", "NA")
