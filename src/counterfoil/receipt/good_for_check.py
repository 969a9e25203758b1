"""Whether what a receipt says its release is good for follows from the noisy answers that it records.

Each measure must be the answer of a charge: of its query, with its noise, scale and unit, in the order of the charges,
one for each. Everything that follows from an answer is computed again: estimates, standard errors, intervals, the
gaps of certificates, their bounds and their sentences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.curator.queries.fidelity_fairness import GroupPredictions
from counterfoil.curator.queries.fidelity_marginals import LargestMarginalDistance, TotalMarginalDistance
from counterfoil.curator.queries.fidelity_model import CorrectPredictions, TotalLoss
from counterfoil.curator.queries.fidelity_moments import LargestMomentGap
from counterfoil.curator.queries.fidelity_transport import ColumnWasserstein
from counterfoil.features.linear_model import LOSS_UNIT
from counterfoil.receipt.certificate import MEASURED, Gaps, measured_gaps, rests_on_some_pairs
from counterfoil.receipt.noisy_groups import GROUP_PREDICTIONS, NoisyGroups
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.receipt.wording import drawn_later
from counterfoil.schema import Schema


@dataclass(frozen=True)
class _Bought:
    """What a measure must be, by the charge that bought it.

    Args:
        query: the name of its query.
        unit: the answer that stands for 1 in each record, from the charge's parameters.
        about: what it is about, likewise; None where the parameters do not say.
        order: of moments; None for other measures.
    """

    query: str
    unit: Callable[[Mapping[str, Any]], float]
    about: str | None = None
    order: int | None = None


def _one(parameters: Mapping[str, Any]) -> float:
    return 1.0


_BOUGHT = {
    "mean_marginal_error": _Bought(TotalMarginalDistance.name, lambda of: float(of["marginals"])),
    "pair_error": _Bought(TotalMarginalDistance.name, _one),
    "largest_marginal_error": _Bought(LargestMarginalDistance.name, _one),
    "label_marginal_error": _Bought(LargestMarginalDistance.name, _one),
    "feature_marginal_error": _Bought(LargestMarginalDistance.name, _one),
    "wasserstein": _Bought(ColumnWasserstein.name, lambda of: float(of["points"]) - 1, "column"),
    "label_moment_gap": _Bought(LargestMomentGap.name, LargestMomentGap.unit, "target", 1),
    "feature_moment_gap": _Bought(LargestMomentGap.name, LargestMomentGap.unit, "target", 2),
    "accuracy": _Bought(CorrectPredictions.name, _one, "target"),
    "log_loss": _Bought(TotalLoss.name, lambda of: float(LOSS_UNIT), "target"),
}

QUERIES = frozenset({*(bought.query for bought in _BOUGHT.values()), GroupPredictions.name})
"""The names of the queries that buy measures."""


def fidelity_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What the section `fidelity` states and its charges do not say."""
    entries = document.get("fidelity")
    if entries is None and (document.get("released", "table") != "table" or drawn_later(document)):
        return
    entries = [] if entries is None else entries
    charges = [(place, charge) for place, charge in enumerate(document["charges"], 1) if charge["query"] in QUERIES]
    if "acceptance" in document:  # its measures are asked last, and checked by `acceptance_check`
        charges = charges[: max(len(charges) - len(document["acceptance"]["measures"]), 0)]
    if len(charges) != len(entries):
        yield f"{len(charges)} charges bought measures of fidelity, and {len(entries)} measures are on the receipt."
        return
    schema = schema_of(document)
    for entry, (number, charge) in zip(entries, charges, strict=True):
        try:
            problem = measure_problem(entry, charge, schema)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = str(error) if isinstance(error, ValueError) else "its parts are not those of its kind."
        if problem:
            yield f"Fidelity measure {str(entry.get('measure'))!r} (charge {number}): {problem}"
    yield from records_problems(entries, document)


def certificate_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What the section `certificates` states and the measures do not say.

    The gaps of a certificate from error bars follow from the rows and the model, which a receipt does not hold:
    `fidelity.saved_release` compares them where these are at hand.
    """
    entries, seen = document.get("certificates", ()), set()
    measures, schema = _measures(document), schema_of(document) if entries else None
    sizes = {} if schema is None else dict(zip(schema.domain.attributes, schema.domain.sizes, strict=True))
    for number, entry in enumerate(entries, 1):
        name = f"Certificate {number} ({entry.get('basis')}, {entry.get('target')})"
        try:
            problem = _certificate_problem(entry, measures, sizes.get(str(entry.get("target"))))
            if not problem and rests_on_some_pairs(entry, document):
                problem = "it rests on some pairs of columns alone, and others may differ by more."
        except (ArithmeticError, AssertionError, KeyError, RuntimeError, TypeError, ValueError) as error:
            problem = str(error) if isinstance(error, ValueError) else "its parts are not those of a certificate."
        if problem:
            yield f"{name}: {problem}"
            continue
        if (key := (entry["target"], entry["basis"])) in seen:
            yield f"{name} is there twice."
        seen.add(key)
    bounds = [float(entry["excess_risk"]) for entry in entries if isinstance(entry.get("excess_risk"), int | float)]
    if bounds != sorted(bounds):
        yield "The certificates must come with the sharpest first. They are in another order."
    target = next((one.about for one in measures if one.measure == "label_moment_gap"), None)
    bought = {one.measure for one in measures}
    for basis, kind in MEASURED.items():
        both = {f"label_{kind}", f"feature_{kind}"} <= bought
        if target is not None and both and (target, basis) not in seen:
            yield f"The certificate for {target!r} from {basis} is missing: its measures were bought."
    if target is not None and (target, "error bars") not in seen:
        yield f"The certificate for {target!r} from error bars is missing: each release for a target has one."


def alike(stated: Any, expected: Any) -> bool:
    """Whether two JSON values are equal but for the last digits of numbers, where versions of SciPy may differ."""
    if isinstance(expected, Mapping):
        same = isinstance(stated, Mapping) and stated.keys() == expected.keys()
        return same and all(alike(stated[key], value) for key, value in expected.items())
    if isinstance(expected, list | tuple):
        same = isinstance(stated, list | tuple) and len(stated) == len(expected)
        return same and all(map(alike, stated, expected))
    if _is_number(expected):
        return _is_number(stated) and math.isclose(stated, expected, rel_tol=1e-6, abs_tol=1e-9)
    return type(stated) is type(expected) and bool(stated == expected)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def measure_problem(
    entry: Mapping[str, Any], charge: Mapping[str, Any], schema: Schema | None, about: str | None = None
) -> str:
    """What of a measure its charge contradicts; nothing where all of it follows.

    Args:
        entry: the measure, as `NoisyMeasure.to_json` or `NoisyGroups.to_json` writes it.
        charge: that bought it.
        schema: of the release; None where the receipt has none.
        about: what it must be about, where that is known from elsewhere.

    Raises:
        ValueError: for a measure of another shape.
    """
    if entry.get("measure") == GROUP_PREDICTIONS:
        return _groups_problem(entry, charge, schema)
    noisy, parameters = NoisyMeasure.from_json(entry), charge["parameters"]
    bought = _BOUGHT[noisy.measure]
    if charge["query"] != bought.query or parameters.get("order") != bought.order:
        return f"charge {charge['query']} did not buy it."
    if not (noisy.rounding >= 0 and noisy.records_error >= 0):
        return "its errors must not be negative."
    known = "" if bought.about is None else parameters[bought.about]
    if noisy.about != known if known else about is None and noisy.about not in ("1 column", "2 columns"):
        return "it is about something else than its charge."
    if about is not None and noisy.about != about:
        return "it is about something else than what was asked."
    if not alike(noisy.unit, bought.unit(parameters)):
        return f"its unit must be {bought.unit(parameters):g}. Found {noisy.unit:g}."
    return _noise_problem(entry, charge) or _derived_problem(entry, noisy.to_json())


def _groups_problem(entry: Mapping[str, Any], charge: Mapping[str, Any], schema: Schema | None) -> str:
    noisy, parameters = NoisyGroups.from_json(entry), charge["parameters"]
    if charge["query"] != GROUP_PREDICTIONS:
        return f"charge {charge['query']} did not buy it."
    same = list(noisy.protected) == parameters["protected"] and len(noisy.groups) == parameters["groups"]
    if not same or not noisy.target.startswith(f"{parameters['target']} = "):
        return "it is about something else than its charge."
    if schema is not None:
        target = f"{parameters['target']} = {schema[parameters['target']].labels[parameters['positive']]}"
        labels = [[f"{name} = {label}" for label in schema[name].labels] for name in noisy.protected]
        if noisy.target != target or list(noisy.groups) != [", ".join(names) for names in itertools.product(*labels)]:
            return "its target and its groups are not those of the schema."
    return _noise_problem(entry, charge) or _derived_problem(entry, noisy.to_json())


def _noise_problem(entry: Mapping[str, Any], charge: Mapping[str, Any]) -> str:
    noise = charge["noise"]
    if entry["noise"] != noise["kind"] or not alike(entry["scale"], noise["scale"]):
        return f"its noise must be {noise['kind']} of scale {noise['scale']:.6g}, as it was charged."
    return ""


def _derived_problem(entry: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    wrong = [key for key in expected if not alike(entry.get(key), expected[key])]
    wrong += [key for key in entry if key not in expected]
    return f"`{wrong[0]}` does not follow from its answer." if wrong else ""


def records_problems(entries: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> Iterator[str]:
    """Whether all measures are divided by one number of records, the public one where there is one."""
    pairs = [(entry["records"], entry.get("records_error")) for entry in entries if "records" in entry]
    counted = {pair for pair in pairs if all(map(_is_number, pair))}
    public = document.get("answers", {}).get("records")
    if len(counted) > 1:
        yield "The measures of fidelity are divided by different numbers of records."
    elif counted and public is not None and counted != {(max(public, 1), 0)}:
        yield f"The measures of fidelity must be divided by the {public:,} records, which are public."


def _measures(document: Mapping[str, Any]) -> list[NoisyMeasure]:
    """The measures of one number that can be read; what is wrong with the others is said elsewhere."""
    measures = []
    for entry in document.get("fidelity", ()):
        try:
            measures.append(NoisyMeasure.from_json(entry))
        except (TypeError, ValueError):
            continue
    return measures


def schema_of(document: Mapping[str, Any]) -> Schema | None:
    """The schema that a receipt with answers records; None where there is none, or it can't be read."""
    try:
        return Schema.from_release(document["answers"]["schema"] + "\n")
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return None


def _certificate_problem(entry: Mapping[str, Any], measures: Sequence[NoisyMeasure], values: int | None) -> str:
    gaps, norm = Gaps.from_json(entry), entry["norm"]
    if not _is_number(norm) or not 0 < norm < math.inf:
        return "its norm must be positive and finite."
    if values is not None and gaps.values != values:
        return f"its target has {values} values. Found {gaps.values}."
    with np.errstate(all="ignore"):  # a norm beyond all use may overflow: what comes out is then not what is stated
        expected = gaps.certificate(float(norm))
    numbers = ("excess_risk", "trivial")
    if all(alike(entry.get(key), expected[key]) for key in numbers):  # its figures are rounded: from those stated
        expected["sentence"] = gaps.sentence(float(norm), *(float(entry[key]) for key in numbers))
    if problem := _derived_problem(entry, expected):
        return problem.replace("its answer", "its gaps")
    if gaps.basis not in MEASURED:
        return ""
    behind = [one for one in measures if one.about in (gaps.target, "2 columns")]
    bound = [
        one
        for former in (False, True)
        for one in measured_gaps(behind, gaps.target, gaps.values, former=former)
        if one.basis == gaps.basis
    ]
    if not bound:
        return "the measures that it rests on are not on the receipt."
    if not any(alike([gaps.label, gaps.feature], [one.label, one.feature]) for one in bound):
        return "its gaps do not follow from the measures."
    return ""
