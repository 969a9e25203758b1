"""The commands, put together, and how they end."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from typing import Annotated, Any

import typer

from counterfoil.accounting.sanity import LooseBudgetWarning
from counterfoil.cli.certify import certify
from counterfoil.cli.check import check
from counterfoil.cli.demo import demo
from counterfoil.cli.describe import describe
from counterfoil.cli.evaluate import evaluate
from counterfoil.cli.failure import INTERRUPTED, failure_of
from counterfoil.cli.infer import infer
from counterfoil.cli.ledger import ledger
from counterfoil.cli.marginal import error_bar, marginal
from counterfoil.cli.plain_values import read_plainly
from counterfoil.cli.plan import plan
from counterfoil.cli.predict import predict
from counterfoil.cli.receipt import receipt
from counterfoil.cli.report import report
from counterfoil.cli.sample import sample
from counterfoil.cli.schema import schema
from counterfoil.cli.synth import synth
from counterfoil.cli.terminal import complain, json_text
from counterfoil.cli.train import train
from counterfoil.interrupts import ended_once
from counterfoil.ledger.no_ledger import NoLedgerWarning

app = typer.Typer(
    name="counterfoil",
    help="Differentially private synthetic tables that come with receipts.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
app.command()(synth)
app.command()(plan)
app.command()(train)
app.command()(predict)
app.command()(schema)
app.add_typer(ledger, name="ledger")
app.add_typer(receipt, name="receipt")
app.command()(report)
app.command()(sample)
app.command()(marginal)
app.command()(error_bar)
app.command()(describe)
app.command()(certify)
app.command()(infer)
app.command()(check)
app.command()(evaluate)
app.command()(demo)


@app.callback(invoke_without_command=True)
def counterfoil(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        print(f"counterfoil {version_of('counterfoil')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


@cache
def _command(name: str) -> Callable[..., Any]:
    """The command or group of this name, as part of the whole; all of them where none has it, as with "".

    Put together once: `app` would read every option's annotation anew for each command that is run, and those of all
    take a tenth of a second.
    """
    part = copy(app)
    part.registered_commands = [one for one in app.registered_commands if _name_of(one) == name]
    part.registered_groups = [one for one in app.registered_groups if one.name == name]
    if name and not (part.registered_commands or part.registered_groups):
        return _command("")
    return _filled(typer.main.get_command(part if name else app))


def _name_of(command: Any) -> str:
    return typer.main.get_command_name(command.callback.__name__)


def _filled(command: Any) -> Any:
    """The command with what typer does not do: plain values are read without pydantic, and help has paragraphs of one
    line, where the lines of the source are longer than 80 characters.

    Paragraphs of commands, which begin with a backspace as `click` wants it, stay as they are.
    """
    if command.help:
        parts = command.help.split("\n\n")
        command.help = "\n\n".join(part if part.startswith("\b") else " ".join(part.split()) for part in parts)
    read_plainly(command)
    for inner in getattr(command, "commands", {}).values():
        _filled(inner)
    return command


def run(arguments: Sequence[str]) -> int:
    """Runs the command line `arguments` and returns its exit status.

    0: done. 1: a receipt that does not hold, or a bug. 2: bad input, in one sentence, with nothing half-written.
    3: a release that was withheld, for it did not meet the criteria declared for it. 130: interrupted.
    """
    with ended_once():
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    try:
        with warnings.catch_warnings():
            for said in (NoLedgerWarning, LooseBudgetWarning):  # commands say it themselves
                warnings.simplefilter("ignore", said)
            status = _command(arguments[0] if arguments else "")(
                args=list(arguments), prog_name="counterfoil", standalone_mode=False
            )
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; a second complaint at exit is avoided as Python's manual advises.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        return _fail(error, arguments)
    if status == INTERRUPTED:  # typer's word for an interrupt outside of what commands guard; it says nothing
        return _fail(KeyboardInterrupt(), arguments)
    return status if isinstance(status, int) else 0


def _fail(error: BaseException, arguments: Sequence[str]) -> int:
    failure = failure_of(error, show_values="--show-values" in arguments)
    if failure.sentence:  # asked for nothing: the help was shown instead
        complain(failure.sentence, lines=failure.lines)
    if "--json" in arguments:
        print(json_text({"error": failure.sentence, "status": failure.status}))
    return failure.status
