"""Workloads: orders, files, and the weights of the candidates that follow from them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload

DOMAIN = Domain(("a", "b", "c", "d"), (2, 3, 4, 100))
cliques = st.lists(st.sampled_from("abcd"), min_size=1, unique=True).map(tuple)


@given(st.dictionaries(cliques, st.floats(1e-3, 1e3), min_size=1, max_size=6))
def test_candidates_are_the_closure_with_the_weights_of_the_paper(weights):
    found = Workload(weights).candidates(DOMAIN)
    # Brute force: all subsets of all attributes.
    for size in range(1, 5):
        for subset in itertools.combinations("abcd", size):
            inside = any(set(subset) <= set(clique) for clique in weights)
            assert (subset in found) == inside
            if inside:
                weight = sum(c * len(set(subset) & set(clique)) for clique, c in weights.items())
                assert found[subset] == pytest.approx(weight, rel=1e-12)
    assert all(DOMAIN.canonical(clique) == clique for clique in found)


@pytest.mark.parametrize(
    ("order", "max_cells", "kept", "skipped"),
    [
        (1, 10_000, ["a", "b", "c", "d"], []),
        (1, 50, ["a", "b", "c"], ["d"]),
        (2, 250, ["ab", "ac", "ad", "bc"], ["bd", "cd"]),
        (3, 24, ["abc"], ["abd", "acd", "bcd"]),
        (3, 23, ["ab", "ac", "bc"], ["ad", "bd", "cd"]),  # no triple is small enough
        (4, 2400, ["abcd"], []),
        (9, 2400, ["abcd"], []),
        (9, 1200, ["abc", "abd", "acd", "bcd"], []),
    ],
)
def test_orders(order, max_cells, kept, skipped):
    made = Workload.of_order(DOMAIN, order, max_cells=max_cells)
    assert dict(made.weights) == {tuple(clique): 1.0 for clique in kept}
    assert made.skipped == tuple(map(tuple, skipped))


@pytest.mark.parametrize("order", [0, -1, 1.0, "2"])
def test_orders_that_are_none(order):
    with pytest.raises(ValueError, match=r"order of a workload must be a whole number of at least 1\. Found"):
        Workload.of_order(DOMAIN, order)


def test_columns_that_are_all_too_large():
    with pytest.raises(ValueError, match=r"Every column has more than 1 values .*'a' has the fewest, 2.*fewer bins"):
        Workload.of_order(DOMAIN, 2, max_cells=1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({}, "at least one set of attributes"),
        ({(): 1.0}, r"tuples of column names to weights. Found \(\)"),
        ({"age": 1.0}, "tuples of column names to weights. Found 'age'"),
        ({("a", "b"): 0.0}, r"must lie between 1e-50 and 1e\+50. Found 0.0 for a\+b"),
        ({("a",): float("nan")}, r"must lie between 1e-50 and 1e\+50"),
        ({("a",): 1e51}, r"must lie between 1e-50 and 1e\+50"),
        ({("a",): 1e-51}, r"must lie between 1e-50 and 1e\+50"),
        ({("a",): float("inf")}, r"must lie between 1e-50 and 1e\+50"),
    ],
)
def test_workloads_that_say_nothing(weights, message):
    with pytest.raises(ValueError, match=message):
        Workload(weights)


def test_a_workload_can_not_be_changed():
    weights = {("a",): 1.0}
    made = Workload(weights)
    weights["b",] = 1.0
    assert dict(made.weights) == {("a",): 1.0}
    with pytest.raises(TypeError):
        made.weights["b",] = 1.0


def from_text(tmp_path: Path, text: str) -> Workload:
    path = tmp_path / "cliques.toml"
    path.write_text(text, encoding="utf-8")
    return Workload.from_toml(path, DOMAIN)


def test_files(tmp_path):
    text = """
        [[cliques]]
        attributes = ["c", "a"]
        weight = 2
        [[cliques]]
        attributes = ["b"]
        [[cliques]]
        attributes = ["a", "c"]
        weight = 0.5
    """
    assert dict(from_text(tmp_path, text).weights) == {("a", "c"): 2.5, ("b",): 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cliques = [", "can't be read as TOML"),
        ("", r"must hold \[\[cliques\]\] tables and nothing else"),
        ("cliques = 3", r"must hold \[\[cliques\]\] tables and nothing else"),
        ("cliques = []", "at least one set of attributes"),
        ("order = 2\n[[cliques]]\nattributes = ['a']", "and nothing else"),
        ("[[cliques]]\nweight = 1.0", "Entry 1 of .* must have `attributes`, a list of column names"),
        ("[[cliques]]\nattributes = []", "Entry 1 of .* must have `attributes`"),
        ("[[cliques]]\nattributes = 'a'", "Entry 1 of .* must have `attributes`"),
        ("[[cliques]]\nattributes = [['a']]", "Entry 1 of .* must have `attributes`"),
        ("[[cliques]]\nattributes = [1]", "Entry 1 of .* must have `attributes`"),
        ("cliques = ['a']", "Entry 1 of .* must have `attributes`"),
        ("[[cliques]]\nattributes = ['a']\n[[cliques]]\nattributes = ['z']", "Entry 2 of .*Unknown: 'z'"),
        ("[[cliques]]\nattributes = ['a']\nweigth = 1.0", "Entry 1 of .* unknown key 'weigth'"),
        ("[[cliques]]\nattributes = ['a']\nweight = 'much'", "Entry 1 of .* `weight` must be a number. Found 'much'"),
        ("[[cliques]]\nattributes = ['a']\nweight = true", "`weight` must be a number. Found True"),
        ("[[cliques]]\nattributes = ['a']\nweight = -1.0", r"must lie between 1e-50 and 1e\+50. Found -1.0 for a"),
        ("[[cliques]]\nattributes = ['a']\nweight = nan", r"must lie between 1e-50 and 1e\+50. Found nan for a"),
    ],
)
def test_files_that_say_something_else(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        from_text(tmp_path, text)


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="can't be read as TOML"):
        Workload.from_toml(tmp_path / "absent.toml", DOMAIN)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="can't be read as TOML"):
        Workload.from_toml(tmp_path / "binary.toml", DOMAIN)


@pytest.mark.parametrize("weights", [[("a", "b", "c")], "ab"])
def test_weights_that_are_no_mapping_are_refused_in_a_sentence(weights: Any) -> None:
    with pytest.raises(ValueError, match="A workload maps tuples of column names to weights"):
        Workload(weights)
