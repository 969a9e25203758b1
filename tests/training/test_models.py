"""Models: trained, applied, saved and loaded; mistakes cost nothing; and no record leaves in a model.

All noise comes from seeds unless a test says otherwise, so that every outcome is the same each time.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

torch = pytest.importorskip("torch", reason="training needs torch")
nn = torch.nn

import counterfoil  # noqa: E402
from counterfoil.accounting.budget import Budget  # noqa: E402
from counterfoil.accounting.neighbors import NeighboringRelation, PrivacyUnit  # noqa: E402
from counterfoil.curator.account import Account  # noqa: E402
from counterfoil.curator.batches import Batch, GroupedRecords  # noqa: E402
from counterfoil.curator.curator import Curator  # noqa: E402
from counterfoil.curator.engines.memory import MemoryEngine  # noqa: E402
from counterfoil.curator.records import ExactRecords  # noqa: E402
from counterfoil.curator.training import Training  # noqa: E402
from counterfoil.geometry.euclidean import point_schema  # noqa: E402
from counterfoil.ledger.ledger import Ledger, Release  # noqa: E402
from counterfoil.methods.wasserstein_generator import WassersteinGenerator  # noqa: E402
from counterfoil.schema.integer import Integer  # noqa: E402
from counterfoil.schema.schema import Schema  # noqa: E402
from counterfoil.training import (  # noqa: E402
    DPSGDClassifier,
    FairClassifier,
    FairEncoder,
    FairRegressor,
    PATEClassifier,
    SlicedWassersteinGenerator,
)
from counterfoil.training.changed_rows import ChangedRowsWarning  # noqa: E402
from training_tables import ROWS, SCHEMA, ledger_at, people  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

SOURCE = Path(counterfoil.__file__).parent
PARITY = {"target": "outcome", "protected": "sex"}
SHORT = {"iterations": 6, "batch_share": 0.5, "seed": 3}

MODELS: dict[str, tuple[Any, dict]] = {
    "dp-sgd": (DPSGDClassifier, {"target": "outcome", "protected": "sex"}),
    "dp-sgd of three classes": (DPSGDClassifier, {"target": "city"}),
    "parity": (FairClassifier, PARITY),
    "odds": (lambda **changes: FairClassifier(penalty="equality_of_odds", **changes), PARITY),
    "parity of three classes": (FairClassifier, {"target": "city", "protected": "sex"}),
    "hidden layers": (lambda **changes: FairClassifier(hidden=(4,), activation="tanh", **changes), PARITY),
    "regressor": (FairRegressor, {"target": "score", "protected": "sex"}),
    "regressor of two": (FairRegressor, {"target": ("score", "age"), "protected": ("sex",)}),
    "encoder": (lambda **changes: FairEncoder(hidden=(4,), **changes), {"protected": "sex"}),
}


@pytest.fixture
def ledger(tmp_path):
    with ledger_at(tmp_path / "people.ledger") as opened:
        yield opened


def fitted(kind: str, ledger: Ledger | None = None, **changes) -> Any:
    make, roles = MODELS[kind]
    return make(**(SHORT | changes)).fit(people(), SCHEMA, ledger=ledger, **roles)


def said_of(model: Any, rows: pd.DataFrame) -> np.ndarray:
    """All that a model says of rows."""
    if isinstance(model, FairEncoder):
        return np.hstack([model.transform(rows), model.reconstruct(rows)])
    return model.predict(rows) if isinstance(model, FairRegressor) else model.predict_proba(rows)


# Trained and applied


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_goes_through_its_folder(kind, tmp_path, ledger):
    model = fitted(kind, ledger)
    assert model.receipt.verify().holds, model.receipt.verify().problems
    record = ledger.releases()[0]
    assert len(record.charges) == 1
    assert record.charges[0]["event"]["steps"] == 6
    said = said_of(model, people(30, seed=9))
    assert len(said) == 30
    assert np.isfinite(said).all()
    model.save(tmp_path / "model")
    again = type(model).load(tmp_path / "model")
    assert np.array_equal(said_of(again, people(30, seed=9)), said)
    assert again.receipt.document == model.receipt.document
    assert again.get_params() == {
        name: list(value) if isinstance(value, tuple) else value for name, value in model.get_params().items()
    }
    assert np.array_equal(again.losses_, model.losses_)
    with pytest.raises(ValueError, match="Found"):
        model.save(tmp_path / "model")


def test_a_classifier_that_is_given_much_learns():
    """Epsilon 1000: the outcome follows from the score, which is told apart for nearly all."""
    model = DPSGDClassifier(epsilon=1000.0, iterations=60, batch_share=0.5, learning_rate=0.3, seed=1)
    model.fit(people(), SCHEMA, target="outcome")
    rows = people(300, seed=5)
    assert (model.predict(rows) == rows["outcome"]).mean() > 0.85
    assert model.predict_proba(rows).sum(axis=1) == pytest.approx(np.ones(300))
    assert model.classes_.tolist() == ["no", "yes"]


def gap(model: FairClassifier) -> float:
    """Between the mean scores of the groups."""
    rows = people(2000, seed=6)
    scores = model.predict_proba(rows)[:, 1]
    return abs(float(scores[rows["sex"] == "m"].mean() - scores[rows["sex"] == "f"].mean()))


def test_a_penalty_brings_groups_together():
    facts = {"epsilon": 1000.0, "iterations": 80, "batch_share": 0.5, "learning_rate": 0.2, "seed": 1}
    alone, fair = (FairClassifier(alpha=alpha, **facts).fit(people(), SCHEMA, **PARITY) for alpha in (0.0, 0.95))
    assert gap(alone) > 0.15
    assert gap(fair) < gap(alone) / 2


def test_predictions_of_a_regressor_are_in_the_columns_own_units():
    model = FairRegressor(epsilon=1000.0, iterations=80, batch_share=0.5, alpha=0.0, seed=1, learning_rate=0.1)
    frame = people().assign(age=lambda rows: np.clip(rows["score"] + 50, 0, 100))
    model.fit(frame, SCHEMA, target="score", protected="sex")
    assert np.corrcoef(model.predict(frame), frame["score"])[0, 1] > 0.9
    assert (np.abs(model.predict(frame)) <= 50).all()
    assert fitted("regressor of two").predict(people(7)).shape == (7, 2)


def test_rows_may_lack_what_is_no_input():
    model = fitted("parity")
    rows = people(20, seed=4)
    short = rows.drop(columns=["outcome", "sex"])
    assert np.array_equal(model.predict_proba(short), model.predict_proba(rows))
    with pytest.raises(ValueError, match="age"):
        model.predict(short.drop(columns="age"))


def test_values_that_a_model_does_not_see_as_they_are_are_warned_of():
    model = fitted("parity")
    rows = people(20, seed=4).astype({"age": float})
    rows.loc[:2, "age"], rows.loc[5, "age"] = 900.0, 17.5
    with pytest.warns(ChangedRowsWarning, match=r"age: 3 clamped to 100\.$") as caught:
        changed = model.predict_proba(rows)
    (said,) = caught
    assert said.filename == __file__
    assert said.message.counts == {"age": {"clamped to 100": 3}}
    assert np.array_equal(changed, model.predict_proba(rows.assign(age=rows["age"].clip(upper=100))))


def test_the_protected_column_is_an_input_where_it_is_asked_for():
    assert "sex = f" not in fitted("parity").features_.input_names
    used = FairClassifier(use_protected=True, **SHORT).fit(people(), SCHEMA, **PARITY)
    assert "sex = f" in used.features_.input_names


def test_the_same_seed_makes_the_same_model_and_none_makes_another():
    one, other = (fitted("parity").network_.parameters_vector() for _ in range(2))
    assert np.array_equal(one, other)
    private = [fitted("parity", seed=None) for _ in range(2)]
    assert all(model.receipt.private for model in private)
    assert not np.array_equal(*(model.network_.parameters_vector() for model in private))


def test_a_network_of_ones_own_is_vouched_for(tmp_path):
    network = nn.Sequential(nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 1))
    before = [value.clone() for value in network.parameters()]
    model = fitted("parity", network=network)
    assert all(torch.equal(one, other) for one, other in zip(before, network.parameters(), strict=True)), "copied"
    assert not model.receipt.document["charges"][0]["parameters"].get("vouched_for")
    with pytest.raises(ValueError, match="its code is yours"):
        model.save(tmp_path / "model")

    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.last = nn.Linear(5, 1)

        def forward(self, x):
            return self.last(torch.sin(x))

    brought = fitted("parity", network=Own()).receipt
    assert "Own" in brought.document["charges"][0]["parameters"]["vouched_for"][0]
    assert any("vouches" in warning for warning in brought.document["warnings"])
    assert brought.verify().holds


def test_the_cost_is_never_above_the_budget():
    for epsilon in (0.1, 1.0, 8.0):
        spent = fitted("parity", epsilon=epsilon).receipt.document["spent"]
        assert 0.999 * epsilon < spent["epsilon"] <= epsilon
        assert spent["delta"] == 1e-6


# Mistakes


def other_schema(*changed: Integer) -> Schema:
    named = {column.name: column for column in changed}
    return Schema(tuple(named.get(column.name, column) for column in SCHEMA.columns))


BATCH_NORM = nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
DROPOUT = nn.Sequential(nn.Linear(5, 3), nn.Dropout(0.5), nn.Linear(3, 1))


def not_a_number() -> nn.Module:
    network = nn.Linear(5, 1)
    nn.init.constant_(network.bias, math.nan)
    return network


def hidden_not_a_number() -> nn.Module:
    """A parameter that no output depends on."""
    network = nn.Sequential(nn.Linear(5, 1))
    network.register_parameter("odd", nn.Parameter(torch.tensor([math.nan])))
    return network


MISTAKES = {
    "no such target": ("dp-sgd", {}, {"target": "outcom"}, "Did you mean 'outcome'"),
    "target twice": ("parity", {}, {"target": "sex"}, "can't be protected too"),
    "no such group": ("parity", {}, {"protected": "seks"}, "`groups` must be synthesized columns"),
    "no group": ("parity", {}, {"protected": ()}, "`protected` must name the column"),
    "other penalty": ("parity", {"penalty": "parity"}, {}, "`penalty` must be one of"),
    "odds of a regressor": ("regressor", {"penalty": "equality_of_odds"}, {}, "Found no such target"),
    "another distance": ("parity", {"order": 1}, {}, "`order` must be 2: a record moves the gradient"),
    "unordered target": ("regressor", {}, {"target": "city"}, "ordered columns that are not protected"),
    "protected target": ("regressor", {}, {"target": ("score", "sex")}, "not protected, and numbers. Found 'sex'"),
    "alpha": ("parity", {"alpha": 1.5}, {}, "`alpha` must lie between 0 and 1"),
    "bound": ("parity", {"bound": 0.0}, {}, "`bound` must be"),
    "jacobian_norm": ("parity", {"jacobian_norm": -1.0}, {}, "`jacobian_norm` must be"),
    "clip_norm": ("dp-sgd", {"clip_norm": 0.0}, {}, "`clip_norm` must be"),
    "epsilon": ("dp-sgd", {"epsilon": -1.0}, {}, "`epsilon` must be positive"),
    "no delta": ("dp-sgd", {"delta": 0.0}, {}, "`delta` must be positive"),
    "iterations": ("dp-sgd", {"iterations": 0}, {}, "`iterations` must be"),
    "batch_share": ("dp-sgd", {"batch_share": 2.0}, {}, "`batch_share` must lie"),
    "optimizer": ("dp-sgd", {"optimizer": "lbfgs"}, {}, "`optimizer` must be"),
    "learning_rate": ("dp-sgd", {"learning_rate": math.nan}, {}, "`learning_rate` must be"),
    "activation": ("hidden layers", {"activation": "gelu"}, {}, "`activation` must be"),
    "code": ("encoder", {"code": 0}, {}, "`code` must be"),
    "network of an encoder": ("encoder", {"network": nn.Linear(5, 5)}, {}, "layers of its own"),
    "wrong outputs": ("parity", {"network": nn.Linear(5, 2)}, {}, "must have 1 output for these targets. Found 2"),
    "wrong inputs": ("parity", {"network": nn.Linear(4, 1)}, {}, "rows of length 5"),
    "batch normalization": ("parity", {"network": BATCH_NORM}, {}, "mixes a batch"),
    "dropout": ("parity", {"network": DROPOUT}, {}, "must not draw random numbers"),
    "not a number": ("parity", {"network": not_a_number()}, {}, "finite outputs on public rows"),
    "hidden not a number": ("parity", {"network": hidden_not_a_number()}, {}, "`vector` must be finite"),
    "numbers of numpy": (
        "parity",
        {"gradient_clip": np.float32(1.0)},
        {},
        "`gradient_clip` must be made of Python's own",
    ),
    "device object": ("parity", {"device": torch.device("cpu")}, {}, "`device` must be made of Python's own"),
    "clipping": ("parity", {"clipping": "rows"}, {}, "`clipping` must be"),
    "no projections": ("encoder", {"projections": 0}, {}, "`projections` must be a whole number"),
    "half a projection": ("encoder", {"projections": 2.5}, {}, "`projections` must be a whole number"),
    "a seed beyond PyTorch's": ("parity", {"init_seed": 2**64}, {}, "A seed must be from"),
    "groups too small": ("parity", {"batch_share": 0.01}, {}, "records? in a batch, of at least 5"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_cost_nothing(mistake, ledger, monkeypatch):
    kind, changes, roles, says = MISTAKES[mistake]
    monkeypatch.setattr(GroupedRecords, "draw", lambda *_: pytest.fail("a batch was drawn"))
    make, usual = MODELS[kind]
    if kind in ("hidden layers", "encoder"):
        make = {"hidden layers": FairClassifier, "encoder": FairEncoder}[kind]
        changes = {"hidden": (4,)} | changes
    with pytest.raises(ValueError, match=says):
        make(**(SHORT | changes)).fit(people(), SCHEMA, ledger=ledger, **(usual | roles))
    assert all(not record.charges for record in ledger.releases())
    assert ledger.reserved().epsilon == 0
    assert mistake == "groups too small" or not ledger.sizes_read()


@pytest.mark.parametrize("kind", ["dp-sgd", "parity"])
def test_one_class_is_refused(kind, ledger):
    make, roles = MODELS[kind]
    schema = other_schema(Integer("score", 5, 5))
    with pytest.raises(ValueError, match=r"A classifier needs two classes\. Column 'score' has one by its schema"):
        make(**SHORT).fit(people().assign(score=5), schema, ledger=ledger, **(roles | {"target": "score"}))
    assert not ledger.releases()


@pytest.mark.parametrize("frame", [people().iloc[:0], people().iloc[:0].astype(object)])
def test_an_empty_table_is_refused(frame, ledger):
    with pytest.raises(ValueError, match=r"must have rows to be learned from\. Found a table without any"):
        DPSGDClassifier(**SHORT).fit(frame, SCHEMA, target="outcome", ledger=ledger)
    with pytest.raises(ValueError, match=r"must have rows to be learned from\. Found a table without any"):
        FairClassifier(**SHORT).fit(frame, SCHEMA, ledger=ledger, **PARITY)
    assert not ledger.releases()


def test_a_table_with_one_group_is_refused(ledger):
    with pytest.raises(ValueError, match="records of one group alone: drop the penalty"):
        FairClassifier(**SHORT).fit(people().assign(sex="f"), SCHEMA, ledger=ledger, **PARITY)
    assert not ledger.releases()


def test_records_that_are_all_alike_are_trained_on_as_any_others():
    """Constant scores, and a single class in the table: nothing of it may show in a failure."""
    frame = people().assign(age=3, score=1, city="a", outcome="no")
    for kind in ("parity", "dp-sgd", "regressor", "encoder"):
        make, roles = MODELS[kind]
        model = make(**SHORT).fit(frame, SCHEMA, **roles)
        assert np.isfinite(said_of(model, people(5))).all()


def test_a_model_that_is_not_trained_says_so(tmp_path):
    for act in (lambda m: m.predict(people(3)), lambda m: m.save(tmp_path / "m"), lambda m: m.classes_):
        with pytest.raises(ValueError, match="is not trained yet"):
            act(FairClassifier())
    with pytest.raises(ValueError, match="is not trained yet"):
        FairEncoder().transform(people(3))


@pytest.mark.parametrize(
    ("made", "changed"),
    [
        (FairClassifier(alpha=0.3), {"alpha": 0.7, "iterations": 20}),
        (FairEncoder(seed=4), {"iterations": 3}),
        (DPSGDClassifier(epsilon=2.0), {"epsilon": 1.0}),
        (PATEClassifier(teachers=30), {"teachers": None, "queries": 20}),
        (SlicedWassersteinGenerator(), {"projections": 5}),
    ],
    ids=["classifier", "encoder", "dp-sgd", "pate", "generator"],
)
def test_parameters_can_be_copied_and_changed_as_scikit_learn_does(made, changed):
    copied = clone(made)
    assert type(copied) is type(made)
    before = copied.get_params()
    assert before == made.get_params()
    assert copied.set_params(**changed).get_params() == before | changed
    with pytest.raises(ValueError, match="no parameter 'beta'"):
        copied.set_params(beta=1, **made.get_params())
    assert copied.get_params() == before | changed


def test_what_the_constructor_refuses_changes_nothing():
    model = PATEClassifier(queries=20)
    with pytest.raises(ValueError, match="`queries` must be a whole number"):
        model.set_params(epsilon=9.0, queries=0)
    assert (model.epsilon, model.queries) == (1.0, 20)


def test_folders_that_were_changed_or_of_others_are_refused(tmp_path):
    fitted("parity").save(tmp_path / "model")
    with pytest.raises(ValueError, match="holds a fair-classifier"):
        FairRegressor.load(tmp_path / "model")
    with pytest.raises(ValueError, match="holds a fair-classifier"):  # its files are others than those of teachers
        PATEClassifier.load(tmp_path / "model")
    facts = json.loads((tmp_path / "model" / "model.json").read_text())
    facts["parameters"]["epsilon"] = 0.01
    (tmp_path / "model" / "model.json").write_text(json.dumps(facts))
    with pytest.raises(ValueError, match="model"):
        FairClassifier.load(tmp_path / "model")


# Stopped and continued


def test_a_stopped_model_goes_on_and_a_finished_one_is_kept(ledger, tmp_path, monkeypatch):
    path, facts = tmp_path / "state", SHORT | {"iterations": 40}
    original, taken = Training.step, [0]

    def counted(self, parameters, draws=None):
        taken[0] += 1
        if taken[0] == 15:
            raise KeyboardInterrupt
        return original(self, parameters, draws)

    monkeypatch.setattr(Training, "step", counted)
    with pytest.raises(KeyboardInterrupt):
        FairClassifier(**facts).fit(people(), SCHEMA, ledger=ledger, checkpoint=path, **PARITY)
    with pytest.raises(ValueError, match="other parameters"):
        FairClassifier(**(facts | {"alpha": 0.8})).fit(people(), SCHEMA, ledger=ledger, checkpoint=path, **PARITY)
    model = FairClassifier(**facts).fit(people(), SCHEMA, ledger=ledger, checkpoint=path, **PARITY)
    assert len(model.losses_) == 38, "a part of two steps is lost"
    assert len(ledger.releases()) == 1
    assert len(ledger.releases()[0].charges) == 20
    assert model.receipt.verify().holds
    again = FairClassifier(**facts).fit(people(), SCHEMA, ledger=ledger, checkpoint=path, **PARITY)
    assert len(ledger.releases()) == 1, "nothing is paid again"
    assert np.array_equal(again.network_.parameters_vector(), model.network_.parameters_vector())
    assert again.receipt.document == model.receipt.document
    with pytest.raises(ValueError, match="other parameters"):
        FairClassifier(**(facts | {"alpha": 0.8})).fit(people(), SCHEMA, ledger=ledger, checkpoint=path, **PARITY)


# The wall


ATOMS = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, BuiltinFunctionType, np.dtype)
FORBIDDEN = (Curator, Account, Ledger, Release, ExactRecords, MemoryEngine, GroupedRecords, Batch, Training)


def reachable(root: object) -> list[object]:
    """Everything that attributes, items, closures and the graphs of tensors lead to, private ones as well."""
    seen: set[int] = set()
    waiting, held = [root], []
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, ATOMS):
            continue
        seen.add(id(item))
        held.append(item)
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting += item
        elif isinstance(item, torch.Tensor):
            waiting += [item.grad if item.is_leaf else None, item.grad_fn, item._base]
        elif isinstance(item, np.ndarray):
            waiting.append(item.base)
        if isinstance(item, FunctionType):
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
        elif isinstance(item, MethodType):
            waiting += [item.__self__, item.__func__]
        else:
            waiting += getattr(item, "__dict__", {}).values()
            waiting += [getattr(item, slot, None) for slot in getattr(type(item), "__slots__", ())]
            waiting += [getattr(item, name) for name in dir(item) if name.startswith("_saved_")]
            waiting += [getattr(item, name, None) for name in ("next_functions", "variable")]
    return held


def of_records(item: object) -> bool:
    """Whether it has a number for each record of the table, or for each of a batch of half of it."""
    if not isinstance(item, (np.ndarray, torch.Tensor)) or not item.shape:
        return False
    return bool({ROWS, ROWS // 2} & {*item.shape, int(np.prod(item.shape))})


@pytest.mark.parametrize("kind", [kind for kind in MODELS if "three" not in kind])
def test_no_record_leaves_in_a_model(kind):
    held = reachable(fitted(kind))
    assert len(held) > 40
    assert not [item for item in held if isinstance(item, FORBIDDEN)]
    assert not [item for item in held if of_records(item)]


def test_networks_of_any_kind_keep_nothing_of_a_batch():
    """Those that PyTorch differentiates record what passes while they do."""

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(5, 5), nn.Linear(5, 1)

        def forward(self, x):
            return self.last(x + torch.tanh(self.first(x)))

    held = reachable(fitted("parity", network=Residual()))
    assert not [item for item in held if isinstance(item, FORBIDDEN) or of_records(item)]


def test_the_search_finds_what_is_hidden():
    with Curator(people(), SCHEMA, budget=Budget(1.0), relation="replace_one", seed=1) as curator:
        curator.group_sizes(fitted("dp-sgd").features_)
        held = reachable({"deep": [lambda: curator]})
    assert any(isinstance(item, GroupedRecords) for item in held)
    assert any(of_records(item) for item in held)
    rows = torch.zeros(ROWS, 2, requires_grad=True)
    assert any(of_records(item) for item in reachable({"loss": (rows * rows).sum()})), "along the graph of a tensor"


def callers() -> Iterator[tuple[str, str]]:
    frame = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent == SOURCE / "curator":
            yield path.name, frame.f_code.co_name
        frame = frame.f_back


DOORS = {("account.py", "train"), ("curator.py", "group_sizes"), ("curator.py", "__init__"), ("training.py", "step")}


@pytest.fixture
def tripwire(monkeypatch) -> list[tuple[str, str]]:
    """Every way to the records fails unless it leads through a door of training; the list says through which."""
    touched: list[tuple[str, str]] = []

    def guard(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def guarded(*args, **keywords):
            door = [caller for caller in callers() if caller in DOORS]
            assert door, f"{original.__qualname__} was called outside the curator's doors"
            touched.append(door[0])
            answer = original(*args, **keywords)
            return iter(list(answer)) if isinstance(answer, Iterator) else answer

        monkeypatch.setattr(owner, name, guarded)

    for owner, name in (
        *((MemoryEngine, "blocks"), (ExactRecords, "marginals"), (ExactRecords, "fold"), (ExactRecords, "grouped")),
        *((ExactRecords, "parts"), (GroupedRecords, "draw"), (GroupedRecords, "_batch")),
    ):
        guard(owner, name)
    return touched


@pytest.mark.parametrize("kind", ["dp-sgd", "parity", "regressor", "encoder"])
def test_records_are_touched_through_the_doors_of_training_alone(tripwire, kind):
    fitted(kind)
    assert set(tripwire) - {("curator.py", "__init__")} == DOORS - {("curator.py", "__init__")}
    assert tripwire.count(("training.py", "step")) == 2 * SHORT["iterations"], "one batch for each step"


def test_the_tripwire_trips(tripwire):
    with Curator(people(), SCHEMA, budget=Budget(1.0), relation="replace_one", seed=1) as curator:
        features = FairEncoder()._features(SCHEMA, None, ("sex",))
        with pytest.raises(AssertionError, match="outside the curator's doors"):
            curator._records.grouped(features)


# A generator


POINTS = np.random.default_rng(0).normal([0.3, 0.6], 0.1, (200, 2)).clip(0, 1)
GENERATOR = WassersteinGenerator(hidden=(4,), iterations=5, batch_share=0.3, projections=4)


def test_a_generator_protects_replaced_records_unless_told_otherwise(ledger):
    made = counterfoil.synthesize(
        POINTS, point_schema([0, 0], [1, 1]), epsilon=1.0, delta=1e-6, method=GENERATOR, seed=2, rows=50, ledger=ledger
    )
    document = made.receipt.document
    assert document["neighboring_relation"] == "replace_one"
    assert "public_groups" not in document
    assert made.receipt.verify().holds, made.receipt.verify().problems
    assert [charge["query"] for charge in document["charges"]] == ["generator_gradient"]
    assert document["charges"][0]["event"]["steps"] == 5
    assert 0.999 < document["spent"]["epsilon"] <= 1.0
    assert document["other_relation"]["holds"] is False
    table = made.to_arrow().to_pandas()
    assert len(table) == 50
    assert table.to_numpy().min() >= 0
    assert table.to_numpy().max() <= 1
    held = reachable(made)
    assert not [item for item in held if isinstance(item, FORBIDDEN)]
    assert not [item for item in held if isinstance(item, np.ndarray) and item.shape[:1] in ((200,), (60,))]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"relation": "add_or_remove_one"}, "use replace_one, with one row a person"),
        ({"relation": NeighboringRelation.REPLACE_ONE, "privacy_unit": PrivacyUnit("who", 2)}, "one row a person"),
    ],
)
def test_a_generator_refuses_other_neighbors(ledger, monkeypatch, options, says):
    monkeypatch.setattr(GroupedRecords, "__init__", lambda *_: pytest.fail("records were read"))
    frame = pd.DataFrame(POINTS, columns=["x0", "x1"])
    if "privacy_unit" in options:
        frame = frame.assign(who=np.arange(200) // 2)
    schema = point_schema([0, 0], [1, 1])
    facts = {"epsilon": 1.0, "delta": 1e-6, "method": GENERATOR, "seed": 2, "ledger": ledger}
    with pytest.raises(ValueError, match=says):
        counterfoil.synthesize(frame, schema, **facts, **options)
    assert not ledger.releases()


@pytest.mark.parametrize("count", [0, 2.5])
def test_a_generator_without_projections_costs_nothing(ledger, count):
    generator = WassersteinGenerator(hidden=(4,), iterations=5, projections=count)
    with pytest.raises(ValueError, match="`projections` must be a whole number"):
        counterfoil.synthesize(POINTS, point_schema([0, 0], [1, 1]), epsilon=1.0, method=generator, ledger=ledger)
    assert not ledger.releases()
    assert not ledger.sizes_read()


def test_points_of_a_generator_come_near_the_records():
    """Epsilon 1000: the means of both columns, from points that begin near the middle of the box."""
    generator = WassersteinGenerator(hidden=(8,), iterations=150, batch_share=0.5, learning_rate=0.02, projections=8)
    made = counterfoil.synthesize(
        POINTS, point_schema([0, 0], [1, 1]), epsilon=1000.0, delta=1e-6, method=generator, seed=2, rows=400
    )
    found = made.to_arrow().to_pandas().to_numpy()
    assert np.abs(found.mean(axis=0) - POINTS.mean(axis=0)).max() < 0.05
    assert (found.std(axis=0) / POINTS.std(axis=0)).min() > 0.3
