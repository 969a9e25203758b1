"""What commands print: results on standard output, everything else on standard error.

Names of columns, values of cells and whole files come from others. Everything is therefore printed inert, here and
nowhere else: what a terminal could obey is written out, but for the newlines of texts that a command has laid out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from counterfoil.cli.time_left import TimeLeft
from counterfoil.inert import inert

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import ProgressColumn
    from rich.text import Text

WIDTH = 80

_BAR, _BAR_AND_TIMES = 12, 48
"""The width of a progress without its message: a bar, the share, the time that has passed and the time left."""


@dataclass(frozen=True)
class Terminal:
    """Where a command prints.

    Args:
        quiet: nothing but errors and results that were asked for as JSON.
        json: one JSON document on standard output, and nothing else there.
    """

    quiet: bool = False
    json: bool = False
    _bars: list[Console] = field(default_factory=list, init=False, repr=False, compare=False)

    def say(self, text: str) -> None:
        """A line of the result for people; never wrapped, so that paths can be copied."""
        if not (self.quiet or self.json):
            print(inert(text, keep="\n"))

    def show(self, table: RenderableType) -> None:
        """A table or the like, for people."""
        if not (self.quiet or self.json):
            console = _console(sys.stdout)
            if console.is_terminal:
                console.print(table)
                return
            with console.capture() as laid_out:
                console.print(table)
            # Cells of the last column are padded, which a file or another program would keep.
            print("\n".join(line.rstrip(" ") for line in laid_out.get().splitlines()))

    def note(self, text: str) -> None:
        """Something to know that is not the result."""
        if not self.quiet:
            # Above a bar that is shown: on its line the note would stand behind it.
            console = self._bars[-1] if self._bars else _console(sys.stderr)
            console.print(_laid_out(text, console))

    def alarm(self, text: str) -> None:
        """Part of the result that must not be overlooked: in red, on standard error where results are not printed."""
        console = _console(sys.stderr if self.quiet or self.json else sys.stdout)
        console.print(_laid_out(text, console), style="bold red")

    def document(self, value: Mapping[str, Any]) -> None:
        """The result for programs."""
        if self.json:
            print(json_text(value))

    @contextmanager
    def progress(self) -> Iterator[Callable[[str, float], None]]:
        """A bar on standard error, where that is a terminal; yields what to call with a message and a share.

        It never goes back, and says how long the rest will take, as far as that is seen.
        """
        if self.quiet or not sys.stderr.isatty():
            yield lambda message, fraction: None
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        left = TimeLeft(monotonic)
        columns = (BarColumn(_BAR), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(), _left_column(left))
        room = Column(max_width=WIDTH - _BAR_AND_TIMES, no_wrap=True, overflow="ellipsis")
        text = TextColumn("{task.description}", markup=False, table_column=room)
        with Progress(*columns, text, console=_console(sys.stderr), transient=True) as bar:
            task = bar.add_task("starting", total=1.0)
            self._bars.append(bar.console)
            try:
                yield lambda message, share: bar.update(task, description=inert(message), completed=left.seen(share))
            finally:
                self._bars.pop()


def _left_column(left: TimeLeft) -> ProgressColumn:
    """The column of a bar that says what time is left."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Left(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            return Text(left.words())

    return Left()


def json_text(value: Any) -> str:
    """JSON in ASCII, so that it holds nothing that a terminal could obey; only DEL is no affair of JSON's escapes."""
    return json.dumps(value, indent=2, allow_nan=False).replace("\x7f", "\\u007f")


def _laid_out(text: str, console: Console) -> Text:
    """A text of the program's own lines, wrapped, without the space at which a line was broken."""
    from rich.text import Text

    lines = Text(inert(text, keep="\n")).wrap(console, console.width)
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def complain(sentence: str, *, lines: bool = False) -> None:
    """One line on standard error about how a command ended, whatever is in it; several where the program broke it."""
    print(f"counterfoil: {inert(sentence, keep=chr(10) if lines else '')}", file=sys.stderr)


@cache
def _inert_console() -> type[Console]:
    """A console of which every text is inert, before it is laid out.

    Cells and headings of tables are fields: their newlines are written out too. Those of a `Text` are the program's.
    """
    from rich.console import Console
    from rich.text import Text

    class InertConsole(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(inert(text), **how)

        def render(self, renderable: Any, options: Any = None) -> Any:
            if isinstance(renderable, Text) and not renderable.plain.isprintable():
                renderable = renderable.copy()
                renderable.plain = inert(renderable.plain, keep="\n")
            return super().render(renderable, options)

    return InertConsole


def _console(file: Any) -> Console:
    # Made anew because tests and callers may have replaced the streams. No markup: names of columns may hold brackets.
    console = _inert_console()(file=file, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console
