"""Methods and accounts that leak: what looks for leaks must find each of these."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.curator.curator import Curator
from counterfoil.curator.noisy_answers import NoisyAnswers
from counterfoil.methods import direct
from counterfoil.methods.independent import Independent


def peek(curator: Curator) -> np.ndarray:
    """The exact counts of the last column's codes."""
    return curator._records.marginals([curator.domain.attributes[-1:]])[0]


def leak_a_warning(patch: pytest.MonkeyPatch) -> None:
    """A warning that only some tables give."""
    original = direct.release

    def leaky(curator, *args, **keywords):
        made = original(curator, *args, **keywords)
        document = made.receipt.to_json()
        document["warnings"] = ["Few have the second code."] if peek(curator)[1] < 50 else []
        return dataclasses.replace(made, receipt=type(made.receipt)(document))

    patch.setattr(direct, "release", leaky)


def leak_a_total(patch: pytest.MonkeyPatch) -> None:
    """The exact number of rows in place of the noisy one."""
    original = direct.release
    patch.setattr(
        direct, "release", lambda curator, *a, **k: original(curator, *a, **(k | {"rows": int(peek(curator).sum())}))
    )


def leak_an_order(patch: pytest.MonkeyPatch) -> None:
    """Rows in an order that the records decide; their number and their values are right."""
    original = direct.release

    def leaky(curator, *args, **keywords):
        made = original(curator, *args, **keywords)
        order = np.roll(np.arange(made.rows), int(peek(curator)[0]))
        drawn = dataclasses.replace(made.drawn, table=made.drawn.table.take(pa.array(order)))
        return dataclasses.replace(made, drawn=drawn)

    patch.setattr(direct, "release", leaky)


def leak_by_progress(patch: pytest.MonkeyPatch) -> None:
    """A message that counts exactly."""
    original = Independent.synthesize

    def leaky(self, curator, *, progress, **keywords):
        progress(f"{peek(curator).sum()} rows", 0.0)
        return original(self, curator, progress=progress, **keywords)

    patch.setattr(Independent, "synthesize", leaky)


def leak_a_status(patch: pytest.MonkeyPatch) -> None:
    """A run that fails on some tables alone, without a number, when all is paid for."""
    original = Curator.__exit__

    def leaky(self, *error):
        seen = peek(self)[1]
        original(self, *error)
        if seen < 50:
            raise ValueError("This table can't be copied.")

    patch.setattr(Curator, "__exit__", leaky)


def leak_to_the_ledger(patch: pytest.MonkeyPatch) -> None:
    """An entry that only some tables leave in the ledger; whatever is released is right."""
    original = NoisyAnswers.numbers

    def leaky(self, query, noise, paid, cells):
        if query.exact(self._records).max() > 500:
            self._release.record_refusal()
        return original(self, query, noise, paid, cells)

    patch.setattr(NoisyAnswers, "numbers", leaky)


LEAKS = leak_a_warning, leak_a_total, leak_an_order
