"""The rest of a budget of which a share bought the schema, for one release of the same records."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import Filter, GaussianFilter
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.ledger.ledger import Ledger
from counterfoil.noise.known import noise_from_json
from counterfoil.schema.bought import Bought


@dataclass(frozen=True)
class Rest:
    """What a purchase left.

    Args:
        release: the number of the purchase in the ledger.
        budget: of both together, fixed when the schema was bought.
        relation: between which tables, in words.
        rule: how the costs of both add up.
    """

    release: int
    budget: Budget
    relation: str
    rule: RestOfBudget

    def rule_for(self, rule: Filter) -> RestOfBudget:
        """The rule under which a method spends the rest that would charge `rule` with a budget of its own.

        Raises:
            ValueError: for a method whose costs are no squares of mu.
        """
        if type(rule) is not GaussianFilter:
            raise ValueError(
                "The rest of a budget is spent by methods whose squares of mu add up, such as 'aim' and 'mst'. Found "
                f"one that composes by {rule.name!r}: give it a budget of its own, and buy the schema with another."
            )
        return self.rule

    def require_free(self, ledger: Ledger) -> None:
        """Checks that no other release spends it.

        Raises:
            LedgerError: where one does.
        """
        ledger.require_rest(self.release, self.budget, self.relation)


def rest_of_purchase(bought: Bought | None, ledger: Ledger | None, budget: Budget, relation: str) -> Rest:
    """What the purchase of a schema left of `budget`, as the ledger knows it.

    The noise of the purchase was planned, and the ledger has the plan: it counts as a whole, whatever was asked.

    Args:
        bought: what the schema says that it cost.
        ledger: of the source.
        budget: of both together, as the user states it again.
        relation: between which tables the release protects.

    Raises:
        ValueError: where there is no such rest; the sentence says what is another than it was.
    """
    whole = None if bought is None else bought.whole
    if bought is None or whole is None:
        raise ValueError(
            "The rest of a budget is left where a share of it bought the schema (`counterfoil schema --share 0.1`). "
            f"Found a schema that was {'not bought' if bought is None else 'bought with a budget of its own'}: leave "
            "`rest` out."
        )
    if whole != budget:
        raise ValueError(
            f"The schema was bought with a share of epsilon {whole.epsilon:g} and delta {whole.delta:g}, and the rest "
            f"of it is for one release. Found epsilon {budget.epsilon:g} and delta {budget.delta:g}: state the same."
        )
    if ledger is None or not ledger.durable:
        raise ValueError("What is left of a budget stands in the ledger of the purchase. Found no ledger: give it.")
    number = ledger.receipts().get(bought.receipt)
    if number is None:
        raise ValueError(
            "What is left of a budget stands in the ledger of the purchase. Found one that has no such purchase: give "
            "the ledger with which the schema was bought."
        )
    purchase = ledger.releases()[number - 1]
    if purchase.relation != relation:
        raise ValueError(
            f"The rest of a budget protects as the purchase of the schema did: {purchase.relation}. Found {relation}: "
            "state the same."
        )
    plan = [noise_from_json(record).event() for record in purchase.description.get("plan", ())]
    return Rest(number, budget, relation, RestOfBudget.after(plan))
