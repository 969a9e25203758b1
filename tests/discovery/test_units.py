"""Units of numbers that a purchase finds: what the schema is then, and what they cost, which is nothing."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtr

from counterfoil.accounting.budget import Budget
from counterfoil.curator.queries.column_places import GRIDS, PLACES, UNIT_PLACES
from counterfoil.discovery.bought_text import schema_of
from counterfoil.discovery.discover import discover
from counterfoil.discovery.plan import plan_discovery
from counterfoil.discovery.units import read_with_unit, readings_of
from counterfoil.discovery.votes import Votes
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.noise.shown_counts import FALSE_ALARMS, SUMS, any_shows, shown, sure, sure_of_units
from counterfoil.schema import Integer, Real, Schema
from counterfoil.schema.placement import Placement, placements_of
from counterfoil.schema.raw_cell import CODES
from counterfoil.schema.unit import KNOWN
from counterfoil.schema.value_grid import CELLS, WHOLE_PLACES
from discovered_strategies import BOUGHT

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")
ROWS = 4000
BUDGET = Budget(20.0, 1e-9)


def written(path: Path, columns: dict[str, list[str]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, delimiter=delimiter)
        lines.writerow(columns)
        lines.writerows(zip(*columns.values(), strict=True))
    return path


def shop(rows: int = ROWS) -> dict[str, list[str]]:
    rng = np.random.default_rng(1)
    return {
        "rate": [f"{one:.1f}%" for one in rng.uniform(0, 100, rows)],
        "price": [f"${one:,.2f}" for one in rng.lognormal(7, 1, rows)],
        "weight": [f"{one:.0f} kg" if rng.random() < 0.8 else f"{one:.0f}" for one in rng.normal(75, 12, rows)],
        "pack": rng.choice(["5 kg", "3 g", "box", "7 %"], rows).tolist(),
        "level": rng.choice(["m1", "m2", "m3"], rows).tolist(),
    }


def test_a_purchase_reads_every_value_of_columns_with_units_and_needs_no_hand(tmp_path: Path) -> None:
    table = shop()
    made, curator = SchemaPurchase.of(written(tmp_path / "s.csv", table), BUDGET, "add_or_remove_one").make(None)
    curator.close()
    assert "confirm" not in made.text
    rate, price, weight, *others = made.schema.synthesized
    assert isinstance(rate, Real)
    assert isinstance(price, Real)
    assert isinstance(weight, Integer)
    assert (rate.unit, price.unit, weight.unit) == ("%", "$", "kg")
    assert (rate.decimals, price.decimals, price.decimal_char, rate.decimal_char) == (1, 2, ".", "")
    assert 0 <= rate.lower < 16 < rate.upper <= 256, "the places of the grid that hold percents"
    assert [sorted(column.values) for column in others] == [["3 g", "5 kg", "7 %", "box"], ["m1", "m2", "m3"]]
    for column in made.schema.synthesized:
        found = placements_of(column, pa.array(table[column.name]))
        assert not np.isin(found, (Placement.UNREADABLE, Placement.OTHER, Placement.MISSING)).any(), column.name
        assert (found == Placement.DECLARED).mean() > 0.9, column.name


def test_units_are_found_beside_decimal_commas_that_are_asked(tmp_path: Path) -> None:
    table = {
        name: [cell.replace(",", "_").replace(".", ",").replace("_", ".") for cell in cells]
        for name, cells in shop().items()
    }
    made, curator = SchemaPurchase.of(written(tmp_path / "s.csv", table, ";"), BUDGET, "add_or_remove_one").make(None)
    curator.close()
    rate, price, *_ = made.schema.synthesized
    assert isinstance(rate, Real)
    assert isinstance(price, Real)
    assert (rate.unit, rate.decimal_char, price.unit, price.decimal_char) == ("%", ",", "$", ",")
    assert price.upper > 3000, "points part thousands"
    assert 'decimal_char = "."' not in made.text


def test_units_cost_nothing(tmp_path: Path) -> None:
    found, curator = discover(written(tmp_path / "s.csv", shop()), budget=BUDGET, seed=3)
    with curator:
        charges = list(curator.charges())
    planned = plan_discovery(BUDGET, ranges=True, texts=True)
    assert found.epsilon <= BUDGET.epsilon
    assert len(charges) == len(planned.noises) == 4
    assert found.shares == planned.shares
    assert charges[0].parameters["units"] == list(shop())
    assert charges[0].sensitivity == pytest.approx(len(shop()) ** 0.5), "one place of each column"


def test_what_is_sure_without_units_is_as_sure_beside_them() -> None:
    def sums(places: int) -> int:
        return 1 if places == 1 else places + sums((places + 1) // 2)

    plain = 3 * sums(CELLS) + sums(len(WHOLE_PLACES)) + 23
    of_unit = 3 * sums(CELLS) + sums(len(WHOLE_PLACES))
    assert plain < SUMS
    for columns in (1, 12, 500):
        alarms = plain * ndtr(-sure(columns)) + len(KNOWN) * of_unit * ndtr(-sure_of_units(columns, len(KNOWN)))
        assert columns * alarms == pytest.approx(FALSE_ALARMS / 2)


def test_lines_show_at_once_as_they_do_alone() -> None:
    lines = np.random.default_rng(0).normal(0, 1, (200, CELLS))
    assert any_shows(lines, 1.0, 3.0).tolist() == [bool(shown(line, 1.0, 3.0)) for line in lines]


def votes(**cells: int) -> Votes:
    """Without noise: texts, plain numbers, and by place of the unit, numbers of 5."""
    counts, units = np.zeros(PLACES), np.zeros(UNIT_PLACES)
    lines = units.reshape(len(KNOWN), len(GRIDS), CELLS)
    for name, count in cells.items():
        if name == "text":
            counts[CODES["text"]] = count
        elif name == "plain":
            counts[-len(GRIDS) * CELLS + WHOLE_PLACES[-5]] = count
        else:
            lines[int(name.removeprefix("unit")), 0, WHOLE_PLACES[-5]] = count
    return Votes(counts, 1.0, 5.0, units=units)


@pytest.mark.parametrize(
    ("cells", "kind", "unit"),
    [
        ({"unit0": 100}, "integer", KNOWN[0]),
        ({"unit0": 30, "plain": 70}, "integer", KNOWN[0]),
        ({"unit0": 100, "text": 9}, "integer", KNOWN[0]),
        ({"unit0": 95, "unit1": 8}, "integer", KNOWN[0]),
        ({"unit0": 80, "unit1": 20}, "text", ""),
        ({"unit0": 80, "text": 20}, "text", ""),
        ({"unit0": 5, "plain": 100}, "integer", ""),
        ({"plain": 100}, "integer", ""),
        ({"text": 100}, "text", ""),
    ],
)
def test_a_unit_is_that_of_nearly_all_numbers_or_none(cells, kind, unit) -> None:
    read, found = read_with_unit(votes(**cells), 1)
    assert (read.kind(), found) == (kind, unit)
    if kind == "text" or unit:
        assert read.total == sum(cells.values()), "each cell is counted once"


MANY = {f"unit{place}": 5 for place in range(1, len(KNOWN))}
"""Numbers with other units than the first, each of which hides in the noise."""


@pytest.mark.parametrize(
    ("cells", "kind", "unit"),
    [
        (MANY, "text", ""),
        (MANY | {"unit0": 30}, "text", ""),
        (MANY | {"plain": 60}, "text", ""),
        ({"unit0": 145}, "integer", KNOWN[0]),
        ({"unit0": 70, "plain": 75}, "integer", KNOWN[0]),
        ({"plain": 145}, "integer", ""),
    ],
)
def test_numbers_with_many_units_are_texts_though_each_unit_hides(cells, kind, unit) -> None:
    rows = sum(cells.values())
    looked = {"name": votes(text=rows), "amount": votes(**cells), "place": votes(text=rows)}
    read = readings_of(looked, [*looked])
    assert (read.votes["amount"].kind(), read.units) == (kind, {"amount": unit} if unit else {})
    assert read.everybody == rows
    assert read.votes["amount"].total == rows, "each cell is counted once"


@pytest.mark.parametrize("seed", range(4))
def test_a_column_of_many_units_hides_neither_its_cells_nor_its_records(seed: int, tmp_path: Path) -> None:
    rows, rng = 2000, np.random.default_rng(seed)
    units = rng.choice(["g", "mg", "kg", "cm", "mm", "m", "%", "€", "$", "km"], rows)
    table = {
        "food": rng.choice(["bread", "milk", "rice"], rows).tolist(),
        "amount": [f"{number:.0f} {unit}" for number, unit in zip(rng.lognormal(3, 2, rows), units, strict=True)],
        "weeks": rng.integers(0, 50, rows).astype(str).tolist(),
    }
    found, curator = discover(written(tmp_path / "s.csv", table), budget=Budget(1.0, 1e-9), seed=seed)
    curator.close()
    amount = found.columns[1]
    assert (amount.kind, amount.unit) == ("text", "")
    assert found.need is not None
    assert abs(found.need.rows - rows) < 3 * found.need.error


def test_cells_with_other_units_count_in_the_share_that_is_said_to_be_read(tmp_path: Path) -> None:
    rows, rng = 3000, np.random.default_rng(7)
    units = np.where(rng.random(rows) < 0.55, "km", rng.choice([unit for unit in KNOWN if unit != "km"], rows))
    table = {
        "food": rng.choice(["bread", "milk", "rice"], rows).tolist(),
        "way": [f"{number:.1f} {unit}" for number, unit in zip(rng.lognormal(3, 1, rows), units, strict=True)],
        "weeks": rng.integers(0, 50, rows).astype(str).tolist(),
    }
    shares = []
    for seed in range(4):
        found, curator = discover(written(tmp_path / "s.csv", table), budget=Budget(1.0, 1e-9), seed=seed)
        curator.close()
        way = found.columns[1]
        assert way.read is not None
        share, error = way.read
        shares.append(way.unit != "km" or share - 3 * error < 0.55)
    assert all(shares)


def test_numbers_beyond_a_bound_are_read_with_separators_of_thousands(tmp_path: Path) -> None:
    rows, rng = 4000, np.random.default_rng(0)
    prices = [f"${price:,.2f}" for price in np.append(rng.uniform(0, 500, rows), [1234.5] * 4)]
    path = written(tmp_path / "s.csv", {"price": prices, "rate": [f"{i % 100} %" for i in range(len(prices))]})
    found, curator = discover(path, budget=Budget(3.0, 1e-9), seed=1)
    curator.close()
    price, rate = Schema.from_toml(schema_of(found, BOUGHT)).synthesized
    assert isinstance(price, Real)
    assert price.upper < 1000
    assert set(placements_of(price, pa.array(prices[-4:])).tolist()) == {Placement.ABOVE}
    assert isinstance(rate, Integer)
    assert rate.decimal_char == ""


def test_points_that_may_part_thousands_of_an_amount_are_asked_about(tmp_path: Path) -> None:
    """1.234 € was a euro and a quarter without a word; prices of fuel have three digits after the point as well."""
    rng = np.random.default_rng(7)
    amounts = [int(one) for one in rng.lognormal(8, 1, ROWS)]
    table = {
        "price": [f"{one // 1000}.{one % 1000:03} €" if one >= 1000 else f"{one} €" for one in amounts],
        "fuel": [f"{one:.3f} €" for one in rng.uniform(1.2, 2.1, ROWS)],
        "cents": [f"{one:.2f} €" for one in rng.uniform(1, 500, ROWS)],
        "weight": [f"{one:.3f} kg" for one in rng.uniform(1, 90, ROWS)],
    }
    made, curator = SchemaPurchase.of(written(tmp_path / "s.csv", table), BUDGET, "add_or_remove_one").make(None)
    curator.close()
    assert {column.name for column in made.discovered.columns if column.unit} == set(table)
    assert [column.name for column in made.discovered.columns if column.grouped] == ["price"]
    assert [one.column for one in made.schema.confirm] == ["price"]


def test_limits_among_numbers_with_a_unit_are_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    table = {
        "weight": ["<3 kg" if one < 3 else f"{one:.1f} kg" for one in rng.gamma(4, 3, ROWS)],
        "income": ["$90,000+" if one > 9e4 else f"${one:,.0f}" for one in rng.lognormal(10, 0.8, ROWS)],
    }
    made, curator = SchemaPurchase.of(written(tmp_path / "s.csv", table), BUDGET, "add_or_remove_one").make(None)
    curator.close()
    weight, income = made.schema.synthesized
    assert isinstance(weight, Real)
    assert isinstance(income, Integer)
    assert dict(weight.words) == {"<3 kg": 1.5}
    assert dict(income.words) == {"$90,000+": 90_000}
    assert weight.words_for(["<3 kg", "12 kg"]) == ["<3 kg", None]
