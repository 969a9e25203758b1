"""Dates that no rule orders: the receipt says in how many rows they come in the rarer order."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from counterfoil import Schema, synthesize
from counterfoil.synthesis.redrawn_rows import TriedRows
from counterfoil.synthesis.unordered_dates import unordered_dates

BOTH = "".join(
    f'[columns.{name}]\nkind = "{kind}"\nlower = {first}\nupper = 2021-12-31{time}\nresolution = "1mo"\n'
    for name, kind, first, time in (
        ("admitted", "date", "2019-01-01", ""),
        ("discharged", "datetime", "2019-01-01T00:00:00", "T23:59:59"),
    )
)
SAME = BOTH.replace("datetime", "date").replace("T00:00:00", "").replace("T23:59:59", "")
RULE = '[[rules]]\nrequire = "admitted <= discharged"\n'


def said(schema: str, days: int = 5) -> list[str]:
    rng = np.random.default_rng(1)
    first = [date(2019, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 365 if days > 100 else 1000, 3000)]
    table = pa.table({"admitted": first, "discharged": [day + timedelta(days=days) for day in first]})
    if "datetime" in schema:
        table = table.set_column(1, "discharged", table.column(1).cast(pa.timestamp("us")))
    made = synthesize(table, Schema.from_toml(schema), epsilon=5.0, method="mst", seed=1)
    rows = made.to_pandas().astype("datetime64[s]")
    lines = [line for line in made.receipt.document["warnings"] if "comes first" in line]
    share = float((rows["discharged"] < rows["admitted"]).mean())
    for line in lines:
        # Of 4,096 rows and of 3,000: a standard error of .012 at most; 6 of them.
        found = float(line.split("discharged before admitted in ")[1].split("%")[0]) / 100
        assert found == pytest.approx(share, abs=0.08)
    return lines


@pytest.mark.parametrize("schema", [BOTH, SAME])
def test_discharges_before_their_admission_are_said_with_the_rule_that_is_missing(schema):
    (line,) = said(schema)
    assert 'require = "admitted <= discharged"' in line
    assert ("both declared alike" in line) == (schema == BOTH), "moments and dates are not compared"


def test_nothing_is_said_of_dates_with_a_rule_or_far_apart():
    assert said(SAME + RULE) == []
    assert said(SAME, days=500) == []


@pytest.mark.parametrize(("reversed_of_100", "rule"), [(52, "admitted <= discharged"), (80, "discharged <= admitted")])
def test_which_order_is_rarer_is_not_told_by_a_few_rows(reversed_of_100: int, rule: str) -> None:
    """Where noise halves the rows, the rule has the order of the columns: half the time it was the wrong one."""
    first, second = date(2019, 3, 1), date(2019, 6, 1)
    times = [(second, first) if row < reversed_of_100 else (first, second) for row in range(100)]
    table = pa.table({"admitted": [one for one, _ in times], "discharged": [other for _, other in times]})
    (line,) = unordered_dates(TriedRows(Schema.from_toml(SAME), table, np.ones(100, dtype=bool)))
    earlier, later = rule.split(" <= ")
    share = reversed_of_100 if earlier == "admitted" else 100 - reversed_of_100
    assert f"{later} before {earlier} in {share}.0% of the rows" in line
    assert f'such as require = "{rule}"' in line
    assert f'between = ["{earlier}", "{later}"]` in place of {later}' in line


CLOCKS = "".join(
    f'[columns.{name}]\nkind = "datetime"\nformat = "%H:%M"\nlower = 1900-01-01T00:00:00\n'
    'upper = 1900-01-01T23:59:59\nresolution = "15min"\n'
    for name in ("arrived", "seen")
)


def test_a_rule_alone_is_advised_for_times_of_day() -> None:
    """What lies between them may lead beyond midnight: a schema that counts it is refused."""
    times = pa.array([datetime(1900, 1, 1, 8), datetime(1900, 1, 1, 9)], pa.timestamp("us"))
    table = pa.table({"arrived": times, "seen": times[::-1]})
    (line,) = unordered_dates(TriedRows(Schema.from_toml(CLOCKS), table, np.ones(2, dtype=bool)))
    assert 'require = "arrived <= seen"' in line
    assert "between" not in line
    counted = CLOCKS.replace(
        CLOCKS[CLOCKS.index("[columns.seen]") :],
        '[columns.wait]\nkind = "integer"\nbetween = ["arrived", "seen"]\nlower = 0\nupper = 7200\n'
        '[[derived]]\nname = "seen"\nkind = "datetime"\nformat = "%H:%M"\nexpression = "arrived + wait"\n',
    )
    with pytest.raises(ValueError, match="must tell all values apart"):
        Schema.from_toml(counted)


def test_how_many_rows_lose_the_later_date_with_its_length_is_said() -> None:
    first, second = date(2019, 3, 1), date(2019, 6, 1)
    times = [
        (None if row < 25 else second if row < 35 else first, second if row >= 35 else first) for row in range(100)
    ]
    table = pa.table({"admitted": [one for one, _ in times], "discharged": [other for _, other in times]})
    schema = Schema.from_toml(SAME.replace('resolution = "1mo"\n', 'resolution = "1mo"\nmissing = true\n'))
    (line,) = unordered_dates(TriedRows(schema, table, np.ones(100, dtype=bool)))
    assert "discharged before admitted in 13.3% of the rows with both" in line
    assert "in place of discharged, which is missing then wherever admitted is (25.0% of the rows more)." in line
