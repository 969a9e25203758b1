"""The rest of a budget of which a share bought the schema, for one release of the same records."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import Filter, GaussianFilter
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.ledger.ledger import Ledger
from counterfoil.schema.bought import Bought


@dataclass(frozen=True)
class Rest:
    """What a purchase left.

    Args:
        rule: how the costs of both add up.
        within: the number of the purchase in the ledger, which reserved the budget of both; None where the ledger has
            no such purchase, and reserves the budget of both for the release.
    """

    rule: RestOfBudget
    within: int | None

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

    def require_left(self, ledger: Ledger, budget: Budget, relation: str) -> None:
        """Checks that one release may spend it; nothing is reserved.

        Args:
            ledger: of the release.
            budget: of both together.
            relation: between which tables the release protects, in words.

        Raises:
            LedgerError: where another release has it already, or too little is left of a ledger that has no such
                purchase.
        """
        if self.within is None:
            ledger.require_room(budget, relation)
        else:
            ledger.require_rest(self.within, budget, relation, self.rule.name)


def rest_of_purchase(bought: Bought | None, ledger: Ledger, budget: Budget, relation: str) -> Rest:
    """What the purchase of a schema left of `budget`: all but what its plan took, whatever of that was asked.

    Whoever spends it twice has two releases each of which is within the budget together with the purchase. Where each
    reserves that budget the sum holds. So the ledger that has the purchase gives its reservation to one release alone.

    Args:
        bought: what the schema says that it cost.
        ledger: of the release.
        budget: of both together, as the user states it again.
        relation: between which tables the release protects, in words.

    Raises:
        ValueError: where there is no such rest; the sentence says what is another than it was.
    """
    if bought is None or bought.of is None:
        raise ValueError(
            "The rest of a budget is left where a share of it bought the schema (`counterfoil schema --share 0.1`, "
            "in Python `buy_schema(..., share=0.1)`). "
            f"Found a schema that was {'not bought' if bought is None else 'bought with a budget of its own'}: leave "
            "`rest` out."
        )
    if bought.whole != budget:
        raise ValueError(
            f"The schema was bought with a share of epsilon {bought.of.epsilon:g} and delta {bought.delta:g}, and the "
            f"rest of it is for one release. Found epsilon {budget.epsilon:g} and delta {budget.delta:g}: state the "
            "same."
        )
    if bought.neighbors.describe() != relation:
        raise ValueError(
            f"The rest of a budget protects as the purchase of the schema did: {bought.neighbors.describe()}. Found "
            f"{relation}: state the same."
        )
    number = ledger.receipts().get(bought.receipt)
    if number is not None:
        plan = ledger.releases()[number - 1].description.get("plan", ())
        if not plan or RestOfBudget.planned(plan) != bought.of.rule:
            raise ValueError(
                f"What the schema says that it took of the budget is not what the ledger has of its purchase (release "
                f"{number}). Copy the line `bought` as `counterfoil schema` wrote it."
            )
    return Rest(bought.of.rule, number)


def words_beside_a_rest(bought: Bought | None, ledger: Ledger | None) -> str | None:
    """What is to be said of a release with a budget of its own, whose schema a share of another budget bought.

    Args:
        bought: what the schema says that it cost.
        ledger: of the release; without one, nobody knows whether the rest is spent.

    Returns:
        Sentences that end with what adds up. None where nothing of a purchase's budget is left to be spent.
    """
    if bought is None or bought.of is None:
        return None
    number = None if ledger is None else ledger.receipts().get(bought.receipt)
    if ledger is not None and any(
        release.within is not None and release.within == number and release.status != "abandoned"
        for release in ledger.releases()
    ):
        return None
    return f"The schema was bought with a share of epsilon {bought.of.epsilon:g}; this release adds to that."
