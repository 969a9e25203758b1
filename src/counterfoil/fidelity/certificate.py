"""The certificates of a release: from noisy measures, and from its error bars, which need its rows and its model.

`receipt.certificate` says what a certificate is, and has all of it that a receipt can be checked by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from counterfoil.fidelity.synthetic_counts import compared_cliques, compares_all_pairs, count
from counterfoil.graphical_model.error_bars import ErrorBars
from counterfoil.receipt.certificate import BASES as BASES
from counterfoil.receipt.certificate import CONFIDENCE, NOTHING_KNOWN, Gaps, measured_gaps
from counterfoil.receipt.certificate import certify as certify
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.synthesis.synthesis import Synthesis


def certificates(
    synthesis: Synthesis, measures: Sequence[NoisyMeasure], target: str, *, norm: float = 1.0
) -> list[dict[str, Any]]:
    """The certificates of a release, the sharpest first."""
    entries = [gaps.certificate(norm) for gaps in _all_gaps(synthesis, measures, target)]
    return sorted(entries, key=lambda certificate: float(certificate["excess_risk"]))


def _all_gaps(synthesis: Synthesis, measures: Sequence[NoisyMeasure], target: str) -> Iterator[Gaps]:
    yield from measured_gaps(measures, target, synthesis.schema.domain[target])
    yield gaps_of_error_bars(synthesis, target)


def gaps_of_error_bars(synthesis: Synthesis, target: str, bars: ErrorBars | None = None) -> Gaps:
    """Error bars bound the distance of the real table from the model; that of the drawn rows is counted and added.

    Args:
        synthesis: the release.
        target: the column to predict.
        bars: in place of those of the release.
    """
    bars = bars or synthesis.error_bars
    order = min(2, len(synthesis.schema.domain.attributes))
    cliques = compared_cliques(synthesis.schema, order)
    domain, codes = synthesis.schema.domain, synthesis.codes
    largest = {True: 0.0, False: 0.0}
    total = math.comb(len(domain.attributes), order)
    if order == 2 and not compares_all_pairs(synthesis.schema):
        largest = {True: NOTHING_KNOWN, False: NOTHING_KNOWN}
    model = synthesis.model.marginals(cliques)
    for clique in cliques:
        bar = bars.bar(clique, (1 - CONFIDENCE) / total)
        rows = count(codes, domain.shape(clique), clique) / max(synthesis.rows, 1)
        drawn = float(np.abs(rows - model[clique] / synthesis.model.total).sum())
        labeled = target in clique
        largest[labeled] = max(largest[labeled], min(bar.fraction + drawn, NOTHING_KNOWN))
    # With a single feature, its moments are those of its pair with the label.
    feature = largest[False] or largest[True]
    return Gaps(target, "error bars", largest[True], feature, domain[target])
