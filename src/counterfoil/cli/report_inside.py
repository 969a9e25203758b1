"""`counterfoil report --compare`: the inside view of a release, NOT PRIVATE, which is never the report to share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from counterfoil.cli.show_values import showing_values
from counterfoil.cli.terminal import Terminal
from counterfoil.publishing.release_rows import rows_of, schema_beside

NAMED = ("inside", "not-private", "not_private")
"""One of them is in the name of every inside view: nobody takes it for the report to share."""

_OF_A_RELEASE = ("synthesis.json", "datapackage.json", "checksums.txt", "receipt.json")
"""Files by which a folder that is shared as a whole is known."""

ALARM = "NOT PRIVATE: this compares with the real records. DO NOT SHARE what is written."


def write_inside(
    terminal: Terminal,
    release: Path,
    real: str,
    schema: Path | None,
    out: Path,
    *,
    target: str | None = None,
    protected: str | None = None,
    ignore: Sequence[str] = (),
    ledger: Path | None = None,
    force: bool = False,
    show_values: bool = False,
) -> None:
    """Compares a release with the real table and writes what is seen as a page; a ledger records the look for good.

    Args:
        terminal: where to say so.
        release: the synthetic table, or a folder with one.
        real: the sensitive table.
        schema: the public facts about both; None for those in the release's folder.
        out: the page, in whose name one of `NAMED` must be.
        target: a column that models predict.
        protected: a column whose groups models should treat alike.
        ignore: columns that models don't see.
        ledger: of the sensitive table.
        force: whether a page that is there is replaced.
        show_values: whether a value at fault is shown.

    Raises:
        ValueError: for a name that could be taken for a report to share, and as `compare` raises it.
        ModuleNotFoundError: without the extra `report`.
        OSError: when a file can't be read or written.
    """
    from counterfoil.cli.outputs import inputs, require_free, require_harmless
    from counterfoil.kept_files import KeptFile
    from counterfoil.pictures.svg import require_report

    schema = schema_beside(release, schema)
    require_report()
    require_named(out)
    given = [KeptFile(release, "the release"), *inputs(real, ledger=ledger, schema=schema)]
    require_harmless([out], given)
    require_free([out], force=force)
    page = _compared(release, real, schema, target, protected, ignore, ledger, show_values)
    from counterfoil.files import write_text

    write_text(out, page)
    terminal.alarm(ALARM)
    terminal.say(f"Wrote {out}: for whoever keeps the real records, and nobody else.")
    terminal.document({"written": str(out), "private": False})


def require_named(out: Path) -> None:
    """Refuses a place where an inside view would pass for something to share; nothing is read for it.

    Raises:
        ValueError: for another suffix than .html, a name without one of `NAMED`, or a folder that is a release.
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"A report is written to a .html file. Found {out.name!r}: choose another name with --out.")
    if not any(word in out.stem.lower() for word in NAMED):
        raise ValueError(
            f"What compares with real records must not pass for the report to share, so that `inside` or `not-private` "
            f"must be in its name. Found {out.name!r}: give, for example, --out inside.html."
        )
    shared = [name for name in _OF_A_RELEASE if (out.absolute().parent / name).is_file()]
    if shared:
        raise ValueError(
            f"What compares with real records must not lie in the folder of a release. Found {shared[0]} beside "
            f"{out.name}: choose another folder with --out."
        )


def _compared(
    release: Path,
    real: str,
    schema: Path,
    target: str | None,
    protected: str | None,
    ignore: Sequence[str],
    ledger: Path | None,
    show_values: bool,
) -> str:
    from counterfoil.curator.given import schema_given
    from counterfoil.evaluation.comparison import compare
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.report.inside import inside_report_of

    with ExitStack() as stack:
        opened = None if ledger is None else stack.enter_context(Ledger.open(ledger, source=None))
        facts = schema_given(schema, source=real)
        stack.enter_context(showing_values(real, facts, show=show_values))
        comparison = compare(
            real,
            rows_of(release),
            facts,
            target=target,
            protected=protected,
            ignore=ignore,
            ledger=opened,
        )
    return inside_report_of(comparison, name=release.name)
