"""What no ledger counts of a release, said before its first query: the release itself, or its schema's purchase."""

from __future__ import annotations

from counterfoil.accounting.budget import Budget
from counterfoil.curator.rest import Rest
from counterfoil.ledger.ledger import Ledger
from counterfoil.ledger.no_ledger import (
    warn_of_rest_without_ledger,
    warn_of_uncounted_purchase,
    warn_without_ledger,
)
from counterfoil.schema.bought import Bought


def warn_of_uncounted_release(budget: Budget, rest: Rest | None) -> None:
    """Warns of a release without a ledger.

    Args:
        budget: of the release; together with the purchase of its schema where it spends the rest.
        rest: what it spends of the budget of a purchase, if that is what it spends.
    """
    warn_without_ledger()
    if rest is not None:
        warn_of_rest_without_ledger(budget.epsilon)


def warn_of_purchase_beside(ledger: Ledger, bought: Bought | None) -> None:
    """Warns where the ledger of a release, if it is a file, does not have the purchase of the release's schema.

    Args:
        ledger: of the release, which has a budget of its own.
        bought: what the schema says that it cost, if it was bought.
    """
    if bought is not None and ledger.durable and bought.receipt not in ledger.receipts():
        warn_of_uncounted_purchase(f"epsilon {bought.epsilon:g} at delta {bought.delta:g}")
