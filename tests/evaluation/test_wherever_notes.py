"""What is so wherever a third column has some values: what `check` says, and that schemas keep to what it advises."""

from __future__ import annotations

import tomllib
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil import Schema
from counterfoil.curator import raw_reading
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

CURRENCIES = ("CHF", "EUR", "USD")
HEAD = 'name = "bank"\n[columns.currency]\nkind = "categorical"\nvalues = ["CHF", "EUR", "USD"]\nmissing = true\n'
AMOUNT = '[columns.{}]\nkind = "real"\nlower = 0\nupper = 20000\ndecimals = 2\nmissing = true\n'
COUNT = '[columns.{}]\nkind = "integer"\nlower = 0\nupper = 50\nmissing = true\n'
DAY = '[columns.{}]\nkind = "date"\nlower = 2020-01-01\nupper = 2024-12-31\nmissing = true\n'
KINDS = {"real": AMOUNT, "integer": COUNT, "date": DAY}


def bank(kind: str = "real", rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """A column `other` that is `one` wherever the currency is CHF."""
    rng = np.random.default_rng(seed)
    currency = rng.choice(CURRENCIES, rows, p=[0.5, 0.3, 0.2])
    one = {
        "real": lambda: np.round(rng.lognormal(4, 1, rows), 2),
        "integer": lambda: rng.integers(0, 51, rows),
        "date": lambda: rng.integers(0, 1500, rows),
    }
    first, free = one[kind](), one[kind]()
    last = np.where(currency == "CHF", first, free)
    if kind == "date":
        first, last = (np.datetime64("2020-01-01") + days for days in (first, last))
    return pd.DataFrame({"currency": currency, "one": first, "other": last})


def schema(kind: str = "real", more: str = "") -> str:
    return HEAD + KINDS[kind].format("one") + KINDS[kind].format("other") + more


def noted(table: pd.DataFrame, text: str | Schema, *kinds: str) -> list[ColumnNote]:
    facts = text if isinstance(text, Schema) else Schema.from_toml(text)
    return [note for note in check_without_privacy(table, facts).notes if note.kind in (kinds or ("same", "wherever"))]


def pasted(text: str, note: ColumnNote) -> Schema:
    """The schema with the tables of a note in place of the column's own."""
    head, _, tail = text.partition(f"[columns.{note.column}]\n")
    return Schema.from_toml(head + tail[tail.find("[") :] * ("[" in tail.partition("\n\n")[0]) + note.toml)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_is_another_one_somewhere_is_said_with_the_tables_that_keep_to_it(kind: str) -> None:
    (note,) = noted(bank(kind), schema(kind))
    assert (note.kind, note.column, note.source, note.gate) == ("same", "other", "one", "currency")
    assert "it is the same as one wherever `currency == 'CHF'`" in note.text
    tables = tomllib.loads(note.toml)
    assert tables["rules"] == [{"if": "currency == 'CHF'", "then": "one_to_other == 0"}]
    assert tables["derived"][0]["expression"] == "one + one_to_other"
    length = tables["columns"]["one_to_other"]
    widest = {"real": 20000, "integer": 50, "date": (date(2024, 12, 31) - date(2020, 1, 1)).days}[kind]
    assert (length["lower"], length["upper"], length["missing"]) == (-widest, widest, True)


@pytest.mark.parametrize("kind", KINDS)
def test_no_record_breaks_what_is_advised_with_missing_and_clamped_cells(kind: str) -> None:
    table = bank(kind).astype(object)
    table.loc[10:40, "one"] = None
    table.loc[30:70, "other"] = None
    table.loc[60:90, "currency"] = None
    beyond = date(2031, 1, 1) if kind == "date" else 99_999
    table.loc[table.index[table["currency"] == "CHF"][[0, 80]], ["one", "other"]] = beyond
    (note,) = noted(table.convert_dtypes(), schema(kind))
    report = check_without_privacy(table.convert_dtypes(), pasted(schema(kind), note))
    assert [fact.count for fact in report.facts if fact.kind == "rule"] == [0]
    assert [fact.problem for fact in report.facts] == ["", ""]
    assert [one for one in report.notes if one.kind in ("same", "order")] == []
    lost = int((table["one"].isna() & table["other"].notna()).sum())
    other = int((table["other"].isna() & table["one"].notna()).sum())
    assert f"is ({min(lost, other):,} records more)" in note.text


def test_the_column_that_a_rule_names_is_kept_and_the_other_one_is_derived() -> None:
    text = schema("integer", '[[rules]]\nrequire = "other <= 50"\n')
    (note,) = noted(bank("integer"), text)
    assert (note.column, note.source) == ("one", "other")
    assert tomllib.loads(note.toml)["derived"][0]["expression"] == "other - one_to_other"
    both = text + '[[rules]]\nrequire = "one >= 0"\n'
    (note,) = noted(bank("integer"), both)
    assert note.toml == ""
    assert "have what lies between" not in note.text


def test_an_order_of_the_two_is_a_bound_of_what_lies_between_them_and_no_rule() -> None:
    table = bank("date")
    table["other"] = table[["one", "other"]].max(axis=1)
    (note,) = noted(table, schema("date"), "same", "order")
    assert tomllib.loads(note.toml)["columns"]["one_to_other"]["lower"] == 0
    assert "(`lower = 0` as it is below one in no record" in note.text
    table["other"] = np.where(table["currency"] == "CHF", table["one"], table["one"] - np.timedelta64(3, "D"))
    (note,) = noted(table, schema("date"), "same", "order")
    assert tomllib.loads(note.toml)["columns"]["one_to_other"]["upper"] == 0


@pytest.mark.parametrize("place", [0, 1500, 2999])
def test_one_record_that_is_otherwise_ends_the_note(place: int) -> None:
    table = bank()
    table.loc[place, ["currency", "one", "other"]] = ["CHF", 5.0, 6.0]
    assert noted(table, schema()) == []


def test_zeros_in_both_columns_are_no_relation() -> None:
    rng = np.random.default_rng(0)
    currency = rng.choice(CURRENCIES, 3000)
    amounts = np.where(rng.random((2, 3000)) < 0.5, 0, rng.integers(1, 50, (2, 3000)))
    amounts[:, currency == "CHF"] = 0
    table = pd.DataFrame({"currency": currency, "one": amounts[0], "other": amounts[1]})
    assert {note.kind for note in noted(table, schema("integer"))} == {"wherever"}


WRITTEN = {
    "decimal comma": (
        {"decimal_char": ","},
        "real",
        lambda numbers: [f"{one:.2f}".replace(".", ",") for one in numbers],
        "lower = 0\nupper = 99999\ndecimals = 2",
    ),
    "a grid": ({}, "real", lambda numbers: (numbers * 20).round() / 20, "lower = 0.0\nupper = 99999.0\nstep = 0.05"),
    "zeros": (
        {},
        "integer",
        lambda numbers: [f"{int(one):05d}" for one in numbers],
        "lower = 0\nupper = 99999\ndigits = 5",
    ),
    "words": (
        {},
        "integer",
        lambda numbers: np.where(numbers < 20, "none", numbers.astype(int).astype(str)),
        'lower = 0\nupper = 99999\nmissing = true\nmissing_values = ["none"]',
    ),
    "days": (
        {},
        "date",
        lambda numbers: (np.datetime64("2000-01-01") + numbers.astype(int)).astype(object),
        'lower = 2000-01-01\nupper = 2299-12-31\nformat = "%d.%m.%Y"\nmissing = true',
    ),
    "a unit": (
        {},
        "integer",
        lambda numbers: [f"{int(one)} kg" for one in numbers],
        'lower = 0\nupper = 99999\nunit = "kg"',
    ),
}


@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.parametrize("names", [("one", "other"), ("the first", "class"), ("größe", "O'Hara")])
def test_the_tables_are_read_whatever_the_columns_are_called_and_however_they_are_written(
    way: str, names: tuple[str, str], tmp_path
) -> None:
    top, kind, write, facts = WRITTEN[way]
    table = bank()
    for own, name in zip(("one", "other"), names, strict=True):
        cells = write(table.pop(own).to_numpy())
        table[name] = [one.strftime("%d.%m.%Y") for one in cells] if kind == "date" else cells
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")
    head = "".join(f'{key} = "{value}"\n' for key, value in top.items()) + HEAD
    own = {name: f'[columns."{name}"]\nkind = "{kind}"\n{facts}\n' for name in names}
    (tmp_path / "s.toml").write_text(head + "".join(own.values()))
    notes = check_without_privacy(tmp_path / "t.csv", tmp_path / "s.toml").notes
    (note,) = [one for one in notes if one.kind == "same"]
    if way == "a unit":
        assert note.toml == ""
        return
    (tmp_path / "s.toml").write_text(head + own[note.source] + note.toml)
    report = check_without_privacy(tmp_path / "t.csv", tmp_path / "s.toml")
    lost = int(note.text.split(" is (")[1].split()[0]) if way == "words" else 0
    assert [(fact.kind, fact.count, fact.problem) for fact in report.facts] == [("rule", 0, ""), ("derived", lost, "")]
    assert all(column.holds for column in report.columns)
    assert not [one for one in report.notes if one.kind == "notation"]


def test_the_note_fits_its_lines_and_leaves_tables_as_they_are() -> None:
    report = str(check_without_privacy(bank(), Schema.from_toml(schema())))
    assert max(map(len, report.splitlines())) <= 80
    assert '    between = ["one", "other"]\n' in report


def test_a_copy_keeps_to_what_is_advised_and_to_the_shares() -> None:
    import counterfoil

    (note,) = noted(bank(), schema())
    facts = pasted(schema(), note)
    copy = counterfoil.synthesize(bank(), facts, epsilon=10, method="mst", seed=0).to_pandas()
    francs = copy[copy["currency"] == "CHF"].dropna()
    assert (francs["one"] == francs["other"]).all()
    assert 0.4 < len(francs) / len(copy) < 0.6, "by drawing rows again a hundredth was left"


PLACES = ("Basel", "Bern", "Genf", "Zug")


def orders(rows: int = 3000, shared: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    pickup = rng.choice(["no", "yes"], rows)
    bill, ship = (rng.choice(PLACES[:shared], rows) for _ in range(2))
    return pd.DataFrame({"pickup": pickup, "bill": bill, "ship": np.where(pickup == "no", bill, ship)})


def places(first: tuple[str, ...] = PLACES, *, other: bool = False) -> Schema:
    bill, ship = Categorical("bill", first, other=other), Categorical("ship", PLACES[::-1], other=other)
    return Schema((Categorical("pickup", ("no", "yes")), bill, ship))


def test_categories_that_are_the_same_somewhere_are_said_with_what_helps() -> None:
    (note,) = noted(orders(), places())
    assert (note.kind, note.column, note.source, note.gate, note.toml) == ("same", "ship", "bill", "pickup", "")
    assert 'write a word of its own, such as "same", in place of what bill says' in note.text
    table = orders()
    table["ship"] = np.where(table["pickup"] == "no", "same", table["ship"])
    said = Schema((*places().columns[:2], Categorical("ship", (*PLACES, "same"))))
    (skipped,) = noted(table, said, "same", "wherever", "skipped")
    assert "then = \"ship == 'same'\"" in skipped.text


def test_other_is_not_known_to_be_the_same_and_missing_cells_say_nothing() -> None:
    assert noted(orders(), places(PLACES[:3], other=True)) == []
    table = orders()
    table.loc[::9, "ship"] = None
    facts = Schema((*places().columns[:2], Categorical("ship", PLACES, missing=True)))
    assert len(noted(table, facts)) == 1
    assert (
        noted(
            orders(shared=2), Schema((places().columns[0], *(Categorical(one, PLACES[:2]) for one in ("bill", "ship"))))
        )
        == []
    )


SHOP = Schema(
    (
        Categorical("customer", ("retail", "trade", "staff"), missing=True),
        Real("discount", 0, 50, missing=True),
        Categorical("terms", ("cash", "30 days", "60 days")),
        Integer("age", 0, 99),
        Categorical("licence", ("none", "car", "lorry"), missing=True),
    )
)


def shop(rows: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    customer, age = rng.choice(["retail", "trade", "staff"], rows), rng.integers(0, 100, rows)
    discount = np.where(customer == "retail", 0, rng.choice([0, 2.5, 10], rows))
    terms = np.where(customer == "retail", "cash", rng.choice(["cash", "30 days", "60 days"], rows))
    licence = np.where(age < 18, "none", rng.choice(["none", "car", "lorry"], rows))
    return pd.DataFrame(
        {"customer": customer, "discount": discount, "terms": terms, "age": age, "licence": licence}, dtype=object
    )


def test_a_value_that_a_column_has_wherever_another_one_has_some_is_said_with_its_rule() -> None:
    found = {note.column: note.text for note in noted(shop(), SHOP)}
    assert set(found) == {"discount", "terms", "licence"}
    assert 'if = "customer == \'retail\'", then = "discount == 0"' in found["discount"]
    assert "it is \"cash\" wherever `customer == 'retail'`, and elsewhere not always" in found["terms"]
    assert 'if = "age < 18", then = "licence == \'none\'"' in found["licence"]


def test_the_rules_that_are_advised_are_broken_by_no_record_and_end_the_notes() -> None:
    table = shop()
    table.loc[10:40, "discount"] = None
    table.loc[30:50, "customer"] = None
    table.loc[table.index[table["customer"] == "trade"][:9], "discount"] = 77  # beyond the bounds
    table.loc[45:60, "licence"] = None
    notes = noted(table, SHOP)
    rules = [
        tomllib.loads(
            "\n".join(one.text.split("add the rule ")[1].rstrip(".").split(", then")).replace("\n =", "\nthen =")
        )
        for one in notes
    ]
    text = "".join(f'[[rules]]\nif = "{one["if"]}"\nthen = "{one["then"]}"\n' for one in rules)
    ruled = Schema.from_toml(SHOP.to_toml() + text)
    assert len(rules) == 3
    assert [fact.count for fact in check_without_privacy(table, ruled).facts] == [0, 0, 0]
    assert noted(table, ruled) == []


def test_a_clamped_cell_is_not_the_value_of_the_bound() -> None:
    table = shop()
    table.loc[table.index[table["customer"] == "retail"][5], "discount"] = -4
    assert "discount" not in {note.column for note in noted(table, SHOP)}


def test_of_two_columns_that_decide_about_each_other_one_is_said() -> None:
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 3000)
    pregnant = np.where((sex == "F") & (rng.random(3000) < 0.2), "yes", "no")
    facts = Schema((Categorical("sex", ("F", "M")), Categorical("pregnant", ("yes", "no"))))
    (note,) = noted(pd.DataFrame({"sex": sex, "pregnant": pregnant}), facts)
    assert "if = \"pregnant == 'yes'\", then = \"sex == 'F'\"" in note.text


def test_columns_that_follow_are_said_elsewhere() -> None:
    rng = np.random.default_rng(0)
    code = rng.choice(["a", "b", "c"], 3000)
    table = pd.DataFrame({"code": code, "group": np.where(code == "a", "x", "y")})
    facts = Schema((Categorical("code", ("a", "b", "c")), Categorical("group", ("x", "y"))))
    assert noted(table, facts) == []
    assert noted(table, facts, "follows")


@pytest.mark.parametrize("rows", [311, 1000])
@pytest.mark.parametrize("by", ["currency", "one"])
def test_a_table_that_is_sorted_by_what_decides_has_the_same_note(
    by: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_reading, "BATCH_ROWS", rows)
    for order in (True, False):
        (note,) = noted(bank().sort_values(by, ascending=order, ignore_index=True), schema())
        assert "`currency == 'CHF'`" in note.text


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(30, 2000), st.floats(0.02, 0.98), st.integers(2, 40))
def test_columns_that_are_independent_have_no_note(seed: int, rows: int, share: float, codes: int) -> None:
    """A false alarm has a probability of at most one in a million in each table, for any shares."""
    rng = np.random.default_rng(seed)
    letters = tuple(f"c{code}" for code in range(codes))
    weights = rng.dirichlet(np.full(codes, 0.5))
    table = pd.DataFrame(
        {
            "a": rng.choice(letters, rows, p=weights),
            "b": rng.choice(letters, rows),
            "truth": np.where(rng.random(rows) < share, "yes", "no"),
            "n": np.where(rng.random(rows) < share, 0, rng.integers(0, codes, rows)),
            "m": np.where(rng.random(rows) < share, 0, rng.integers(0, codes, rows)),
            "k": rng.integers(0, 3, rows),
            "l": rng.integers(0, 3, rows),
        }
    )
    facts = Schema(
        (
            *(Categorical(name, letters) for name in "ab"),
            Categorical("truth", ("yes", "no")),
            *(Integer(name, 0, 40) for name in "nmkl"),
        )
    )
    assert noted(table, facts) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 0, 1]), st.integers(1, 3), st.booleans())
def test_what_is_said_is_true_and_all_that_is_true_is_said(seed: int, broken: int, decide: int, constant: bool) -> None:
    """Against brute force, of codes of which each has enough records."""
    rng = np.random.default_rng(seed)
    gate = rng.integers(0, 5, 3000)
    one, free = rng.integers(0, 30, (2, 3000))
    other = np.where(gate < decide, 7 if constant else one, free)
    if broken:
        other[rng.integers(0, 3000)] += 1
    table = pd.DataFrame({"gate": np.array(list("abcde"))[gate], "one": one, "other": other})
    facts = Schema((Categorical("gate", tuple("abcde")), Integer("one", 0, 31), Integer("other", 0, 31)))
    holds = [code for code in range(5) if (other == (7 if constant else one))[gate == code].all()]
    notes = noted(table, facts)
    assert [note.kind for note in notes] == (["wherever" if constant else "same"] if holds else [])
    for note in notes:
        where = note.text.split("`")[1]
        said = {f"'{letter}'" in where for letter in "abcde"}
        assert said == {True, False}
        named = [code for code, letter in enumerate("abcde") if f"'{letter}'" in where]
        assert named == (sorted({*range(5)} - {*holds}) if "not in" in where or "!=" in where else holds)
