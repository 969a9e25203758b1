"""No answer of a whole command moves further, between neighboring tables, than it was charged for.

A command is run on a table, and again on neighbors of it with the answers of the first run, so that all of them ask the
same questions. What each question was answered with before the noise is compared in the norm of its noise. The raw
record is what changes: a row of plain cells against one of strange ones, with every reading in between.

A sensitivity that a query claims is compared with its own answers in `tests/curator/test_conformance.py`; here it is
with what is charged for the questions that commands really ask, bought schemas and fidelity included.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.curator import noisy_answers
from counterfoil.curator.account import Account
from counterfoil.curator.noisy_answers import NoisyAnswers
from replayed_commands import Rehearsal
from test_replay_commands import SYNTH, as_csv, as_parquet, one_row, plain, public, strange

ROWS = list(itertools.islice(plain(), 160))
STRANGE = [*itertools.islice(strange(), 0, 60, 4), ("",) * len(ROWS[0]), *one_row()]
BUY = "schema {table} --epsilon 60 --out bought.toml"
REPLACING = "--relation replace_one"


@dataclass(frozen=True)
class Exact:
    """An answer before its noise.

    Args:
        query: its name.
        norm: of the noise.
        sensitivity: that was charged for.
        values: by cell or candidate, or by text.
    """

    query: str
    norm: str
    sensitivity: float
    values: Mapping[Any, float]

    def moved(self, other: Exact) -> float:
        """How far it is from another one, over what was charged for."""
        apart = [self.values.get(key, 0.0) - other.values.get(key, 0.0) for key in {*self.values, *other.values}]
        return float(np.linalg.norm(apart, {"l1": 1, "l2": 2, "most": np.inf}[self.norm])) / self.sensitivity


def listen(patch: pytest.MonkeyPatch) -> list[Exact]:
    """Every exact answer from here on."""
    heard: list[Exact] = []
    noisy, frequent, chosen = NoisyAnswers.numbers, NoisyAnswers.texts, NoisyAnswers.choice

    def hear_counts(self, query, noise, paid, cells):
        exact = dict(enumerate(query.exact(self._records).ravel().tolist()))
        heard.append(Exact(query.name, noise.norm, paid.sensitivity, exact))
        return noisy(self, query, noise, paid, cells)

    def hear_texts(self, query, add, paid):
        released = (noisy_answers._released(query, part, part.counts) for part in query.tallied(self._records))
        exact = {(name, text): count for part in released for name, text, count in part}
        heard.append(Exact(query.name, "l2", paid.sensitivity, exact))
        return frequent(self, query, add, paid)

    def hear_scores(self, query, noise, paid, cells):
        exact = dict(enumerate(query.exact(self._records).tolist()))
        heard.append(Exact(query.name, "most", paid.sensitivity, exact))
        return chosen(self, query, noise, paid, cells)

    for name, hear in (("numbers", hear_counts), ("texts", hear_texts), ("choice", hear_scores)):
        patch.setattr(NoisyAnswers, name, hear)
    return heard


def neighbors(replaced: bool) -> Iterator[list[tuple[str, ...]]]:
    """Some of each kind, with strange records at the beginning, in the middle and at the end."""
    for i, record in enumerate(STRANGE[::3]):
        place = (0, 71, len(ROWS) - replaced)[i % 3]
        yield [*ROWS[:place], record, *ROWS[place + replaced :]]
    if not replaced:
        yield ROWS[1:]


CASES = {
    "a bought schema": (BUY.format(table="people.csv"), as_csv),
    "a schema bought of Parquet": (BUY.format(table="people.parquet"), as_parquet),
    "a schema bought where rows are replaced": (BUY.format(table="people.csv") + f" {REPLACING}", as_csv),
    "aim": (f"{SYNTH} --focus town --target town --fidelity 0.1 --check-schema 0.05 --out made.csv", as_csv),
    "aim published": (f"{SYNTH} --variant published {REPLACING} --fidelity 0.1 --out made.csv", as_csv),
    "mst": (f"{SYNTH} --method mst --out made.csv", as_csv),
    "evolution": (f"{SYNTH} --method evolution --iterations 1 --population 20 --out made.csv", as_csv),
    "reweighting": (f"{SYNTH} --method reweighting --queries moments:2 --fidelity 0.2 --out made.csv", as_csv),
}


def moves(name: str, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> dict[str, float]:
    """The furthest that answers moved, by query, over what was charged for them."""
    command, write = CASES[name]
    commands = Rehearsal(folder / "office", frozenset(), [command], public, patch, capsys)
    heard = listen(patch)
    left, recording = commands.record(write(lambda: iter(ROWS)))
    assert left.ended[0].status == 0, left.ended
    first, furthest = heard.copy(), dict.fromkeys((one.query for one in heard), 0.0)
    for rows in neighbors(REPLACING in command):
        heard.clear()
        commands.replay(write(lambda rows=rows: iter(rows)), recording)
        for one, other in zip(first, heard, strict=True):
            furthest[one.query] = max(furthest[one.query], one.moved(other))
    return furthest


@pytest.mark.parametrize("name", CASES)
def test_no_answer_moves_further_than_was_charged_for(name, tmp_path, monkeypatch, capsys):
    furthest = moves(name, tmp_path, monkeypatch, capsys)
    assert max(furthest.values()) <= 1 + 1e-9, furthest


@pytest.mark.parametrize("name", ["mst", "evolution"])
def test_half_a_charge_is_noticed(name, tmp_path, monkeypatch, capsys):
    claimed = Account._sensitivity
    monkeypatch.setattr(Account, "_sensitivity", lambda self, of: claimed(self, of) / 2)
    assert max(moves(name, tmp_path, monkeypatch, capsys).values()) > 1
