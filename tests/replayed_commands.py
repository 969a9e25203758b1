"""Whole commands on a sensitive table, and again on another one with the answers of the first.

Recorded noise is drawn from a seed, so that a test does not depend on what the system draws; receipts say what they
would of the system's noise.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest

from command_line import Ended, Office
from counterfoil import kept_files
from counterfoil.curator.answer_log import ResumableRandomness
from counterfoil.fidelity import acceptance_runs
from counterfoil.ledger import entry
from counterfoil.ledger.ledger import Ledger
from counterfoil.noise.randomness import SeededRandomness, SystemRandomness
from counterfoil.receipt import receipt
from transcripts import Recording, recorded, replayed

Writer = Callable[[Path], None]
"""Writes the sensitive table, and whatever is public, into a folder."""


@dataclass(frozen=True)
class Outcome:
    """Whatever commands leave to be seen by somebody who may not see the table.

    Args:
        ended: of each command, its status and what it printed.
        files: the bytes of each file but the sensitive table and the ledger, by path.
        entries: of the ledger, without times and hashes.
    """

    ended: tuple[Ended, ...]
    files: dict[str, bytes]
    entries: tuple[tuple[str, str], ...]


class Noon(datetime):
    """The clock, stopped."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime(2026, 1, 1, 12, tzinfo=tz or UTC)


@dataclass(frozen=True)
class Rehearsal:
    """Commands that are run on one table after another, each time in the same folder, which is empty before.

    Args:
        folder: it, which is deleted.
        secret: the names of files in it that are sensitive.
        commands: each a line.
        public: writes what is the same every time.
    """

    folder: Path
    secret: frozenset[str]
    commands: Sequence[str]
    public: Writer
    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def record(self, table: Writer) -> tuple[Outcome, Recording]:
        return recorded(self.patch, lambda _: self._run(table))

    def replay(self, table: Writer, recording: Recording) -> Outcome:
        return replayed(self.patch, recording, lambda _: self._run(table))[0]

    def _run(self, table: Writer) -> Outcome:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.patch.chdir(self.folder)
        kept_files._released.clear()
        self.public(self.folder)
        table(self.folder)
        office = Office(self.folder, self.capsys)
        with self.patch.context() as inner:
            _seed(inner)
            _stop_the_clock(inner)
            ended = tuple(office.run(*command.split()) for command in self.commands)
        files = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.name not in self.secret and path.suffix != ".ledger"
        }
        return Outcome(ended, files, tuple(_entries(self.folder)))


def _seed(patch: pytest.MonkeyPatch) -> None:
    noise, public = SeededRandomness(1), SeededRandomness(2)
    for name in ("discrete_gaussian", "discrete_laplace", "noisy_max", "words"):
        patch.setattr(SystemRandomness, name, _drawing(getattr(noise, name)))
    for kind in (SystemRandomness, ResumableRandomness):
        patch.setattr(kind, "generator", _drawing(public.generator))


def _drawing(draw: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, *given: draw(*given)


def _stop_the_clock(patch: pytest.MonkeyPatch) -> None:
    for module in (acceptance_runs, entry, receipt):
        patch.setattr(module, "datetime", Noon)


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*.ledger")):
        with Ledger.open(path, source=None) as opened:
            for written in opened.entries():
                yield written.kind, json.dumps(written.details)
