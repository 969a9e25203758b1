"""No text of others moves a cursor, hides a word or makes a line, on any command."""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Office
from counterfoil.cli.app import run
from counterfoil.cli.terminal import Terminal, complain
from counterfoil.inert import inert, inert_document

FORGED = "\x1b[2J\x1b[31m\u202eevil\u2066\u200b\u2028\x85\x07\r\x9b\x7f"
DANGEROUS = [chr(code) for code in [*range(0x20), *range(0x7F, 0xA0), 0x200B, 0x200D, 0x200E, 0xFEFF]]
DANGEROUS += [chr(code) for code in [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0xD800, 0xE0001]]


@pytest.mark.parametrize("one", DANGEROUS, ids=lambda one: f"{ord(one):04x}")
def test_what_a_terminal_could_obey_is_written_out(one: str) -> None:
    shown = inert(f"a{one}b")
    assert one not in shown
    assert shown.isascii()
    assert shown.startswith("a\\")
    assert shown.endswith("b")


@given(st.text())
def test_nothing_invisible_is_left_and_nothing_else_is_changed(text: str) -> None:
    shown = inert(text)
    assert all(unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn") for one in shown)
    assert inert(shown) == shown
    if all(unicodedata.category(one)[0] not in "C" and one not in "\u2028\u2029" for one in text):
        assert shown == text
    assert "".join(one for one in inert(text, keep="\n") if one == "\n") == "\n" * text.count("\n")


def test_spaces_and_words_of_all_scripts_stay() -> None:
    text = "Zürich\u00a0Ost, 東京\u3000区, עיר, é, 𝒳 and 👍"
    assert inert(text) == text


def test_a_document_is_inert_in_its_keys_and_lists() -> None:
    document = {"a\nb": ["c\x1b", {"d": "e\u202e"}, 1.5, None, True]}
    assert inert_document(document) == {"a\\nb": ["c\\x1b", {"d": "e\\u202e"}, 1.5, None, True]}


@pytest.mark.parametrize("way", ["say", "note", "alarm", "table", "titled", "text", "complain"])
def test_every_way_of_printing_is_inert(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    terminal = Terminal()
    if way == "complain":
        complain(f"bad: {FORGED}\nsecond line")
        assert out.getvalue().count("\n") == 1
    elif way in ("table", "titled"):
        table = Table(title=FORGED if way == "titled" else None)
        table.add_column(FORGED)
        table.add_row(f"{FORGED}\nforged")
        terminal.show(table)
    elif way == "text":
        terminal.show(Text(FORGED))
    else:
        getattr(terminal, way)(f"line one {FORGED}\nline two")
        assert "\nline two" in out.getvalue()
    assert out.getvalue().count("forged") == (way in ("table", "titled"))
    assert not any(line.strip() == "forged" for line in out.getvalue().splitlines())
    printed = out.getvalue().replace("\n", "")
    assert "\\x1b" in printed
    assert not any(one in printed for one in DANGEROUS)


def test_progress_shows_messages_inert(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with Terminal().progress() as progress:
        progress("measuring \x1b]0;owned\x07 \u202e", 0.5)
        assert progress.__name__ == "<lambda>"
    assert "]0;owned\x07" not in screen.getvalue()
    assert "\u202e" not in screen.getvalue()


def test_json_holds_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal(json=True).document({"text": FORGED, FORGED: 1})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"text": FORGED, FORGED: 1}
    assert not any(one in printed.replace("\n", "") for one in DANGEROUS)


def test_fields_of_a_receipt_can_not_forge_its_page(office: Office) -> None:
    assert office.synth("--out", "s.csv").status == 0
    path = office.path / "s.receipt.json"
    document = json.loads(path.read_text())
    forged = "people\n\nNOTHING WAS SPENT\n  epsilon 0"
    document["source"] = FORGED + forged
    document["warnings"] = [forged, FORGED]
    document["outputs"][0]["file"] = f"{FORGED}\nForged.csv"
    path.write_text(json.dumps(document))
    for command in (("receipt", "show"), ("receipt", "verify")):
        ended = office.run(*command, path)
        assert not any(one in (ended.out + ended.err).replace("\n", "") for one in DANGEROUS), command
        assert "\\x1b" in ended.out
        assert not any(line.strip() in ("NOTHING WAS SPENT", "Forged.csv") for line in ended.out.splitlines())
    assert "\\n\\nNOTHING WAS SPENT\\n" in " ".join(office.run("receipt", "show", path).out.split())


def test_an_error_shows_names_of_columns_inert(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "people.csv"
    table.write_text("a\n1\n")
    schema = tmp_path / "people.toml"
    schema.write_text('name = "p"\n[columns."\\u001b[2J\\u202e\\nforged"]\nkind = "categorical"\nvalues = ["x", "y"]\n')
    assert run(["synth", str(table), "--schema", str(schema), "--epsilon", "1", "--out", str(tmp_path / "s.csv")]) == 2
    said = capsys.readouterr()
    assert not any(one in (said.out + said.err).replace("\n", "") for one in DANGEROUS)
    assert said.err.count("\n") == len(said.err.splitlines())
    assert not any(line.startswith("forged") for line in said.err.splitlines())


def test_a_draft_that_is_printed_is_inert_and_still_the_same_schema(office: Office) -> None:
    import tomllib

    name = "a\u202eb\u200b"
    Path("odd.csv").write_text(f"{name},c\n1,2\n", encoding="utf-8")
    ended = office.run("schema", "odd.csv")
    assert ended.status == 0, ended.err
    assert not any(one in ended.out.replace("\n", "") for one in DANGEROUS)
    office.run("schema", "odd.csv", "--out", "odd.toml")
    assert tomllib.loads(ended.out) == tomllib.loads(Path("odd.toml").read_text(encoding="utf-8"))
    assert name in tomllib.loads(ended.out)["columns"]
