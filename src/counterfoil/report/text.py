"""A receipt as a page of text, for a privacy officer."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from counterfoil.curator.composition import COMPOSITIONS
from counterfoil.curator.privacy_event import event_from_json
from counterfoil.fidelity.told import MEASURES, Told

WIDTH = 80

QUESTIONS = {
    "correct_predictions": "how many rows a model trained on the synthetic ones predicts rightly, with noise",
    "cumulative_area": "how far a numeric column is from the synthetic one, with noise",
    "largest_marginal_error": "the largest difference of counts from the synthetic ones, with noise",
    "largest_moment_gap": "how far averages that matter to linear models are from the synthetic ones, with noise",
    "marginal_counts": "counts of columns and of combinations of columns, with noise",
    "marginal_errors": "how far the model was from such counts, with noise",
    "nearest_neighbor_histogram": "how many records are nearest to each of some public points, with noise",
    "partition_counts": "how many records lie in each cell of a grid, with noise",
    "total_loss": "the log loss of a model trained on the synthetic rows, with noise",
    "total_marginal_error": "the mean difference of counts from the synthetic ones, with noise",
    "worst_approximated_marginal": "which combination the model got most wrong, by a noisy choice",
}


def receipt_text(document: Mapping[str, Any]) -> str:
    """The page, of lines of at most 80 columns, ending in a newline."""
    sections = {
        "Who is protected": _protected(document),
        "What it cost": _cost(document),
        "What was asked of the sensitive table": _asked(document),
        "Where the noise came from": iter([document["noise_source"]]),
        "What it is good for": good_for(document),
        "How many rows": iter([_rows(document)]),
        "Files": _files(document),
        "Warnings": iter(document["warnings"]),
        "How to check this": _check(document),
    }
    alarm = [] if document["private"] else ["", *_wrap(NOT_PRIVATE, "")]
    lines = [_title(document), *alarm]
    for title, paragraphs in sections.items():
        body = [line for paragraph in paragraphs for line in _wrap(paragraph, "  ")]
        if body:
            lines += ["", title.upper(), *body]
    return "\n".join([*lines, *alarm]) + "\n"


NOT_PRIVATE = "NOT PRIVATE: the noise came from a seed and can be repeated by anyone. DO NOT SHARE this release."


def odds(epsilon: float, delta: float) -> float:
    """The largest share of right guesses between two neighboring tables, each as likely as the other beforehand.

    A guess that is right with probability t on the one and 1 - f on the other has t <= e^eps f + delta and
    1 - f <= e^eps (1 - t) + delta; (t + 1 - f) / 2 is largest where both are equalities: (e^eps + delta) / (1 + e^eps).
    """
    return (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))


def _title(document: Mapping[str, Any]) -> str:
    made = document["created"][:16].replace("T", " ")
    of = f"{document['source']}, method {document['method']['name']}"
    heading = f"PRIVACY RECEIPT  {made} UTC  Counterfoil {document['program']['counterfoil']}"
    return "\n".join([heading, *_wrap(f"A synthetic table made from {of}.", "")])


def _protected(document: Mapping[str, Any]) -> Iterator[str]:
    unit = document["privacy_unit"]
    whose = "each row" if unit is None else f"everyone who has rows in the table, told apart by {unit['column']!r}"
    yield f"The protection is for {whose}."
    if unit is not None:
        yield f"At most {unit['max_rows']} rows of each were used, chosen at random."
        yield "A row that names nobody counts as a person of its own: several such rows are protected one by one."
    if document["neighboring_relation"] == "add_or_remove_one":
        hidden = "whether a row is in the table at all" if unit is None else "whether someone is in the table at all"
        yield f"Hidden is {hidden}, and how many rows the table has (add_or_remove_one)."
    elif unit is None:
        yield "Hidden is what a row says; the number of rows may show (replace_one)."
    else:
        yield "Hidden is what someone's rows say, and how many of them there are (replace_one)."


def _cost(document: Mapping[str, Any]) -> Iterator[str]:
    budget, other = document["budget"], document["other_relation"]
    pure = document["composition"]["rule"] == "pure"
    delta = 0.0 if pure else budget["delta"]
    yield f"epsilon {budget['epsilon']:g} at delta {delta:g}: the guarantee, fixed before the first question."
    share = math.ceil(odds(budget["epsilon"], delta) * 1000) / 10
    yield (
        f"In plain words: take someone who sees the release, knows every other row, and has to tell "
        f"{_question(document)}, both being equally likely beforehand. A coin is right 50% of the time; nobody is "
        f"right more than {share:.1f}% of the time, however clever."
    )
    if delta:
        yield f"Delta, {delta:g}, is counted in that figure; it should be far below one over the number of rows."
    spent = document["spent"]["epsilon"]
    number = len(document["charges"])
    charges = "The one charge below adds" if number == 1 else f"The {number} charges below add"
    yield f"{charges} up to epsilon {_up(spent)}."
    yield document["composition"]["sentence"]
    if other["holds"] and "epsilon" in other:
        yield f"Under {other['relation']} the guarantee is epsilon {_up(other['epsilon'])} at delta {delta:g}."
    else:
        reason = other.get("reason", "it does not hold.")
        yield f"No guarantee under {other['relation']}: {reason[:1].lower()}{reason[1:]}"


def _question(document: Mapping[str, Any]) -> str:
    one, several = ("row", "rows") if document["privacy_unit"] is None else ("person", "people")
    if document["neighboring_relation"] == "add_or_remove_one":
        return f"whether one given {one} is in the table or not"
    return f"which of two given {several} is in the table"


def _asked(document: Mapping[str, Any]) -> Iterator[str]:
    rule = COMPOSITIONS[document["composition"]["rule"]]
    cost = getattr(rule, "cost", None)
    by_query: dict[str, list[Mapping[str, Any]]] = {}
    for charge in document["charges"]:
        by_query.setdefault(charge["query"], []).append(charge)
    costs = {
        query: math.fsum(cost(event_from_json(charge["event"])) for charge in charges) if cost else 0.0
        for query, charges in by_query.items()
    }
    whole = math.fsum(costs.values())
    for query, charges in by_query.items():
        scales = [charge["noise"]["scale"] for charge in charges]
        low, high = (f"{scale:,.0f}" if scale >= 100 else f"{scale:.3g}" for scale in (min(scales), max(scales)))
        share = f", {costs[query] / whole:.0%} of the cost" if whole else ""
        times = "once" if len(charges) == 1 else f"{len(charges)} times"
        spread = low if low == high else f"{low} to {high}"
        yield f"{query}, {times}{share}: {QUESTIONS.get(query, 'a noisy statistic')}; scale of the noise {spread}."


def good_for(document: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each error measure that was bought, and for each certificate."""
    for measure in document.get("fidelity", ()):
        told = Told.from_json(measure)
        yield f"{MEASURES[told.measure]} ({told.about}): {told.estimate:.4f}, standard error {told.standard_error:.4f}."
    yield from (str(certificate.get("sentence", "")) for certificate in document.get("certificates", ()))


def _rows(document: Mapping[str, Any]) -> str:
    return f"{document['rows']['drawn']:,} synthetic rows: {document['rows']['how']}."


def _files(document: Mapping[str, Any]) -> Iterator[str]:
    for output in document["outputs"]:
        yield f"{output['file']}, {output['rows']:,} rows, SHA-256"
        yield f"  {output['sha256']}"


def _check(document: Mapping[str, Any]) -> Iterator[str]:
    yield "Run `counterfoil receipt verify` on this receipt: it recomputes epsilon from the charges alone."
    yield (
        "What no receipt shows: that the program was the published one, that the schema was written without looking "
        "at the data, and what other releases of the same table cost (the ledger adds those up)."
    )


def _wrap(paragraph: str, indent: str) -> list[str]:
    lead = indent + " " * (len(paragraph) - len(paragraph.lstrip()))
    return textwrap.wrap(paragraph.strip(), WIDTH, initial_indent=lead, subsequent_indent=indent) or [""]


def _up(epsilon: float) -> str:
    """Six digits, rounded up."""
    if epsilon == 0:
        return "0"
    digits = 6 - math.ceil(math.log10(epsilon))
    step = 10.0**-digits
    return f"{math.ceil(epsilon / step - 1e-9) * step:.6g}"
