"""JSON of others has one reading, or is refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Office
from counterfoil.json_text import DEEPEST, json_file, parsed_json
from counterfoil.methods.evolution import EvolutionCheckpoint
from counterfoil.receipt.receipt import Receipt

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

DEEP = "[" * 100_000 + "]" * 100_000

REFUSED = {
    "deep lists": (DEEP, "nested more than 100 deep"),
    "deep objects": ('{"a":' * 50_000 + "1" + "}" * 50_000, "nested more than 100 deep"),
    "deep, but not for Python": ("[" * 101 + "]" * 101, "nested more than 100 deep"),
    "a key twice": ('{"a": {"b": 1, "b": 1}}', "the key 'b' twice"),
    "a key twice, escaped": ('{"a": 1, "\\u0061": 2}', "the key 'a' twice"),
    "a number no float holds": ('{"a": 1e400}', "finite numbers"),
    "minus infinity": ("[-1e999]", "finite numbers"),
    "NaN": ("[NaN]", "finite numbers. Found NaN"),
    "a whole number of many digits": (f"[{'9' * 41}]", "a whole number of 41 digits"),
    "a whole number Python refuses": (f"[-{'9' * 10_000}]", "a whole number of 10,000 digits"),
    "half a surrogate pair": ('["\\ud800"]', "half a surrogate pair"),
    "half a pair in a key": ('{"\\uDC00": 1}', "half a surrogate pair"),
    "nothing": ("", "it may have been cut short"),
    "cut short": ('{"a": [1, 2', "it may have been cut short"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_one_reading_is_refused(name: str, tmp_path: Path) -> None:
    text, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        parsed_json(text)
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"x\.json must be a receipt, which is JSON text\. .*") as caught:
        json_file(path, "a receipt")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "document."))


@given(VALUES)
def test_any_other_document_is_read_as_it_is(value: object) -> None:
    text = json.dumps(value)
    assert json.dumps(parsed_json(text)) == text


def test_the_deepest_that_is_read() -> None:
    assert parsed_json("[" * DEEPEST + "]" * DEEPEST) is not None
    whole = '["\\ud83d\\udc4d"]'
    assert parsed_json(whole) == ["\U0001f44d"]


def test_infinity_is_read_where_a_program_wrote_it() -> None:
    assert parsed_json("[Infinity]", finite=False) == [float("inf")]
    with pytest.raises(ValueError, match="finite numbers"):
        parsed_json("[1e400]", finite=False)


@pytest.mark.parametrize("text", [DEEP, '{"format": "counterfoil.receipt", "format": "x"}', '{"a": 1e999}'])
def test_commands_end_with_one_sentence(office: Office, text: str) -> None:
    assert office.synth("--out", "s.csv").status == 0
    Path("s.receipt.json").write_text(text)
    for command in (
        ("receipt", "show", "s.receipt.json"),
        ("receipt", "verify", "s.receipt.json"),
        ("certify", "s.csv", "--receipt", "s.receipt.json", "--target", "income"),
        ("infer", "mean", "s.csv", "age"),
    ):
        ended = office.run(*command)
        assert ended.status == 2, (command, ended.err)
        assert ended.err.count("\n") == 1


def test_a_release_can_take_the_place_of_a_deep_file(office: Office) -> None:
    Path("s.receipt.json").write_text('{"format": ' + DEEP + "}")
    ended = office.synth("--out", "s.csv", "--force")
    assert ended.status == 0, ended.err


def test_a_deep_checkpoint_is_refused(tmp_path: Path) -> None:
    import numpy as np

    path = tmp_path / "run.checkpoint"
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, header=np.array(DEEP))
    with pytest.raises(ValueError, match="is not a checkpoint, or it was cut short"):
        EvolutionCheckpoint.load(path)


def test_a_receipt_with_a_key_twice_is_no_receipt(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"budget": {"epsilon": 1, "epsilon": 100}}')
    with pytest.raises(ValueError, match="'epsilon' twice"):
        Receipt.load(path)
