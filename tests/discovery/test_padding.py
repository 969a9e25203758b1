"""A purchase of numbers that are written with leading zeros."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil import Schema, buy_schema, synthesize
from counterfoil.curator.queries.column_places import NUMBERED, PADDED_LINE, PADDED_PLACES, PLACES, ColumnPlaces
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.discovery.bought_columns import bought_column, precautions_of
from counterfoil.discovery.padding import read_with_padding, with_end_of_digits
from counterfoil.discovery.units import readings_of
from counterfoil.discovery.votes import Votes
from counterfoil.noise.shown_counts import SUMS
from counterfoil.schema.discovered import DiscoveredColumn
from counterfoil.schema.precautions import place_of_value
from counterfoil.schema.raw_cell import RawCells
from counterfoil.schema.schema import Schema as RawSchema
from counterfoil.schema.value_grid import places_of
from counterfoil.schema.zero_padding import WIDTHS, width_of
from sensitive_tables import ENGINES

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 6000
MUCH = 20.0
"""Epsilon, at which noise hides nothing here: 570 cells begin with 0, and noise is below 3 of each place."""
QUERY = ColumnPlaces(("x",))


def places_of_cells(cells: list[str | None], engine: str = "memory") -> np.ndarray:
    """int64 [NUMBERED], exact."""
    made = ENGINES[engine](open_source(pa.table({"x": pa.array(cells, pa.string())})), RawSchema((RawCells("x"),)))
    made.prepare(("x",))
    return QUERY.exact(ExactRecords(made, made.schema.domain))


def votes(cells: list[str | None]) -> Votes:
    """Of cells, among noise of deviation 1 that happened to be 0."""
    counts, padded = np.split(places_of_cells(cells).astype(float), [PLACES])
    return Votes(counts, 1.0, 5.0, padded=padded)


cells = st.one_of(st.none(), st.from_regex(r"\A0{0,16}\d{1,16}\Z"), st.sampled_from(["", "-07", "1.5", "0", "x"]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(cells, max_size=8), st.sampled_from(sorted(ENGINES)))
def test_every_cell_has_one_place_on_every_engine(rows: list[str | None], engine: str) -> None:
    places = places_of_cells(rows, engine)
    assert (len(places), int(places.sum()), int(places.min())) == (NUMBERED, len(rows), 0)
    lines = places[PLACES:].reshape(len(WIDTHS), len(PADDED_LINE))
    assert lines.sum(axis=1).tolist() == [sum(width_of(one or "") == width for one in rows) for width in WIDTHS]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.sampled_from(WIDTHS), st.data())
def test_a_number_lies_where_it_would_without_zeros(width: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 10 ** (width - 1) - 1))
    lines = places_of_cells([str(number).zfill(width)])[PLACES:].reshape(len(WIDTHS), -1)
    ((line, place),) = np.argwhere(lines).tolist()
    assert (WIDTHS[line], PADDED_LINE[place]) == (width, places_of(np.array([float(number)]))[0])


@pytest.mark.parametrize(
    ("cells", "digits", "vary", "kind"),
    [
        ([f"{i:02d}" for i in range(1, 27)], 2, False, "integer"),
        ([f"{i:05d}" for i in (1002, 2138, 60601, 94103)], 5, False, "integer"),
        (["1", "2", "33"], 0, False, "integer"),
        (["0791234567", "044123456", "09912345678"], 0, False, "text"),
        (["07", "7", "123", "0012"], 0, False, "text"),
        ([*["7", "44", "123"] * 20, "007", "0012"], 0, True, "integer"),
        ([*["7", "44", "123"] * 20, "007"], 0, True, "integer"),
        (["01.5", "02", "12.5"], 0, False, "real"),
    ],
)
def test_as_many_digits_are_kept_and_others_are_texts_where_they_are_not_few(
    cells: list[str], digits: int, vary: bool, kind: str
) -> None:
    read = read_with_padding(votes(cells * 100), may_be_texts=True)
    assert (read.padded, read.kind()) == (None, kind)
    if kind == "integer":
        assert (read.digits, read.zeros_vary) == (digits, vary)
        assert read.counts.sum() == len(cells) * 100


def test_columns_of_numbers_by_their_owner_stay_such() -> None:
    read = read_with_padding(votes(["0791234567", "044123456", "12"] * 100), may_be_texts=False)
    assert (read.kind(), read.digits, read.zeros_vary) == ("integer", 0, True)


def test_what_the_noise_hides_changes_nothing() -> None:
    counts, padded = np.split(places_of_cells(["7"] * 100).astype(float), [PLACES])
    padded[:] = 4.0
    assert len(padded) == PADDED_PLACES
    alternating = padded * np.where(np.arange(len(padded)) % 2, 1, -1)
    read = read_with_padding(Votes(counts, 1.0, 5.0, padded=alternating), may_be_texts=True)
    assert (read.digits, read.zeros_vary, read.counts.tolist()) == (0, False, counts.tolist())


def test_the_number_of_records_counts_numbers_whose_zeros_hide() -> None:
    """14 columns of 2,000 records, 600 of which begin with 0 and hide: |z| of 200 runs below 5, p < 6e-7."""
    rng = np.random.default_rng(7)
    cells = [str(place % 10 + 1).zfill(2 + place % 14) for place in range(600)] + ["17"] * 1400
    counts, padded = np.split(places_of_cells(cells).astype(float), [PLACES])
    assert int(padded.sum()) == 600
    scores = []
    for _ in range(200):
        noisy = {
            f"c{place}": Votes(
                counts + rng.normal(0, 30, PLACES), 30.0, 5.0, padded=padded + rng.normal(0, 30, len(padded))
            )
            for place in range(14)
        }
        plain = {name: read_with_padding(vote, may_be_texts=True) for name, vote in noisy.items()}
        count, deviation = readings_of(plain, list(plain)).everything
        scores.append((count - len(cells)) / deviation)
    assert abs(np.mean(scores)) * 200**0.5 < 5
    assert abs(np.var(scores) - 1) * (200 / 2) ** 0.5 < 5


def written(folder: Path) -> Path:
    rng = np.random.default_rng(4)
    table = {
        "region": [f"{one:02d}" for one in rng.integers(1, 27, ROWS)],
        "zip": [f"{one:05d}" for one in rng.integers(500, 99_000, ROWS)],
        "age": [str(one) for one in rng.integers(0, 90, ROWS)],
    }
    lines = [",".join(table), *map(",".join, zip(*table.values(), strict=True))]
    (folder / "t.csv").write_text("\n".join(lines))
    return folder / "t.csv"


def lengths(table: Path) -> dict[str, set[int]]:
    """By column, the lengths of the cells that are not missing."""
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: {len(row[name]) for row in rows if row[name]} for name in ("region", "zip", "age")}


def test_codes_come_back_as_they_are_written(tmp_path: Path) -> None:
    """Noise brings a code, a negative bound or a word for missing in one of 400 purchases (7 of 2,600); in three of
    three in less than one of ten million."""
    source, wanted = written(tmp_path), {"region": {2}, "zip": {5}, "age": {1, 2}}
    for _ in range(3):
        schema, _ = buy_schema(source, epsilon=MUCH)
        assert Schema.from_toml(schema.to_toml()) == schema
        synthesize(source, schema, method="independent", epsilon=10.0).write(tmp_path / "copy.csv")
        if (found := lengths(tmp_path / "copy.csv")) == wanted:
            break
    assert found == wanted


def test_a_stated_number_of_digits_stands(tmp_path: Path) -> None:
    stated = '[columns.region]\nkind = "integer"\ndigits = 3\nlower = 0\nupper = 30\n'
    schema, _ = buy_schema(written(tmp_path), epsilon=MUCH, stated=stated)
    assert schema["region"].digits == 3


def bought(folder: Path, cells: list[str], stated: str | None = None) -> Any:
    """The column that is bought of these cells, with so little noise that it decides nothing."""
    (folder / "one.csv").write_text("\n".join(["x", *cells]))
    schema, _ = buy_schema(folder / "one.csv", epsilon=100.0, stated=stated)
    assert Schema.from_toml(schema.to_toml()) == schema
    return schema["x"]


def test_a_negative_bound_that_is_stated_stands_in_place_of_digits(tmp_path: Path) -> None:
    cells = [f"{one:05d}" for one in range(0, 90_000, 15)]
    stated = bought(tmp_path, cells, '[columns.x]\nkind = "integer"\nlower = -1\n')
    assert (stated.lower, stated.digits) == (-1, 0)


def of_codes(*codes: int, unpadded: bool) -> DiscoveredColumn:
    """What is known of a column of these codes of four digits."""
    return DiscoveredColumn(
        "x",
        kind="integer",
        votes={"integer": 6000},
        lower=float(min(codes)),
        upper=float(max(codes)),
        tails=(0.0, 0.0),
        categories=(),
        records=6000,
        missing=0,
        edges=(),
        deviation=1.0,
        codes=tuple((code, 1500) for code in codes),
        digits=4,
        unpadded=unpadded,
    )


@pytest.mark.parametrize(
    ("codes", "unpadded", "listed"),
    [
        ((101, 205, 1700), False, ["0101", "0205", "1700"]),
        ((-9, 101, 1700), False, ["-9", "0101", "1700"]),
        ((0, 101, 1700), True, ["0000", "0", "0101", "101", "1700"]),
    ],
)
def test_codes_are_listed_as_they_may_be_written(codes: tuple[int, ...], unpadded: bool, listed: list[str]) -> None:
    column = of_codes(*codes, unpadded=unpadded)
    made = bought_column(column)
    assert made.facts["values"][0] == listed
    assert set(map(place_of_value, listed)) <= set(precautions_of(column, made))


def test_it_is_said_that_negative_numbers_take_the_zeros() -> None:
    column = replace(of_codes(-9, 101, 1700, unpadded=False), codes=())
    facts = bought_column(column).facts
    assert "digits" not in facts
    assert "missing_values, and add lower = 0 and digits = 4" in facts["kind"][1]
    assert "digits" in bought_column(column, stated={"lower": 0}).facts


@pytest.mark.parametrize(
    ("cells", "unpadded"), [(["007", "021", "123"], False), (["007", "021", "7"], True), (["007", "0", "01"], False)]
)
def test_numbers_without_their_zeros_are_noticed(cells: list[str], unpadded: bool) -> None:
    assert read_with_padding(votes(cells * 100), may_be_texts=False).unpadded == unpadded


def test_numbers_with_more_digits_have_intervals_of_their_own() -> None:
    edges = (0.0, 4096.0, 8192.0, 16_384.0)
    assert with_end_of_digits(edges, 4) == (0.0, 4096.0, 8192.0, 10_000.0, 16_384.0)
    assert with_end_of_digits(edges, 5) == with_end_of_digits(edges, 0) == edges


@pytest.mark.parametrize(("rows", "upper"), [(12_000, (12_000, 14_000)), (9_900, (9_900, 9_999))])
def test_numbers_that_outgrew_their_zeros_stay_within_the_bounds(
    rows: int, upper: tuple[int, int], tmp_path: Path
) -> None:
    numbered = bought(tmp_path, [f"{one:04d}" for one in range(1, rows + 1)])
    assert numbered.digits == 4
    assert upper[0] <= numbered.upper <= upper[1]


def test_leading_zeros_are_seen_by_noise_alone_as_rarely_as_is_said() -> None:
    def sums(places: int) -> int:
        return 1 if places == 1 else places + sums((places + 1) // 2)

    assert len(WIDTHS) * sums(len(PADDED_LINE)) < SUMS, "`sure` allows for so many of each column"
