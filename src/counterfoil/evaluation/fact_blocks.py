"""What records say against the facts of a schema, as paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from counterfoil.alike import grouped
from counterfoil.blocks import wrapped
from counterfoil.evaluation.alike_notes import note_key, said_of

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


def broken_facts(report: SchemaReport) -> Iterator[str]:
    """A paragraph for each rule, list of zeros and derivation that records break."""
    for fact in report.broken:
        yield ""
        yield wrapped(_stated(fact))
        if fact.problem:
            yield wrapped(fact.problem, "  ")
        if fact.count:
            records = f"{fact.count:,} record{'s' if fact.count > 1 else ''} ({100 * fact.count / report.rows:.3g}%)"
            yield wrapped(f"{_REMEDIES[fact.kind].format(records)}.", "  ")
            more = ", ..." if fact.count > len(fact.rows) else ""
            plural = "s" if fact.count > 1 else ""
            yield wrapped(f"{report.counted_in}{plural} {', '.join(map(str, fact.rows))}{more}", "    ")


def notes(report: SchemaReport) -> Iterator[str]:
    """What is worth a look, and no mistake by itself."""
    if not report.notes:
        return
    yield "\nWorth a look:"
    for alike in grouped(report.notes, note_key):
        yield wrapped(said_of(alike), "  ")
        yield from (f"    {line}".rstrip() for line in alike[0].toml.splitlines())
        if alike[0].values:
            listed = ", ".join(f"{text!r} ({count:,})" for text, count in alike[0].values)
            yield wrapped(f"most often {listed}", "    ")


def broken_shares(comparison: Comparison) -> Iterator[str]:
    """How many of the real rows break each fact, of which a synthetic table has none."""
    broken = [fact for fact in comparison.facts if fact.count]
    if not broken:
        return
    yield "\nReal rows that break a fact of the schema, so that the copy has none like them:"
    for fact in broken:
        yield wrapped(f"{100 * fact.count / comparison.real_rows:.3g}%  {_stated(fact)}", "  ")


def _stated(fact: BrokenFact) -> str:
    return fact.fact if fact.kind == "zeros" else f"{fact.kind} `{fact.fact}`"
