"""The parameters that charges may have are those that the queries describe, no more and no fewer."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from counterfoil.curator.queries.registry import shipped_queries
from counterfoil.curator.queries.rest_of_texts import RestOfTexts
from counterfoil.curator.queries.text_counts import TextCounts
from counterfoil.receipt.charge_parameters import NAMES, strange_parameters
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.wording import vouched_for_warning

BY_KIND = {"function_averages", "partition_counts"}
"""Queries whose names of parameters depend on one of them."""


def examples_of(path: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The queries that another file of tests makes."""
    specification = importlib.util.spec_from_file_location(f"examples_of_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, specification.name, module)
    specification.loader.exec_module(module)
    if hasattr(module, "REGISTRY"):
        return [query for entry in module.REGISTRY.values() for query, _ in entry.examples()]
    return [made.query for made in module.EXAMPLES]


def test_each_name_is_one_that_a_query_describes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = defaultdict(set)
    for query in examples_of("tests/curator/test_conformance.py", monkeypatch):
        described = json.loads(json.dumps(query.describe()))
        given[query.name] |= set(described)
        assert strange_parameters(query.name, described) == []
        assert strange_parameters(query.name, described | {"note": "x", "vouched_for": []}) == ["note"]
    assert {name: set(NAMES[name]) for name in given if name not in BY_KIND} == {
        name: names for name, names in given.items() if name not in BY_KIND
    }
    gradients = {name for name in NAMES if name.endswith("_gradient")}
    texts = {TextCounts.name, RestOfTexts.name}  # `test_discovery_queries.py` compares them
    assert NAMES.keys() - gradients - texts == given.keys() - BY_KIND
    assert NAMES.keys() | BY_KIND == shipped_queries().keys()


def test_each_name_is_one_that_a_query_of_batches_describes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="gradients need torch")
    given = defaultdict(set)
    for query in examples_of("tests/curator/test_gradient_queries.py", monkeypatch):
        given[query.name] |= set(query.describe())
        assert strange_parameters(query.name, query.describe()) == []
    assert {name: set(NAMES[name]) for name in given} == given
    assert len(given) == 3


def test_a_partition_that_was_brought_has_words_of_its_own_and_says_so() -> None:
    grid = {"cells": 4, "partition": "grid", "shape": [2, 2]}
    assert strange_parameters("partition_counts", grid) == []
    assert strange_parameters("partition_counts", grid | {"depth": 2}) == ["depth"]
    mine = {"cells": 4, "partition": "mine", "angle": 3}
    assert strange_parameters("partition_counts", mine) == ["angle"]
    assert strange_parameters("partition_counts", mine | {"vouched_for": ["my.Partition"]}) == []


def test_families_of_functions_have_their_own() -> None:
    moments = {"family": "moments", "counted": True, "functions": 3, "unit": 1, "order": 1}
    assert strange_parameters("function_averages", moments) == []
    assert strange_parameters("function_averages", moments | {"radius": 1.0}) == ["radius"]
    assert strange_parameters("function_averages", {"family": ["losses"], "radius": 1.0}) == ["radius"]


def test_a_parameter_that_the_query_does_not_have_is_a_problem(receipt_of) -> None:
    original = receipt_of().to_json()
    for place, charge in enumerate(original["charges"]):
        document = json.loads(json.dumps(original))
        document["charges"][place]["parameters"]["note"] = "No record was read."
        (problem,) = Receipt(document).verify().problems
        assert problem == f"Charge {place + 1} ({charge['query']}): the query has no parameter 'note'."
    document = json.loads(json.dumps(original))
    document["charges"][0]["parameters"]["vouched_for"] = ["my.Noise"]
    document["warnings"].append(vouched_for_warning("my.Noise"))
    assert Receipt(document).verify().holds


def test_what_the_sensitivity_does_not_use_is_listed(receipt_of) -> None:
    document = receipt_of().to_json()
    chosen = next(charge for charge in document["charges"] if "candidates" in charge["parameters"])
    chosen["parameters"]["candidates"] += 1000
    found = Receipt(document).verify()
    assert found.holds
    assert "charges: parameters beyond the sensitivity" in found.unvouched
