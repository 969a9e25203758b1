"""What a schema cost: read, kept through round trips, and refused where it can't be understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation, PrivacyUnit
from counterfoil.schema import Schema, SchemaError
from counterfoil.schema.bought import Bought

COLUMN = '\n[columns.a]\nkind = "boolean"\n'
LINE = f'bought = {{ epsilon = 0.1, delta = 1e-9, relation = "add_or_remove_one", receipt = "{"ab" * 32}" }}\n'

boughts = st.builds(
    Bought,
    st.floats(1e-6, 1e9),
    st.just(0.0) | st.floats(1e-200, 0.999),
    st.sampled_from([relation.value for relation in NeighboringRelation]),
    st.text("0123456789abcdef", min_size=64, max_size=64),
    st.none() | st.builds(PrivacyUnit, st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 10**9)),
)


@given(boughts)
def test_it_is_kept_through_every_round_trip(bought: Bought) -> None:
    plain = Schema.from_toml(COLUMN)
    schema = Schema(plain.columns, bought=bought)
    assert schema != plain
    for read in (Schema.from_toml, Schema.from_release):
        assert read(schema.to_toml()) == schema
    assert schema.resolved(["a"]).bought == bought
    assert Bought.of_facts(bought.facts()) == bought


def test_a_schema_that_was_not_bought_is_written_as_before() -> None:
    plain = Schema.from_toml(COLUMN)
    assert plain.bought is None
    assert "bought" not in plain.to_toml()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("epsilon = 0.1", "epsilon = 0", "`epsilon` must be positive"),
        ("epsilon = 0.1, ", "", "`epsilon` must be a number"),
        ("epsilon = 0.1", 'epsilon = "1"', "`epsilon` must be a number"),
        ("delta = 1e-9", "delta = 1", "below 1"),
        ("delta = 1e-9", "delta = true", "`delta` must be a number"),
        ('"add_or_remove_one"', '"add"', "add_or_remove_one or replace_one"),
        ('"add_or_remove_one"', "1", "`relation` must be a text"),
        ("abab", "AB", "64 hexadecimal digits"),
        (" }", ", epsilom = 1 }", "Did you mean 'epsilon'"),
        (" }", ", max_rows = 1 }", "go together"),
        (" }", ', privacy_unit = "id", max_rows = 0 }', "`max_rows` must be a whole number"),
        ("bought = {", 'bought = "x" # {', "must be a table"),
    ],
)
def test_what_is_wrong_with_it_is_said(before: str, after: str, said: str) -> None:
    assert Schema.from_toml(LINE + COLUMN).bought is not None
    broken = LINE.replace(before, after, 1)
    assert broken != LINE
    with pytest.raises(SchemaError, match=said) as raised:
        Schema.from_toml(broken + COLUMN)
    assert "bought" in str(raised.value)
