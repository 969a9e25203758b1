"""Training in Python says, as the command does, where rows have an identifier and each is protected by itself."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from counterfoil.schema import Boolean, Identifier, Integer, Schema
from counterfoil.schema.unit_advice import RowProtectionWarning
from counterfoil.training import DPSGDClassifier, PATEClassifier

SCHEMA = Schema((Identifier("patient", "drop"), Integer("age", 0, 99), Boolean("sick")))


def stays(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    return pd.DataFrame({"patient": np.arange(rows) // 3, "age": age, "sick": age > 50})


def test_a_model_that_protects_no_persons_says_so() -> None:
    pytest.importorskip("torch", reason="training needs torch")
    model = DPSGDClassifier(epsilon=5.0, iterations=3, batch_share=1.0, seed=1)
    with pytest.warns(
        RowProtectionWarning, match=r"kind of model can't protect all of them: .*, or use PATE\."
    ) as said:
        model.fit(stays(300, 1), SCHEMA, target="sick")
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowProtectionWarning)
        model.fit(stays(300, 1).drop(columns="patient"), Schema(SCHEMA.columns[1:]), target="sick")


def test_votes_protect_persons_where_they_are_asked_to() -> None:
    pytest.importorskip("sklearn", reason="PATE needs scikit-learn")
    model, public = PATEClassifier(epsilon=100.0, delta=1e-6, teachers=40, queries=20, seed=1), stays(60, 2)
    with pytest.warns(RowProtectionWarning, match=r"privacy_unit=\('patient', K\)"):
        model.fit(stays(600, 1), SCHEMA, target="sick", public=public)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowProtectionWarning)
        model.fit(stays(600, 1), SCHEMA, target="sick", public=public, privacy_unit=("patient", 3))
