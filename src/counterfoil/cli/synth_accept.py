"""`counterfoil synth --accept`: a release that is written where it meets criteria, and else withheld."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.cli.failure import Stopped
from counterfoil.cli.folder_outputs import FolderOutputs
from counterfoil.cli.no_ledger_note import noted_without_ledger
from counterfoil.cli.outputs import Outputs, is_in_place
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.synth_request import Request
from counterfoil.cli.synth_run import curator_of
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    from counterfoil.fidelity.acceptance import Acceptance
    from counterfoil.fidelity.acceptance_runs import JudgedRuns
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.methods.method import Synthesizer
    from counterfoil.receipt.signature import SigningKey
    from counterfoil.synthesis.synthesis import Synthesis


def acceptance_of(criteria: Path | None, attempts: int | None) -> Acceptance | None:
    """What `--accept` and `--attempts` ask for; None where neither is given.

    Raises:
        ValueError: for attempts without criteria, or criteria that are not understood.
        OSError: when the file can't be read.
    """
    from counterfoil.fidelity.acceptance import Acceptance

    if criteria is None:
        if attempts is not None:
            raise ValueError("`--attempts` repeats a run until it is accepted. Found no criteria: add --accept FILE.")
        return None
    return Acceptance.from_toml(criteria, 1 if attempts is None else attempts)


def require_nothing_kept(keep: Path | None, *, resume: bool, discard: bool) -> None:
    """Refuses to keep answers of a release that may be withheld: they would be more of it than "withheld".

    Raises:
        ValueError: where keeping was asked for.
    """
    if keep is not None or resume or discard:
        raise ValueError(
            "`--accept` keeps no answers, for they would be there of a release that is withheld. Found --keep, "
            "--resume or --discard-answers: leave it out."
        )


def run_judged(
    request: Request,
    synthesizer: Synthesizer,
    outputs: Outputs | FolderOutputs,
    terminal: Terminal,
    acceptance: Acceptance,
    *,
    show_values: bool,
    key: SigningKey | None = None,
) -> Synthesis:
    """As `synth_run.run`, and nothing is written where no run is accepted; no progress is shown.

    Args:
        request: what is to be made.
        synthesizer: how.
        outputs: where it goes.
        terminal: where it is said that nothing will be seen of the runs.
        acceptance: what a run must keep.
        show_values: whether a value at fault may be shown.
        key: signs the receipt; nobody signs it where None.

    Raises:
        Withheld: where no run was accepted.
        Stopped: with the cause, when anything ended it after it was charged, or its user did.
    """
    from counterfoil.api import release_from, require_judgeable
    from counterfoil.fidelity.acceptance_runs import JudgedRuns, withheld
    from counterfoil.ledger.ledger import Ledger

    require_judgeable(synthesizer)
    runs: JudgedRuns | None = None
    made: Synthesis | None = None
    with ExitStack() as stack:
        without = stack.enter_context(noted_without_ledger(terminal, request.ledger))
        try:
            opened = None if request.ledger is None else stack.enter_context(Ledger.open(request.ledger, source=None))
            with showing_values(request.source, request.schema, show=show_values):
                curator = stack.enter_context(curator_of(request, opened))
            runs = JudgedRuns(curator, acceptance, without.note)
            terminal.note("Of a release that may be withheld, nothing is shown before it is accepted.")
            if opened is not None and acceptance.attempts > 1 and key is None:
                terminal.note(_UNRECORDED)
            made = runs.first_accepted(
                partial(
                    release_from,
                    synthesizer=synthesizer,
                    rows=request.rows,
                    fidelity=request.fidelity,
                    check_schema=request.check_schema,
                    unit_sizes=request.unit_sizes,
                    time_limit=request.time_limit,
                )
            )
            if made is not None:
                # The files' own times would tell how long several runs took, and an entry in the ledger would.
                again = acceptance.attempts > 1
                receipt = outputs.write(made, key, moment=_time_of(made)) if again else outputs.write(made, key)
                if not again and opened is not None and runs.release is not None:
                    _note_receipt(opened, runs.release, receipt.digest, terminal)
        except BaseException as error:
            charged = runs is not None and runs.release is not None
            written = made is not None and is_in_place(outputs.receipt, made.receipt)
            if charged or written or isinstance(error, KeyboardInterrupt):
                place = outputs.folder if isinstance(outputs, FolderOutputs) else outputs.table
                said = _what_was_charged(request, charged=charged, place=place if written else None)
                raise Stopped(said) from error
            raise
    if made is None:
        raise withheld(request.budget)
    return made


def _note_receipt(ledger: Ledger, release: int, digest: str, terminal: Terminal) -> None:
    """Has the ledger keep the receipt's SHA-256; of several attempts it does not, whose time the entry would tell."""
    from counterfoil.ledger.errors import LedgerError

    try:
        ledger.record_receipt(release, digest)
    except LedgerError as error:
        terminal.note(f"The release is counted, and its ledger does not know its receipt: {error}")


def _time_of(made: Synthesis) -> float:
    """The time of a release's receipt, in seconds since 1970."""
    return datetime.fromisoformat(str(made.receipt.document["created"])).timestamp()


def _what_was_charged(request: Request, *, charged: bool, place: Path | None = None) -> str:
    """What a run that ended early cost, and where the release is if it was accepted and written by then.

    Args:
        request: what was to be made.
        charged: whether the budget was.
        place: of the release; None where no file was written.
    """
    if place is not None:
        counted = "" if request.ledger is None else f", and the ledger {request.ledger} counts it"
        return f"The release was accepted and is whole, in {place}: its whole budget was charged{counted}."
    if not charged:
        return "Nothing was charged, and no file was written."
    budget = f"epsilon {request.budget.epsilon:g} and delta {request.budget.delta:g}"
    counted = "" if request.ledger is None else f": the ledger {request.ledger} counts {budget} as spent"
    return f"The whole budget was charged{counted}. No file was written, and no answers are kept."


_UNRECORDED = (
    "The ledger will not record its receipt, as the time of that would show how many runs there were: so that somebody "
    "vouches for it, sign it, now with --sign KEY or later with `counterfoil receipt sign`."
)
