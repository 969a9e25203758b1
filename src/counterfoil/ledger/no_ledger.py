"""Warnings of what no ledger counts: a release, given once a process, and the purchase of its schema."""

from __future__ import annotations

import warnings
from functools import cache

from counterfoil.callers import outside_the_package

NO_LEDGER = "No ledger: nothing will count this release against later ones of the same table."


class NoLedgerWarning(UserWarning):
    """A release or a look is made without a ledger, so that nothing adds it to others of the same table.

    For releases it is given once a process, before the first query. Pass a `Ledger`, or ignore this category where
    nothing is shared.
    """


class RestWithoutLedgerWarning(NoLedgerWarning):
    """A release spends the rest of a budget, which is for one release, and no ledger remembers that it did."""


class UncountedPurchaseWarning(UserWarning):
    """The schema of a release was bought, and the ledger of the release has no such purchase.

    What it cost adds to all that the ledger says of the source.
    """


@cache
def warn_without_ledger() -> None:
    """Gives the warning, the first time only; each time where warnings are errors, which ends the release."""
    warnings.warn(
        f"{NO_LEDGER} Pass `ledger`, made by `Ledger.create` or `Ledger.open`, or its path, if the release may be "
        "shared.",
        NoLedgerWarning,
        stacklevel=outside_the_package(),
    )


def warn_of_rest_without_ledger(epsilon: float) -> None:
    """Gives the warning, each time that a release is begun.

    Args:
        epsilon: of the budget whose rest it spends.
    """
    warnings.warn(
        f"No ledger will remember that this release has the rest of epsilon {epsilon:g}: spend it once. A second "
        "one from the same schema adds to what is spent. The command refuses it where this one's receipt is found "
        "beside the schema or the output, and Python never does. A ledger would remember.",
        RestWithoutLedgerWarning,
        stacklevel=outside_the_package(),
    )


def warn_of_unrecorded_look() -> None:
    """Gives the warning, each time, that a look at the records without privacy is recorded nowhere."""
    warnings.warn(
        "No ledger: nothing will record that the records were looked at without privacy. Pass `ledger`, made by "
        "`Ledger.create` or `Ledger.open`, or its path, if releases are made of the same table.",
        NoLedgerWarning,
        stacklevel=outside_the_package(),
    )


def warn_of_uncounted_purchase(cost: str) -> None:
    """Gives the warning, each time that a release is begun.

    Args:
        cost: of the schema, in words.
    """
    warnings.warn(
        f"The schema was bought for {cost}, which this ledger has not counted: it adds to what the ledger says is "
        "spent. Buy the schema of the next table with its ledger.",
        UncountedPurchaseWarning,
        stacklevel=outside_the_package(),
    )
