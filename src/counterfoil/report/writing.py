"""Reports to share, as text and as files."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from counterfoil.files import write_text
from counterfoil.pictures.svg import require_report
from counterfoil.report.page import page_of
from counterfoil.report.release import ReleaseFacts
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis


def report_of(release: Synthesis | PointSynthesis) -> str:
    """The report of a release in memory, as a page of HTML that needs nothing else.

    Args:
        release: with its model or its points. No record is read.

    Raises:
        ModuleNotFoundError: without the extra `report`.
    """
    require_report()
    return page_of(ReleaseFacts.of(release))


def write_report(
    release: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    receipt: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
) -> bool:
    """Writes the report of a release as one file of HTML, whole or not at all; what is at `out` is replaced.

    It is made from the release alone and may be shared as the release may: no record is read, nothing is charged. With
    a ledger it also shows what other releases of the same table cost.

    Args:
        release: a table as `synth` wrote it, or a folder that a release was saved to.
        out: the file.
        receipt: the table's receipt; the one beside it where None.
        ledger: the ledger of the real table.

    Returns:
        whether the release is private: one whose noise came from a seed is not, and must not be shared.

    Raises:
        ModuleNotFoundError: without the extra `report`.
        ValueError: for a table that is not its receipt's, a folder that is damaged, or a ledger that is none.
        OSError: when a file can't be read or written.
    """
    require_report()
    if not isinstance(release, str | os.PathLike):
        raise TypeError(
            f"`release` must be the path of a table or of a folder. Found {type(release).__name__}: `report_of` makes "
            "the page of a release in memory."
        )
    from counterfoil.ledger.ledger import Ledger

    with ExitStack() as stack:
        opened = None if ledger is None else stack.enter_context(Ledger.open(Path(ledger), source=None))
        facts = ReleaseFacts.read(Path(release), receipt=None if receipt is None else Path(receipt), ledger=opened)
        write_text(out, page_of(facts))
    return facts.receipt.private
