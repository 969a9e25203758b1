"""Answers say how values beyond the bounds count, of the columns that they are about and of no others."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.features.functions import UNIT, Functions, Share, Value
from counterfoil.inference import chi2, mean, proportion
from counterfoil.inference.clamped import bounds_sentences
from counterfoil.inference.related_rows import POPULATION
from counterfoil.receipt.answers import ErrorBarEntry, RecordedAverages, RecordedMarginal
from counterfoil.schema import Boolean, Categorical, Date, Datetime, Integer, Real, Schema
from noisy_tables import GAUSSIAN, evidence_of

SCHEMA = Schema(
    (
        Integer("affairs", 0, 6),
        Real("pay", 0.5, 100.0, bins=4),
        Date("day", dt.date(2020, 1, 1), dt.date(2020, 1, 5)),
        Datetime("at", dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), bins=2),
        Categorical("grade", (1, 2, 3), ordered=True),
        Boolean("sick"),
    )
)
AFFAIRS = "Values of affairs below 0 count as 0 and those above 6 as 6, so that "
DAY = (
    "Values of day below 2020-01-01 count as 2020-01-01 and those above 2020-01-05 as 2020-01-05, so that 2020-01-01 "
    "means 2020-01-01 and below, and 2020-01-05 means 2020-01-05 and above."
)
COMPARED = AFFAIRS + "0 means 0 and below, and 6 means 6 and above."
AVERAGED = AFFAIRS + "the mean is that of the clamped values."


def counted(*columns):
    counts = np.full(SCHEMA.domain.shape(columns), 100)
    return evidence_of(SCHEMA, [RecordedMarginal(columns, counts, {}, GAUSSIAN, 1.0, 1)], records=int(counts.sum()))


def clamping(found):
    """What each finding says of it, once."""
    (said,) = {tuple(line for line in one.basis if line.startswith("Values of ")) for one in found}
    return list(said)


def test_shares_say_it_of_each_bounded_column_in_the_event():
    assert clamping(proportion(counted("affairs", "day"), "affairs == 6 and day > '2020-01-02'")) == [COMPARED, DAY]
    assert clamping(proportion(counted("affairs", "grade"), "affairs == 6 and grade == 3")) == [COMPARED]
    (found,) = proportion(counted("at"), "at >= '2020-01-01T12:00:00'")
    assert any("above 2020-01-02 00:00:00 as 2020-01-02 00:00:00" in line for line in found.basis)
    assert found.basis[-1] == POPULATION


@pytest.mark.parametrize("event", ["sick == true", "grade == 3"])
def test_columns_without_bounds_say_nothing(event):
    assert clamping(proportion(counted("grade", "sick"), event)) == []


def test_means_are_of_clamped_values_and_groups_at_a_bound_hold_what_lies_beyond():
    assert clamping(mean(counted("affairs"), "affairs")) == [AVERAGED]
    assert clamping(mean(counted("affairs", "day"), "affairs", by="day")) == [AVERAGED, DAY]
    assert clamping(mean(counted("affairs", "sick"), "sick", by="affairs")) == [COMPARED]
    (found,) = proportion(counted("affairs", "sick"), "sick == true", by="affairs")[-1:]
    assert found.about.endswith("affairs = 6")
    assert COMPARED in found.basis
    assert COMPARED in found.to_json()["basis"]


def test_it_is_said_of_what_the_schema_decides_and_of_what_was_never_measured():
    (decided,) = proportion(counted("affairs"), "affairs > 6")
    assert decided.decided
    assert clamping([decided]) == [COMPARED]
    rows = pa.table(
        {
            "affairs": [0, 6],
            "pay": [1.0, 90.0],
            "day": pa.array([dt.date(2020, 1, 1)] * 2),
            "at": pa.array([dt.datetime(2020, 1, 1)] * 2, pa.timestamp("s")),
            "grade": [1, 3],
            "sick": [True, False],
        }
    )
    bar = ErrorBarEntry(("affairs", "sick"), 0.1, 0.01, "a bound")
    unmeasured = evidence_of(SCHEMA, [], error_bars=[bar], records=100, rows=rows)
    assert clamping(proportion(unmeasured, "affairs == 6 and sick == true")) == [COMPARED]
    assert clamping(mean(unmeasured, "affairs", by="sick")) == [AVERAGED]


def test_functions_that_were_bought_say_it_with_their_own_range():
    wished = [
        Value("affairs up to 3", 0.0, 3.0, "affairs"),
        Value("days", 18263.0, 18264.0, "day"),
        Value("pay", 0.0, 200.0, "pay"),
        Share.of_records(SCHEMA, "affairs == 6 and grade == 3", "many"),
    ]
    family = Functions.of(SCHEMA, wished, counted=False)
    sums = np.full(4, 50 * UNIT)
    bought = RecordedAverages(
        family, family.names, family.counted, sums, family.offsets, family.slopes, GAUSSIAN, 1.0, 1
    )
    release = evidence_of(SCHEMA, [], [bought], records=100)
    assert clamping(mean(release, "affairs up to 3")) == [AVERAGED.replace("6", "3")]
    assert clamping(mean(release, "days")) == []
    assert clamping(mean(release, "pay")) == [
        "Values of pay below 0.5 count as 0.5 and those above 100 as 100, so that the mean is that of the clamped "
        "values."
    ]
    assert clamping(proportion(release, "many")) == [COMPARED]


def test_tests_and_moments_name_the_bounds_of_their_columns():
    said = "Values beyond the declared bounds count as the bound: affairs 0 to 6."
    assert said in chi2(counted("affairs", "grade"), "affairs", "grade").basis
    assert not any("bound" in line for line in chi2(counted("grade", "sick"), "grade", "sick").basis)
    both = bounds_sentences(SCHEMA, ["day", "grade", "pay"])
    assert both == (
        "values beyond the declared bounds count as the bound: day 2020-01-01 to 2020-01-05, pay 0.5 to 100",
    )
    many = Schema(tuple(Integer(f"x{i}", 0, 1) for i in range(14)))
    assert bounds_sentences(many, many.domain.attributes)[0].endswith("x11 0 to 1 and 2 more columns")


WORDED = Schema(
    (
        Integer("age", 0, 95, words=(("85+", 90), ("85 and over", 90))),
        Real("crp", 0.0, 50.0, bins=5, words=(("<0.5", 0.2),)),
        Boolean("sick"),
    )
)
IN_AGE = (
    "In age words count as a number: 85+ as 90, 85 and over as 90. Where the numbers lie that such a word stands for "
    "is not known, and the interval does not allow for it."
)


def test_a_number_for_which_words_stand_is_said_to_be_one():
    """Nobody is known to be above 90, and whoever is has been counted as 90: the interval of that share is near 0."""
    counts = np.full(WORDED.domain.shape(("age", "sick")), 100)
    release = evidence_of(WORDED, [RecordedMarginal(("age", "sick"), counts, {}, GAUSSIAN, 1.0, 1)], records=19_200)
    for found in (proportion(release, "age > 90"), mean(release, "age"), proportion(release, "sick == true", by="age")):
        assert all(IN_AGE in one.basis and one.basis[-1] == POPULATION for one in found)
    assert not any("words" in line for one in proportion(release, "sick == true") for line in one.basis)
    said = "Words count as a number: in age 85+ as 90, 85 and over as 90."
    assert said in chi2(release, "age", "sick").basis
    assert bounds_sentences(WORDED, ["crp"])[1:] == ("words count as a number: in crp <0.5 as 0.2",)
