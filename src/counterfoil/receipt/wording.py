"""The sentences on a receipt that follow from its facts: written by these functions, and checked by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from counterfoil.accounting.composition import COMPOSITIONS, Composition
from counterfoil.accounting.neighbors import Neighbors
from counterfoil.accounting.renyi_filter import RenyiFilter
from counterfoil.accounting.repeated import RepeatedFilter
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.noise.randomness import SeededRandomness, SystemRandomness
from counterfoil.receipt.terms import neighbors_of

DRAWN_LATER = "These rows were drawn later from the release's model"
"""How a receipt begins to say it."""


BEFORE_JUDGED = (
    "Intervals of this release hold before it was judged: one that is wrong with probability b is wrong with "
    "probability at most b / a given that a run passes, where a is the probability of that."
)
"""What is said of each interval of an accepted release, and of each certificate."""


def drawn_later(document: Mapping[str, Any]) -> bool:
    """Whether a receipt is that of rows which were drawn from a release's model after it was made."""
    return any(str(sentence).startswith(DRAWN_LATER) for sentence in document.get("warnings", ()))


def condition_of(document: Mapping[str, Any]) -> str | None:
    """The condition under which rows were drawn, so that they are not like the real records; None for none."""
    start = f"{DRAWN_LATER} where "
    warnings = (str(sentence) for sentence in document.get("warnings", ()))
    return next((one.removeprefix(start).removesuffix(".") for one in warnings if one.startswith(start)), None)


COMPOSITION_SENTENCES = {
    "gaussian": "Squares of mu add up (Gaussian differential privacy), also where noise is chosen after earlier "
    "answers; a bound on the sum that is fixed in advance has the exact trade-off curve of one Gaussian mechanism.",
    "zcdp": "Amounts of rho add up (zero-concentrated differential privacy), also where noise is chosen after "
    "earlier answers; a bound on the sum that is fixed in advance is converted to epsilon at delta.",
    "pure": "Epsilons add up (pure differential privacy), also where noise is chosen after earlier answers; their sum "
    "is bounded in advance.",
    "privacy_loss_distribution": "Privacy-loss distributions are convolved; all noise was fixed before the first "
    "answer.",
}

_OF_VERSION_0_1 = {
    "gaussian": "Squares of mu add up (Gaussian differential privacy), also where noise is chosen after earlier "
    "answers; the sum has the exact trade-off curve of one Gaussian mechanism.",
    "zcdp": "Amounts of rho add up (zero-concentrated differential privacy), also where noise is chosen after "
    "earlier answers; the sum is converted to epsilon at delta.",
    "pure": "Epsilons add up (pure differential privacy), also where noise is chosen after earlier answers.",
}

_RENYI_SENTENCE = (
    "Renyi divergences at order {order}, fixed before the first answer, add up, also where noise is chosen after "
    "earlier answers; a bound on the sum that is fixed in advance is converted to epsilon at delta."
)

_REPEATED_SENTENCE = (
    "Costs of one run add up as under the rule {base}; the charges here are those of the run that passed. Runs were "
    "repeated with fresh noise until one passed, and after each that did not, all ended with probability 1 in "
    "{attempts}: the guarantee is that of all runs together, however many there were, which is not {said}."
)
_RELEASED, _UNTIL_0_13 = "released", "told"
"""The last word of it; versions before 0.13 wrote the second."""

_REST_SENTENCE = (
    "Squares of mu add up (Gaussian differential privacy), also where noise is chosen after earlier answers. "
    "{before:.6g} of their sum bought the schema, with thresholds that fail with probability at most {delta:.3g}; the "
    "bound on all of it was fixed before the first of its questions."
)

_SOURCES = {
    True: (
        SystemRandomness.source,
        "OpenDP discrete samplers and a 128-bit table sampler over operating-system entropy",
    ),
    False: (SeededRandomness.source,),
}
"""Where noise can have come from, by whether that is private; versions before 0.1 drew tables from 128 bits."""

_SHORT = "all that met the schema's rules, fewer than were wanted"
_REQUESTED = "asked for by the user"
_EXACT = "the exact number of rows of the table, which replace_one takes as public"
_ESTIMATED = "estimated from noisy counts that are among the charges"
_NO_ROWS = "no rows"

FROM_TOTAL = frozenset({_EXACT, _ESTIMATED})
"""Where as many rows are drawn as the model counts records."""

_VOUCHED = (
    "The guarantee also rests on ",
    ", which the maker of this release brought and vouches for; it was tried on made-up rows, which proves nothing.",
)


def composition_sentence(rule: Composition) -> str:
    """How `rule` adds up, in words for a receipt."""
    if isinstance(rule, RenyiFilter):
        return _RENYI_SENTENCE.format(order=rule.order)
    if isinstance(rule, RepeatedFilter):
        return _REPEATED_SENTENCE.format(base=rule.base.name, attempts=rule.attempts, said=_RELEASED)
    if isinstance(rule, RestOfBudget):
        return _REST_SENTENCE.format(before=rule.mu_squared, delta=rule.threshold_delta)
    return COMPOSITION_SENTENCES[rule.name]


def how_many(neighbors: Neighbors, *, requested: bool, short: bool, released: str = "table") -> str:
    """Where the number of rows comes from.

    Args:
        neighbors: the neighboring tables.
        requested: whether the user asked for that number.
        short: whether more rows were wanted than could be drawn.
        released: what was made; only a table has rows.
    """
    if released != "table":
        return _NO_ROWS
    if short:
        return _SHORT
    if requested:
        return _REQUESTED
    return _EXACT if neighbors.group_sizes_are_public else _ESTIMATED


def vouched_for_warning(what: str) -> str:
    """The warning of a release whose guarantee rests on something that its user brought."""
    before, after = _VOUCHED
    return f"{before}{what}{after}"


def wording_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """The sentences of a receipt that its facts contradict."""
    composition = document["composition"]
    rule = COMPOSITIONS[composition["rule"]]
    if composition["sentence"] not in (composition_sentence(rule), _former_sentence(rule)):
        yield f"`composition.sentence` is not what holds for the rule {rule.name}."
    if document["noise_source"] not in _SOURCES[document["private"]]:
        yield f"`noise_source` must be {_SOURCES[document['private']][0]!r}. Found other words."
    yield from _rows_problems(document)
    expected = [vouched_for_warning(what) for what in _brought(document)]
    stated = [line for line in document["warnings"] if line.startswith(_VOUCHED[0]) and line.endswith(_VOUCHED[1])]
    if stated != expected:
        yield "The warnings do not name what the charges say that the maker of this release brought and vouches for."


def _former_sentence(rule: Composition) -> str | None:
    """What an earlier version wrote of it, in other words; None where it wrote the same or did not know the rule."""
    if isinstance(rule, RepeatedFilter):
        return _REPEATED_SENTENCE.format(base=rule.base.name, attempts=rule.attempts, said=_UNTIL_0_13)
    return _OF_VERSION_0_1.get(rule.name)


def _brought(document: Mapping[str, Any]) -> list[str]:
    """What the charges say that the maker of the release brought, each once, in the order of its first use."""
    said = [charge["parameters"].get("vouched_for", []) for charge in document["charges"]]
    return list(dict.fromkeys(str(what) for words in said if isinstance(words, list) for what in words))


def _rows_problems(document: Mapping[str, Any]) -> Iterator[str]:
    neighbors, released, rows = neighbors_of(document), document.get("released", "table"), document["rows"]
    if rows["drawn"] and released != "table":
        yield f"What was released has no rows. The receipt states {rows['drawn']:,}."
    cases = ((False, False), (True, False), (False, True))
    if rows["how"] not in {how_many(neighbors, requested=r, short=s, released=released) for r, s in cases}:
        yield "`rows.how` is not where the number of rows of such a release can come from."
    public = document.get("answers", {}).get("records")
    if rows["how"] == _EXACT and public is not None and abs(max(public, 1) - rows["drawn"]) > 1:
        yield f"The receipt states {rows['drawn']:,} rows, one for each of the {public:,} records, which are public."
