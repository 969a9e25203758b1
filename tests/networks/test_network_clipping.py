"""Clipped gradients and Jacobians, formed record by record, against their bounds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="networks need torch")

from counterfoil.networks.clipping import bounded_jacobians, clipped_loss_gradients, gradient_factors  # noqa: E402
from counterfoil.networks.factors import component_factors, factors, largest_eigenvalues, spectral_factors  # noqa: E402
from counterfoil.networks.links import ClampLink  # noqa: E402

SCORES = {
    "identity": lambda z: z,
    "sigmoid": lambda z: 1 / (1 + torch.exp(-z)),
    "softmax": lambda z: torch.exp(z) / torch.exp(z).sum(),
    "clamp": lambda z: z.clamp(0, 1),
}


def jacobians(n, d, p, seed, scale=1.0):
    """[n, d, p] of very different sizes, some of low rank."""
    generator = torch.Generator().manual_seed(seed)
    made = torch.randn(n, d, p, dtype=torch.float64, generator=generator)
    made *= 10 ** (4 * torch.rand(n, 1, 1, dtype=torch.float64, generator=generator) - 2) * scale
    made[0] = 0.0
    made[1, -1] = made[1, 0]
    return made


def normal(n, d, seed):
    return torch.randn(n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def links_derivatives(link, outputs):
    """[n, e, d] by torch, from the definition."""
    return torch.stack([torch.autograd.functional.jacobian(SCORES[link], z) for z in outputs])


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(1, 8), st.floats(1e-3, 1e3), st.integers(0, 2**31))
def test_clipped_loss_gradients_have_the_smaller_of_their_length_and_the_bound(d, p, bound, seed):
    made, derivatives = jacobians(30, d, p, seed), normal(30, d, seed + 1)
    gram = made @ made.transpose(1, 2)
    coefficients = clipped_loss_gradients(gram, derivatives, bound)
    before = torch.einsum("ndp,nd->np", made, derivatives)
    after = torch.einsum("ndp,nd->np", made, coefficients)
    lengths = torch.linalg.vector_norm(before, dim=1)
    found = torch.linalg.vector_norm(after, dim=1)
    assert (found <= bound).all()
    # Where much cancels in J^T g, the allowance for rounding shows, relative to |J| |g|.
    cancelled = torch.linalg.matrix_norm(made) * torch.linalg.vector_norm(derivatives, dim=1)
    loss = (1e-11 + 1e-13 * (cancelled / lengths.clamp(min=1e-300)) ** 2).clamp(max=1)
    assert (found >= lengths.clamp(max=bound) * (1 - loss)).all()
    # Only their length changes.
    np.testing.assert_allclose(after * lengths[:, None], before * found[:, None], rtol=1e-9, atol=1e-250)


@settings(max_examples=80)
@given(
    st.sampled_from(sorted(SCORES)), st.integers(1, 5), st.integers(1, 8), st.floats(1e-3, 1e3), st.integers(0, 2**31)
)
def test_spectral_clipping_is_exact(link, d, p, bound, seed):
    made, outputs = jacobians(30, d, p, seed), normal(30, d, seed + 1)
    bounded = bounded_jacobians(outputs, made @ made.transpose(1, 2), link=link, bound=bound)
    of_scores = links_derivatives(link, outputs) @ made
    before = torch.linalg.svdvals(of_scores)[:, 0]
    after = torch.linalg.svdvals(bounded.factors[:, :, None] * of_scores)[:, 0]
    assert (after <= bound).all()
    # Softmax has one score that is always 1: rounding is all that is left of its Jacobian.
    cancelled = torch.linalg.matrix_norm(made) if link == "softmax" else before
    loss = (1e-11 + 1e-12 * (cancelled / before.clamp(min=1e-300)) ** 2).clamp(max=1)
    assert (after >= before.clamp(max=bound) * (1 - loss)).all()
    np.testing.assert_allclose(bounded.scores, torch.stack([SCORES[link](z) for z in outputs]), rtol=1e-12)


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(SCORES)), st.integers(1, 5), st.integers(1, 8), st.floats(1e-3, 1e3), st.integers(0, 2**31)
)
def test_component_clipping_bounds_rows_and_the_spectral_norm(link, d, p, bound, seed):
    made, outputs = jacobians(30, d, p, seed), normal(30, d, seed + 1)
    bounded = bounded_jacobians(outputs, made @ made.transpose(1, 2), link=link, bound=bound, clipping="components")
    of_scores = links_derivatives(link, outputs) @ made
    after = bounded.factors[:, :, None] * of_scores
    before = torch.linalg.vector_norm(of_scores, dim=2)
    lengths = torch.linalg.vector_norm(after, dim=2)
    assert (lengths <= bound / math.sqrt(d)).all()
    assert (torch.linalg.svdvals(after)[:, 0] <= bound * (1 + 1e-15)).all()
    cancelled = (
        torch.linalg.matrix_norm(made)[:, None] if link == "softmax" else torch.linalg.matrix_norm(of_scores)[:, None]
    )
    loss = (1e-11 + 1e-12 * (cancelled / before.clamp(min=1e-300)) ** 2).clamp(max=1)
    assert (lengths >= before.clamp(max=bound / math.sqrt(d)) * (1 - loss)).all()


@pytest.mark.parametrize("link", sorted(SCORES))
@pytest.mark.parametrize("clipping", ["spectral", "components"])
def test_what_is_pulled_is_the_clipped_jacobian_transposed(link, clipping):
    made, outputs, of_scores = jacobians(20, 3, 6, 5), normal(20, 3, 6), normal(20, 3, 7)
    bounded = bounded_jacobians(outputs, made @ made.transpose(1, 2), link=link, bound=0.5, clipping=clipping)
    assert (bounded.factors < 1).any()
    clipped = bounded.factors[:, :, None] * links_derivatives(link, outputs)
    expected = torch.einsum("ned,ne->nd", clipped, of_scores)
    np.testing.assert_allclose(bounded.pulled(of_scores), expected, rtol=1e-10, atol=1e-14)


def test_equal_rows_show_that_components_are_too_strict():
    """Rows that are all the same: both bounds agree. Rows at right angles: components clip sqrt(d) times more."""
    same = torch.ones(1, 4, 1, dtype=torch.float64)
    apart = torch.eye(4, dtype=torch.float64)[None]
    for made, ratio in ((same, 1.0), (apart, 2.0)):
        gram = made @ made.transpose(1, 2)
        spectral, components = spectral_factors(gram, 0.1), component_factors(gram, 0.1)
        assert float(spectral[0] / components[0, 0]) == pytest.approx(ratio, rel=1e-11)


def test_cancellation_does_not_exceed_the_bound():
    """Softmax removes what outputs have in common, here 1e9 times as large as what is left, in squares 1e18."""
    generator = torch.Generator().manual_seed(4)
    shared = torch.randn(200, 1, 5, dtype=torch.float64, generator=generator)
    made = 1e9 * shared + torch.randn(200, 3, 5, dtype=torch.float64, generator=generator)
    outputs = torch.randn(200, 3, dtype=torch.float64, generator=generator)
    bounded = bounded_jacobians(outputs, made @ made.transpose(1, 2), link="softmax", bound=1.0)
    # In exact arithmetic the shared part vanishes; subtracting it first leaves it out up to 1e-7.
    left = made - made.mean(1, keepdim=True)
    clipped = bounded.factors[:, :, None] * (links_derivatives("softmax", outputs) @ left)
    assert (torch.linalg.svdvals(clipped)[:, 0] <= 1.0).all()
    coefficients = bounded.pulled(torch.ones(200, 3, dtype=torch.float64) / math.sqrt(3))
    pulled = torch.einsum("ndp,nd->np", made, coefficients)
    assert float(torch.linalg.vector_norm(pulled, dim=1).max()) <= 1e-8, "ones have no gradient: this is rounding"


def test_ends_count_as_within_a_clamp():
    scores = ClampLink(-1.0, 2.0).scores(torch.tensor([[-1.5, -1.0, 0.0, 2.0, 2.5]], dtype=torch.float64))
    assert scores.values.tolist() == [[-1.0, -1.0, 0.0, 2.0, 2.0]]
    assert scores.slopes.tolist() == [[0.0, 1.0, 1.0, 1.0, 0.0]]


def test_zero_lengths_are_not_clipped_and_infinite_ones_are_silenced():
    squares = torch.tensor([0.0, -1e-18, 1e-320, 4.0, math.inf, math.nan], dtype=torch.float64)
    found = factors(squares, 1.0)
    assert found[:3].tolist() == [1.0, 1.0, 1.0]
    assert 0.5 * (1 - 2e-12) < float(found[3]) < 0.5
    assert found[4:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_largest_eigenvalues(d):
    made = jacobians(50, d, 4, 3)
    gram = made @ made.transpose(1, 2)
    np.testing.assert_allclose(largest_eigenvalues(gram), torch.linalg.svdvals(made)[:, 0] ** 2, rtol=1e-11)
    gram[2, 0, -1] = gram[2, -1, 0] = math.nan
    gram[3] = math.inf
    gram[4] = 1e308
    found = largest_eigenvalues(gram)
    assert found[2] == found[3] == math.inf
    assert spectral_factors(gram, 1.0)[2:4].tolist() == [0.0, 0.0]
    assert component_factors(gram, 1.0)[3].tolist() == [0.0] * d


def test_values_that_are_not_finite_are_silent_in_every_link():
    made, outputs = jacobians(6, 3, 6, 5), normal(6, 3, 6)
    gram = made @ made.transpose(1, 2)
    gram[1] = math.nan
    outputs[2, 0] = math.inf
    outputs[3, 1] = math.nan
    for link in SCORES:
        for clipping in ("spectral", "components"):
            bounded = bounded_jacobians(outputs, gram, link=link, bound=1.0, clipping=clipping)
            pulled = bounded.pulled(torch.ones(6, 3, dtype=torch.float64))
            assert torch.isfinite(pulled).all()
            # A score may be finite where its output is not; then the pass silences the record.
            assert not pulled[1].any()
            assert not pulled[3].any()
    derivatives = normal(6, 3, 7)
    derivatives[4, 0] = math.nan
    found = clipped_loss_gradients(gram, derivatives, 1.0)
    assert torch.isfinite(found).all()
    assert not found[1].any()
    assert not found[4].any()
    assert found[5].any()


def test_what_is_given_is_checked():
    gram, outputs = torch.eye(2, dtype=torch.float64)[None], torch.zeros(1, 2, dtype=torch.float64)
    for bound in (0.0, -1.0, math.inf, math.nan):
        for use in (
            lambda bound=bound: spectral_factors(gram, bound),
            lambda bound=bound: component_factors(gram, bound),
            lambda bound=bound: gradient_factors(gram, outputs, bound),
        ):
            with pytest.raises(ValueError, match="`bound` must be positive and finite"):
                use()
    with pytest.raises(ValueError, match=r"`gram` must be of shape \[n, d, d\]"):
        spectral_factors(outputs, 1.0)
    with pytest.raises(ValueError, match="`derivatives` must be of shape"):
        clipped_loss_gradients(gram, outputs[:, :1], 1.0)
    with pytest.raises(ValueError, match="`outputs` must be of shape"):
        bounded_jacobians(outputs[:, :1], gram, bound=1.0)
    with pytest.raises(ValueError, match="`link` must be one of identity, sigmoid, softmax, clamp"):
        bounded_jacobians(outputs, gram, link="cosine", bound=1.0)
    with pytest.raises(ValueError, match="`clipping` must be"):
        bounded_jacobians(outputs, gram, bound=1.0, clipping="rows")
    with pytest.raises(ValueError, match="`lower` must be below `upper`"):
        ClampLink(1.0, 1.0)
