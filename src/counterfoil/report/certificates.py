"""What a release is proved to be good for, and what was measured of it: certificates and bought fidelity."""

from __future__ import annotations

from typing import Any

from counterfoil.inert import inert
from counterfoil.pictures.certificate_bars import bounds_against_nothing
from counterfoil.pictures.svg import render
from counterfoil.receipt.certificate import Gaps
from counterfoil.receipt.noisy_measure import measure_sentences
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.section import Figure, NumberTable, Section


def certificates(facts: ReleaseFacts) -> Section | None:
    """The certificates of the receipt as bars, and its measures in words; None where it has neither."""
    document = facts.receipt.document
    lines = [line for measure in document.get("fidelity", ()) for line in measure_sentences(measure)]
    measures = [f"{line[:1].upper()}{line[1:]}" for line in lines]
    # Numbers are computed anew from the gaps: nothing is drawn because a file says so.
    known = [Gaps.from_json(entry).certificate(float(entry["norm"])) for entry in document.get("certificates", ())]
    if not known and not measures:
        return None
    known.sort(key=lambda one: (one["target"], one["excess_risk"] / one["trivial"]))
    return Section(
        anchor="certificates",
        title="What it is good for",
        lead="Bought with a share of the budget, or proved from what was measured.",
        figures=(_figure(known),) if known else (),
        points=(*measures, *(str(one["sentence"]) for one in known)),
    )


def _figure(certificates: list[dict[str, Any]]) -> Figure:
    title = "Linear models trained on this copy"
    bounds = [(_name(one), float(one["excess_risk"]), float(one["trivial"])) for one in certificates]
    said = sum(value < trivial for _, value, trivial in bounds)
    caption = (
        "How much log loss such a model can lose on the real rows, at most; the dashed line is what holds for any two "
        f"tables, and says nothing. {said} of {len(bounds)} {'says' if said == 1 else 'say'} something. Short bars "
        "say much."
    )
    rows = tuple(
        (inert(name), f"{value:.4g}", f"{trivial:.4g}", f"{one['confidence']:.0%}")
        for (name, value, trivial), one in zip(bounds, certificates, strict=True)
    )
    table = NumberTable(("certificate", "loses at most", "says nothing from", "confidence"), rows)
    svg = render(bounds_against_nothing(bounds), title=title, description=caption)
    return Figure(svg, title, caption, table)


def _name(one: dict[str, Any]) -> str:
    return f"{one['target']} from {one['basis']}, norm {one['norm']:g}"
