"""What a receipt says, and that it follows the published schema."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.files import write_text
from counterfoil.receipt.json_schema import receipt_schema
from counterfoil.receipt.receipt import COMPOSITION_SENTENCES, Receipt

MakeReceipt = Callable[..., Receipt]
RULES = ["zcdp", "gaussian", "pure", "privacy_loss_distribution"]
RELATIONS = ["add_or_remove_one", "replace_one"]
UNITS = [None, PrivacyUnit("person", 3)]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_every_receipt_follows_the_schema_and_verifies(
    receipt_of: MakeReceipt, rule: str, relation: str, unit: PrivacyUnit | None
) -> None:
    receipt = receipt_of(rule, relation=relation, unit=unit, adaptive=rule != "privacy_loss_distribution")
    jsonschema.validate(receipt.to_json(), receipt_schema(), cls=jsonschema.Draft202012Validator)
    found = receipt.verify()
    assert found.problems == ()
    assert found.holds
    assert found.recomputed_epsilon == found.stated_epsilon == receipt.document["spent"]["epsilon"]
    assert 0 < found.stated_epsilon <= 1


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(receipt_schema())
    assert COMPOSITION_SENTENCES.keys() == COMPOSITIONS.keys()
    rules = receipt_schema()["properties"]["composition"]["properties"]["rule"]["pattern"]
    assert all(re.fullmatch(rules, name) for name in [*COMPOSITIONS, "renyi-2", "renyi-64"])
    assert not any(re.fullmatch(rules, name) for name in ("", "renyi", "renyi-0", "gauss", "pure "))


def test_no_path_of_the_source_and_no_fingerprint(receipt_of: MakeReceipt) -> None:
    text = json.dumps(receipt_of().to_json())
    assert "people.csv" in text
    assert "secret" not in text


def test_saved_and_loaded_receipts_are_equal(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    receipt = receipt_of("gaussian")
    (tmp_path / "out.csv").write_text("a,b\n1,2\n")
    named = receipt.with_output(tmp_path / "out.csv", rows=1)
    named.save(tmp_path / "out.receipt.json")
    loaded = Receipt.load(tmp_path / "out.receipt.json")
    assert loaded.to_json() == named.to_json()
    assert receipt.document["outputs"] == [], "the first receipt is left as it was"
    assert [output["file"] for output in loaded.document["outputs"]] == ["out.csv"]
    assert loaded.verify(tmp_path).holds


def test_a_receipt_is_loaded_from_its_folder(receipt_of: MakeReceipt, tmp_path: Path) -> None:
    receipt = receipt_of()
    receipt.save(tmp_path / "receipt.json")
    assert Receipt.load(tmp_path).to_json() == Receipt.load(str(tmp_path)).to_json() == receipt.to_json()
    with pytest.raises(FileNotFoundError, match=r"receipt\.json"):
        Receipt.load(tmp_path.parent)


def test_a_verification_says_what_holds(receipt_of: MakeReceipt) -> None:
    receipt = receipt_of()
    said = str(receipt.verify())
    assert said.startswith("The receipt holds: what is recorded costs epsilon ")
    assert "\nNobody vouches for: source, " in said
    forged = receipt.to_json()
    forged["spent"]["epsilon"] /= 2
    broken = Receipt(forged).verify()
    assert str(broken).splitlines()[:2] == ["The receipt does not hold.", broken.problems[0]]


def test_what_to_json_returns_is_a_copy(receipt_of: MakeReceipt) -> None:
    receipt = receipt_of()
    receipt.to_json()["charges"].clear()
    assert receipt.document["charges"]


def test_a_seed_is_on_the_receipt(receipt_of: MakeReceipt) -> None:
    receipt = receipt_of(seed=3)
    assert not receipt.private
    assert receipt.verify().holds
    assert receipt.text().count("NOT PRIVATE") >= 2


def test_under_the_other_relation(receipt_of: MakeReceipt) -> None:
    """Composed step by step, and no smaller than what this run's charges compose to."""
    receipt = receipt_of("zcdp")
    other = receipt.document["other_relation"]
    events = [event_from_json(charge["event_under_other_relation"]) for charge in receipt.document["charges"]]
    rho = sum(event.rho for event in events)
    # Counts of three cliques: sqrt(3) and sqrt(6); errors: sqrt(3) and 2 sqrt(3); scores: 3 and 6.
    assert rho == pytest.approx(0.5 * 2 / 20**2 + 0.4**2 / 8 + 0.5 * 4 / 20**2 + 0.5 * 2 / (2 * 20**2))
    assert other["charged_epsilon"] == COMPOSITIONS["zcdp"].epsilon(events, 1e-6)
    assert other["holds"]
    assert other["epsilon"] > max(other["charged_epsilon"], 1.9), "twice the sensitivity: about twice the epsilon"


def test_a_plan_gives_more_than_its_own_sum_under_the_other_relation(receipt_of: MakeReceipt) -> None:
    """Its noises are fixed, and what is asked with them may depend on answers: errors instead of counts."""
    other = receipt_of("gaussian", adaptive=False).document["other_relation"]
    assert other["charged_epsilon"] < other["epsilon"] < 2.1


def test_a_public_number_of_rows_can_not_be_hidden_afterwards(receipt_of: MakeReceipt) -> None:
    other = receipt_of(relation="replace_one").document["other_relation"]
    assert not other["holds"]
    assert "number of rows" in other["reason"]
    assert receipt_of(relation="replace_one", unit=UNITS[1]).document["other_relation"]["holds"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a valid|expecting value in line 1: it may have been cut short"),
        ('{"format": "counterfoil.receipt",', "it may have been cut short"),
        ("[]", "The document must be object. Found array"),
        ("{}", "The document must hold `format`, which is not there"),
        ('{"budget": NaN}', "finite numbers. Found NaN"),
        (b"\xff\xfe\x00PAR1", "must be a receipt, which is JSON text"),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "broken.receipt.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message) as caught:
        Receipt.load(path)
    assert "broken.receipt.json" in str(caught.value) or "finite" in str(caught.value)


def test_a_receipt_for_nothing_is_refused() -> None:
    from types import SimpleNamespace

    with pytest.raises(ValueError, match="never asked anything"):
        Receipt.from_curator(SimpleNamespace(account=None), method="aim", parameters={}, rows=1)  # type: ignore[arg-type]


def test_a_file_that_can_not_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    path.write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_files_have_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    write_text(tmp_path / "ours", "x")
    (tmp_path / "theirs").write_text("x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "theirs")}
    assert len(modes) == 1


def test_fewer_rows_moved_do_not_promise_more_than_a_selection_keeps(receipt_of: MakeReceipt) -> None:
    """From replace_one to add_or_remove_one sensitivities halve; a selection's mu falls by less than half."""
    for rule, least in (("gaussian", 1.0), ("zcdp", 0.4), ("pure", 0.5)):
        other = receipt_of(rule, relation="replace_one", unit=UNITS[1]).document["other_relation"]
        assert least * 0.999 < other["epsilon"] <= 1.0
        assert other["charged_epsilon"] < other["epsilon"]
