"""Public lists of names, and bought columns of texts that are completed by one."""

from __future__ import annotations

import pytest

from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.bought_text import schema_of
from counterfoil.discovery.public_lists import LISTS, public_list_of
from counterfoil.schema import Categorical, Schema
from counterfoil.schema.discovered import Discovered, DiscoveredColumn
from discovered_strategies import BOUGHT


def test_lists_have_as_many_names_as_there_are():
    sizes = {one.name: len(one.entries) for one in LISTS}
    assert sizes["countries' codes of two letters"] == 249
    assert sizes["states of the US"] == sizes["codes of the states of the US"] == 51
    assert sizes["months"] == sizes["months, in short"] == 12
    assert sizes["days of the week"] == sizes["days of the week, in short"] == 7
    for one in LISTS:
        assert len(one.text.split(",")) == len(one.entries), "none twice"
        assert all(name.strip() == name and name for name in one.entries.values())


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["Germany", "France", "Peru"], "countries"),
        (["UNITED_STATES", "el salvador", "Puerto-Rico"], "countries"),
        (["United-States", "Mexico", "Canada", "South"], "countries"),
        (["NY", "TX", "CA"], "codes of the states of the US"),
        (["DE", "FR", "US"], "countries' codes of two letters"),
        (["Mon", "Tue", "Sun"], "days of the week, in short"),
        (["Germany", "France"], "countries"),
        (["Georgia", "Virginia"], "states of the US"),
        (["Germany", "Chad"], None),
        (["Germany", "Atlantis"], None),
        (["Germany"], None),
        (["Germany", "France", "Peru", "red", "blue"], None),
        (["IN", "GA", "AL"], None),
        (["yes", "no", "maybe"], None),
        ([], None),
    ],
)
def test_texts_are_of_the_one_list_that_has_nearly_all_of_them(texts, name):
    found = public_list_of(texts)
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["United-States", "Peru", "Cuba"], "El-Salvador"),
        (["United States", "Peru", "Cuba"], "El Salvador"),
        (["PERU", "CUBA", "EL_SALVADOR"], "COSTA_RICA"),
        (["peru", "cuba", "chile"], "costa rica"),
    ],
)
def test_the_other_names_are_written_like_those_that_are_known(texts, written):
    (countries,) = (one for one in LISTS if one.name == "countries")
    others = countries.others(texts)
    assert written in others
    assert not set(texts) & set(others)
    assert len(others) == len(countries.entries) - 3


def bought(*texts: str, records: int) -> DiscoveredColumn:
    categories = tuple((text, 300) for text in texts)
    plain = {"votes": {}, "lower": None, "upper": None, "tails": (0.0, 0.0), "edges": (), "missing": 0}
    return DiscoveredColumn("land", kind="text", categories=categories, records=records, deviation=5.0, **plain)


def test_a_column_whose_rest_shows_lists_the_others_and_its_facts_say_so():
    column = bought("Peru", "Cuba", "Chile", records=1100)
    text = schema_of(Discovered((column,), 0.1, 1e-9, "add_or_remove_one", {}), BOUGHT)
    (land,) = Schema.from_toml(text).columns
    assert isinstance(land, Categorical)
    assert land.values[:3] == ("Peru", "Cuba", "Chile")
    assert "Costa Rica" in land.values
    assert land.other
    assert len(land.values) == len(set(land.values)) == len(LISTS[0].entries)
    assert f"The other {len(land.values) - 3} are of a public list (countries)" in " ".join(text.split())


def test_nothing_is_added_where_all_cells_show_or_the_values_are_stated():
    assert bought_column(bought("Peru", "Cuba", "Chile", records=905)).facts["values"][0] == ["Peru", "Cuba", "Chile"]
    stated = bought_column(bought("Peru", "Cuba", "Chile", records=1100), stated={"values": ["Peru"]})
    assert "values" not in stated.facts
