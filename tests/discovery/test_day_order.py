"""Which of day and month comes first in bought columns whose cells have two readings: never what noise says."""

from __future__ import annotations

import warnings
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterfoil import buy_schema
from counterfoil.curator.queries.column_places import PLACES
from counterfoil.discovery.day_order import as_others_are, exchanged
from counterfoil.discovery.votes import Votes
from counterfoil.schema.discovered import Kind
from counterfoil.schema.raw_cell import CODES


@pytest.mark.parametrize(
    ("cells", "kind", "notation", "hides"),
    [
        ({"ambiguous/": 900, "%m/%d/%Y": 15}, "date", "%d/%m/%Y", True),
        ({"ambiguous.": 900, "%m.%d.%Y": 15}, "date", "%d.%m.%Y", True),
        ({"ambiguous/": 400, "%m/%d/%Y": 500}, "date", "%m/%d/%Y", False),
        ({"ambiguous/ %H:%M": 900, "%m/%d/%Y %H:%M": 15}, "datetime", "%d/%m/%Y %H:%M", True),
        ({"ambiguous/ 12:00 AM": 900, "%m/%d/%Y 12:00 AM": 15}, "date", "%d/%m/%Y 12:00 AM", True),
        ({"ambiguous/ 12:00 AM": 400, "%m/%d/%Y 12:00 AM": 500}, "date", "%m/%d/%Y 12:00 AM", False),
        ({"%m/%d/%Y": 15}, "date", "%m/%d/%Y", False),
        ({"%Y-%m-%d": 900}, "date", "", False),
    ],
)
def test_noise_does_not_say_which_comes_first(cells: dict[str, int], kind: Kind, notation: str, hides: bool) -> None:
    counts = np.zeros(PLACES)
    for name, count in cells.items():
        counts[CODES[name]] = count
    votes = Votes(counts, 5.0, 4.0).with_midnights()
    found = votes.date_format() if kind == "date" else votes.moment_format()
    assert (found, votes.hides_order(kind, found)) == (notation, hides)


def test_columns_that_show_it_say_it_of_the_others() -> None:
    formats = {"a": "%d/%m/%Y", "b": "%m/%d/%Y %I:%M %p", "c": "%d.%m.%Y", "d": ""}
    assert as_others_are(formats, {"a", "c"}) == formats | {"a": "%m/%d/%Y"}
    both = formats | {"e": "%d/%m/%Y"}
    assert as_others_are(both, {"a", "c"}) == both
    assert as_others_are(formats, {"a", "b", "c"}) == formats


def test_no_notation_is_exchanged_for_one_that_is_none() -> None:
    assert exchanged("%m/%d/%Y 12:00 AM") == "%d/%m/%Y 12:00 AM"
    assert not any(map(exchanged, ("", "%Y-%m-%d", "%Y%m%d", "%d.%m.%Y %H:%M")))


@pytest.mark.parametrize("stated", [None, '[columns.due]\nkind = "date"\nformat = "%m/%d/%Y"\n'])
def test_a_purchase_says_what_does_not_show(stated: str | None, tmp_path: Path) -> None:
    """The first days of months, beside moments of any day, in a table that has the month first."""
    rng = np.random.default_rng(0)
    seen = [datetime(2019, 1, 1) + timedelta(minutes=int(one)) for one in rng.integers(0, 700 * 1440, 3000)]
    table = pd.DataFrame(
        {"due": [f"{one:%m}/01/{one.year}" for one in seen], "seen": [f"{one:%m/%d/%Y %H:%M}" for one in seen]}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    facts = None
    if stated:
        facts = tmp_path / "stated.toml"
        facts.write_text(stated, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema, _ = buy_schema(tmp_path / "t.csv", epsilon=10.0, stated=facts)
    assert [getattr(one, "format", "") for one in schema.columns] == ["%m/%d/%Y", "%m/%d/%Y %H:%M"]
    said = [str(one.message) for one in caught if "day and month" in str(one.message)]
    assert [one.startswith("Which of day and month comes first in due does not show") for one in said] == (
        [] if stated else [True]
    )
    assert schema.bought is not None
    assert ("whether day or month comes first" in schema.bought.document) is not bool(stated)
