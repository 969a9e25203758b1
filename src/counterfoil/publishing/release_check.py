"""Whether a release's folder is what its receipt says, and which of its files nobody vouches for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import pyarrow as pa

from counterfoil.inert import inert
from counterfoil.json_text import json_file
from counterfoil.publishing.checksums import checksum_problems, files_in
from counterfoil.publishing.data_package import DATA_PACKAGE, LAYOUT
from counterfoil.publishing.noisy_tables import alike, says_beyond
from counterfoil.publishing.readme import README, REPORT
from counterfoil.publishing.release_folder import noisy_of, package_of, readme_of
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.synthesis.csv_writing import notations_of, write_csv
from counterfoil.synthesis.folder import INDEX, RECEIPT, SCHEMA, index_of, parquet_parts
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.saved import load_folder
from counterfoil.synthesis.saved_rows import SavedRows
from counterfoil.synthesis.synthesis import Synthesis

_KEPT = {"model.npz": "model", "error_bars.json": "error_bars", "points.npz": "points", "support.parquet": "support"}
"""What was fitted to the answers, and the digest of it that receipts have; older ones have none."""


_PARTS = frozenset(
    {INDEX, RECEIPT, SCHEMA, "rows.arrow", "rows.parquet", DATA_PACKAGE, README, REPORT, *_KEPT},
)
"""The names of a release's files, besides its table and its noisy tables."""


def release_problems(folder: Path) -> list[str]:
    """What is wrong with a release that `publish` wrote, a sentence each, beyond its saved parts and its receipt.

    Args:
        folder: of the release.

    Raises:
        OSError: when a file can't be read.
    """
    problems = list(checksum_problems(folder))
    try:
        release = load_folder(folder)
        problems += _contradictions(folder, release)
    except (ValueError, pa.ArrowException) as error:
        # The saved parts are checked by themselves, and say it in the same words.
        return problems if problems else [str(error)]
    return problems


def unvouched_files(folder: Path) -> list[str]:
    """The files that neither the receipt nor its signature fixes: they are as they were written, if checksums hold.

    Among them, inert, are files that no release has, which somebody added to the folder and to its checksums.
    A README that this version would write word for word is fixed by the receipt and the schema.
    """
    present, document = set(files_in(folder)), Receipt.load(folder / RECEIPT).document
    loose = [name for name in (REPORT, *_KEPT) if name in present and _KEPT.get(name) not in document.get("kept", {})]
    tables = {Path(output["file"]).name for output in document["outputs"]}
    noisy = noisy_of(document)
    added = present - _PARTS - tables - (set() if noisy is None else noisy.texts.keys())
    return [*loose, *([] if _readme_follows(folder) else [README]), *map(inert, sorted(added))]


def strange_files(folder: Path) -> list[str]:
    """The files in a saved folder that its index does not name, inert: of a release that lost its lists, most."""
    try:
        known = index_of(folder).get("files", {})
    except ValueError:  # said of the folder as a whole
        return []
    return [inert(name) for name in files_in(folder) if name not in {INDEX, *known}]


def _contradictions(folder: Path, release: Synthesis | PointSynthesis) -> Iterator[str]:
    outputs = [output["file"] for output in release.receipt.document["outputs"]]
    if len(outputs) != 1 or not (folder / Path(outputs[0]).name).is_file():
        yield "The receipt names other files than the table of this release."
        return
    if isinstance(release, Synthesis) and isinstance(release.drawn, SavedRows):
        release.drawn.require_placed()
    table = Path(outputs[0]).name
    if not _same_rows(folder / table, release):
        yield f"{table} holds other rows than the saved release beside it."
    noisy = noisy_of(release.receipt.document)
    written = {} if noisy is None else noisy.texts
    present = [name for name in files_in(folder) if name.startswith("noisy_tables/")]
    for name in sorted({*written, *present}):
        if name not in written or name not in present:
            yield f"{name} must be there exactly where the receipt records such counts."
        elif not _is_written(folder / name, release, written[name], name):
            yield f"{name} does not hold the noisy counts that the receipt records."
    if not any(name not in present for name in written):
        yield from _package_problems(folder, release, table)


def _is_written(path: Path, release: Synthesis | PointSynthesis, expected: str, name: str) -> bool:
    """Whether a noisy table holds what this version would write, or one before 0.13."""
    text = path.read_bytes().decode("utf-8", "replace")
    if says_beyond(text):
        return alike(text, expected)
    former = noisy_of(release.receipt.document, former=True)
    return former is not None and alike(text, former.texts[name])


def _package_problems(folder: Path, release: Synthesis | PointSynthesis, table: str) -> Iterator[str]:
    if not (folder / DATA_PACKAGE).is_file():
        yield f"{DATA_PACKAGE}, which every release has, is not in the folder."
        return
    dictionary = json_file(folder / DATA_PACKAGE, "a data dictionary")
    layout = dictionary.get("counterfoil", {}).get("layout") if isinstance(dictionary, dict) else None
    if layout != LAYOUT:
        yield f"{DATA_PACKAGE} is of layout {layout!r}, which this version can't compare: it knows {LAYOUT}."
        return
    noisy, wrong = noisy_of(release.receipt.document), list[str]()
    for former in (False, True):
        expected = json.loads(json.dumps(package_of(release, folder, table, noisy, former=former)))
        wrong = wrong or sorted(name for name in {*dictionary, *expected} if dictionary.get(name) != expected.get(name))
        if dictionary == expected:
            return
    yield f"{DATA_PACKAGE} is not the data dictionary of this schema and this receipt: it differs in {wrong[0]}."


def _same_rows(path: Path, release: Synthesis | PointSynthesis) -> bool:
    """Whether a table's file holds the rows of the saved release, in their order; some are read at a time."""
    saved = release.drawn.tables() if isinstance(release, Synthesis) else iter([release.table])
    if path.suffix == ".parquet":
        return _are_equal(parquet_parts(path), saved)
    schema = release.schema
    if _same_lines(path, saved, notations_of(schema), schema.encoding):
        return True
    # Versions before 0.13 wrote the decimals of derived columns without the zeros at their end.
    decimals = [column for column in release.schema.derived if column.decimals]
    saved = release.drawn.tables() if isinstance(release, Synthesis) else iter([release.table])
    plain = {column.name: column for column in release.schema.synthesized}
    return bool(decimals) and _same_lines(path, saved, plain, schema.encoding)


def _same_lines(path: Path, saved: Iterator[pa.Table], columns: Mapping[str, Column | Derived], encoding: str) -> bool:
    with path.open("rb") as file:
        compared = _Comparison(file)
        write_csv(saved, columns, compared, encoding)
        return compared.equal and not file.read(1)


def _are_equal(one: Iterator[pa.Table], other: Iterator[pa.Table]) -> bool:
    """Whether two tables that come in parts, of any lengths, hold the same."""
    left = right = None
    while True:
        left = left if left is not None and left.num_rows else next(one, None)
        right = right if right is not None and right.num_rows else next(other, None)
        if left is None or right is None:
            return left is right
        rows = min(left.num_rows, right.num_rows)
        if not left.slice(0, rows).equals(right.slice(0, rows)):
            return False
        left, right = left.slice(rows), right.slice(rows)


class _Comparison:
    """Takes what would be written to a file, and compares it with what another file has there."""

    def __init__(self, other: IO[bytes]) -> None:
        self._other = other
        self.equal = True

    def write(self, data: bytes, /) -> None:
        """Takes the next bytes."""
        self.equal = self.equal and self._other.read(len(data)) == data


def _readme_follows(folder: Path) -> bool:
    try:
        release = load_folder(folder)
        table = Path(release.receipt.document["outputs"][0]["file"]).name
        expected = readme_of(release, folder, table, noisy_of(release.receipt.document))
        return (folder / README).read_bytes() == expected.encode()
    except (OSError, ValueError, IndexError, KeyError, pa.ArrowException):
        return False
