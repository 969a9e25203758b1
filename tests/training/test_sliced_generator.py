"""A generator that moves one sample onto another: whichever of them is protected, what it learns, leaves and refuses.

All noise comes from seeds, so that every outcome is the same each time.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")

from counterfoil.accounting.budget import Budget  # noqa: E402
from counterfoil.curator.batches import GroupedRecords  # noqa: E402
from counterfoil.ledger.ledger import Ledger, SourceIdentity  # noqa: E402
from counterfoil.schema.categorical import Categorical  # noqa: E402
from counterfoil.schema.integer import Integer  # noqa: E402
from counterfoil.schema.real import Real  # noqa: E402
from counterfoil.schema.schema import Schema  # noqa: E402
from counterfoil.training import SlicedWassersteinGenerator  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

NUMBERS = (Real("dose", 0, 10), Integer("score", -50, 50))
ONE, TWO = Schema(NUMBERS), Schema((*NUMBERS, Categorical("clinic", ("new", "old", "third"))))
SIDES = ("clinic", "old", "new")
SHORT = {"iterations": 5, "batch_share": 0.3, "hidden": (4,), "projections": 4, "seed": 3}


@pytest.fixture
def ledger():
    with Ledger.in_memory(SourceIdentity("memory", "memory"), Budget(2000.0, 1e-5)) as opened:
        yield opened


def sample(dose: float, score: float, rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "dose": np.clip(rng.normal(dose, 0.5, rows), 0, 10),
            "score": np.clip(np.rint(rng.normal(score, 5, rows)), -50, 50).astype(int),
        }
    )


X, Z = sample(3, -20), sample(7, 25, seed=1)
BOTH = pd.concat([X.assign(clinic="old"), Z.assign(clinic="new")], ignore_index=True)
MADE: dict[str, tuple[pd.DataFrame, Schema, dict[str, Any], dict[str, Any]]] = {
    "Z": (Z, ONE, {}, {"public": X}),
    "X": (X, ONE, {}, {"public": Z}),
    "both": (BOTH, TWO, {"sides": SIDES}, {}),
}


def fitted(protects: str, source: Any = None, /, **changes: Any) -> SlicedWassersteinGenerator:
    table, schema, options, wishes = MADE[protects]
    wishes = wishes | {name: changes.pop(name) for name in ("ledger", "public", "checkpoint") if name in changes}
    model = SlicedWassersteinGenerator(**(SHORT | options | {"protects": protects} | changes))
    return model.fit(table if source is None else source, schema, **wishes)


@pytest.mark.parametrize("protects", MADE)
def test_what_is_moved_comes_to_where_it_should(protects):
    facts = {"epsilon": 500.0, "iterations": 100, "batch_share": 0.5, "learning_rate": 0.02, "projections": 8}
    moved = fitted(protects, hidden=(8,), **facts).transform(sample(3, -20, seed=5))
    assert moved.mean(axis=0) == pytest.approx([7, 25], abs=2)
    # Points of X that are told apart stay so: g is a map, no draw.
    assert np.array_equal(moved, moved.clip([0, -50], [10, 50]))
    still = fitted(protects, hidden=(8,), iterations=1, learning_rate=1e-9).transform(sample(3, -20, seed=5))
    assert abs(still.mean(axis=0) - [7, 25])[1] > 8


@pytest.mark.parametrize("protects", MADE)
def test_a_generator_goes_through_its_folder(protects, tmp_path, ledger):
    model = fitted(protects, ledger=ledger)
    checked = model.receipt.verify()
    assert checked.holds, checked.problems
    (record,) = ledger.releases()
    assert [charge["event"]["steps"] for charge in record.charges] == [5]
    document = model.receipt.document
    assert document.get("public_groups", []) == (["clinic"] if protects == "both" else [])
    assert document["method"]["parameters"]["protects"] == protects
    model.save(tmp_path / "model")
    again = SlicedWassersteinGenerator.load(tmp_path / "model")
    rows = sample(3, 0, 20, seed=9)
    assert np.array_equal(again.transform(rows), model.transform(rows))
    assert again.transformed_names == ["dose", "score"]
    assert again.protects == protects
    kept = "".join(path.read_text(errors="replace") for path in (tmp_path / "model").iterdir())
    assert "_public" not in kept


def test_noise_is_for_the_side_that_is_protected():
    """With as many records and as much noise, a record of X has twice the part of one of Z."""
    told = {}
    for protects in MADE:
        (charge,) = fitted(protects).receipt.document["charges"]
        told[protects] = charge["parameters"]
    assert "protects" not in told["Z"]
    assert told["X"]["protects"] == "X"
    assert (told["both"]["protects"], told["both"]["sides"]) == ("both", [1, 0])
    assert told["both"]["batch_sizes"] == [120, 120, 0]
    assert told["X"]["batch_sizes"] == told["Z"]["batch_sizes"] == [120]
    changes = {}
    for protects, (table, schema, options, _) in MADE.items():
        model = SlicedWassersteinGenerator(protects=protects, **(SHORT | options))
        features = model._features(schema, None, ())
        sizes = (400, 400, 0) if protects == "both" else (len(table),)
        batches = tuple(round(0.3 * size) for size in sizes)
        changes[protects] = model._query(model._network(features), features, sizes, batches).gradient_change
    bound, norm = math.sqrt(2), 2.0
    assert changes == pytest.approx(
        {"Z": 4 * bound * norm / 120, "X": 8 * bound * norm / 120, "both": 8 * bound * norm / 120}, rel=1e-15
    )


def test_rows_of_neither_side_are_not_read():
    model = fitted("both")
    third = X.assign(clinic="third")
    others = [pd.concat([BOTH, rows], ignore_index=True) for rows in (third, third.assign(dose=9.0, score=-50))]
    found = [fitted("both", source).network_.parameters_vector() for source in others]
    assert np.array_equal(*found)
    assert model.receipt.document["charges"][0]["parameters"]["group_sizes"] == [400, 400, 0]


MISTAKES: dict[str, tuple[str, dict[str, Any], str]] = {
    "no such side": ("Z", {"protects": "Y"}, '`protects` must be "Z", "X" or "both". Found \'Y\''),
    "no public rows of X": ("Z", {"public": None}, "need no protection. Found none with 'Z': give them."),
    "no public rows of Z": ("X", {"public": None}, "need no protection. Found none with 'X': give them."),
    "public rows beside both": ("both", {"public": X}, 'Found some with "both": leave them out.'),
    "no rows": ("Z", {"public": X.iloc[:0]}, "`public` must have rows"),
    "the records as public rows": ("X", {"public": X}, "Found the sensitive table itself"),
    "sides of one": ("X", {"sides": SIDES}, "Found it with 'X'."),
    "no sides": ("both", {"sides": None}, "Found none: name a column and its labels of X and of Z."),
    "one label": ("both", {"sides": ("clinic", "old")}, "a column and two labels"),
    "one label twice": ("both", {"sides": ("clinic", "old", "old")}, "a column and two labels"),
    "a label with a typo": ("both", {"sides": ("clinic", "old", "neu")}, "Found 'neu'. Did you mean 'new'?"),
    "a column with a typo": ("both", {"sides": ("clinik", "old", "new")}, "Did you mean 'clinic'?"),
    "a side without records": ("both", {"sides": ("clinic", "old", "third")}, "two groups that have records"),
    "no bound": ("Z", {"bound": 0.0}, "`bound` must be from 1e-29"),
    "a bound beyond floats": ("Z", {"bound": 1e300}, "`bound` must be from 1e-29 to 1e29"),
    "a norm that is no number": ("Z", {"jacobian_norm": math.nan}, "`jacobian_norm` must be from 1e-29"),
    "a clipping that is none": ("Z", {"clipping": "rows"}, "`clipping` must be"),
    "no projections": ("Z", {"projections": 0}, "`projections` must be a whole number"),
    "projections beyond memory": (
        "Z",
        {"projections": 10**12},
        "`projections` must be a whole number from 1 to 100,000",
    ),
    "another network": ("Z", {"network": torch.nn.Linear(2, 3)}, "2 outputs"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_cost_nothing(mistake, ledger, monkeypatch):
    protects, changes, says = MISTAKES[mistake]
    monkeypatch.setattr(GroupedRecords, "draw", lambda *_: pytest.fail("a batch was drawn"))
    with pytest.raises(ValueError) as error:
        fitted(protects, ledger=ledger, **changes)
    assert says in str(error.value)
    assert all(not record.charges for record in ledger.releases())
    assert mistake == "a side without records" or not ledger.sizes_read()


def test_columns_that_are_no_numbers_are_refused(ledger):
    with pytest.raises(ValueError, match="Column 'clinic' must be a number that is never missing"):
        SlicedWassersteinGenerator(**SHORT).fit(BOTH, TWO, public=BOTH.copy(), ledger=ledger)
    missing = Schema((Real("dose", 0, 10, missing=True), NUMBERS[1]))
    with pytest.raises(ValueError, match="Column 'dose' must be a number that is never missing"):
        SlicedWassersteinGenerator(**SHORT).fit(Z, missing, public=X, ledger=ledger)
    with pytest.raises(TypeError, match="clip_norm"):
        SlicedWassersteinGenerator(clip_norm=2.0)
    assert not ledger.releases()


def test_a_run_is_not_continued_with_other_public_rows(tmp_path, ledger):
    fitted("X", ledger=ledger, checkpoint=tmp_path / "run.npz")
    charged = [len(record.charges) for record in ledger.releases()]
    again = fitted("X", ledger=ledger, checkpoint=tmp_path / "run.npz")  # taken from the checkpoint, which is finished
    assert again.receipt.verify().holds
    with pytest.raises(ValueError, match="checkpoint"):
        fitted("X", ledger=ledger, checkpoint=tmp_path / "run.npz", public=sample(5, 5))
    assert [len(record.charges) for record in ledger.releases()] == charged


def test_a_folder_whose_side_was_changed_is_refused(tmp_path: Path):
    fitted("X").save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    facts = json.loads(path.read_text())
    facts["parameters"]["protects"] = "both"
    path.write_text(json.dumps(facts))
    with pytest.raises(ValueError, match="model"):
        SlicedWassersteinGenerator.load(tmp_path / "model")
