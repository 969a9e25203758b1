"""The limit on the size of AIM's model counts rules that bar nothing while rare values are merged."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterfoil import AIM, Budget, Curator, Schema

TOML = (
    "".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 1199\n' for name in ("first", "last"))
    + "".join(f'[columns.x{i}]\nkind = "integer"\nlower = 0\nupper = 59\n' for i in range(6))
    + '[[rules]]\nrequire = "first <= last"\n'
)


def test_a_rule_between_merged_columns_does_not_make_the_model_larger_than_its_limit():
    """Of 239 polls with two dates in order, a model took 2.4 GB in place of 80 MB, and the release never came."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 1000, 240)
    table = pd.DataFrame(
        {"first": first, "last": first + rng.integers(0, 9, 240)}
        | {f"x{i}": rng.integers(0, 60, 240) for i in range(6)}
    )
    for seed in range(3):
        with Curator(table, Schema.from_toml(TOML), budget=Budget(epsilon=1.0, delta=1e-9), seed=seed) as curator:
            model = AIM(max_model_size=2.0).synthesize(curator).model
        assert model.tree.cells * 8 / 1e6 <= 2.0


def test_pairs_of_a_focus_do_not_make_the_model_larger_than_its_limit_beside_rules():
    """A focus between two dates in order joins all three: of 60 values it took 4.8 MB in place of 2."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 90, 5000)
    table = pd.DataFrame({"first": first, "last": first + rng.integers(0, 9, 5000), "x": rng.integers(0, 60, 5000)})
    wide = "".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 99\n' for name in ("first", "last"))
    narrow = '[columns.x]\nkind = "integer"\nlower = 0\nupper = 59\n'
    schema = Schema.from_toml(f'{wide}{narrow}[[rules]]\nrequire = "first <= last"\n')
    with Curator(table, schema, budget=Budget(epsilon=1.0, delta=1e-9), seed=0) as curator:
        synthesis = AIM(max_model_size=2.0, focus="x").synthesize(curator)
    assert synthesis.model.tree.cells * 8 / 1e6 <= 2.0


def test_relations_beside_rules_that_need_most_of_the_model_are_measured_first_and_the_receipt_names_the_rules():
    """Of flights whose rules needed 71 of 80 MB the columns of the rules were measured thrice, and others never."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 95, 20_000)
    table = pd.DataFrame(
        {"first": first, "last": np.minimum(first + rng.integers(0, 5, 20_000), 99)}
        | {f"x{i}": rng.integers(0, 5, 20_000) for i in range(6)}
    )
    table["x1"] = table["x0"]
    columns = "".join(
        f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = {99 if name in ("first", "last") else 4}\n'
        for name in table
    )
    schema = Schema.from_toml(f'{columns}[[rules]]\nrequire = "first <= last"\n')
    with Curator(table, schema, budget=Budget(epsilon=1.0, delta=1e-9), seed=0) as curator:
        synthesis = AIM(max_model_size=0.082, rounds=2, focus="x5").synthesize(curator)
    said = " ".join(synthesis.receipt.text().split())
    assert "The rules, with the pairs of the focus, need 0.081 of the 0.082 megabytes that the model may have" in said
    assert "as by `bins` of first (100 values)" in said
    copy = synthesis.to_pandas()
    assert copy["x0"].corr(copy["x1"]) > 0.9


def test_the_receipt_names_pairs_that_do_not_fit_beside_the_focus():
    """Of flights with their delay as the focus the air time said nothing of the distance any more, without a word."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.integers(0, 40, 2000) for name in ("x", "y", "z")})
    columns = "".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 39\n' for name in table)
    said = {}
    for focus in (None, "x"):
        with Curator(table, Schema.from_toml(columns), budget=Budget(epsilon=1.0, delta=1e-9), seed=0) as curator:
            text = AIM(max_model_size=0.1, focus=focus).synthesize(curator).receipt.text()
        said[focus] = " ".join(text.split())
    sentence = "1 of 3 pairs of columns, such as y with z, do not fit beside the pairs of the focus within"
    assert sentence in said["x"]
    assert "`max_model_size`" not in said[None]
