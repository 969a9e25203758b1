"""Rows per privacy unit: a share of the budget counts them, and synthetic rows are numbered so that units follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pyarrow as pa

from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.unit_sizes import UnitSizes
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.plain_arrays import array_of
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.row_sampling import Rows
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.unit_rows import unrelated_rows

DEFAULT_SHARE = 0.02
_PURPOSE = "rows per unit"

Made = TypeVar("Made")


@dataclass(frozen=True)
class UnitHistogram:
    """Which share of the budget counts, in one query after the synthesizer's own, how many rows the units have.

    The identifiers of the synthetic rows then repeat as often as real ones do. Rows of one unit are related by nothing
    else: they were drawn one by one, and are put together at random.

    Args:
        share: above 0 and below 1.

    Raises:
        ValueError: for another share.
    """

    share: float = DEFAULT_SHARE

    def __post_init__(self) -> None:
        if not (isinstance(self.share, (int, float)) and 0 < self.share < 1):
            raise ValueError(
                f"The share for rows per unit must be above 0 and below 1, such as {DEFAULT_SHARE}. Found "
                f"{self.share!r}."
            )

    def prepare(self, curator: Curator) -> None:
        """Sets the share aside before anything is asked.

        Raises:
            ValueError: where rows are units, or no identifier of the unit is written that could repeat.
        """
        _identifier(curator)
        curator.reserve(self.share, _PURPOSE, counts=True)

    def measure(self, curator: Curator, release: Made) -> Made:
        """Buys the histogram and numbers the rows of the release anew, with a receipt that says so.

        Raises:
            TypeError: for a release of another kind.
        """
        if not isinstance(release, (Synthesis, PointSynthesis)):
            raise TypeError("Rows per unit are kept by a synthetic table. Found a release of another kind.")
        identifier, most = _identifier(curator)
        account = curator.account
        assert isinstance(account, FilterAccount), "a reserve is kept by filters only"
        answer = account.ask(UnitSizes(most), account.noise(account.open_reserve(_PURPOSE)))
        rng = curator.randomness.generator()
        table = _numbered(release.to_arrow(), identifier, shares_of_sizes(answer.values), rng)
        receipt = _with_words(release.receipt.with_costs(curator), curator)
        if isinstance(release, Synthesis):
            return replace(release, drawn=Rows(release.drawn.codes, table), receipt=receipt)
        return replace(release, table=table, receipt=receipt)


def _with_words(receipt: Receipt, curator: Curator) -> Receipt:
    """The receipt with the warning that belongs to units of several rows, in place of that of single ones."""
    before = unrelated_rows(curator.neighbors, curator.schema)
    after = unrelated_rows(curator.neighbors, curator.schema, sizes_bought=True)
    document = receipt.to_json()
    return Receipt(document | {"warnings": [*(line for line in document["warnings"] if line not in before), *after]})


def shares_of_sizes(at_least: np.ndarray) -> np.ndarray:
    """float64 [k]: the share of units with exactly 1, 2, ..., k rows, from how many have at least so many, with noise.

    The noisy numbers are made to fall (isotonic regression) and to be no less than 0. Where nothing is left of them,
    every unit has one row.

    Args:
        at_least: noisy counts [k].
    """
    from scipy.optimize import isotonic_regression

    falling = np.maximum(isotonic_regression(at_least.astype(float), increasing=False).x, 0.0)
    exactly = falling - np.append(falling[1:], 0.0)
    total = exactly.sum()
    return exactly / total if total > 0 else np.eye(len(at_least))[0]


def sizes_of_units(shares: np.ndarray, n_rows: int) -> np.ndarray:
    """int64 [units]: rows of each unit, `n_rows` in all, in the proportions of `shares` as nearly as they go.

    Args:
        shares: float64 [k], of units with 1, 2, ..., k rows.
        n_rows: how many rows there are.
    """
    sizes = np.arange(1, len(shares) + 1)
    wanted = shares * n_rows / (shares * sizes).sum()
    units = np.floor(wanted + 1e-9).astype(np.int64)
    left = n_rows - int((units * sizes).sum())
    for i in np.argsort(units - wanted, kind="stable"):  # those that were rounded down most come first
        if 0 < sizes[i] <= left and wanted[i] > units[i]:
            units[i] += 1
            left -= int(sizes[i])
    while left:  # what no proportion asks for: one more unit, as large as fits
        largest = min(left, len(shares))
        units[largest - 1] += 1
        left -= largest
    return np.repeat(sizes, units)


def _numbered(table: pa.Table, identifier: Identifier, shares: np.ndarray, rng: np.random.Generator) -> pa.Table:
    """The table with identifiers that repeat; units are numbered in the order in which they appear."""
    sizes = sizes_of_units(shares, table.num_rows)
    unit = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    _, first, inverse = np.unique(unit, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    values = identifier.generate(len(sizes), rng)
    assert values is not None
    place = table.column_names.index(identifier.name)
    return table.set_column(place, identifier.name, values.take(array_of(order[inverse.reshape(-1)])))


def _identifier(curator: Curator) -> tuple[Identifier, int]:
    """The identifier of the privacy unit, and the most rows that a unit keeps."""
    unit = curator.neighbors.unit
    if unit is None or unit.max_rows == 1:
        raise ValueError(
            "Rows per unit are counted where a privacy unit has several. Found one row a unit: give a privacy unit "
            "with the most rows that it keeps, or buy no histogram."
        )
    for column in curator.schema.columns:
        if isinstance(column, Identifier) and column.name == unit.column and column.replace != "drop":
            UnitSizes(unit.max_rows)  # refuses units that keep too many
            return column, unit.max_rows
    raise ValueError(
        f"Rows per unit show in an identifier that repeats. Found none for {unit.column!r}: declare the column in the "
        'schema with kind = "identifier" and replace = "sequence" or "uuid", or buy no histogram.'
    )
