"""A ledger as a page of text and as a document: what was spent, on what, what is left, and what is in no sum."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from counterfoil.inert import inert
from counterfoil.ledger.sum_text import left_text, spent_text
from counterfoil.pictures.notebook_table import notebook_line, notebook_page, notebook_table

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Amount, Ledger, ReleaseRecord

WIDTH = 80
LOOKS = "LOOKS WITHOUT PRIVACY"
_WHAT_A_LOOK_IS = (
    "No budget bounds what a look shows, and none of the sums above counts it. They hold for what was released, as "
    "long as nothing that was seen in a look is passed on, or decided upon what was asked later."
)


def ledger_page(ledger: Ledger) -> tuple[str, str, str]:
    """The page in three parts, each of lines of at most 80 columns (paths excepted), without a newline at the end.

    Returns:
        the sums and the releases; the looks without privacy, to be shown so that nobody overlooks them; what else is
        in no sum. The last two are empty where there is nothing to say.
    """
    return _counted(ledger), _looks(ledger), _refusals(ledger)


def ledger_text(ledger: Ledger) -> str:
    """The whole page, ending in a newline."""
    return "\n".join(part for part in ledger_page(ledger) if part) + "\n"


def ledger_html(ledger: Ledger) -> str:
    """The page for a notebook: the sums, the latest releases, and the looks."""
    sums = _sums(ledger)
    latest = _release_rows(ledger.releases())
    parts = [notebook_table(("", "epsilon", "delta"), sums)]
    if len(latest) > 1:
        parts.append(notebook_table(latest[0], [*reversed(latest[1:])], of="releases, opened earlier"))
    else:
        parts.append(notebook_line("No release yet."))
    parts += [notebook_line(said) for said in [" ".join(_sizes_read(ledger))] if said]
    parts += [notebook_line(said) for said in _open(ledger.releases())]
    looks = ledger.reveals()
    alarm = f"{LOOKS}: {len(looks):,}, the last on {looks[-1].time[:10]}: {looks[-1].reason}" if looks else ""
    parts += [notebook_line(_refusals(ledger).strip())] if ledger.refusals() else []
    return notebook_page(f"Ledger of {ledger.source.name}", *parts, alarm=alarm)


def ledger_document(ledger: Ledger) -> dict[str, Any]:
    """What the page says, for programs; JSON."""
    reveals, protects = ledger.reveals(), ledger.protects()
    receipts: dict[int, list[str]] = {}
    for digest, release in ledger.receipts().items():
        receipts.setdefault(release, []).append(digest)
    return {
        "source": ledger.source.name,
        "location": ledger.source.location,
        "moved_from": [
            {"source": place.source.name, "location": place.source.location, "until": place.until}
            for place in ledger.former_places()
        ],
        "total": _plain(ledger.total),
        "reserved": _plain(ledger.reserved()),
        "spent": _plain(ledger.spent()),
        "left": _plain(ledger.left()),
        "protects": None if protects is None else str(protects),
        "releases": [
            {
                "release": record.id,
                "opened": record.opened,
                "status": record.status,
                "epsilon": record.budget.epsilon,
                "delta": record.budget.delta,
                "neighbors": record.relation,
                "composition": record.composition,
                "within": record.within,
                "charges": record.charges,
                "receipts": receipts.get(record.id, []),
            }
            for record in ledger.releases()
        ],
        "revealed": [reveal.reason for reveal in reveals],
        "reveals": [{"time": reveal.time, "reason": reveal.reason} for reveal in reveals],
        "refused": len(ledger.refusals()),
        "sizes_read": ledger.sizes_read(),
    }


def _counted(ledger: Ledger) -> str:
    source = ledger.source
    lines = [f"Ledger of {inert(source.name)}", f"  at {inert(source.location)}"]
    lines += [
        f"  until {place.until[:10]} at {inert(place.source.location)}" for place in reversed(ledger.former_places())
    ]
    sums = _sums(ledger)
    lines += _columns([("", "epsilon", "delta"), *sums], right=(1,))
    releases = ledger.releases()
    if not releases:
        return "\n".join([*lines, "No release yet.", *_sizes_read(ledger)])
    lines += ["", *_columns(_release_rows(releases), right=(0, 1, 2)), *_neighbors(ledger, releases)]
    return "\n".join([*lines, *_receipts(ledger), *(line for said in _open(releases) for line in _wrapped(said, ""))])


def _open(releases: Sequence[ReleaseRecord]) -> list[str]:
    """What can be done about releases that are open: their runs go on, or were killed and could not end them."""
    unused = [str(record.id) for record in releases if record.status == "open" and not record.charges]
    used = [str(record.id) for record in releases if record.status == "open" and record.charges]
    said = []
    if unused:
        said.append(
            f"open, and nothing was charged to it: {', '.join(unused)}. Where the run was killed, `counterfoil ledger "
            f"give-back L --release {unused[0]}` gives back what it reserved; a run that goes on could charge nothing "
            "any more."
        )
    if used:
        said.append(
            f"open, and charged: {', '.join(used)}. Where the run was killed, all that it reserved stays spent, for "
            "its answers may have been seen; the same command with --resume finishes it for no further cost, if "
            "answers or a checkpoint were kept. Where its receipt is written, `counterfoil ledger close L --release "
            f"{used[0]} --receipt R.json` ends it."
        )
    return said


def _release_rows(releases: Sequence[ReleaseRecord]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("release", "epsilon", "delta", "opened", "status", "asked")]
    for record in releases:
        counts = Counter(str(event.get("query", "question")) for event in record.charges)
        asked = ",\n".join(f"{count} {inert(query)}" for query, count in counts.items()) or "nothing"
        reserved = f"{record.budget.epsilon:g}", f"{record.budget.delta:g}"
        numbers = (str(record.id), *(reserved if record.within is None else (f"of {record.within}", "")))
        rows.append((*numbers, record.opened[:10], record.status, asked))
    return rows


def _neighbors(ledger: Ledger, releases: Sequence[ReleaseRecord]) -> list[str]:
    """Whom each release protects, and whom their sum protects where that is not the same."""
    relations = list(dict.fromkeys(record.relation for record in releases))
    lines = _wrapped(f"neighbors: {inert(', '.join(relations))}", "")
    kept = {record.relation for record in releases if record.status != "abandoned"} | set(ledger.sizes_read())
    if len(kept) > 1:
        lines += _wrapped(f"the sum protects: {inert(str(ledger.protects()))}", "")
    return lines + _sizes_read(ledger)


def _sizes_read(ledger: Ledger) -> list[str]:
    """Under what the exact sizes were public that were read before a release: all later releases must agree with it."""
    relations = ledger.sizes_read()
    return _wrapped(f"exact sizes were read, for good, under: {inert(', '.join(relations))}", "") if relations else []


def _receipts(ledger: Ledger) -> list[str]:
    kept = [f"{release} ({digest[:8]})" for digest, release in ledger.receipts().items()]
    return _wrapped(f"receipts kept, by release: {', '.join(kept)}", "") if kept else []


def _looks(ledger: Ledger) -> str:
    reveals = ledger.reveals()
    if not reveals:
        return ""
    lines = ["", LOOKS]
    for reveal in reveals:
        why = inert(" ".join(reveal.reason.split()))
        lines += _wrapped(f"{reveal.time[:10]}  NOT PRIVATE: the records were looked at: {why}", "  ")
    return "\n".join([*lines, *_wrapped(_WHAT_A_LOOK_IS, "  ", hanging=False)])


def _refusals(ledger: Ledger) -> str:
    refusals = ledger.refusals()
    if not refusals:
        return ""
    requests = "1 request was" if len(refusals) == 1 else f"{len(refusals):,} requests were"
    said = (
        f"{requests} refused because of what the records hold (last on {refusals[-1][:10]}). A refusal reveals an "
        "exact fact about the records to whoever sees it."
    )
    return "\n".join(["", "Outside the budget, and in none of the sums above:", *_wrapped(said, "  ")])


def _columns(rows: Sequence[tuple[str, ...]], *, right: Sequence[int]) -> list[str]:
    """The cells under one another, two spaces between them; what would pass the 80th column is folded in the last."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    before = sum(widths) + 2 * len(widths)
    lines = []
    for row in rows:
        cells = [row[i].rjust(width) if i in right else row[i].ljust(width) for i, width in enumerate(widths)]
        folded = [part for line in row[-1].split("\n") for part in textwrap.wrap(line, max(WIDTH - before, 12))]
        lines += [("  ".join([*cells, *folded[:1]])).rstrip(), *(" " * before + part for part in folded[1:])]
    return lines


def _wrapped(text: str, indent: str, *, hanging: bool = True) -> list[str]:
    after = indent + "  " if hanging else indent
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False)


def _sums(ledger: Ledger) -> list[tuple[str, str, str]]:
    """What there is in all, what was spent of it, and what is left."""
    stated = (
        ("total", ledger.total, left_text),
        ("spent", ledger.spent(), spent_text),
        ("left", ledger.left(), left_text),
    )
    return [(name, text(amount.epsilon), text(amount.delta)) for name, amount, text in stated]


def _plain(amount: Amount) -> dict[str, float | None]:
    """JSON has no infinity: null stands for it."""
    return {"epsilon": amount.epsilon if math.isfinite(amount.epsilon) else None, "delta": amount.delta}
