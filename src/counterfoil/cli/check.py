"""`counterfoil check`: what a schema does to a table, before anything is made of it."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.alike import columns_named, grouped
from counterfoil.cli.facts_list import show_broken, show_notes
from counterfoil.cli.no_ledger_note import noted_without_ledger
from counterfoil.cli.options import Json, LedgerFile, SchemaFile, ShowValues
from counterfoil.cli.schema_check import show_schema_check, show_schema_warnings
from counterfoil.cli.terminal import WIDTH, Terminal
from counterfoil.table_url import stem_of

if TYPE_CHECKING:
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.neighbors import PrivacyUnit
    from counterfoil.evaluation.schema_report import ColumnReport, Irregular, SchemaReport
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.schema import Schema
    from counterfoil.schema.checkable import Checkable

ALARM = "NOT PRIVATE: these are exact facts about the real records. DO NOT SHARE them."
_MOST_NAMED = 20
_NO_ROWS = (
    "NO ROWS: the table must have rows for its values to be checked. Found a header alone: only the names of its "
    "columns were compared with the schema."
)


def check(
    source: Annotated[
        str,
        typer.Argument(help="A CSV or Parquet file, FILE.db::TABLE, or postgresql://HOST/DB::TABLE.", metavar="INPUT"),
    ],
    schema: SchemaFile,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="Buy noisy counts, with a receipt that may be shared, for this much."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", help="With --epsilon: 1e-9 if left out; 0 for pure privacy.")
    ] = None,
    confirm_delta: Annotated[
        float | None, typer.Option("--confirm-delta", help="A delta of .1 or more, said twice.", metavar="DELTA")
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", help="With --epsilon: add_or_remove_one (the default) or replace_one."),
    ] = None,
    privacy_unit: Annotated[
        str | None,
        typer.Option("--privacy-unit", help="With --epsilon: protect all rows with one value here.", metavar="COLUMN"),
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", help="With it: how many rows of each are used.", metavar="K")
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(
            "--receipt", help="With --epsilon: where it goes; INPUT.check.receipt.json if left out.", metavar="R.json"
        ),
    ] = None,
    ledger: LedgerFile = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Say which values of a table the schema clamps, moves, or does not understand.

    Without --epsilon it is NOT PRIVATE: exact counts and line numbers, for your own terminal. Nothing is charged; with
    --ledger, the look is recorded for good. No value is refused: all columns are listed. Exits with status 1 when a
    value is clamped, moved, infinite, not understood, or has no place, and when a record breaks a rule, a list of
    zeros, or the derivation of a column that the table has too; and for a draft, of which what is stated is checked.

    With --epsilon it is private: noisy counts, charged to --ledger, and a receipt.
    """
    terminal = Terminal(json=json)
    if epsilon is not None:
        unit = (privacy_unit, max_rows)
        allowed = _budget(epsilon, delta, confirm_delta)
        _buy(terminal, source, schema, allowed, relation, unit, ledger, receipt)
        return
    bought = {"delta": delta, "relation": relation, "privacy-unit": privacy_unit, "receipt": receipt}
    for option, given in (bought | {"max-rows": max_rows, "confirm-delta": confirm_delta}).items():
        if given is not None:
            raise ValueError(f"`--{option}` goes with `--epsilon`, which buys private counts. Found it alone: add it.")
    if not _look(terminal, source, schema, ledger, show_values=show_values):
        raise typer.Exit(1)


def _look(terminal: Terminal, source: str, schema: Path, ledger: Path | None, *, show_values: bool) -> bool:
    """Prints the exact report; returns whether each value is as declared and each fact holds."""
    from counterfoil.evaluation.schema_report import check_without_privacy
    from counterfoil.ledger.ledger import Ledger

    facts, draft = _checked_facts(source, schema)
    with ExitStack() as stack:
        opened = None if ledger is None else stack.enter_context(Ledger.open(ledger, source=None))
        report = check_without_privacy(source, facts, ledger=opened, values=show_values)
    if draft is not None:
        report = replace(report, beside={**report.beside, "ignored": draft.ignored})
    terminal.alarm(ALARM)
    show_report(terminal, report)
    if draft is not None:
        _show_draft(terminal, draft)
    terminal.alarm(ALARM)
    terminal.document(report.to_json() if draft is None else report.to_json() | _of_draft(draft))
    return report.holds and draft is None


def _checked_facts(source: str, schema: Path) -> tuple[Schema, Checkable | None]:
    """The schema, or what can be checked of a draft; a draft of which nothing can be is refused by who reads it."""
    from counterfoil.curator.given import schema_given
    from counterfoil.curator.source_facts import columns_of
    from counterfoil.kept_files import kept_source
    from counterfoil.schema.checkable import checkable

    facts = schema_given(schema, source=source)
    if not facts.confirm:
        return facts, None
    names = columns_of(source, facts.declared, facts.encoding).types
    draft = checkable(schema, names, sensitive=kept_source(source))
    return (facts, None) if draft is None else (draft.schema, draft)


def _show_draft(terminal: Terminal, draft: Checkable) -> None:
    """What of a draft was not checked, and what nobody confirmed."""
    from counterfoil.schema.errors import open_facts

    terminal.say("\nThe schema is a draft, and no release can be made of it.")
    if draft.to_confirm:
        more = f" and {len(draft.to_confirm) - _MOST_NAMED:,} more" if len(draft.to_confirm) > _MOST_NAMED else ""
        named = f"{', '.join(draft.to_confirm[:_MOST_NAMED])}{more}"
        terminal.say(_wrapped(f"Checked as it stands, and still to be confirmed from public knowledge: {named}."))
    if draft.open:
        terminal.say("Not checked, as this is not said yet:")
        for line in open_facts(draft.open):
            terminal.say(_wrapped(line.strip(), "  "))
    if draft.without:
        facts = "One rule or derivation that names" if draft.without == 1 else f"{draft.without:,} facts that name"
        terminal.say(_wrapped(f"{facts} these columns {'was' if draft.without == 1 else 'were'} left out, too."))


def _of_draft(draft: Checkable) -> dict[str, Any]:
    """What `--json` adds: a draft is not as declared, as much of it is not."""
    unchecked = [{"column": one.column, "facts": list(one.facts)} for one in draft.open]
    return {"as_declared": False, "to_confirm": list(draft.to_confirm), "not_checked": unchecked}


def _beside(report: SchemaReport) -> str:
    """What else the table has, so that its columns add up; empty where there is nothing."""
    words = {
        "identifier": ("identifier, whose values are not checked", "identifiers, whose values are not checked"),
        "derived": ("derived column, which is compared below", "derived columns, which are compared below"),
        "ignored": ("ignored column, which is not read", "ignored columns, which are not read"),
    }
    found = [f"{count:,} {words[kind][count > 1]}" for kind, count in report.beside.items() if count]
    return f" Beside them {', and '.join(found)}." if found else ""


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def show_report(terminal: Terminal, report: SchemaReport) -> None:
    """A paragraph for each column and each fact that something speaks against, a sentence for the rest, and notes."""
    columns = len(report.columns)
    terminal.say(_wrapped(f"{report.source}: {report.rows:,} rows, {_number(columns, 'column')}.{_beside(report)}"))
    if not report.rows:
        # That every value of none is as declared would be true, and would pass for a check.
        terminal.alarm(_wrapped(_NO_ROWS))
    wrong = [column for column in report.columns if column.found or column.problem]
    for columns_alike in grouped(wrong, _slips):
        terminal.say("")
        if len(columns_alike) == 1:
            _show_column(terminal, columns_alike[0], report)
        else:
            _show_alike(terminal, columns_alike, report)
    show_broken(terminal, report)
    terminal.say("")
    fine = len(report.columns) - len(wrong)
    missing = [
        f"{column.words.name} {_percent(one.count, report.rows)}"
        for column in report.columns
        for one in column.irregular
        if one not in column.found
    ]
    if fine and report.rows:
        which = f"{'the other ' if wrong else ''}{fine:,} {'column' if fine == 1 else 'columns'}"
        terminal.say(f"In {which}, every value is as declared.")
    if missing:
        terminal.say(_wrapped(f"Missing, as declared: {', '.join(missing)}."))
    show_notes(terminal, report)


def _slips(column: ColumnReport) -> Hashable | None:
    """What is said of a column but its name, its numbers and its lines; None where its values are shown."""
    if column.problem or any(one.values for one in column.found):
        return None
    words = column.words
    said = tuple((words.happened(one.way), column.remedy(one)) for one in column.found)
    return words.kind, words.lower, words.upper, said


def _show_alike(terminal: Terminal, columns: Sequence[ColumnReport], report: SchemaReport) -> None:
    """One paragraph for columns of which the same is said, with the column that has most of it."""
    words = columns[0].words
    bounds = f", {words.lower} to {words.upper}" if words.lower else ""
    named = columns_named([column.words.name for column in columns])
    terminal.say(_wrapped(f"{named[0].upper()}{named[1:]} ({words.kind}{bounds})"))
    for place, first in enumerate(columns[0].found):
        worst = max(columns, key=lambda column: column.found[place].count)
        most, total = worst.found[place], sum(column.found[place].count for column in columns)
        share = f"at most {_percent(most.count, report.rows)} of one column"
        said = f"{words.happened(first.way)}: {columns[0].remedy(first)}"
        terminal.say(_wrapped(f"{total:,} in all ({share}) {said}.", indent="  "))
        where = f"most in {worst.words.name}, {_where(most, report.counted_in)}; --json lists each column"
        terminal.say(_wrapped(where, indent="    "))


def _show_column(terminal: Terminal, column: ColumnReport, report: SchemaReport) -> None:
    words = column.words
    bounds = f", {words.lower} to {words.upper}" if words.lower else ""
    terminal.say(_wrapped(f"{words.name} ({words.kind}{bounds})"))
    if column.problem:
        terminal.say(_wrapped(column.problem, indent="  "))
    for one in column.found:
        share = _percent(one.count, report.rows)
        terminal.say(_wrapped(f"{one.count:,} ({share}) {words.happened(one.way)}: {column.remedy(one)}.", indent="  "))
        terminal.say(_wrapped(_where(one, report.counted_in), indent="    "))
        if one.values:
            listed = ", ".join(f"{text!r} ({count:,})" for text, count in one.values)
            terminal.say(_wrapped(f"most often {listed}", indent="    "))


def _where(one: Irregular, counted_in: str) -> str:
    more = ", ..." if one.count > len(one.rows) else ""
    return f"{counted_in}{'s' if one.count > 1 else ''} {', '.join(str(row) for row in one.rows)}{more}"


def _percent(count: int, rows: int) -> str:
    return f"{100 * count / rows:.3g}%"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ")


def _budget(epsilon: float, delta: float | None, confirmed: float | None) -> Budget:
    """What the counts may cost.

    Raises:
        ValueError: for a budget that is none, or a delta of .1 or more that was not said twice.
    """
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.sanity import require_moderate_delta
    from counterfoil.methods.method import DEFAULT_DELTA

    budget = Budget(epsilon, DEFAULT_DELTA if delta is None else delta)
    require_moderate_delta(budget.delta, confirmed)
    return budget


def _buy(
    terminal: Terminal,
    source: str,
    schema: Path,
    allowed: Budget,
    relation: str | None,
    unit: tuple[str | None, int | None],
    ledger: Path | None,
    receipt: Path | None,
) -> None:
    """Buys the counts alone, writes their receipt, and prints what they say."""
    from counterfoil.cli.outputs import inputs, require_free, require_harmless
    from counterfoil.cli.synth_request import relation_named, unit_of
    from counterfoil.curator.given import schema_given

    path = receipt if receipt is not None else default_receipt(source)
    if path.exists():
        raise ValueError(f"{path} is there already. Choose another name with --receipt, or move it away.")
    require_harmless([path], inputs(source, ledger=ledger, schema=schema))
    require_free([path], force=False)
    related = relation_named("add_or_remove_one" if relation is None else relation)
    facts = schema_given(schema, source=source)
    with noted_without_ledger(terminal, ledger):
        made = _bought(source, facts, allowed, related, unit_of(*unit), ledger, path)
    terminal.say(f"Bought for epsilon {allowed.epsilon:g}, delta {allowed.delta:g}, {related}.")
    terminal.say(f"  receipt  {path}")
    show_schema_warnings(terminal, made.document)
    show_schema_check(terminal, made.document)
    for sentence in made.document["warnings"]:
        terminal.alarm(f"WARNING: {sentence}")
    terminal.document(made.to_json())


def _bought(
    source: str,
    schema: Schema,
    budget: Budget,
    relation: str,
    unit: PrivacyUnit | None,
    ledger: Path | None,
    path: Path,
) -> Receipt:
    from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
    from counterfoil.curator.curator import Curator
    from counterfoil.fidelity.schema_check import buy_schema_check
    from counterfoil.ledger.ledger import Ledger

    with ExitStack() as stack:
        opened = None if ledger is None else stack.enter_context(Ledger.open(ledger, source=None))
        if opened is not None:  # before the records are read
            opened.require_room(budget, Neighbors(NeighboringRelation(relation), unit).describe())
        curator = stack.enter_context(
            Curator(source, schema, budget=budget, relation=relation, privacy_unit=unit, ledger=opened)
        )
        curator.require_rows()
        made = buy_schema_check(curator)
        made.save(path)
        curator.record_receipt(made.digest)
    return made


def default_receipt(source: str) -> Path:
    """people.csv gives people.check.receipt.json in the current folder."""
    return Path(f"{stem_of(source)}.check.receipt.json")
