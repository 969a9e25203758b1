"""`counterfoil receipt export`: a receipt in the words that others ask for."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.options import Force, Json
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    from counterfoil.receipt.receipt import Receipt

FORMATS = ("registry", "dossier")

steward = partial(typer.Option, rich_help_panel="What the steward says, with --format registry")
"""An option of its group in the help."""


def export(
    path: Annotated[
        Path, typer.Argument(help="The receipt, or the folder of a model or a saved release.", metavar="R.json")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="registry: an entry for the public registry of deployments (YAML). dossier: what NIST SP 800-226 has "
            "an evaluator ask (Markdown).",
            metavar="F",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write to this file in place of the terminal.", metavar="FILE")
    ] = None,
    force: Force = False,
    curator_type: Annotated[
        str | None,
        steward(
            "--curator-type", help="Who publishes the release: Government, Industry or Nonprofit. Needed.", metavar="T"
        ),
    ] = None,
    curator: Annotated[str | None, steward("--curator", help="Their name.", metavar="NAME")] = None,
    author: Annotated[str | None, steward("--author", help="Who fills in the entry.", metavar="NAME")] = None,
    name: Annotated[str | None, steward("--name", help="What the release is called.", metavar="NAME")] = None,
    use: Annotated[str | None, steward("--use", help="What it is for.", metavar="TEXT")] = None,
    region: Annotated[
        str | None, steward("--region", help="Which region it describes, or whose laws apply.", metavar="TEXT")
    ] = None,
    sector: Annotated[
        str | None,
        steward("--sector", help="Technology, Healthcare, Education, Government, Energy or Finance.", metavar="S"),
    ] = None,
    data_source: Annotated[
        str | None,
        steward(
            "--data-source", help="Whether new rows come into the real table over time: Static or Dynamic.", metavar="S"
        ),
    ] = None,
    schema_receipt: Annotated[
        Path | None,
        steward(
            "--schema-receipt",
            help="The receipt of a schema that was bought, whose mechanisms are then listed too.",
            metavar="S.json",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a receipt as an entry for the registry of deployments, or as a dossier for an evaluator.

    Nothing is added to what the receipt says: what it can't know is marked as TO BE WRITTEN BY THE STEWARD.
    """
    from counterfoil.cli.outputs import require_free, require_harmless
    from counterfoil.files import write_text
    from counterfoil.kept_files import KeptFile
    from counterfoil.receipt.receipt import Receipt

    given = {
        "curator_type": curator_type,
        "curator": curator,
        "author": author,
        "name": name,
        "use": use,
        "region": region,
        "sector": sector,
        "data_source": data_source,
    }
    _require_options(form, given | {"schema_receipt": None if schema_receipt is None else str(schema_receipt)})
    place = path / "receipt.json" if path.is_dir() else path
    if out is not None:
        purchase = [] if schema_receipt is None else [KeptFile(schema_receipt, "the receipt of the schema")]
        require_harmless([out], [KeptFile(place, "the receipt"), *purchase])
        require_free([out], force=force)
    terminal, receipt = Terminal(json=json), Receipt.load(place)
    _require_holds(receipt, place)
    bought = None if schema_receipt is None else Receipt.load(schema_receipt)
    if bought is not None and schema_receipt is not None:
        _require_holds(bought, schema_receipt)
    text, open_fields, document = _exported(form, receipt, given, bought)
    if out is None:
        terminal.say(text.rstrip("\n"))
    else:
        write_text(out, text)
        terminal.say(f"Wrote {out}.")
    if form == "registry" and bought is None and (digest := _purchase(receipt)):
        terminal.note(
            "The mechanisms that bought the schema are not in the entry: give their receipt with --schema-receipt, the "
            f"one whose SHA-256 is {digest}."
        )
    if open_fields:
        terminal.note(f"The steward has yet to write: {', '.join(open_fields)}.")
    terminal.document({"format": form, "out": None if out is None else str(out), "open": open_fields, **document})


def _require_options(form: str, given: dict[str, str | None]) -> None:
    if form not in FORMATS:
        raise ValueError(f"`--format` must be {' or '.join(FORMATS)}. Found {form!r}.")
    named = [option for option, value in given.items() if value is not None]
    if form == "dossier" and named:
        option = named[0].replace("_", "-")
        raise ValueError(f"`--{option}` goes with --format registry. Found it with {form}: leave it out.")
    if form == "registry" and given["curator_type"] is None:
        raise ValueError(
            "`--format registry` needs --curator-type, for which the registry knows Government, Industry and Nonprofit "
            "alone. Found none."
        )


def _require_holds(receipt: Receipt, place: Path) -> None:
    if problems := receipt.verify(place.parent).problems:
        raise ValueError(f"Only a receipt that holds can be exported. Found that {place} does not: {problems[0]}")


def _purchase(receipt: Receipt) -> str:
    """The SHA-256 of the receipt of a schema that was bought; empty where it was not."""
    from counterfoil.publishing.registry import purchase_of

    bought = purchase_of(receipt.document)
    return "" if bought is None else bought.receipt


def _exported(
    form: str, receipt: Receipt, given: dict[str, str | None], bought: Receipt | None
) -> tuple[str, list[str], dict[str, Any]]:
    """The text, what the steward has yet to write, and what `--json` prints of it."""
    if form == "dossier":
        from counterfoil.publishing.dossier import QUESTIONS, dossier_text

        text = dossier_text(receipt.document)
        return text, [one.title for one in QUESTIONS if one.steward], {"text": text}
    from counterfoil.publishing.registry import StewardFacts, registry_entry, registry_yaml, unanswered

    facts = StewardFacts(**{name: value for name, value in given.items() if value is not None})
    entry = registry_entry(receipt.document, facts, purchase=None if bought is None else bought.document)
    return registry_yaml(entry), unanswered(entry), {"entry": entry}
