"""The entries of a ledger: what each of them says, and when and by which version it was written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.file import Row
from counterfoil.ledger.source import SourceIdentity
from counterfoil.ledger.state import COMMON_KEYS


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    Args:
        number: its place; the first is 1.
        kind: one of `state.KEYS`.
        time: when, in UTC, ISO 8601.
        version: the version of Counterfoil that wrote it.
        details: the keys of its kind.
        hash: over this entry and all before it. A copy of the ledger without it lacks this entry.
    """

    number: int
    kind: str
    time: str
    version: str
    details: dict[str, Any]
    hash: str

    @classmethod
    def of(cls, row: Row) -> Entry:
        """The entry that a row of the file is."""
        return cls(
            row.number,
            row.body["kind"],
            row.body["time"],
            row.body["version"],
            {key: value for key, value in row.body.items() if key not in COMMON_KEYS},
            row.hash,
        )


def stamped(kind: str, **details: Any) -> dict[str, Any]:
    """What the file keeps of an entry that is written now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"kind": kind, "time": now, "version": _version(), **details}


def first_entry(source: SourceIdentity, total: Budget) -> dict[str, Any]:
    """The entry that makes a ledger: whose it is, and what may be spent in all."""
    return stamped("created", source=asdict(source), total=amounts(total))


def amounts(budget: Budget) -> dict[str, float]:
    """A budget as entries state it."""
    return {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}


@cache
def _version() -> str:
    return version("counterfoil")
