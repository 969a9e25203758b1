"""Rules that leave noise on one side alone move means and differences of columns, and the receipt says how far."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

from counterfoil import Schema, synthesize
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.schema.rules import BoundRule, Rule
from counterfoil.synthesis.one_sided_noise import noisy_mean, one_sided_noise
from counterfoil.synthesis.redrawn_rows import TriedRows

DATES = "".join(
    f'[columns.{name}]\nkind = "date"\nlower = 2010-01-01\nupper = 2030-12-31\n' for name in ("admitted", "discharged")
)
RULE = '[[rules]]\nrequire = "admitted <= discharged"\n'
FINE = DATES.replace("2030-12-31", '2025-12-31\nresolution = "1d"')


def stays(rows: int, days: int) -> pa.Table:
    """Stays of `days` days, and up to as many more."""
    rng = np.random.default_rng(1)
    first = [date(2015, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 2500, rows)]
    last = [
        day + timedelta(days=days + int(more)) for day, more in zip(first, rng.integers(0, days, rows), strict=True)
    ]
    return pa.table({"admitted": first, "discharged": last})


def said(table: pa.Table, schema: str, epsilon: float, method: str = "mst") -> tuple[str, float]:
    """The warnings on rules, and how many days the means of the rows are farther apart than those of the table."""
    made = synthesize(table, Schema.from_toml(schema), epsilon=epsilon, delta=1e-9, method=method, seed=1)
    first, last = (made.to_pandas()[name].astype("datetime64[s]") for name in table.column_names)
    real = [table.to_pandas()[name].astype("datetime64[s]") for name in table.column_names]
    apart = (last.mean() - first.mean()) - (real[1].mean() - real[0].mean())
    words = ("Rules moved", "Differences", "were drawn again")
    lines = [line for line in made.receipt.document["warnings"] if any(word in line for word in words)]
    return " ".join(lines), apart.days


@pytest.mark.parametrize("method", ["mst", "aim", "independent"])
def test_dates_that_noise_pulls_apart_are_said_to_be_unreliable(method):
    lines, apart = said(stays(4000, 5), DATES + RULE, 1.0, method)
    assert apart > 80
    assert "Differences between admitted and discharged are unreliable." in lines
    assert "Rules moved means away from what the counts of each column say by themselves: that of " in lines
    assert 'count the days between them: a column with `between = ["admitted", "discharged"]`' in lines
    assert "three columns" not in lines


def test_nothing_is_said_without_the_rule_or_of_differences_that_noise_is_small_against():
    assert said(stays(4000, 5), DATES, 1.0)[0] == ""
    lines, apart = said(stays(20_000, 900), DATES + RULE, 10.0)
    assert abs(apart) < 60
    assert lines == ""


def test_columns_that_redrawing_moved_are_named_with_the_size_in_their_units():
    lines, apart = said(stays(2000, 5), FINE + RULE, 1.0)
    assert apart > 800
    assert "That moved the mean of admitted by -" in lines
    assert "the mean of discharged by " in lines
    assert "too many cells together" in lines
    assert "three columns" not in lines


def test_small_shares_of_redrawn_rows_are_said_where_they_move_a_column():
    """A twentieth of the rows have all of the large numbers, and most of these break a rule on three columns."""
    rng = np.random.default_rng(1)
    z = np.where(rng.random(4000) < 0.05, 900, rng.integers(0, 10, 4000))
    one, two = rng.integers(0, 2, (2, 4000))
    large = z == 900
    one[large] = two[large] = 1
    table = pa.table({"one": one, "two": two, "z": z})
    columns = "".join(f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 1\n' for name in ("one", "two"))
    columns += '[columns.z]\nkind = "integer"\nlower = 0\nupper = 999\n'
    rule = '[[rules]]\nrequire = "one + two >= (z - 10) / 450"\n'
    schema = Schema.from_toml(columns + rule)
    made = synthesize(table, schema, epsilon=20.0, delta=0.0, method="independent", seed=1)
    (line,) = [line for line in made.receipt.document["warnings"] if "were drawn again" in line]
    assert int(line.split("%")[0].removeprefix("About ")) < 10
    assert "the mean of z by -" in line
    assert "the mean of one" not in line
    assert "rules on two columns in place of three" in line


def test_the_mean_of_noisy_counts_has_the_error_of_its_noise():
    column = Schema.from_toml(DATES)["admitted"]
    counts = np.full(column.size, 50.0)
    found = [
        noisy_mean(column, NoisyMarginal(("admitted",), counts + noise, 10.0))
        for noise in 10 * np.random.default_rng(0).standard_normal((400, column.size))
    ]
    # The standard error of a deviation from 400 values is a 28th of it; 4 of them.
    assert np.std([one.value for one in found]) == pytest.approx(np.mean([one.error for one in found]), rel=0.15)
    assert noisy_mean(column, NoisyMarginal(("admitted",), counts * 0, 10.0)) is None


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("admitted <= discharged", True),
        ("not discharged < admitted", True),
        ("'2012-01-01' < admitted < discharged", True),
        ("admitted == discharged", False),
        ("admitted < '2020-01-01' or discharged > '2020-01-01'", False),
        ("admitted is missing or discharged is not missing", False),
    ],
)
def test_rules_that_order_columns_are_told_from_others(text, orders):
    columns = {column.name: column for column in Schema.from_toml(DATES).synthesized}
    assert BoundRule(Rule(text), columns).orders_columns == orders


def test_smoothed_counts_that_agree_with_the_rows_leave_nothing_to_say():
    """Noise in the empty tail of a skewed column leaves its raw mean in doubt, while smoothed counts know it."""
    schema = Schema.from_toml(DATES + RULE)
    table = stays(4000, 400)
    days = {name: schema[name].numbers(table.column(name)) for name in table.column_names}
    rows = {name: np.bincount(schema[name].encode(table.column(name)), minlength=86).astype(float) for name in days}
    noisy = {name: NoisyMarginal((name,), counts + 1e-6, 60.0) for name, counts in rows.items()}
    tried = TriedRows(schema, table, np.ones(table.num_rows, dtype=bool))
    (line,) = one_sided_noise(tried, noisy, {})
    assert f"Their means are {np.mean(days['discharged'] - days['admitted']):.0f} days apart among these rows; " in line
    assert one_sided_noise(tried, noisy, rows) == []
    precise = {name: NoisyMarginal((name,), counts, 1e-3) for name, counts in rows.items()}
    assert one_sided_noise(tried, precise, {}) == []
    same = dict.fromkeys(rows, rows["admitted"])
    assert "and 0 days by the counts of each column alone; " in one_sided_noise(tried, noisy, same)[-1]
    # However small the noise, what contradicts the rows is said.
    assert "and 0 days by the counts of each column alone; " in one_sided_noise(tried, precise, same)[-1]


@pytest.mark.parametrize("kind", ["date", "datetime"])
def test_noise_that_hides_whole_columns_leaves_all_differences_in_doubt(kind):
    """Where noise is largest, no mean of noisy counts is known, and nothing was said."""
    schema = Schema.from_toml(
        (DATES.replace("2030-12-31", '2030-12-31\nresolution = "3mo"') + RULE).replace("date", kind)
    )
    table = stays(4000, 400)
    rows = {
        name: np.bincount(schema[name].encode(table.column(name)), minlength=86).astype(float)
        for name in ("admitted", "discharged")
    }
    hidden = {name: NoisyMarginal((name,), counts, 600.0) for name, counts in rows.items()}
    assert noisy_mean(schema["admitted"], hidden["admitted"]) is None
    tried = TriedRows(schema, table, np.ones(table.num_rows, dtype=bool))
    (line,) = one_sided_noise(tried, hidden, {})
    assert "; noise and the width of bins leave all of that in doubt, and `admitted <= discharged` leaves" in line
    # Rules compare days between dates with a number, and have no arithmetic on moments.
    assert ("a rule that bounds discharged - admitted" in line) == (kind == "date")
    *moved, line = one_sided_noise(tried, hidden, dict.fromkeys(rows, rows["admitted"]))
    assert ["that of discharged by " in one for one in moved] == [True]
    assert "and 0 days by the counts of each column alone; " in line
    assert one_sided_noise(tried, hidden, rows) == []
    assert one_sided_noise(tried, hidden, {name: counts * 0 for name, counts in rows.items()}) != []


def test_a_bound_on_stays_keeps_differences_near_and_conditions_take_it():
    bound = '[[rules]]\nrequire = "discharged - admitted <= 60"\n'
    table = stays(4000, 5)
    made = synthesize(
        table, Schema.from_toml(DATES + RULE + bound), epsilon=1.0, delta=1e-9, method="mst", rows=500, seed=1
    )
    for rows, most in ((made.to_arrow(), 60), (made.sample(50, "discharged - admitted < 30", seed=1), 29)):
        first, last = (rows.column(name).to_pylist() for name in table.column_names)
        days = [(b - a).days for a, b in zip(first, last, strict=True)]
        assert min(days) >= 0
        assert max(days) <= most


def test_agreement_of_counts_that_noise_hides_is_chance():
    """Stays of 5 days came back as 45 under a bound of 90, and smoothed counts happened to be as far apart."""
    schema = Schema.from_toml(DATES + RULE)
    table = stays(4000, 30)
    rows = {
        name: np.bincount(schema[name].encode(table.column(name)), minlength=86).astype(float)
        for name in table.column_names
    }
    tried = TriedRows(schema, table, np.ones(table.num_rows, dtype=bool))
    noisy = {name: NoisyMarginal((name,), counts, 60.0) for name, counts in rows.items()}
    (line,) = one_sided_noise(tried, noisy, rows)
    assert line.startswith("Differences between admitted and discharged are unreliable.")
    precise = {name: NoisyMarginal((name,), counts, 0.5) for name, counts in rows.items()}
    assert one_sided_noise(tried, precise, rows) == []
