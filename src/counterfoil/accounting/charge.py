"""A charge: one query, the noise that was added to its answer, and the privacy cost of that answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.accounting.event import PrivacyEvent, event_from_json


@dataclass(frozen=True)
class Charge:
    """The record of one answer: public, written into the ledger before the answer is computed, and on the receipt.

    Args:
        query: the query's name.
        parameters: its public parameters.
        noise: the noise's kind and parameters, and its `scale` in units of the answer.
        sensitivity: what one privacy unit changes, in the norm that the noise needs.
        event: what the answer cost.
        event_under_other_relation: what it would have cost under the other neighboring relation.
    """

    query: str
    parameters: Mapping[str, Any]
    noise: Mapping[str, Any]
    sensitivity: float
    event: PrivacyEvent
    event_under_other_relation: PrivacyEvent

    def to_json(self) -> dict[str, Any]:
        """The record that ledgers and receipts hold."""
        return {
            "query": self.query,
            "parameters": dict(self.parameters),
            "noise": dict(self.noise),
            "sensitivity": self.sensitivity,
            "event": self.event.to_json(),
            "event_under_other_relation": self.event_under_other_relation.to_json(),
        }

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Charge:
        """The charge that `to_json` wrote.

        Raises:
            ValueError: for a record of another shape, or with an unknown event.
        """
        if record.keys() != Charge.__dataclass_fields__.keys():
            raise ValueError(f"A charge has the keys {', '.join(Charge.__dataclass_fields__)}. Found {[*record]}.")
        return Charge(
            record["query"],
            record["parameters"],
            record["noise"],
            record["sensitivity"],
            event_from_json(record["event"]),
            event_from_json(record["event_under_other_relation"]),
        )
