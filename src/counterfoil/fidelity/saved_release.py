"""Whether the files of a saved folder are those that its receipt is of.

An index says which bytes were saved, and anyone can write it anew. This compares what the files hold with what the
receipt states: the schema, the number of rows, the model's number of records, and all that the receipt derived from
the model, the rows and the error bars.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from counterfoil.fidelity.certificate import gaps_of_error_bars
from counterfoil.receipt.good_for_check import alike
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis.folder import RECEIPT, ReleaseFolder, index_of
from counterfoil.synthesis.release import bars_of_unmeasured
from counterfoil.synthesis.saved import load_folder
from counterfoil.synthesis.synthesis import Synthesis

_TABLES = ("counterfoil.synthesis", "counterfoil.points")


def folder_problems(folder: Path) -> list[str]:
    """What is wrong with a saved folder, a sentence each.

    Args:
        folder: of a synthesis, of weighted points, or of a model, whose parameters are compared by their hashes alone.
    """
    try:
        index = index_of(folder)
        if index["format"] not in _TABLES:
            kind = ReleaseFolder.of_index(index, folder)
            kind.require_whole(folder)
            kind.require_receipt(folder, Receipt.load(folder / RECEIPT))
            return []
        release = load_folder(folder)
    except (ValueError, pa.ArrowException) as error:
        return [str(error)]
    return list(_derived_problems(release)) if isinstance(release, Synthesis) else []


def _derived_problems(synthesis: Synthesis) -> Iterator[str]:
    """What the receipt derives from the model, the rows and the error bars, and these do not say."""
    document, bars = synthesis.receipt.document, synthesis.error_bars
    for entry in document.get("certificates", ()):
        if entry.get("basis") != "error bars":
            continue
        if entry["target"] not in synthesis.schema.domain.attributes:
            yield f"The certificate from error bars is for {entry['target']!r}, which is no column of the release."
            continue
        stated_gaps = [entry["gaps"][name] for name in ("label", "feature")]
        possible = [gaps_of_error_bars(synthesis, entry["target"], each) for each in (bars, bars.former)]
        if not any(alike(stated_gaps, [gaps.label, gaps.feature]) for gaps in possible):
            yield f"The gaps of the certificate for {entry['target']!r} do not follow from the release's error bars."
    counted = {
        (entry["records"], entry["records_error"]) for entry in document.get("fidelity", ()) if "records" in entry
    }
    if not all(alike(list(pair), [max(bars.counted, 1.0), bars.total_error]) for pair in counted):
        yield "The measures of fidelity are divided by another number of records than the error bars state."
    stated = document.get("answers", {}).get("error_bars")
    if stated is not None and not any(
        alike(stated, bars_of_unmeasured(synthesis.model, each, synthesis.drawn)) for each in (bars, bars.former)
    ):
        yield "The error bars on the receipt do not follow from those of the release."
