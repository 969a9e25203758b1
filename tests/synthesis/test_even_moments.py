"""The sentence on moments whose times of day are made up."""

from __future__ import annotations

import pandas as pd
import pytest

from counterfoil import Schema, synthesize
from counterfoil.synthesis.even_moments import even_moments

TOML = '[columns.kickoff]\nkind = "datetime"\nlower = 1963-01-01T00:00:00\nupper = 2010-12-31T23:59:59\n'


@pytest.mark.parametrize(
    ("more", "lost"),
    [
        ('resolution = "1y"', "times of day, weekdays and seasons are made up"),
        ('resolution = "1mo"', "times of day and weekdays are made up"),
        ('resolution = "1d"\nzone = "Europe/Zurich"', "times of day are made up"),
        ("bins = 20", "times of day, weekdays and seasons are made up"),
    ],
)
def test_what_cells_of_a_day_or_more_do_not_tell_is_named(more, lost):
    (said,) = even_moments(Schema.from_toml(TOML + more + "\n"))
    assert "Moments of kickoff" in said
    assert lost in said
    assert said.endswith('Where the table has days alone, all at midnight, declare kind = "date".')


@pytest.mark.parametrize(
    "toml",
    [
        TOML.replace("1963", "2010") + 'resolution = "1h"\n',
        TOML + 'resolution = "1d"\nformat = "%d.%m.%Y"\n',
        '[columns.day]\nkind = "date"\nlower = 1963-01-01\nupper = 2010-12-31\n',
    ],
)
def test_nothing_is_said_where_no_made_up_time_is_written(toml):
    assert even_moments(Schema.from_toml(toml)) == []


def test_a_receipt_says_it():
    """Games of a league, of which 62% begin at 9:30, came back at all seconds of the day, in July too."""
    table = pd.DataFrame({"kickoff": pd.date_range("1963-08-24 09:30", periods=300, freq="7D")})
    made = synthesize(table, Schema.from_toml(TOML + 'resolution = "1y"\n'), epsilon=1.0, seed=1)
    assert any("Moments of kickoff" in warning for warning in made.receipt.document["warnings"])
