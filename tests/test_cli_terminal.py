"""What commands print ends where its words end: a file or a mail keeps the spaces of a padded line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numba
import pytest
from rich.table import Table

from counterfoil.cli.compiling_note import note_compiling
from counterfoil.cli.terminal import WIDTH, Terminal
from counterfoil.compiled import compiled
from counterfoil.graphical_model import compiled_loops

LONG = " ".join(f"word{number}" for number in range(60))
TEXTS = [LONG, f"{LONG}\n\n{LONG}", "x" * 200, "a " * 100, f"{'y' * WIDTH} {LONG}", "", "one\n"]


@pytest.mark.parametrize("text", TEXTS)
def test_no_line_has_spaces_at_its_end(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Terminal().note(text)
    Terminal(json=True).alarm(text)
    Terminal().alarm(text)
    shown = capsys.readouterr()
    for stream, times in ((shown.err, 2), (shown.out, 1)):
        assert all(line == line.rstrip() for line in stream.split("\n"))
        assert max(map(len, stream.splitlines()), default=0) <= WIDTH
        assert stream.split() == times * text.split() or len(text.split()) == 1, "no word is lost or cut"
        assert stream.replace("\n", "").count("x") == times * text.count("x")


def test_tables_have_none_either(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("name", "found", box=None, pad_edge=False)
    table.add_row("a", "much of it")
    table.add_row("b", "")
    Terminal().show(table)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["name  found", "a     much of it", "b"]


def notes_of_compiling(capsys: pytest.CaptureFixture[str], times: int) -> Sequence[str]:
    """What stands on standard error before a loop runs, `times` times over."""
    said = []
    for _ in range(times):
        note_compiling(Terminal())
        said.append(capsys.readouterr().err)
        compiled_loops.forward(1)
    return said


def test_that_loops_are_compiled_first_is_said_once_and_on_a_terminal_alone(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def forward(number: int) -> int:
        return number + 1

    forward.__qualname__ = "forward"  # as of a module's, whose name stands in the cache
    monkeypatch.setattr(compiled_loops, "forward", compiled(forward))
    assert notes_of_compiling(capsys, 1) == [""], "standard error is no terminal here"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "another"))
    monkeypatch.setattr(compiled_loops, "forward", compiled(forward))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    first, second = notes_of_compiling(capsys, 2)
    assert first.startswith("Loops are compiled first, once after an installation")
    assert second == ""
    monkeypatch.setattr(compiled_loops, "forward", compiled(forward))
    assert notes_of_compiling(capsys, 1) == [""], "a later process reads them"
