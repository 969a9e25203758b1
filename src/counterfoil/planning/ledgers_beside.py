"""A table that a ledger protects is sensitive, whatever its user says: it is refused where the ledger can be seen."""

from __future__ import annotations

import os

from counterfoil.ledger.protecting import ledgers_seen
from counterfoil.ledger.source import SourceIdentity


def require_no_source(table: str | os.PathLike[str]) -> None:
    """Refuses a table that has the place or the name of the source of a ledger beside it or in the current folder.

    Raises:
        ValueError: naming the ledger.
    """
    found = SourceIdentity.of(os.fspath(table))
    for path, served in ledgers_seen(found):
        if served.is_the_same_as(found) or served.name == found.name:
            raise ValueError(
                f"`like` must be a public table. Found {found.name!r}, which has the name of the sensitive table that "
                f"{path} protects: give another table, or leave `like` out and simulate."
            )
