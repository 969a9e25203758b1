import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import graphical_model
from counterfoil.graphical_model.graphical_model import GraphicalModel, load
from marginals.brute_force import all_cliques, cliques_of, domains, enumerate_joint, marginal_of

DOMAIN = Domain(("a", "b", "c", "d"), (2, 3, 4, 2))


@st.composite
def models(draw):
    domain = draw(domains())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1.0, 2000.0]))
    cliques = draw(cliques_of(domain))
    return GraphicalModel(domain, {c: rng.normal(0, spread, domain.shape(c)) for c in cliques}, 50.0)


def small_model(seed=0):
    rng = np.random.default_rng(seed)
    cliques = [("a", "b"), ("b", "c"), ("c", "d")]
    return GraphicalModel(DOMAIN, {c: rng.normal(size=DOMAIN.shape(c)) for c in cliques}, 1000.0)


@given(models())
@settings(max_examples=60, deadline=None)
def test_every_marginal_equals_enumeration_in_and_out_of_cliques(model):
    log_z, joint = enumerate_joint(model.domain, model.potentials)
    assert model.log_partition == pytest.approx(log_z, rel=1e-12, abs=1e-9)
    for clique, table in model.marginals(all_cliques(model.domain)).items():
        expected = 50.0 * marginal_of(model.domain, joint, clique)
        np.testing.assert_allclose(table, expected, rtol=1e-8, atol=1e-10)


@given(models())
@settings(max_examples=40, deadline=None)
def test_a_marginal_that_lost_probability_is_computed_again_in_logarithms(model):
    expected = model.marginals(all_cliques(model.domain))
    again = GraphicalModel(model.domain, model.potentials, model.total)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphical_model, "_MASS_TOLERANCE", -1.0)  # nothing passes
        for clique, table in again.marginals(all_cliques(model.domain)).items():
            np.testing.assert_allclose(table, expected[clique], rtol=1e-8, atol=1e-10)


def test_weak_entropy_and_strong_evidence_lose_no_marginal():
    """A star whose leaves each push their own way by e^600: products of messages span more than floats hold."""
    names = tuple("abcdefgh")
    domain = Domain(names, (3,) * 8)
    rng = np.random.default_rng(0)
    potentials = {("a", name): rng.uniform(-600, 600, (3, 3)) for name in names[1:]}
    model = GraphicalModel(domain, potentials, 1.0)
    _, joint = enumerate_joint(domain, potentials)
    for clique, table in model.marginals(all_cliques(domain, 3)).items():
        np.testing.assert_allclose(table, marginal_of(domain, joint, clique), rtol=1e-8, atol=1e-12)


def test_axes_follow_the_order_that_was_asked_for():
    model = small_model()
    np.testing.assert_allclose(model.marginal(("d", "a")), model.marginal(("a", "d")).T)
    assert model.marginal(("c", "a", "b")).shape == (4, 2, 3)
    assert model.marginal(()) == pytest.approx(1000.0)


def test_potentials_may_come_in_any_axis_order_and_add_up():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(3, 2))
    one = GraphicalModel(DOMAIN, {("b", "a"): table, ("a", "b"): table.T}, 1.0)
    two = GraphicalModel(DOMAIN, {("a", "b"): 2 * table.T}, 1.0)
    np.testing.assert_allclose(one.marginal(("a", "b")), two.marginal(("a", "b")))


def test_attributes_without_potentials_are_uniform():
    model = GraphicalModel(DOMAIN, {("a",): np.array([0.0, 1.0])}, 24.0)
    np.testing.assert_allclose(model.marginal(("c",)), 6.0)
    assert model.log_partition == pytest.approx(np.log(24) + np.log1p(np.e))


def test_a_sparse_tree_over_a_huge_domain_is_cheap_to_ask():
    names = tuple(f"a{i:02d}" for i in range(60))
    domain = Domain(names, (20,) * 60)
    rng = np.random.default_rng(0)
    pairs = list(itertools.pairwise(names))
    model = GraphicalModel(domain, {pair: rng.normal(size=(20, 20)) for pair in pairs}, 1.0)
    ends = model.marginal((names[0], names[59]))
    assert ends.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(ends.sum(axis=1), model.marginal((names[0],)))


def test_save_and_load_give_the_same_model(tmp_path):
    model = small_model()
    model.potentials["a", "b"][0, 0] = -np.inf
    path = tmp_path / "model.npz"
    model.save(path)
    again = load(path)
    assert (again.domain, again.total) == (model.domain, model.total)
    assert list(again.potentials) == list(model.potentials)
    for clique, table in model.potentials.items():
        np.testing.assert_array_equal(again.potentials[clique], table)
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


def test_a_failed_save_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    path.write_bytes(b"what was there")

    def full_disk(*args, **kwargs):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full_disk)
    with pytest.raises(OSError, match="No space left"):
        small_model().save(path)
    assert path.read_bytes() == b"what was there"
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


class Mischief:
    """Unpickling this would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_pickled_arrays_are_refused_and_never_run(tmp_path):
    path, trace = tmp_path / "model.npz", tmp_path / "trace"
    header = {"version": 1, "attributes": ["a"], "sizes": [2], "cliques": [["a"]], "total": 1.0}
    evil = np.array([Mischief(trace), None], dtype=object)
    np.savez(path, header=np.array(json.dumps(header)), potential_0=evil)
    with pytest.raises(ValueError, match="archive of plain arrays"):
        load(path)
    assert not trace.exists()


@pytest.mark.parametrize("cut", [0, 10, 200, -30])
def test_a_file_cut_short_is_refused(tmp_path, cut):
    path = tmp_path / "model.npz"
    small_model().save(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match="cut short, edited, or made by something else"):
        load(path)


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "model.npz"
    small_model().save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"])) | {"version": 99}
    np.savez(path, **(arrays | {"header": np.array(json.dumps(header))}))
    with pytest.raises(ValueError, match="must be version 1"):
        load(path)


@pytest.mark.parametrize(
    ("potentials", "total", "message"),
    [
        ({("a",): np.zeros(3)}, 1.0, r"must have shape \(2,\). Found \(3,\)"),
        ({("a",): np.array([0.0, np.nan])}, 1.0, "must be finite or -inf"),
        ({("a",): np.array([0.0, np.inf])}, 1.0, "must be finite or -inf"),
        ({("z",): np.zeros(3)}, 1.0, "Unknown: 'z'"),
        ({}, 0.0, "`total` must be a positive finite number"),
    ],
)
def test_bad_models_are_refused(potentials, total, message):
    with pytest.raises(ValueError, match=message):
        GraphicalModel(DOMAIN, potentials, total)


def test_a_repeated_attribute_is_refused():
    with pytest.raises(ValueError, match="each attribute once"):
        small_model().marginal(("a", "a"))
