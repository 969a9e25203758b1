"""Options that are read without typer become what typer makes of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st

from counterfoil.cli.plain_values import read_plainly
from counterfoil.cli.row_count import row_count

TEXTS = st.text(st.sampled_from([*"0123456789.-+eE_ x", "\u0663", "\n"]), max_size=7)
TEXTS |= st.from_regex(r"-?[0-9]{0,18}(\.[0-9]{1,20})?(e-?[0-9]{1,3})?", fullmatch=True)


def _command() -> Any:
    app = typer.Typer(add_completion=False)

    @app.command()
    def made(
        words: Annotated[list[str] | None, typer.Argument()] = None,
        text: str = "none",
        whole: int | None = None,
        number: float | None = None,
        path: Path | None = None,
        there: Annotated[Path | None, typer.Option(exists=True)] = None,
        file: Annotated[Path | None, typer.Option(dir_okay=False)] = None,
        rows: Annotated[int | None, typer.Option(parser=row_count)] = None,
        few: Annotated[int, typer.Option(min=1, max=9)] = 4,
        several: list[str] | None = None,
        flag: bool = False,
    ) -> dict[str, Any]:
        return dict(locals())

    return typer.main.get_command(app)


TYPERS, OURS = _command(), _command()
read_plainly(OURS)


def _made_by(command: Any, arguments: list[str]) -> tuple[str, Any]:
    try:
        made = command(args=arguments, standalone_mode=False)
    except Exception as error:
        return type(error).__name__, str(error)
    return "made", {name: (type(value), math.isnan(value) if value != value else value) for name, value in made.items()}


@given(st.sampled_from(["text", "whole", "number", "path", "there", "file", "rows", "few", "several"]), TEXTS)
@example("number", "1e999")
@example("number", "nan")
@example("number", "-0")
@example("number", ".1")
@example("number", "-.25e-3")
@example("whole", "-0")
@example("whole", "123456789012345678901234567890")
@example("path", "")
def test_a_value_is_read_as_typer_reads_it(name: str, text: str) -> None:
    arguments = [f"--{name}={text}"]
    assert _made_by(OURS, arguments) == _made_by(TYPERS, arguments)


@pytest.mark.parametrize(
    "arguments",
    [[], ["--flag"], ["--few", "10"], ["--several", "1", "--several", "2"], ["--no"], ["a", "b"], ["--", ""]],
)
def test_other_options_are_as_before(arguments: list[str]) -> None:
    assert _made_by(OURS, arguments) == _made_by(TYPERS, arguments)


@pytest.mark.parametrize("name", ["path", "there", "file"])
def test_paths_of_what_is_there_and_what_is_not(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    for path in (tmp_path, tmp_path / "file", tmp_path / "none", tmp_path / "file" / "under"):
        arguments = [f"--{name}", str(path)]
        assert _made_by(OURS, arguments) == _made_by(TYPERS, arguments)


def test_a_path_that_may_not_be_read_is_left_to_typer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    arguments = ["--path", str(tmp_path)]
    assert _made_by(OURS, arguments) == _made_by(TYPERS, arguments)
    assert _made_by(OURS, arguments)[0] == "BadParameter"
