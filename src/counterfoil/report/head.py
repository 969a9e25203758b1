"""The first thing that a reader of a report sees: what this is, and that nobody in it is real."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.pictures.labels import short
from counterfoil.receipt.rows_used import rows_used
from counterfoil.receipt.schema_bought import up
from counterfoil.receipt.schema_total import bought_of, total_of, why_no_total
from counterfoil.receipt.wording import condition_of
from counterfoil.report.release import ReleaseFacts

NOT_REAL = "NOT REAL PEOPLE"
NOT_PRIVATE = (
    "NOT PRIVATE: the noise came from a seed, so that whoever knows the seed can take it off. DO NOT SHARE this "
    "report, nor the release."
)

_METHODS = {
    "aim": "AIM (noisy counts of chosen marginals, and a graphical model of them)",
    "mst": "MST (noisy counts along a tree of pairs, and a graphical model of them)",
    "independent": "independent columns (noisy counts of each column alone)",
    "direct": "direct (noisy counts of every combination)",
    "reweighting": "reweighting (weights that fit noisy averages)",
    "measure-tree": "measure tree (noisy counts of ever smaller regions)",
    "evolution": "private evolution (points that noisy votes choose)",
    "signed-measure": "signed measure (noisy counts turned into a distribution of points)",
    "wasserstein-generator": "a generator trained to a private Wasserstein distance",
}

_RELATIONS = {
    "add_or_remove_one": ("whether or not {one} is in the real table", "in one case as in the other"),
    "replace_one": ("whichever values {one} in the real table has", "with some of them as with others"),
}
_WRITTEN = math.log(1e4)
"""Of a larger epsilon the factor is a power of e."""
_ANY_RELATION = ("however {one} may differ", "in one case as in another")


@dataclass(frozen=True)
class Head:
    """The head of a page.

    Args:
        title: of the page.
        banner: two or three words, large.
        sentences: what this is.
        facts: names and values, for a list.
        alarms: what must not be overlooked.
    """

    title: str
    banner: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    alarms: tuple[str, ...] = ()


def head(facts: ReleaseFacts) -> Head:
    """The head of the report of a release; it says also where its receipt does not hold."""
    document = facts.receipt.document
    method, budget = document["method"]["name"], document["budget"]
    problems = facts.receipt.verify().problems
    alarms = [] if facts.receipt.private else [NOT_PRIVATE]
    alarms += [f"THE RECEIPT DOES NOT HOLD, nor does this report: {problem}" for problem in problems[:3]]
    listed = (
        ("Rows", f"{facts.count:,}"),
        ("Columns", f"{len(facts.column_names):,}"),
        ("Made from", short(str(document["source"]), 120)),
        ("Method", _METHODS.get(method, short(method, 60))),
        ("Privacy", _budget(float(budget["epsilon"]), float(budget["delta"]))),
        *_of_schema(document),
        ("Made", f"{short(str(document['created'])[:19], 40).replace('T', ' ')} UTC"),
    )
    sentences = (
        "Every row of this table was made up by a program. It was drawn from noisy counts of a real table, so that the "
        "whole resembles it and no row stands for anyone in it.",
        _meaning(document),
        *filter(None, [rows_used(document)]),
        "This report was made from the release alone: no real record was read for it.",
    )
    condition = condition_of(document)
    if condition is not None:
        sentences = (
            f"All rows meet a condition, {short(condition, 200)}: they resemble the records that meet it, and not the "
            "whole table.",
            *sentences,
        )
    source = short(str(document["source"]), 80)
    title = f"A synthetic table: {short(facts.name, 80)}" if facts.name else f"A synthetic copy of {source}"
    return Head(title, NOT_REAL, sentences, listed, tuple(alarms))


def _budget(epsilon: float, delta: float) -> str:
    return f"epsilon {epsilon:g}" + (f", delta {delta:g}" if delta else "")


def _of_schema(document: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What the schema cost, where it was bought, and what both cost together."""
    bought, whole = bought_of(document), total_of(document)
    if bought is None:
        return ()
    own = ("Its schema", _budget(bought.epsilon, bought.delta))
    both = "no figure" if whole is None else f"epsilon {up(whole.epsilon)}, delta {up(whole.delta)}"
    return own, ("Both together", both)


def _meaning(document: Mapping[str, Any]) -> str:
    """What (epsilon, delta) says, for the release's own relation and unit; with a schema that was bought, of both."""
    unit = document["privacy_unit"]
    one = "one record" if unit is None else f"one {short(str(unit['column']), 40)} with all of its records"
    whole = total_of(document)
    if whole is None:
        return (
            f"Nothing bounds what can be learned about {one} from this release, which has its schema in it: "
            f"{why_no_total(document)}."
        )
    bought = "schema_bought" in document
    epsilon, delta = (whole.epsilon, whole.delta) if bought else _stated(document)
    but = f", apart from a probability of {up(delta) if bought else f'{delta:g}'}" if delta else ""
    cases, between = _RELATIONS.get(document["neighboring_relation"], _ANY_RELATION)
    shown, seen = (up(epsilon), "the release and its schema") if bought else (f"{epsilon:g}", "the release")
    times = _rounded_up(math.exp(epsilon)) if epsilon < _WRITTEN else f"e^{shown}"
    return (
        f"Epsilon {shown} means: {cases.format(one=one)}, whatever can be learned from {seen} is at most {times} "
        f"times as likely {between}{but}."
    )


def _rounded_up(number: float) -> str:
    """A bound of at least 1 as a number that is no smaller, of three digits, or of four near 1."""
    step = 0.001 if number < 1.1 else 10.0 ** (math.floor(math.log10(number)) - 2)
    return f"{math.ceil(number / step - 1e-9) * step:,.4g}"


def _stated(document: Mapping[str, Any]) -> tuple[float, float]:
    return float(document["budget"]["epsilon"]), float(document["budget"]["delta"])
