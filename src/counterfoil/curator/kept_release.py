"""A release in Python whose noisy answers are kept, so that a run that ended early is finished without paying twice."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterfoil.curator.answer_log import SUFFIX, AnswerLog
from counterfoil.curator.curator import Curator
from counterfoil.interrupts import interrupted_afterwards

IN_FOLDER = f"release{SUFFIX}"
"""The file of answers in a folder that is given for it."""


@dataclass
class KeptRelease:
    """Where the answers of one call are kept until its release is whole.

    Args:
        path: of the file.
        facts: what the release is made of (`release_facts`).
        log: the answers, once there is a file.
        curator: who asks, once there is one.
    """

    path: Path
    facts: Mapping[str, Any]
    log: AnswerLog | None = None
    curator: Curator | None = None

    @property
    def is_reserved(self) -> bool:
        """Whether an earlier run reserved the budget in a ledger."""
        return self.log is not None and self.log.release is not None

    def keep(self, curator: Curator) -> None:
        """Has `curator` keep each answer, and use those of the earlier run first.

        Raises:
            ValueError: for a curator that has asked already.
            OSError: when the file can't be written.
        """
        if self.log is None:
            with interrupted_afterwards():  # a file that is made must be known here, so that it is deleted
                self.log = AnswerLog.create(self.path, self.facts, decisions=self.facts["time limit"] is not None)
        self.curator = curator
        curator.keep_answers(self.log)

    def _leave(self, error: BaseException) -> None:
        """Leaves the answers for a later run, unless nothing was paid for."""
        if self.log is None:
            return
        charged = max(len(self.log.charges), 0 if self.curator is None else self.curator.charged)
        if not charged and not self.log.resumed:
            self.log.remove()
            return
        self.log.close()
        error.add_note(
            f"The answers that were paid for are kept in {self.path}: the same call with `resume=True` finishes the "
            "release without paying for them again."
        )


def place_of_answers(keep: str | Path, *, resume: bool) -> Path:
    """The file of answers that `keep` names, which may be a folder.

    Raises:
        TypeError: for another type.
        ValueError: where there is no such folder, something is there that is not to be finished, or nothing is there
            that is.
    """
    if not isinstance(keep, (str, os.PathLike)):
        raise TypeError(f"`keep` must be the path of a file, or of a folder. Found {type(keep).__name__}.")
    path = Path(keep)
    path = path / IN_FOLDER if path.is_dir() else path
    if not path.parent.is_dir():
        raise ValueError(f"`keep` must name a folder, or a file in one. There is no folder {path.parent}: make it.")
    if path.exists() and not resume:
        raise ValueError(
            f"`keep` must name a file that is not there yet. Found {path}, which may hold answers that were paid for: "
            "finish their release with `resume=True`, or name another file."
        )
    if resume and not path.is_file():
        raise ValueError(
            f"`resume` needs the answers of a run that ended early. There are none at {path}: name them with `keep`, "
            "or leave `resume` out."
        )
    return path


@contextmanager
def kept_release(path: Path, facts: Mapping[str, Any], *, resume: bool) -> Iterator[KeptRelease]:
    """Keeps answers at `path` while a release is made: they are deleted once it is whole.

    Args:
        path: of the file.
        facts: what the release is made of.
        resume: whether an earlier run left answers there.

    Raises:
        CantResume: when they are of a release with other facts.
        ValueError: when they were changed, or another run uses them.
    """
    kept = KeptRelease(path, facts, AnswerLog.reopen(path, facts) if resume else None)
    try:
        yield kept
    except BaseException as error:
        kept._leave(error)
        raise
    if kept.log is not None:
        kept.log.remove()
