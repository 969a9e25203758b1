"""What a release's schema check found, and what its schema cost, as commands print it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled


def show_schema_warnings(terminal: Terminal, document: Mapping[str, Any]) -> None:
    """Prints the warnings of the section `schema_check` of a receipt, which nobody should look at the table before.

    Args:
        terminal: where.
        document: the receipt's document.
    """
    from counterfoil.receipt.schema_check import check_warnings

    for sentence in check_warnings(document):
        terminal.alarm(filled(f"WARNING: {sentence}", subsequent_indent="  "))


def show_schema_check(terminal: Terminal, document: Mapping[str, Any]) -> None:
    """Prints what else the section says; that there is none, where a table was made.

    Before it stands what the schema cost, where it was bought, and what the two cost together.

    Args:
        terminal: where.
        document: the receipt's document.
    """
    from counterfoil.receipt.schema_bought import bought_sentences
    from counterfoil.receipt.schema_check import check_sentences, check_warnings

    warnings = check_warnings(document)
    for sentence in (*bought_sentences(document), *check_sentences(document)):
        if sentence not in warnings:
            terminal.say(filled(sentence, initial_indent="  ", subsequent_indent="  "))
