"""What the synthetic rows would say, were they real: intervals that mislead, for comparison."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtri

from counterfoil.inference.event import Event
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding
from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.inference.means import require_numbers
from counterfoil.inference.proportions import require_column, row_groups
from counterfoil.inference.ratio import Ratio, require_level

MISLEADING = (
    "MISLEADING: the synthetic rows as if they were real records; neither the noise nor what was never measured counts."
)


def naive_proportion(release: Any, event: str, *, by: str | None = None, level: float = 0.95) -> list[Finding]:
    """Wilson's intervals on the synthetic rows, with the arguments of `proportion`."""
    require_level(level)
    evidence = Evidence.of(release)
    low, high = Event(evidence.schema, event).rows(evidence.codes)
    groups = row_groups(evidence, by and require_column(evidence.schema, by), low.astype(float), high.astype(float))
    found = []
    for group in groups:
        rows = int(group.members.sum())
        top = float((group.low + group.high)[group.members].sum()) / 2
        interval = Ratio(LinearAnswer(top, {}), LinearAnswer(float(rows), {})).interval(level)
        ends = interval.lower, interval.upper
        found.append(_finding(f"share of records with {event}", group.group, level, interval.estimate, ends))
    return found


def naive_mean(release: Any, column: str, *, by: str | None = None, level: float = 0.95) -> list[Finding]:
    """Normal intervals on the synthetic rows, with the arguments of `mean`."""
    require_level(level)
    evidence = Evidence.of(release)
    numbers = require_numbers(evidence.schema, column).numbers(evidence.table.column(column))
    groups = row_groups(evidence, by and require_column(evidence.schema, by), numbers, numbers)
    found, z = [], -float(ndtri((1 - level) / 2))
    for group in groups:
        values = numbers[group.members & ~np.isnan(numbers)]
        middle = float(values.mean()) if len(values) else math.nan
        half = z * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
        found.append(_finding(f"mean of {column}", group.group, level, middle, (middle - half, middle + half)))
    return found


def _finding(about: str, group: str, level: float, estimate: float, ends: tuple[float, float]) -> Finding:
    lower, upper = ends
    said = f"{about}, where {group}" if group else about
    return Finding(said, estimate, lower, upper, level, 0.0, (upper - lower) / 2, (), (MISLEADING,), measured=False)
