"""Shares that the schema alone decides, against enumeration of all records that it allows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from counterfoil.inference import decided as decided_shares
from counterfoil.inference import proportion
from counterfoil.receipt.answers import RecordedMarginal
from counterfoil.schema import Categorical, Integer, Schema
from noisy_tables import GAUSSIAN, evidence_of

SCHEMA = Schema((Categorical("a", ("x", "y", "z")), Categorical("b", ("p", "q")), Integer("n", 0, 5, missing=True)))
BY_HAND = {
    "a == 'x' or a == 'y' or a == 'z'": lambda a, b, n: True,
    "a == 'x' and a == 'y'": lambda a, b, n: False,
    "n > 5": lambda a, b, n: n is not None and n > 5,
    "n <= 5": lambda a, b, n: n is not None and n <= 5,
    "n is missing or n >= 0": lambda a, b, n: True,
    "b == 'p' and n >= 0": lambda a, b, n: b == "p" and n is not None,
    "a == 'x'": lambda a, b, n: a == "x",
    "a != 'z' or b == 'q'": lambda a, b, n: a != "z" or b == "q",
}


def counted(*columns: str, groups=None) -> RecordedMarginal:
    shape = tuple(int(groups[name].max()) + 1 if groups and name in groups else SCHEMA[name].size for name in columns)
    return RecordedMarginal(columns, np.full(shape, 50), groups or {}, GAUSSIAN, 5.0, 1)


@pytest.mark.parametrize("by", [None, "a", "b"])
@pytest.mark.parametrize("event", list(BY_HAND))
def test_what_the_schema_decides_is_said_as_that(event, by):
    """A share is decided where the event's truth is the same for all records of the group that the schema allows."""
    records = list(itertools.product("xyz", "pq", [None, 0, 1, 2, 3, 4, 5]))
    values = {None: [""], "a": list("xyz"), "b": list("pq")}[by]
    found = proportion(evidence_of(SCHEMA, [counted("a", "b", "n")], records=2100), event, by=by)
    assert len(found) == len(values)
    for one, value in zip(found, values, strict=True):
        group = [r for r in records if by is None or r["ab".index(by)] == value]
        truths = {BY_HAND[event](*record) for record in group}
        assert one.decided == (len(truths) == 1)
        assert one.measured != one.decided
        if one.decided:
            assert [one.estimate, one.lower, one.upper] == [float(truths.pop())] * 3
            assert (one.noise, one.sampling, one.charges) == (0.0, 0.0, ())
            assert "The schema decides it, and no answer was needed" in one.basis[0]
        else:
            assert one.lower < one.upper
            assert one.charges == (1,)


def test_it_needs_no_answer():
    release = evidence_of(SCHEMA, [counted("b")], records=100)
    (found,) = proportion(release, "n is missing or n <= 5")
    assert found.decided
    assert found.basis == (
        "The schema decides it, and no answer was needed: every record that it allows has the event.",
        "Values of n below 0 count as 0 and those above 5 as 5, so that 0 means 0 and below, and 5 means 5 and above.",
    )
    assert found.to_json()["decided"] is True
    with pytest.raises(ValueError, match="was never counted"):
        proportion(release, "n <= 5")


def test_groups_that_were_counted_together_are_decided_too():
    release = evidence_of(SCHEMA, [counted("a", "b", groups={"a": np.array([0, 1, 1])})], records=1000)
    found = proportion(release, "a == 'x' and b == 'p'", by="a")
    assert [(one.about.partition(", where ")[2], one.decided) for one in found] == [
        ("a = x", False),
        ("a in y, z", True),
    ]
    assert "no record with a in y, z that it allows has the event" in found[1].basis[0]


def test_more_combinations_than_are_looked_through_count_as_open(monkeypatch):
    monkeypatch.setattr(decided_shares, "_MOST_CELLS", 2)
    (found,) = proportion(evidence_of(SCHEMA, [counted("a")], records=100), "a == 'x' and a == 'y'")
    assert found.measured
    assert not found.decided
