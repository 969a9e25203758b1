"""Functions that were bought are asked for by name, a user's own too, with intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil import inference
from counterfoil.reweighting import Share, Value
from counterfoil.schema import Categorical, Integer, Schema

SCHEMA = Schema((Categorical("job", ("cook", "nurse")), Integer("hours", 0, 80)))
N = 4000


def people():
    rng = np.random.default_rng(0)
    nurse = rng.random(N) < 0.3
    hours = np.clip(rng.poisson(np.where(nurse, 30, 40)), 0, 80)
    return pa.table({"job": np.where(nurse, "nurse", "cook"), "hours": hours})


@pytest.fixture(scope="module", params=["replace_one", "add_or_remove_one"])
def release(request):
    wished = [
        ("hours of nurses", lambda record: (record["job"] == "nurse") * record["hours"], 0, 60),
        Share.of_records(SCHEMA, "hours >= 40 and job == 'cook'", "full-time cooks"),
        Value("short hours", 0.0, 35.0, "hours"),
    ]
    return cf.synthesize(
        people(), SCHEMA, epsilon=2, delta=1e-9, relation=request.param, method=cf.Reweighting(queries=wished), seed=4
    )


def truths():
    table = people().to_pandas()
    nurse = table["job"] == "nurse"
    return {
        "hours of nurses": np.where(nurse, table["hours"].clip(upper=60), 0).mean(),
        "full-time cooks": (~nurse & (table["hours"] >= 40)).mean(),
        "short hours": table["hours"].clip(upper=35).mean(),
    }


@pytest.mark.parametrize("name", ["hours of nurses", "full-time cooks", "short hours"])
def test_what_was_bought_is_known_by_its_name(release, name):
    (found,) = (inference.proportion if name == "full-time cooks" else inference.mean)(release, name)
    truth = truths()[name]
    # Noise alone, at the level that fails with probability 1e-6: 2.5 times the half width of 95%.
    assert abs(found.estimate - truth) < 2.5 * found.noise
    assert found.lower < found.estimate < found.upper
    assert found.about == ("share of records with " if name == "full-time cooks" else "mean of ") + name
    assert found.measured


def test_a_share_is_known_by_its_condition_too(release):
    (by_name,) = inference.proportion(release, "full-time cooks")
    (by_event,) = inference.proportion(release, "hours >= 40 and job == 'cook'")
    assert by_event.estimate == by_name.estimate


def test_other_names_are_refused(release):
    with pytest.raises(ValueError, match="hours of nurse"):
        inference.mean(release, "hours of nurse")
