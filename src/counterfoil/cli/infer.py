"""`counterfoil infer`: what a release says about the real table, with intervals that count its noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.findings_table import common, sentence_of_alike, table_of, without_many_alike
from counterfoil.cli.options import Json, ReceiptFile, ReleasePath
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled
from counterfoil.inert import inert

if TYPE_CHECKING:
    from counterfoil.inference.evidence import Evidence
    from counterfoil.inference.finding import Finding, Test


@dataclass(frozen=True)
class Kind:
    """A kind of inference.

    Args:
        home: the module of its function, which has its name.
        least, most: how many arguments it takes.
        arguments: what they are, for the sentence that asks for them.
        listed: from which argument on they are given as one list; None where each is given by itself.
        options: the options that it takes.
        of_all: whether it is about all columns, whichever are named.
    """

    home: str
    least: int
    most: float
    arguments: str
    listed: int | None = None
    options: tuple[str, ...] = ()
    of_all: bool = False


KINDS = {
    "proportion": Kind("proportions", 1, 1, 'an event, such as "age >= 65"', options=("by", "naive")),
    "mean": Kind("means", 1, 1, "a column of numbers", options=("by", "naive")),
    "chi2": Kind("contingency", 2, 2, "two columns"),
    "covariance": Kind("covariances", 1, math.inf, "columns of numbers", listed=0),
    "correlation": Kind("covariances", 2, math.inf, "at least two columns of numbers", listed=0),
    "pca": Kind("principal_components", 2, math.inf, "at least two columns of numbers", listed=0),
    "ols": Kind("least_squares", 2, math.inf, "a target and its predictors", listed=1),
    "graph": Kind("edges", 2, math.inf, "at least two columns of numbers", listed=0),
    "risk": Kind(
        "linear_risk", 1, 2, "a target of two values, and which of them counts as 1", options=("norm",), of_all=True
    ),
    "m-estimate": Kind(
        "m_estimation", 0, 1, "the target of the models whose losses were bought", options=("penalty",), of_all=True
    ),
}


def infer(
    release: ReleasePath,
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KINDS)}.", metavar="KIND")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="An event, or columns: see below.", metavar="[ARGUMENTS]...")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Within each value of this column.", metavar="COLUMN")] = None,
    level: Annotated[float, typer.Option("--level", help="The probability that an interval holds.")] = 0.95,
    receipt: ReceiptFile = None,
    norm: Annotated[
        float | None, typer.Option("--norm", help="With risk: how large weights may be, in norm1; 1 if left out.")
    ] = None,
    penalty: Annotated[
        float | None,
        typer.Option("--penalty", help="With m-estimate: times norm1 of weights, added to risks; 0 if left out."),
    ] = None,
    naive: Annotated[
        bool, typer.Option("--naive", help="Show beside it what the synthetic rows alone would say, which misleads.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what a release tells about the real table, counting noise and sampling.

    \b
    counterfoil infer people.synthetic.parquet proportion "age >= 65" --by sex
    counterfoil infer people.synthetic.parquet mean age --by sex
    counterfoil infer people.synthetic.parquet chi2 race income
    counterfoil infer people.synthetic.parquet ols income age hours

    It rests on the noisy answers on the receipt, and reads no record. What was never measured is stated with the
    release's error bar, or refused. Kinds: proportion EVENT, mean COLUMN, chi2 COLUMN COLUMN; where moments were
    bought, covariance, correlation, pca and graph COLUMNS, ols TARGET PREDICTORS, risk TARGET [VALUE]; where losses
    were bought, m-estimate [TARGET].
    """
    from counterfoil.inference.caveats import caveats
    from counterfoil.inference.evidence import Evidence
    from counterfoil.receipt.rows_used import rows_used

    terminal = Terminal(json=json)
    options: dict[str, Any] = {"by": by, "norm": norm, "penalty": penalty, "naive": naive or None}
    given = {name: value for name, value in options.items() if value is not None}
    wanted = require_kind(kind, arguments or [], given, release=release)
    try:
        evidence = Evidence.of(release, receipt=receipt)
        found = run(kind, wanted, evidence, arguments or [], level, given)
        misled = run_naive(kind, evidence, arguments or [], level, given) if naive else []
    except ValueError as error:
        # Names in a release's files are anybody's; nothing that a terminal obeys is printed. No record was read.
        if str(error).isprintable():
            raise
        raise ValueError(inert(str(error))) from error
    show(terminal, found, misled)
    asked = [*(arguments or []), *([by] if by else [])]
    # Models for a target are of all the other columns.
    changed = caveats(evidence, asked, of_all=wanted.of_all)
    changed += filter(None, [rows_used(evidence.receipt.document)])
    for sentence in changed:
        terminal.alarm(filled(inert(f"WARNING: {sentence}"), subsequent_indent="  "))
    if not evidence.receipt.private:
        terminal.alarm("NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.")
    results = [one.to_json() for one in found] if isinstance(found, list) else found.to_json()
    naively = {"naive": [one.to_json() for one in misled]} if naive else {}
    question = {
        "release": str(release),
        "private": evidence.receipt.private,
        "kind": kind,
        "arguments": arguments or [],
    }
    terminal.document({**question, "found": results, **naively, "warnings": changed})


def require_kind(kind: str, arguments: Sequence[str], given: dict[str, Any], *, release: Path) -> Kind:
    """The kind of that name.

    Raises:
        ValueError: for an unknown kind, too few or too many arguments, or an option that it does not take.
    """
    from counterfoil.schema.errors import closest

    if kind not in KINDS and str(release) in KINDS:
        raise ValueError(f"The release comes first, then what to infer: counterfoil infer {kind} {release} ...")
    if kind not in KINDS:
        raise ValueError(f"KIND must be one of {', '.join(KINDS)}. Found {kind!r}.{closest(kind, KINDS)}")
    wanted = KINDS[kind]
    if not wanted.least <= len(arguments) <= wanted.most:
        raise ValueError(
            f"`{kind}` takes {wanted.arguments}. Found {len(arguments)}; an event is one argument, between quotes."
        )
    for option in given:
        if option not in wanted.options:
            takers = " and ".join(name for name, one in KINDS.items() if option in one.options)
            raise ValueError(f"`--{option}` goes with {takers}. Found it with {kind}: leave it out.")
    return wanted


def run(
    kind: str, wanted: Kind, evidence: Evidence, arguments: Sequence[str], level: float, given: dict[str, Any]
) -> list[Finding] | Test:
    """What the function of this kind finds."""
    from importlib import import_module

    function: Callable[..., Any] = getattr(
        import_module(f"counterfoil.inference.{wanted.home}"), kind.replace("-", "_")
    )
    options = {name: value for name, value in given.items() if name != "naive"}
    if wanted.listed is None:
        return function(evidence, *arguments, level=level, **options)
    return function(evidence, *arguments[: wanted.listed], list(arguments[wanted.listed :]), level=level, **options)


def run_naive(
    kind: str, evidence: Evidence, arguments: Sequence[str], level: float, given: dict[str, Any]
) -> list[Finding]:
    """What the synthetic rows alone would say."""
    from counterfoil.inference.naive import naive_mean, naive_proportion

    function = {"proportion": naive_proportion, "mean": naive_mean}[kind]
    return function(evidence, arguments[0], by=given.get("by"), level=level)


def show(terminal: Terminal, found: list[Finding] | Test, misled: Sequence[Finding]) -> None:
    """Findings as a table, or a test as lines, and what they rest on."""
    from counterfoil.inference.finding import Test

    if isinstance(found, Test):
        show_test(terminal, found)
        basis = found.basis
    else:
        named = show_findings(terminal, found)
        basis = tuple(dict.fromkeys(sentence for one in named for sentence in one.basis))
    terminal.say("\nRests on:")
    for sentence in basis:
        terminal.say(filled(inert(f"- {sentence}"), subsequent_indent="  "))
    if misled:
        terminal.say("")
        terminal.alarm(filled(misled[0].basis[0]))
        terminal.show(table_of(misled, naive=True))


def show_findings(terminal: Terminal, found: Sequence[Finding]) -> list[Finding]:
    """The findings as a table under what they have in common; returns those listed, and one of those counted."""
    if not found:
        terminal.say("Nothing was found.")
        return []
    heading = common(found)
    if heading:
        terminal.say(filled(inert(f"{heading[0].upper()}{heading[1:]}:")))
    listed, alike = without_many_alike(found)
    if listed:
        terminal.show(table_of(listed))
    if alike:
        sentence = f"{sentence_of_alike(alike, others=bool(listed))} `--json` lists each."
        terminal.say(filled(sentence, subsequent_indent="  "))
    levels = sorted({one.level for one in found if not one.decided})
    if levels:
        terminal.say(f"\nEach interval holds with probability {' or '.join(f'{level:.4g}' for level in levels)}.")
    if not all(one.measured or one.decided for one in found):
        terminal.alarm("NEVER MEASURED: intervals are error bars around what the method assumed.")
    return [*listed, *alike[:1]]


def show_test(terminal: Terminal, test: Test) -> None:
    """A test as lines."""
    terminal.say(filled(inert(f"Hypothesis: {test.about}.")))
    terminal.say(
        f"  statistic    {test.statistic:.4g} (where the hypothesis holds, {100 * test.noise_share:.0f}% is noise)"
    )
    terminal.say(f"  p-value      {test.p_value:.4g}, with the noise counted")
