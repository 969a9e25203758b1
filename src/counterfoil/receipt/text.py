"""A receipt as a page of text, for a privacy officer."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.queries.query import CountQuery
from counterfoil.curator.queries.registry import shipped_queries
from counterfoil.inert import inert, inert_document
from counterfoil.receipt.noisy_measure import measure_sentences, pairs_passed_over
from counterfoil.receipt.one_spelling import spelling_sentences
from counterfoil.receipt.other_relation import guarantee
from counterfoil.receipt.rows_used import rows_used
from counterfoil.receipt.schema_bought import bought_sentences, describes_table, up
from counterfoil.receipt.schema_check import check_charges, check_sentences, warnings_by_column
from counterfoil.receipt.schema_total import added, bought_of, converted, total_of, why_no_total
from counterfoil.receipt.terms import Terms, declares, neighbors_of
from counterfoil.schema.bought import Bought

WIDTH = 80
WITHOUT_LEDGER = "No ledger counts this release: its cost is not added to that of others of the same table."
REST_WITHOUT_LEDGER = (
    "No ledger remembers that this release had the rest of its budget, which is for one release: another one that "
    "spends it again, with the same schema, adds to what this one cost."
)


def receipt_text(document: Mapping[str, Any]) -> str:
    """The page, of lines of at most 80 columns, ending in a newline.

    Texts of the document are shown inert, their newlines too: what a field says never becomes a line of its own.
    """
    from counterfoil.receipt.acceptance import acceptance_sentences  # on first use, for it imports scipy.optimize

    checked = [inert(sentence) for sentence in check_sentences(document)]  # its schema stands among the answers
    checked += [inert(sentence) for sentence in spelling_sentences(document)]
    accepted = acceptance_sentences(document)  # its criteria have lines
    document = inert_document({key: value for key, value in document.items() if key != "answers"})
    sections = {
        "Who is protected": _protected(document),
        "What it cost": _cost(document),
        "What was asked of the sensitive table": _asked(document),
        "Where the noise came from": iter([document["noise_source"]]),
        "What it is good for": chain(checked, good_for(document)),
        "Why it was released": iter(accepted),
        "How many rows": iter([_rows(document)]),
        "Files": _files(document),
        "Warnings": _warnings(document),
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


def terms_of(document: Mapping[str, Any]) -> str:
    """What made a release, at what cost, in a few words."""
    budget, seeded = document["budget"], "" if document["private"] else ", NOT PRIVATE"
    return inert(
        f"method {document['method']['name']}, epsilon {budget['epsilon']:g}, delta {budget['delta']:g}{seeded}"
    )


def protection_sentences(document: Mapping[str, Any]) -> list[str]:
    """Who is protected, and from what."""
    return list(_protected(document))


def cost_sentences(document: Mapping[str, Any]) -> list[str]:
    """What the release cost, in figures and in plain words, for a page that does not list the charges."""
    here, there = ("charge below ", "charges below "), ("charge on the receipt ", "charges on the receipt ")
    return [sentence.replace(here[0], there[0]).replace(here[1], there[1]) for sentence in _cost(document)]


def warning_sentences(document: Mapping[str, Any]) -> list[str]:
    """The warnings of the receipt, those that follow from its budget, and those of its schema check."""
    changed = [sentence for sentences in warnings_by_column(document).values() for sentence in sentences]
    return [*_warnings(document), *changed]


def odds(epsilon: float, delta: float) -> float:
    """The largest probability of guessing right between two neighboring tables that are equally likely a priori.

    A guess that is right with probability t on the one and 1 - f on the other has t <= e^eps f + delta and
    1 - f <= e^eps (1 - t) + delta; (t + 1 - f) / 2 is largest where both are equalities: (e^eps + delta) / (1 + e^eps).
    """
    return (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))


def _title(document: Mapping[str, Any]) -> str:
    made = document["created"][:16].replace("T", " ")
    of = f"{document['source']}, method {document['method']['name']}"
    heading = f"PRIVACY RECEIPT  {made} UTC  Counterfoil {document['program']['counterfoil']}"
    made_from = "Counts of cells in" if _counts_cells(document) else _MADE[document.get("released", "table")]
    made_from = "A schema made from" if describes_table(document) else made_from
    return "\n".join([heading, *_wrap(f"{made_from} {of}.", "")])


def _counts_cells(document: Mapping[str, Any]) -> bool:
    """Whether nothing but a schema check was released."""
    return document.get("released") == "measures" and bool(check_charges(document))


_MADE = {"table": "A synthetic table made from", "model": "A model trained on", "measures": "Measures of a model on"}


def _protected(document: Mapping[str, Any]) -> Iterator[str]:
    unit = document["privacy_unit"]
    whose = "each row" if unit is None else f"everyone who has rows in the table, by the column {unit['column']!r}"
    yield f"The protection is for {whose}."
    if unit is not None:
        yield f"At most {unit['max_rows']} rows of each were used, chosen at random."
        if "rows_without_id" in unit:
            yield "A row that names nobody counts as a person of its own: several such rows are protected one by one."
        else:
            yield "All rows that name nobody counted as one person together, of whom as few rows were used."
    if document["neighboring_relation"] == "add_or_remove_one":
        hidden = "whether a row is in the table at all" if unit is None else "whether someone is in the table at all"
        yield f"Hidden is {hidden}, and how many rows the table has (add_or_remove_one)."
    elif groups := document.get("public_groups"):
        yield (
            f"Hidden is what a row says apart from its {' and '.join(groups)}: which group of equal "
            f"{' and '.join(groups)} it is in is NOT hidden, and the number of rows in each may show (replace_one "
            "within groups)."
        )
    elif unit is None:
        yield "Hidden is what a row says; the number of rows may show (replace_one)."
    else:
        yield "Hidden is what someone's rows say, and how many of them there are (replace_one)."


def _cost(document: Mapping[str, Any]) -> Iterator[str]:
    budget = document["budget"]
    delta = COMPOSITIONS[document["composition"]["rule"]].delta(Budget(**budget))
    on_top = "; what its schema cost comes on top" if "schema_bought" in document else ""
    yield f"epsilon {budget['epsilon']:g} at delta {delta:g}: the guarantee, fixed before the first question{on_top}."
    yield from _in_plain_words(document)
    yield _within(document)
    yield document["composition"]["sentence"]
    yield _elsewhere(document)
    yield from bought_sentences(document)


def right_at_most(document: Mapping[str, Any]) -> str | None:
    """How often a guess about one row or person is right, as a percentage that is rounded up; None for no bound.

    A schema that was bought is seen by whoever sees the release, so that its cost counts.
    """
    whole = total_of(document)
    return None if whole is None else f"{math.ceil(odds(whole.epsilon, whole.delta) * 1000) / 10:.1f}%"


def _in_plain_words(document: Mapping[str, Any]) -> Iterator[str]:
    whole, share, schema = total_of(document), right_at_most(document), "schema_bought" in document
    if whole is None or share is None:
        yield (
            f"In plain words, there is no bound on how often someone is right who sees the release, which has its "
            f"schema in it, and has to tell {guess(document)}: {why_no_total(document)}."
        )
        return
    seen = "the release, of which its bought schema is a part" if schema else "the release"
    yield (
        f"In plain words: take someone who sees {seen}, knows every other row, and has to tell "
        f"{guess(document)}, both being equally likely beforehand. A coin is right 50% of the time; nobody is "
        f"right more than {share} of the time, however clever."
    )
    if whole.delta:
        both = f"the two together, {up(whole.delta)}," if schema else f"{whole.delta:g},"
        yield f"Delta, {both} is counted in that figure; it should be far below one over the number of rows."


def _within(document: Mapping[str, Any]) -> str:
    """The total of the charges, with a figure only where it was fixed before the first answer and is a guarantee."""
    number = len(document["charges"])
    charges = "The one charge below stays" if number == 1 else f"The {number} charges below stay"
    if number and number == len(document["composition"].get("plan", ())):
        epsilon = up(document["spent"]["epsilon"])
        whose = "its" if number == 1 else "their"
        return f"{charges} within this budget: {whose} noise, fixed before the first question, costs epsilon {epsilon}."
    return (
        f"{charges} within this budget. What they leave of it may depend on the answers, so that no smaller epsilon is "
        "a guarantee."
    )


def _elsewhere(document: Mapping[str, Any]) -> str:
    """The guarantee under the other relation."""
    other = document["other_relation"]
    relation, epsilon, delta = other["relation"], other.get("epsilon"), other.get("delta", 0.0)
    if not other["holds"] or epsilon is None:
        reason = other.get("reason", "it does not hold.")
        return f"No guarantee under {relation}: {reason[:1].lower()}{reason[1:]}"
    if not declares(document):  # then the figure on the receipt holds for the questions of this run alone
        epsilon, delta = guarantee(Terms.of_receipt(document))
        if delta >= 1:
            return f"No guarantee under {relation}: its delta would not be below 1."
    if (bought := bought_of(document)) is None:
        return f"Under {relation} the guarantee is epsilon {up(epsilon)} at delta {up(delta)}."
    return _elsewhere_with(
        bought, Neighbors(NeighboringRelation(relation), neighbors_of(document).unit), epsilon, delta
    )


def _elsewhere_with(bought: Bought, neighbors: Neighbors, epsilon: float, delta: float) -> str:
    """The guarantee of a release and its bought schema, between other neighbors than the release was made for.

    Args:
        bought: what the schema cost.
        neighbors: the other neighbors.
        epsilon: of the release alone, between them.
        delta: likewise.
    """
    relation, schema = neighbors.relation.value, converted(bought, neighbors)
    finite = math.isfinite(epsilon)
    whole = added(schema, Budget.unrestricted(epsilon, delta)) if schema is not None and finite else None
    if whole is None:
        return (
            f"No guarantee under {relation}: the release alone would have epsilon {up(epsilon)} at delta {up(delta)}, "
            "and none follows for its schema, or for both together."
        )
    return (
        f"Under {relation} the guarantee, with what the schema cost, is epsilon {up(whole.epsilon)} at delta "
        f"{up(whole.delta)}."
    )


def guess(document: Mapping[str, Any]) -> str:
    """What somebody would have to tell who wants to know about one row or person, after "has to tell"."""
    one, several = ("row", "rows") if document["privacy_unit"] is None else ("person", "people")
    if document["neighboring_relation"] == "add_or_remove_one":
        return f"whether one given {one} is in the table or not"
    alike = " of the same group" if document.get("public_groups") else ""
    return f"which of two given {several}{alike} is in the table"


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
        units = [_units_of(charge) for charge in charges]
        scales = [charge["noise"]["scale"] / unit for charge, each in zip(charges, units, strict=True) for unit in each]
        low, high = (f"{scale:,.0f}" if scale >= 100 else f"{scale:.3g}" for scale in (min(scales), max(scales)))
        share = f", {costs[query] / whole:.0%} of the cost" if whole else ""
        times = "once" if len(charges) == 1 else f"{len(charges)} times"
        if is_run(charges):
            yield f"{query}: {_question_of(query)}; {steps_of(charges)}."
            continue
        spread = low if low == high else f"{low} to {high}"
        counts = ", where a record counts at most 1" if max(map(max, units)) > 1 else ""
        yield f"{query}, {times}{share}: {_question_of(query)}; scale of the noise {spread}{counts}."


def is_run(charges: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these charges are for the steps of a training run, of which one has as many as it says."""
    return all(charge["event"]["kind"] == "subsampled_gaussian" for charge in charges)


def steps_of(charges: Sequence[Mapping[str, Any]]) -> str:
    """What the steps of a training run read, and how much noise they got."""
    steps = sum(charge["event"]["steps"] for charge in charges)
    # Parts of one run have the same; others are described by the largest batches and the smallest noise.
    share = max(charge["event"]["sampling_probability"] for charge in charges)
    noises = {charge["event"]["noise_multiplier"] for charge in charges}
    least = "" if len(noises) == 1 else "at least "
    parts = "" if len(charges) == 1 else f", charged in {len(charges)} parts"
    return (
        f"{steps:,} steps{parts}, each on a fresh random batch of at most {share:.3g} of each group; the noise of a "
        f"step is {least}{min(noises):.3g} times what one row of the batch can change"
    )


def _units_of(charge: Mapping[str, Any]) -> Sequence[float]:
    """The integers that stand for 1 in the parts of the answer; 1 where the receipt does not say."""
    known = shipped_queries().get(charge["query"])
    if known is None or not issubclass(known, CountQuery):
        return [1.0]
    try:
        units = known.units(charge["parameters"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return [1.0]
    return units if units and all(math.isfinite(unit) and unit > 0 for unit in units) else [1.0]


def _question_of(query: str) -> str:
    known = shipped_queries().get(query)
    return "a noisy statistic" if known is None else known.question


def good_for(document: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each noisy measure of fidelity, and for each certificate; then one on the rows they are about,
    where not all were used."""
    measures, certificates = document.get("fidelity", ()), document.get("certificates", ())
    for measure in measures:
        yield from measure_sentences(measure)
    # The unit of a mean error is the number of marginals.
    means = {one.get("about"): one["unit"] for one in measures if one.get("measure") == "mean_marginal_error"}
    if {"1 column", "2 columns"} <= means.keys() and (
        passed := pairs_passed_over(means["2 columns"], int(means["1 column"]))
    ):
        yield passed
    yield from (str(certificate.get("sentence", "")) for certificate in certificates)
    if (measures or certificates) and (used := rows_used(document)):
        yield used


def _rows(document: Mapping[str, Any]) -> str:
    if (released := document.get("released", "table")) != "table":
        measures = "noisy counts of cells" if _counts_cells(document) else "measures of a model"
        measures = "a schema" if describes_table(document) else measures
        return f"None: what was released is {'a model' if released == 'model' else measures}."
    return f"{document['rows']['drawn']:,} synthetic rows: {document['rows']['how']}."


def _files(document: Mapping[str, Any]) -> Iterator[str]:
    for output in document["outputs"]:
        yield f"{output['file']}, {output['rows']:,} rows, SHA-256"
        yield f"  {output['sha256']}"


def _warnings(document: Mapping[str, Any]) -> Iterator[str]:
    # What follows from the budget is said whether the list has it or not: older versions did not, and a line is
    # easily taken out.
    yield from (
        line for line in budget_warnings(Budget(**document["budget"]), None) if line not in document["warnings"]
    )
    yield from document["warnings"]
    if "schema_bought" in document and (whole := total_of(document)) is not None:
        yield from (f"With its bought schema: {line}" for line in budget_warnings(whole, None))
    if document.get("ledger") is False:  # older receipts don't say
        yield WITHOUT_LEDGER
        if "schema_share" in document:
            yield REST_WITHOUT_LEDGER


def _check(document: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "Run `counterfoil receipt verify` on this receipt: it recomputes every cost from the charges alone and "
        "compares their sum with the budget."
    )
    if "signature" in document:
        yield (
            "It is signed. `counterfoil receipt verify --key` with the steward's public key, which you have from the "
            "steward and not from here, says whether every word of it is as it was signed."
        )
    bought = {"schema_bought", "schema_share"} & set(document)
    written = "what was not bought of the schema" if bought else "the schema"
    yield (
        f"What no receipt shows: that the program was the published one, that {written} was written without looking "
        "at the data, and what other releases of the same table cost (the ledger adds those up)."
    )


def _wrap(paragraph: str, indent: str) -> list[str]:
    lead = indent + " " * (len(paragraph) - len(paragraph.lstrip()))
    paragraph = paragraph.strip()
    lines = textwrap.wrap(paragraph, WIDTH, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False)
    return lines or [""]
