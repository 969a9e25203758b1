"""What a plan says: its figures, its JSON, its HTML, and its determinism."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from counterfoil.evaluation.train_on_synthetic import MODELS
from counterfoil.methods.independent import Independent
from counterfoil.methods.registry import method_named
from counterfoil.planning import Outlook, Want, plan
from counterfoil.planning.outlook import said
from counterfoil.planning.public_table import World
from counterfoil.planning.spread import Spread
from counterfoil.planning.want import Answer
from counterfoil.schema import Schema
from counterfoil.synthesis.table import decode

HOSTILE = "<script>alert(1)</script>"
SCHEMA = Schema.from_toml(
    f"""
name = "people"

[columns.{json.dumps(HOSTILE)}]
kind = "categorical"
values = ["a|b", "<b>", "=1+1"]

[columns.age]
kind = "integer"
lower = 0
upper = 99
bins = 5

[columns.income]
kind = "boolean"
"""
)


@pytest.fixture(scope="module")
def outlook() -> Outlook:
    return plan(
        SCHEMA, rows=400, epsilons=[1, 0.5, 1.0], method="independent", runs=3, seed=2, wants=["income auc 0.55"]
    )


def test_every_epsilon_is_rehearsed_in_every_world(outlook: Outlook) -> None:
    assert outlook.epsilons == (0.5, 1.0)
    assert outlook.worlds == (World.WEAK, World.STRONG)
    assert outlook.target == "income", "what is wanted of it"
    assert (outlook.rows, outlook.columns, outlook.method, outlook.delta) == (400, 3, "independent", 1e-9)
    for epsilon in outlook.epsilons:
        for world in outlook.worlds:
            assert [one.run for one in outlook.at(epsilon, world)] == [0, 1, 2]
    with pytest.raises(ValueError, match="was rehearsed on the records of `world`"):
        outlook.pair_error(7.0, World.STRONG)


def test_figures_are_those_of_the_rehearsals(outlook: Outlook) -> None:
    runs = outlook.at(0.5, World.STRONG)
    pair = outlook.pair_error(0.5, World.STRONG)
    assert pair.mean == pytest.approx(statistics.fmean(one.pair_error for one in runs))
    assert pair.deviation == pytest.approx(statistics.stdev(one.pair_error for one in runs))
    for name, spread in outlook.columns_at(0.5, World.STRONG).items():
        assert spread.most == max(one.columns[name] for one in runs)
    worst = outlook.worst_pairs(0.5)
    means = {
        pair: max(statistics.fmean(one.pairs[pair] for one in outlook.at(0.5, world)) for world in outlook.worlds)
        for pair in runs[0].pairs
    }
    assert list(worst) == sorted(means, key=lambda pair: -means[pair])
    scores = outlook.scores_at(0.5, World.STRONG)
    assert set(scores) == set(MODELS[:2])
    assert scores[MODELS[0]]["auc"] == Spread.of(one.scores[MODELS[0]].auc for one in runs)
    assert outlook.scores_at(None, World.STRONG)[MODELS[0]]["accuracy"] is not None


def test_more_budget_is_better_and_independent_columns_are_easier(outlook: Outlook) -> None:
    """The method ignores relations: by these the errors for related columns are larger at every epsilon."""
    more = plan(SCHEMA, rows=2000, epsilons=[0.02, 10], method="independent", runs=3)
    for world in more.worlds:
        assert more.column_error(10.0, world).most < more.column_error(0.02, world).least
    assert more.pair_error(10.0, World.WEAK).mean < more.pair_error(10.0, World.STRONG).mean


def test_the_same_seed_gives_the_same_outlook(outlook: Outlook) -> None:
    options = {"rows": 200, "epsilons": [1.0], "method": "mst", "runs": 2}
    one, same, other = (plan(SCHEMA, seed=seed, **options) for seed in (3, 3, 4))
    assert one == same
    assert one.rehearsals != other.rehearsals


def test_the_document_is_json_and_has_every_figure(outlook: Outlook) -> None:
    document = json.loads(json.dumps(outlook.to_json(), allow_nan=False))
    assert document["format"] == "counterfoil.outlook"
    assert [(part["epsilon"], part["records"]) for part in document["outlook"]] == [
        (epsilon, str(world)) for epsilon in (0.5, 1.0) for world in outlook.worlds
    ]
    first = document["outlook"][0]
    assert first["mean_pair_error"]["mean"] == outlook.pair_error(0.5, World.WEAK).mean
    assert {part["column"] for part in first["columns"]} == set(SCHEMA.domain.attributes)
    assert len(first["pairs"]) == 3
    assert [part["records"] for part in document["references"]] == [str(world) for world in outlook.worlds]
    assert {part["want"]["column"] for part in document["wanted"]} == {"income"}


def test_html_is_well_formed_and_escapes_every_text(outlook: Outlook) -> None:
    class Tags(HTMLParser):
        found: tuple[str, ...] = ()

        def handle_starttag(self, tag, attrs):
            self.found += (tag,)

    hostile = replace(outlook, method=HOSTILE, notes=(HOSTILE,))
    for shown in (outlook, hostile):
        tags = Tags()
        tags.feed(shown._repr_html_())
        assert set(tags.found) <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}
        assert tags.found.count("tr") == 5
    assert "&lt;script&gt;" in hostile._repr_html_()


def test_printed_it_says_what_a_notebook_shows(outlook: Outlook) -> None:
    printed, page = str(outlook), " ".join(outlook._repr_html_().split())
    assert printed.splitlines()[0] == "Rehearsed with independent on 400 records of 3 columns"
    assert f"{outlook.pair_error(0.5, World.WEAK).mean:.4f}" in printed
    for sentence in (*map(said, outlook.answers), *outlook.notes):
        assert sentence in " ".join(printed.split())
    assert "mean pair error" in page
    assert "\x1b" not in str(replace(outlook, notes=("\x1b[31m",)))
    assert repr(outlook) == "Outlook(method independent, 400 records, epsilons 0.5, 1)"


def test_a_frame_serves_as_a_public_table_and_a_synthesizer_as_a_method() -> None:
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, size, 50) for name, size in zip(SCHEMA.domain.attributes, (3, 5, 2), strict=True)}
    frame = decode(SCHEMA, codes, rng)
    found = plan(SCHEMA, rows=80, epsilons=[1.0], like=frame, method=Independent(), runs=1, target="income")
    assert found.worlds == (World.PUBLIC,)
    assert found.method == "Independent"
    assert any("50 records, fewer than 80" in note for note in found.notes)
    assert any("must be a public table" in note for note in found.notes)


def test_a_table_of_one_column_is_planned() -> None:
    schema = Schema.from_toml("[columns.a]\nkind = 'boolean'")
    found = plan(schema, rows=50, epsilons=1, method="independent", runs=1)
    spread = found.pair_error(1.0, World.STRONG)
    assert spread.mean == found.column_error(1.0, World.STRONG).mean
    assert found.worst_pairs(1.0) == {}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"epsilons": []}, "needs an epsilon or something that is wanted"),
        ({"epsilons": [0]}, "must be above 0 and at most 100"),
        ({"epsilons": [float("inf")]}, "must be above 0 and at most 100"),
        ({"epsilons": [True]}, "must be above 0 and at most 100"),
        ({"epsilons": [0.1 + i for i in range(21)]}, "at most 20 epsilons. Found 21"),
        ({"rows": 0}, "`rows` must be a whole number of at least 1"),
        ({"rows": 2.5}, "`rows` must be a whole number of at least 1"),
        ({"rows": 10**12}, "GB of memory"),
        ({"runs": 101}, "`runs` must be a whole number of at least 1 and at most 100"),
        ({"jobs": 0}, "`jobs` must be a whole number of at least 1"),
        ({"seed": -1}, "`seed` must be a whole number of at least 0"),
        ({"method": "aimm"}, "Did you mean 'aim'"),
        ({"method": "mst", "focus": "age"}, "takes no `focus`"),
        ({"method": "mst", "parameters": {"keep_rare": True}}, "takes no `keep_rare`"),
        ({"method": Independent(), "parameters": {"workload": 2}}, "`focus` and `parameters` go with the name"),
        ({"target": "incom"}, "Did you mean 'income'"),
        ({"wants": ["age auc 0.8", "income auc 0.8"]}, "one target. Found 'age' and 'income'"),
        ({"relation": "add"}, "add_or_remove_one or replace_one"),
        ({"delta": 0.5}, "`delta` must be far below"),
        ({"method": "measure-tree", "check_schema": 0.1}, "`check_schema` needs a method"),
        ({"fidelity": 0.1, "method": "evolution"}, "Fidelity can be measured for"),
    ],
)
def test_what_cannot_be_planned_is_refused_before_anything_runs(options, sentence, monkeypatch) -> None:
    def never(*given, **named):
        raise AssertionError("a rehearsal ran")

    monkeypatch.setattr("counterfoil.planning.planned.rehearse", never)
    with pytest.raises(ValueError, match=sentence) as refused:
        plan(SCHEMA, **({"rows": 100, "epsilons": [1.0]} | options))
    assert "\n" not in str(refused.value)


def test_rehearsals_are_of_the_release_that_synth_would_make(monkeypatch) -> None:
    """The method's own delta, relation and focus, and the share of the schema check where it can leave one."""
    seen = []

    def stop(task):
        seen.append(task.setting)
        raise ValueError("enough")

    monkeypatch.setattr("counterfoil.planning.planned.rehearse", stop)
    for method in ("aim", "wasserstein-generator"):
        with pytest.raises(ValueError, match="enough"):
            plan(
                SCHEMA,
                rows=100,
                epsilons=[1.0],
                method=method,
                target="income",
                fidelity=0.1 * (method == "aim") or None,
            )
    aim, generator = seen
    assert (aim.delta, aim.relation, aim.check_schema) == (1e-9, "add_or_remove_one", 0.01)
    assert aim.synthesizer.focus == "income"
    assert aim.fidelity is not None
    assert aim.fidelity.share == 0.1
    assert (generator.relation, generator.check_schema, generator.fidelity) == ("replace_one", 0.0, None)


@pytest.mark.parametrize(
    ("method", "parameters", "focus"),
    [
        ("aim", {"workload": 3, "max_model_size": 20.0, "queries": None}, "income"),
        ("aim", {"variant": "published"}, None),
        ("reweighting", {"keep_rare": True, "reference": "uniform", "support": 700}, None),
        ("evolution", {"preset": "practical", "iterations": 3}, None),
    ],
)
def test_a_method_is_rehearsed_with_its_parameters(method, parameters, focus, monkeypatch) -> None:
    seen = []

    def stop(task):
        seen.append(task.setting.synthesizer)
        raise ValueError("enough")

    monkeypatch.setattr("counterfoil.planning.planned.rehearse", stop)
    with pytest.raises(ValueError, match="enough"):
        plan(SCHEMA, rows=100, epsilons=[1.0], method=method, target="income", parameters=parameters)
    (made,) = seen
    assert made == method_named(method, focus=focus, **parameters)


def test_a_target_of_too_many_values_is_refused() -> None:
    wide = Schema.from_toml("[columns.a]\nkind='boolean'\n[columns.n]\nkind='integer'\nlower=0\nupper=64")
    with pytest.raises(ValueError, match="'n' has 65"):
        plan(wide, rows=100, epsilons=[1.0], target="n")


def test_answers_are_sentences_that_keep_their_bounds() -> None:
    want, spread = Want("pairs", 0.1), Spread(0.0912, 0.01, 0.08, 0.1)
    answer = Answer(want, "strong relations", 1.23412, False, spread, 1.1, None)
    assert said(answer) == (
        "strong relations: mean pair error of at most 0.1 takes epsilon 1.24 in the mean, where rehearsals have 0.0912 "
        "(0.08 to 0.1): about half of all releases keep it. By itself, one rehearsal keeps that from epsilon 1.1 on, "
        "and at least one does not at the largest that was tried."
    )
    assert said(replace(answer, most=1.5)).endswith("keeps that from epsilon 1.1 on, and the last from 1.5 on.")
    assert said(replace(answer, most=1.1)).endswith("By itself, each rehearsal keeps that from epsilon 1.1 on.")
    assert said(replace(answer, least=None)).endswith("no rehearsal keeps that at the largest epsilon that was tried.")
    assert "is not reached at epsilon 100" in said(replace(answer, epsilon=None))
    assert "is reached at epsilon 0.01 already" in said(replace(answer, epsilon=0.01, already=True))
    assert "takes epsilon 1 in the mean, " in said(replace(answer, epsilon=1.0))
