"""Which places of a schema count as precautions: those that its purchase wrote so, and none that a person added."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterfoil.discovery.bought_text import schema_of
from counterfoil.schema import Schema
from counterfoil.schema.bought import Bought
from counterfoil.schema.discovered import Discovered, DiscoveredColumn
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.precautions import bounds_by_precaution, by_precaution
from discovered_strategies import BOUGHT


def answers(name: str, kind: str, **facts: object) -> DiscoveredColumn:
    plain = {"votes": {}, "lower": None, "upper": None, "tails": (0.0, 0.0), "categories": (), "records": 1000}
    rest = {"missing": 0, "edges": (), "deviation": 10.0}
    return DiscoveredColumn(name, kind, **(plain | rest | facts))  # type: ignore[arg-type]


FOUND = (
    answers("sex", "text", categories=(("F", 600), ("M", 395))),
    answers("country", "text", categories=(("France", 300), ("Germany", 200), ("Italy", 100), ("Mars", 100))),
    answers("age", "integer", lower=15.0, upper=95.0),
    answers("sector", "integer", lower=1.0, upper=900.0, codes=((1, 500), (111, 480))),
    answers("gone", "text", categories=(("yes or no", 900),), records=900, missing=400),
)


def text() -> str:
    return schema_of(Discovered(FOUND, 0.1, 1e-9, "add_or_remove_one", {}), BOUGHT)


def places(schema: Schema, name: str) -> list[str]:
    column = schema[name]
    assert column.kind != "identifier"
    return [column.labels[code] for code in np.flatnonzero(by_precaution(column, schema.bought))]


def test_what_was_bought_and_not_seen_is_a_precaution() -> None:
    schema = Schema.from_toml(text())
    assert Schema.from_toml(schema.to_toml()) == schema
    assert places(schema, "sex") == ["other", "missing"]
    country = places(schema, "country")
    assert "Spain" in country
    assert not {"France", "Germany", "Italy", "Mars", "other"} & set(country), "other surely holds the rest"
    assert places(schema, "sector") == ["1", "111", schema["sector"].labels[-1]]
    assert places(schema, "age") == [schema["age"].labels[-1]]
    assert bounds_by_precaution(schema["age"], schema.bought) == (True, True)
    assert places(schema, "gone") == ["other"], "missing cells surely show"


def test_what_a_person_adds_is_none() -> None:
    edited = text().replace('"F", "M"]', '"F", "M", "X"]').replace("upper = 95", "upper = 80")
    edited = edited.replace("values = [1, 111]", "values = [1, 2, 111]")
    edited += '\n[columns.place]\nkind = "categorical"\nvalues = ["a", "b"]\nother = true\nmissing = true\n'
    schema = Schema.from_toml(edited)
    assert places(schema, "sex") == ["other", "missing"]
    assert places(schema, "sector")[:2] == ["1", "111"]
    assert bounds_by_precaution(schema["age"], schema.bought) == (True, False)
    assert places(schema, "place") == []


def test_what_was_stated_before_the_purchase_is_none() -> None:
    """Facts by hand are in the schema, and no fact that was bought."""
    column = Schema.from_toml('[columns.sex]\nkind = "categorical"\nvalues = ["F", "M"]\nmissing = true')["sex"]
    assert not by_precaution(column, replace(BOUGHT, places="")).any()
    assert not by_precaution(column, None).any()


def test_where_nobody_said_which_all_are() -> None:
    schema = Schema.from_toml(text())
    assert by_precaution(schema["sex"], BOUGHT).all()
    assert bounds_by_precaution(schema["age"], BOUGHT) == (True, True)


@pytest.mark.parametrize("wrong", ["12", "zzzz", 4])
def test_other_texts_are_refused(wrong: object) -> None:
    facts = BOUGHT.facts() | {"places": wrong}
    with pytest.raises(SchemaError, match="`places` must be hexadecimal digits"):
        Bought.of_facts(facts)
