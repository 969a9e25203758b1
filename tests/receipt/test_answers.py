"""The noisy answers on a receipt: all that was bought, as it was answered, and refused where they can't be."""

from __future__ import annotations

import copy

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.curator.account import Account
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.receipt import answers as recorded
from counterfoil.receipt.answers import read_answers
from counterfoil.reweighting import Functions, Share
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema

SCHEMA = Schema((Categorical("job", ("cook", "nurse")), Integer("age", 0, 30), Boolean("rich")))


def people(n=400):
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "job": np.array(["cook", "nurse"])[rng.integers(0, 2, n)],
            "age": np.minimum(rng.geometric(0.3, n) - 1, 30),
            "rich": rng.random(n) < 0.2,
        }
    )


def release(method, *, relation="replace_one", delta=1e-6, epsilon=2.0):
    return cf.synthesize(people(), SCHEMA, epsilon=epsilon, delta=delta, relation=relation, method=method)


def test_a_charge_is_read_once_however_many_marginals_it_bought(monkeypatch):
    """One charge may have bought thousands, each of which was looked up among all of them."""
    document = release(cf.Direct(2)).receipt.document
    read, weights_of = [], recorded.weights_of
    monkeypatch.setattr(recorded, "weights_of", lambda parameters: read.append(1) or weights_of(parameters))
    answers = read_answers(document)
    assert len(answers.marginals) == 3
    assert len(read) == len({one.charge for one in answers.marginals}) == 1


@pytest.mark.parametrize("relation", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("method", [cf.AIM(), cf.MST(), cf.Direct(2), cf.Independent(), cf.Reweighting(support=500)])
def test_every_marginal_is_recorded_as_it_was_answered(monkeypatch, method, relation):
    heard = []
    ask = Account.ask

    def listening(self, query, noise):
        answer = ask(self, query, noise)
        if isinstance(query, MarginalCounts):
            heard.extend(
                (*marginal, answer)
                for marginal in zip(query.cliques, query.split(answer.values), query.each_unit, strict=True)
            )
        return answer

    monkeypatch.setattr(Account, "ask", listening)
    document = release(method, relation=relation).receipt.document
    answers = read_answers(document)
    assert len(answers.marginals) == len(heard)
    for entry, (clique, part, unit, answer) in zip(answers.marginals, heard, strict=True):
        assert entry.clique == clique
        assert np.array_equal(entry.counts, part / unit)
        assert (entry.scale, entry.deviation) == (answer.scale / unit, pytest.approx(answer.deviation / unit))
        assert document["charges"][entry.charge - 1]["query"] == "marginal_counts"
    assert answers.records == (400 if relation == "replace_one" else None)
    assert answers.schema == SCHEMA


def test_codes_that_were_counted_in_groups():
    answers = read_answers(release(cf.MST(), epsilon=1.0).receipt.document)
    merged = [entry for entry in answers.marginals if "age" in entry.groups]
    assert merged, "geometric ages have rare values"
    for entry in merged:
        groups = entry.groups["age"]
        assert len(groups) == 31
        assert entry.counts.shape[entry.clique.index("age")] == groups.max() + 1 < 31


def test_functions_are_recorded_with_their_family():
    family = Functions(SCHEMA, (Share.of_records(SCHEMA, "age >= 3 and rich"),), counted=False)
    answers = read_answers(release(cf.Reweighting(queries=family, support=500)).receipt.document)
    (averages,) = answers.averages
    assert averages.family == family
    assert averages.names == ("age >= 3 and rich",)
    mine = [("mine", lambda record: record["age"], 0, 30)]
    (averages,) = read_answers(release(cf.Reweighting(queries=mine, support=500)).receipt.document).averages
    assert averages.names == ("mine",)
    family = averages.family
    with pytest.raises(ValueError, match="'mine' failed"):
        family.sums(1, *(dict.fromkeys(names, np.zeros(1, int)) for names in (family.codes, family.numbers)))
    (averages,) = read_answers(
        release(cf.Reweighting(queries="moments:2", support=500), relation="add_or_remove_one").receipt.document
    ).averages
    assert averages.names[0] == "1"
    assert averages.sums[0] * averages.slopes[0] == pytest.approx(400, abs=8 * averages.deviation * averages.slopes[0])


def test_error_bars_of_what_was_not_measured():
    answers = read_answers(release(cf.MST(), epsilon=1.0).receipt.document)
    pairs = {bar.clique for bar in answers.error_bars}
    assert pairs - {entry.clique for entry in answers.marginals}
    for bar in answers.error_bars:
        assert 0 < bar.fraction < 2
        assert bar.beta == 0.04


def test_methods_of_points_record_none():
    square = Schema((Real("x", 0.0, 1.0, bins=4),))
    made = cf.synthesize(pa.table({"x": np.linspace(0, 1, 50)}), square, epsilon=1, delta=0.0, method=cf.MeasureTree())
    assert "answers" not in made.receipt.document
    with pytest.raises(ValueError, match="records no noisy answers"):
        read_answers(made.receipt.document)


def test_a_receipt_holds_the_smallest_marginals(monkeypatch):
    monkeypatch.setattr(recorded, "MOST_CELLS", 40)
    section = release(cf.Direct(2)).receipt.document["answers"]
    assert [entry["attributes"] for entry in section["marginals"]] == [["job", "rich"]]
    assert section["left_out"] == 2


def test_a_look_at_all_pairs_leaves_room_for_columns_and_for_what_was_measured_by_itself(monkeypatch):
    """A look at 128 columns in eight blocks has 520,000 cells, and there are two or three of them."""
    monkeypatch.setattr(recorded, "MOST_CELLS", 500)
    column = {"charge": 1, "attributes": ["a"], "values": " ".join("5" * 100)}
    look = [{"charge": 2, "attributes": ["a", f"b{i}"], "values": "1 2"} for i in range(recorded.AT_ONCE)]
    measured = {"charge": 3, "attributes": ["a", "b0"], "values": " ".join("7" * 90)}
    kept = recorded._smallest([column, *look, measured])
    assert column in kept
    assert measured in kept
    assert len(kept) == 2 + (500 - 190) // 2


BROKEN = {
    "of another charge": lambda s, d: s["marginals"][0].update(charge=99),
    "of a charge for something else": lambda s, d: d["charges"][0].update(query="partition_counts"),
    "of an unknown column": lambda s, d: s["marginals"][0].update(attributes=["jb"]),
    "of another length": lambda s, d: s["marginals"][0].update(values="1 2 3 4 5"),
    "of groups of other codes": lambda s, d: s["marginals"][0].update(groups={"age": "0 1"}),
    "of groups with gaps": lambda s, d: s["marginals"][1].update(groups={"age": " ".join(["0", "2"] + ["1"] * 29)}),
    "too large": lambda s, d: s["marginals"][0].update(values="9" * 30 + " 1"),
    "under no schema": lambda s, d: s.update(schema="nothing"),
    "of unknown functions": lambda s, d: s["averages"].append(
        {"charge": 1, "family": "moments", "order": 1, "counted": False, "values": "1"}
    ),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_answers_that_do_not_fit_are_refused(change):
    document = copy.deepcopy(dict(release(cf.MST()).receipt.document))
    change(document["answers"], document)
    with pytest.raises(ValueError, match="The answers on this receipt can't be read"):
        read_answers(document)


def test_counts_that_do_not_fill_the_table_are_refused_in_a_sentence():
    document = release(cf.MST()).receipt.to_json()
    first = document["answers"]["marginals"][0]
    BROKEN["of another length"](document["answers"], document)
    with pytest.raises(ValueError, match=f"5 counts are recorded for columns '{first['attributes'][0]}', which have "):
        read_answers(document)


def test_a_receipt_whose_answers_are_of_another_schema_does_not_hold():
    receipt = release(cf.MST()).receipt
    assert receipt.verify().holds
    document = receipt.to_json()
    document["answers"]["schema"] = document["answers"]["schema"].replace("cook", "chef")
    assert ["another schema" in problem for problem in cf.Receipt(document).verify().problems] == [True]
    document = receipt.to_json()
    document["answers"]["marginals"][0]["charge"] = 99
    assert not cf.Receipt(document).verify().holds
