"""What a ledger can't note of a release that is paid for and whole: it is not lost for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from counterfoil.callers import outside_the_package
from counterfoil.ledger.errors import LedgerError

if TYPE_CHECKING:  # commands catch the warning, and import no more than they need
    from counterfoil.curator.curator import Curator


class UnnotedWarning(UserWarning):
    """The ledger counts what was made, and could not note its receipt or its end: its disk is full, or it is busy."""


@contextmanager
def unnoted_at_worst(curator: Curator) -> Iterator[None]:
    """Warns of what the ledger refuses inside, where all that is left to do is to note the receipt and the end.

    Formal guarantee: nothing is charged or given back there. What was reserved stays reserved, as the release stays
    open in its ledger.
    """
    release = curator.release_id
    try:
        yield
    except LedgerError as error:
        curator.leave_open()  # a closed one could not be given its receipt any more
        warnings.warn(
            f"What was made is counted, and its release stays open in its ledger: {error} Once it can be written, "
            f"`counterfoil ledger close L --release {release} --receipt R.json` ends it.",
            UnnotedWarning,
            stacklevel=outside_the_package(),
        )
