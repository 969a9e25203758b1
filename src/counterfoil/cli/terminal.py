"""What commands print: results on standard output, everything else on standard error.

Names of columns, values of cells and whole files come from others. Everything is therefore printed inert, here and
nowhere else: what a terminal could obey is written out, but for the newlines of texts that a command has laid out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from counterfoil.blocks import Alarm, Block, laid_out
from counterfoil.cli.time_left import TimeLeft
from counterfoil.console import WIDTH as WIDTH
from counterfoil.console import console
from counterfoil.inert import inert

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import ProgressColumn
    from rich.text import Text

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
            shown = console(sys.stdout)
            if shown.is_terminal:
                shown.print(table)
            else:
                print(laid_out(table))

    def report(self, blocks: Iterable[Block]) -> None:
        """A report about the real records, for people."""
        for block in blocks:
            if isinstance(block, Alarm):
                self.alarm(block)
            elif isinstance(block, str):
                self.say(block)
            else:
                self.show(block)

    def note(self, text: str) -> None:
        """Something to know that is not the result."""
        if not self.quiet:
            # Above a bar that is shown: on its line the note would stand behind it.
            above = self._bars[-1] if self._bars else console(sys.stderr)
            above.print(_laid_out(text, above))

    def alarm(self, text: str) -> None:
        """Part of the result that must not be overlooked: in red, on standard error where results are not printed."""
        shown = console(sys.stderr if self.quiet or self.json else sys.stdout)
        shown.print(_laid_out(text, shown), style="bold red")

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
        with Progress(*columns, text, console=console(sys.stderr), transient=True) as bar:
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
