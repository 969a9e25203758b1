"""Criteria of acceptance: what a file may say, in which words it is refused, and what a bound compares."""

from __future__ import annotations

import math
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.receipt.acceptance_bounds import MEASURE_OF, Bound
from counterfoil.receipt.acceptance_criteria import DEFAULT_SHARE, LONGEST, read_criteria
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.schema.toml_text import toml_table

ALL = """\
share = 0.1
[[bound]]
measure = "pairs"
at_most = 0.1
confidence = 0.95
[[bound]]
pair = ["age", "income"]
at_most = 0.15
[[bound]]
model = "income"
accuracy_at_least = 0.8
[[bound]]
column = "age"
w1_at_most = 2.5
"""


def test_a_file_says_what_is_bounded():
    criteria = read_criteria(ALL)
    assert criteria.share == 0.1
    assert criteria.bounds == (
        Bound("pairs", 0.1, (), 0.95),
        Bound("pair", 0.15, ("age", "income")),
        Bound("accuracy", 0.8, ("income",)),
        Bound("w1", 2.5, ("age",)),
    )
    assert read_criteria('[[bound]]\nmeasure = "pairs"\nat_most = 1').share == DEFAULT_SHARE
    assert criteria.sha256 != read_criteria(ALL + "\n").sha256


def test_limits_of_one_measure_share_its_answer():
    text = '[[bound]]\npair = ["a", "b"]\nat_most = 1\n[[bound]]\npair = ["b", "a"]\nat_most = 2\nconfidence = 0.9\n'
    criteria = read_criteria(text)
    assert len(criteria.bounds) == 2
    assert len(criteria.questions) == 1
    assert [criteria.place(bound) for bound in criteria.bounds] == [0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one. Found none"),
        ("bound = []", "at least one. Found none"),
        ("bound = 3", "at least one. Found none"),
        ("[[bound", "must be TOML"),
        ("[[bonud]]\nat_most = 1", "'bonud'. Did you mean 'bound'?"),
        ("share = 1\n" + ALL.partition("\n")[2], "`share` must be above 0 and below 1"),
        ("share = true\n" + ALL.partition("\n")[2], "`share` must be above 0 and below 1"),
        ('[[bound]]\nmesure = "pairs"\nat_most = 1', "'mesure'. Did you mean 'measure'?"),
        ('[[bound]]\nmeasure = "pair"\nat_most = 1', '`measure` must be "pairs"'),
        ('[[bound]]\nmeasure = "pairs"', "needs `at_most`, a number"),
        ('[[bound]]\nmeasure = "pairs"\nat_most = 0', "above 0 and at most 2. Found 0"),
        ('[[bound]]\nmeasure = "pairs"\nat_most = 2.1', "above 0 and at most 2. Found 2.1"),
        ('[[bound]]\nmeasure = "pairs"\nat_most = nan', "above 0 and at most 2. Found nan"),
        ('[[bound]]\nmeasure = "pairs"\nat_most = "1"', "above 0 and at most 2. Found '1'"),
        ('[[bound]]\nmeasure = "pairs"\nat_most = 1\nconfidence = 95', "`confidence` must be at least 0.5"),
        ('[[bound]]\nmeasure = "pairs"\nat_most = 1\nconfidence = true', "`confidence` must be at least 0.5"),
        ('[[bound]]\nmeasure = "pairs"\nw1_at_most = 1', "'w1_at_most'"),
        ('[[bound]]\npair = ["a"]\nat_most = 1', "list of two names"),
        ('[[bound]]\npair = ["a", "a"]\nat_most = 1', "2 different columns. Found 'a', 'a'."),
        ('[[bound]]\nmodel = ["a"]\naccuracy_at_least = .5', "must be TOML"),
        ('[[bound]]\nmodel = ["a"]\naccuracy_at_least = 0.5', "`model` must be the name of a column"),
        ('[[bound]]\nmodel = "a"\nauc_at_least = 0.5', "'auc_at_least'. Did you mean 'accuracy_at_least'?"),
        ('[[bound]]\nmodel = "a"\naccuracy_at_least = 1.5', "above 0 and at most 1"),
        ('[[bound]]\ncolumn = "a"\nw1_at_most = inf', "a number above 0"),
        ('[[bound]]\ncolumn = "a"\nmodel = "b"\nw1_at_most = 1', "one of the keys"),
        ("[[bound]]\nconfidence = 0.9", "one of the keys"),
        ("#" * (LONGEST + 1), "at most 100,000 characters"),
        ('[[bound]]\nmeasure = "pairs"\nat_most = 1\n' * 65, "at most 64 bounds"),
    ],
)
def test_what_is_no_criterion_is_refused_in_one_sentence(text, said):
    with pytest.raises(ValueError) as refused:
        read_criteria(text, "criteria.toml")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "criteria.toml" in str(refused.value)


@pytest.mark.parametrize("name", ["<script>", "a|b", 'say "no"', "two\nlines", "=1+1", "\x1b[31m", "n" * 5000, "\x7f"])
def test_names_of_columns_are_written_and_shown_as_text(name):
    bound = Bound("pair", 0.5, (name, "b"))
    text = toml_table("[[bound]]", bound.facts())
    assert tomllib.loads(text)["bound"][0]["pair"] == [name, "b"]
    assert read_criteria(text).bounds == (bound,)
    with pytest.raises(ValueError) as refused:
        read_criteria(f"[[bound]]\n{toml_table('', {name: 1}).strip()}", name)
    assert str(refused.value).isprintable()


@given(
    st.sampled_from([*MEASURE_OF]),
    st.floats(0.01, 1),
    st.none() | st.floats(0.5, 0.999),
    st.lists(st.text(min_size=1, alphabet=st.characters(codec="utf-8")), min_size=2, max_size=2, unique=True),
)
@settings(max_examples=80, deadline=None, derandomize=True)
def test_a_bound_is_read_as_it_was_written(kind, limit, confidence, names):
    columns = tuple(names[: {"pairs": 0, "pair": 2, "accuracy": 1, "w1": 1}[kind]])
    bound = Bound(kind, limit, columns, confidence)
    assert read_criteria(toml_table("[[bound]]", bound.facts())).bounds == (bound,)


def measure(kind: str, answer: int, *, noise: str = GaussianNoise.kind, records_error: float = 0.0) -> NoisyMeasure:
    return NoisyMeasure(MEASURE_OF[kind], "a", answer, 20.0, noise, 1.0, 3.0, 1000.0, records_error)


@pytest.mark.parametrize("noise", [GaussianNoise.kind, LaplaceNoise.kind])
@pytest.mark.parametrize("kind", ["pair", "accuracy"])
def test_a_confidence_bound_is_right_as_often_as_it_says(kind, noise):
    """Over 20,000 draws of noise in the answer and in the number of records; Hoeffding, false alarm below 1e-6."""
    rng, truth, n, confidence = np.random.default_rng(5), 0.3, 1000, 0.9
    draws = 20_000
    scale = 20.0
    of_answer = rng.normal(0, scale, draws) if noise == GaussianNoise.kind else rng.laplace(0, scale, draws)
    of_records = rng.normal(0, 1.0, draws)
    bound, wrong = Bound(kind, 0.5, ("a", "b") if kind == "pair" else ("a",), confidence), 0
    for one, other in zip(of_answer, of_records, strict=True):
        noisy = NoisyMeasure(MEASURE_OF[kind], "a", round(truth * n + one), scale, noise, 1.0, 0.0, n + other, 1.0)
        value = bound.value(noisy)
        wrong += value > truth if kind == "accuracy" else value < truth
    assert wrong / draws <= 1 - confidence + math.sqrt(math.log(1e6) / (2 * draws))
    assert wrong > 0  # a bound that is never wrong is not one of 90%


def test_without_confidence_the_estimate_is_compared_and_with_it_less_passes():
    noisy = measure("pair", 100)
    assert Bound("pair", 0.1, ("a", "b")).value(noisy) == pytest.approx(0.1)
    assert Bound("pair", 0.1, ("a", "b")).kept_by(0.1)
    assert not Bound("pair", 0.1, ("a", "b")).kept_by(0.1000001)
    values = [Bound("pair", 0.1, ("a", "b"), sure).value(noisy) for sure in (0.5, 0.9, 0.99)]
    assert 0.1 < values[0] < values[1] < values[2]
    right = [Bound("accuracy", 0.1, ("a",), sure).value(measure("accuracy", 100)) for sure in (0.5, 0.9, 0.99)]
    assert 0.1 > right[0] > right[1] > right[2] >= 0
    assert Bound("pair", 0.1, ("a", "b"), 0.9).value(measure("pair", 100, records_error=9.0)) > values[1]
    assert Bound("w1", 1.0, ("a",)).value(measure("w1", 100), 80.0) == pytest.approx(8.0)
    assert Bound("accuracy", 0.1, ("a",)).kept_by(0.1)
    assert not Bound("accuracy", 0.1, ("a",)).kept_by(0.0999)
