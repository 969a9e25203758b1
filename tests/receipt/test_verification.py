"""Whatever is changed in a receipt, the check notices; and a check needs the receipt alone."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from counterfoil import accounting, noise
from counterfoil.curator import queries
from counterfoil.curator.queries.registry import shipped_queries
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.known import noise_from_json
from counterfoil.receipt.json_schema import receipt_schema
from counterfoil.receipt.receipt import Receipt

MakeReceipt = Callable[..., Receipt]
Change = Callable[[dict[str, Any]], object]


def put(*path: str | int, value: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        for step in path[:-1]:
            document = document[step]
        assert document[path[-1]] != value, "a change must change something"
        document[path[-1]] = value

    return change


def both(*changes: Change) -> Change:
    return lambda document: [change(document) for change in changes]


def more_noise(document: dict[str, Any]) -> None:
    """Claims more noise than the event that was charged for, consistently but for the total."""
    charge = document["charges"][0]
    noise = GaussianNoise(100.0)
    charge["noise"] = {**noise.to_json(), "scale": noise.scale(charge["sensitivity"])}
    charge["event"] = noise.event().to_json()
    charge["event_under_other_relation"] = {"kind": "gaussian", "noise_multiplier": 100.0 / 2**0.5}


TAMPERINGS: dict[str, tuple[Change, str]] = {
    "a smaller epsilon": (put("spent", "epsilon", value=0.1), "but the receipt states 0.1"),
    "a smaller delta": (put("spent", "delta", value=1e-12), "Delta must be the budget's"),
    "a larger budget": (put("budget", "epsilon", value=2.0), "other_relation.epsilon"),
    "a budget below the cost": (put("budget", "epsilon", value=0.3), "above the budget of 0.3"),
    "no delta at all": (both(put("budget", "delta", value=0.0), put("spent", "delta", value=0.0)), "delta"),
    "a charge removed": (lambda document: document["charges"].pop(), "events compose to"),
    "a charge doubled": (lambda document: document["charges"].append(document["charges"][0]), "events compose to"),
    "no charges": (lambda document: document["charges"].clear(), "at least one charge"),
    "an event with more noise": (
        put("charges", 0, "event", "noise_multiplier", value=99.0),
        "Charge 1 (marginal_counts): the event is not the one of the noise",
    ),
    "another kind of event": (
        put("charges", 0, "event", value={"kind": "pure", "epsilon": 0.1}),
        "event is not the one",
    ),
    "an event without its parameter": (put("charges", 0, "event", value={"kind": "gaussian"}), "wrong parameters"),
    "a noise parameter": (put("charges", 1, "noise", "epsilon", value=0.01), "the event is not the one of the noise"),
    "a noise with two parameters": (
        put("charges", 1, "noise", value={**GaussianNoise(1.0).to_json(), "epsilon": 1.0, "scale": 1.0}),
        "wrong parameters",
    ),
    "a smaller noise": (put("charges", 2, "noise", "scale", value=1.0), "the noise must have scale"),
    "more noise, and its event": (more_noise, "but the receipt states"),
    "a smaller sensitivity": (put("charges", 0, "sensitivity", value=0.5), "the sensitivity must be"),
    "more cliques than were paid for": (
        lambda document: document["charges"][0]["parameters"]["cliques"].append(["b", "a"]),
        "the sensitivity must be 2",
    ),
    "a heavier weight": (put("charges", 1, "parameters", "largest_weight", value=5.0), "the sensitivity must be 5"),
    "parameters that are none": (put("charges", 1, "parameters", value={}), "parameters are not those of its kind"),
    "a query nobody knows": (put("charges", 0, "query", value="all_records"), "does not know such a query"),
    "the other relation's event": (
        put("charges", 0, "event_under_other_relation", "noise_multiplier", value=20.0),
        "event under the other relation",
    ),
    "the other relation": (put("neighboring_relation", value="replace_one"), "the sensitivity must be"),
    "a privacy unit": (put("privacy_unit", value={"column": "person", "max_rows": 4}), "the sensitivity must be"),
    "another rule": (put("composition", "rule", value="gaussian"), "but the receipt states"),
    "a rule for plans": (put("composition", "rule", value="privacy_loss_distribution"), "chosen after earlier answers"),
    "not adaptive": (put("composition", "adaptive", value=False), "either planned or chosen after earlier answers"),
    "a smaller factor": (
        put("composition", "replacement_factor", value=1.5),
        "Charge 2 (worst_approximated_marginal) exceeds the replacement factor",
    ),
    "a factor beyond all": (put("composition", "replacement_factor", value=3.0), "must lie between 1 and 2"),
    "a plan that was none": (
        lambda document: document["composition"].update(plan=[]),
        "either planned or chosen after earlier answers",
    ),
    "a smaller epsilon elsewhere": (put("other_relation", "epsilon", value=1.0), "`other_relation.epsilon` must be"),
    "no guarantee elsewhere": (put("other_relation", "holds", value=False), "`other_relation.holds` must be True"),
    "a seed that is hidden": (put("noise_source", value="a seed: NOT PRIVATE"), "came from a seed"),
    "a private source that is denied": (put("private", value=False), "names a private source"),
    "a library whose noise is wrong": (put("program", "opendp", value="0.14.1"), "follows another law"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_noticed(receipt_of: MakeReceipt, name: str) -> None:
    change, message = TAMPERINGS[name]
    document = receipt_of("zcdp").to_json()
    change(document)
    found = Receipt(document).verify()
    assert not found.holds
    assert message in " ".join(found.problems)


PLAN_TAMPERINGS: dict[str, tuple[Change, str]] = {
    "another noise": (put("composition", "plan", 0, "noise_multiplier", value=21.0), "not those of the plan"),
    "a noise left out": (lambda document: document["composition"]["plan"].pop(0), "not those of the plan"),
    "noise beyond the budget": (
        lambda document: document["composition"]["plan"].append({"kind": "discrete_gaussian", "noise_multiplier": 1.0}),
        "The plan as a whole costs more than the budget",
    ),
    "a noise never made": (
        lambda document: document["composition"]["plan"].append({"kind": "discrete_laplace"}),
        "noise of kind 'discrete_laplace' has the wrong parameters",
    ),
    "no plan": (lambda document: document["composition"].pop("plan"), "either planned or chosen"),
}


@pytest.mark.parametrize("name", PLAN_TAMPERINGS)
def test_tampering_with_a_plan_is_noticed(receipt_of: MakeReceipt, name: str) -> None:
    change, message = PLAN_TAMPERINGS[name]
    document = receipt_of("gaussian", adaptive=False).to_json()
    change(document)
    found = Receipt(document).verify()
    assert not found.holds
    assert message in " ".join(found.problems)


def test_a_file_that_was_changed_is_noticed(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("a\n1\n")
    receipt = receipt_of().with_output(path, rows=1)
    assert receipt.verify(tmp_path).holds
    path.write_text("a\n2\n")
    assert "out.csv is not the file" in receipt.verify(tmp_path).problems[0]
    assert receipt.verify().holds
    path.unlink()
    assert receipt.verify(tmp_path).holds


def test_a_file_is_looked_for_in_the_folder_alone(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "out.csv").write_text("a\n1\n")
    document = receipt_of().with_output(tmp_path / "out.csv", rows=1).to_json()
    document["outputs"][0] |= {"file": "../out.csv", "sha256": "0" * 64}
    assert Receipt(document).verify(tmp_path / "inside").holds


@pytest.mark.parametrize("rule", ["zcdp", "gaussian", "pure", "privacy_loss_distribution"])
def test_every_number_that_is_doubled_or_halved_is_noticed(receipt_of: MakeReceipt, rule: str) -> None:
    """All numbers of a charge, the budget, the totals: none is decoration."""
    original = receipt_of(rule, adaptive=rule != "privacy_loss_distribution").to_json()
    sections = ("budget", "charges", "spent", "other_relation")
    places = [place for section in sections for place in numbers(original[section], (section,))]
    if rule == "privacy_loss_distribution":
        places = [place for place in places if place[:2] == ("charges", 3)]  # slow, and tried for the other rules
    for place in places:
        if place[-1] == "candidates":
            continue  # how many candidates there were does not enter the cost
        for factor in (0.5, 2.0):
            document = deepcopy(original)
            *parents, last = place
            holder = document
            for step in parents:
                holder = holder[step]
            if holder[last] == 0:
                continue
            holder[last] *= factor
            assert not Receipt(document).verify().holds, (place, factor)


def numbers(value: Any, place: tuple) -> list[tuple]:
    if isinstance(value, dict):
        return [found for key, part in value.items() for found in numbers(part, (*place, key))]
    if isinstance(value, list):
        return [found for i, part in enumerate(value) for found in numbers(part, (*place, i))]
    return [place] if isinstance(value, float) else []


def test_every_query_noise_and_event_can_be_checked() -> None:
    """Queries and noises are found by themselves; a new event must be added to the published schema."""
    shipped = {kind for kind in classes(queries, "name") if not inspect.isabstract(kind)}
    assert {kind.name: kind for kind in shipped} == shipped_queries()
    assert all(len(kind.question) > 20 for kind in shipped), "each is explained on the page"
    definitions = receipt_schema()["$defs"]
    smaller = {"delta": 1e-6, "steps": 3}
    examples = [
        kind(**{field.name: smaller.get(field.name, 0.5) for field in fields(kind)}) for kind in classes(noise, "kind")
    ]
    assert len(examples) >= 4
    assert [noise_from_json(example.to_json()) for example in examples] == examples
    events = {kind.kind for kind in classes(accounting, "kind")}
    assert events == set(definitions["event"]["properties"]["kind"]["enum"])


def classes(package: ModuleType, attribute: str) -> list[Any]:
    """The classes of a package's modules that have `attribute`, a text of their own."""
    found = []
    for module in pkgutil.iter_modules(package.__path__):
        imported = importlib.import_module(f"{package.__name__}.{module.name}")
        for _, kind in inspect.getmembers(imported, inspect.isclass):
            if kind.__module__ == imported.__name__ and isinstance(getattr(kind, attribute, None), str):
                found.append(kind)
    return found
