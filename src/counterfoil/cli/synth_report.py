"""What `counterfoil synth` says about a release that it made."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from counterfoil.cli.folder_outputs import FolderOutputs
from counterfoil.cli.outputs import Outputs
from counterfoil.cli.schema_check import show_schema_check, show_schema_warnings
from counterfoil.cli.synth_request import Request
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled

if TYPE_CHECKING:
    from counterfoil.methods.method import SyntheticRelease

_MOST_COLUMNS = 3
"""Distances of single columns that are printed."""


def report(
    terminal: Terminal,
    request: Request,
    synthesis: SyntheticRelease,
    outputs: Outputs | FolderOutputs,
    *,
    method: str,
    delta_by_default: bool,
) -> None:
    """Prints what was made, where it is, what it cost and how far it can be off."""
    from counterfoil.receipt.acceptance import acceptance_sentences
    from counterfoil.receipt.relations_kept import pairs_left_out, three_columns
    from counterfoil.receipt.text import good_for

    receipt, budget = synthesis.receipt, request.budget
    note = " (the default)" if delta_by_default else ""
    show_schema_warnings(terminal, receipt.document)
    terminal.say(f"Made {synthesis.rows:,} synthetic rows with {method}.")
    terminal.say(f"  epsilon {budget.epsilon:g}, delta {budget.delta:g}{note}, {request.relation}")
    terminal.say(f"  table    {outputs.table}")
    terminal.say(f"  receipt  {outputs.receipt}")
    if isinstance(outputs, FolderOutputs):
        _say_folder(terminal, outputs)
    elif outputs.model is not None:
        terminal.say(f"  model    {outputs.model}")
    show_schema_check(terminal, receipt.document)
    measured, rest = worst_columns(receipt.document)
    limits = filter(None, (rest, pairs_left_out(receipt.document), three_columns(receipt.document)))
    for sentence in (*good_for(measured), *acceptance_sentences(receipt.document), *limits):
        terminal.say(filled(sentence, initial_indent="  ", subsequent_indent="    "))
    for sentence in receipt.document["warnings"]:
        terminal.alarm(f"WARNING: {sentence}")
    if not receipt.private:
        terminal.alarm("NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.")
    terminal.document(
        {
            "table": str(outputs.table),
            "receipt": str(outputs.receipt),
            "model": None if outputs.model is None else str(outputs.model),
            **_folder_facts(outputs),
            "rows": synthesis.rows,
            "method": method,
            "private": receipt.private,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "neighboring_relation": request.relation,
            "spent": receipt.document["spent"],
            "schema_check": receipt.document.get("schema_check"),
            "fidelity": receipt.document.get("fidelity", []),
            "certificates": receipt.document.get("certificates", []),
            "acceptance": receipt.document.get("acceptance"),
            "warnings": receipt.document["warnings"],
            "ledger": None if request.ledger is None else str(request.ledger),
        }
    )


def worst_columns(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """What to print of a receipt's measures: of the distances of columns the largest, and where the others stand."""
    from counterfoil.receipt.noisy_measure import NoisyMeasure

    measures = document.get("fidelity", [])
    columns = [one for one in measures if one.get("measure") == "wasserstein"]
    largest = sorted(columns, key=lambda one: -NoisyMeasure.from_json(one).estimate)[:_MOST_COLUMNS]
    left = len(columns) - len(largest)
    shown = [one for one in measures if one not in columns]
    # The largest come together, at the place of the first.
    place = next((number for number, one in enumerate(measures) if one in columns), 0)
    shown[place:place] = largest
    rest = f"Of {left:,} more {'column' if left == 1 else 'columns'}, with a smaller W_1 distance, the receipt says it."
    return {**document, "fidelity": shown}, rest if left else ""


def _say_folder(terminal: Terminal, outputs: FolderOutputs) -> None:
    """What else is in the folder, and how to draw the report where the packages for that are missing."""
    terminal.say(f"  folder   {outputs.folder}: begin with its README.md")
    if outputs.report is not None:
        terminal.say(f"  report   {outputs.report}")
    else:
        terminal.note(
            f"No report was drawn. `pip install 'counterfoil[report]'`, then "
            f"`counterfoil report {shlex.quote(str(outputs.folder))} --out report.html`."
        )


def _folder_facts(outputs: Outputs | FolderOutputs) -> dict[str, str | None]:
    if not isinstance(outputs, FolderOutputs):
        return {}
    report = outputs.report
    return {"folder": str(outputs.folder), "report": None if report is None else str(report)}
