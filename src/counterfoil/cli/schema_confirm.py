"""`counterfoil schema INPUT --confirm`: the public facts, asked for column by column; no record is read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.cli.failure import Stopped
from counterfoil.cli.schema_answers import (
    NONE,
    Answers,
    choice,
    day,
    moment,
    optional,
    real,
    text,
    texts,
    whole,
    yes,
)
from counterfoil.cli.schema_file import note_strange_header, require_schema_file
from counterfoil.cli.terminal import Terminal
from counterfoil.table_url import stem_of

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfoil.curator.source_facts import SourceColumns

KINDS: Mapping[str, str] = {
    "categorical": "one of a list",
    "boolean": "true or false",
    "integer": "whole numbers between bounds",
    "real": "numbers between bounds",
    "date": "days between bounds",
    "datetime": "moments between bounds",
    "identifier": "names a person or a record; never read",
    "ignore": "left out altogether",
}


def ask(
    terminal: Terminal,
    source: str,
    out: Path | None,
    *,
    force: bool,
    piped: bool,
    decimal_char: str | None,
    encoding: str,
) -> None:
    """Asks for everything, and writes the schema when all is answered.

    Args:
        terminal: where it is asked.
        source: a path, or `file.db::table`, of which the header and the types are read.
        out: where the schema goes.
        force: whether a file that is there may be replaced.
        piped: whether the answers come from a pipe on purpose.
        decimal_char: the decimal sign of its numbers; None for digits with an optional point.
        encoding: of a CSV file whose first bytes do not say it.

    Raises:
        ValueError: in one sentence, where there is nobody to ask, or the answers end early.
        Stopped: when its user ended it.
    """
    from counterfoil.curator.source_facts import columns_stated
    from counterfoil.files import write_text

    if out is None:
        raise ValueError("What is confirmed goes to a file. Found no `--out`: add --out people.schema.toml.")
    require_schema_file(out, source, force=force)
    if not piped and not sys.stdin.isatty():
        raise ValueError(
            "`--confirm` asks on a terminal. Found that the input is none: run it in one, or add --piped if the "
            "answers come from a pipe."
        )
    columns = columns_stated(source, encoding)
    note_strange_header(terminal, columns.types)
    try:
        document = _document(Answers(terminal), columns, stem_of(source), decimal_char, encoding)
        write_text(out, document)
    except KeyboardInterrupt as error:
        raise Stopped("No record was read, and no file was written.") from error
    terminal.say(f"Confirmed {len(columns.types)} columns in {out}.")


def _document(answers: Answers, columns: SourceColumns, name: str, decimal_char: str | None, encoding: str) -> str:
    """The schema that the answers make, as TOML that was read once."""
    from counterfoil.inert import inert_toml
    from counterfoil.schema import Schema
    from counterfoil.schema.encoding import UTF_8
    from counterfoil.schema.patterns import is_pattern
    from counterfoil.schema.toml_text import toml_key, toml_table, toml_value

    print("State what is true from public knowledge: a form, a code book, a law. No record is read.")
    print("An empty answer takes what stands in brackets; Ctrl-C ends, and writes nothing.")
    tables: dict[str, dict[str, Any]] = {}
    ignored: list[str] = []
    last = "."
    for number, (column, kind) in enumerate(columns.types.items(), 1):
        place = f"column {number:,} of {len(columns.types):,}"
        facts = _asked(answers, column, kind if columns.typed else None, place, decimal_char, last)
        if facts is None:
            ignored.append(column)
        else:
            tables[column] = facts
            last = facts.get("decimal_char", ".") if facts["kind"] == "real" else last
    if decimal_char is None:
        decimal_char = _one_sign(tables)
    head = [f"name = {toml_value(name)}"] if name else []
    head += [] if encoding == UTF_8 else [f"encoding = {toml_value(encoding)}"]
    head += [] if decimal_char is None else [f"decimal_char = {toml_value(decimal_char)}"]
    head += [f"ignore = {toml_value(ignored)}"] if ignored else []
    head += ["exact_names = true"] if any(map(is_pattern, columns.types)) else []
    written = [toml_table(f"[columns.{toml_key(column)}]", facts) for column, facts in tables.items()]
    document = "\n".join(
        ["# Confirmed column by column, from public knowledge; no record was read.", *head, "", *written]
    )
    Schema.from_toml(document)
    return inert_toml(document)


def _one_sign(tables: Mapping[str, dict[str, Any]]) -> str | None:
    """The decimal comma that all real columns have, which then stands once for all numbers, whole ones too, and is
    taken from their tables; None where they do not."""
    signs = {facts.get("decimal_char") for facts in tables.values() if facts["kind"] == "real"}
    if signs != {","}:
        return None
    for facts in tables.values():
        facts.pop("decimal_char", None)
    return ","


def _asked(
    answers: Answers, column: str, storage: pa.DataType | None, place: str, decimal_char: str | None, last: str
) -> dict[str, Any] | None:
    """The facts of one column, as keys and values of its table; None where it is left out.

    Where numbers may be texts and `decimal_char` does not say their sign, it is asked, and `last` is the usual answer.
    """
    from counterfoil.inert import inert
    from counterfoil.schema.code_lists import CodeLists
    from counterfoil.schema.errors import SchemaError
    from counterfoil.schema.storage_words import storage_words
    from counterfoil.schema.toml import read_column, with_sign

    guess, sign = _guess(column, storage), {} if decimal_char is None else {"decimal_char": decimal_char}
    while True:
        print(inert(f"{column} ({place}{'' if storage is None else f', stored as {storage_words(storage)}'})"))
        kind = answers.ask(f"kind: {', '.join(KINDS)}", choice(KINDS), default=guess)
        if kind == "ignore":
            return None
        facts = {"kind": kind} | _QUESTIONS[kind](answers)
        if kind == "real" and decimal_char is None and (storage is None or not _are_numbers(storage)):
            facts |= _sign(answers, last)
        if kind != "identifier":
            facts |= _missing(answers)
        try:
            read_column(column, with_sign(facts, sign), CodeLists(None))
        except SchemaError as error:
            print(inert(f"    {error} Once more, please."))
        else:
            return facts


def _guess(column: str, storage: pa.DataType | None) -> str:
    """What the storage's type says, where the column's name does not look like an identifier's."""
    from counterfoil.schema.drafting import guess, may_name_somebody
    from counterfoil.schema.spelling import has_no_text

    if storage is not None and has_no_text(storage):
        return "ignore"
    return "" if storage is None or may_name_somebody(column) else str(guess(column, storage)["kind"])


def _missing(answers: Answers) -> dict[str, Any]:
    if not answers.ask("may values be missing?", yes, default="no"):
        return {}
    words = answers.ask("words that say so, between commas", texts, default=NONE)
    return {"missing": True} | ({"missing_values": words} if words else {})


def _categorical(answers: Answers) -> dict[str, Any]:
    facts: dict[str, Any] = {"values": answers.ask("all categories, between commas", texts)}
    if answers.ask("may there be others?", yes, default="no"):
        return facts | {"other": True}
    return facts | ({"ordered": True} if answers.ask("are they ordered?", yes, default="no") else {})


def _boolean(answers: Answers) -> dict[str, Any]:
    true = answers.ask("the word for true", optional(text), default=NONE)
    return {} if true is None else {"true": true, "false": answers.ask("the word for false", text)}


def _integer(answers: Answers) -> dict[str, Any]:
    return {"lower": answers.ask("least", whole), "upper": answers.ask("greatest", whole)}


def _real(answers: Answers) -> dict[str, Any]:
    facts: dict[str, Any] = {"lower": answers.ask("least", real), "upper": answers.ask("greatest", real)}
    decimals = answers.ask("digits after the point", optional(whole), default=NONE)
    return facts if decimals is None else facts | {"decimals": decimals}


def _are_numbers(storage: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(storage) or pa.types.is_floating(storage) or pa.types.is_decimal(storage))


def _sign(answers: Answers, last: str) -> dict[str, Any]:
    sign = answers.ask('decimal sign of its cells, "." or ","', choice(dict.fromkeys((".", ","), "")), default=last)
    return {"decimal_char": sign} if sign == "," else {}


def _date(answers: Answers) -> dict[str, Any]:
    facts: dict[str, Any] = {"lower": answers.ask("first day", day), "upper": answers.ask("last day", day)}
    return facts | _notation(answers, "2020-01-31", "%d.%m.%Y")


def _datetime(answers: Answers) -> dict[str, Any]:
    facts: dict[str, Any] = {"lower": answers.ask("first moment", moment), "upper": answers.ask("last moment", moment)}
    facts["resolution"] = answers.ask("as fine as (1s, 15min, 1h, 1d, 1mo, 1y)", text, default="1d")
    return facts | _notation(answers, "2020-01-31 12:00:00", "%d.%m.%Y %H:%M or %Y-%m-%dT%H:%M:%S%:z")


def _notation(answers: Answers, iso: str, other: str) -> dict[str, Any]:
    from counterfoil.schema.notation import directives

    notation = answers.ask(f"how they are written, such as {other}; {NONE} for {iso}", text, default=NONE)
    if not directives(notation) & {"z", ":z"}:
        return {"format": notation} if notation else {}
    return {"format": notation, "zone": answers.ask("where their days begin, such as Europe/Zurich or UTC", text)}


def _identifier(answers: Answers) -> dict[str, Any]:
    from counterfoil.schema.identifier import REPLACEMENTS

    return {"replace": answers.ask("made anew as", choice(dict.fromkeys(REPLACEMENTS, "")), default="drop")}


_QUESTIONS: Mapping[str, Callable[[Answers], dict[str, Any]]] = {
    "categorical": _categorical,
    "boolean": _boolean,
    "integer": _integer,
    "real": _real,
    "date": _date,
    "datetime": _datetime,
    "identifier": _identifier,
}
