"""`counterfoil schema INPUT --epsilon E`: a schema and its receipt, bought with budget."""

from __future__ import annotations

import os
import shlex
import shutil
import tomllib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.cli.bought_report import report
from counterfoil.cli.failure import Stopped
from counterfoil.cli.no_ledger_note import noted_without_ledger
from counterfoil.cli.synth_keeping import Keeping, require_keeping_possible
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled
from counterfoil.scratch.scratch_folder import BEFORE, HIDDEN, scratch_folder

if TYPE_CHECKING:
    from counterfoil.curator.answer_log import AnswerLog
    from counterfoil.curator.curator import Curator
    from counterfoil.fidelity.bought_schema import BoughtSchema, SchemaPurchase
    from counterfoil.ledger.ledger import Ledger


@dataclass(frozen=True)
class KeepingWish:
    """Where answers are kept, and what becomes of those of an earlier run, as it was asked for.

    Args:
        place: a folder or a file; beside the schema where None.
        resume: whether an earlier run is finished.
        discard: whether the answers of an earlier run are given up.
        command: the command line that finishes the purchase.
    """

    place: Path | None = None
    resume: bool = False
    discard: bool = False
    command: str = ""

    def path(self, out: Path) -> Path:
        """Of the file of answers: people.schema.toml has people.schema.answers beside it."""
        name = default_receipt(out).name.replace(".receipt.json", ".answers")
        if self.place is None:
            return out.with_name(name)
        return self.place / name if self.place.is_dir() else self.place

    def keeping(self, purchase: SchemaPurchase, out: Path, *, has_ledger: bool) -> Keeping:
        """Where answers will be kept, checked; those of an earlier run are deleted where its owner says so.

        Raises:
            ValueError: where answers of an earlier run wait and nothing is said of them.
            OSError: when they can't be kept there.
        """
        path, asked = self.path(out), self.place is not None
        require_keeping_possible(
            path, method="schema", seed=None, asked=asked, resume=self.resume, discard=self.discard
        )
        return Keeping(path, self.resume, purchase.facts(has_ledger=has_ledger), self.command)


@dataclass(frozen=True)
class Wish:
    """What the options ask for, as they were given.

    Args:
        source: a path, or `file.db::table`.
        epsilon: the most that it may cost.
        delta: the same for delta; the default where None.
        confirm_delta: a delta of .1 or more, said twice.
        relation: which tables are neighbors; add_or_remove_one where None.
        privacy_unit: the column whose values name whom to protect; each row by itself where None.
        max_rows: how many rows of each are used.
        ledger: the file that is charged, or None.
        stated: a file of facts that are known already, or None.
        rows: how many rows the table has, where that is public; None where it isn't, or nobody said.
        keep: where its answers are kept until its files are in place.
        share: of the budget, whose rest is for one release; 1 for all of it.
        decimal_char: the decimal sign of the numbers in the file; None where nothing is said.
        encoding: of the file; None where nothing is said.
    """

    source: str
    epsilon: float
    delta: float | None
    confirm_delta: float | None
    relation: str | None
    privacy_unit: str | None
    max_rows: int | None
    ledger: Path | None
    stated: Path | None
    rows: int | None = None
    keep: KeepingWish = KeepingWish()
    share: float = 1.0
    decimal_char: str | None = None
    encoding: str | None = None

    def purchase(self) -> SchemaPurchase:
        """What is to be bought; nothing but the table's header and types is read for it.

        Raises:
            ValueError: for a mistake in any of it.
        """
        from counterfoil.accounting.budget import Budget
        from counterfoil.accounting.sanity import require_moderate_delta
        from counterfoil.cli.synth_request import relation_named, unit_of
        from counterfoil.fidelity.bought_schema import SchemaPurchase
        from counterfoil.methods.method import DEFAULT_DELTA
        from counterfoil.table_url import stem_of

        budget = Budget(self.epsilon, DEFAULT_DELTA if self.delta is None else self.delta)
        require_moderate_delta(budget.delta, self.confirm_delta)
        related = relation_named("add_or_remove_one" if self.relation is None else self.relation)
        unit = unit_of(self.privacy_unit, self.max_rows)
        name = stem_of(self.source)
        return SchemaPurchase.of(
            self.source,
            budget,
            related,
            unit,
            stated=self.stated,
            name=name,
            share=self.share,
            decimal_char=self.decimal_char,
            encoding=self.encoding,
        )


def buy(terminal: Terminal, wish: Wish, out: Path | None, receipt: Path | None, *, force: bool) -> None:
    """Buys a schema, writes it with its receipt, and shows what was found and what to do next.

    Args:
        terminal: where it is shown.
        wish: what to buy.
        out: where the schema goes.
        receipt: where its receipt goes; beside the schema where None.
        force: whether files that are there may be replaced.

    Raises:
        ValueError: in one sentence, before anything is charged.
        Stopped: with the cause, when anything ended it after something was charged, or its user did.
    """
    place = _places(wish, out, receipt, force=force)
    purchase = wish.purchase()
    if purchase.partial.files and purchase.partial.folder != place[0].absolute().parent:
        raise ValueError(
            f"A schema names its lists from its own folder, and {wish.stated} names some. Found another folder in "
            f"--out: write it to {purchase.partial.folder}."
        )
    if wish.rows is not None and (warning := purchase.require_enough(wish.rows, said=_OPTIONS)):
        terminal.alarm(filled(f"WARNING: {warning}"))
    if single := _single_column(wish.source, purchase.names):
        terminal.alarm(filled(single))
    keeping = wish.keep.keeping(purchase, place[0], has_ledger=wish.ledger is not None)
    with noted_without_ledger(terminal, wish.ledger):
        made = _run(terminal, purchase, wish, place, keeping)
    report(terminal, made, purchase, place, ledger=wish.ledger, following=_next(wish, place[0]))


def _single_column(source: str, names: Sequence[str]) -> str:
    """A sentence where the first line of a text file names a single column; empty where it names more."""
    if not source.lower().endswith((".csv", ".csv.gz")) or len(names) > 1:
        return ""
    return (
        f"WARNING: by its first line {Path(source).name} has a single column. Where that line is a title, remove it: "
        "the line of names must come first."
    )


@dataclass
class _Begun:
    """What a purchase has come to, for whoever stops it.

    Args:
        log: the answers of an earlier run; those that are kept, once it is charged.
        curator: of the table, once all that is refused was accepted.
    """

    log: AnswerLog | None
    curator: Curator | None = None

    def ready(self, terminal: Terminal, purchase: SchemaPurchase, keeping: Keeping) -> Callable[[Curator], None]:
        """What says whom the purchase protects, and keeps its answers: called right before the first charge."""

        from counterfoil.interrupts import interrupted_afterwards

        def ready(curator: Curator) -> None:
            self.curator = curator
            curator.require_rows()
            stated = "" if purchase.unit is not None else _NO_UNIT
            terminal.note(f"What is bought protects {purchase.protects}.{stated}")
            with interrupted_afterwards():  # a file that is made must be known here, so that it is deleted
                self.log = keeping.created() if self.log is None else self.log
            curator.keep_answers(self.log)

        return ready


_OPTIONS = {"rows": "`--rows`", "epsilon": "`--epsilon`", "stated": "--stated"}
_NO_UNIT = (
    " Where a person may have several rows, --privacy-unit COLUMN --max-rows K says whose they are. What is bought "
    "without it adds up with no later release that protects persons, and a ledger that counts it refuses such a one."
)


def _places(wish: Wish, out: Path | None, receipt: Path | None, *, force: bool) -> tuple[Path, Path]:
    """Where the schema and its receipt go, both free."""
    from counterfoil.cli.outputs import inputs, require_free, require_harmless
    from counterfoil.cli.schema_file import require_schema_file
    from counterfoil.kept_files import KeptFile

    if out is None:
        raise ValueError("A schema that is bought goes to a file. Found no `--out`: add --out people.schema.toml.")
    path = default_receipt(out) if receipt is None else receipt
    kept = inputs(wish.source, ledger=wish.ledger)
    kept += [] if wish.stated is None else [KeptFile(wish.stated, "the file of stated facts")]
    own = path if _vouches_for(path, out) else None
    require_harmless([out, path, wish.keep.path(out)], kept, own=own)
    require_schema_file(out, wish.source, force=force)
    require_free([path], force=force)
    return out, path


def _vouches_for(receipt: Path, schema: Path) -> bool:
    """Whether the receipt that is there is that of the schema that is there, which names its SHA-256."""
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.schema.bought import Bought

    try:
        bought = tomllib.loads(schema.read_text(encoding="utf-8")).get("bought")
        return Bought.of_facts(bought).receipt == Receipt.load(receipt).digest
    except (OSError, ValueError, RecursionError):
        return False


def default_receipt(out: Path) -> Path:
    """people.schema.toml and people.toml have people.schema.receipt.json beside them."""
    return out.with_name(f"{out.stem.removesuffix('.schema')}.schema.receipt.json")


def _run(
    terminal: Terminal, purchase: SchemaPurchase, wish: Wish, places: tuple[Path, Path], keeping: Keeping
) -> BoughtSchema:
    from counterfoil.cli.schema_file import note_strange_header
    from counterfoil.cli.synth_run import can_be_finished, charges_of, close, leave, remove, what_was_charged

    note_strange_header(terminal, purchase.names)
    begun, made = _Begun(None), None
    with ExitStack() as stack:
        try:
            begun.log = keeping.reopened()
            opened = _ledger(purchase, wish, stack, resumed=begun.log is not None and begun.log.release is not None)
            with terminal.progress() as progress:
                progress("asking about the columns", 0.0)
                made, curator = purchase.make(opened, ready=begun.ready(terminal, purchase, keeping))
            _write(made, *places)
            close(curator, made.receipt, terminal)
            remove(begun.log, terminal)
        except BaseException as error:
            charges = charges_of(begun.curator, None, begun.log)
            kept = leave(begun.log, charged=bool(charges))
            written = made is not None and _is_in_place(made, *places)
            if charges or written or isinstance(error, KeyboardInterrupt):
                if written:
                    raise Stopped(_whole(wish, places)) from error
                finishable = can_be_finished(error)
                place = keeping if kept else None
                said = what_was_charged(charges, purchase.budget, wish.ledger, place, finishable=finishable)
                raise Stopped(said) from error
            raise
    return made


def _ledger(purchase: SchemaPurchase, wish: Wish, stack: ExitStack, *, resumed: bool) -> Ledger | None:
    """The ledger that is charged, until `stack` is left, with room for the purchase unless it has it already.

    Raises:
        LedgerError: which says what is in the way.
    """
    from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
    from counterfoil.ledger.ledger import Ledger

    if wish.ledger is None:
        return None
    opened = stack.enter_context(Ledger.open(wish.ledger, source=None))
    if not resumed:  # before the records are read
        neighbors = Neighbors(NeighboringRelation(purchase.relation), purchase.unit)
        opened.require_room(purchase.budget, neighbors.describe())
    return opened


def _is_in_place(made: BoughtSchema, out: Path, receipt: Path) -> bool:
    from counterfoil.cli.outputs import is_in_place

    return out.is_file() and out.read_bytes() == made.text.encode() and is_in_place(receipt, made.receipt)


def _whole(wish: Wish, places: tuple[Path, Path]) -> str:
    """What a purchase that ended early cost whose files were written by then."""
    counted = "" if wish.ledger is None else f", and the ledger {wish.ledger} counts what it cost"
    return f"The schema was bought{counted}: {places[0]} and its receipt {places[1]} are whole."


def _write(made: BoughtSchema, out: Path, receipt: Path) -> None:
    """Writes both files, or neither: made in a folder of their own, and moved when both are whole.

    Raises:
        OSError: when one can't be written; what was in their places is there again.
    """
    from counterfoil.files import moved, write_text

    with ExitStack() as stack:
        folders = {
            path: stack.enter_context(scratch_folder(path.absolute().parent, prefix=HIDDEN)) for path in (out, receipt)
        }
        drafts = {path: folder / path.name for path, folder in folders.items()}
        write_text(drafts[out], made.text)
        made.receipt.save(drafts[receipt])
        undo = stack.enter_context(ExitStack())
        if receipt.exists():
            before = folders[receipt] / BEFORE
            shutil.copy2(receipt, before)
            undo.callback(os.replace, before, receipt)
        else:
            undo.callback(receipt.unlink, missing_ok=True)
        moved(drafts[receipt], receipt)
        moved(drafts[out], out)
        undo.pop_all()


def _next(wish: Wish, out: Path) -> str:
    cost = ["--epsilon", "1"] if wish.share == 1 else ["--rest"]
    parts = ["counterfoil", "synth", wish.source, "--schema", str(out), *cost]
    parts += ["--relation", wish.relation] if wish.relation is not None else []
    if wish.privacy_unit is not None:
        parts += ["--privacy-unit", wish.privacy_unit, "--max-rows", str(wish.max_rows)]
    parts += ["--ledger", str(wish.ledger)] if wish.ledger is not None else []
    return shlex.join(parts)
