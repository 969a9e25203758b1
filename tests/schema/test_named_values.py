"""Numbers that rules and zeros name get codes of their own where nobody says where bins are, as days do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfoil as cf
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.schema import Integer, Real, Rule, Schema, Zeros
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.former_bins import in_bins_of, in_former_bins
from counterfoil.schema.shared_values import shared_values

X = '[columns.x]\nkind = "integer"\nlower = 0\nupper = 2\n'
WHOLE = X + '[columns.amount]\nkind = "integer"\nlower = 0\nupper = 100000\n'
REAL = X + '[columns.amount]\nkind = "real"\nlower = 0\nupper = 100000\n'


def ruled(text: str, *, condition: str = "x == 0") -> str:
    return f'[[rules]]\nif = "{condition}"\nthen = "{text}"\n'


@pytest.mark.parametrize(
    ("said", "labels"),
    [
        (ruled("amount == 5000"), ["5000"]),
        (ruled("amount == 5_000.0"), ["5000"]),
        (ruled("5000 == amount"), ["5000"]),
        (ruled("amount != 5000"), ["5000"]),
        (ruled("amount in [5000, 77777, -2, 200000]"), ["5000", "77777"]),
        (ruled("amount not in [5000]"), ["5000"]),
        (ruled("x == 0", condition="amount == 77777"), ["77777"]),
        (ruled("5000 <= amount < 77777"), ["5000", "77777"]),
        (ruled("amount <= 10 * 777"), ["7770"]),
        (ruled("amount < 5000.5"), ["5000"]),
        ('[[zeros]]\ncolumns = ["x", "amount"]\nvalues = [[0, 5000]]\n', ["5000"]),
    ],
)
def test_whole_numbers_that_rules_and_zeros_name_divide_their_cells(said: str, labels: list[str]) -> None:
    """They were lost among the numbers of their cell, and zeros refused."""
    plain, schema = Schema.from_toml(WHOLE)["amount"], Schema.from_toml(WHOLE + said)
    assert set(labels) <= set(schema["amount"].labels)
    assert set(labels).isdisjoint(plain.labels)
    assert schema["amount"].n_bins <= plain.n_bins + 2 * len(labels)
    assert not schema.row_rules
    assert not shared_values(schema)
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_release(schema.to_toml()) == schema
    assert Schema.from_toml(schema.to_toml()).to_toml() == schema.to_toml()


@pytest.mark.parametrize(
    "said",
    [
        ruled("amount >= 0"),
        ruled("amount < 100000"),
        ruled("amount == 0 or amount == 100000"),
        ruled("amount >= x + 5000"),
        ruled("amount - 5000 == 0"),
        ruled("amount == 200000", condition="x == 7"),
        ruled("amount < 1e999"),
    ],
)
def test_what_has_a_code_already_or_is_no_value_of_the_column_changes_nothing(said: str) -> None:
    schema = Schema.from_toml(WHOLE + said)
    assert schema["amount"] == Schema.from_toml(WHOLE)["amount"]
    assert "points" not in schema.to_toml()


def test_columns_whose_bins_are_stated_keep_them_and_the_loss_is_said() -> None:
    for key in ("bins = 50", "edges = [0, 4000, 9000]"):
        declared = WHOLE.replace("upper = 100000", f"upper = 100000\n{key}") + ruled("amount in [5000, 77777]")
        schema = Schema.from_toml(declared)
        assert not schema["amount"].points
        (loss,) = shared_values(schema)
        assert (loss.column, loss.count) == ("amount", 2)
        assert loss.text.endswith("Give them bins of their own: `points = [5000, 77777]`.")
        remedy = Schema.from_toml(declared.replace(key, f"{key}\npoints = [5000, 77777]"))
        assert {"5000", "77777"} <= set(remedy["amount"].labels)
        assert not remedy.row_rules
        assert not shared_values(remedy)
    bordered = WHOLE.replace("upper = 100000", "upper = 100000\nbins = 50") + ruled("amount < 5000")
    assert not shared_values(Schema.from_toml(bordered))
    few = X + '[columns.amount]\nkind = "integer"\nlower = 0\nupper = 900\n' + ruled("amount == 500")
    assert not shared_values(Schema.from_toml(few))
    assert not Schema.from_toml(few)["amount"].points


def test_the_loss_is_said_of_reals_and_dates_too() -> None:
    priced = REAL.replace("upper = 100000", "upper = 100000\ndecimals = 2\nbins = 50")
    (loss,) = shared_values(Schema.from_toml(priced + ruled("amount == 649.9") + ruled("amount == 1.005")))
    assert loss.text.endswith("Give it a bin of its own: `points = [649.9]`.")
    born = X + '[columns.born]\nkind = "date"\nlower = 1950-01-01\nupper = 2010-12-31\nresolution = "1y"\n'
    (loss,) = shared_values(Schema.from_toml(born + ruled("born == '2000-05-17'")))
    assert loss.text.endswith("Give it a bin of its own: `points = [2000-05-17]`.")
    many = ", ".join(str(1000 * i) for i in range(1, 12))
    (loss,) = shared_values(
        Schema.from_toml(WHOLE.replace("upper = 100000", "upper = 100000\nbins = 9") + ruled(f"amount in [{many}]"))
    )
    assert loss.count == 11
    assert loss.text.endswith("8000, ...]`.")


def test_the_loss_is_said_before_anything_is_charged_and_on_the_receipt() -> None:
    schema = Schema.from_toml(WHOLE.replace("upper = 100000", "upper = 100000\nbins = 50") + ruled("amount == 5000"))
    with pytest.warns(SchemaWarning, match="rules name 5000, which shares a bin"):
        made = cf.synthesize(people(), schema, epsilon=1.0, method="independent", seed=1, check_schema=0)
    assert any("rules name 5000" in line for line in made.receipt.document["warnings"])


def test_points_of_whole_numbers() -> None:
    column = Integer("n", 0, 5000, 10, bins=3, points=(2000, 5000))
    assert column.labels == ("0..1660", "1670..1990", "2000", "2010..3330", "3340..4990", "5000")
    assert Schema.from_toml(Schema((column,)).to_toml()) == Schema((column,))
    for points, message in (((5001,), "lie between"), ((20, 20), "differ"), ((15,), "on the grid of `step`; found 15")):
        with pytest.raises(SchemaError, match=message):
            Integer("n", 0, 5000, 10, points=points)


@pytest.mark.parametrize(
    ("keys", "said", "points"),
    [
        ("", "amount == 649.9", (649.9,)),
        ("decimals = 2", "amount == 649.9", (649.9,)),
        ("decimals = 2", "amount in [649.9, 0.005, 100000, 0, -3]", (649.9,)),
        ("decimals = 0", "amount < 5000.5", ()),
        ("step = 0.1", "amount == 649.9", (649.9,)),
        ("step = 0.1", "amount < 649.96", (649.9,)),
        ('scale = "linear"', "amount != 649.9", (649.9,)),
        ("points = [12.5]", "amount in [12.5, 13.5]", (12.5, 13.5)),
        ("resolution = 100", "amount == 649.9", ()),
    ],
)
def test_reals_that_rules_name_are_points(keys: str, said: str, points: tuple[float, ...]) -> None:
    schema = Schema.from_toml(REAL.replace("upper = 100000", f"upper = 100000\n{keys}") + ruled(said))
    column = schema["amount"]
    assert isinstance(column, Real)
    assert column.points == points
    assert Schema.from_toml(schema.to_toml()) == schema == Schema.from_release(schema.to_toml())


def test_a_bin_of_decimals_keeps_a_number_that_is_no_point() -> None:
    column = Schema((Real("r", 0.0, 1.0, decimals=2),), (Rule("r not in [0.02, 0.03, 0.5, 0.51, 0.52]"),))["r"]
    codes = np.arange(column.n_bins)
    assert np.array_equal(column.encode(column.decode(codes, np.random.default_rng(0))), codes)


@st.composite
def ruled_columns(draw: st.DrawFn) -> tuple[Schema, list[float]]:
    """A wide column, and a rule that names numbers of its grid."""
    lower = draw(st.integers(-(10**6), 10**6))
    step = draw(st.sampled_from([1, 1, 5]))
    upper = lower + step * draw(st.integers(1, 40_000))
    places = draw(st.lists(st.integers(lower, upper), min_size=1, max_size=5))
    numbers: list[float] = [place - (place - lower) % step for place in places]
    scale = draw(st.sampled_from(["", "log", "linear"]))
    kind = draw(st.sampled_from(["integer", "decimals", "step", "plain"]))
    column: Integer | Real
    if kind == "integer":
        column = Integer("c", lower, upper, step, scale=scale, missing=draw(st.booleans()))
    else:
        numbers = [number / 100 for number in numbers]
        digits = 2 if kind == "decimals" else None
        by = step / 100 if kind == "step" else 0.0
        column = Real("c", lower / 100, upper / 100, scale=scale, decimals=digits, step=by)
    listed = ", ".join(map(str, numbers))
    said = draw(st.sampled_from([f"c in [{listed}]", f"c not in [{listed}]"]))
    return Schema((Integer("x", 0, 2), column), (Rule(said, "x == 0"),)), numbers


@given(ruled_columns(), st.integers(0, 2**32))
def test_named_numbers_have_codes_of_their_own(made: tuple[Schema, list[float]], seed: int) -> None:
    schema, numbers = made
    column, rng = schema["c"], np.random.default_rng(seed)
    assert not shared_values(schema)
    codes = rng.permutation(np.repeat(np.arange(column.size), 2))
    assert np.array_equal(column.encode(column.decode(codes, rng)), codes)
    kind = pa.int64() if isinstance(column, Integer) else pa.float64()
    own = column.encode(pa.array(numbers, kind))
    lows, highs = column.ranges
    assert lows[own].tolist() == highs[own].tolist() == numbers
    zeros = schema.structural_zeros.get(("x", "c"), np.zeros((3, column.size), dtype=bool))
    barred = zeros[0][: column.n_bins]
    named = np.isin(np.arange(column.n_bins), own)
    if "not in" in schema.rules[0].then:
        assert np.array_equal(barred, named)
    elif isinstance(column, Integer) or column.step:
        assert np.array_equal(barred, ~named)
    else:  # a bin that a point lies in spans it, so that its rows are looked at one by one
        assert not barred[named].any()
    assert Schema.from_toml(schema.to_toml()).to_toml() == schema.to_toml()


def people(amount: float = 5000) -> pa.Table:
    rng = np.random.default_rng(1)
    x = rng.choice(3, 3000, p=[0.32, 0.4, 0.28])
    others = rng.integers(0, 100_000, 3000)
    return pa.table({"x": x, "amount": np.where(x == 0, amount, others)})


@pytest.mark.parametrize("method", ["mst", "independent"])
@pytest.mark.parametrize(
    ("text", "said", "amount"),
    [
        (WHOLE, ruled("amount == 5000"), 5000),
        (WHOLE, ruled("amount <= 5000"), 5000),
        (WHOLE.replace("upper = 100000", "upper = 100000\nbins = 100\npoints = [5000]"), ruled("amount == 5000"), 5000),
        (REAL.replace("upper = 100000", "upper = 100000\ndecimals = 2"), ruled("amount in [649.9, 3]"), 649.9),
        (REAL.replace("upper = 100000", "upper = 100000\nstep = 0.1"), ruled("amount == 649.9"), 649.9),
    ],
)
def test_rows_that_a_rule_is_about_come_back(method: str, text: str, said: str, amount: float) -> None:
    """A share of .002 came back of .32."""
    table = people(amount)
    made = cf.synthesize(table, Schema.from_toml(text + said), epsilon=50.0, method=method, seed=3, check_schema=0)
    x, drawn = (made.to_arrow().column(name).to_numpy() for name in ("x", "amount"))
    assert np.mean(drawn[x == 0] == amount) > (0.5 if "<=" in said else 0.999)
    if method == "mst":  # the other method knows of no relation but by the rule
        assert abs(np.mean(x == 0) - np.mean(table["x"].to_numpy() == 0)) < 0.01


@pytest.mark.parametrize(
    ("text", "said", "n_bins"),
    [
        (WHOLE, ruled("amount == 5000"), 98),
        (REAL, ruled("amount == 5000"), 98),
        (REAL.replace("upper = 1", "points = [3.5]\nupper = 1"), ruled("amount == 5000"), 99),
    ],
)
def test_releases_of_versions_that_knew_no_such_points_are_read_as_they_were_meant(
    text: str, said: str, n_bins: int
) -> None:
    before, now = Schema.from_release(text + said), Schema.from_toml(text + said)
    assert before["amount"].n_bins == n_bins < now["amount"].n_bins
    assert before != now
    assert in_former_bins(now).to_toml() == before.to_toml()
    codes = np.column_stack([np.zeros(n_bins, int), np.arange(n_bins)])
    moved = in_bins_of(now, codes, before, np.random.default_rng(0))
    lows, highs = before["amount"].ranges
    assert (now["amount"].ranges[0][moved[:, 1]] >= lows).all()
    assert (now["amount"].ranges[1][moved[:, 1]] <= highs).all()
    assert not moved[:, 0].any()


def test_zeros_in_python_name_numbers_too() -> None:
    schema = Schema((Integer("n", 0, 10**6), Integer("x", 0, 1)), zeros=(Zeros(("n", "x"), ((5000, 1),)),))
    assert schema["n"].points == (5000,)
    assert schema.structural_zeros["n", "x"].sum() == 1
