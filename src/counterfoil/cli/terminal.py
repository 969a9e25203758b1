"""What commands print: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDTH = 80


@dataclass(frozen=True)
class Terminal:
    """Where a command prints.

    Args:
        quiet: nothing but errors and results that were asked for as JSON.
        json: one JSON document on standard output, and nothing else there.
    """

    quiet: bool = False
    json: bool = False

    def say(self, text: str) -> None:
        """A line of the result for people; never wrapped, so that paths can be copied."""
        if not (self.quiet or self.json):
            print(text)

    def show(self, table: RenderableType) -> None:
        """A table or the like, for people."""
        if not (self.quiet or self.json):
            _console(sys.stdout).print(table)

    def note(self, text: str) -> None:
        """Something to know that is not the result."""
        if not self.quiet:
            _console(sys.stderr).print(text)

    def alarm(self, text: str) -> None:
        """Part of the result that must not be overlooked: in red, on standard error where results are not printed."""
        _console(sys.stderr if self.quiet or self.json else sys.stdout).print(text, style="bold red")

    def document(self, value: Mapping[str, Any]) -> None:
        """The result for programs."""
        if self.json:
            print(json.dumps(value, indent=2, allow_nan=False))

    @contextmanager
    def progress(self) -> Iterator[Callable[[str, float], None]]:
        """A bar on standard error, where that is a terminal; yields what to call with a message and a share."""
        if self.quiet or not sys.stderr.isatty():
            yield lambda message, fraction: None
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(20), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn())
        text = TextColumn("{task.description}", markup=False)
        with Progress(*columns, text, console=_console(sys.stderr), transient=True) as bar:
            task = bar.add_task("starting", total=1.0)
            yield lambda message, fraction: bar.update(task, description=message, completed=fraction)


def _console(file: Any) -> Console:
    # Made anew because tests and callers may have replaced the streams. No markup: names of columns may hold brackets.
    from rich.console import Console

    console = Console(file=file, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console
