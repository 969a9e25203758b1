"""What a ledger refuses, one class for each remedy."""

from __future__ import annotations


class LedgerError(Exception):
    """A ledger refused a request. Whatever the request was, it changed nothing in the ledger."""


class BudgetExceeded(LedgerError):
    """There is too little left: ask for less, or have the owner of the data create a larger total."""


class ReleaseClosed(LedgerError):
    """The release was closed or abandoned: open another one."""


class LedgerLocked(LedgerError):
    """Another process is writing: wait for it, or end it."""


class LedgerUnwritable(LedgerError):
    """The file can't be written: a full disk, a read-only file or folder."""


class WrongSource(LedgerError):
    """The ledger was created for another source of records."""


class NotALedger(LedgerError):
    """There is no ledger at this path, or one of a later format."""


class LedgerEdited(LedgerError):
    """The entries are not those that were written: restore the file from a backup."""


class LedgerCutShort(LedgerError):
    """A part of the file or of its last entries is gone: restore the file from a backup."""
