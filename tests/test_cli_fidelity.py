"""`synth --fidelity --target` and `certify`: from the command to a sentence with a number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from counterfoil.cli.synth_report import worst_columns
from counterfoil.receipt.noisy_measure import NoisyMeasure

MADE = "people.synthetic.parquet", "--receipt", "people.synthetic.receipt.json"


def test_fidelity_is_bought_and_certified(office):
    made = office.synth("--fidelity", "0.3", "--target", "income", "--delta", "1e-7", "--json", method="direct")
    assert made.status == 0, made.err
    assert {entry["measure"] for entry in made.document["fidelity"]} >= {
        "mean_marginal_error",
        "wasserstein",
        "accuracy",
    }
    assert office.run("receipt", "verify", MADE[2]).status == 0
    shown = office.run("receipt", "show", MADE[2])
    assert "WHAT IT IS GOOD FOR" in shown.out
    certified = office.run("certify", *MADE, "--target", "income", "--norm", "0.5", "--json")
    assert certified.status == 0, certified.err
    best = certified.document["certificates"][0]
    assert (best["norm"], best["confidence"], best["target"]) == (0.5, 0.95, "income")
    assert 0 < best["deviation"] < best["excess_risk"]
    assert f"{best['excess_risk']:.3f}" in best["sentence"] or best["vacuous"]
    assert best["basis"] in ("moments", "marginals")


@pytest.mark.parametrize("out", ["release/", "s.csv"])
def test_the_receipt_that_lies_beside_a_table_is_found(office, out):
    """`infer`, `describe` and `report` take a folder, and `certify` asked for `--receipt`."""
    assert office.synth("--target", "income", "--delta", "1e-6", "--out", out).status == 0
    said = office.run("certify", out.rstrip("/"), "--target", "income")
    assert said.status == 0, said.err
    assert "linear model" in " ".join(said.out.split())


def test_a_kept_model_is_certified_by_its_own_receipt(office):
    """`sample` and `evaluate` took the folder that --keep-model wrote, and `certify` said "Is a directory"."""
    assert office.synth("--target", "income", "--delta", "1e-6", "--out", "s.csv", "--keep-model").status == 0
    by_folder, by_table = (
        office.run("certify", given, "--target", "income", "--json") for given in ("s.release", "s.csv")
    )
    assert by_folder.status == 0, by_folder.err
    assert by_folder.document["certificates"] == by_table.document["certificates"]


def test_a_certificate_for_people_names_its_assumptions(office):
    assert office.synth("--fidelity", "0.9", "--target", "income", "--delta", "1e-6", epsilon="3").status == 0
    said = office.run("certify", *MADE, "--target", "income", "--norm", "0.1")
    assert "With 95% confidence, the linear model for income" in " ".join(said.out.split())
    assert "It holds if:" in said.out
    assert "scaled to [-1, 1] by its declared" in said.out


def test_where_nothing_is_certified_it_says_so(office):
    """300 rows and a tenth of epsilon: nothing that holds with 95% confidence is worth more than the trivial bound."""
    assert office.synth("--target", "income", "--delta", "1e-6", epsilon="0.1").status == 0
    said = office.run("certify", *MADE, "--target", "income", "--norm", "1")
    assert said.status == 0
    assert "certify nothing about linear models" in " ".join(said.out.split())
    assert "It holds if" not in said.out


def test_a_target_is_the_focus_unless_another_is_named(office):
    def focus() -> str | None:
        return json.loads((office.path / MADE[2]).read_text())["method"]["parameters"]["focus"]

    again = "--delta", "1e-6", "--force"
    assert office.synth("--target", "income", *again, method="aim").status == 0
    assert focus() == "income"
    assert office.synth("--target", "income", "--focus", "age", *again, method="aim").status == 0
    assert focus() == "age"
    assert office.synth("--target", "income", "--variant", "published", *again, method="aim").status == 0
    assert focus() is None
    refused = office.synth("--focus", "incme", *again, method="aim")
    assert refused.status == 2
    assert "Did you mean 'income'?" in " ".join(refused.err.split())
    assert office.synth("--focus", "age", *again, method="mst").status == 2


def test_a_target_alone_costs_nothing_more(office):
    assert office.synth("--target", "income", "--delta", "1e-6", "--check-schema", "0").status == 0
    document = json.loads((office.path / MADE[2]).read_text())
    assert "fidelity" not in document
    assert [entry["basis"] for entry in document["certificates"]] == ["error bars"]
    assert len(document["charges"]) == 1


def test_a_target_of_several_values_is_certified_one_against_the_rest(office):
    made = office.synth("--fidelity", "0.5", "--target", "age", "--delta", "1e-6", "--json", epsilon="3")
    assert made.status == 0, made.err
    assert {entry["measure"] for entry in made.document["fidelity"]} >= {"label_moment_gap", "accuracy"}
    assert office.run("receipt", "verify", MADE[2]).status == 0
    certified = office.run("certify", *MADE, "--target", "age", "--norm", "0.1", "--json")
    assert certified.status == 0, certified.err
    assert all(entry["values"] == 10 for entry in certified.document["certificates"])
    assert "for each of the 10 values of age, the linear model that tells it from the rest" in " ".join(
        entry["sentence"] for entry in certified.document["certificates"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fidelity", "0"), "share of the budget between 0 and 1"),
        (("--fidelity", "1.5"), "share of the budget between 0 and 1"),
        (("--fidelity", "0.1", "--target", "incme"), "Did you mean 'income'?"),
    ],
)
def test_requests_that_are_refused_charge_nothing(office, arguments, message):
    ended = office.synth(*arguments, "--delta", "1e-6", "--ledger", "people.ledger")
    assert ended.status == 2
    assert message in ended.err
    assert office.releases() == []
    assert MADE[0] not in office.files()


def test_certify_refuses_another_table_target_or_norm(office):
    assert office.synth("--target", "income", "--delta", "1e-6").status == 0
    other = office.run("certify", "people.csv", *MADE[1:], "--target", "income")
    assert other.status == 2
    assert "is not the table that" in other.err
    unknown = office.run("certify", *MADE, "--target", "sex")
    assert unknown.status == 2
    assert "It has some for income" in unknown.err
    for norm in ("0", "-1", "nan", "inf"):
        ended = office.run("certify", *MADE, "--target", "income", "--norm", norm)
        assert ended.status == 2, norm
        assert "`norm` must be positive and finite" in ended.err
    for norm in ("1e300", "1e-300"):
        ended = office.run("certify", *MADE, "--target", "income", "--norm", norm)
        assert ended.status == 2, norm
        assert "`norm` must lie between 1e-06 and 1e+06" in ended.err
    absent = office.run("certify", "nowhere.parquet", *MADE[1:], "--target", "income")
    assert absent.status == 2


def test_certificates_that_were_tampered_with_are_refused_in_one_sentence(office):
    assert office.synth("--fidelity", "0.2", "--target", "income", "--delta", "1e-6").status == 0
    path = office.path / MADE[2]
    original = json.loads(path.read_text())
    for change in (
        lambda document: document["certificates"][0].pop("gaps"),
        lambda document: document["certificates"][0].update(basis="hope"),
        lambda document: document["certificates"][0].update(gaps={"label": -1, "feature": 0}),
        lambda document: document["certificates"][0].update(gaps={"label": "small", "feature": 0}),
    ):
        document = json.loads(json.dumps(original))
        change(document)
        path.write_text(json.dumps(document))
        ended = office.run("certify", *MADE, "--target", "income")
        assert ended.status == 2
        assert "A certificate of the receipt is not understood" in ended.err
    document = json.loads(json.dumps(original))
    document["fidelity"][0]["measure"] = "charm"
    path.write_text(json.dumps(document))
    ended = office.run("receipt", "show", MADE[2])
    assert ended.status == 2
    assert "is not understood" in ended.err


def test_of_the_distances_of_columns_the_largest_are_printed():
    """All of them are on the receipt, which is said with their number."""

    def measure(name: str, about: str, answer: int) -> dict[str, Any]:
        return NoisyMeasure(name, about, answer, 10.0, "discrete_gaussian", 1.0, 0.0, 1000.0, 0.0).to_json()

    distances = [measure("wasserstein", f"c{number}", 10 * number) for number in range(6)]
    pairs = measure("pair_error", "a with b", 7)
    shown, rest = worst_columns({"fidelity": [pairs, *distances, pairs]})
    assert shown["fidelity"] == [pairs, distances[5], distances[4], distances[3], pairs]
    assert rest == "Of 3 more columns, with a smaller W_1 distance, the receipt says it."
    few = {"fidelity": [pairs, *distances[:3]]}
    assert worst_columns(few) == ({"fidelity": [pairs, *distances[2::-1]]}, "")
    assert worst_columns({}) == ({"fidelity": []}, "")
