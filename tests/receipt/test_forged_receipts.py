"""What follows from the rest of a receipt can't be forged alone: every leaf of it is changed, and noticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv

from counterfoil.domain.domain import Domain
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.files import sha256_of
from counterfoil.methods.mst import MST
from counterfoil.receipt.beside import rows_of
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.wording import vouched_for_warning
from small_releases import opened

MakeReceipt = Callable[..., Receipt]
OLDER = sorted(Path("tests/written_by_0_1/receipts").glob("*.json")) + sorted(
    Path("tests/receipt/older_receipts").glob("*.json")
)
DOMAIN = Domain(("a", "b", "c", "y"), (2, 3, 4, 2))


def made(relation: str = "add_or_remove_one", protected: str | None = None) -> dict[str, Any]:
    """The receipt of a release with every measure that a table of categories has, and with certificates."""
    rng = np.random.default_rng(5)
    rows = [tuple(int(rng.integers(size)) for size in DOMAIN.sizes) for _ in range(400)]
    fidelity = Fidelity(0.3, "y", protected)
    with opened(DOMAIN, rows, relation=relation) as curator:
        fidelity.prepare(curator)
        receipt = fidelity.measure(curator, MST().synthesize(curator)).receipt
    return json.loads(json.dumps(receipt.to_json()))


@pytest.fixture(scope="module")
def release() -> dict[str, Any]:
    return made(protected="b")


def problems(document: dict[str, Any]) -> tuple[str, ...]:
    return Receipt(document).verify().problems


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_what_a_release_states_follows_from_its_answers(relation: str) -> None:
    document = made(relation, "b")
    assert problems(document) == ()
    assert len(document["fidelity"]) == 14
    assert len(document["certificates"]) == 3


@pytest.mark.parametrize("path", OLDER, ids=lambda path: path.stem)
def test_older_receipts_hold(path: Path) -> None:
    assert Receipt.load(path).verify().problems == ()


def test_the_forged_certificate_that_held_before(release: dict[str, Any]) -> None:
    for change in ({"sentence": "All is well."}, {"excess_risk": 0.001}, {"excess_risk": 0.001, "vacuous": False}):
        document = deepcopy(release)
        document["certificates"][0] |= change
        assert "Certificate 1" in " ".join(problems(document))


@pytest.mark.parametrize("section", ["fidelity", "certificates"])
def test_every_leaf_that_is_changed_is_noticed(release: dict[str, Any], section: str) -> None:
    places = list(leaves(release[section], (section,)))
    assert len(places) > 30
    unnoticed = set()
    for place in places:
        for value in others_than(leaf(release, place)):
            document = deepcopy(release)
            leaf(document, place[:-1])[place[-1]] = value
            if not problems(document):
                unnoticed.add(place)
    # The rest is by signature, and `unvouched` says so: answers so far below 0 that they are shown as 0, or of groups
    # too small to say anything, what was rounded, a model's words, and gaps from error bars.
    assert {place[2] for place in unnoticed} <= {"told", "rounding", "model", "gaps"}
    for place in unnoticed:
        entry = release[section][place[1]]
        silent = entry.get("estimate", 0) == 0 or entry.get("basis") == "error bars"
        assert place[2] in ("rounding", "model") or silent, place


def test_measures_that_were_bought_can_not_be_left_out_with_their_certificates(release: dict[str, Any]) -> None:
    document = deepcopy(release)
    del document["fidelity"], document["certificates"]
    assert "14 charges bought measures of fidelity, and 0 measures are on the receipt" in " ".join(problems(document))


def test_whom_a_release_protects_and_how_often_it_asked_is_vouched_for_by_signatures_alone(
    release: dict[str, Any],
) -> None:
    named = set(Receipt(release).verify().unvouched)
    assert {"privacy_unit", "charges: that these were all, with this noise"} <= named


def test_the_gaps_of_a_certificate_follow_from_the_measures(release: dict[str, Any]) -> None:
    from counterfoil.receipt.certificate import Gaps

    for number, entry in enumerate(release["certificates"]):
        forged = Gaps("y", entry["basis"], 1e-3, 1e-3).certificate(1.0)
        document = deepcopy(release)
        document["certificates"][number] = forged
        found = " ".join(problems(document))
        if entry["basis"] == "error bars":
            assert "certificates: gaps from error bars" in Receipt(document).verify().unvouched
        else:
            assert "do not follow from the measures" in found


CHANGES: dict[str, tuple[Callable[[dict], object], str]] = {
    "a measure left out": (lambda d: d["fidelity"].pop(3), "charges bought measures"),
    "a measure twice": (lambda d: d["fidelity"].append(d["fidelity"][-1]), "charges bought measures"),
    "measures in another order": (lambda d: d["fidelity"].reverse(), "did not buy it"),
    "no measures": (lambda d: d.pop("fidelity"), "are not on the receipt"),
    "a certificate twice": (lambda d: d["certificates"].insert(0, d["certificates"][0]), "is there twice"),
    "certificates in another order": (lambda d: d["certificates"].reverse(), "sharpest first"),
    "a certificate left out": (
        lambda d: d["certificates"].remove(next(one for one in d["certificates"] if one["basis"] == "moments")),
        "from moments is missing",
    ),
    "no certificates": (lambda d: d.pop("certificates"), "from moments is missing"),
    "an empty list of certificates": (lambda d: d["certificates"].clear(), "from marginals is missing"),
    "no certificate from error bars": (
        lambda d: d["certificates"].remove(next(one for one in d["certificates"] if one["basis"] == "error bars")),
        "from error bars is missing",
    ),
    "a program that is none": (lambda d: d["program"].update(audited="by everyone"), "`program` names 'audited'"),
    "a certificate of another target": (lambda d: d["certificates"][0].update(target="a"), "Certificate 1"),
    "more words": (lambda d: d["certificates"][0].update(note="trust me"), "`note` does not follow"),
    "another number of values": (lambda d: d["certificates"][0].update(values=3), "has 2 values"),
    "a norm that is none": (lambda d: d["certificates"][0].update(norm="1"), "norm must be positive"),
    "an endless norm": (lambda d: d["certificates"][0].update(norm=10**39), "Certificate 1"),
    "a boolean answer": (lambda d: d["fidelity"][0].update(told=True), "is not understood"),
    "other records": (
        lambda d: d["fidelity"][0].update(records=d["fidelity"][0]["records"] + 1),
        "different numbers of records",
    ),
    "another composition sentence": (
        lambda d: d["composition"].update(sentence="No privacy is lost at all."),
        "`composition.sentence`",
    ),
    "rows from nowhere": (lambda d: d["rows"].update(how="counted exactly"), "`rows.how`"),
    "another source of noise": (lambda d: d.update(noise_source="a seed: NOT PRIVATE, but fine"), "`noise_source`"),
    "another schema": (lambda d: d.update(schema_sha256="0" * 64), "another schema"),
    "a voucher made up": (lambda d: d["warnings"].append(vouched_for_warning("Evil")), "brought and vouches for"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_other_forgeries_are_noticed(release: dict[str, Any], name: str) -> None:
    change, message = CHANGES[name]
    document = deepcopy(release)
    change(document)
    assert message in " ".join(problems(document))


def test_a_voucher_that_is_hidden_is_noticed(receipt_of: MakeReceipt) -> None:
    document = receipt_of().to_json()
    document["charges"][0]["parameters"]["vouched_for"] = ["my.Noise"]
    assert "brought and vouches for" in " ".join(problems(document))
    document["warnings"].append(vouched_for_warning("my.Noise"))
    assert problems(document) == ()
    document["charges"][0]["parameters"]["vouched_for"] = 3
    assert not Receipt(document).verify().holds


def test_a_reason_made_up_is_noticed(receipt_of: MakeReceipt) -> None:
    document = receipt_of(relation="replace_one").to_json()
    document["other_relation"]["reason"] = "It does not matter."
    assert "`other_relation.reason`" in " ".join(problems(document))


def test_the_public_number_of_records_divides_the_measures() -> None:
    document = made("replace_one")
    document["answers"]["records"] += 1
    assert "which are public" in " ".join(problems(document))


def test_fields_that_nobody_vouches_for(release: dict[str, Any], receipt_of: MakeReceipt, tmp_path: Path) -> None:
    """Each field that is named can indeed be changed without a problem."""
    named = Receipt(release).verify().unvouched
    free = {
        "source": lambda d: d.update(source="another"),
        "created": lambda d: d.update(created="1999-01-01T00:00:00+00:00"),
        "program": lambda d: d["program"].update(numpy="0"),
        "method.name": lambda d: d["method"].update(name="another"),
        "method.parameters": lambda d: d["method"]["parameters"].update(more=1),
        "charges: parameters beyond the sensitivity": lambda d: features_of(d).update(features=999),
        "ledger": lambda d: d.update(ledger=True),
        "rows.how": lambda d: d["rows"].update(how="asked for by the user"),
        "rows.drawn": lambda d: d["rows"].update(drawn=1),
        "warnings": lambda d: d["warnings"].append("More."),
        "answers.marginals": lambda d: d["answers"]["marginals"][0].update(
            values=" ".join("9" for _ in d["answers"]["marginals"][0]["values"].split())
        ),
    }
    assert free.keys() <= set(named)
    for name, change in free.items():
        document = deepcopy(release)
        change(document)
        assert document != release, name
        assert problems(document) == (), name
    (tmp_path / "out.csv").write_text("a\n" + "1\n" * release["rows"]["drawn"])
    with_file = Receipt(release).with_output(tmp_path / "out.csv", rows=release["rows"]["drawn"])
    assert "rows.drawn" not in with_file.verify(tmp_path).unvouched
    assert "rows.how" in with_file.verify(tmp_path).unvouched
    assert {"rows.drawn", "outputs: out.csv"} <= set(with_file.verify().unvouched)
    emptied = Receipt(with_file.document | {"outputs": []}).verify(tmp_path)
    assert "outputs: that no file is named" in emptied.unvouched
    assert "outputs: that no file is named" not in with_file.verify(tmp_path).unvouched
    assert "schema_sha256" in Receipt.load(OLDER[0]).verify().unvouched


def test_what_is_left_out_is_named(release: dict[str, Any]) -> None:
    """Whoever deletes a digest or noisy answers must not delete the name of what nobody vouches for with it."""
    kept, marginals, bars = (
        f"{name}: that none is recorded" for name in ("kept", "answers.marginals", "answers.error_bars")
    )
    assert not {kept, marginals, bars} & set(Receipt(release).verify().unvouched)
    document = deepcopy(release)
    document.pop("kept")
    document["answers"] |= {"marginals": [], "error_bars": []}
    assert {kept, marginals, bars} <= set(Receipt(document).verify().unvouched)
    document.pop("answers")
    assert kept in Receipt(document).verify().unvouched


def test_a_budget_that_was_larger_is_named(release: dict[str, Any]) -> None:
    assert "budget: that no larger one was fixed beforehand" in Receipt(release).verify().unvouched


def features_of(document: dict[str, Any]) -> dict[str, Any]:
    return next(one["parameters"] for one in document["charges"] if one["query"] == "largest_moment_gap")


def test_one_row_for_each_public_record() -> None:
    document = made("replace_one")
    assert document["rows"]["how"].startswith("the exact number of rows")
    document["rows"]["drawn"] += 2
    assert "one for each of the 400 records" in " ".join(problems(document))
    document["rows"]["how"] = "asked for by the user"
    assert problems(document) == ()
    assert {"rows.drawn", "rows.how"} <= set(Receipt(document).verify().unvouched)


def test_rows_of_files_are_compared(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    for name in ("out.csv", "out.parquet"):
        table = pa.table({"a": ["x\ny", 'say "hi"\n', None], "b": [1, 2, 3]})
        csv.write_csv(table, tmp_path / "out.csv")
        pq.write_table(table, tmp_path / "out.parquet")
        receipt = receipt_of().with_output(tmp_path / name, rows=3)
        assert receipt.verify(tmp_path).holds
        document = receipt.to_json()
        document["outputs"][0]["rows"] = 4
        assert "has 3 rows. The receipt states 4" in Receipt(document).verify(tmp_path).problems[0]


def test_a_file_has_no_more_rows_than_were_drawn(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("a\n" + "1\n" * 7)
    receipt = receipt_of().with_output(tmp_path / "out.csv", rows=7)
    assert receipt.verify().holds
    document = receipt.to_json()
    document["rows"]["drawn"] = 6
    assert "out.csv is stated to have 7 rows, of 6 drawn." in Receipt(document).verify().problems


@given(
    st.lists(st.lists(st.text(alphabet='a",\n\r é') | st.none(), min_size=2, max_size=2), max_size=8),
    st.integers(1, 9),
)
def test_rows_are_counted_as_a_reader_counts_them(tmp_path_factory, rows: list, block: int) -> None:
    import csv as oracle

    from counterfoil.receipt import beside

    path = tmp_path_factory.mktemp("rows") / "t.csv"
    columns = {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate('a"')}
    csv.write_csv(pa.table(columns), path)
    with path.open(newline="") as file:
        expected = sum(1 for _ in oracle.reader(file)) - 1
    before, beside._BLOCK = beside._BLOCK, block
    try:
        assert rows_of(path) == expected == len(rows)
    finally:
        beside._BLOCK = before


def test_a_file_without_a_last_newline(tmp_path: Path) -> None:
    for text, rows in (("", 0), ("a", 0), ("a\n", 0), ("a\n1", 1), ("a\r\n1\r\n", 1), ('a\n"\n"', 1)):
        (tmp_path / "t.csv").write_bytes(text.encode())
        assert rows_of(tmp_path / "t.csv") == rows, text
    (tmp_path / "t.parquet").write_text("none")
    assert rows_of(tmp_path / "t.parquet") is None
    assert rows_of(tmp_path / "t.bin") is None


@settings(max_examples=60)
@given(st.data())
def test_no_forged_section_ends_in_anything_but_a_problem(release: dict[str, Any], data: st.DataObject) -> None:
    """Whatever stands in a field that the published shape leaves free."""
    document = deepcopy(release)
    section = data.draw(st.sampled_from(["fidelity", "certificates"]))
    entry = document[section][data.draw(st.integers(0, len(document[section]) - 1))]
    key = data.draw(st.sampled_from(sorted(entry)))
    strange = (
        st.none()
        | st.booleans()
        | st.text(max_size=3)
        | st.sampled_from(
            [0, -1, 10**39, 1e308, -1e308, 5e-324, [], {}, [[1]], {"label": 1e308, "feature": 0}, {"label": 0}]
        )
    )
    value = data.draw(strange)
    if entry[key] != value and key not in ("rounding", "model"):
        entry[key] = value
        found = Receipt(json.loads(json.dumps(document))).verify()
        assert not found.holds or entry[key] == 0
        assert all("\n" not in problem for problem in found.problems)
        with suppress(ValueError):  # a sentence, and nothing else
            Receipt(document).text()


def leaves(value: Any, place: tuple) -> Iterator[tuple]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, (*place, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from leaves(part, (*place, number))
    else:
        yield place


def leaf(document: Any, place: tuple) -> Any:
    for step in place:
        document = document[step]
    return document


def others_than(value: Any) -> list[Any]:
    if isinstance(value, bool) or value is None:
        return [not value]
    if isinstance(value, str):
        return [value + " and more"]
    larger = 2 * value + 1
    return [larger] if isinstance(value, int) else [value * (1 + 1e-4) + 1e-6]


def test_the_hash_of_a_file_is_compared_first(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    receipt = receipt_of().with_output(tmp_path / "t.csv", rows=1)
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    assert sha256_of(tmp_path / "t.csv") != receipt.document["outputs"][0]["sha256"]
    found = receipt.verify(tmp_path).problems
    assert len(found) == 1
    assert "SHA-256 differs" in found[0]
