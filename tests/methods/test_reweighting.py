"""Reweighting: every reference and family, the accuracy that the answers allow, and what is refused."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.domain.workload import Workload
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.reweighting import (
    BernsteinDensity,
    Functions,
    PerturbedHistogram,
    Product,
    Share,
    Tree,
    Uniform,
    Value,
)
from counterfoil.schema import Boolean, Categorical, Integer, Real, Rule, Schema

N = 3000
SCHEMA = Schema(
    (
        Categorical("job", ("cook", "nurse", "smith")),
        Integer("age", 0, 9),
        Real("pay", 0.0, 10.0, bins=5),
        Boolean("rich"),
    )
)
SQUARE = Schema((Real("x", 0.0, 1.0, bins=8), Real("y", 0.0, 1.0, bins=8)))


def people(n=N, seed=0):
    rng = np.random.default_rng(seed)
    job, pay = rng.choice(3, n, p=[0.6, 0.3, 0.1]), rng.beta(2, 3, n) * 10
    rich = rng.random(n) < np.where(pay > 5, 0.8, 0.1)
    age = np.clip(np.rint(pay + rng.normal(0, 1.5, n)), 0, 9).astype(int)
    return pa.table({"job": np.array(["cook", "nurse", "smith"])[job], "age": age, "pay": pay, "rich": rich})


def points(n=N, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.beta(2, 5, n)
    return pa.table({"x": x, "y": np.clip(x + rng.normal(0, 0.1, n), 0, 1)})


def synthesize(method, table=None, schema=SCHEMA, *, epsilon=20.0, delta=1e-6, relation="replace_one", seed=1, **more):
    table = people() if table is None else table
    return cf.synthesize(
        table, schema, epsilon=epsilon, delta=delta, relation=relation, method=method, seed=seed, **more
    )


def pair_error(synthesis, table, schema=SCHEMA):
    """The mean L1 distance of the shares in all pairs."""
    real = {column.name: column.encode(table.column(column.name)) for column in schema.synthesized}
    errors = []
    for clique in itertools.combinations(schema.domain.attributes, 2):
        shape = schema.domain.shape(clique)
        cells = np.ravel_multi_index([real[name].astype(int) for name in clique], shape)
        counts = np.bincount(cells, minlength=np.prod(shape)).reshape(shape)
        model = synthesis.marginal(clique).counts
        errors.append(np.abs(counts / counts.sum() - model / model.sum()).sum())
    return float(np.mean(errors))


@pytest.mark.parametrize("relation", [one.value for one in NeighboringRelation])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("reference", ["product", "uniform", "histogram", PerturbedHistogram(threshold=0.0)])
def test_each_reference_of_codes_gives_what_was_measured(reference, delta, relation):
    made = synthesize(cf.Reweighting(reference=reference, support=5000), delta=delta, relation=relation)
    assert made.receipt.verify().holds
    assert pair_error(made, people()) < 0.12
    assert abs(made.rows - N) <= (0 if relation == "replace_one" else 60)
    kinds = {charge["noise"]["kind"] for charge in made.receipt.document["charges"]}
    assert kinds == {"discrete_laplace" if delta == 0 else "discrete_gaussian"}


@pytest.mark.parametrize("relation", [one.value for one in NeighboringRelation])
@pytest.mark.parametrize("reference", ["uniform", "histogram", "bernstein", "tree", None])
def test_each_reference_of_points_gives_moments(reference, relation):
    made = synthesize(cf.Reweighting(reference=reference), points(), SQUARE, relation=relation)
    assert isinstance(made, cf.PointSynthesis)
    assert made.receipt.verify().holds
    real, found = points(), made.points
    for power in itertools.product((0, 1, 2), repeat=2):
        if 0 < sum(power) <= 2:
            value = (real["x"].to_numpy() ** power[0] * real["y"].to_numpy() ** power[1]).mean()
            drawn = made.weights @ (found[:, 0] ** power[0] * found[:, 1] ** power[1])
            assert drawn == pytest.approx(value, abs=0.01)
    assert abs(made.rows - N) <= (0 if relation == "replace_one" else 200)


def test_weights_improve_on_the_reference():
    """At epsilon 1: a third of the error of independent columns."""
    alone = np.mean([pair_error(synthesize(cf.Independent(), epsilon=1.0, seed=s), people()) for s in range(3)])
    fitted = np.mean([pair_error(synthesize(cf.Reweighting(), epsilon=1.0, seed=s), people()) for s in range(3)])
    assert fitted < 0.5 * alone, (fitted, alone)


def test_the_largest_error_is_smaller_under_the_program():
    found = {}
    for fit in ("likelihood", "minimax"):
        made = synthesize(cf.Reweighting(fit=fit, support=2000, reference="uniform"), epsilon=1.0)
        answers = made.receipt.document["answers"]["marginals"]
        errors = []
        for entry in answers:
            noisy = np.array(entry["values"].split(), dtype=float) / N
            model = made.marginal(entry["attributes"]).counts.ravel()
            errors.append(np.abs(noisy - model / model.sum()).max())
        found[fit] = max(errors)
        parameters = made.receipt.document["method"]["parameters"]
        assert parameters["fit"] == fit
    assert found["minimax"] == pytest.approx(parameters["largest_error"], rel=1e-6)
    assert parameters["at_least"] <= found["minimax"] <= 1.002 * parameters["at_least"]
    assert parameters["at_least"] <= found["likelihood"]


def test_no_vertex_is_released():
    """As many points as there are binding constraints would be a vertex; the fit keeps most of the support."""
    made = synthesize(cf.Reweighting(fit="minimax", support=2000), epsilon=1.0)
    parameters = made.receipt.document["method"]["parameters"]
    assert parameters["effective_points"] > 0.2 * parameters["points"]
    assert 0 < parameters["at_least"] <= parameters["largest_error"]


def test_functions_of_your_own_are_met_and_named():
    wished = [("paid nurses", lambda record: (record["job"] == "nurse") * record["pay"], 0, 10)]
    made = synthesize(cf.Reweighting(queries=wished))
    table = people().to_pandas()
    expected = np.where(table["job"] == "nurse", table["pay"], 0.0).mean()
    found = np.where(made.to_pandas()["job"] == "nurse", made.to_pandas()["pay"], 0.0).mean()
    assert found == pytest.approx(expected, abs=0.06)
    assert any("lambda" in warning and "vouches" in warning for warning in made.receipt.document["warnings"])


def test_marginals_that_no_fit_could_hold_are_refused_without_a_list_of_them(monkeypatch):
    wide = Schema.from_toml("".join(f'[columns.c{i}]\nkind = "boolean"\n' for i in range(300)))
    table = pa.table({f"c{i}": [True, False] * 20 for i in range(300)})
    monkeypatch.setattr(Workload, "of_order", lambda *given: pytest.fail("millions of marginals"))
    with pytest.raises(ValueError, match=r"4,455,100 marginals .*: lower `support` to 17, or name fewer marginals"):
        cf.synthesize(table, wide, epsilon=1.0, method=cf.Reweighting(queries="marginals:3"))


def test_a_function_that_leaves_its_range_is_clamped_and_nothing_is_said():
    wild = [("wild", lambda record: record["pay"] * 1e6, 0.0, 1.0)]
    made = synthesize(cf.Reweighting(queries=wild), check_schema=0)
    (vouched,) = (sentence for sentence in made.receipt.document["warnings"] if "vouches for" in sentence)
    assert "wild" in vouched or "lambda" in vouched
    assert made.receipt.document["charges"][-1]["sensitivity"] == 2**20


def test_a_function_that_looks_at_other_records_is_refused_before_anything_is_charged():
    ranks = [("rank", lambda record: np.argsort(np.argsort(record["pay"])) / 1e4, 0.0, 1.0)]
    with pytest.raises(ValueError, match="read each record by itself"):
        synthesize(cf.Reweighting(queries=ranks, reference="uniform"))


def test_shares_and_values_from_python_and_from_a_file(tmp_path):
    path = tmp_path / "f.toml"
    path.write_text("[[functions]]\nwhere = \"rich and job == 'nurse'\"\n[[functions]]\ncolumn = 'age'\n")
    family = Functions(SCHEMA, (Share.of_records(SCHEMA, "rich and job == 'nurse'"), Value("age", 0, 9, "age")), False)
    for queries in (str(path), family):
        frame = synthesize(cf.Reweighting(queries=queries)).to_pandas()
        table = people().to_pandas()
        assert (frame["rich"] & (frame["job"] == "nurse")).mean() == pytest.approx(
            (table["rich"] & (table["job"] == "nurse")).mean(), abs=0.02
        )
        assert frame["age"].mean() == pytest.approx(table["age"].mean(), abs=0.1)


def test_rules_are_followed():
    rules = (Rule("not rich", "job == 'smith'"), Rule("age + pay < 18"), Rule("age >= 1", "rich"))
    schema = Schema(SCHEMA.columns, rules)
    made = synthesize(cf.Reweighting(), people(), schema).to_pandas()
    assert not (made["rich"] & (made["job"] == "smith")).any()
    assert (made["age"] + made["pay"] < 18).all()


def test_rows_repeat_as_weights_say_and_independent_ones_do_not():
    """Systematic draws of a support of 500 keep weights to one row each; independent ones are off by more."""

    def largest_gap(independent):
        made = synthesize(cf.Reweighting(support=500, refinements=0, independent_rows=independent))
        rows = {}
        for row in np.column_stack(list(made.codes.values())):
            rows[tuple(row)] = rows.get(tuple(row), 0) + 1
        expected = made.model.weights * made.rows
        return max(abs(rows.get(tuple(c), 0) - e) for c, e in zip(made.model.codes, expected, strict=True))

    assert largest_gap(False) < 1 <= largest_gap(True)


def test_a_saved_release_is_the_same(tmp_path):
    made = synthesize(cf.Reweighting())
    made.save(tmp_path / "saved")
    loaded = cf.Synthesis.load(tmp_path / "saved")
    assert np.array_equal(loaded.model.weights, made.model.weights)
    assert loaded.error_bar(("age", "rich")) == made.error_bar(("age", "rich"))
    nurses = loaded.sample(50, where={"job": "nurse"}, seed=3)
    assert set(nurses["job"].to_pylist()) == {"nurse"}


def test_error_bars_hold():
    """Each of 6 pairs in 20 releases: with probability 1e-6, 18 or more of 120 bars of 95% fail at once."""
    failures = 0
    for seed in range(20):
        made = synthesize(cf.Reweighting(support=3000), epsilon=1.0, seed=seed)
        for clique in itertools.combinations(SCHEMA.domain.attributes, 2):
            real = {name: SCHEMA[name].encode(people().column(name)).astype(int) for name in clique}
            shape = SCHEMA.domain.shape(clique)
            counts = np.bincount(np.ravel_multi_index(list(real.values()), shape), minlength=np.prod(shape))
            failures += np.abs(counts.reshape(shape) - made.marginal(clique)).sum() > made.error_bar(clique).records
    assert failures < 18


class TestRareValues:
    """Of 40 cities most are rare; rent depends on the city in three steps."""

    SCHEMA = Schema(
        (Categorical("city", tuple(f"c{i:02}" for i in range(40))), Integer("rent", 0, 4), Boolean("owner"))
    )

    def table(self, n=4000):
        rng = np.random.default_rng(5)
        city = np.minimum(rng.geometric(0.15, n) - 1, 39)
        rent = np.clip(rng.poisson(np.where(city < 2, 3.0, np.where(city < 5, 1.5, 0.5))), 0, 4)
        names = np.array([f"c{i:02}" for i in range(40)])[city]
        return pa.table({"city": names, "rent": rent, "owner": rng.random(n) < 0.2 + 0.15 * rent})

    def made(self, method, seed=0, **more):
        return synthesize(method, self.table(), self.SCHEMA, epsilon=1.0, seed=seed, **more)

    def test_they_are_counted_together_in_pairs_and_come_back_as_columns_have_them(self):
        made = self.made(cf.Reweighting(), rows=4000)
        pairs = [entry for entry in made.receipt.document["answers"]["marginals"] if len(entry["attributes"]) == 2]
        groups = [int(code) for code in pairs[0]["groups"]["city"].split()]
        assert len(pairs) == 3
        assert len(groups) == 40
        assert 3 < max(groups) + 1 < 40
        assert made.receipt.verify().holds
        real = np.bincount([int(name[1:]) for name in self.table()["city"].to_pylist()], minlength=40)
        found = made.marginal(("city",)).counts
        frequent = real > 200
        assert np.abs(found - real)[frequent].max() < 100
        # Within the group of rare values the noisy columns decide: the rarest twenty hold about 40 of 4,000 records.
        assert found[20:].sum() < 250
        parameters = made.receipt.document["method"]["parameters"]
        assert parameters["rare_values"] == "counted together"
        assert "city" in str(parameters["binding"])

    def test_a_pair_that_is_large_before_its_values_are_merged_is_bought(self):
        """200 x 64 cells; the correlation is .97."""
        rng = np.random.default_rng(1)
        schema = Schema((Integer("a", 0, 199), Real("r", 0.0, 1.0, bins=64), Boolean("b")))
        a = rng.integers(0, 200, 8000)
        table = pa.table({"a": a, "r": np.clip(a / 200 + rng.normal(0, 0.07, 8000), 0, 1), "b": a % 2 == 0})
        made = synthesize(cf.Reweighting(), table, schema, epsilon=4.0)
        frame = made.to_pandas()
        assert np.corrcoef(frame["a"], frame["r"])[0, 1] > 0.85
        assert not any("not bought" in warning for warning in made.receipt.document["warnings"])
        kept = synthesize(cf.Reweighting(keep_rare=True), table, schema, epsilon=4.0)
        assert any("not bought" in warning and "a x r" in warning for warning in kept.receipt.document["warnings"])
        assert kept.receipt.verify().holds

    def test_pairs_that_stay_large_are_named(self):
        """120 x 120 values, all of them frequent at epsilon 500."""
        values = tuple(f"v{i}" for i in range(120))
        schema = Schema((Categorical("a", values), Categorical("b", values), Boolean("c")))
        rng = np.random.default_rng(2)
        names = np.array(values)
        table = pa.table(
            {
                "a": names[rng.integers(0, 120, 9000)],
                "b": names[rng.integers(0, 120, 9000)],
                "c": rng.random(9000) < 0.5,
            }
        )
        made = synthesize(cf.Reweighting(), table, schema, epsilon=500.0)
        (said,) = (warning for warning in made.receipt.document["warnings"] if "not bought" in warning)
        assert "a x b." in said
        assert made.receipt.document["method"]["parameters"]["queries"]["cliques"] == [["a", "c"], ["b", "c"]]

    def test_the_number_of_records_is_foreseen_from_columns_and_pairs(self):
        schema = Schema(tuple(Boolean(f"b{i}") for i in range(9)))
        table = pa.table({f"b{i}": np.arange(100) % 2 == 0 for i in range(9)})
        synthesize(cf.Reweighting(support=100), table, schema, epsilon=5.6e-3, delta=1e-9, relation="add_or_remove_one")

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"keep_rare": "no"}, "True, False or None"),
            ({"keep_rare": 0}, "True, False or None"),
            ({"keep_rare": True, "queries": "moments:2"}, "leave it out"),
            ({"keep_rare": False, "reference": "uniform"}, "`uniform` and marginals"),
        ],
    )
    def test_it_is_refused_where_it_says_nothing(self, more, words):
        with pytest.raises(ValueError, match=words):
            self.made(cf.Reweighting(**more))

    def test_what_the_noise_of_columns_hides_is_said(self):
        """Of 60 records at epsilon .2."""
        schema = Schema((Integer("rent", 0, 99), Boolean("owner")))
        table = pa.table({"rent": np.arange(60), "owner": np.arange(60) % 3 == 0})
        made = synthesize(cf.Reweighting(), table, schema, epsilon=0.2)
        assert any("noise" in warning for warning in made.receipt.document["warnings"])

    def test_errors_are_smaller_than_with_each_value_in_a_cell_of_its_own(self):
        """Of eight columns of 20 values, of which most are rare, with one hidden cause."""
        rng, n = np.random.default_rng(6), 3000
        cause = rng.random(n)
        names = [f"v{i:02}" for i in range(20)]
        codes = {f"x{i}": np.minimum(rng.geometric(0.2 + 0.5 * cause) - 1, 19) for i in range(8)}
        table = pa.table({name: np.array(names)[of] for name, of in codes.items()})
        schema = Schema(tuple(Categorical(name, tuple(names)) for name in codes))
        errors = {
            keep: pair_error(synthesize(cf.Reweighting(keep_rare=keep), table, schema, epsilon=1.0), table, schema)
            for keep in (False, True)
        }
        assert errors[False] < 0.9 * errors[True], errors

    @pytest.mark.parametrize("named", [False, True])
    def test_every_cell_is_bought_where_rare_values_are_kept_or_marginals_are_named(self, named):
        pairs = dict.fromkeys(itertools.combinations(self.SCHEMA.domain.attributes, 2), 1.0)
        made = self.made(cf.Reweighting(queries=cf.Workload(pairs)) if named else cf.Reweighting(keep_rare=True))
        answers = made.receipt.document["answers"]["marginals"]
        assert not any("groups" in entry for entry in answers)
        assert {len(entry["values"].split()) for entry in answers} == {40, 5, 2, 200, 80, 10}

    @pytest.mark.parametrize("relation", [one.value for one in NeighboringRelation])
    @pytest.mark.parametrize("delta", [0.0, 1e-6])
    def test_each_relation_and_noise(self, delta, relation):
        made = self.made(cf.Reweighting(support=3000), delta=delta, relation=relation)
        assert made.receipt.verify().holds
        assert abs(made.rows - 4000) <= (0 if relation == "replace_one" else 400)

    def test_error_bars_hold(self):
        """Of 3 pairs in 20 releases; with probability 1e-6, 12 or more of 60 bars of 95% fail at once."""
        failures, real = 0, self.table()
        for seed in range(20):
            made = self.made(cf.Reweighting(support=2000), seed)
            for clique in itertools.combinations(self.SCHEMA.domain.attributes, 2):
                shape = self.SCHEMA.domain.shape(clique)
                codes = [self.SCHEMA[name].encode(real.column(name)).astype(int) for name in clique]
                counts = np.bincount(np.ravel_multi_index(codes, shape), minlength=np.prod(shape)).reshape(shape)
                failures += np.abs(counts - made.marginal(clique).counts).sum() > made.error_bar(clique).records
        assert failures < 12


def test_fidelity_and_certificates_of_codes():
    made = synthesize(cf.Reweighting(), fidelity=cf.Fidelity(0.1, "rich"))
    assert made.receipt.verify().holds
    assert made.receipt.document["certificates"]


class TestAnotherRelease:
    def method(self, reference):
        return cf.Reweighting(reference=reference, support=3000)

    def test_a_model(self):
        prior = cf.synthesize(people(), SCHEMA, epsilon=5, method=cf.MST())
        made = synthesize(self.method(prior), seed=None)
        assert made.receipt.verify().holds
        assert any(
            "rests on another release, which cost epsilon 5" in warning for warning in made.receipt.document["warnings"]
        )
        assert made.receipt.document["method"]["parameters"]["release"]["budget"]["epsilon"] == 5
        assert pair_error(made, people()) < 0.1

    def test_saved(self, tmp_path):
        cf.synthesize(people(), SCHEMA, epsilon=5, method=cf.MST()).save(tmp_path / "saved")
        assert synthesize(self.method(tmp_path / "saved"), seed=None).rows == N

    def test_points(self):
        prior = cf.synthesize(people(), SCHEMA, epsilon=5, method=cf.SignedMeasure(cells=200))
        assert synthesize(self.method(prior), seed=None).rows == N

    def test_a_table_with_its_receipt(self, tmp_path):
        prior = cf.synthesize(people(), SCHEMA, epsilon=5, method=cf.MST())
        prior.write(tmp_path / "prior.parquet")
        prior.receipt.with_output(tmp_path / "prior.parquet", rows=prior.rows).save(tmp_path / "prior.receipt.json")
        assert synthesize(self.method(tmp_path / "prior.parquet"), seed=None).rows == N
        prior.write(tmp_path / "prior.parquet")
        pa.parquet.write_table(prior.to_arrow().slice(1), tmp_path / "prior.parquet")
        with pytest.raises(ValueError, match="not the table that its receipt was made for"):
            synthesize(self.method(tmp_path / "prior.parquet"), seed=None)

    def test_made_with_a_seed_protects_nobody(self):
        prior = synthesize(cf.MST())
        with pytest.raises(ValueError, match="protects nobody"):
            synthesize(self.method(prior), seed=None)

    def test_of_other_columns(self):
        schema = Schema(SCHEMA.columns[1:])
        prior = cf.synthesize(people().drop_columns("job"), schema, epsilon=5, method=cf.MST())
        with pytest.raises(ValueError, match="another schema"):
            synthesize(self.method(prior), seed=None)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"reference": "produkt"}, "Did you mean 'product'"),
        ({"reference": "tree"}, "all numbers that are never missing"),
        ({"queries": "marginal:2"}, "must be marginals:K, moments:1"),
        ({"queries": "nowhere.toml"}, "There is no file 'nowhere.toml'"),
        ({"queries": "moments:3"}, "`order` 1 or 2"),
        ({"queries": "marginals:0"}, "at least 1"),
        ({"queries": []}, "at least one function"),
        ({"queries": 3}, "Found int"),
    ],
)
def test_what_the_table_can_not_have_is_refused_before_anything_is_charged(parameters, sentence):
    ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), cf.Budget(1.0, 1e-6))
    with (
        cf.Curator(people(50), SCHEMA, budget=cf.Budget(1.0, 1e-6), ledger=ledger) as curator,
        pytest.raises(ValueError, match=sentence),
    ):
        cf.Reweighting(**parameters).synthesize(curator)
    assert curator.charged == 0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"queries": "marginals:0"}, "a whole number of at least 1. Found 'marginals:0'"),
        ({"queries": "moments:3"}, "`order` 1 or 2. Found 'moments:3'"),
        ({"fit": "best"}, "`fit` must be likelihood or minimax"),
        ({"support": 0}, "`support` must be a whole number"),
        ({"support": 2.5}, "`support` must be a whole number"),
        ({"share": 1.0}, "`share` must lie between"),
        ({"prior_weight": 0.0}, "`prior_weight` must be positive"),
    ],
)
def test_other_parameters_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        cf.Reweighting(**parameters)


def test_points_of_no_fidelity():
    with pytest.raises(ValueError, match="Fidelity can't be measured for points"):
        synthesize(cf.Reweighting(), points(), SQUARE, fidelity=cf.Fidelity(0.1))


def test_a_domain_that_can_not_be_listed_has_no_histogram():
    wide = Schema(tuple(Integer(f"c{i}", 0, 9) for i in range(7)))
    table = pa.table({f"c{i}": np.arange(10) for i in range(7)})
    with pytest.raises(ValueError, match="10,000,000 cells"):
        synthesize(cf.Reweighting(reference="histogram"), table, wide)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_hardly_any_record(rows):
    """Noise alone decides; nothing fails."""
    for relation in NeighboringRelation:
        made = synthesize(cf.Reweighting(support=200), people(50).slice(0, rows), epsilon=0.5, relation=relation.value)
        assert made.rows >= 1
        drawn = synthesize(
            cf.Reweighting(support=200), points(50).slice(0, rows), SQUARE, epsilon=0.5, relation=relation.value
        )
        assert drawn.rows >= 1


def test_references_are_named():
    assert {kind.name for kind in (Product, Uniform, PerturbedHistogram, BernsteinDensity, Tree)} == {
        *("product", "uniform", "histogram", "bernstein", "tree")
    }


def test_a_solver_that_is_not_installed_is_asked_for_before_anything_is_charged(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    wide = Schema(tuple(Integer(f"c{i}", 0, 59) for i in range(3)))
    table = pa.table({f"c{i}": np.arange(50) % 60 for i in range(3)})
    with (
        cf.Curator(table, wide, budget=cf.Budget(1.0, 1e-6)) as curator,
        pytest.raises(ValueError, match=r"counterfoil\[minimax\]"),
    ):
        cf.Reweighting(fit="minimax").synthesize(curator)
    assert curator.charged == 0
