"""A private check of the schema: a share of the budget counts the cells that were not placed as declared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, cast

from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.accounting.row_counts import records_counted
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.placement import SchemaPlacement
from counterfoil.noise.noise import CountNoise
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.schema_check import CLOSED, NoisyColumn, NoisyPlacements
from counterfoil.schema.placement_words import ColumnWords

DEFAULT_SHARE = 0.01
_PURPOSE = "schema check"


class SchemaWarning(UserWarning):
    """Many of the values were clamped, moved, sent to `other` or not understood, as noisy counts say.

    Also given, before anything is charged, where a derived column is empty for values that its lookup table lacks, and
    where a value that a rule names shares its bin with others.
    """


class Receipted(Protocol):
    """A release, as its check sees it."""

    @property
    def receipt(self) -> Receipt:
        """What it cost, and what is known about it."""
        ...


Made = TypeVar("Made", bound=Receipted)


@dataclass(frozen=True)
class SchemaCheck:
    """Which share of the budget counts, in one question after the synthesizer's own, how the cells were placed.

    Args:
        share: above 0 and below 1.

    Raises:
        ValueError: for another share.
    """

    share: float = DEFAULT_SHARE

    def __post_init__(self) -> None:
        if not (isinstance(self.share, (int, float)) and 0 < self.share < 1):
            raise ValueError(
                f"The share for the schema check must be above 0 and below 1, such as {DEFAULT_SHARE}. Found "
                f"{self.share!r}."
            )

    def prepare(self, curator: Curator) -> None:
        """Sets the share aside before anything is asked; nothing where the schema leaves nothing open.

        Raises:
            ValueError: where the shares that are set aside leave nothing for the synthesizer.
        """
        if SchemaPlacement.of(curator.schema) is not None:
            curator.reserve(self.share, _PURPOSE, counts=True)

    def measure(self, curator: Curator, release: Made) -> Made:
        """Buys the counts, and adds the section `schema_check` to the receipt.

        Args:
            curator: it has answered the synthesizer's queries.
            release: a dataclass with a field `receipt`.

        Raises:
            TypeError: for a release of another kind.
        """
        query, receipt = SchemaPlacement.of(curator.schema), release.receipt
        if query is None:
            return _with_receipt(release, receipt.with_schema_check(CLOSED))
        account = curator.account
        assert isinstance(account, FilterAccount), "a reserve is kept by filters only"
        noise = account.noise(account.open_reserve(_PURPOSE))
        section = _bought(curator, account, query, noise, self.share).to_json()
        return _with_receipt(release, receipt.with_costs(curator).with_schema_check(section))


def buy_schema_check(curator: Curator) -> Receipt:
    """Spends the whole budget of an open curator on the counts alone; for any method, before or after it.

    Returns:
        the receipt, whose section `schema_check` has the counts.

    Raises:
        ValueError: where the schema leaves nothing open, so that there is nothing to count; nothing is charged.
    """
    query = SchemaPlacement.of(curator.schema)
    if query is None:
        raise ValueError(
            "The schema needs no check: no column has bounds, `other` or `missing`, so that each value that is not as "
            "declared is refused. Found nothing to count: spend the budget on a release."
        )
    pure = curator.budget.delta == 0
    rule = PureFilter() if pure else GaussianFilter()
    account = curator.filter(rule, replacement_factor=ANY_QUESTION if pure else COUNTS_WITH_GAUSSIAN_NOISE)
    counts = _bought(curator, account, query, account.noise(account.capacity), 1.0)
    receipt = Receipt.from_curator(
        curator,
        method="schema-check",
        parameters={},
        rows=0,
        released="measures",
        warnings=budget_warnings(curator.budget, records_counted(*counts.records)),
    )
    return receipt.with_schema_check(counts.to_json())


def _with_receipt(release: Made, receipt: Receipt) -> Made:
    if not any(field.name == "receipt" for field in getattr(release, "__dataclass_fields__", {}).values()):
        raise TypeError("The schema check goes on the receipt of a release of this package. Found another kind.")
    changed: Any = replace(cast(Any, release), receipt=receipt)
    return cast(Made, changed)


def _bought(
    curator: Curator, account: FilterAccount, query: SchemaPlacement, noise: CountNoise, share: float
) -> NoisyPlacements:
    answer = account.ask(query, noise)
    counts = query.split(answer.values)
    columns = tuple(NoisyColumn(ColumnWords.of(curator.schema[name]), counts[name]) for name, _ in query.columns)
    return NoisyPlacements(float(share), len(account.charges), answer.noise.kind, answer.scale, columns)
