"""What the page "Compose your own mechanism" shows is attacked here, and each new thing works as one file more."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_tools import LessNoise, epsilon_lower_bound
from command_line import SCHEMA, write_people
from counterfoil import Budget, Curator, NeighboringRelation, Receipt, synthesize
from counterfoil.accounting import PureFilter
from counterfoil.curator.queries import registry
from counterfoil.domain.domain import Domain
from counterfoil.methods import method_named, method_names
from counterfoil.noise import LaplaceNoise
from counterfoil.noise.known import noise_from_json
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.queries import MarginalCounts, vouch_for
from sensitive_tables import ENGINES, all_rows, all_tables, frame_of, records_of, schema_of

PAGE = (Path(__file__).parents[1] / "docs" / "compose.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'^```\w+ title="([\w.]+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL))
ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
TINY = Domain(("a", "b"), (2, 3))

# The changes that make the query of the page a shipped one.
TO_SHIP = {
    "from counterfoil.accounting import NeighboringRelation": (
        "from counterfoil.accounting.neighbors import NeighboringRelation"
    ),
    "from counterfoil.noise import Norm": "from counterfoil.noise.noise import Norm",
    "from counterfoil.queries import Block, CountQuery, Records": (
        "from counterfoil.curator.queries.query import Block, CountQuery, Records\n"
        "from counterfoil.curator.queries.registry import shipped"
    ),
    "@dataclass(": "@shipped\n@dataclass(",
}

NOISE = '''
"""Discrete Laplace noise, cut off at zero."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.noise.laplace import LaplaceNoise


@dataclass(frozen=True)
class CutLaplaceNoise(LaplaceNoise):
    kind: ClassVar[str] = "cut_discrete_laplace"

    def add(self, exact, sensitivity, randomness):
        return np.maximum(super().add(exact, sensitivity, randomness), 0)
'''


class Folders:
    """Puts a file into a package of ours, for the length of a test."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path, self._monkeypatch = tmp_path, monkeypatch
        monkeypatch.setattr(registry, "_SHIPPED", dict(registry.shipped_queries()))
        monkeypatch.setattr(registry, "_VOUCHED_FOR", {})
        self.added: list[str] = []

    def add(self, package: str, name: str, text: str) -> None:
        folder = self._path / package
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        home = import_module(package)
        self._monkeypatch.setattr(home, "__path__", [*home.__path__, str(folder)])
        self.added.append(f"{package}.{name.removesuffix('.py')}")

    def close(self) -> None:
        for name in self.added:
            sys.modules.pop(name, None)
            package, _, module = name.rpartition(".")
            vars(import_module(package)).pop(module, None)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folders]:
    made = Folders(tmp_path, monkeypatch)
    yield made
    made.close()


def defined(name: str) -> dict[str, Any]:
    """What a file of the page defines, as a module of a user's own."""
    module = SimpleNamespace(__name__="my_own")
    names = vars(module)
    sys.modules["my_own"] = module  # type: ignore[assignment]
    exec(compile(FILES[name], name, "exec"), names)
    return names


# A method


def test_a_method_is_one_file(folders: Folders, tmp_path: Path):
    before = method_names()
    folders.add("counterfoil.methods", "columns_and_pairs.py", FILES["columns_and_pairs.py"])
    assert {*method_names()} - {*before} == {"columns-and-pairs"}
    write_people(tmp_path / "people.csv")
    for relation in NeighboringRelation:
        made = synthesize(tmp_path / "people.csv", SCHEMA, epsilon=1.0, method="columns-and-pairs", relation=relation)
        assert made.receipt.verify().holds
        described = made.receipt.document["method"]
        assert (described["name"], described["parameters"]["share"]) == ("columns-and-pairs", 0.4)
        assert made.error_bar(["sex", "age"]).fraction < 2
    with pytest.raises(ValueError, match="takes no `workload`"):
        method_named("columns-and-pairs", workload=2)


# A query


def neighbors(relation: NeighboringRelation) -> Iterator[tuple[tuple, tuple]]:
    """All tables of up to three rows that differ in one."""
    for table in all_tables(TINY, 2):
        for one in all_rows(TINY):
            if relation is ADD:
                yield table, (*table, one)
            else:
                yield from (((*table, one), (*table, other)) for other in all_rows(TINY))


def exceeded(query: Any, relation: NeighboringRelation, engine: str = "memory") -> tuple[float, float]:
    """By how much neighbors exceed the claims of `query`, in l1 and in l2 norm: 0 where a claim is attained."""
    answers = {table: query.exact(records_of(TINY, table, engine=engine)) for table in all_tables(TINY, 3)}
    moved = np.array([answers[tuple(sorted(a))] - answers[tuple(sorted(b))] for a, b in neighbors(relation)])
    l1, l2 = np.abs(moved).sum(axis=1).max(), np.sqrt((moved**2).sum(axis=1).max())
    return float(l1 - query.l1_sensitivity(relation)), float(l2 - query.l2_sensitivity(relation))


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_the_query_keeps_its_claims_on_all_neighbors_and_attains_them(relation: NeighboringRelation):
    kind = defined("counts_up_to.py")["CountsUpTo"]
    names = {"Registered": lambda examples, random: examples, "CountsUpTo": kind, "st": st}
    exec(f"registry = {{{FILES['test_conformance.py']}}}", names)
    for query, attained in names["registry"][kind]():
        assert attained
        for engine in ENGINES:
            assert exceeded(query, relation, engine) == (0, 0)
        restated = query.restated_sensitivity(query.describe(), {ADD: 1.0, REPLACE: 2.0}[relation], LaplaceNoise.norm)
        assert restated == query.l1_sensitivity(relation)
    broken = type("Broken", (kind,), {"l1_sensitivity": lambda self, relation: len(self.codes) - 1})
    assert exceeded(broken("b", (0, 1)), relation)[0] == 1, "the attack finds what is wrong"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True).map(sorted), st.data())
def test_the_query_keeps_its_claims_on_random_tables(codes: list[int], data: st.DataObject):
    query = defined("counts_up_to.py")["CountsUpTo"]("a", tuple(codes))
    domain = Domain(("a",), (6,))
    row = st.tuples(st.integers(0, 5))
    rows, one, other = data.draw(st.lists(row, max_size=20)), data.draw(row), data.draw(row)
    alone, first, second = (query.exact(records_of(domain, [*rows, *more])) for more in ([], [one], [other]))
    for moved, relation in ((first - alone, ADD), (second - first, REPLACE)):
        assert np.abs(moved).sum() <= query.l1_sensitivity(relation)
        assert (moved**2).sum() <= query.l2_sensitivity(relation) ** 2 * (1 + 1e-9)
    expected = [sum(code <= limit for (code,) in rows) for limit in codes]
    assert alone.tolist() == expected


def released(query: Any, **facts: Any) -> Receipt:
    rows = [(i % 2, i % 3) for i in range(40)]
    with Curator(frame_of(TINY, rows), schema_of(TINY), budget=Budget(1.0), **facts) as curator:
        account = curator.filter(PureFilter(), replacement_factor=1)
        account.ask(query, LaplaceNoise(1.0))
        return Receipt.from_curator(curator, method="mine", parameters={}, rows=0)


def test_a_query_of_a_users_own_is_named_on_the_receipt(folders: Folders):
    kind = defined("counts_up_to.py")["CountsUpTo"]
    with pytest.raises(ValueError, match="Only registered queries may be asked"):
        released(kind("b", (0, 1)))
    vouch_for(kind, proof="its docstring")
    receipt = released(kind("b", (0, 1)))
    assert any("counts_up_to (its docstring)" in warning for warning in receipt.document["warnings"])
    assert "this version does not know such a query" in receipt.verify().problems[0]


def test_a_wrong_claim_is_found_on_made_up_rows(folders: Folders):
    kind = defined("counts_up_to.py")["CountsUpTo"]
    broken = type("Broken", (kind,), {"name": "broken", "l1_sensitivity": lambda self, relation: 0.5})
    vouch_for(broken, proof="none")
    with pytest.raises(ValueError, match="above the l1 sensitivity"):
        released(broken("b", (0, 1)))


def test_a_shipped_query_is_one_file_beside_its_registration(folders: Folders):
    text = FILES["counts_up_to.py"]
    for old, new in TO_SHIP.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    folders.add("counterfoil.curator.queries", "counts_up_to.py", text)
    registry._import_all.cache_clear()  # a new process would find the file
    kind = registry.shipped_queries()["counts_up_to"]
    # As if it lay in our own folder: what lies elsewhere is a user's, whatever it is called.
    assert "CountsUpTo" in released(kind("b", (0, 1))).document["warnings"][0]
    sys.modules[kind.__module__].__spec__.origin = str(Path(registry.__file__).with_name("counts_up_to.py"))
    for relation in NeighboringRelation:
        receipt = released(kind("b", (0, 1)), relation=relation)
        assert receipt.verify().holds
        assert not receipt.document["warnings"]
        assert "how many records are up to each of some values" in " ".join(receipt.text().split())


# A noise


def test_a_noise_is_one_file(folders: Folders):
    folders.add("counterfoil.noise", "cut_laplace.py", NOISE)
    noise = noise_from_json({"kind": "cut_discrete_laplace", "epsilon": 1.0})
    rows = [(i % 2, i % 3) for i in range(40)]
    with Curator(frame_of(TINY, rows), schema_of(TINY), budget=Budget(1.0)) as curator:
        curator.filter(PureFilter()).ask(MarginalCounts(TINY, (("a",),)), noise)
        assert Receipt.from_curator(curator, method="mine", parameters={}, rows=0).verify().holds

    def audited(randomness: Any) -> float:
        one, other = (noise.add(np.full(60_000, count), 4.0, randomness) for count in (30, 34))
        return epsilon_lower_bound(one, other, 0.0)

    assert audited(SeededRandomness(1)) <= 1.0 < audited(LessNoise(SeededRandomness(2)))


# A plan


def test_the_page_states_what_plans_cost():
    (block,) = re.findall(r"^```python\n([^`]*\nplans = .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    for name, costs in names["costs"].items():
        (shown,) = re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE)
        # Rounded up: a guarantee is never smaller than what is printed.
        rounded = [np.ceil(epsilon * 1000) / 1000 for epsilon in costs]
        assert [float(figure) for figure in shown.split("|")] == pytest.approx(rounded)
