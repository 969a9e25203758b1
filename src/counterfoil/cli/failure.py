"""Every way in which a command can fail, as one sentence and an exit status."""

from __future__ import annotations

import errno
import os
import traceback
from dataclasses import dataclass
from pathlib import Path

from counterfoil.curator.judged_runs import Withheld
from counterfoil.ledger.refusals import note_of
from counterfoil.schema.errors import UnconfirmedSchema, UnplacedValue
from counterfoil.scratch.scratch_folder import HIDDEN

BAD_INPUT, BUG, WITHHELD, INTERRUPTED = 2, 1, 3, 130
_PACKAGE = Path(__file__).resolve().parent.parent


class Stopped(Exception):
    """A command ended by its `__cause__` after it had begun to charge; `note` says what that cost."""

    def __init__(self, note: str) -> None:
        super().__init__(note)
        self.note = note


@dataclass(frozen=True)
class Failure:
    """What to print and which status to exit with.

    Args:
        sentence: what to print.
        status: the exit status.
        lines: whether its line breaks are the program's own, and no field can make one.
    """

    sentence: str
    status: int
    lines: bool = False


def failure_of(error: BaseException, *, show_values: bool) -> Failure:
    """The sentence and status for `error`, and whether the ledger could not note it.

    Sentences that this package wrote hold no value of a record. Others' may, so that they are shown only to a steward
    who asked for values.
    """
    failure = _failure_of(error, show_values=show_values)
    return Failure(f"{failure.sentence} {note_of(error)}".strip(), failure.status, isinstance(error, UnconfirmedSchema))


def _failure_of(error: BaseException, *, show_values: bool) -> Failure:
    if isinstance(error, Stopped):
        assert error.__cause__ is not None
        cause = failure_of(error.__cause__, show_values=show_values)
        return Failure(f"{cause.sentence} {error.note}".strip(), cause.status)
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return Failure("Interrupted.", INTERRUPTED)
    if isinstance(error, Withheld):
        return Failure(str(error), WITHHELD)
    usage = getattr(error, "format_message", None)
    if usage is not None:
        return Failure(_one_line(str(usage())), BAD_INPUT)
    if isinstance(error, OSError) and error.errno is not None:
        return Failure(_about_file(error), BAD_INPUT)
    if isinstance(error, MemoryError):
        return Failure("There is not enough memory for this. Ask for fewer rows or a smaller model.", BAD_INPUT)
    if _is_ours(error) or isinstance(error, UnplacedValue):
        return Failure(str(error), BAD_INPUT)
    return Failure(_bug(error, show_values=show_values), BUG)


def _is_ours(error: BaseException) -> bool:
    """Whether a `raise` of this package made it, rather than a library that it called, in Python or in C."""
    if not (isinstance(error, (ValueError, OSError, ModuleNotFoundError)) or _is_ledger_error(error)):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or _PACKAGE not in Path(frames[-1].filename).resolve().parents:
        return False
    return (frames[-1].line or "").lstrip().startswith("raise ")


def _is_ledger_error(error: BaseException) -> bool:
    from counterfoil.ledger.errors import LedgerError

    return isinstance(error, LedgerError)


def _about_file(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error):
        return "The disk is full. Free some space and try again; nothing half-written is left."
    place = _named(Path(os.fsdecode(error.filename))) if isinstance(error.filename, (str, bytes)) else None
    if error.errno == errno.EROFS:
        return (
            f"{place or 'A file'} can't be written, because its file system is read-only: choose another folder, or "
            "mount it for writing."
        )
    if error.errno in (errno.EACCES, errno.EPERM) and isinstance(error.filename2, (str, bytes)):
        # What was to be moved there was made beside it, so that the folder is not at fault.
        return (
            f"{os.fsdecode(error.filename2)} can't be replaced, because its permissions or attributes do not allow it: "
            "choose another place, or have them changed."
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return (
            f"{place or 'A file'} can't be read or written, because its permissions do not allow it: choose another "
            "place, or have them changed."
        )
    return f"{'' if place is None else f'{place}: '}{error.strerror or 'the file could not be read or written'}."


def _named(path: Path) -> Path:
    """`path`; the folder where a file was to be made under a name of its own, which its user never sees."""
    for part in (path, *path.parents):
        if part.name.startswith(".") and (part.name.startswith(HIDDEN) or part.name.endswith(".part")):
            return part.parent
    return path


def _bug(error: BaseException, *, show_values: bool) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(_PACKAGE) in frame.filename]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    said = f": {error}" if show_values else "; its words are hidden, for they may hold values (see --show-values)"
    return f"Counterfoil itself failed, which is a bug: {type(error).__name__}{where}{said}."


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if not line or line.endswith((".", "?", ")")) else f"{line}."
