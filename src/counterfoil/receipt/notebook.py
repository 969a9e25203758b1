"""A receipt as a short table for a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.pictures.notebook_table import notebook_line, notebook_page, notebook_table
from counterfoil.receipt.schema_bought import bought_sentences
from counterfoil.receipt.schema_total import why_no_total
from counterfoil.receipt.text import NOT_PRIVATE, good_for, right_at_most


def receipt_html(document: Mapping[str, Any]) -> str:
    """What the release cost, whom it protects, what was asked; the whole page is `Receipt.text`."""
    made_by = f"method {document['method']['name']}, {str(document['created'])[:10]}"
    counts = Counter(str(charge["query"]) for charge in document["charges"])
    rows = [*_terms(document), ("asked", ", ".join(f"{count} {query}" for query, count in counts.items()))]
    parts = [notebook_table(("receipt", ""), rows)]
    warnings = len(document["warnings"])
    measures = sum(1 for _ in good_for(document))
    said = [f"{warnings:,} warnings"] if warnings else []
    said += [f"{measures:,} sentences on what it is good for"] if measures else []
    more = f"print(receipt.text()) has {' and '.join([*said, 'the whole page'])}."
    return notebook_page(
        f"Privacy receipt of {document['source']}, {made_by}",
        *parts,
        notebook_line(more),
        alarm="" if document["private"] else NOT_PRIVATE,
    )


def _terms(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    budget = document["budget"]
    delta = COMPOSITIONS[document["composition"]["rule"]].delta(Budget(**budget))
    yield "guarantee", f"epsilon {budget['epsilon']:g} at delta {delta:g}"
    # Without private noise there is no guarantee, whatever the budget says.
    if document["private"]:
        share = right_at_most(document)
        yield (
            "in plain words",
            f"no bound on guesses with its bought schema: {why_no_total(document)}"
            if share is None
            else f"one person's guess is right at most {share} of the time; a coin, 50%",
        )
    if said := " ".join(bought_sentences(document)):
        yield "its schema", said
    unit = document["privacy_unit"]
    whose = "each row" if unit is None else f"everyone in {unit['column']!r}, up to {unit['max_rows']} rows each"
    yield "protects", f"{whose} ({document['neighboring_relation']})"
    if document.get("released", "table") == "table":
        yield "rows", f"{document['rows']['drawn']:,}, {document['rows']['how']}"
    if "ledger" in document:  # older receipts don't say
        yield "ledger", "counts it" if document["ledger"] else "none counts it"
