"""What records say against the facts of a schema, as `counterfoil check` and `counterfoil evaluate` print it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from counterfoil.alike import grouped
from counterfoil.cli.alike_notes import note_key, said_of
from counterfoil.cli.terminal import WIDTH, Terminal

if TYPE_CHECKING:
    from counterfoil.evaluation.broken_facts import BrokenFact
    from counterfoil.evaluation.comparison import Comparison
    from counterfoil.evaluation.schema_report import SchemaReport

_REMEDIES: Mapping[str, str] = {
    "rule": "broken by {}, and a release has none like them: correct the rule, or the data",
    "zeros": "found in {}, though they are called impossible: correct the list, or the data",
    "derived": (
        "not so in {}, where the derived value takes the place of the other: correct the derivation, or leave it out "
        "and declare the column"
    ),
}


def show_broken(terminal: Terminal, report: SchemaReport) -> None:
    """A paragraph for each rule, list of zeros and derivation that records break."""
    for fact in report.broken:
        terminal.say("")
        terminal.say(_wrapped(_stated(fact)))
        if fact.problem:
            terminal.say(_wrapped(fact.problem, "  "))
        if fact.count:
            records = f"{fact.count:,} record{'s' if fact.count > 1 else ''} ({100 * fact.count / report.rows:.3g}%)"
            terminal.say(_wrapped(f"{_REMEDIES[fact.kind].format(records)}.", "  "))
            more = ", ..." if fact.count > len(fact.rows) else ""
            plural = "s" if fact.count > 1 else ""
            terminal.say(_wrapped(f"{report.counted_in}{plural} {', '.join(map(str, fact.rows))}{more}", "    "))


def show_notes(terminal: Terminal, report: SchemaReport) -> None:
    """What is worth a look, and no mistake by itself."""
    if not report.notes:
        return
    terminal.say("\nWorth a look:")
    for notes in grouped(report.notes, note_key):
        terminal.say(_wrapped(said_of(notes), "  "))
        if notes[0].values:
            listed = ", ".join(f"{text!r} ({count:,})" for text, count in notes[0].values)
            terminal.say(_wrapped(f"most often {listed}", "    "))


def show_broken_shares(terminal: Terminal, comparison: Comparison) -> None:
    """How many of the real rows break each fact, of which a synthetic table has none."""
    broken = [fact for fact in comparison.facts if fact.count]
    if not broken:
        return
    terminal.say("\nReal rows that break a fact of the schema, so that the copy has none like them:")
    for fact in broken:
        terminal.say(_wrapped(f"{100 * fact.count / comparison.real_rows:.3g}%  {_stated(fact)}", "  "))


def _stated(fact: BrokenFact) -> str:
    return fact.fact if fact.kind == "zeros" else f"{fact.kind} `{fact.fact}`"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ")
