"""What commands print ends where its words end: a file or a mail keeps the spaces of a padded line."""

from __future__ import annotations

import pytest
from rich.table import Table

from counterfoil.cli.terminal import WIDTH, Terminal

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
