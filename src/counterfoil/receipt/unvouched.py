"""What on a receipt neither follows from the rest nor lies beside it: anyone can have written it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from counterfoil.inert import inert
from counterfoil.receipt.beside import rows_of
from counterfoil.receipt.certificate import MEASURED
from counterfoil.receipt.wording import drawn_later

_ALWAYS = (
    "source",
    "created",
    "program",
    "method.name",
    "method.parameters",
    "noise_source",
    "privacy_unit",
    "charges: that these were all, with this noise",
    "charges: parameters beyond the sensitivity",
    "composition: whether runs were repeated, or the release had to be accepted",
    "budget: that no larger one was fixed beforehand",
)

_NONE = "that none is recorded"

_OF_SCHEMA = "bounds, categories, whether it was bought"


def unvouched_fields(document: Mapping[str, Any], folder: Path | None) -> tuple[str, ...]:
    """The fields for which only a signature or a ledger vouches, by their names on the receipt, inert.

    Args:
        document: the receipt.
        folder: where files were looked for; None where none were.
    """
    fields = [*_ALWAYS, *(("ledger",) if "ledger" in document else ())]
    absent = [output for output in document["outputs"] if folder is None or not _beside(output, folder)]
    compared = [output for output in document["outputs"] if output not in absent]
    counted = any(rows_of(_place(output, folder)) == document["rows"]["drawn"] for output in compared if folder)
    if document.get("released", "table") == "table":
        fields += ["rows.how"] if counted else ["rows.drawn", "rows.how"]
    if not document["outputs"]:
        fields.append("outputs: that no file is named")
    if "answers" not in document:
        sections = [name for name in ("schema_bought", "schema_share") if name in document]
        bought = sections[0] if sections else "schema_bought: that it was not bought"
        fields += ["schema_sha256", bought]
    else:
        answers = document["answers"]
        fields.append(f"answers.schema: {_OF_SCHEMA}")
        fields += [f"answers.{name}" for name in ("marginals", "averages", "error_bars") if answers.get(name)]
        fields += [f"answers.{name}: {_NONE}" for name in ("marginals", "error_bars") if not answers.get(name)]
    fields += [f"outputs: {output['file']}" for output in absent]
    fields += [f"kept.{name}" for name in document.get("kept", ())] or [f"kept: {_NONE}"]
    if drawn_later(document):
        fields.append("fidelity: that what was measured was of other rows")
    if document.get("fidelity"):
        fields.append("fidelity: noisy answers, numbers of records, rounding, names of models")
    if "acceptance" in document:
        fields += ["acceptance.criteria", "acceptance: noisy answers, numbers of records, rounding"]
    if any(str(entry.get("basis")) not in MEASURED for entry in document.get("certificates", ())):
        fields.append("certificates: gaps from error bars")
    return tuple(inert(field) for field in (*fields, *_of_schema_check(document), "warnings"))


def _of_schema_check(document: Mapping[str, Any]) -> list[str]:
    """Without a schema on the receipt, nothing tells which bounds and notations its columns have, or that none has."""
    section = document.get("schema_check")
    if section is None:
        return []
    schema = "answers" in document
    if not section["columns"]:
        return [] if schema else ["schema_check: that none was needed"]
    return ["schema_check: noisy counts", *([] if schema else ["schema_check: bounds and notations"])]


def _beside(output: Mapping[str, Any], folder: Path) -> bool:
    return _place(output, folder).is_file()


def _place(output: Mapping[str, Any], folder: Path | None) -> Path:
    return (folder or Path()) / Path(output["file"]).name
