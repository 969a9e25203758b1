"""Averages of functions that were bought, asked for by their names."""

from __future__ import annotations

import numpy as np

from counterfoil.features.functions import UNIT, Functions, Share, Value
from counterfoil.inference.clamped import with_clamping
from counterfoil.inference.finding import Finding
from counterfoil.inference.group_means import GroupMean, GroupMeans, findings
from counterfoil.inference.linear_answer import LinearAnswer, Source
from counterfoil.inference.pooled_marginal import total_of
from counterfoil.inference.ratio import Ratio
from counterfoil.receipt.answers import RecordedAnswers, RecordedAverages


def bought_by_name(answers: RecordedAnswers, name: str, level: float) -> list[Finding]:
    """The mean of the function that was bought under `name`, or the share of records; empty where there is none.

    Args:
        answers: of the release.
        name: the function's.
        level: of the interval.
    """
    known = []
    for place, averages in enumerate(answers.averages):
        if averages not in _families(answers) or name not in averages.names[int(averages.counted) :]:
            continue
        row = averages.names.index(name, int(averages.counted))
        source = Source(averages.charge, ("averages", place, row), averages.noise, averages.scale)
        top = LinearAnswer(float(averages.sums[row]) / UNIT, {source: np.array(1 / UNIT)})
        ratio = Ratio(top, total_of(answers))
        width = float(averages.slopes[row]) * UNIT
        sentence = (
            f"Charge {averages.charge} bought this average: the noise in the sum has standard deviation "
            f"{averages.deviation / UNIT * width:.3g}."
        )
        lower = float(averages.offsets[row])
        function = averages.family.functions[row - averages.counted] if isinstance(averages.family, Functions) else None
        columns = function.columns if isinstance(function, (Share, Value)) else ()
        known.append(
            (
                GroupMeans((GroupMean("", ratio, ratio),), 0.0, (sentence,)),
                (lower, lower + width),
                isinstance(function, Share),
                columns,
            )
        )
    if not known:
        return []
    best, bounds, share, columns = min(known, key=lambda one: one[0].preference)
    about = f"share of records with {name}" if share else f"mean of {name}"
    found = findings(best, level, about=about, bounds=bounds, total=total_of(answers), share=share, unit=answers.unit)
    if share:
        return with_clamping(found, answers.schema, columns)
    return with_clamping(found, answers.schema, columns, averaged="".join(columns), within=bounds)


def _families(answers: RecordedAnswers) -> list[RecordedAverages]:
    """Families of functions with ranges of their own, a user's among them; moments have other names."""
    return [one for one in answers.averages if isinstance(one.family, Functions)]
