"""Where `counterfoil synth` keeps answers that were paid for, and how a run that ended early is finished."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from counterfoil.cli.folder_outputs import FolderOutputs
from counterfoil.cli.outputs import Outputs, require_writable

if TYPE_CHECKING:
    from counterfoil.cli.synth_request import Request
    from counterfoil.curator.answer_log import AnswerLog
    from counterfoil.methods.method import Synthesizer

TRAINS = ("wasserstein-generator",)
"""Methods whose answers are the steps of a training run, which are not kept."""


@dataclass(frozen=True)
class Keeping:
    """Where answers are kept from the first charge until the release is whole.

    Args:
        path: of the file of answers.
        resume: whether it has those of a run that ended early.
        facts: what the release is made of; a resumed run states the same.
        command: the command line that finishes the release.
    """

    path: Path
    resume: bool
    facts: dict[str, Any]
    command: str

    def reopened(self) -> AnswerLog | None:
        """The answers of the earlier run; None for a new one.

        Raises:
            ValueError: when there are none, or they are of another release.
            OSError: when they can't be read.
        """
        from counterfoil.curator.answer_log import AnswerLog

        return AnswerLog.reopen(self.path, self.facts) if self.resume else None

    def created(self) -> AnswerLog:
        """A new file of answers.

        Raises:
            ValueError: when there is one already.
            OSError: when it can't be written.
        """
        from counterfoil.curator.answer_log import AnswerLog

        return AnswerLog.create(self.path, self.facts, decisions=self.facts["time limit"] is not None)


def place_of(outputs: Outputs | FolderOutputs, keep: Path | None) -> Path:
    """Where answers are kept: beside the table or the folder, or where `--keep` says, which may be a folder."""
    if keep is None:
        return outputs.answers
    return keep / outputs.answers.name if keep.is_dir() else keep


def require_keeping_possible(
    path: Path, *, method: str, seed: int | None, asked: bool, resume: bool, discard: bool
) -> bool:
    """Whether answers are kept; gives up those of an earlier run where its owner says so.

    Args:
        path: where they are kept.
        method: its name.
        seed: of noise that can be repeated, which costs nothing to make again.
        asked: whether `--keep` was given.
        resume: whether a run is finished.
        discard: whether the answers of an earlier run are given up.

    Raises:
        ValueError: where nothing is kept and it was asked for, or answers wait at `path` and nothing is said of them.
        OSError: when they can't be kept there.
    """
    from counterfoil.curator.answer_log import discard as delete
    from counterfoil.curator.answer_log import require_none

    if resume and discard:
        raise ValueError(
            "`--resume` finishes a release with its answers, and `--discard-answers` deletes them. Found both."
        )
    why = "a release with --seed is made again at no cost" if seed is not None else None
    why = f"the steps of {method} are not kept" if method in TRAINS else why
    if why is not None:
        if asked or resume:
            raise ValueError(f"`--keep` and `--resume` are for answers that were paid for: {why}. Leave them out.")
        return False
    if resume:
        return True
    if not path.parent.is_dir():
        raise ValueError(f"`--keep` names a folder, or a file in one. There is no folder {path.parent}.")
    if discard:
        delete(path)
    require_none(path)
    require_writable(path.parent)
    return True


def facts_of(request: Request, synthesizer: Synthesizer, *, method: str) -> dict[str, Any]:
    """What a release is made of, for its file of answers."""
    from counterfoil.curator.release_facts import release_facts

    fidelity = request.fidelity
    return release_facts(
        request.source,
        request.schema,
        synthesizer,
        method=method,
        budget=request.budget,
        relation=request.relation,
        unit=request.unit,
        rows=request.rows,
        fidelity=None if fidelity is None else (fidelity.share, fidelity.target, fidelity.protected),
        check_schema=request.check_schema,
        unit_sizes=request.unit_sizes,
        time_limit=None if request.time_limit is None else request.time_limit.seconds,
        has_ledger=request.ledger is not None,
        rest=request.rest,
    )


def command_to_finish(context: typer.Context) -> str:
    """The command line that was given, with `--resume`."""
    words = context.command_path.split()
    flags: list[str] = []
    for parameter in context.command.params:
        name, source = parameter.name, None
        if name is not None:
            source = context.get_parameter_source(name)
        if name is None or source is None or source.name != "COMMANDLINE" or name in ("resume", "discard_answers"):
            continue
        value = context.params[name]
        option = next((text for text in parameter.opts if text.startswith("--")), None)
        if option is None:
            words.append(str(value))
        else:
            flags += [option] if value is True else [option, str(value)]
    return shlex.join([*words, *flags, "--resume"])
