"""The noisy answers of a release, as its receipt records them: what conclusions about the real table rest on.

They were released with the rows, which are made of them, so that recording them costs nothing. A marginal's counts, or
the sums of a family of functions, stand in one text of whole numbers, so that a receipt stays a page that can be read.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.curator.queries.marginal import MarginalCounts, weights_of
from counterfoil.curator.queries.selection import MarginalDistances, WorstApproximatedMarginal
from counterfoil.curator.queries.worst_of_many import WorstOfManyMarginals
from counterfoil.domain.domain import Clique
from counterfoil.features.function_family import FunctionFamily
from counterfoil.features.functions import Functions, function_of
from counterfoil.features.losses import LossNet
from counterfoil.features.moments import Moments
from counterfoil.receipt.terms import neighbors_of
from counterfoil.schema import Schema

if TYPE_CHECKING:
    from counterfoil.curator.curator import Curator

KINDS = ("discrete_gaussian", "discrete_laplace")
"""Noises around the exact answer, whatever it is."""

MOST_CELLS = 1_000_000
"""Cells that a receipt records; of more, the smallest marginals are kept, first those of single columns."""

AT_ONCE = 190
"""Marginals of one answer. Where it has so many, each says least of its columns and is kept last: a look at all pairs
of 20 columns or more has more cells than all that is measured after it."""


@dataclass(frozen=True, eq=False)
class RecordedMarginal:
    """Noisy counts of one marginal.

    Args:
        clique: the columns.
        counts: float64, shaped by the numbers of codes, or of groups of codes, of the columns; in records.
        groups: for columns whose codes were counted in groups, int64 [codes]: the group of each code.
        noise: the kind of the noise in each cell, `discrete_gaussian` or `discrete_laplace`.
        scale: its scale parameter, in records.
        charge: the number of the charge that bought it, from 1.
    """

    clique: Clique
    counts: np.ndarray
    groups: Mapping[str, np.ndarray]
    noise: str
    scale: float
    charge: int

    @property
    def deviation(self) -> float:
        """A bound on the standard deviation of the noise in a cell, in records."""
        return deviation_of(self.noise, self.scale)


@dataclass(frozen=True, eq=False)
class RecordedAverages:
    """Noisy sums of the functions of a family.

    Args:
        family: the functions; those of a user's own have their names and ranges, and can't be evaluated.
        names: of the functions.
        counted: whether the first function is the constant 1, whose sum is the number of records.
        sums: int64 [functions], in whole numbers of the family.
        offsets: float64 [functions]: the value of a function whose whole number is 0.
        slopes: float64 [functions]: by how much its value grows with the whole number.
        noise: the kind of the noise in each sum.
        scale: its scale parameter, in whole numbers of the family.
        charge: the number of the charge that bought them, from 1.
    """

    family: FunctionFamily
    names: tuple[str, ...]
    counted: bool
    sums: np.ndarray
    offsets: np.ndarray
    slopes: np.ndarray
    noise: str
    scale: float
    charge: int

    @property
    def deviation(self) -> float:
        """A bound on the standard deviation of the noise in a sum, in whole numbers."""
        return deviation_of(self.noise, self.scale)


@dataclass(frozen=True, eq=False)
class ErrorBarEntry:
    """A bound on the distance of a marginal that was not measured, which holds with probability 1 - `beta`.

    Args:
        clique: the columns.
        beta: the probability that the bound fails.
        fraction: bound on the sum over cells of abs(real share - share among the synthetic rows).
        source: which released numbers it comes from.
    """

    clique: Clique
    beta: float
    fraction: float
    source: str


@dataclass(frozen=True, eq=False)
class RecordedAnswers:
    """All that a receipt records of the answers.

    Args:
        schema: the public facts.
        marginals: noisy marginals, in the order of their charges.
        averages: noisy averages of functions, likewise.
        error_bars: bounds on marginals that were not measured.
        records: the number of real records where it is public (`replace_one`, one row a unit), else None.
        first_look: the first charge, from 1, after which it was known where a model is wrong: what was counted later
            may have been counted for what the records looked like. None where there is no such charge.
        unit: whose records were protected together, several of which may be alike; None for single records.
    """

    schema: Schema
    marginals: tuple[RecordedMarginal, ...]
    averages: tuple[RecordedAverages, ...]
    error_bars: tuple[ErrorBarEntry, ...] = ()
    records: int | None = None
    first_look: int | None = None
    unit: PrivacyUnit | None = None


def deviation_of(noise: str, scale: float) -> float:
    """A bound on the standard deviation of noise of a kind and scale: see the `deviation` of each noise."""
    return scale * (math.sqrt(2) if noise == "discrete_laplace" else 1.0)


def answers_of(curator: Curator) -> dict[str, Any]:
    """The section `answers` of the receipt of what `curator` answered; empty where nothing of it can be recorded."""
    if curator.account is None:
        return {}
    marginals: list[dict[str, Any]] = []
    averages: list[dict[str, Any]] = []
    for charge, query, answer in curator.account.answers:
        if answer.noise.kind not in KINDS:
            continue  # a threshold hides small counts: what is left is no noisy count of its cell
        if isinstance(query, MarginalCounts):
            parts = zip(query.cliques, query.split(answer.values), strict=True)
            marginals += [
                {"charge": charge, "attributes": list(clique), **_groups(query, clique), "values": _text(part)}
                for clique, part in parts
            ]
        elif type(query) is FunctionAverages:
            family = query.family
            functions = {"functions": family.listed()} if isinstance(family, Functions) else {}
            described = {key: value for key, value in family.describe().items() if key in _FAMILY_KEYS}
            averages.append({"charge": charge, **described, **functions, "values": _text(answer.values)})
    kept = _smallest(marginals)
    if not kept and not averages:
        return {}
    left_out = {"left_out": len(marginals) - len(kept)} if len(kept) < len(marginals) else {}
    records = {"records": curator.public_row_count()} if curator.row_count_is_public else {}
    return {"schema": curator.schema.to_toml(), **records, "marginals": kept, "averages": averages, **left_out}


def read_answers(document: Mapping[str, Any]) -> RecordedAnswers:
    """The answers that a receipt records.

    Args:
        document: the receipt, of the published shape.

    Raises:
        ValueError: for a receipt without answers, as versions before 0.3 wrote them, or whose answers do not fit its
            charges and its schema.
    """
    section = document.get("answers")
    if section is None:
        raise ValueError(
            "This receipt records no noisy answers, on which conclusions about the real table rest: it was made before "
            "version 0.3, or by a method whose answers say nothing about single columns."
        )
    try:
        schema = Schema.from_release(section["schema"] + "\n")
        bought = _Bought(document)
        marginals = tuple(_marginal(entry, document, schema, bought) for entry in section["marginals"])
        averages = tuple(_averages(entry, document, schema) for entry in section["averages"])
        records = None if section.get("records") is None else int(section["records"])
        _require_once(marginals, bought)
        unit = neighbors_of(document).unit
        if len({one.charge for one in averages}) < len(averages):
            raise ValueError("the averages of a charge are there twice.")
        public = document["neighboring_relation"] == "replace_one" and unit is None
        if records is not None and not public:
            raise ValueError("the number of records is there, which is not public under this relation.")
        bars = tuple(_bar(entry, schema) for entry in section.get("error_bars", ()))
        first_look = next((i + 1 for i, one in enumerate(document["charges"]) if one["query"] in LOOKS_AT_ERRORS), None)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"The answers on this receipt can't be read: {error}") from None
    return RecordedAnswers(schema, marginals, averages, bars, records, first_look, unit)


LOOKS_AT_ERRORS = frozenset(one.name for one in (WorstApproximatedMarginal, WorstOfManyMarginals, MarginalDistances))
"""Queries that say where a model is wrong, by which adaptive methods choose what to count."""

_FAMILY_KEYS = ("family", "order", "counted")


def _text(values: np.ndarray) -> str:
    return " ".join(map(str, values.ravel().tolist()))


def _groups(query: MarginalCounts, clique: Clique) -> dict[str, Any]:
    """The groups of codes that were counted together, for columns where some were."""
    if query.coarsening is None:
        return {}
    codes = {name: query.coarsening.codes[name] for name in clique}
    merged = {name: _text(groups) for name, groups in codes.items() if groups.max(initial=0) + 1 < len(groups)}
    return {"groups": merged} if merged else {}


def _smallest(marginals: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many marginals as a receipt holds, the smallest first, in their old order."""
    sizes = [entry["values"].count(" ") + 1 for entry in marginals]
    together = Counter(entry["charge"] for entry in marginals)

    def rank(place: int) -> tuple[bool, bool, int]:
        entry = marginals[place]
        return len(entry["attributes"]) > 1, together[entry["charge"]] >= AT_ONCE, sizes[place]

    kept, cells = set(), 0
    for place in sorted(range(len(sizes)), key=rank):
        cells += sizes[place]
        if cells > MOST_CELLS:
            break
        kept.add(place)
    return [entry for place, entry in enumerate(marginals) if place in kept]


def _numbers(text: str) -> np.ndarray:
    return np.array([int(part) for part in text.split(" ")], dtype=np.int64)


def _noise(entry: Mapping[str, Any], document: Mapping[str, Any], query: str) -> tuple[str, float, int]:
    number = entry["charge"]
    charges = document["charges"]
    if not 1 <= number <= len(charges) or charges[number - 1]["query"] != query:
        raise ValueError(f"charge {number} did not buy {query}.")
    noise = charges[number - 1]["noise"]
    if noise["kind"] not in KINDS or not 0 < noise["scale"] < math.inf:
        raise ValueError(f"the noise of charge {number} is of no kind that is known.")
    return noise["kind"], float(noise["scale"]), number


class _Bought:
    """The marginals of each charge: of each its place among them and what a record counts in it.

    A charge is read once: one may have bought thousands of marginals.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._charges = document["charges"]
        self._known: dict[int, dict[Clique, tuple[int, int]]] = {}

    def of(self, charge: int) -> dict[Clique, tuple[int, int]]:
        if charge not in self._known:
            parameters = self._charges[charge - 1]["parameters"]
            cliques = [tuple(one) for one in parameters["cliques"]]
            found = zip(cliques, enumerate(weights_of(parameters)), strict=True)
            self._known[charge] = dict(reversed([*found]))  # of a clique that is there twice, the first
        return self._known[charge]


def _marginal(
    entry: Mapping[str, Any], document: Mapping[str, Any], schema: Schema, bought: _Bought
) -> RecordedMarginal:
    clique = schema.domain.canonical(entry["attributes"])
    groups = {name: _numbers(text) for name, text in entry.get("groups", {}).items()}
    for name, of in groups.items():
        if len(of) != schema.domain[name] or not np.array_equal(np.unique(of), np.arange(of.max() + 1)):
            raise ValueError(f"the groups of column {name!r} are not those of its codes.")
    shape = tuple(int(groups[name].max()) + 1 if name in groups else schema.domain[name] for name in clique)
    counts = _numbers(entry["values"])
    if counts.size != math.prod(shape):
        raise ValueError(
            f"{counts.size:,} counts are recorded for columns {', '.join(map(repr, clique))}, which have "
            f"{math.prod(shape):,} cells by the schema of the receipt."
        )
    noise, scale, charge = _noise(entry, document, MarginalCounts.name)
    weight = _weight(clique, charge, bought)
    return RecordedMarginal(clique, counts.reshape(shape) / weight, groups, noise, scale / weight, charge)


def _weight(clique: Clique, charge: int, bought: _Bought) -> int:
    """What a record counts in the marginal that the charge bought."""
    if clique not in bought.of(charge):
        raise ValueError(f"charge {charge} did not buy {', '.join(clique)}.")
    return bought.of(charge)[clique][1]


def _averages(entry: Mapping[str, Any], document: Mapping[str, Any], schema: Schema) -> RecordedAverages:
    noise, sums = _noise(entry, document, FunctionAverages.name), _numbers(entry["values"])
    counted = entry["counted"]
    family: FunctionFamily
    if entry["family"] == Moments.kind:
        family = Moments(schema, entry["order"], counted)
    elif entry["family"] == Functions.kind:
        listed = entry["functions"]
        family = Functions.of(schema, [_placeholder(one, schema) for one in listed], counted=counted)
    elif entry["family"] == LossNet.kind:
        bought = document["charges"][entry["charge"] - 1]["parameters"]
        family = LossNet.described({**bought, "counted": counted}, schema)
    else:
        raise ValueError(f"there is no family of functions {entry['family']!r}.")
    names, offsets, slopes = family.names, family.offsets, family.slopes
    if len(sums) != len(names):
        raise ValueError(f"{len(sums)} sums are recorded for {len(names)} functions.")
    _require_bought(entry, document, family.describe())
    return RecordedAverages(family, names, counted, sums, offsets, slopes, *noise)


def _require_bought(entry: Mapping[str, Any], document: Mapping[str, Any], described: Mapping[str, Any]) -> None:
    """The unit, the columns and the order decide the sensitivity and how sums are read: they must be the charge's."""
    parameters = dict(document["charges"][entry["charge"] - 1]["parameters"])
    parameters.pop("vouched_for", None)
    if parameters != dict(described):
        raise ValueError(f"the functions are not those that charge {entry['charge']} bought.")


def _require_once(marginals: Sequence[RecordedMarginal], bought: _Bought) -> None:
    """Each marginal is there once, in the order of its charge."""
    places = [(one.charge, bought.of(one.charge)[one.clique][0]) for one in marginals]
    if any(one >= other for one, other in itertools.pairwise(places)):
        raise ValueError("a marginal is there twice, or out of the order in which it was bought.")


def _placeholder(entry: Mapping[str, Any], schema: Schema) -> Any:
    """The function of an entry; one of a user's own has its name and its range alone."""
    if "where" in entry or "column" in entry:
        return function_of(entry, schema)
    return entry["name"], _unknown, entry["lower"], entry["upper"]


def _unknown(values: Mapping[str, np.ndarray]) -> np.ndarray:
    raise ValueError("A function of a user's own is known to its user alone.")


def _bar(entry: Mapping[str, Any], schema: Schema) -> ErrorBarEntry:
    clique = schema.domain.canonical(entry["attributes"])
    return ErrorBarEntry(clique, float(entry["beta"]), float(entry["fraction"]), str(entry["source"]))
