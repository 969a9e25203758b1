"""A command that is put together without the others is the same as among them."""

from __future__ import annotations

import pytest

from counterfoil.cli import app

NAMES = sorted([app._name_of(one) for one in app.app.registered_commands] + ["ledger", "receipt"])


def _help_of(whole: str, name: str, capsys: pytest.CaptureFixture[str]) -> str:
    app._command(whole)(args=[name, "--help"], prog_name="counterfoil", standalone_mode=False)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_a_command_is_the_same_by_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    by_itself = _help_of(name, name, capsys)
    assert f"counterfoil {name}" in by_itself
    assert by_itself == _help_of("", name, capsys)
    assert [*app._command(name).commands] == [name]


@pytest.mark.parametrize("name", ["", "sinth", "--help", "SYNTH", "error_bar"])
def test_what_is_no_command_is_compared_with_all_of_them(name: str) -> None:
    assert app._command(name) is app._command("")
    assert sorted(app._command(name).commands) == NAMES
