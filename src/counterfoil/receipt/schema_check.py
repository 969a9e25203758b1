"""The section `schema_check` of a receipt: noisy counts of how the cells of a table found their places.

A schema that is wrong changes values: a bound that is too low moves records to it, a notation that is not the table's
leaves a column empty. The counts say so, and what follows from them, shares and warnings, is computed here alone, for
whoever writes a receipt and whoever verifies one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.filter import Filter
from counterfoil.accounting.row_counts import CONFIDENT
from counterfoil.alike import columns_named, grouped
from counterfoil.curator.queries.placement import SchemaPlacement
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.receipt.good_for_check import schema_of
from counterfoil.schema.discovered import AT_MOST, count_range, percent, shares_between
from counterfoil.schema.former_words import FORMER_REMEDIES
from counterfoil.schema.placement import PLACEMENTS, Placement
from counterfoil.schema.placement_words import ColumnWords

SMALLEST_SHARE = 0.01
"""Of the cells of a column: what fewer of them do is no warning."""

_STANDARD_ERRORS = 3.0
_FALSE_ALARM = 1e-3
_MOST_LISTED = 12


@dataclass(frozen=True)
class NoisyColumn:
    """The noisy counts of one column.

    Args:
        words: the public facts that sentences need.
        counts: by placement, as they were answered: any of them may be negative.
    """

    words: ColumnWords
    counts: Mapping[Placement, int]


@dataclass(frozen=True)
class NoisyPlacements:
    """The noisy counts of all columns; everything here is public.

    Args:
        share: of the budget, that bought them.
        charge: the number of the charge, from 1.
        noise: the kind of noise.
        scale: its scale parameter, in cells.
        columns: those that leave more than one way open.
    """

    share: float
    charge: int
    noise: str
    scale: float
    columns: tuple[NoisyColumn, ...]

    @property
    def standard_error(self) -> float:
        """Of each count."""
        return self.scale * (math.sqrt(2) if self.noise == LaplaceNoise.kind else 1.0)

    @cached_property
    def records(self) -> tuple[float, float]:
        """How many records there are, and the standard error of that.

        The counts of a column sum to the number of records, with noise whose variance grows with how many they are;
        the mean over columns, weighted by the inverse of the variance, has the smallest.
        """
        weights = [1 / len(column.counts) for column in self.columns]
        total = math.fsum(
            weight * sum(column.counts.values()) for weight, column in zip(weights, self.columns, strict=True)
        )
        return total / math.fsum(weights), self.standard_error / math.sqrt(math.fsum(weights))

    @property
    def _within(self) -> float:
        """How many standard errors the noise of a count is within, with probability 95%.

        Laplace noise X of scale b has P(abs(X) > x) = exp(-x / b), so that x = b log 20, or 2.12 of its standard
        errors b sqrt(2). A weighted sum of several has fewer, down to 1.96 (a test compares them), so that shares and
        the number of records, into which several counts go, lie within as many.
        """
        return CONFIDENT if self.noise == LaplaceNoise.kind else AT_MOST

    @property
    def tells(self) -> bool:
        """Whether the number of records stands out from its noise; else no share means anything."""
        total, error = self.records
        return total >= 1 and total > _STANDARD_ERRORS * error

    def share_of(self, count: int) -> tuple[float, float]:
        """The share of the records that `count` is, and its standard error.

        To first order. The noise of the count is part of that of the number of records, which makes the quotient more
        exact than stated here.
        """
        total, error = self.records
        share = min(max(count / total, 0.0), 1.0)
        return share, math.hypot(self.standard_error, share * error) / total

    @property
    def threshold(self) -> float:
        """What a count must exceed to stand out: three standard errors, or what noise alone exceeds anywhere.

        The latter with probability 0.001 for all counts together: a table of many columns would else be warned of what
        its noise does.
        """
        from scipy.special import ndtri

        tail = _FALSE_ALARM / max(sum(len(column.counts) for column in self.columns), 1)
        if self.noise == LaplaceNoise.kind:
            return max(_STANDARD_ERRORS * self.standard_error, self.scale * math.log(1 / (2 * tail)))
        return max(_STANDARD_ERRORS, -float(ndtri(tail))) * self.standard_error

    def standing_out(self) -> Iterator[tuple[NoisyColumn, Placement, float, float]]:
        """The counts of cells that are not as declared and stand out from noise, with their shares and errors."""
        if not self.tells:
            return
        for column in self.columns:
            for way, count in column.counts.items():
                if way is not Placement.DECLARED and count > self.threshold:
                    yield column, way, *self.share_of(count)

    def warnings(self) -> list[str]:
        """A sentence for each share that stands out from noise, is above 1%, and speaks against the schema."""
        return [warning for _, warning in self.warned()]

    def former_warnings(self) -> list[list[str]]:
        """The same in the words of earlier versions: shares and advice were reworded at different times."""
        remedies = [ColumnWords.remedy, *FORMER_REMEDIES]
        shares = (_former_percent, _other_former_percent, None)
        return [[said for _, said in self.warned(remedy, share)] for share in shares for remedy in remedies]

    def says(self, warnings: object) -> bool:
        """Whether these are its warnings, each in the words of some version."""
        if not isinstance(warnings, list):
            return False
        ways = [*zip(*self.former_warnings(), strict=True)]
        return len(ways) == len(warnings) and all(one in way for one, way in zip(warnings, ways, strict=True))

    def warned(
        self,
        remedy: Callable[[ColumnWords, Placement], str] = ColumnWords.remedy,
        share_in_words: Callable[[float, float], str] | None = None,
    ) -> Iterator[tuple[str, str]]:
        """Each warning with the name of its column.

        Args:
            remedy: what to change, from the words of a column and the placement of its cells.
            share_in_words: a share and its standard error in words; with the ends of its 95% interval where None.
        """
        said = share_in_words or self._percent
        for words, way, share, error in self._wrong():
            happened = f"About {said(share, error)} of {words.name} {words.happened(way)}"
            yield words.name, f"{happened}: {remedy(words, way)}."

    def _wrong(self) -> Iterator[_Wrong]:
        for column, way, share, error in self.standing_out():
            if share > SMALLEST_SHARE and column.words.is_wrong(way):
                yield column.words, way, share, error

    def summary(self) -> str:
        """What was counted, how exactly, and what else stands out."""
        total, error = self.records
        bought = f"Schema check, for {100 * self.share:.3g}% of the budget: noisy counts of how the cells of "
        bought += "1 column" if len(self.columns) == 1 else f"{len(self.columns):,} columns"
        off = f"each is off by about {self.standard_error:,.0f} (standard error)"
        if not self.tells:
            return f"{bought} were placed tell nothing about a table of this size: {off}. Spend more on it."
        others = [
            f"{column.words.name} {way.word} {self._percent(share, share_error)}"
            for column, way, share, share_error in self.standing_out()
            if not (share > SMALLEST_SHARE and column.words.is_wrong(way))
        ]
        listed = ", ".join(others[:_MOST_LISTED])
        more = f", and {len(others) - _MOST_LISTED} more" if len(others) > _MOST_LISTED else ""
        besides = "Besides, these stand" if self.warnings() else "These stand"
        found = f"{besides} out: {listed}{more}." if others else "Nothing else stands out from the noise."
        if not others and not self.warnings():
            found = "Nothing that is not as declared stands out from the noise."
        within = count_range(total, error * self._within / AT_MOST)
        return f"{bought} were placed; {off}, of about {total:,.0f} records ({within}). {found}"

    def _percent(self, share: float, error: float) -> str:
        """A share with the ends of its 95% interval.

        Noise is whole: it is k > 0 or more with at most the probability that continuous noise is k - 1/2 or more, for
        which half a record is added on either side.
        """
        half = self._within * error + 0.5 / self.records[0]
        return f"{100 * share:.3g}% ({shares_between(share - half, share + half)})"

    def together(self) -> list[str]:
        """The warnings, with one sentence for columns of which the same is said."""
        found = list(zip(self._wrong(), self.warnings(), strict=True))
        alike = grouped(found, lambda one: _said(*one[0][:2]))
        return [_together([wrong for wrong, _ in group], group[0][1]) for group in alike]

    def sentences(self) -> list[str]:
        """The warnings, then the summary."""
        return [*self.together(), self.summary()]

    def to_json(self) -> dict[str, Any]:
        """The section of a receipt."""
        total, error = self.records
        return {
            "share": self.share,
            "charge": self.charge,
            "noise": self.noise,
            "scale": self.scale,
            "standard_error": self.standard_error,
            "records": {"count": total, "standard_error": error},
            "columns": [
                column.words.to_json() | {"cells": [self._cell(way, count) for way, count in column.counts.items()]}
                for column in self.columns
            ],
            "warnings": self.warnings(),
        }

    def _cell(self, way: Placement, count: int) -> dict[str, Any]:
        cell: dict[str, Any] = {"placement": way.word, "count": count}
        if self.tells:
            cell["share"], cell["standard_error"] = self.share_of(count)
        return cell

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> NoisyPlacements:
        """What `to_json` wrote; what follows from the counts is computed anew.

        Raises:
            ValueError: for a record of another shape.
        """
        try:
            columns = tuple(
                NoisyColumn(
                    ColumnWords.from_json(column),
                    {PLACEMENTS[cell["placement"]]: int(cell["count"]) for cell in column["cells"]},
                )
                for column in record["columns"]
            )
            noisy = NoisyPlacements(
                float(record["share"]), int(record["charge"]), str(record["noise"]), float(record["scale"]), columns
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ValueError("The schema check of the receipt is not understood.") from None
        if not (noisy.scale > 0 and columns and all(column.counts for column in columns)):
            raise ValueError("The schema check of the receipt must have columns with counts, and noise. Found none.")
        return noisy


_Wrong: TypeAlias = tuple[ColumnWords, Placement, float, float]
"""A column, how a share of its cells was placed that speaks against the schema, that share, and its standard error."""


def _said(words: ColumnWords, way: Placement) -> tuple[str, str]:
    return words.happened(way), words.remedy(way)


def _together(alike: Sequence[_Wrong], alone: str) -> str:
    """One sentence for columns of which the same is said, or that of a column by itself."""
    if len(alike) == 1:
        return alone
    happened, remedy = _said(*alike[0][:2])
    shares = sorted(100 * share for _, _, share, _ in alike)
    named = columns_named([words.name for words, *_ in alike], _MOST_LISTED)
    between = f"about {shares[0]:.3g}% to {shares[-1]:.3g}% of the cells {happened}"
    return f"{named[0].upper()}{named[1:]}, {between}: {remedy}. The receipt has the count of each."


CLOSED = {"share": 0.0, "columns": [], "warnings": []}
"""The section where no column leaves more than one way open: nothing had to be asked."""


def check_sentences(document: Mapping[str, Any]) -> list[str]:
    """What a receipt says of its schema check, the warnings first; that there was none, where a table was released.

    Where its charges or its schema contradict that no check was needed, it says so: such a receipt does not hold.
    """
    section = document.get("schema_check")
    if contradictions := list(_contradictions(document)):
        return contradictions
    if section is None:
        if document.get("released", "table") != "table":
            return []
        return ["The schema was not checked: nothing here says how many values were clamped, moved or not understood."]
    if not section["columns"]:
        return ["The schema needs no check: a value that is not as declared would have been refused."]
    return NoisyPlacements.from_json(section).sentences()


def check_warnings(document: Mapping[str, Any]) -> list[str]:
    """The warnings among these sentences."""
    section = document.get("schema_check")
    return NoisyPlacements.from_json(section).together() if section is not None and section["columns"] else []


def warnings_by_column(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the schema check warns of, by column: shares of the cells that the schema changed.

    A number of a release can't be nearer to the real table than its schema allows; whoever states one says these too.
    """
    section = document.get("schema_check")
    if section is None or not section["columns"]:
        return {}
    warned: dict[str, list[str]] = {}
    for column, warning in NoisyPlacements.from_json(section).warned():
        warned.setdefault(column, []).append(warning)
    return warned


def check_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What in a receipt's schema check does not follow from its counts, or from the charge that it names."""
    section = document.get("schema_check")
    if section is None or not section["columns"]:
        if section is not None and dict(section) != CLOSED:
            yield "The schema check has no columns, and says something about them."
        yield from _contradictions(document)
        return
    try:
        noisy = NoisyPlacements.from_json(section)
        expected = noisy.to_json()
    except (ArithmeticError, ValueError) as error:
        yield str(error)
        return
    if noisy.says(section.get("warnings")):
        expected["warnings"] = section["warnings"]
    if not _alike(expected, section):
        yield "The schema check does not follow from its counts: its shares, errors or warnings differ."
    yield from _charge_problems(document, noisy)
    yield from _words_problems(document, noisy)


def check_charges(document: Mapping[str, Any]) -> list[int]:
    """The numbers of the charges that bought a schema check, from 1."""
    charges = document.get("charges", ())
    return [number for number, charge in enumerate(charges, 1) if charge["query"] == SchemaPlacement.name]


def _contradictions(document: Mapping[str, Any]) -> Iterator[str]:
    """Why a receipt without counts of placements should have some: they were bought, or were to be bought."""
    section = document.get("schema_check")
    if section is not None and section["columns"]:
        return
    if bought := check_charges(document):
        yield f"Charge {bought[0]} bought a schema check, and its counts are missing from this receipt."
    elif section is not None and (schema := schema_of(document)) is not None and SchemaPlacement.of(schema) is not None:
        yield (
            "This receipt states that the schema needs no check, and its schema has columns that clamp, move or drop "
            "values: nothing here says how many."
        )


def _charge_problems(document: Mapping[str, Any], noisy: NoisyPlacements) -> Iterator[str]:
    charges = document["charges"]
    if not 1 <= noisy.charge <= len(charges) or charges[noisy.charge - 1]["query"] != SchemaPlacement.name:
        yield f"The schema check names charge {noisy.charge}, which is not one of {SchemaPlacement.name}."
        return
    charge = charges[noisy.charge - 1]
    asked = {column.words.name: [way.word for way in column.counts] for column in noisy.columns}
    if charge["parameters"].get("columns") != asked:
        yield "The schema check has other columns or placements than its charge."
    if (charge["noise"]["kind"], charge["noise"]["scale"]) != (noisy.noise, noisy.scale):
        yield "The schema check states another noise than its charge."
    rule = COMPOSITIONS[document["composition"]["rule"]]
    if isinstance(rule, Filter):
        spent = rule.cost(event_from_json(charge["event"])) / rule.capacity(Budget(**document["budget"]))
        if not math.isclose(spent, noisy.share, rel_tol=1e-6):
            yield f"The schema check cost {spent:.6g} of the budget, and says {noisy.share:.6g}."


def _words_problems(document: Mapping[str, Any], noisy: NoisyPlacements) -> Iterator[str]:
    """Whether bounds and formats are those of the schema, where the receipt has it."""
    if (schema := schema_of(document)) is None:
        return  # `unvouched` lists them, or it is already a problem of the answers
    columns = {column.name: column for column in schema.synthesized}
    for column in noisy.columns:
        name = column.words.name
        if name not in columns or ColumnWords.of(columns[name]) != column.words:
            yield f"The schema check states other facts of column {name!r} than the schema of the release."


def _alike(one: Any, other: Any) -> bool:
    """Equality up to the last digits of numbers."""
    if isinstance(one, float):
        return isinstance(other, (int, float)) and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _former_percent(share: float, error: float) -> str:
    """As versions before 0.13 said it: with one standard error."""
    return f"{100 * share:.3g}% (+- {100 * error:.2g}%)"


def _other_former_percent(share: float, error: float) -> str:
    """As 0.13 said it at first: 1.96 standard errors of any noise, and ends rounded to the nearest percent."""
    low, high = (min(max(share + side * AT_MOST * error, 0.0), 1.0) for side in (-1, 1))
    return f"{100 * share:.3g}% ({percent(low)} to {percent(high)})"
