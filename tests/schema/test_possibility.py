"""Whether any record can meet the rules."""

from __future__ import annotations

import itertools
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema import Boolean, Categorical, Integer, Real, Rule, Schema, SchemaError, Zeros
from counterfoil.schema.possibility import rarely_met, require_possible, rule_texts

NUMBERS = "abcdefghij"


def wide(*rules: str, kind: str = "integer") -> Schema:
    columns = [
        Integer(name, 0, 999) if kind == "integer" else Real(name, lower=0.0, upper=1.0, bins=32) for name in NUMBERS
    ]
    return Schema(tuple(columns), rules=tuple(Rule(text) for text in rules))


IN_ORDER = tuple(f"{one} < {other}" for one, other in itertools.pairwise(NUMBERS))


@pytest.mark.parametrize("kind", ["integer", "real"])
@pytest.mark.parametrize("rules", [(), ("a < b",), IN_ORDER, ("a + b < c", "c < d - e")])
def test_rules_that_some_record_meets_are_let_through(rules, kind):
    """Of uniform records one in 10! = 3.6 million has all ten columns in order: it takes repairs to find one."""
    require_possible(wide(*rules, kind=kind))


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        (("a < b", "b < c", "c < a"), "integer"),
        (("a + b < c", "a + b > c"), "integer"),
        (("a + b == c + 0.00001234",), "real"),
        ((*IN_ORDER, "j < a"), "real"),
    ],
)
def test_rules_that_no_record_meets_are_refused_by_name(rules, kind):
    schema = wide(*rules, kind=kind)
    with pytest.raises(SchemaError, match="Some record must meet all rules") as refusal:
        require_possible(schema)
    assert "; ".join(rules) in str(refusal.value)


def test_zeros_count_as_rules_do():
    columns = (Categorical("size", ("s", "m")), Boolean("member"))
    small = Zeros(("size", "member"), (("s", True), ("s", False)))
    require_possible(Schema(columns, zeros=(small,)))
    schema = Schema(columns, zeros=(small, Zeros(("size",), (("m",),))))
    with pytest.raises(SchemaError, match="zeros of size and member; zeros of size"):
        require_possible(schema)


@given(st.lists(st.tuples(st.sampled_from(["a + b", "a * c", "b - c", "c"]), st.integers(-3, 10)), max_size=5))
def test_the_answer_is_that_of_enumeration(facts):
    """Over 64 records, of which a thousand uniform ones leave out a given one with a chance of 1.5e-7."""
    columns = tuple(Integer(name, 0, 3) for name in "abc")
    terms = {"a + b": lambda a, b, c: a + b, "a * c": lambda a, b, c: a * c, "b - c": lambda a, b, c: b - c}
    terms["c"] = lambda a, b, c: c
    every = itertools.product(range(4), repeat=3)
    possible = any(all(terms[term](*record) >= bound for term, bound in facts) for record in every)
    with nullcontext() if possible else pytest.raises(SchemaError):
        # Rules on the same two columns are compared when the schema is made.
        require_possible(Schema(columns, rules=tuple(Rule(f"{term} >= {bound}") for term, bound in facts)))


def test_rules_that_are_rarely_met_are_told():
    rare = wide("a + b + c == d + e", "2 * f == g + h")  # about one uniform record in four million
    for zeros_followed in (True, False):
        sentence = rarely_met(rare, zeros_followed=zeros_followed)
        assert sentence is not None
        assert "None of 100,000 records" in sentence
        assert rule_texts(rare) in sentence
        assert rarely_met(wide("a + b == c"), zeros_followed=zeros_followed) is None  # one in two thousand
        assert rarely_met(wide(), zeros_followed=zeros_followed) is None


def test_rules_that_the_model_follows_by_itself_are_no_reason_to_warn():
    assert rarely_met(wide(*IN_ORDER), zeros_followed=True) is None
    assert rarely_met(wide(*IN_ORDER), zeros_followed=False) is not None
