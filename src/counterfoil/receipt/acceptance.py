"""The section `acceptance` of a receipt: what had to hold before the release was released, and that it held.

The section is checked from what it records: the bounds are read from the text of the criteria again, each measure must
be the answer of one of the last charges, and what was compared with a limit is computed anew. How many runs were
allowed stands in the name of the composition rule, from which the guarantee is recomputed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.filter import Filter
from counterfoil.accounting.repeated import RepeatedFilter
from counterfoil.geometry.grid import SnapGrid
from counterfoil.inert import inert
from counterfoil.receipt.acceptance_bounds import PAIRS, TRANSPORT, Bound
from counterfoil.receipt.acceptance_criteria import Criteria, read_criteria
from counterfoil.receipt.good_for_check import alike, measure_problem, records_problems, schema_of
from counterfoil.receipt.noisy_measure import NoisyMeasure, pairs_passed_over
from counterfoil.receipt.rows_used import rows_used
from counterfoil.receipt.wording import BEFORE_JUDGED
from counterfoil.schema import Schema

BIASED = (
    "This release was released because noisy estimates of its quality kept limits that were declared beforehand: each "
    "looks better than it is, because noise that helps to pass is more likely among what has passed."
)
"""A warning of every accepted release."""

_OWN = ("charge", "length")
"""What an entry of the section has beside the fields of its measure."""


def acceptance_section(
    criteria: Criteria, attempts: int, measures: Sequence[NoisyMeasure], lengths: Sequence[float], charges: int
) -> dict[str, Any]:
    """The section of a release that was accepted.

    Args:
        criteria: declared beforehand.
        attempts: how many runs were allowed on average.
        measures: one for each of the criteria's questions, in order.
        lengths: by which each is multiplied (see `Bound.value`).
        charges: how many the release has; the last of them bought the measures.
    """
    first = charges - len(measures) + 1
    return {
        "criteria": criteria.text,
        "sha256": criteria.sha256,
        "share": criteria.share,
        "attempts": attempts,
        "measures": [
            noisy.to_json() | {"charge": first + place, "length": float(length)}
            for place, (noisy, length) in enumerate(zip(measures, lengths, strict=True))
        ],
        "bounds": [_entry(criteria, bound, measures, lengths) for bound in criteria.bounds],
    }


def values_of(criteria: Criteria, measures: Sequence[NoisyMeasure], lengths: Sequence[float]) -> list[float]:
    """What is compared with the limit of each bound."""
    places = [criteria.place(bound) for bound in criteria.bounds]
    return [bound.value(measures[place], lengths[place]) for bound, place in zip(criteria.bounds, places, strict=True)]


def acceptance_sentences(document: Mapping[str, Any]) -> list[str]:
    """What a receipt says of its acceptance; nothing where the release had to meet no criteria."""
    section = document.get("acceptance")
    if section is None:
        return []
    budget, attempts = document["budget"], section["attempts"]
    allowed = "one run was allowed"
    if attempts > 1:
        allowed = (
            f"at most {attempts:,} runs on average were allowed, the first that passed was released, and how many "
            "there were is not released"
        )
    sentences = [
        f"Accepted by criteria declared beforehand (SHA-256 {section['sha256'][:16]}...): {allowed}. All of it costs "
        f"epsilon {budget['epsilon']:g} at delta {document['spent']['delta']:g}, which was charged before the first "
        "run, and would have stayed charged had nothing passed."
    ]
    try:
        criteria = read_criteria(section["criteria"])
        sentences += [_sentence(criteria, bound, section) for bound in criteria.bounds]
        sentences += filter(None, [_passed_over(criteria, section, document)])
        sentences += _promises(criteria.bounds, attempts)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        sentences.append("What the criteria were can't be read: this receipt does not hold.")
    said_before = "fidelity" in document or "certificates" in document
    used = "" if said_before else rows_used(document)
    return [*sentences, *filter(None, [used]), BEFORE_JUDGED]


def acceptance_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What the section states, and its text, the charges or the rule do not say."""
    section = document.get("acceptance")
    rule = COMPOSITIONS[document["composition"]["rule"]]
    attempts = rule.attempts if isinstance(rule, RepeatedFilter) else 1
    if section is None:
        if attempts > 1:
            yield f"The rule {rule.name} is for runs that are repeated until one is accepted. Found no criteria."
        return
    try:
        yield from _section_problems(document, section, attempts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = str(error) if isinstance(error, ValueError) else "its parts are not those of one."
        yield f"The acceptance can't be checked: {said}"


def _section_problems(document: Mapping[str, Any], section: Mapping[str, Any], attempts: int) -> Iterator[str]:
    criteria, charges, schema = read_criteria(section["criteria"]), document["charges"], schema_of(document)
    if section["sha256"] != criteria.sha256:
        yield "The SHA-256 of the criteria of acceptance is not that of their text."
    if section["attempts"] != attempts:
        yield f"The rule is for {attempts} attempts. The acceptance states {section['attempts']}."
    if not alike(section["share"], criteria.share):
        yield f"The criteria of acceptance have a share of {criteria.share:g}. Found {section['share']:g}."
    entries = section["measures"]
    if len(entries) != len(criteria.questions) or len(entries) > len(charges):
        yield f"The criteria need {len(criteria.questions)} measures. Found {len(entries)}."
        return
    for entry, bound, number in zip(
        entries, criteria.questions, range(len(charges) - len(entries) + 1, len(charges) + 1), strict=True
    ):
        problem = _measure_problem(entry, bound, number, charges, schema)
        if problem:
            yield f"Acceptance measure {bound.words!r} (charge {number}): {problem}"
            return
    yield from records_problems([*document.get("fidelity", ()), *entries], document)
    yield from _share_problems(document, section)
    measures, lengths = [_noisy(entry) for entry in entries], [float(entry["length"]) for entry in entries]
    expected = [_entry(criteria, bound, measures, lengths) for bound in criteria.bounds]
    if not alike(section["bounds"], expected):
        yield "What was compared with the limits of the acceptance does not follow from its measures."
    for bound, value in zip(criteria.bounds, values_of(criteria, measures, lengths), strict=True):
        if not bound.kept_by(value):
            yield f"The release was not acceptable: {bound.sentence}, and the value is {value:.6g}."


def _measure_problem(
    entry: Mapping[str, Any], bound: Bound, number: int, charges: Sequence[Mapping[str, Any]], schema: Schema | None
) -> str:
    if entry["charge"] != number or entry["measure"] != bound.measure:
        return "it is another measure, or names another charge."
    charge, about = charges[number - 1], bound.about
    if schema is not None and len(bound.columns) == 2:
        about = " and ".join(schema.domain.canonical(bound.columns))
    elif len(bound.columns) == 2 and str(entry["about"]) == " and ".join(reversed(bound.columns)):
        about = str(entry["about"])
    if bound.measure == "pair_error" and charge["parameters"].get("marginals") != 1:
        return "its charge counts more than one marginal."
    length = 1.0
    if bound.kind == TRANSPORT:
        grid = None if schema is None else SnapGrid.of(schema[bound.columns[0]])
        length = float(entry["length"]) if grid is None else grid.upper - grid.lower
    if not alike(entry["length"], length) or not length > 0:
        return f"its column has a range of length {length:g}. Found {entry['length']}."
    fields = {key: value for key, value in entry.items() if key not in _OWN}
    return measure_problem(fields, charge, schema, about)


def _share_problems(document: Mapping[str, Any], section: Mapping[str, Any]) -> Iterator[str]:
    rule = COMPOSITIONS[document["composition"]["rule"]]
    if not isinstance(rule, Filter):
        yield f"The rule {rule.name} leaves nothing of the budget for measures that a release is accepted by."
        return
    last = document["charges"][-len(section["measures"]) :]
    spent = math.fsum(rule.cost(event_from_json(charge["event"])) for charge in last)
    share = spent / rule.capacity(Budget(**document["budget"]))
    if not math.isclose(share, section["share"], rel_tol=1e-6):
        yield f"The measures of the acceptance cost {share:.6g} of the budget. It states {section['share']:g}."


def _entry(
    criteria: Criteria, bound: Bound, measures: Sequence[NoisyMeasure], lengths: Sequence[float]
) -> dict[str, Any]:
    place = criteria.place(bound)
    return {
        "bound": bound.sentence,
        "measure": place,
        "limit": bound.limit,
        "confidence": bound.confidence,
        "value": bound.value(measures[place], lengths[place]),
    }


def _sentence(criteria: Criteria, bound: Bound, section: Mapping[str, Any]) -> str:
    """A bound, what was measured, and what was compared."""
    entry = section["measures"][criteria.place(bound)]
    noisy, length = _noisy(entry), float(entry["length"])
    error = f"standard error {noisy.standard_error * length:.4g}"
    estimate = f"estimate {noisy.estimate * length:.4g}, which looks better than it is because it had to pass, {error}"
    end = "" if bound.confidence is None else f", confidence bound {bound.value(noisy, length):.4g}"
    # Names of columns may hold a newline, which must not make a line of the page.
    return inert(f"Required was that {bound.sentence}: {estimate}{end}.")


def _passed_over(criteria: Criteria, section: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """That the mean of all pairs was that of some, where pairs have too many cells to be compared."""
    bounds, schema = [bound for bound in criteria.bounds if bound.kind == PAIRS], schema_of(document)
    if not bounds or schema is None:
        return ""
    compared = float(section["measures"][criteria.place(bounds[0])]["unit"])
    return pairs_passed_over(compared, len(schema.domain.attributes))


def _promises(bounds: Sequence[Bound], attempts: int) -> Iterator[str]:
    """How likely a release is accepted that breaks a bound: the chances of all runs add up, K of them on average."""
    sure = [bound.confidence for bound in bounds if bound.confidence is not None]
    if not sure:
        return
    wrong = attempts * (1 - min(sure))
    if wrong < 1:
        yield (
            f"A release that breaks a bound stated with confidence was accepted with probability at most {wrong:.3g} "
            "for each such bound, over the noise of the measures"
            + (f": {attempts:,} times that of one run." if attempts > 1 else ".")
        )


def _noisy(entry: Mapping[str, Any]) -> NoisyMeasure:
    return NoisyMeasure.from_json({key: value for key, value in entry.items() if key not in _OWN})
