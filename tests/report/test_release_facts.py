"""What a report may be made from: a release and its own receipt, whole, and of one another."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from category_tables import categories_schema, categories_table
from counterfoil import synthesize
from counterfoil.receipt.receipt import Receipt
from counterfoil.report.head import head
from counterfoil.report.release import ReleaseFacts
from counterfoil.synthesis.synthesis import Synthesis

NAMES, VALUES = ["a", "b", "c"], ["x", "y", "z"]


def written(folder, name="people.parquet", *, seed=1, keep=False) -> Synthesis:
    made = synthesize(
        categories_table(NAMES, VALUES, 200), categories_schema(NAMES, VALUES), epsilon=1.0, method="mst", seed=seed
    )
    made.write(folder / name)
    receipt = made.receipt.with_output(folder / name, rows=made.rows)
    stem = name.rpartition(".")[0]
    receipt.save(folder / f"{stem}.receipt.json")
    if keep:
        replace(made, receipt=receipt).save(folder / f"{stem}.release")
    return made


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_rows_have_the_codes_that_were_drawn(tmp_path, name):
    made = written(tmp_path, name)
    facts = ReleaseFacts.read(tmp_path / name)
    assert facts.kept is None
    assert facts.schema == made.schema
    for column, codes in made.codes.items():
        assert np.array_equal(facts.codes[column], codes)


def test_a_kept_model_is_found_beside_its_table(tmp_path):
    written(tmp_path, keep=True)
    assert isinstance(ReleaseFacts.read(tmp_path / "people.parquet").kept, Synthesis)
    folder = ReleaseFacts.read(tmp_path / "people.release")
    assert isinstance(folder.kept, Synthesis)
    with pytest.raises(ValueError, match="leave it out"):
        ReleaseFacts.read(tmp_path / "people.release", receipt=tmp_path / "people.receipt.json")


def test_a_model_of_another_release_is_refused(tmp_path):
    written(tmp_path, keep=True)
    document = json.loads((tmp_path / "people.receipt.json").read_text())
    document["created"] = "2020-01-01T00:00:00+00:00"
    (tmp_path / "people.receipt.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="of another release"):
        ReleaseFacts.read(tmp_path / "people.parquet")


def test_another_table_than_the_receipts_is_refused(tmp_path):
    written(tmp_path, "people.csv")
    with (tmp_path / "people.csv").open("a") as stream:
        stream.write("x,y,z\n")
    with pytest.raises(ValueError, match="SHA-256 differs"):
        ReleaseFacts.read(tmp_path / "people.csv")


def test_a_table_without_a_receipt_is_refused(tmp_path):
    written(tmp_path)
    (tmp_path / "people.receipt.json").rename(tmp_path / "elsewhere.json")
    with pytest.raises(ValueError, match=r"needs the receipt of its release. No people.receipt.json"):
        ReleaseFacts.read(tmp_path / "people.parquet")
    assert ReleaseFacts.read(tmp_path / "people.parquet", receipt=tmp_path / "elsewhere.json").count > 0
    with pytest.raises(ValueError, match="There is no release"):
        ReleaseFacts.read(tmp_path / "nobody.parquet")


def test_what_sections_share_is_computed_once(tmp_path):
    made = written(tmp_path)
    facts, asked = ReleaseFacts.of(made), []

    def compute(given: ReleaseFacts) -> int:
        asked.append(given)
        return 7

    assert [facts.once(compute), facts.once(compute)] == [7, 7]
    assert asked == [facts]


def test_a_receipt_that_does_not_hold_is_said_first(tmp_path):
    made = written(tmp_path)
    sound = head(ReleaseFacts.of(made))
    assert [alarm for alarm in sound.alarms if "DOES NOT HOLD" in alarm] == []
    document = made.receipt.to_json()
    document["spent"]["epsilon"] = 0.25
    broken = head(ReleaseFacts(made.to_arrow(), Receipt(document), made.schema))
    assert any("THE RECEIPT DOES NOT HOLD" in alarm for alarm in broken.alarms)


@pytest.mark.parametrize(
    ("epsilon", "times"),
    [(0.01, "1.011"), (0.7, "2.02"), (2.0, "7.39"), (8.0, "2,990"), (30.0, "e^30")],
)
def test_the_factor_is_a_bound_and_never_rounded_below_what_may_be(tmp_path, epsilon, times):
    made = ReleaseFacts.of(written(tmp_path))
    document = made.receipt.to_json()
    document["budget"] |= {"epsilon": epsilon, "delta": 0.0}
    document["neighboring_relation"] = "replace_one"
    said = " ".join(head(replace(made, receipt=Receipt(document))).sentences)
    assert (
        f"whichever values one record in the real table has, whatever can be learned from the release is at most "
        f"{times} times as likely with some of them as with others." in said
    )


def test_the_head_says_the_budget_in_words(tmp_path):
    told = head(ReleaseFacts.of(written(tmp_path)))
    assert told.banner == "NOT REAL PEOPLE"
    said = " ".join(told.sentences)
    assert (
        "Epsilon 1 means: whether or not one record is in the real table, whatever can be learned from the release is "
        "at most 2.72 times as likely in one case as in the other, apart from a probability of 1e-09." in said
    )
    facts = dict(told.facts)
    assert facts["Rows"] == f"{written(tmp_path, 'more.csv').rows:,}"
    assert facts["Privacy"] == "epsilon 1, delta 1e-09"
