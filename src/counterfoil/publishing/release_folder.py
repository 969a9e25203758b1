"""A release as a folder that explains itself: written whole or not at all.

It is the folder that `save` writes, which `Synthesis.load` and every command open, with what people and other programs
need beside it: the table, the report, a data dictionary, noisy counts, a README, and checksums of all of it. All of it
follows from what was released, so that it costs nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.files import give_time, write_text
from counterfoil.kept_files import require_replaceable
from counterfoil.publishing.checksums import CHECKSUMS, checksum_problems, files_in, write_checksums
from counterfoil.publishing.data_package import DATA_PACKAGE, data_package
from counterfoil.publishing.noisy_tables import NoisyTables, noisy_tables
from counterfoil.publishing.readme import README, REPORT, Contents, readme_text
from counterfoil.receipt.answers import read_answers
from counterfoil.scratch.scratch_folder import BEFORE, HIDDEN, scratch_folder
from counterfoil.synthesis.folder import INDEX, RECEIPT, save_receipt
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis

if TYPE_CHECKING:
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.signature import SigningKey

FORMATS = ("csv", "parquet")
STEM = "synthetic"
"""The table is called synthetic.csv or synthetic.parquet: what it is stays with it when it is copied elsewhere."""

Draws = Callable[["Synthesis | PointSynthesis"], "str | None"]


@dataclass(frozen=True)
class Published:
    """What was written.

    Args:
        folder: where it is.
        table: the table's file.
        receipt: with the table named in it, signed where a key was given.
        report: the report's file; None where none was made.
    """

    folder: Path
    table: Path
    receipt: Receipt
    report: Path | None


def table_name(form: str) -> str:
    """The name of the table's file.

    Raises:
        ValueError: for another format than csv and parquet.
    """
    if form not in FORMATS:
        raise ValueError(f"`format` must be csv or parquet, the format of the release's table. Found {form!r}.")
    return f"{STEM}.{form}"


def publish(
    synthesis: Synthesis | PointSynthesis,
    folder: str | os.PathLike[str],
    *,
    form: str = "parquet",
    key: SigningKey | None = None,
    draw: Draws | None = None,
    moment: float | None = None,
) -> Published:
    """Writes a release to `folder`, or nothing at all.

    Everything is made in a hidden folder beside it, which takes its name when all of it is there. A folder that has the
    name is replaced where it is empty or a release that `publish` wrote, to which nothing was added since.

    Args:
        synthesis: what was made.
        folder: where it goes; the folder above it must exist.
        form: of the table, "csv" or "parquet".
        key: signs the receipt; nobody signs it where None.
        draw: gives the report as HTML, or None for none; `drawn_report` where None.
        moment: the time of change that the folder and its files get, in seconds since 1970; their own where None.

    Raises:
        ValueError: for another format, or a folder that holds anything else.
        OSError: when something can't be written.
    """
    target, name = Path(os.path.realpath(folder)), table_name(form)
    require_replaceable_folder(target)
    with scratch_folder(target.parent, prefix=HIDDEN) as made:
        draft, table = made / "release", made / name
        synthesis.write(table)
        receipt = synthesis.receipt.with_output(table, rows=synthesis.rows)
        receipt = receipt if key is None else receipt.signed(key)
        final = replace(synthesis, receipt=receipt)
        final.save(draft)
        os.rename(table, draft / name)
        _explain(final, draft, name, (draw or drawn_report)(final))
        if moment is not None:
            give_time(draft, moment)
        has_report = (draft / REPORT).is_file()
        _take_place(draft, target, made / BEFORE)
    report = target / REPORT if has_report else None
    return Published(target, target / name, receipt, report)


def drawn_report(synthesis: Synthesis | PointSynthesis) -> str | None:
    """The report of a release as one page of HTML; None where the packages that draw it are not installed.

    The budget is spent by then, so that a page that can't be drawn withholds nothing: the release says how to make one.
    """
    try:
        from counterfoil.report.writing import report_of

        return str(report_of(synthesis))
    except MemoryError:
        raise
    except Exception:
        return None


def require_replaceable_folder(target: Path) -> None:
    """Refuses a name that is taken by anything but an empty folder or a whole release of `publish`.

    Raises:
        ValueError: which says what is there.
        OSError: when it can't be listed.
    """
    if not target.exists():
        return
    if not target.is_dir():
        raise ValueError(f"A release is written to a folder. Found the file {target}: choose another name.")
    if os.path.ismount(target) or os.path.samefile(target, Path.cwd()):
        raise ValueError(
            f"A release takes the place of its folder, which a mounted or the current folder does not allow. Found "
            f"{target}: name a new folder within it."
        )
    if any(target.iterdir()) and not is_release(target):
        raise ValueError(
            f"A release is written to a new or an empty folder. Found files in {target}: choose another name."
        )
    if is_release(target) and (added := next(checksum_problems(target), None)) is not None:
        raise ValueError(f"{target} is not as it was written, and is left as it is: {added} Choose another name.")


def is_release(folder: Path) -> bool:
    """Whether a folder says that it is what `publish` writes; that it is whole is another question."""
    return any((folder / name).is_file() for name in (DATA_PACKAGE, CHECKSUMS))


def was_release(folder: Path) -> bool:
    """Whether a folder holds the list of checksums or the data dictionary of a release, whatever else is gone.

    Files of these names are not a release's own alone: what they say tells it.
    """
    marks = {CHECKSUMS: f"  {INDEX}\n", DATA_PACKAGE: '"counterfoil": {'}
    return any(
        (folder / name).is_file() and mark in (folder / name).read_text(encoding="utf-8", errors="replace")
        for name, mark in marks.items()
    )


def sign_release(folder: Path, signed: Receipt) -> None:
    """Gives a release its signed receipt, the index and the checksums its hash; all of them or none.

    Args:
        folder: of a release.
        signed: its receipt with the signature.

    Raises:
        ValueError: for a folder whose index names no receipt.
        OSError: when a file can't be written; the folder is then as it was.
    """
    names = (RECEIPT, "synthesis.json")
    before = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    save_receipt(folder, signed)
    try:
        write_checksums(folder)
    except BaseException:
        for name, text in before.items():
            write_text(folder / name, text)
        raise


def noisy_of(document: Any, *, former: bool = False) -> NoisyTables | None:
    """The noisy tables of a receipt, where `former` as versions before 0.13 wrote them; None without counts."""
    if "answers" not in document:
        return None
    tables = noisy_tables(read_answers(document), former=former)
    return tables if tables.texts else None


def package_of(
    final: Synthesis | PointSynthesis, folder: Path, table: str, noisy: NoisyTables | None, *, former: bool = False
) -> Any:
    """The data dictionary of a release whose files lie in `folder`, where `former` as versions before 0.13 wrote it."""
    paths = [table, *(noisy.texts if noisy is not None else ())]
    return data_package(final.schema, final.receipt.document, final.column_names, folder, paths, former=former)


def readme_of(final: Synthesis | PointSynthesis, folder: Path, table: str, noisy: NoisyTables | None) -> str:
    """The README of a release whose other files lie in `folder`."""
    files = {*files_in(folder), README, CHECKSUMS}
    first = [name for name in (table, RECEIPT, REPORT, DATA_PACKAGE, "schema.toml") if name in files]
    listed = (*first, *sorted(files - {*first, README}))
    model = "points" if isinstance(final, PointSynthesis) else "model"
    return readme_text(Contents(final.schema, final.receipt.document, table, noisy, listed, model))


def _explain(final: Synthesis | PointSynthesis, draft: Path, table: str, page: str | None) -> None:
    """Everything that is not the saved release itself."""
    noisy = noisy_of(final.receipt.document)
    for path, text in ({} if noisy is None else noisy.texts).items():
        (draft / path).parent.mkdir(exist_ok=True)
        write_text(draft / path, text)
    document = package_of(final, draft, table, noisy)
    write_text(draft / DATA_PACKAGE, json.dumps(document, indent=2, allow_nan=False) + "\n")
    if page is not None:
        write_text(draft / REPORT, page)
    write_text(draft / README, readme_of(final, draft, table, noisy))
    write_checksums(draft)


def _take_place(draft: Path, target: Path, before: Path) -> None:
    """Gives a whole folder its name; what had it is put aside, and comes back where that fails."""
    require_replaceable(target)
    if not target.exists():
        os.rename(draft, target)
        return
    draft.chmod(target.stat().st_mode & 0o7777)
    os.rename(target, before)
    try:
        os.rename(draft, target)
    except BaseException:
        os.rename(before, target)
        raise
