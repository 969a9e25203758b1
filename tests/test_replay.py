"""Whatever is released follows from the answers that were paid for, and from public facts.

Every method is run on a table, its answers are recorded, and it is run again on another table of which not one row is
the same, with the recorded answers in place of its own. All that is released must be the same, to the last bit:

- the rows, as codes and as values; weighted points and the support of a measure;
- the model and its marginals, the error bars, and how many records were counted;
- the receipt: parameters, charges, costs, warnings, fidelity, certificates; its time of day alone is left out;
- what progress said, and a checkpoint of a run that could be continued.

Public facts are the schema, the budget, the relation, the method's parameters, the seed of what draws rows, and, under
replace_one of single rows, their number, which both tables share there. How long a run takes is none of these and is
not kept from depending on the records.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.curator import Curator
from counterfoil.domain.workload import Workload
from counterfoil.features.functions import Share, Value
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.geometry.euclidean import Box
from counterfoil.graphical_model.classed_model import ClassedModel
from counterfoil.marginals.record_classes import FEWEST_COLUMNS
from counterfoil.methods.aim import AIM, AIMVariant
from counterfoil.methods.direct import Direct, Estimator
from counterfoil.methods.evolution import EvolutionCheckpoint, PrivateEvolution
from counterfoil.methods.independent import Independent
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.methods.mst import MST
from counterfoil.methods.registry import method_named, method_names
from counterfoil.methods.reweighting import Reweighting
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.schema import Boolean, Categorical, Integer, Real, Rule, Schema
from differences import differences
from leaks import LEAKS, leak_by_progress
from transcripts import Recording, recorded, replayed

SCHEMA = Schema(
    (
        Categorical("job", ("cook", "nurse", "smith"), other=True),
        Integer("age", 0, 9, missing=True),
        Real("pay", 0.0, 10.0, bins=4),
        Boolean("rich"),
    ),
    rules=(Rule("not rich", "job == 'cook'"),),
)
TINY = Schema((Boolean("a"), Boolean("b")))
SIGNS = Schema(tuple(Boolean(f"s{i}") for i in range(FEWEST_COLUMNS)))
NUMBERS = Schema((Real("x", 0.0, 1.0, bins=8), Real("y", 0.0, 1.0, bins=8)))
BUDGET, PURE = Budget(2.0, 1e-3), Budget(2.0)
UNIT = PrivacyUnit("who", 2)
NEIGHBORS: dict[str, dict[str, Any]] = {
    "add": {"relation": "add_or_remove_one"},
    "replace": {"relation": "replace_one"},
    "unit": {"relation": "replace_one", "privacy_unit": UNIT},
}


def people(side: int, rows: int) -> pa.Table:
    """Two tables without a row in common: not one value of `pay` is in both."""
    rng = np.random.default_rng(side)
    poor = rng.random(rows) < (0.3, 0.8)[side]
    return pa.table(
        {
            "job": np.where(poor, "cook", np.array(["nurse", "smith", "clown"])[rng.integers(0, 3, rows)]),
            "age": pa.array(rng.integers(0, 10, rows), mask=rng.random(rows) < 0.1),
            "pay": np.clip(rng.normal((2, 7)[side], 1, rows), 0, 10),
            "rich": ~poor & (rng.random(rows) < 0.7),
            "who": [f"{side} {i // 3}" for i in range(rows)],
        }
    )


def pairs(side: int, rows: int) -> pa.Table:
    same = np.arange(rows) % 4 < (3, 1)[side]
    return pa.table({"a": np.full(rows, side == 1), "b": same, "who": [f"{side} {i // 3}" for i in range(rows)]})


def places(side: int, rows: int) -> pa.Table:
    points = np.random.default_rng(side).normal((0.2, 0.7)[side], 0.1, (rows, 2)).clip(0, 1)
    return pa.table({"x": points[:, 0], "y": points[:, 1], "who": [f"{side} {i // 3}" for i in range(rows)]})


def patients(side: int, rows: int) -> pa.Table:
    """One hidden number moves all signs but the last."""
    rng = np.random.default_rng(side)
    hidden, loads = rng.normal(size=(rows, 1)), (1.5, -1.0)[side] * np.linspace(-1, 1, FEWEST_COLUMNS)
    table = {f"s{i}": column for i, column in enumerate((hidden * loads + rng.logistic(size=(rows, 1)) > 0).T)}
    return pa.table(
        {**table, f"s{FEWEST_COLUMNS - 1}": np.full(rows, side == 1), "who": [f"{side} {i // 3}" for i in range(rows)]}
    )


@dataclasses.dataclass(frozen=True)
class Case:
    """A method, what it is run on, and under which neighbors."""

    method: Any
    table: Callable[[int, int], pa.Table] = people
    schema: Schema = SCHEMA
    budget: Budget = BUDGET
    rows: int = 120
    neighbors: tuple[str, ...] = tuple(NEIGHBORS)
    fidelity: Fidelity | None = None


def evolution(name: str, **options: Any) -> PrivateEvolution:
    return PrivateEvolution.preset(name, iterations=3, population=12, **options)


CASES = {
    **{f"aim {variant}": Case(AIM(variant=variant, rounds=3, batch=2)) for variant in AIMVariant},
    "aim with a focus": Case(AIM(rounds=2, batch=2, focus="rich")),
    "aim with classes": Case(AIM(rounds=1, batch=1), patients, SIGNS, Budget(20.0, 1e-3), rows=900),
    "mst": Case(MST()),
    "independent": Case(Independent()),
    "independent, pure": Case(Independent(), budget=PURE),
    "direct private_pgm": Case(Direct(2)),
    "direct private_pgm, pure": Case(Direct(Workload({("job", "age"): 1.0, ("pay",): 1.0})), budget=PURE),
    "direct minimax": Case(Direct(2, estimator=Estimator.MINIMAX)),
    "direct brute_force": Case(Direct(2, estimator=Estimator.BRUTE_FORCE), pairs, TINY, rows=8, neighbors=("replace",)),
    "mst with fidelity": Case(MST(), fidelity=Fidelity(0.3, "rich")),
    "independent with fidelity, pure": Case(Independent(), budget=PURE, fidelity=Fidelity(0.3, "rich")),
    "aim published with fidelity": Case(AIM(variant=AIMVariant.PUBLISHED), pairs, TINY, fidelity=Fidelity(0.2)),
    "aim with certificates alone": Case(AIM(rounds=2), fidelity=Fidelity(0.0, "rich")),
    **{f"evolution {name}": Case(evolution(name), places, NUMBERS) for name in PrivateEvolution.presets},
    "evolution of tables": Case(evolution("bounded-lipschitz", lookahead=2)),
    "evolution in a box": Case(evolution("practical", space=Box.of(NUMBERS)), places, NUMBERS),
    "signed-measure": Case(SignedMeasure(), places, NUMBERS),
    "signed-measure, pure, of tables": Case(SignedMeasure(cells=20), budget=PURE),
    "measure-tree": Case(MeasureTree(), places, NUMBERS, budget=PURE),
    "reweighting": Case(Reweighting(support=500)),
    "reweighting, pure, of moments": Case(Reweighting(queries="moments:2", support=500), budget=PURE),
    "reweighting of a uniform reference": Case(Reweighting(reference="uniform", support=500), fidelity=Fidelity(0.3)),
    "reweighting of a histogram, minimax": Case(
        Reweighting(reference="histogram", fit="minimax", independent_rows=True, support=500), pairs, TINY
    ),
    "reweighting of functions": Case(
        Reweighting(queries=(Share.of_records(SCHEMA, "age >= 5 and rich"), Value("pay", 2.0, 8.0, "pay")), support=500)
    ),
    **{
        f"reweighting of points, {name}": Case(Reweighting(reference=name, support=500), places, NUMBERS, budget=PURE)
        for name in ("uniform", "histogram", "bernstein", "tree")
    },
}


def test_every_method_is_replayed():
    # A generator asks no counts: tests/training replays its noisy gradients.
    kinds = {type(method_named(name)) for name in method_names() if name != "wasserstein-generator"}
    assert {type(case.method) for case in CASES.values()} == kinds
    assert {case.method.estimator for case in CASES.values() if isinstance(case.method, Direct)} == set(Estimator)


def release(case: Case, neighbors: str, side: int, recording: Recording, **options: Any) -> Any:
    """One whole release, with a seed for what it draws."""
    # Where the number of rows is private, the other table has another one.
    rows = case.rows + (0 if neighbors == "replace" else 31 * side)
    table = case.table(side, rows)
    if neighbors != "unit":
        table = table.drop_columns(["who"])
    with Curator(table, case.schema, budget=case.budget, seed=3, **NEIGHBORS[neighbors]) as curator:
        if case.fidelity is not None:
            case.fidelity.prepare(curator)
        made = case.method.synthesize(curator, progress=recording.progress, **options)
        return made if case.fidelity is None else case.fidelity.measure(curator, made)


REPLAYS = [(name, neighbors) for name, case in CASES.items() for neighbors in case.neighbors]


@pytest.mark.parametrize(("name", "neighbors"), REPLAYS)
def test_a_release_follows_from_its_answers(monkeypatch, name, neighbors):
    case = CASES[name]
    made, recording = recorded(monkeypatch, lambda heard: release(case, neighbors, 0, heard))
    again, replay = replayed(monkeypatch, recording, lambda heard: release(case, neighbors, 1, heard))
    assert not list(differences(made, again))
    assert recording.told == replay.told
    assert recording.asked


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_case_with_classes_has_them(monkeypatch, neighbors):
    made, _ = recorded(monkeypatch, lambda heard: release(CASES["aim with classes"], neighbors, 0, heard))
    assert isinstance(made.model, ClassedModel)


@pytest.mark.parametrize("name", ["aim batched", "evolution practical", "measure-tree"])
def test_another_table_gives_other_answers(monkeypatch, name):
    """So that the test above says something: with the same seed, and answers of its own."""
    case = CASES[name]
    made, one = recorded(monkeypatch, lambda heard: release(case, "add", 0, heard))
    again, other = recorded(monkeypatch, lambda heard: release(case, "add", 1, heard))
    assert any(not np.array_equal(a, b) for (_, a), (_, b) in zip(one.asked, other.asked, strict=False))
    assert list(differences(made, again))


def test_a_checkpoint_follows_from_its_answers(monkeypatch, tmp_path):
    case, paths = CASES["evolution practical"], [tmp_path / "one", tmp_path / "other"]
    _, recording = recorded(monkeypatch, lambda heard: release(case, "add", 0, heard, checkpoint=paths[0]))
    replayed(monkeypatch, recording, lambda heard: release(case, "add", 1, heard, checkpoint=paths[1]))
    one, other = (EvolutionCheckpoint.load(path) for path in paths)
    assert not list(differences(one, other))


@pytest.mark.parametrize("leak", [*LEAKS, leak_by_progress])
def test_leaks_are_found(monkeypatch, leak):
    leak(monkeypatch)
    case = CASES["independent"]
    made, recording = recorded(monkeypatch, lambda heard: release(case, "add", 0, heard))
    again, replay = replayed(monkeypatch, recording, lambda heard: release(case, "add", 1, heard))
    assert list(differences(made, again)) or recording.told != replay.told


def test_another_question_is_noticed(monkeypatch):
    case = CASES["independent"]
    _, recording = recorded(monkeypatch, lambda heard: release(case, "add", 0, heard))
    with pytest.raises(AssertionError):
        replayed(
            monkeypatch, recording, lambda heard: release(dataclasses.replace(case, method=Direct(2)), "add", 1, heard)
        )
