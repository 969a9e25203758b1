"""Which decimal sign a file has: against counting by hand, on neighbors from the raw cell up, audited, and bought."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_tools import LessNoise, epsilon_lower_bound
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
from counterfoil.curator.queries.column_places import ColumnPlaces
from counterfoil.curator.queries.column_ranges import ColumnRanges, Intervals
from counterfoil.curator.queries.decimal_signs import DecimalSigns
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.discover import discover, need_foreseen
from counterfoil.discovery.plan import SIGNS_SHARE, plan_discovery
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.noise import Norm
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.receipt.charge_parameters import NAMES
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.open_numbers import OpenCells
from counterfoil.schema.raw_cell import CODES, RawCells
from counterfoil.schema.schema import Schema
from counterfoil.schema.stated import Stated
from sensitive_tables import ENGINES

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
Row = tuple[str, str]
SIGNS = DecimalSigns(("a", "b"))
CELLS = ("1,5", "1.5", "1'234.5", "1.234", "1,234", "7", "", "x", "1.234,5", "2020-01-31")
KINDS = tuple(CODES[name] for name in ("integer", "tenths", "hundredths", "real"))
RANGES = tuple(Intervals(name, KINDS, (0.0, 10.0, 1000.0), (1.5,)) for name in "ab")


def records_of(rows: list[Row], sign: str | None = None, engine: str = "memory") -> ExactRecords:
    """With an open sign where none is given."""
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("ab")}
    schema = Schema(tuple(OpenCells(name) if sign is None else RawCells(name, sign) for name in "ab"))
    made = ENGINES[engine](open_source(pa.table(columns)), schema)
    made.prepare(("a", "b"))
    return ExactRecords(made, schema.domain)


def vote(row: Row) -> int:
    """1 for a comma, -1 for a point."""
    commas = sum(cell in ("1,5", "1.234,5") for cell in row)
    return int(np.sign(commas - sum(cell in ("1.5", "1'234.5") for cell in row)))


rows = st.lists(st.tuples(st.sampled_from(CELLS), st.sampled_from(CELLS)), max_size=12)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(rows, st.sampled_from(sorted(ENGINES)))
def test_each_record_has_one_vote_on_every_engine(table: list[Row], engine: str) -> None:
    votes = [vote(row) for row in table]
    neither = sum(not voted and "1.234" in row for voted, row in zip(votes, table, strict=True))
    assert SIGNS.exact(records_of(table, engine=engine)).tolist() == [votes.count(1), votes.count(-1), neither]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(rows, st.sampled_from(["", *DECIMAL_CHARS]), st.sampled_from(sorted(ENGINES)))
def test_later_questions_read_cells_with_the_sign(table: list[Row], sign: str, engine: str) -> None:
    opened, known = records_of(table, engine=engine), records_of(table, sign, engine)
    for asked, expected in (
        (ColumnPlaces(("a", "b"), sign), ColumnPlaces(("a", "b"))),
        (ColumnRanges(RANGES, sign), ColumnRanges(RANGES)),
    ):
        np.testing.assert_array_equal(asked.exact(opened), expected.exact(known))
        assert asked.l2_sensitivity(ADD) == expected.l2_sensitivity(ADD)
        assert asked.describe() == expected.describe() | {"sign": sign}
        assert set(asked.describe()) == NAMES[asked.name] - {"units", "apart"}


def test_no_neighbor_moves_an_answer_by_more_than_is_claimed_and_some_by_as_much() -> None:
    answers = [SIGNS.exact(records_of([row])) for row in product(CELLS, CELLS)]
    assert max(np.abs(answer).sum() for answer in answers) == SIGNS.l1_sensitivity(ADD) == 1
    moves = [one - other for one in answers for other in answers]
    assert max(np.abs(move).sum() for move in moves) == SIGNS.l1_sensitivity(REPLACE) == 2
    assert max(np.linalg.norm(move) for move in moves) == pytest.approx(SIGNS.l2_sensitivity(REPLACE))
    assert set(SIGNS.describe()) == NAMES[SIGNS.name]
    for norm, claim in ((Norm.L1, SIGNS.l1_sensitivity), (Norm.L2, SIGNS.l2_sensitivity)):
        for relation, moved in ((ADD, 1.0), (REPLACE, 2.0)):
            assert DecimalSigns.restated_sensitivity(SIGNS.describe(), moved, norm) == pytest.approx(claim(relation))


def test_questions_ask_cells_that_are_read_as_they_need() -> None:
    opened, known = (Schema((kind("a"), kind("b"))) for kind in (OpenCells, RawCells))
    for query, fits, other in (
        (SIGNS, opened, known),
        (ColumnPlaces(("a",), ","), opened, known),
        (ColumnPlaces(("a",)), known, opened),
        (ColumnRanges(RANGES, ""), opened, known),
        (ColumnRanges(RANGES), known, opened),
    ):
        query.require_fits(fits)
        with pytest.raises(ValueError, match=r"The decimal sign of (each|one) of `columns` must be"):
            query.require_fits(other)
    both = Schema((OpenCells("a"), RawCells("b", ",")))
    ColumnPlaces(("a", "b"), ".").require_fits(both)
    with pytest.raises(ValueError, match="Found that of 'b' known"):
        DecimalSigns(("a", "b")).require_fits(both)
    with pytest.raises(ValueError, match="Found that of 'a' open"):
        ColumnPlaces(("a", "b")).require_fits(both)
    with pytest.raises(ValueError, match="at least one column, and none twice"):
        DecimalSigns(("a", "a"))


RUNS, DELTA, CROWD = 120_000, 0.01, [("1,5", "1")] * 40 + [("1.5", "1")] * 40


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_votes_keep_their_claim_and_half_the_noise_does_not(relation: NeighboringRelation, epsilon: float) -> None:
    """Each bound is at confidence 1 - 1e-6. One vote of noise that is narrow beside it tells no twin from another."""
    before = [] if relation is ADD else [("1.5", "1")]
    one, other = (SIGNS.exact(records_of([*CROWD, *more])) for more in (before, [("1,5", "1")]))
    sensitivity = Neighbors(relation).sensitivity(SIGNS.l2_sensitivity, relation)
    assert np.linalg.norm(other - one) == pytest.approx(sensitivity), "the neighbors are the worst"
    plan = plan_discovery(Budget(epsilon, DELTA), ranges=False, texts=False, signs=True)
    noise = GaussianNoise(sum(each.noise_multiplier**-2 for each in plan.noises) ** -0.5)

    def bound(randomness: SeededRandomness | LessNoise) -> float:
        told = [noise.add(np.tile(exact, (RUNS, 1)), sensitivity, randomness) for exact in (one, other)]
        return epsilon_lower_bound(*(answer @ (other - one) for answer in told), DELTA)

    assert bound(SeededRandomness(21)) <= epsilon
    assert bound(LessNoise(SeededRandomness(22))) > epsilon


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_the_plan_holds_the_question_and_costs_no_more(share: float) -> None:
    budget = Budget(1.0, 1e-9)
    with_signs = plan_discovery(budget, ranges=True, texts=True, signs=True, share=share)
    without = plan_discovery(budget, ranges=True, texts=True, share=share)
    assert with_signs.shares["signs"] == SIGNS_SHARE
    assert sum(with_signs.shares.values()) == pytest.approx(1)
    precision = [sum(noise.noise_multiplier**-2 for noise in plan.noises) for plan in (with_signs, without)]
    assert precision[0] == pytest.approx(precision[1])
    assert with_signs.noises[0] is with_signs.signs


def write(path: Path, sign: str, separator: str = ";", rows: int = 4000) -> Path:
    """Amounts with thousands, rates, whole numbers with thousands, and days."""
    rng = np.random.default_rng(3)
    lines = [separator.join(("amount", "rate", "units", "day"))]
    for _ in range(rows):
        amount, rate, units = rng.uniform(500, 9000), rng.choice([0.5, 1.25, 19.5]), int(rng.integers(1000, 9000))
        texts = [f"{amount:,.2f}", f"{rate:g}", f"{units:,}"]
        texts = [text.translate(str.maketrans(",.", ".,")) if sign == "," else text.replace(",", "'") for text in texts]
        lines.append(separator.join([*texts, f"{int(rng.integers(1, 29)):02d}.03.2021"]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("sign", DECIMAL_CHARS)
def test_a_file_with_semicolons_is_bought_with_its_decimal_sign(tmp_path: Path, sign: str) -> None:
    path = write(tmp_path / "amounts.csv", sign)
    found, curator = discover(path, budget=Budget(3.0, 1e-9), seed=5)
    curator.close()
    assert found.signs is not None
    assert found.signs.sign == sign
    kinds = {column.name: (column.kind, column.decimal_char, column.decimals) for column in found.columns}
    assert kinds == {
        "amount": ("real", sign, 2),
        "rate": ("real", sign, 2),
        "units": ("integer", sign, None),
        "day": ("date", sign, None),
    }
    bounds = {column.name: (column.lower, column.upper) for column in found.columns}
    assert 400 <= bounds["amount"][0] <= 700
    assert 8500 <= bounds["amount"][1] <= 11000
    assert 900 <= bounds["units"][0] <= 1300
    assert 8500 <= bounds["units"][1] <= 11000


def test_what_is_bought_reads_the_file_and_says_its_sign(tmp_path: Path) -> None:
    path = write(tmp_path / "amounts.csv", ",")
    made, curator = SchemaPurchase.of(path, Budget(5.0, 1e-9), "add_or_remove_one").make(None)
    with curator:
        pass
    assert 'decimal_char = ","  # bought: ' in made.text
    assert next(charge["query"] for charge in made.receipt.document["charges"]) == "decimal_signs"
    assert "records have more numbers with a decimal comma" in made.text
    column = next(column for column in made.schema.columns if column.name == "units")
    assert column.parsed(pa.array(["1.234"])).tolist() == [1234]  # type: ignore[attr-defined]


def test_nothing_is_asked_where_the_sign_is_stated_or_commas_part_the_cells(tmp_path: Path) -> None:
    semicolons, commas = write(tmp_path / "s.csv", ","), write(tmp_path / "c.csv", ".", ",")
    stated = {name: Stated(decimal_char=",") for name in ("amount", "rate", "units", "day")}
    for source, known in ((semicolons, stated), (commas, None), (pa.table({"x": ["1,5"] * 9}), None)):
        found, curator = discover(source, stated=known, budget=Budget(3.0, 1e-9), seed=5)
        curator.close()
        assert found.signs is None
    one, other = (need_foreseen(source, 4000, budget=Budget(1.0, 1e-9)) for source in (semicolons, commas))
    assert one.hidden == pytest.approx(other.hidden / (1 - SIGNS_SHARE) ** 0.5, rel=1e-3)


def test_the_sign_is_asked_of_the_columns_that_state_none(tmp_path: Path) -> None:
    source = write(tmp_path / "s.csv", ",")
    stated = {"rate": Stated("real", decimal_char=","), "day": Stated("date")}
    found, curator = discover(source, stated=stated, budget=Budget(3.0, 1e-9), seed=5)
    assert found.signs is not None, "amounts of 1.000 would be 1"
    asked = [charge.parameters for charge in curator.charges() if charge.query in ("decimal_signs", "column_places")]
    curator.close()
    assert asked[:2] == [
        {"columns": ["amount", "units"]},
        {"columns": ["amount", "rate", "units", "day"], "sign": ",", "units": ["amount", "units"]},
    ]
    assert {one.name: one.decimal_char for one in found.columns} == {
        "amount": ",",
        "rate": ",",
        "units": ",",
        "day": "",
    }
    kinds = {one.name: one.kind for one in found.columns}
    assert kinds == {"amount": "real", "rate": "real", "units": "integer", "day": "date"}
    (upper,) = (one.upper for one in found.columns if one.name == "units")
    assert upper is not None
    assert upper >= 8000
    texts = {name: Stated(kind="text") for name in ("amount", "rate", "units")} | {"day": Stated("date")}
    found, curator = discover(source, stated=texts, budget=Budget(3.0, 1e-9), seed=5)
    curator.close()
    assert found.signs is None, "none of them can be numbers"


def test_a_sign_that_the_noise_hides_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "few.csv", ",", rows=60)
    found, curator = discover(path, budget=Budget(0.5, 1e-9), seed=5)
    curator.close()
    assert found.signs is not None
    assert found.signs.sign == ""
    assert {column.decimal_char for column in found.columns} == {""}


def test_a_sign_is_stated_once(tmp_path: Path) -> None:
    path, budget = write(tmp_path / "amounts.csv", ","), Budget(3.0, 1e-9)
    said = SchemaPurchase.of(path, budget, "add_or_remove_one", decimal_char=",")
    assert said.partial.top == 'decimal_char = ","  # stated: of all numbers below\n'
    same = SchemaPurchase.of(path, budget, "add_or_remove_one", decimal_char=",", stated='decimal_char = ","\n')
    assert same.partial.decimal_char == ","
    assert said.facts(has_ledger=False) == same.facts(has_ledger=False)
    with pytest.raises(SchemaError, match="must be stated once"):
        SchemaPurchase.of(path, budget, "add_or_remove_one", decimal_char=".", stated='decimal_char = ","\n')
    with pytest.raises(SchemaError, match="must be a comma or a point"):
        SchemaPurchase.of(path, budget, "add_or_remove_one", decimal_char=";")


def test_texts_of_a_storage_with_types_may_be_numbers_where_their_sign_is_stated(tmp_path: Path) -> None:
    csv = pd.read_csv(write(tmp_path / "s.csv", ","), sep=";", dtype=str)
    for sign, kinds in ((",", ["real", "real", "integer", "date"]), ("", ["text"] * 4)):
        stated = {name: Stated(decimal_char=sign) for name in csv.columns}
        found, curator = discover(csv, stated=stated, budget=Budget(3.0, 1e-9), seed=5)
        curator.close()
        assert [column.kind for column in found.columns] == kinds


def test_fractions_that_may_be_thousands_are_to_be_confirmed(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    people = [f"{int(rng.integers(200, 900_000)):,}".replace(",", ".") for _ in range(4000)]
    path = tmp_path / "people.csv"
    for other, asked in (("7", True), ("0.25", False), ("0,25", False)):
        path.write_text("people;other\n" + "".join(f"{one};{other}\n" for one in people))
        found, curator = discover(path, budget=Budget(3.0, 1e-9), seed=5)
        curator.close()
        assert [column.grouped for column in found.columns] == [asked, False]
        made = bought_column(found.columns[0])
        assert ("confirm" in made.facts) == asked, "6.179 people were a real number from 0 to 1,100"
    assert (
        "confirm" not in bought_column(replace(found.columns[0], grouped=True), stated={"lower": 0, "upper": 1}).facts
    )
