"""Checks a receipt from what it records, without the data and without the program that made it.

What each field is checked by:

| field | how |
|---|---|
| `format`, `format_version` | the published shape |
| `budget`, `neighboring_relation`, `privacy_unit`, `public_groups` | recomputed: noise and events follow from them |
| `composition`, `charges`, `spent`, `other_relation` | recomputed: events, scales, sensitivities, sums, sentences |
| `charges.parameters` | compared: with those that the query has; what the sensitivity does not use by signature |
| `private`, `noise_source` | compared: with one another, and with the words that versions have |
| `program` | compared: its names, and the version of OpenDP whose noise was wrong; else by signature |
| `rows.how` | recomputed: what can be, given relation, unit and public number of records; else by signature |
| `rows.drawn`, `outputs` | compared: with one another, and the files beside it; else by signature |
| `kept` | compared: with what a saved folder holds; that it follows from the answers by signature |
| `schema_sha256` | compared: with the schema in `answers`, and with that of a saved folder |
| `schema_bought` | recomputed: its total; compared: with the schema in `answers`; else by signature |
| `answers` | compared: with charges and schema; the noisy counts themselves by signature |
| `fidelity` | recomputed from its noisy answers, which are by signature; compared: with charges |
| `acceptance` | recomputed from its criteria, which are by signature, and its noisy answers; compared: with charges |
| `certificates` | recomputed from `fidelity`, and in a saved folder from error bars; else these gaps by signature |
| `schema_check` | recomputed from its counts, which are by signature; compared: with charges and schema |
| `warnings` | compared: what the maker of the release vouches for; others by signature |
| `source`, `method`, `created`, `ledger` | by signature |

What is by signature is vouched for by the key that is asked for, or by a ledger, which keeps the SHA-256 of the whole
receipt. Without either, `unvouched` lists it. A signature vouches for all the rest, too: a receipt whose author changed
charges and everything that follows from them together, consistently, is the receipt of another release, and holds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import PrivacyEvent, event_from_json
from counterfoil.accounting.filter import Filter
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
from counterfoil.accounting.replacement import require_declared
from counterfoil.curator.queries.gradient import GradientQuery, restated_probability
from counterfoil.curator.queries.query import CountQuery, Query, SelectionQuery
from counterfoil.curator.queries.registry import shipped_queries
from counterfoil.curator.queries.rest_of_texts import RestOfTexts
from counterfoil.curator.queries.text_counts import TextCounts
from counterfoil.inert import inert
from counterfoil.noise.known import noise_from_json
from counterfoil.noise.noise import CountNoise, Noise, SelectionNoise
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise
from counterfoil.receipt.answers import read_answers
from counterfoil.receipt.beside import output_problems
from counterfoil.receipt.charge_parameters import strange_parameters
from counterfoil.receipt.ledger_check import ledger_problems, unknown_purchase, unrecorded
from counterfoil.receipt.other_relation import as_older_versions_did, under_other_relation
from counterfoil.receipt.programs import program_problems
from counterfoil.receipt.schema_bought import bought_problems
from counterfoil.receipt.schema_check import check_problems
from counterfoil.receipt.signature import VerifyKey, signature_problem
from counterfoil.receipt.terms import Terms, declares, neighbors_of
from counterfoil.receipt.wording import wording_problems

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Ledger

_RECORDS_MOVED = {NeighboringRelation.ADD_OR_REMOVE_ONE: 1.0, NeighboringRelation.REPLACE_ONE: 2.0}


@dataclass(frozen=True)
class Verification:
    """The result of checking a receipt.

    Args:
        holds: whether there are no problems.
        recomputed_epsilon: the epsilon that the recorded events compose to; infinite where they can't be understood.
        stated_epsilon: the epsilon that the receipt states for them.
        problems: what is wrong, a sentence each; texts of the receipt in them are inert, newlines too.
        unvouched: the fields for which nobody vouches: anyone can have written them. None where a key or a ledger that
            was asked for does.
        unrecorded: why a ledger that was asked, and counts a release like it, can't vouch for the receipt: it is a
            problem unless a key vouches, though nothing in the receipt is wrong; empty otherwise.
    """

    holds: bool
    recomputed_epsilon: float
    stated_epsilon: float
    problems: tuple[str, ...]
    unvouched: tuple[str, ...] = ()
    unrecorded: str = ""

    def __str__(self) -> str:
        """Whether the receipt holds, and what is wrong or rests on nobody's word."""
        held = f"The receipt holds: what is recorded costs epsilon {self.recomputed_epsilon:.6g}."
        said = [held] if self.holds else ["The receipt does not hold.", *self.problems]
        named = f"Nobody vouches for: {', '.join(self.unvouched)}." if self.unvouched else ""
        return "\n".join(filter(None, [*said, named, self.unrecorded if self.holds else ""]))


def verify_receipt(
    document: Mapping[str, Any],
    folder: Path | None = None,
    *,
    key: VerifyKey | None = None,
    ledger: Ledger | None = None,
) -> Verification:
    """Checks a receipt that has the published shape.

    The check recomputes every event from its noise, every noise scale from its sensitivity, every sensitivity from
    the query's public parameters, and what the events compose to under either relation. A receipt
    whose author changed all of these together, consistently, holds: it is then the receipt of another release.

    Args:
        document: the receipt.
        folder: where the release's files lie, to compare their SHA-256 and rows too; those that are not there are left
            out.
        key: whose signature must be on it.
        ledger: what must know it.
    """
    # On first use, for they import scipy.optimize.
    from counterfoil.receipt.acceptance import acceptance_problems
    from counterfoil.receipt.good_for_check import certificate_problems, fidelity_problems
    from counterfoil.receipt.unvouched import unvouched_fields

    stated = float(document["spent"]["epsilon"])
    parts = (
        _charges,
        _source_of_noise,
        program_problems,
        _rows_of_outputs,
        _answers,
        _model,
        check_problems,
        wording_problems,
    )
    later = (bought_problems, fidelity_problems, certificate_problems, acceptance_problems)
    problems = [problem for part in (*parts, *later) for problem in _checked(part, document)]
    recomputed = math.inf
    try:
        events = [event_from_json(charge["event"]) for charge in document["charges"]]
        others = [event_from_json(charge["event_under_other_relation"]) for charge in document["charges"]]
    except ValueError as error:
        problems.append(str(error))
    else:
        try:
            recomputed = _composed(document, events)
            problems += _totals(document, events, recomputed)
            if all(event.kind == other.kind for event, other in zip(events, others, strict=True)):
                problems += _other_relation(document)
        except (ValueError, ArithmeticError) as error:
            problems.append(f"The events can't be composed: {error}")
    if folder is not None:
        problems += output_problems(document, folder)
    signature = signature_problem(document, key)
    signed = key is not None and not signature
    silent = "" if ledger is None else unrecorded(document, ledger)
    counted = [] if ledger is None or (silent and signed) else list(ledger_problems(document, ledger))
    vouched = signed or (ledger is not None and not counted)
    unvouched = () if vouched else unvouched_fields(document, folder)
    if vouched and key is None and ledger is not None:
        unvouched = unknown_purchase(document, ledger)
    problems += [*([signature] if signature else []), *counted]
    return Verification(not problems, recomputed, stated, tuple(map(inert, problems)), unvouched, silent)


def _checked(part: Callable[[Mapping[str, Any]], Iterator[str]], document: Mapping[str, Any]) -> list[str]:
    """The problems that one check finds; a budget under which the rule promises nothing is one."""
    try:
        return list(part(document))
    except (ValueError, ArithmeticError) as error:
        return [f"It can't be checked: {error}"]


def _rows_of_outputs(document: Mapping[str, Any]) -> Iterator[str]:
    """A file may hold some of the rows, and never more than there are."""
    for output in document["outputs"]:
        if output["rows"] > document["rows"]["drawn"]:
            yield f"{output['file']} is stated to have {output['rows']:,} rows, of {document['rows']['drawn']:,} drawn."


def _charges(document: Mapping[str, Any]) -> Iterator[str]:
    neighbors = neighbors_of(document)
    for number, charge in enumerate(document["charges"], 1):
        problem = _charge_problem(charge, neighbors)
        if problem:
            yield f"Charge {number} ({charge['query']}): {problem}"


def _charge_problem(charge: Mapping[str, Any], neighbors: Neighbors) -> str:
    try:
        noise = noise_from_json({key: value for key, value in charge["noise"].items() if key != "scale"})
    except ValueError:
        return f"noise of kind {charge['noise']['kind']} has the wrong parameters."
    if charge["event"] != noise.event().to_json():
        return "the event is not the one of the noise that was added."
    if charge["query"] not in shipped_queries():
        return "this version does not know such a query and can't check it."
    if strange := strange_parameters(charge["query"], charge["parameters"]):
        return f"the query has no parameter {strange[0]!r}."
    if (problem := _sampling_problem(charge, noise, neighbors)) is not None:
        return problem
    if not _belongs(noise, shipped_queries()[charge["query"]]):
        return f"noise of kind {noise.kind} is not for such a query."
    try:
        here, there = (_sensitivity(charge, neighbors, of) for of in (neighbors.relation, neighbors.relation.other))
    except (ArithmeticError, KeyError, TypeError, ValueError):
        return "the query's parameters are not those of its kind."
    if not _same(charge["sensitivity"], here):
        return f"the sensitivity must be {here:.6g} for this query. Found {charge['sensitivity']:.6g}."
    if not _same(charge["noise"]["scale"], noise.scale(here)):
        return f"the noise must have scale {noise.scale(here):.6g}. Found {charge['noise']['scale']:.6g}."
    if not _same_event(charge["event_under_other_relation"], noise.event_under(here, there).to_json()):
        return "the event under the other relation does not follow from the sensitivities."
    return ""


def _belongs(noise: Noise, query: type[Query]) -> bool:
    """Whether an account answers the query with such noise: counts of texts that nobody listed need a threshold."""
    if issubclass(query, RestOfTexts):
        return isinstance(noise, OpenDomainGaussianNoise)
    if issubclass(query, TextCounts):
        return isinstance(noise, ThresholdedGaussianNoise)
    if issubclass(query, SelectionQuery):
        return isinstance(noise, SelectionNoise)
    return isinstance(noise, CountNoise) or not issubclass(query, CountQuery)


def _sampling_problem(charge: Mapping[str, Any], noise: Noise, neighbors: Neighbors) -> str | None:
    """Whether noise that counts on random batches was added to a query that reads them, of that size at most.

    And whether the neighbors are those whose groups, of which the batches are made, have equal sizes.
    """
    of_batches = issubclass(shipped_queries()[charge["query"]], GradientQuery)
    if isinstance(noise, SubsampledGaussianNoise) != of_batches:
        return "noise that counts on random batches belongs to the queries that read them, and to no other."
    if not isinstance(noise, SubsampledGaussianNoise):
        return None
    try:
        share, groups = restated_probability(charge["parameters"]), tuple(charge["parameters"]["groups"])
    except (ArithmeticError, KeyError, TypeError, ValueError):
        return "the query's parameters are not those of its kind."
    if not neighbors.group_sizes_are_public or neighbors.groups != groups:
        return "its batches show how many rows each of its groups has, which the neighbors do not share."
    if not share <= noise.sampling_probability:
        return f"a batch holds {share:.6g} of a group, and the noise counts on {noise.sampling_probability:.6g}."
    return None


def _sensitivity(charge: Mapping[str, Any], neighbors: Neighbors, relation: NeighboringRelation) -> float:
    return neighbors.sensitivity(partial(_restated, charge), relation)


def _restated(charge: Mapping[str, Any], relation: NeighboringRelation) -> float:
    """The sensitivity to one record, from what the charge records."""
    noise = noise_from_json({key: value for key, value in charge["noise"].items() if key != "scale"})
    norm = noise.norm if isinstance(noise, CountNoise) else None
    query = shipped_queries()[charge["query"]]
    return query.restated_sensitivity(charge["parameters"], _RECORDS_MOVED[relation], norm)


def _source_of_noise(document: Mapping[str, Any]) -> Iterator[str]:
    seeded = "NOT PRIVATE" in document["noise_source"]
    if document["private"] and seeded:
        yield "The receipt says `private`, but its noise came from a seed: the release is NOT PRIVATE."
    if not document["private"] and not seeded:
        yield "The receipt says that the release is not private, but names a private source of noise."


def _composed(document: Mapping[str, Any], events: list[PrivacyEvent]) -> float:
    return COMPOSITIONS[document["composition"]["rule"]].epsilon(events, float(document["spent"]["delta"]))


def _totals(document: Mapping[str, Any], events: list[PrivacyEvent], recomputed: float) -> Iterator[str]:
    rule = COMPOSITIONS[document["composition"]["rule"]]
    budget, spent = Budget(**document["budget"]), document["spent"]
    if not events:
        yield "A release has at least one charge. Found none."
    if not _same(spent["epsilon"], recomputed):
        yield f"The events compose to epsilon {recomputed:.9g}, but the receipt states {spent['epsilon']:.9g}."
    if spent["delta"] != rule.delta(budget):
        yield f"Delta must be the budget's, {budget.delta:g} (0 for pure privacy). Found {spent['delta']:g}."
    if not rule.affords(budget, events) and recomputed > budget.epsilon:
        yield f"The events cost epsilon {recomputed:.9g}, above the budget of {budget.epsilon:.9g}."
    if document["composition"]["adaptive"] and not isinstance(rule, Filter):
        yield f"The rule {rule.name} does not hold for noise that was chosen after earlier answers."


def _other_relation(document: Mapping[str, Any]) -> Iterator[str]:
    terms, adaptive = Terms.of_receipt(document), document["composition"]["adaptive"]
    if declares(document):
        yield from _terms(document, terms)
        expected = under_other_relation(document["charges"], terms)
    else:
        filtered = adaptive and isinstance(terms.rule, Filter)
        expected = as_older_versions_did(document["charges"], terms, adaptive=filtered)
    stated = document["other_relation"]
    for key in ("relation", "holds", "epsilon", "delta", "charged_epsilon", "reason"):
        want, given = expected.get(key), stated.get(key)
        same = _same(want, given) if isinstance(want, float) and isinstance(given, (int, float)) else want == given
        if not same:
            yield f"`other_relation.{key}` must be {want}. Found {given}."


def _terms(document: Mapping[str, Any], terms: Terms) -> Iterator[str]:
    """Whether the charges kept to the terms that were declared before them."""
    charges, plan = document["charges"], terms.plan
    for number, charge in enumerate(charges, 1):
        if charge["query"] not in shipped_queries():
            continue  # already a problem of the charge
        try:
            require_declared(charge["query"], partial(_restated, charge), terms.replacement_factor)
        except (ArithmeticError, KeyError, TypeError, ValueError):
            yield f"Charge {number} ({charge['query']}) exceeds the replacement factor that was declared."
    if (plan is None) != document["composition"]["adaptive"]:
        yield "Noise was either planned or chosen after earlier answers. The receipt says both, or neither."
    if plan is None:
        return
    made = [{key: value for key, value in charge["noise"].items() if key != "scale"} for charge in charges]
    planned = [noise.to_json() for noise in plan]
    if made != planned[: len(made)]:
        yield "The noises of the charges are not those of the plan."
    elif len(made) < len(planned) and not terms.rule.affords(terms.budget, [noise.event() for noise in plan]):
        yield f"The plan as a whole costs more than the budget of epsilon {terms.budget.epsilon:.9g}."


def _model(document: Mapping[str, Any]) -> Iterator[str]:
    """Whether what a model says of its run is what was charged."""
    if document.get("released") != "model":
        return
    said, budget = document["method"]["parameters"], document["budget"]
    for name in ("epsilon", "delta"):
        if name in said and said[name] != budget[name]:
            yield f"The model says {name} {said[name]}, and its budget is {budget[name]:g}."
    steps = sum(noise.get("steps", 0) for noise in document["composition"].get("plan", ()))
    if steps and said.get("iterations", steps) != steps:
        yield f"The model says {said['iterations']} iterations, and {steps} were planned."


def _answers(document: Mapping[str, Any]) -> Iterator[str]:
    """Whether the answers are of the charges that they name, and of the release's schema."""
    if "answers" not in document:
        return
    try:
        read_answers(document)
    except ValueError as error:
        yield str(error)
    if hashlib.sha256(document["answers"]["schema"].encode()).hexdigest() != document["schema_sha256"]:
        yield "The answers are of another schema than the release: its SHA-256 differs."


def _same_event(given: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    if given.keys() != expected.keys() or given["kind"] != expected["kind"]:
        return False
    return all(_same(given[key], expected[key]) for key in expected if key != "kind")


def _same(one: float, other: float) -> bool:
    # Versions of SciPy may differ in the last digits of the special functions.
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)
