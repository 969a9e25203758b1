"""What is shown of times of day, which are moments of 1900-01-01 and say no day."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema, synthesize
from counterfoil.pictures.column_bars import histogram
from counterfoil.schema.clamping import clamping_of
from counterfoil.schema.instant import Datetime
from counterfoil.synthesis.description import described

SEEN = Datetime(
    "seen", datetime(1900, 1, 1), datetime(1900, 1, 1, 23, 59, 59), format="%H:%M", resolution="6h", missing=True
)


def test_labels_have_no_day_and_those_of_former_releases_had_it() -> None:
    assert SEEN.labels == (
        *("00:00:00..05:59:59", "06:00:00..11:59:59", "12:00:00..17:59:59", "18:00:00..23:59:59"),
        "missing",
    )
    assert SEEN.former_labels[0] == "1900-01-01T00:00:00..1900-01-01T05:59:59"
    assert SEEN.former_labels[-1] == "missing"
    moment = replace(SEEN, format="%Y-%m-%d %H:%M")
    assert moment.labels == moment.former_labels == SEEN.former_labels


def test_no_time_lies_beyond_a_day() -> None:
    assert clamping_of(SEEN) is None
    assert clamping_of(replace(SEEN, upper=datetime(1900, 1, 1, 17, 59, 59))) is not None
    assert clamping_of(replace(SEEN, format="")) is not None, "a moment may be of another day"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_descriptions_and_axes_have_no_day() -> None:
    table = pd.DataFrame({"seen": [f"{row % 24:02}:{row % 60:02}" for row in range(500)]})
    release = synthesize(table, Schema((SEEN,)), epsilon=5.0, method="independent", seed=1)
    (one,) = described(release)
    assert one.values.startswith("median 1")
    assert "1900" not in one.values
    ends = np.arange(5) * 21_600.0 - 25_567 * 86_400
    for far, clock in ((0.0, True), (86_400.0, False)):
        axis = str(histogram(ends[:-1] + far, ends[1:] + far, np.full(4, 0.25), temporal=True))
        assert ("%H:%M" in axis) is clock
