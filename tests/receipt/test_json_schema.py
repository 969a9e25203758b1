"""Our reading of the published JSON schema agrees with jsonschema's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterfoil.receipt.json_schema import receipt_schema, require_shape
from counterfoil.receipt.receipt import Receipt

STRANGE = [None, True, 0, -1, 0.0, 2.0, 1.5, 1e-9, "", "x", "zcdp", "gaussian", [], {}, [1], {"kind": "gaussian"}]


def places(value: Any, place: tuple = ()) -> list[tuple]:
    found = [place] if place else []
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        found += places(part, (*place, key))
    return found


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_same_documents_are_receipts(receipt_of: Callable[..., Receipt], data: st.DataObject) -> None:
    document = deepcopy(data.draw(st.sampled_from([kept(receipt_of, rule) for rule in ("zcdp", "pure")])))
    *parents, last = data.draw(st.sampled_from(places(document)))
    holder = document
    for step in parents:
        holder = holder[step]
    match data.draw(st.sampled_from(["replace", "remove", "add"])):
        case "replace":
            holder[last] = deepcopy(data.draw(st.sampled_from(STRANGE)))
        case "remove":
            del holder[last]
        case "add" if isinstance(holder, dict):
            holder["strange"] = 1
    validator = jsonschema.Draft202012Validator(receipt_schema())
    try:
        require_shape(document)
        accepted = True
    except ValueError:
        accepted = False
    assert accepted == validator.is_valid(document)
    if accepted:
        receipt = Receipt(document)
        receipt.verify()
        with suppress(ValueError):  # what is no event of any kind can't be explained, and is reported in a sentence
            assert receipt.text()


def test_true_is_not_one(receipt_of: Callable[..., Receipt]) -> None:
    document = deepcopy(kept(receipt_of, "zcdp")) | {"format_version": True}
    assert not jsonschema.Draft202012Validator(receipt_schema()).is_valid(document)
    with pytest.raises(ValueError, match=r"must be 1\. Found True"):
        require_shape(document)


_KEPT: dict[str, Any] = {}


def kept(receipt_of: Callable[..., Receipt], rule: str) -> dict[str, Any]:
    if rule not in _KEPT:
        _KEPT[rule] = receipt_of(rule).with_output(__file__, rows=1).to_json()
    return _KEPT[rule]
