"""Which ledgers, of those that can be seen from a table, protect it: whatever its user says, it is sensitive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from counterfoil.ledger.diagnosis import APPLICATION_ID
from counterfoil.ledger.errors import LedgerError
from counterfoil.ledger.journal import head_of
from counterfoil.ledger.ledger import Ledger
from counterfoil.ledger.source import SourceIdentity


def ledger_over(table: str | os.PathLike[str]) -> Path | None:
    """The ledger beside a table or in the current folder that protects it, by its place; None where none is seen."""
    found = SourceIdentity.of(os.fspath(table))
    return next((path for path, served in ledgers_seen(found) if served.is_the_same_as(found)), None)


def ledgers_seen(table: SourceIdentity) -> Iterator[tuple[Path, SourceIdentity]]:
    """Each ledger beside a table and in the current folder that can be read, with which records it is for."""
    for path in sorted(_ledgers({_folder(table), Path.cwd()})):
        if (served := _source_of(path)) is not None:
            yield path, served


def _folder(identity: SourceIdentity) -> Path:
    return Path(identity.location.rpartition("::")[0] or identity.location).parent


def _ledgers(folders: set[Path]) -> Iterator[Path]:
    """The ledgers in some folders, known by the header of their files and not by their names."""
    for folder in folders:
        try:
            names = [entry.path for entry in os.scandir(folder) if entry.is_file()]
        except OSError:
            continue  # a folder that can't be listed shows no ledger
        yield from (Path(name) for name in names if _is_ledger(name))


def _is_ledger(path: str) -> bool:
    try:
        head = head_of(Path(path))
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION_ID.to_bytes(4, "big")


def _source_of(path: Path) -> SourceIdentity | None:
    """Which records a ledger is for; None where it can't be read, as one that another program holds."""
    try:
        with Ledger.open(path, source=None, timeout=1.0) as ledger:
            return ledger.source
    except LedgerError:
        return None
