"""`counterfoil schema INPUT`: a draft of a schema, one that is bought, or one that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.options import Force, Json, LedgerFile, MaxRows, Quiet, Source
from counterfoil.cli.row_count import row_count
from counterfoil.cli.schema_file import facts_of, note_strange_header, require_schema_file
from counterfoil.cli.terminal import Terminal
from counterfoil.inert import inert_toml
from counterfoil.schema.header import require_names
from counterfoil.table_url import stem_of


def schema(
    context: typer.Context,
    source: Source,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write it; a draft is printed if left out.", metavar="S.toml")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Buy what nobody stated, for this much.", metavar="E")
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", help="With --epsilon: 1e-9 if left out.", metavar="D")
    ] = None,
    confirm_delta: Annotated[
        float | None, typer.Option("--confirm-delta", help="A delta of .1 or more, said twice.", metavar="D")
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", help="With --epsilon: add_or_remove_one (the default) or replace_one.", metavar="R"),
    ] = None,
    privacy_unit: Annotated[
        str | None,
        typer.Option("--privacy-unit", help="With --epsilon: protect all rows with one value here.", metavar="COLUMN"),
    ] = None,
    max_rows: MaxRows = None,
    ledger: LedgerFile = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--share",
            help="With --epsilon: buy with this share of the budget, such as 0.1; synth --rest spends the rest.",
            metavar="F",
        ),
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option("--receipt", help="With --epsilon: its receipt; beside --out if left out.", metavar="R.json"),
    ] = None,
    stated: Annotated[
        Path | None,
        typer.Option("--stated", help="With --epsilon: facts that are known, and cost nothing.", metavar="PARTIAL"),
    ] = None,
    decimal_char: Annotated[
        str | None,
        typer.Option("--decimal-char", help="The decimal sign of its numbers, a comma or a point.", metavar="C"),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", help="Of a CSV file that is not UTF-8, such as windows-1252.", metavar="NAME"),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows", help="With --epsilon: how many rows there are, if public.", metavar="N", parser=row_count
        ),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Ask on the terminal, column by column; nothing is read.")
    ] = False,
    piped: Annotated[bool, typer.Option("--piped", help="With --confirm: the answers come from a pipe.")] = False,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            help="With --epsilon: keep answers here until its files are written; beside --out if left out.",
            metavar="PLACE",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With --epsilon: finish a run that ended early, with the answers that it kept."),
    ] = False,
    discard_answers: Annotated[
        bool, typer.Option("--discard-answers", help="With --epsilon: delete the answers of a run that ended early.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draft a schema from the names and types of columns; with --epsilon, buy it; with --confirm, ask for it.

    As a draft, no record is read. Each fact is for you to state from public knowledge; synth refuses the draft until
    you have.

    With --epsilon, noisy answers say what nobody stated: kinds, bounds, frequent categories. It is private, charged to
    --ledger, has a receipt, and synth takes it as it stands. What it costs adds to every release; with --share, one
    release, synth --rest, is within the same E.
    """
    from counterfoil.cli.schema_bought import KeepingWish, Wish, buy
    from counterfoil.cli.schema_confirm import ask
    from counterfoil.cli.synth_keeping import command_to_finish
    from counterfoil.schema.decimal_char import DECIMAL_CHARS
    from counterfoil.schema.encoding import UTF_8, encoding_named

    options: dict[str, object] = {"delta": delta, "confirm-delta": confirm_delta, "relation": relation}
    options |= {"privacy-unit": privacy_unit, "max-rows": max_rows, "ledger": ledger, "share": share}
    options |= {"receipt": receipt, "stated": stated, "rows": rows, "keep": keep}
    options |= {"resume": resume or None, "discard-answers": discard_answers or None}
    if epsilon is None:
        _refuse(options, "`--epsilon`, which buys a schema")
    if piped and not confirm:
        raise ValueError("`--piped` goes with `--confirm`, which asks. Found it alone: add it.")
    if confirm and epsilon is not None:
        raise ValueError("`--epsilon` buys what `--confirm` asks for. Found both: leave one out.")
    if confirm and json:
        raise ValueError("`--confirm` asks on the terminal, where `--json` prints nothing else. Found both: leave one.")
    if decimal_char is not None and decimal_char not in DECIMAL_CHARS:
        raise ValueError(f"The decimal sign must be a comma or a point. Found {decimal_char!r}.")
    encoded = UTF_8 if encoding is None else encoding_named(encoding)
    terminal = Terminal(quiet=quiet, json=json)
    if epsilon is not None:
        keeping = KeepingWish(keep, resume, discard_answers, command_to_finish(context))
        unit = privacy_unit, max_rows
        wish = Wish(
            source,
            epsilon,
            delta,
            confirm_delta,
            relation,
            *unit,
            ledger,
            stated,
            rows,
            keeping,
            1.0 if share is None else share,
            decimal_char,
            encoding,
        )
        buy(terminal, wish, out, receipt, force=force)
    elif confirm:
        ask(terminal, source, out, force=force, piped=piped, decimal_char=decimal_char, encoding=encoded)
    else:
        _draft(terminal, source, out, decimal_char, encoded, force=force)


def _refuse(options: dict[str, object], needed: str) -> None:
    for option, given in options.items():
        if given is not None:
            raise ValueError(f"`--{option}` goes with {needed}. Found it alone: add it.")


def _draft(
    terminal: Terminal, source: str, out: Path | None, decimal_char: str | None, encoding: str, *, force: bool
) -> None:
    from counterfoil.curator.source_facts import columns_stated
    from counterfoil.files import write_text
    from counterfoil.schema import draft

    if out is not None:
        require_schema_file(out, source, force=force)
    columns = columns_stated(source, encoding)
    require_names(columns.types)
    note_strange_header(terminal, columns.types)
    text = draft(columns.types, name=stem_of(source), typed=columns.typed, decimal_char=decimal_char, encoding=encoding)
    if out is None and not terminal.json:
        print(inert_toml(text), end="")
        return
    if out is not None:
        write_text(out, text)
    terminal.document(facts_of(text, out))
    count = f"{len(columns.types):,} column{'' if len(columns.types) == 1 else 's'}"
    terminal.say(f"Drafted {count} in {out}: confirm every fact before `counterfoil synth`.")
